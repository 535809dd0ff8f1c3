"""Bad input is refused and changes nothing; odd input just works; a batch is learnt whole or not at all."""

import _thread
import pickle
import signal
import sys
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import oracles
from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.forest import GrowthParams, Tree, TreeEditor
from adforest.forest._kernels import counting, growing
from adforest.growers import HoeffdingGrower


def forest(**changes):
    return AdaptiveDecisionForestClassifier(**{"random_state": 0} | changes)


def clusters(seed, classes=(0, 1), n=60):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 3)) + 10 * y[:, None], y


def snapshot(model, X):
    """Return all that can be told of a model from outside, and its pickle."""
    return model.predict_proba(X).tobytes(), model.predict(X).tolist(), model.history_, pickle.dumps(model)


def assert_same(model, X, before):
    after = snapshot(model, X)
    for one, two in zip(before, after, strict=True):
        assert one == two


# --- bad input


FRAME = pd.DataFrame(
    {"area": [100.0, 250.0, 80.0, 300.0], "kind": ["flat", "house", "flat", "house"], "beds": [1, 3, 1, 4]}
)
RENT = np.array(["low", "high", "low", "high"])


def with_(**columns):
    return FRAME.assign(**columns)


BAD_TABLES = {
    "an extra column": (with_(age=1), RENT, ["4 columns", "learnt 3", "'age'", "Drop it"]),
    "a missing column": (FRAME.drop(columns="beds"), RENT, ["2 columns", "learnt 3", "'beds'", "Add it"]),
    "a renamed column": (FRAME.rename(columns={"beds": "rooms"}), RENT, ["'rooms'", "'beds'", "Rename"]),
    "a column twice": (pd.concat([FRAME, FRAME[["beds"]]], axis=1), RENT, ["'beds'", "2 times", "Rename or drop"]),
    "text for numbers": (with_(beds=list("abcd")), RENT, ["'beds'", "text ('a')", "numbers", "Convert"]),
    "numbers for text": (with_(kind=[1, 2, 3, 4]), RENT, ["'kind'", "numbers (1.0)", "text ('flat')", "Convert"]),
    "dates for numbers": (with_(beds=pd.to_datetime(["2020-01-01"] * 4)), RENT, ["'beds'", "datetime64", "Convert"]),
    "infinity": (with_(area=[np.inf, 1, 2, 3]), RENT, ["infinity", "'area'", "Replace it"]),
    "minus infinity": (with_(area=[1, -np.inf, 2, 3]), RENT, ["infinity", "'area'", "Replace it"]),
    "an empty batch": (FRAME[:0], RENT[:0], ["0 sample"]),
    "no columns": (FRAME[[]], RENT, ["0 feature"]),
    "too few labels": (FRAME, RENT[:3], ["4 records but 3 labels", "one label a record"]),
    "too many labels": (FRAME, np.append(RENT, "low"), ["4 records but 5 labels"]),
    "a missing label": (FRAME, ["low", None, "low", "high"], ["NaN", "lack 1 value", "Drop"]),
    "a NaN label": (FRAME, np.array(["low", np.nan, "low", "high"], dtype=object), ["NaN", "lack 1 value", "Drop"]),
    "numbers as labels": (FRAME, [0, 1, 0, 1], ["numbers (0)", "learnt text ('high')", "Convert"]),
    "mixed labels": (FRAME, ["low", 1, "low", "high"], ["int and str", "Convert them to text"]),
    "2-d labels": (FRAME, np.array([["low", "high"]] * 4), ["1d array", "shape (4, 2)"]),
    "no labels": (FRAME, None, ["requires y"]),
    "a number as X": (3.0, RENT, ["Expected 2D array"]),
    "1-d X": ([1.0, 2.0, 3.0, 4.0], RENT, ["Expected 2D array"]),
    "3-d X": (np.zeros((4, 3, 2)), RENT, ["dim 3"]),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_table_is_refused_and_changes_nothing(name):
    X, y, words = BAD_TABLES[name]
    model = forest().partial_fit(FRAME, RENT)
    before = snapshot(model, FRAME)
    with pytest.raises((ValueError, TypeError)) as error:
        model.partial_fit(X, y)
    for word in words:
        assert word in str(error.value)
    assert_same(model, FRAME, before)
    model.partial_fit(FRAME, RENT)
    twin = forest().partial_fit(FRAME, RENT).partial_fit(FRAME, RENT)
    np.testing.assert_array_equal(model.predict_proba(FRAME), twin.predict_proba(FRAME))


BAD_ARRAYS = {
    "an extra column": (np.zeros((4, 4)), [0, 1, 0, 1], ["4 features", "expecting 3"]),
    "a missing column": (np.zeros((4, 2)), [0, 1, 0, 1], ["2 features", "expecting 3"]),
    "text": ([["a", 1, 2]] * 4, [0, 1, 0, 1], ["column 0", "text ('a')", "numbers"]),
    "complex numbers": (np.zeros((4, 3), dtype=complex), [0, 1, 0, 1], ["Complex"]),
    "infinity": (np.full((4, 3), np.inf), [0, 1, 0, 1], ["infinity"]),
    "empty": (np.empty((0, 3)), [], ["0 sample"]),
    "continuous labels": (np.zeros((4, 3)), [0.5, 1.5, 0.1, 0.2], ["continuous", "0.5"]),
    "infinite labels": (np.zeros((4, 3)), [0, 1, np.inf, 1], ["infinity"]),
    "NaN labels": (np.zeros((4, 3)), [0, 1, np.nan, 1], ["NaN"]),
    "text as labels": (np.zeros((4, 3)), list("abab"), ["text ('a')", "learnt numbers"]),
    "2-d labels": (np.zeros((4, 3)), np.zeros((4, 2)), ["1d array", "(4, 2)"]),
    "objects as labels": (np.zeros((4, 3)), [object()] * 4, ["type object"]),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_a_bad_array_is_refused_and_changes_nothing(name):
    X, y, words = BAD_ARRAYS[name]
    good = clusters(0)
    model = forest().partial_fit(*good)
    before = snapshot(model, good[0])
    with pytest.raises((ValueError, TypeError)) as error:
        model.partial_fit(X, y)
    for word in words:
        assert word in str(error.value)
    assert_same(model, good[0], before)


@pytest.mark.parametrize("name", ["text", "complex numbers", "infinity", "empty", "continuous labels", "2-d labels"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bad_first_batch_leaves_nothing_learnt(name, method):
    X, y, _ = BAD_ARRAYS[name]
    if name == "text":
        X = [["a", 1, 2], [1, 2, 3], ["b", 1, 2], ["c", 1, 2]]  # text alone is welcome in a first batch
    model = forest()
    with pytest.raises((ValueError, TypeError)):
        getattr(model, method)(X, y)
    assert not hasattr(model, "classes_")
    assert model.fit(*clusters(0)).classes_.tolist() == [0, 1]


def test_a_failing_fit_leaves_what_was_learnt_before():
    good = clusters(0)
    model = forest().fit(*good).partial_fit(*clusters(1))
    before = snapshot(model, good[0])
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((4, 2), np.inf), [0, 1, 0, 1])
    assert_same(model, good[0], before)


def test_bad_parameters_and_bad_classes_leave_what_was_learnt_before():
    good = clusters(0)
    model = forest().fit(*good)
    before = snapshot(model, good[0])
    with pytest.raises(TypeError, match="classes declared are text"):
        model.partial_fit(*clusters(1), classes=["a"])
    assert_same(model, good[0], before)
    model.set_params(answer_for="tomorrow")
    with pytest.raises(ValueError, match="answer_for"):
        model.partial_fit(*clusters(1))
    model.set_params(answer_for="next_batch")
    assert_same(model, good[0], before)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("name", ["an extra column", "a missing column", "text", "infinity", "empty"])
def test_bad_records_to_be_predicted_are_refused(name, method):
    X, _, words = BAD_ARRAYS[name]
    model = forest().fit(*clusters(0))
    with pytest.raises((ValueError, TypeError)) as error:
        getattr(model, method)(X)
    assert any(word in str(error.value) for word in words)


def test_an_error_names_the_batch():
    model = forest().partial_fit(FRAME, RENT).partial_fit(FRAME, RENT)
    with pytest.raises(ValueError, match="batch 3 has 4 columns but the model learnt 3; the extra one is 'age'"):
        model.partial_fit(with_(age=1), RENT)


# --- learning interrupted


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
    ("module", "name"), [(growing, "grow"), (counting, "tally"), (counting, "merge"), (counting, "compare")]
)
def test_an_exception_in_the_third_tree_leaves_the_last_good_model(monkeypatch, module, name, error, n_jobs):
    X, y = clusters(0)
    model = forest(n_jobs=n_jobs).partial_fit(X, y)
    before = snapshot(model, X)
    with monkeypatch.context() as patch:
        calls = fail_at(patch, module, name, 3, error)
        with pytest.raises(type(error)):
            model.partial_fit(X, 1 - y)
        assert calls[0] >= 3
    assert_same(model, X, before)
    # It can go on as if nothing had happened.
    twin = forest(n_jobs=n_jobs).partial_fit(X, y)
    for one in (model, twin):
        one.partial_fit(X, 1 - y)
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_an_exception_in_the_first_batch_leaves_nothing_learnt(monkeypatch):
    model = forest()
    with monkeypatch.context() as patch:
        fail_at(patch, growing, "grow", 3, KeyboardInterrupt())
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
    group, root, leaf_of = np.array([0, len(b.y)]), np.zeros(1, dtype=np.int32), np.full(len(b.y), -1, dtype=np.int32)
    samples, params = np.arange(len(b.y), dtype=np.int32), GrowthParams(max_features=2)

    def grow():
        editor = TreeEditor(Tree.bare(b.X.shape[1], 0))
        if kernel == "grow":
            editor.grow(b.records, b.weights, samples, group, root, leaf_of, params, 0)
        else:
            hoeffding = HoeffdingGrower(params, tie_threshold=10.0)
            hoeffding.stream(editor, b.records, b.weights, samples, group, root, leaf_of)
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


# --- odd but valid input


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[np.nan, np.nan]], [["a", 1]], np.ones((1, 2), dtype=bool)])
def test_one_record(X):
    model = forest().partial_fit(X, ["only"])
    assert model.predict(X).tolist() == ["only"]
    assert model.predict_proba(X).tolist() == [[1.0]]
    model.partial_fit(X, ["only"]).partial_fit(X, ["other"])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_stream_of_single_records():
    X, y = clusters(0, (0, 1, 2), n=150)
    model = forest()
    for record, label in zip(X, y, strict=True):
        model.partial_fit(record[None], [label])
    assert [report.n_records for report in model.history_] == [1] * 150
    assert model.score(*clusters(1, (0, 1, 2))) > 0.9


