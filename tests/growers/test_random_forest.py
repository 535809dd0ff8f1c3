"""Random forests: the same trees whoever builds them, as good as scikit-learn's."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import oracles
from adforest.forest import Forest, Groups, GrowthParams, Samples, TreeEditor
from adforest.forest._kernels.binning import bin_columns
from adforest.forest._kernels.sampling import poisson_weights
from adforest.growers import RandomForestGrower, TreeRequest, build_trees


def everyone(samples):
    return np.arange(len(samples), dtype=np.int32)


def same_tree(a, b):
    """Return whether two trees are equal to the last bit."""
    arrays = ("nodes", "category_bits", "row_start", "row_class", "row_weight", "row_scale", "importance")
    return a.seed == b.seed and all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in arrays)


@pytest.mark.parametrize("n", [300, 2000], ids=["coded by node", "coded together"])
def test_same_seeds_give_the_same_trees_on_one_and_four_threads(n):
    samples = oracles.random_block(n, n_categories=(0, 6, 0, 0)).samples
    grower, seeds = RandomForestGrower(GrowthParams(max_features=2)), list(range(10, 22))
    alone, together, shuffled = (
        grower.build(TreeRequest(samples, everyone(samples), order, n_jobs))
        for order, n_jobs in ((seeds, 1), (seeds, 4), (seeds[::-1], 4))
    )
    for one, four, late in zip(alone, together, shuffled[::-1], strict=True):
        assert same_tree(one.tree, four.tree)
        assert same_tree(one.tree, late.tree)
        np.testing.assert_array_equal(one.leaf_of, four.leaf_of)
    assert not any(same_tree(a.tree, b.tree) for a, b in pairwise(alone))


@pytest.mark.parametrize("n", [40, 2000])
def test_leaves_hold_the_bootstrap_and_every_sample_has_its_leaf(n):
    b = oracles.random_block(n, n_categories=(0, 6, 0))
    (grown,) = RandomForestGrower(GrowthParams(max_features=2)).build(
        TreeRequest(b.samples, everyone(b.samples), [7], 1)
    )
    np.testing.assert_array_equal(grown.leaf_of, oracles.route(grown.tree.nodes, grown.tree.category_bits, b.X))
    weights = poisson_weights(b.samples.serial, 7, 1.0)
    assert 0.5 * n < (weights > 0).sum() < 0.75 * n
    assert oracles.rows_of(grown.tree) == oracles.tally(grown.leaf_of, b.y, weights)
    assert grown.tree.seed == 7


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_every_tree_gets_all_samples_of_whole_classes(share):
    b = oracles.random_block(2000, n_categories=(0, 6, 0))
    known = np.sort(np.random.default_rng(0).permutation(2000)[: int(share * 2000)]).astype(np.int32)
    always_in_bag = np.arange(b.n_classes) == 1
    grower = RandomForestGrower(GrowthParams(max_features=2))
    for grown in grower.build(TreeRequest(b.samples, known, [7, 8], 1, always_in_bag=always_in_bag)):
        weights = poisson_weights(b.samples.serial[known], grown.tree.seed, 1.0)
        spared = np.where(always_in_bag[b.y[known]], np.maximum(weights, 1), weights)
        assert (spared != weights).any()
        assert oracles.rows_of(grown.tree) == oracles.tally(grown.leaf_of[known], b.y[known], spared)


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("share", [0.3, 0.8])
def test_samples_not_known_are_nowhere_and_count_for_nothing(n, share):
    b = oracles.random_block(n, n_categories=(0, 6, 0))
    samples = b.samples
    known = np.sort(np.random.default_rng(0).permutation(n)[: int(share * n)]).astype(np.int32)
    alone = Samples(b.X[known], b.y[known], samples.serial[known], b.n_categories, b.n_classes)
    grower = RandomForestGrower(GrowthParams(max_features=2))
    some = build_trees(grower, TreeRequest(samples, known, [1, 2, 3], 1))
    for grown, lone in zip(some, grower.build(TreeRequest(alone, everyone(alone), [1, 2, 3], 1)), strict=True):
        unknown = np.setdiff1d(np.arange(n), known)
        assert (grown.leaf_of[unknown] == -1).all()
        np.testing.assert_array_equal(grown.leaf_of[known], grown.tree.route(b.X[known]))
        assert oracles.class_weights(grown.tree) == oracles.class_weights(lone.tree)
        if share < 0.5:  # so few that they are made a block of their own
            assert same_tree(grown.tree, lone.tree)


def test_a_sample_nobody_drew_counts_all_the_same():
    seed = next(seed for seed in range(100) if poisson_weights(np.zeros(1, dtype=np.int64), seed, 1.0)[0] == 0)
    samples = oracles.block([3.0], [1], n_classes=2).samples
    (grown,) = RandomForestGrower(GrowthParams(max_features=1)).build(
        TreeRequest(samples, everyone(samples), [seed], 1)
    )
    assert oracles.rows_of(grown.tree) == {0: {1: 1}}
    assert grown.leaf_of.tolist() == [0]


@pytest.mark.parametrize("share", [1.0, 0.3], ids=["all known", "few known"])
def test_samples_that_a_tree_leaves_out_are_placed_only_from_a_position_on(share):
    b = oracles.random_block(600)
    known = np.flatnonzero(np.random.default_rng(0).random(600) < share).astype(np.int32)
    grower = RandomForestGrower(GrowthParams(max_features=2))
    (everywhere,) = grower.build(TreeRequest(b.samples, known, [7], 1))
    (late,) = grower.build(TreeRequest(b.samples, known, [7], 1, route_oob_from=400))
    assert same_tree(everywhere.tree, late.tree)
    frozen_forest = np.arange(600) < 400
    frozen_forest[known] &= poisson_weights(b.samples.serial[known], 7, 1.0) == 0
    assert (everywhere.leaf_of[known] >= 0).all()
    np.testing.assert_array_equal(late.leaf_of, np.where(frozen_forest, -1, everywhere.leaf_of))
    assert frozen_forest[known].any()


def test_nothing_known_builds_empty_leaves():
    samples = oracles.random_block(20).samples
    (grown,) = RandomForestGrower(GrowthParams(max_features=1)).build(
        TreeRequest(samples, np.empty(0, dtype=np.int32), [1], 1)
    )
    assert len(grown.tree.nodes) == 1
    assert oracles.rows_of(grown.tree) == {}
    assert (grown.leaf_of == -1).all()


def test_limits_reach_the_trees():
    samples = oracles.random_block(1000).samples
    grower = RandomForestGrower(GrowthParams(max_features=2, min_samples_leaf=20, max_depth=3))
    for grown in grower.build(TreeRequest(samples, everyone(samples), [1, 2, 3], 1)):
        assert grown.tree.depth <= 3
        drawn = poisson_weights(samples.serial, grown.tree.seed, 1.0) > 0
        assert np.unique(grown.leaf_of[drawn], return_counts=True)[1].min() >= 20


def test_a_repair_counts_every_sample_once():
    assert RandomForestGrower(GrowthParams(max_features=1)).weights(np.arange(5), 3).tolist() == [1] * 5


def test_many_samples_are_coded_once():
    grower = RandomForestGrower(GrowthParams(max_features=2, max_bins=31))
    few, many = (oracles.random_block(n, n_categories=(0, 6, 0)).samples for n in (512, 2000))
    assert grower.coded(few) is few
    coded = grower.coded(many)
    assert grower.coded(coded) is coded
    assert many.codes is None
    for found, expected in zip(coded.codes, bin_columns(many.X, many.n_categories, 31), strict=True):
        np.testing.assert_array_equal(found, expected)
    (one,), (other,) = (grower.build(TreeRequest(samples, everyone(samples), [3], 1)) for samples in (many, coded))
    assert same_tree(one.tree, other.tree)


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("is_coded", [False, True])
def test_leaves_expand_from_the_samples_given(n, is_coded):
    b = oracles.random_block(n, n_categories=(0, 6, 0))
    grower = RandomForestGrower(GrowthParams(max_features=2, max_depth=1))
    (grown,) = grower.build(TreeRequest(b.samples, everyone(b.samples), [1], 1))
    samples = grower.coded(b.samples) if is_coded else b.samples
    leaf_of = grown.leaf_of.copy()
    group = np.flatnonzero(leaf_of == 2).astype(np.int32)
    editor = TreeEditor(grown.tree)
    ones = grower.weights(b.samples.serial[group], 1)
    deeper = RandomForestGrower(GrowthParams(max_features=2))
    groups = Groups(group, ones, np.array([0, len(group)]), leaf_of[group[:1]])
    editor.grow(samples, groups, leaf_of, deeper.leaf_params, 9)
    edited = editor.finish()
    np.testing.assert_array_equal(edited.route(b.X), leaf_of)
    rows = oracles.rows_of(edited)
    assert rows.pop(1) == oracles.rows_of(grown.tree)[1]
    assert rows == oracles.tally(leaf_of[group], b.y[group], ones)


def blobs(return_X_y):
    return make_blobs(3000, n_features=6, centers=12, cluster_std=4, random_state=0)


def many_blobs(return_X_y):
    return make_blobs(3000, n_features=8, centers=80, cluster_std=2.5, random_state=0)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits, blobs, many_blobs], ids=lambda load: load.__name__)
def test_accuracy_is_that_of_scikit_learn(load, criterion):
    X, y = load(return_X_y=True)
    ours, theirs = [], []
    for split in range(4):
        X_old, X_new, y_old, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=split)
        samples = oracles.block(X_old, y_old).samples
        grower = RandomForestGrower(GrowthParams(max_features=int(X.shape[1] ** 0.5), criterion=criterion))
        trees, leaf_of = zip(*grower.build(TreeRequest(samples, everyone(samples), list(range(30)), 1)), strict=True)
        forest = Forest(trees, leaf_of, np.ones(len(samples), dtype=bool))
        answer = forest.answer(np.ascontiguousarray(X_new), samples.n_classes, soft=True)
        ours.append(np.mean(answer.argmax(axis=1) == y_new))
        referee = RandomForestClassifier(30, criterion=criterion, random_state=split).fit(X_old, y_old)
        theirs.append(referee.score(X_new, y_new))
    assert np.mean(ours) > np.mean(theirs) - 0.03
