"""The steps of learning a batch: what growth a batch may cost, whose turn it is, and what a report says of it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from adforest.adaptation import State
from adforest.adaptation.steps import _tree_indices
from adforest.adaptation.tuning import TUNING
from adforest.forest import GrowthParams
from adforest.forest.tree import LEAF_EXPANDED
from adforest.growers import RandomForestGrower
from oracles import grid, learn, make_settings, new_state, swapping_stream, two_clusters


def seeds_of(state, name="permanent"):
    return [tree.seed for tree in state.forest(name).trees]


def renewed(before, after, name="permanent"):
    """Return the places of the trees that are not those of before, nor repaired ones."""
    places = enumerate(zip(seeds_of(before, name), seeds_of(after, name), strict=True))
    return [place for place, (old, new) in places if old != new]


def calm(n_batches, n=100, n_first=100, **changes):
    """Return the states along a stream in which nothing happens."""
    states, state = [], new_state(**changes)
    for number in range(n_batches):
        state, _ = learn(state, *two_clusters(number, n=n if number else n_first))
        states.append(state)
    return states


# --- renewal


@pytest.mark.parametrize("n", [150, 400])
def test_while_samples_are_few_every_tree_is_renewed_at_every_batch(n):
    states = calm(8, n=n, n_first=n)
    for number, (before, after) in enumerate(pairwise(states), start=2):
        if number * n <= n + TUNING.extra_samples:
            assert renewed(before, after) == list(range(10))
    assert len(renewed(states[-2], states[-1])) < 10 or 8 * n <= n + TUNING.extra_samples


@pytest.mark.parametrize("renewal", [0.1, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("n_estimators", [3, 10])
def test_later_trees_are_renewed_in_turn_as_far_as_the_budget_goes(renewal, n_estimators):
    n, states = 100, calm(30, n_first=2_000, renewal=renewal, n_estimators=n_estimators)
    budget, n_renewed, times = 0.0, 0, np.zeros(n_estimators, dtype=int)
    for number, (before, after) in enumerate(pairwise(states), start=1):
        known = 2_000 + n * number
        budget += renewal * n_estimators * (n + TUNING.extra_samples)
        turns = min(n_estimators, int(budget / known))
        expected = sorted((n_renewed + k) % n_estimators for k in range(turns))
        budget, n_renewed = min(budget - turns * known, known), n_renewed + turns
        assert renewed(before, after) == expected
        times[expected] += 1
        one = after.forests["permanent"]
        assert one.n_renewed == n_renewed
        assert one.budget == pytest.approx(budget)
        assert one.budget <= after.memory.n_seen, "what is left never buys more than one tree"
    assert np.ptp(times) <= 1, "all of them equally often"
    assert times.min() > 0 or renewal < 0.5


def test_large_batches_renew_every_tree_for_as_long_as_they_are_half_of_what_is_known():
    states = calm(3, n=3_000, n_first=3_000)
    assert len(renewed(states[0], states[1])) == int(10 * 3_500 / 6_000)


def test_without_renewal_no_tree_is_ever_grown_anew():
    states = calm(8, renewal=0)
    assert len({tuple(seeds_of(state)) for state in states}) == 1
    assert all(state.forests["permanent"].n_renewed == 0 for state in states)


def test_nothing_is_renewed_without_a_memory():
    states = calm(8, memory_size=0)
    assert len({tuple(seeds_of(state)) for state in states}) == 1


def test_two_forests_share_the_budget_of_one():
    settings = make_settings(drift_threshold=0, renewal=1.0)
    states, reports = swapping_stream("......" + "s" * 10, settings, n=300)
    n_apart = 0
    for before, after, report in zip(states, states[1:], reports[1:], strict=False):
        if not before.is_active_separate or report.action["active"] != "repaired":
            continue
        n_apart += 1
        known = 300 * report.batch
        allowed = before.forests["permanent"].budget + 0.5 * 10 * (300 + TUNING.extra_samples)
        assert len(renewed(before, after)) == min(10, int(allowed / known))
    assert n_apart >= 3


def without_class(state, k):
    """Return a state whose memory has let go of all samples of a class."""
    kept = np.flatnonzero(state.memory.y != k)
    forests = {
        name: replace(one, forest=one.forest.keep(kept) if one.forest.leaf_of else one.forest)
        for name, one in state.forests.items()
    }
    return replace(state, memory=state.memory.keep(kept), forests=forests)


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_tree_that_knows_a_class_of_which_no_sample_is_at_hand_stays(is_gone):
    state, rng = new_state(), np.random.default_rng(0)
    state, _ = learn(state, *grid(rng, 200, 3, 0.0), n_classes=3)
    before = without_class(state, 2) if is_gone else state
    after, _ = learn(before, *two_clusters(9), n_classes=3)
    assert renewed(before, after) == ([] if is_gone else list(range(10)))
    assert all(2 in tree.row_class for tree in after.forest("permanent").trees)


def test_renewed_trees_hold_every_sample_of_a_rare_class():
    # Four samples of 400 are of class 2; of a bootstrap sample a third would be left out.
    state = new_state(n_estimators=5, tree_repair="share", repair_threshold=1.0)
    for number in range(9):
        X, y = two_clusters(number, n=400)
        X[:4], y[:4] = X[:4] + 100, 2
        state, _ = learn(state, X, y, n_classes=3)
    for tree in state.forest("permanent").trees:
        assert tree.row_weight[tree.row_class == 2].sum() >= 9 * 4


def test_new_trees_say_which_batch_built_them():
    states = calm(4)
    for number, state in enumerate(states, start=1):
        assert {int(born) for tree in state.forest("permanent").trees for born in tree.born} == {number}


# --- turns


def expanding(state):
    """Return the places of the permanent forest's trees in which the last batch expanded leaves."""
    trees = state.forest("permanent").trees
    return [place for place, tree in enumerate(trees) if state.n_batches in tree.born[tree.cause == LEAF_EXPANDED]]