def test_one_class():
    X, _ = clusters(0)
    model = forest().fit(X, np.zeros(60, dtype=int)).partial_fit(X, np.zeros(60, dtype=int))
    assert (model.predict(X) == 0).all()
    assert model.predict_proba(X).shape == (60, 1)
    assert model.history_[-1].drift == "none"
    assert model.feature_importances_.tolist() == [0, 0, 0]


def test_one_column():
    X = np.arange(100.0)[:, None]
    model = forest().fit(X, X[:, 0] > 50).partial_fit(X + 100, np.ones(100, dtype=bool))
    assert model.score(X, X[:, 0] > 50) > 0.95


@pytest.mark.parametrize("constant", [0.0, -0.0, 1e300, 5e-324, np.nan])
def test_a_constant_or_missing_column(constant):
    X, y = clusters(0)
    X[:, 1] = constant
    model = forest().fit(X, y).partial_fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.feature_importances_[1] == 0


def test_all_columns_constant_or_missing():
    for X in (np.ones((40, 2)), np.full((40, 2), np.nan)):
        y = np.array([0] * 30 + [1] * 10)
        model = forest().fit(X, y).partial_fit(X, y)
        assert (model.predict(X) == 0).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_column_that_was_missing_and_then_is_not():
    X, y = clusters(0)
    hidden = np.full_like(X, np.nan)
    model = forest().fit(hidden, y)
    for number in range(12):
        model.partial_fit(*clusters(number))
    assert model.score(X, y) > 0.9
    assert model.predict(hidden).shape == (60,)


