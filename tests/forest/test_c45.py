"""C4.5: cuts by gain ratio among attributes of at least average gain."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from grown_trees import CONFIDENCE, SHARED, check_whole, shared_codes, sides

SLACK = 1e-9  # bits a sample that two ways of adding up may differ by


def check_cuts(b, tree, min_leaf=1):
    """Check every node of an exact tree against all the cuts there are."""
    passing = oracles.samples_at(tree.nodes, tree.category_bits, b.X, range(len(b.y)))
    for node in oracles.depths(tree.nodes):
        here, left = sides(tree, passing, node)
        y, weights = b.y[here], b.weights[here]
        slack = SLACK * weights.sum()
        cuts = [
            oracles.all_cuts(column, y, weights, n_categories, min_leaf, by_arrival=True)
            for column, n_categories in zip(b.X[here].T, b.n_categories, strict=True)
        ]
        best = [max(cut.gain for cut in some) if some else None for some in cuts]
        offered = [gain for gain in best if gain is not None]
        if tree.nodes["split"][node] < 0:
            assert len(here) < 2 * min_leaf or max(offered, default=0) <= 2 * slack
            continue
        feature = tree.nodes["split"][node] >> 2
        price = oracles.subset_price(b.X[here, feature]) if b.n_categories[feature] else 0.0
        gain = oracles.gain(y, weights, left) - price
        assert min(left.sum(), (~left).sum()) >= min_leaf
        assert gain > slack / 2
        assert gain == pytest.approx(best[feature], abs=slack)
        assert gain >= np.mean(offered) - slack
        # An attribute may have several best cuts of different ratios, and any of them stands for it.
        rivals = [
            min(cut.ratio for cut in some if cut.gain >= most - slack)
            for some, most in zip(cuts, best, strict=True)
            if some and most >= np.mean(offered) + slack
        ]
        assert oracles.gain_ratio(y, weights, left, price) >= max(rivals, default=0) - 1e-9


def test_the_average_gain_keeps_out_a_small_cut_of_a_high_ratio():
    # Classes a, b, b, c, c, c, c, c: 10.39 bits.
    #   column 0: {b, b, c, c} | {a, c, c, c}: gain 3.15 bits, ratio 3.15 / 8    = 0.39
    #   column 1: {b} | the rest:              gain 2.35 bits, ratio 2.35 / 4.35 = 0.54, but below the average of 2.75
    y = [0, 1, 1, 2, 2, 2, 2, 2]
    X = np.array([[1, 0, 0, 0, 0, 1, 1, 1], [1, 0, 1, 1, 1, 1, 1, 1]]).T
    tree, _ = oracles.grow_c45(oracles.block(X, y), max_depth=1)
    assert tree.nodes["split"][0] >> 2 == 0
    assert tree.importance == pytest.approx([3.1452, 0], abs=1e-4)


def test_among_equal_ratios_the_first_attribute_is_taken():
    # Classes a, a, a, a, b, b, b, b, c, c. Both columns follow from the class, so that their ratio is 1:
    #   column 0: {a, a, a, a} | the rest: gain 9.71 bits, said in 9.71
    #   column 1: {c, c} | the rest:       gain 7.22 bits, said in 7.22: below the average
    y = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    X = np.array([[0, 0, 0, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]]).T
    tree, _ = oracles.grow_c45(oracles.block(X, y), max_depth=1)
    assert tree.importance == pytest.approx([9.7095, 0], abs=1e-4)
    # With a poor third column both are above the average.
    poor = np.arange(10) % 2
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        b = oracles.block(np.c_[X, poor][:, order], y)
        tree, _ = oracles.grow_c45(b, max_depth=1)
        assert tree.nodes["split"][0] >> 2 == min(order.index(0), order.index(1))


@given(b=oracles.blocks(categories=(0,)), min_leaf=st.integers(1, 5))
def test_every_cut_is_the_one_c45_asks_for(b, min_leaf):
    tree, leaf_of = oracles.grow_c45(b, min_samples_leaf=min_leaf)
    check_whole(b, tree, leaf_of, range(len(b.y)))
    check_cuts(b, tree, min_leaf)


@given(b=oracles.blocks(categories=(0, 1, 3, 7, 70), max_weight=3), min_leaf=st.integers(1, 3))
def test_categories_are_cut_along_their_share_of_the_most_frequent_class(b, min_leaf):
    tree, leaf_of = oracles.grow_c45(b, min_samples_leaf=min_leaf)
    check_whole(b, tree, leaf_of, range(len(b.y)))
    check_cuts(b, tree, min_leaf)


@SHARED
@pytest.mark.parametrize("n", [100, 128, 129, 400])
@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 90)], ids=["numerical", "mixed"])
def test_few_distinct_values_are_cut_exactly_in_nodes_of_any_size(binned, n, n_categories):
    b = oracles.random_block(n, n_categories=n_categories, distinct=2)
    tree, leaf_of = oracles.grow_c45(b, binned=shared_codes(b, binned), min_samples_leaf=2)
    assert len(tree.nodes) > 10
    check_whole(b, tree, leaf_of, range(n))
    check_cuts(b, tree, 2)


@SHARED
@pytest.mark.parametrize("confidence", [0, CONFIDENCE])
@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 300, 0)], ids=["numerical", "mixed"])
def test_large_nodes_lose_no_sample(binned, confidence, n_categories):
    b = oracles.random_block(3000, n_categories=n_categories)
    tree, leaf_of = oracles.grow_c45(b, binned=shared_codes(b, binned), prune_confidence=confidence)
    assert len(tree.nodes) > 20
    check_whole(b, tree, leaf_of, range(3000))


@pytest.mark.parametrize("n", [4, 400])
@SHARED
def test_no_cut_without_gain(binned, n):
    # Exclusive or: either attribute alone says nothing.
    X = np.array(list(product((0, 1), repeat=2)) * (n // 4))
    b = oracles.block(X, X[:, 0] ^ X[:, 1])
    tree, leaf_of = oracles.grow_c45(b, binned=shared_codes(b, binned))
    assert len(tree.nodes) == 1
    assert not tree.importance.any()
    assert (leaf_of == 0).all()
    assert oracles.rows_of(tree) == {0: {0: n / 2, 1: n / 2}}


@given(
    proba=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    times=st.lists(st.integers(1, 9), min_size=2, max_size=4),
)
def test_rounding_is_not_gain(proba, times):
    # Every value of the attribute has the same class proba.
    values, y = np.divmod(np.arange(len(times) * len(proba)), len(proba))
    weights = np.outer(times, proba).ravel()
    tree, _ = oracles.grow_c45(oracles.block(values, y, weights=weights))
    assert len(tree.nodes) == 1


@SHARED
@pytest.mark.parametrize("n", [20, 700])
def test_attributes_that_say_nothing_are_never_asked(binned, n):
    b = oracles.random_block(n, n_categories=(4, 0, 0, 4, 0), missing=0)
    b.X[:, :2] = np.nan
    b.X[:, 2:4] = 3
    tree, leaf_of = oracles.grow_c45(b, binned=shared_codes(b, binned))
    check_whole(b, tree, leaf_of, range(n))
    assert not tree.importance[:4].any()
    assert tree.importance[4] > 0


@SHARED
@pytest.mark.parametrize("confidence", [0, CONFIDENCE])
@pytest.mark.parametrize("n", [90, 900])
def test_no_lots_are_drawn(binned, confidence, n):
    b = oracles.random_block(n, n_categories=(0, 9, 0, 40), n_classes=5)
    trees = [
        oracles.grow_c45(b, seed=seed, binned=shared_codes(b, binned), prune_confidence=confidence)[0]
        for seed in (0, 1, 2**64 - 1)
    ]
    for name in ("nodes", "category_bits", "row_start", "row_class", "row_weight", "importance"):
        assert len({getattr(tree, name).tobytes() for tree in trees}) == 1


@given(b=oracles.blocks(max_samples=60), min_leaf=st.integers(1, 6), depth=st.integers(0, 3))
def test_limits_are_kept(b, min_leaf, depth):
    for confidence in (0, CONFIDENCE):
        limits = {"min_samples_leaf": min_leaf, "max_depth": depth, "prune_confidence": confidence}
        tree, leaf_of = oracles.grow_c45(b, **limits)
        check_whole(b, tree, leaf_of, range(len(b.y)))
        assert tree.depth <= depth
        assert len(tree.nodes) == 1 or np.unique(leaf_of, return_counts=True)[1].min() >= min_leaf
