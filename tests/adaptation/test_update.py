"""One batch after another: with any base forest, on the side, and of any size."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation.voting import votes
from adforest.forest import GrowthParams
from adforest.growers import HoeffdingGrower, RandomForestGrower, SysForGrower
from oracles import (
    accuracy,
    as_bytes,
    check_left_alone_by_learning,
    learn,
    make_settings,
    n_given,
    new_state,
    two_clusters,
)
from swapped_labels import CALM, accuracies, follow, verdicts

GROWERS = {grower.__name__: grower(GrowthParams(max_features=2)) for grower in (SysForGrower, HoeffdingGrower)}


# --- base forests that draw no lots


@pytest.mark.parametrize("name", GROWERS)
@pytest.mark.parametrize("window_size", [1, 2])
def test_other_base_forests_notice_a_swap_one_batch_later(name, window_size):
    pattern = "....ssssssss"
    states, reports = follow(pattern, grower=GROWERS[name], window_size=window_size)
    assert verdicts(reports)[:9] == "nnnnnttts"
    assert reports[8].action["active"] == "replaced"
    assert min(accuracies(pattern, states)[5:]) > 0.9


@pytest.mark.parametrize("name", GROWERS)
def test_other_base_forests_find_no_drift_in_a_stationary_stream(name):
    assert verdicts(follow("." * 8, grower=GROWERS[name])[1]) == "n" * 8


@pytest.mark.parametrize("name", GROWERS)
def test_a_temporary_forest_is_always_of_one_window(name):
    # SysFor often has fewer trees than places; those of an earlier window are not to fill them.
    for state in follow("...sss", grower=GROWERS[name], window_size=2, n=100)[0][1:]:
        forest = state.forest("temporary")
        assert {born for tree in forest.trees for born in tree.born.tolist()} == {state.n_batches}
        assert state.memory.batch[forest.known].min() > state.n_batches - 2


# --- learning on the side


@pytest.mark.parametrize("memory_size", [None, 0, 150])
def test_learning_never_changes_the_state_it_starts_from(memory_size):
    states, _ = follow(CALM + "ss.", memory_size=memory_size, n=100)
    for state in (states[0], *states[-4:]):
        check_left_alone_by_learning(state)


@pytest.mark.parametrize("grower", [RandomForestGrower(GrowthParams(max_features=2)), *GROWERS.values()])
def test_threads_make_no_difference(grower):
    one, first = follow(CALM + "ss..", grower=grower, n_jobs=1)
    two, second = follow(CALM + "ss..", grower=grower, n_jobs=2)
    for a, b in zip(one, two, strict=True):
        assert as_bytes(a) == as_bytes(b)
        assert (a.regime_start, a.n_drift_batches, a.answering) == (b.regime_start, b.n_drift_batches, b.answering)
        assert a.evidence.voters == b.evidence.voters
        np.testing.assert_array_equal(a.evidence.weights, b.evidence.weights)
    for a, b in zip(first, second, strict=True):
        assert replace(a, seconds=0, learnt_at=None) == replace(b, seconds=0, learnt_at=None)


def test_a_pickle_goes_on_like_the_original():
    for state in follow(CALM + "ss", n=100)[0][::2]:
        twin = pickle.loads(pickle.dumps(state))
        for number, swapped in ((60, True), (61, False)):
            state, report = learn(state, *two_clusters(number, swapped))
            twin, again = learn(twin, *two_clusters(number, swapped))
            assert replace(report, seconds=0, learnt_at=None) == replace(again, seconds=0, learnt_at=None)
        assert as_bytes(state) == as_bytes(twin)
        np.testing.assert_array_equal(votes(state, two_clusters(9)[0], 2), votes(twin, two_clusters(9)[0], 2))


# --- little of everything


@given(
    sizes=st.lists(st.sampled_from([1, 1, 2, 5, 29, 30, 31, 70]), min_size=2, max_size=7),
    n_estimators=st.sampled_from([1, 2, 3]),
    window_size=st.sampled_from([1, 2, 9]),
    drift_threshold=st.sampled_from([0, 1]),
    memory_size=st.sampled_from([0, 1, 20, None]),
    splitting=st.sampled_from(["entropy", "isat"]),
    base=st.sampled_from([None, *GROWERS]),
    seed=st.integers(0, 1_000),
)
def test_any_stream_is_learnt_and_answered(sizes, base, seed, **changes):
    rng = np.random.default_rng(seed)
    changes |= {"grower": GROWERS[base]} if base else {}
    state, seen = new_state(seed=seed, **changes), 0
    for number, n in enumerate(sizes, start=1):
        classes = rng.choice(5, rng.integers(1, 4))
        X = rng.integers(0, 4, (n, 2)) * rng.choice([1.0, 1.0, 100.0])
        X[rng.random(X.shape) < 0.1] = np.nan
        state, report = learn(state, X, rng.choice(classes, n), n_classes=5)
        seen += n
        assert (state.n_calls, n_given(state), report.n_samples) == (number, seen, n)
        assert 1 <= state.regime_start <= state.n_batches <= number
        assert 0 <= state.n_drift_batches <= changes["drift_threshold"]
        assert set(report.votes) == set(state.voting)
        assert state.answering == report.answering
        answers = votes(state, np.vstack([X, X * 1000, [[np.nan, np.nan]]]), 5)
        assert np.isfinite(answers).all()
        assert (answers.sum(axis=1) > 0).all()
        for one in state.forests.values():
            assert 1 <= len(one.forest) <= changes["n_estimators"]
            assert len(one.forest.known) == len(state.memory)
        if n < 9:
            assert report.drift == "none" or state.n_batches < number, "too few samples to conclude anything from"


def test_more_trees_from_now_on_are_no_drift():
    state = follow(CALM, n_estimators=1)[0][-1]
    _, report = learn(replace(state, settings=make_settings(n_estimators=12)), *two_clusters(60))
    assert report.drift == "none"


def test_reported_accuracy_is_that_before_learning():
    states, reports = follow(CALM + "s.")
    assert reports[0].accuracy == {}
    for before, report in zip(states, reports[1:], strict=False):
        X, y = two_clusters(report.batch - 1, swapped=report.batch == len(CALM) + 1)
        assert set(report.accuracy) == {"vote", "active", *before.voting}
        assert report.accuracy["vote"] == pytest.approx(accuracy(before, X, y), abs=0.02)