def test_a_text_column_that_was_missing_and_then_is_not():
    kind = pl.Series("kind", [None] * 20, dtype=pl.String)
    model = forest().fit(pl.DataFrame([kind]), ["a", "b"] * 10)
    for _ in range(12):
        model.partial_fit(pl.DataFrame({"kind": ["a", "b"] * 10}), ["a", "b"] * 10)
    assert model.predict(pl.DataFrame({"kind": ["a", "b"]})).tolist() == ["a", "b"]


def test_a_million_identical_records():
    X, y = np.ones((1_000_000, 2)), (np.arange(1_000_000) % 10 < 3).astype(int)
    model = forest(n_estimators=2).partial_fit(X, y)
    assert model.permanent_forest_.n_leaves == 2
    assert model.predict(X[:1]).tolist() == [0]
    assert model.predict_proba(X[:1])[0] == pytest.approx([0.7, 0.3], abs=0.01)
    model.partial_fit(X, y)
    assert model.predict_proba(X[:1])[0] == pytest.approx([0.7, 0.3], abs=0.01)


def test_a_thousand_classes():
    X, y = np.arange(4_000.0)[:, None] // 4, np.arange(4_000) // 4
    model = forest().fit(X, y)
    assert len(model.classes_) == 1_000
    assert model.score(X, y) > 0.95
    model.partial_fit(X + 5_000, y + 1_000)
    assert len(model.classes_) == 2_000
    assert model.score(X, y) > 0.95
    assert model.score(X + 5_000, y + 1_000) > 0.95


