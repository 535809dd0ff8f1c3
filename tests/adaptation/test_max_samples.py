"""No tree is grown from more records than is said, and what is known of a batch is known of all its records."""

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, adaptation
from adforest.adaptation.memory import Memory, WindowBound
from adforest.forest import Records, Totals
from adforest.forest._kernels.lots import hashes
from oracles import learn, new_state, two_clusters

BOUND = 1_000


def grown_from(forest, number):
    """Return how much weight the roots of the trees that were grown at a batch had then."""
    return [tree.row_weight.sum() for tree in forest.trees if tree.born.min() == number]


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
@pytest.mark.parametrize("memory_size", [None, 2_000])
def test_trees_are_grown_from_no_more_records_and_all_others_are_placed(base_forest, memory_size):
    grower = AdaptiveDecisionForestClassifier(base_forest=base_forest)._settings(2, 0).grower
    state = new_state(max_samples=BOUND, memory_size=memory_size, grower=grower, renewal=5.0)
    n_renewed = 0
    for number in range(1, 7):
        state, _ = learn(state, *two_clusters(number, n=700))
        most = 1.15 * BOUND * grower.record_weight
        for name in ("permanent", "temporary", "newest"):
            forest = state.forest(name)
            if forest is not None:
                weights = grown_from(forest, number)
                n_renewed += name == "permanent" and number > 1 and len(weights)
                assert max(weights, default=0) <= most
        permanent = state.forest("permanent")
        assert permanent.known.sum() == len(state.memory)
        for tree, leaf_of in zip(permanent.trees, permanent.leaf_of, strict=True):
            np.testing.assert_array_equal(leaf_of, tree.route(state.memory.matrix()))
    assert len(state.memory) > 2 * BOUND
    assert n_renewed > 10


def test_a_window_holds_no_more_than_a_tree_is_grown_from():
    memory = Memory.empty(1)
    for number, n in enumerate([900, 900, 900], start=1):
        serial = np.arange(memory.n_seen, memory.n_seen + n)
        y = np.zeros(n, np.int32)
        memory = memory.add(Records(np.ones((n, 1)), y, serial, np.zeros(1, np.int32), 1), number)
    places = np.arange(len(memory))
    assert len(places[memory.window(1, WindowBound(9))]) == 2_700
    found = places[memory.window(1, WindowBound(9, 1_500))]
    assert len(found) == pytest.approx(1_500, rel=0.05)
    assert set(range(1_800, 2_700)) < set(found.tolist())
    assert len(places[memory.window(1, WindowBound(9, 500))]) == 900  # the last batch is whole


def drawn_batch(number, n, share, state):
    """Return a batch of which a share is drawn, as records and what is known of all of it."""
    X, y = two_clusters(number, n=n)
    y[:] = np.where(np.arange(n) % 10 == 0, 1, 0)
    first = state.memory.n_seen
    serial = np.arange(first, first + n)
    drawn = hashes(serial) < np.uint64(share * 2**64)
    by_class = np.bincount(y, minlength=2)
    totals = Totals(n, by_class, by_class.astype(float))
    return Records(X[drawn], y[drawn], serial[drawn], np.zeros(2, np.int32), 2, totals=totals), drawn.sum()


def test_all_records_are_counted_and_those_drawn_are_kept():
    state, kept = new_state(max_samples=BOUND, memory_size=None), 0
    for number in range(1, 5):
        records, n_drawn = drawn_batch(number, 4_000, BOUND / 4_000, state)
        state, report = adaptation.RECIPES["adaptive"](state, records)
        kept += n_drawn
        assert report.n_records == 4_000
        assert state.memory.n_seen == 4_000 * number
        assert state.memory.seen_by_class.tolist() == [3_600 * number, 400 * number]
        assert state.memory.weight_by_class.tolist() == [3_600 * number, 400 * number]
        assert state.class_mix.seen.tolist() == [3_600 * number, 400 * number]
        assert len(state.memory) == kept
    later, n_drawn = drawn_batch(9, 4_000, BOUND / 4_000, state)
    waiting, report = learn(state, *two_clusters(5, n=30))
    assert report.action["permanent"] == "waiting"
    joined, n_first = waiting.pending.joined(later), int((waiting.pending.y == 0).sum())
    assert joined.came.n == 4_030
    assert joined.came.by_class.tolist() == [3_600 + n_first, 430 - n_first]
    assert len(joined) == 30 + n_drawn


def test_what_came_is_what_is_there_unless_more_is_known():
    records = Records(np.ones((3, 1)), np.array([0, 2, 0], np.int32), np.arange(3), np.zeros(1, np.int32), 4)
    came = records.came
    assert (came.n, came.by_class.tolist(), came.weight_by_class.tolist()) == (3, [2, 0, 1, 0], [2, 0, 1, 0])


@pytest.mark.parametrize("value", [999, 0, -1, 0.5, "all", True])
def test_other_bounds_are_refused(value):
    with pytest.raises(ValueError, match=r"max_samples of AdaptiveDecisionForestClassifier is .* at least 1000"):
        AdaptiveDecisionForestClassifier(max_samples=value).fit([[0.0], [1.0]], [0, 1])
