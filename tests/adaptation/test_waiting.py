"""Batches that wait until they are enough."""

import pickle

import numpy as np
import pytest

from adforest.adaptation.tuning import TUNING
from oracles import accuracy, as_bytes, grid, learn, n_given, new_state, two_clusters
from small_forests import forest


def start(n=2_000, **changes):
    """Return the state after one large batch and some usual ones."""
    state, _ = learn(new_state(**changes), *two_clusters(0, n=n))
    return state


@pytest.mark.parametrize("n_first", [300, 1_000, 5_000])
def test_batches_wait_until_they_are_enough(n_first):
    state = start(n_first)
    enough = min(TUNING.small_batch, TUNING.small_fraction * n_first)
    waiting = 0
    for number in range(1, 12):
        before = state
        state, report = learn(state, *two_clusters(number, n=11))
        waiting += 11
        assert report.batch == state.n_calls == number + 1
        assert report.n_samples == 11
        if waiting < enough:
            assert set(report.action.values()) == {"waiting"}
            assert set(report.action) == set(state.forests)
            assert len(state.pending) == waiting
            assert as_bytes(state) == as_bytes(before)
            assert state.n_batches == before.n_batches
            assert (report.drift, report.perturbed) == ("none", {})
            assert report.accuracy.keys() >= {"permanent", "vote"}
        else:
            assert state.pending is None
            assert report.action["permanent"] == "repaired"
            assert state.n_batches == before.n_batches + 1
            assert (state.memory.batch == state.n_batches).sum() == waiting
            enough, waiting = min(TUNING.small_batch, TUNING.small_fraction * len(state.memory)), 0
        assert n_given(state) == n_first + 11 * number
    assert state.n_calls == 12
    assert 1 < state.n_batches < 12


def test_an_unknown_class_does_not_wait_and_takes_along_what_does():
    state, _ = learn(start(), *two_clusters(1, n=20), n_classes=3)
    assert len(state.pending) == 20
    state, report = learn(state, np.array([[50.0, 50.0]] * 3), [2] * 3, n_classes=3)
    assert state.pending is None
    assert report.action["permanent"] == "repaired"
    assert (report.scenario, report.new_classes) == ("SUC", (2,))
    assert (state.memory.batch == 2).sum() == 23
    assert accuracy(state, np.array([[50.0, 50.0]]), [2], 3) == 1


def test_classes_that_wait_are_known():
    state, _ = learn(start(), *two_clusters(1, n=20))
    X, _ = two_clusters(2, n=20)
    state, report = learn(state, X, np.zeros(20))
    assert report.scenario == "SKC"


@pytest.mark.parametrize("n_first", [2_000, 5_000])
@pytest.mark.parametrize("pieces", [[100], [50, 50], [20] * 5, [1] * 99 + [1], [99, 1]])
def test_samples_that_wait_are_learnt_like_one_batch(pieces, n_first):
    X, y = two_clusters(7, n=100)
    before = start(n_first)
    once, report = learn(before, X, y)
    state, at = before, 0
    for size in pieces:
        state, last = learn(state, X[at : at + size], y[at : at + size])
        at += size
    assert as_bytes(state) == as_bytes(once)
    np.testing.assert_array_equal(state.memory.serial, once.memory.serial)
    np.testing.assert_array_equal(state.memory.batch, once.memory.batch)
    assert (state.n_batches, state.n_calls) == (2, 1 + len(pieces))
    assert last.action == report.action
    assert last.n_leaves == report.n_leaves


def test_single_samples_from_the_first_on_are_learnt_without_a_verdict():
    state = new_state(n_estimators=4)
    X, y = two_clusters(0, n=60)
    for sample, klass in zip(X, y, strict=True):
        state, report = learn(state, sample[None], [klass])
        assert report.drift == "none"
    assert accuracy(state, *two_clusters(99)) > 0.9


def test_what_waits_is_in_the_pickle():
    state, _ = learn(start(), *two_clusters(1, n=60))
    twin = pickle.loads(pickle.dumps(state))
    one, _ = learn(state, *two_clusters(2, n=60))
    other, _ = learn(twin, *two_clusters(2, n=60))
    assert one.pending is None
    assert as_bytes(one) == as_bytes(other)


@pytest.mark.parametrize("seed", [0, 1])
def test_labels_flipped_in_batches_of_twenty_are_noticed_and_learnt(seed):
    rng, state, found = np.random.default_rng(seed), new_state(seed=seed), ""
    for n in [1_000] + [100] * 10:
        state, _ = learn(state, *grid(rng, n, 2, 0.05))
    X, y = grid(rng, 2_000, 2, 0.05)
    for number in range(1, 51):
        X_new, y_new = grid(rng, 20, 2, 0.05)
        state, report = learn(state, X_new, 1 - y_new)
        found += report.drift[0]
        if number == 25:
            assert accuracy(state, X, 1 - y) >= 0.75
    assert accuracy(state, X, 1 - y) >= 0.90
    assert "t" in found


def test_the_class_mix_of_what_waits_is_that_of_all_counted_anew():
    state = start(5_000)
    for number in range(1, 12):
        X, y = two_clusters(number, n=13)
        state, _ = learn(state, X, y + 2 * (number == 4), n_classes=3 if number < 4 else 4)
        found, expected = state.class_mix, state.with_class_mix().class_mix
        for name in ("seen", "last", "latest", "new", "rare"):
            one, other = getattr(found, name), getattr(expected, name)
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


@pytest.mark.parametrize("size", [1, 3])
def test_the_first_samples_one_by_one_are_no_drift(size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = (X[:, 0] + rng.normal(scale=0.3, size=240) > 0).astype(int)
    model = forest(n_estimators=5)
    for place in range(0, 240, size):
        model.partial_fit(X[place : place + size], y[place : place + size], classes=[0, 1])
    assert {report.drift for report in model.history_} == {"none"}