def test_a_new_class_in_each_of_many_batches():
    model = forest(n_estimators=3)
    for klass in range(150):
        model.partial_fit(np.full((10, 1), float(klass)), [klass] * 10)
    assert len(model.classes_) == 150
    # The permanent forest knows them all; who answers is another question.
    answers = model.permanent_forest_.answer(np.arange(150.0)[:, None], 150, soft=True)
    assert np.mean(answers.argmax(axis=1) == np.arange(150)) > 0.95


def test_five_thousand_columns():
    X = np.random.default_rng(0).normal(size=(60, 5_000))
    y = (X[:, 7] > 0).astype(int)
    model = forest(n_estimators=3).fit(X, y).partial_fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.feature_importances_.shape == (5_000,)


def test_numbers_of_every_size():
    X = np.array([[5e-324], [1e-300], [1.0], [1e150], [-1e150], [0.0]])
    model = forest(n_estimators=50).fit(np.repeat(X, 10, axis=0), np.repeat(np.arange(6), 10))
    assert model.predict(X).tolist() == [0, 1, 2, 3, 4, 5]


def test_numbers_at_the_end_of_float64():
    model = forest().fit([[-1.7e308], [-1.6e308]] * 5, [0, 0] * 5)
    model.partial_fit([[1.6e308], [1.7e308]] * 5, [1, 1] * 5)
    assert model.predict([[-1.7e308], [1.7e308]]).tolist() == [0, 1]


@pytest.mark.parametrize("order", ["C", "F", "strided", "readonly"])
def test_arrays_of_any_layout(order):
    X, y = clusters(0)
    expected = forest().fit(X, y).partial_fit(X, y).predict_proba(X)
    if order == "strided":
        wide = np.zeros((120, 6))
        wide[::2, ::2] = X
        X = wide[::2, ::2]
    elif order == "readonly":
        X, y = X.copy(), y.copy()
        X.flags.writeable = y.flags.writeable = False
    else:
        X = np.array(X, order=order)
    np.testing.assert_array_equal(forest().fit(X, y).partial_fit(X, y).predict_proba(X), expected)