@pytest.mark.parametrize(("n_estimators", "n_places"), [(1, 1), (4, 1), (10, 2)])
def test_every_tree_has_its_turn_to_expand_leaves(n_estimators, n_places):
    rng, state = np.random.default_rng(0), new_state(n_estimators=n_estimators, renewal=0)
    places = []
    for _ in range(TUNING.expansion_turns + 1):
        state, _ = learn(state, *grid(rng, 200, 2, noise=0.3))
        places.append(expanding(state))
    assert all(len(some) == n_places for some in places[1:])
    assert sorted({place for some in places for place in some}) == list(range(n_estimators))


@pytest.mark.parametrize(("n_classes", "changes"), [(2, {"tree_repair": "any"}), (2, {"memory_size": 0}), (3, {})])
def test_all_trees_expand_leaves_at_once_where_asked_or_where_waiting_would_lose_something(n_classes, changes):
    rng, state = np.random.default_rng(0), new_state(renewal=0, **changes)
    for k in (2, 2, n_classes):
        state, _ = learn(state, *grid(rng, 200, k, noise=0.3), n_classes=n_classes)
    assert expanding(state) == list(range(10))


def test_places_go_round_the_forest():
    assert _tree_indices(0, 3, 10) == [0, 1, 2]
    assert _tree_indices(8, 3, 10) == [0, 8, 9]
    assert _tree_indices(25, 0, 10) == []
    assert _tree_indices(7, 4, 4) == [0, 1, 2, 3]


# --- one batch


class CountingGrower(RandomForestGrower):
    """Notes how many samples are coded."""

    def __init__(self, params):
        super().__init__(params)
        object.__setattr__(self, "coded_samples", [])

    def coded(self, samples):
        if samples.codes is None:
            self.coded_samples.append(len(samples))
        return super().coded(samples)


def test_samples_are_coded_once_a_batch_whoever_grows_from_them():
    grower = CountingGrower(GrowthParams(max_features=2))
    state = new_state(grower=grower)
    for number in range(5):
        grower.coded_samples.clear()
        state, _ = learn(state, *two_clusters(number, n=600))
    assert sorted(grower.coded_samples) == [600, 1_800, 3_000], "the batch, the window, and all there is"


def test_nobody_asks_where_samples_are_in_the_temporary_forest():
    for state in swapping_stream("......ss..", make_settings())[0][1:]:
        assert state.forest("temporary").leaf_of == ()
        assert len(state.forest("permanent").leaf_of) == len(state.forest("permanent"))


@pytest.mark.parametrize("memory_size", [0, 10])
def test_memory_keeps_the_window_and_little_more(memory_size):
    states, _ = swapping_stream("......ss.", make_settings(memory_size=memory_size, window_size=2), n=100)
    assert max(len(state.memory) for state in states) <= 100 + memory_size
    for state in states:
        assert len(state.forest("permanent").known) == len(state.memory)


def test_a_state_starts_from_nothing():
    state = State.new(make_settings(), 2)
    assert (state.n_calls, state.n_batches, len(state.memory), state.forests) == (0, 0, 0, {})
    assert state.pending is None
