"""A batch is learnt whole or not at all, whatever comes in between."""

import _thread
import signal
import sys
import threading

import numpy as np
import pytest

import oracles
from adforest.forest import Groups, GrowthParams, Tree, TreeEditor
from adforest.forest._kernels import counting, growing
from adforest.growers import HoeffdingGrower
from small_forests import forest
from whole_models import FRAME, RENT, assert_same, clusters, snapshot, with_


def fail_at(monkeypatch, module, name, call, error):
    """Let a kernel fail at its n-th call."""
    kernel, calls = getattr(module, name), [0]

    def failing(*arguments, **options):
        calls[0] += 1
        if calls[0] == call:
            raise error
        return kernel(*arguments, **options)

    monkeypatch.setattr(module, name, failing)
    return calls


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError("out of luck"), MemoryError(), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize(
    ("module", "name", "renewal"),
    [
        *[(growing, "grow_tree", 1), (counting, "tally", 1), (counting, "compare", 1)],
        *[(growing, "grow", 0), (counting, "merge", 0)],  # trees that are repaired, not grown anew
    ],
)
def test_an_exception_in_the_third_tree_leaves_the_last_good_model(monkeypatch, module, name, renewal, error, n_jobs):
    X, y = clusters(0)
    model = forest(n_jobs=n_jobs, renewal=renewal).partial_fit(X, y)
    before = snapshot(model, X)
    with monkeypatch.context() as patch:
        calls = fail_at(patch, module, name, 3, error)
        with pytest.raises(type(error)):
            model.partial_fit(X, 1 - y)
        assert calls[0] >= 3
    assert_same(model, X, before)
    # It can go on as if nothing had happened.
    twin = forest(n_jobs=n_jobs, renewal=renewal).partial_fit(X, y)
    for one in (model, twin):
        one.partial_fit(X, 1 - y)
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_an_exception_in_the_first_batch_leaves_nothing_learnt(monkeypatch):
    model = forest()
    with monkeypatch.context() as patch:
        fail_at(patch, growing, "grow_tree", 3, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(*clusters(0))
    assert not hasattr(model, "history_")


def test_new_classes_and_categories_of_a_failed_batch_are_not_known(monkeypatch):
    model = forest().partial_fit(FRAME, RENT)
    with monkeypatch.context() as patch:
        fail_at(patch, counting, "tally", 3, RuntimeError())
        with pytest.raises(RuntimeError):
            model.partial_fit(with_(kind="castle"), ["royal"] * 4)
    assert model.classes_.tolist() == ["high", "low"]
    model.partial_fit(with_(kind="castle"), ["royal"] * 4)
    assert model.history_[-1].new_classes == ("royal",)


@pytest.fixture
def heeds_ctrl_c():
    """Let the process heed Ctrl-C, which shells make processes in the background ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# Python prints an interrupt that arrives while an object is freed, and goes on.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_at_any_moment_leaves_a_whole_model():
    batches = [clusters(number, (0, 1, number), n=2_000) for number in range(40)]
    for delay in (0.02, 0.1, 0.3):
        model, timers = forest(n_estimators=5), []

        def interrupt_soon(delay=delay, timers=timers):
            timers.append(threading.Timer(delay, _thread.interrupt_main))
            timers[-1].start()

        def learn_for_ever(model=model, timers=timers, interrupt_soon=interrupt_soon):
            interrupt_soon()
            while True:
                was_over = not timers[-1].is_alive()
                for batch in batches:
                    model.partial_fit(*batch)
                if was_over:  # Python drops what is raised in a callback, such as the garbage collector's: once more
                    interrupt_soon()

        with pytest.raises(KeyboardInterrupt):
            learn_for_ever()
        timers[-1].join()
        n_learnt = len(model.history_) if hasattr(model, "history_") else 0
        twin = forest(n_estimators=5)
        for number in range(n_learnt):
            twin.partial_fit(*batches[number % len(batches)])
        if n_learnt:
            np.testing.assert_array_equal(model.predict_proba(batches[0][0]), twin.predict_proba(batches[0][0]))


@pytest.mark.parametrize("kernel", ["grow", "stream"])
def test_ctrl_c_inside_the_kernel_frees_only_what_it_holds(kernel):
    # Python looks for signals when a function of its own is called: interrupt at each such call within the kernel.
    b = oracles.random_block(300)
    indices, leaf_of = np.arange(len(b.y), dtype=np.int32), np.full(len(b.y), -1, dtype=np.int32)
    groups = Groups(indices, b.weights, np.array([0, len(b.y)]), np.zeros(1, dtype=np.int32))
    params = GrowthParams(max_features=2)

    def grow():
        editor = TreeEditor(Tree.bare(b.X.shape[1], 0))
        if kernel == "grow":
            editor.grow(b.samples, groups, leaf_of, params, 0)
        else:
            hoeffding = HoeffdingGrower(params, tie_threshold=10.0)
            hoeffding.stream(editor, b.samples, groups, leaf_of)
        return editor.finish()

    def interrupting(left):
        def profile(frame, event, argument):
            nonlocal left
            if event == "call":
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt

        return profile

    expected = grow().nodes
    assert len(expected) > 1
    for place in range(1, 1_000):
        sys.setprofile(interrupting(place))
        try:
            grow()
        except KeyboardInterrupt:
            continue
        finally:
            sys.setprofile(None)
        break
    assert 10 < place < 999, "each call was interrupted once"
    np.testing.assert_array_equal(grow().nodes, expected)


def test_a_report_that_cannot_be_printed_does_not_lose_the_batch(monkeypatch):
    # Printing comes after the swap: a closed pipe is no reason to have learnt half of something.
    model = forest(verbose=1)

    def broken(*_):
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", broken)
    with pytest.raises(BrokenPipeError):
        model.partial_fit(*clusters(0))
    assert len(model.history_) == 1
    assert model.predict(clusters(0)[0]).shape == (60,)