# --- sharing


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_changing_the_batch_after_learning_it_does_not_change_the_model(dtype):
    X, y = clusters(0)
    mine, labels = X.astype(dtype), y.copy()
    model, twin = forest(), forest()
    for _ in range(3):
        model.partial_fit(mine, labels)
        twin.partial_fit(mine.copy(), labels.copy())
        before = model.predict_proba(X)
        mine[:], labels[:] = -99, 0
        np.testing.assert_array_equal(model.predict_proba(X), before)
        mine, labels = X.astype(dtype), y.copy()
    for one in (model, twin):
        one.partial_fit(X, 1 - y)  # repairs read the memory
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_changing_a_data_frame_after_learning_it_does_not_change_the_model():
    frame, numbers = FRAME.copy(), FRAME[["area", "beds"]].astype(float)
    model, other = forest().partial_fit(frame, RENT), forest().partial_fit(numbers, RENT)
    before, before_other = pickle.dumps(model), pickle.dumps(other)
    frame.loc[:, "area"] = 0.0
    numbers.iloc[:, :] = 0.0
    assert pickle.dumps(model) == before
    assert pickle.dumps(other) == before_other


def test_predicting_changes_neither_model_nor_records():
    X, y = clusters(0)
    model, mine = forest().fit(X, y), X.copy()
    state = pickle.dumps(model)
    answers = model.predict_proba(mine)
    answers[:] = 0
    np.testing.assert_array_equal(mine, X)
    assert pickle.dumps(model) == state


# --- threads


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_other_threads_see_the_old_model_or_the_new_one(n_jobs):
    # New classes widen the answers, labels that change make every version answer differently.
    batches = [clusters(number, (number % 3, (number + 1) % 3, number), n=600) for number in range(12)]
    X, _ = clusters(99, tuple(range(12)), n=50)
    twin, versions = forest(n_jobs=n_jobs), []
    for batch in batches:
        twin.partial_fit(*batch)
        versions.append((twin.predict_proba(X).tobytes(), twin.predict(X).tolist()))
    model = forest(n_jobs=n_jobs).partial_fit(*batches[0])
    done, seen, errors = threading.Event(), set(), []

    def ask():
        try:
            while not done.is_set():
                shares, labels = model.predict_proba(X).tobytes(), model.predict(X).tolist()
                first = next(i for i, version in enumerate(versions) if version[0] == shares)
                assert labels in [version[1] for version in versions[first:]], "time does not run backwards"
                seen.add(first)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for batch in batches[1:]:
        model.partial_fit(*batch)
        time.sleep(0.005)
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(seen) > 1, "the threads did see the model change"


def test_models_learn_side_by_side_in_threads():
    batches = [clusters(number, (0, 1, 2), n=300) for number in range(5)]
    X, _ = clusters(99, (0, 1, 2))

    def learn(seed):
        model = forest(random_state=seed)
        for batch in batches:
            model.partial_fit(*batch)
        return model.predict_proba(X).tobytes()

    expected, found = [learn(seed) for seed in range(4)], [None] * 4

    def work(seed):
        found[seed] = learn(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, partial(PaperADFClassifier, min_samples_leaf=1)])
def test_sysfor_without_trees_for_some_places_learns_on(kind):
    # Two values of one attribute offer one tree; the other places keep the trees they had, which learn the batch.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = kind(n_estimators=10, base_forest="sysfor", memory_size=30, window_size=1, random_state=0)
    model.fit(X, X[:, 0] + 0.3 * rng.normal(size=60) > 0)
    for _ in range(4):
        X = np.zeros((300, 2))
        X[:, 0] = rng.integers(0, 2, 300) * 9 - 4
        model.partial_fit(X, X[:, 0] > 0)
        permanent = model.permanent_forest_
        assert {len(leaf_of) for leaf_of in permanent.leaf_of} == {len(permanent.known)}
    assert model.score(X, X[:, 0] > 0) == 1


def test_what_matters_to_answers_alone_goes_by_the_parameters_as_they_are():
    model = forest()
    for seed in range(8):
        X, y = clusters(seed)
        model.partial_fit(X, y if seed < 4 else 1 - y)
    before = model.predict_proba(X)
    permanent = model.set_params(answer_for="everything").predict_proba(X)
    assert (permanent != before).any()
    np.testing.assert_array_equal(model.set_params(answer_for="next_batch").predict_proba(X), before)
    report = model.set_params(answer_for="everything").partial_fit(X, 1 - y).history_[-1]
    assert (report.answering, report.votes) == ("permanent", {"permanent": 1.0})
    assert model.answering_forest_ == "permanent"
