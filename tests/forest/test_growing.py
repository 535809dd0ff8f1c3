"""A grown tree puts every sample where its cuts say, cuts where it pays, and stops only where it must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import GrowthParams, Samples
from adforest.forest._kernels import growing
from grown_trees import SHARED, check_tree, inner_nodes, root_gain


@SHARED
def test_samples_are_where_the_cuts_send_them_and_leaves_are_pure_or_uniform(binned):
    @given(b=oracles.blocks(), seed=st.integers(0, 2**64 - 1), max_features=st.integers(1, 4))
    def check(b, seed, max_features):
        tree = oracles.grow_tree(b, seed=seed, max_features=max_features, binned=binned)
        gains = check_tree(b, tree)
        np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)

    check()


@SHARED
@given(b=oracles.blocks(max_samples=60), min_leaf=st.integers(1, 8), max_depth=st.integers(-1, 4))
def test_limits_on_leaves_and_depth_are_kept(binned, b, min_leaf, max_depth):
    tree = oracles.grow_tree(b, min_leaf=min_leaf, max_depth=max_depth, binned=binned)
    gains = check_tree(b, tree, min_leaf=min_leaf, max_depth=max_depth)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


@given(b=oracles.blocks(), data=st.data())
def test_only_samples_count_and_weights_go_with_them(b, data):
    indices = data.draw(st.lists(st.integers(0, len(b.y) - 1), unique=True, min_size=1))
    tree = oracles.grow_tree(b, indices=indices)
    check_tree(b, tree, indices)
    others = np.setdiff1d(np.arange(len(b.y)), indices)
    assert (tree.leaf_of[others] == -7).all()
    assert sum(sum(row.values()) for row in tree.rows.values()) == b.weights[indices].sum()


@given(b=oracles.blocks(categories=(0,), max_samples=128), min_leaf=st.integers(1, 5))
def test_a_cut_is_worth_as_much_as_the_best_over_all_attributes(b, min_leaf):
    tree = oracles.grow_tree(b, max_depth=1, min_leaf=min_leaf)
    gains = [oracles.best_gain(column, b.y, b.weights, min_leaf) for column in b.X.T]
    best = max((gain for gain in gains if gain is not None), default=None)
    if best is None or len(set(b.y)) == 1:
        assert len(tree.nodes) == 1
    else:
        assert root_gain(b, tree) == pytest.approx(best, abs=1e-6)
        assert tree.importance.sum() == pytest.approx(best, abs=1e-6)


@SHARED
@pytest.mark.parametrize("distinct", [2, 20])
def test_few_distinct_values_are_cut_exactly_in_large_nodes_too(binned, distinct):
    b = oracles.random_block(3000, distinct=distinct)
    tree = oracles.grow_tree(b, max_depth=1, binned=binned)
    best = max(oracles.best_gain(column, b.y, b.weights) for column in b.X.T)
    assert tree.importance.sum() == pytest.approx(best)


@SHARED
def test_quantiles_lose_little_of_a_cut_in_large_nodes(binned):
    b = oracles.random_block(1500, n_categories=(0, 0), missing=0)
    tree = oracles.grow_tree(b, max_depth=1, binned=binned)
    best = max(oracles.best_gain(column, b.y, b.weights) for column in b.X.T)
    assert 0.95 * best < tree.importance.sum() < best + 1e-6


@SHARED
@pytest.mark.parametrize("n", [64, 65, 300, 3000])
@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 200, 0)], ids=["numerical", "mixed"])
def test_large_nodes_obey_the_same_rules(binned, n, n_categories):
    b = oracles.random_block(n, n_categories=n_categories)
    for limits in ({}, {"max_features": 1, "seed": 5}):
        tree = oracles.grow_tree(b, binned=binned, **limits)
        gains = check_tree(b, tree)
        np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)
    tree = oracles.grow_tree(b, min_leaf=9, max_depth=6, binned=binned)
    check_tree(b, tree, min_leaf=9, max_depth=6)


@SHARED
def test_samples_that_share_a_bin_are_still_cut(binned):
    # 255 bins of some 80,000 samples hold about 300 each, more than are coded exactly at once.
    values = np.random.default_rng(0).random(80_000)
    b = oracles.block(values, values * 1000 % 2)
    tree = oracles.grow_tree(b, binned=binned)
    assert len(tree.rows) == len(tree.nodes) // 2 + 1
    assert all(len(row) == 1 for row in tree.rows.values())


@SHARED
@pytest.mark.parametrize("n", [5000, 20_000, 40_000])
def test_samples_that_take_turns_are_cut(binned, n):
    # A sample taken at regular steps sees one side of such data only.
    b = oracles.block(np.arange(n) % 2, np.arange(n) % 2)
    tree = oracles.grow_tree(b, binned=binned)
    assert tree.rows == {1: {0: n // 2}, 2: {1: n // 2}}


@pytest.mark.parametrize("max_bins", [2, 4, 16])
@SHARED
def test_few_bins_do_not_hide_an_attribute(binned, max_bins):
    # The largest value holds most of the samples, so that no quantile lies below it.
    values = np.minimum(np.arange(600), 20)
    b = oracles.block(values, values % 2)
    tree = oracles.grow_tree(b, max_bins=max_bins, binned=binned)
    check_tree(b, tree)


@SHARED
@given(b=oracles.blocks())
def test_missing_values_go_where_they_gain_more_or_else_to_the_heavier_side(binned, b):
    tree = oracles.grow_tree(b, binned=binned)
    for node, here, left, missing_left in inner_nodes(b, tree):
        y, weights = b.y[here], b.weights[here]
        missing = np.isnan(b.X[here, node["split"] >> 2])
        if missing.any():
            other = np.where(missing, not missing_left, left)
            assert oracles.gain(y, weights, left) >= oracles.gain(y, weights, other) - 1e-6
        else:
            heavier_left = int(weights[left].sum()) >= int(weights[~left].sum())
            assert missing_left == heavier_left


@SHARED
@pytest.mark.parametrize("n", [20, 700])
@pytest.mark.parametrize("n_categories", [(0, 0), (4, 0)], ids=["numerical", "categorical"])
def test_a_column_that_is_all_missing_is_never_asked(binned, n, n_categories):
    b = oracles.random_block(n, n_categories=n_categories, missing=0)
    b.X[:, 0] = np.nan
    tree = oracles.grow_tree(b, max_features=1, binned=binned)
    check_tree(b, tree)
    assert tree.importance[0] == 0
    assert tree.importance[1] > 0


@SHARED
@pytest.mark.parametrize("n", [60, 900])
def test_several_groups_grow_at_several_leaves_in_one_call(binned, n):
    b = oracles.random_block(n, n_categories=(0, 6, 0))
    order = np.random.default_rng(1).permutation(n)[: n - 5]
    starts = [0, n // 3, n // 3, n // 3 + 1, n - 5]  # the second group is empty, the third has one sample
    leaves, depth = [3, 0, 5, 6], [2, 1, 4, 3]
    tree = oracles.grow_groups(b, order, starts, leaves, base=7, depth=depth, max_depth=7, binned=binned)
    gains = np.zeros(3)
    for leaf, level, start, stop in zip(leaves, depth, starts, starts[1:], strict=False):
        if start == stop:
            assert tree.nodes["split"][leaf] == -1
            assert leaf not in tree.rows
            continue
        gains += check_tree(b, tree, order[start:stop], start=leaf, max_depth=7, depth=level)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)
    reachable = set().union(*(oracles.depths(tree.nodes, leaf) for leaf in leaves))
    assert reachable == {0, 3, 5, 6, *range(7, len(tree.nodes))}


def test_no_samples_leave_leaves_as_they_are():
    b = oracles.random_block(10)
    tree = oracles.grow_groups(b, [], [0, 0, 0], [0, 1], base=2)
    assert tree.nodes["split"].tolist() == tree.nodes["left"].tolist() == [-1, -1]
    assert tree.rows == {}
    assert not tree.importance.any()


@SHARED
@pytest.mark.parametrize("n", [90, 2000])
def test_same_seed_same_tree_and_another_seed_another(binned, n):
    b = oracles.random_block(n, n_categories=(0, 9, 0, 0))
    first, again, other = (
        oracles.grow_tree(b, seed=seed, max_features=2, binned=binned) for seed in (2**63 + 1, 2**63 + 1, 4)
    )
    assert first.nodes.tobytes() == again.nodes.tobytes()
    assert first.category_bits.tobytes() == again.category_bits.tobytes()
    assert first.rows == again.rows
    np.testing.assert_array_equal(first.leaf_of, again.leaf_of)
    assert first.nodes.tobytes() != other.nodes.tobytes()


@pytest.mark.parametrize("n", [40, 400])
def test_with_one_attribute_drawn_each_gets_its_turn_at_the_root(n):
    b = oracles.random_block(n, n_categories=(0, 0, 5, 0), missing=0)
    roots = [oracles.grow_tree(b, max_features=1, max_depth=1, seed=s).nodes["split"][0] >> 2 for s in range(400)]
    counts = np.bincount(roots, minlength=4)
    assert counts.min() > 65
    assert counts.max() < 135


def test_attributes_that_do_not_vary_are_not_counted_as_drawn():
    rng = np.random.default_rng(0)
    X = np.zeros((80, 50))
    X[:, 30] = rng.normal(size=80)
    b = oracles.block(X, X[:, 30] > 0)
    assert [len(oracles.grow_tree(b, max_features=1, seed=seed).nodes) for seed in range(10)] == [3] * 10


@SHARED
@pytest.mark.parametrize("n_classes", [1000, 5000])
def test_thousands_of_classes(binned, n_classes):
    b = oracles.random_block(2500, n_categories=(0, 0, 20), n_classes=n_classes)
    tree = oracles.grow_tree(b, binned=binned)
    gains = check_tree(b, tree)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 64, 65, 3_000])
def test_a_leaf_lists_its_classes_in_order(n_classes):
    y = np.random.default_rng(0).integers(n_classes, size=4_000).astype(np.int32)
    samples = Samples(np.zeros((4_000, 1)), y, np.arange(4_000), np.zeros(1, np.int32), n_classes)
    known, once = np.arange(4_000, dtype=np.int32), np.ones(4_000, dtype=np.uint16)
    _, _, (start, klass, weight, _), _, _ = growing.grow_tree(samples, known, once, GrowthParams(1, 1), seed=0)
    classes, counts = np.unique(y, return_counts=True)
    np.testing.assert_array_equal(start, [0, len(classes)])
    np.testing.assert_array_equal(klass, classes)
    np.testing.assert_array_equal(weight, counts)


@SHARED
@pytest.mark.parametrize("n", [50, 200])
def test_thousands_of_columns(binned, n):
    rng = np.random.default_rng(0)
    b = oracles.block(rng.normal(size=(n, 5000)), rng.integers(3, size=n))
    tree = oracles.grow_tree(b, max_features=70, binned=binned)
    check_tree(b, tree)
    assert all(len(row) == 1 for row in tree.rows.values())


@SHARED
def test_a_million_identical_samples_are_one_leaf(binned):
    n = 1_000_000
    b = oracles.block(np.full((n, 3), 2.5), np.arange(n) % 3)
    tree = oracles.grow_tree(b, binned=binned)
    assert tree.rows == {0: {0: 333_334, 1: 333_333, 2: 333_333}}
    assert (tree.leaf_of == 0).all()


@SHARED
def test_weights_beyond_the_table_of_logarithms(binned):
    b = oracles.random_block(3000, n_categories=(0, 8))
    b = b._replace(weights=np.full(3000, 4095, dtype=np.uint16))
    tree = oracles.grow_tree(b, max_depth=3, binned=binned)
    np.testing.assert_allclose(tree.importance, check_tree(b, tree, max_depth=3), rtol=1e-9)


@given(values=st.lists(st.floats(allow_nan=False), min_size=2, max_size=2, unique=True))
def test_a_threshold_lies_between_the_values_it_parts(values):
    tree = oracles.grow_tree(oracles.block(values, [0, 1]))
    assert min(values) <= tree.nodes["threshold"][0] < max(values)


def test_a_chain_of_cuts_as_deep_as_a_block_is_large():
    values = np.arange(64)
    b = oracles.block(values, values % 2)
    tree = oracles.grow_tree(b)
    assert len(tree.nodes) == 127
    check_tree(b, tree)


def test_samples_that_weigh_more_than_can_be_counted_are_refused():
    n = 600_000
    b = oracles.block(np.zeros((n, 1)), np.arange(n) % 2, weights=np.full(n, 4095))
    with pytest.raises(ValueError, match="weigh more than 2147483647 together"):
        oracles.grow_tree(b)
