"""Trees answer together: the same in one thread or two, from samples or from their leaves."""

import pickle

import numpy as np
import pytest

import oracles
from adforest.forest import Forest, Tree
from adforest.parallel import in_threads

SOFT = pytest.mark.parametrize("soft", [True, False], ids=["soft", "hard"])


def forest_of(b, n_trees=5):
    trees, leaf_of = zip(*(oracles.tree_of(b, seed=seed, max_depth=2 + seed) for seed in range(n_trees)), strict=True)
    return Forest(trees, leaf_of, np.ones(len(b.y), dtype=bool))


@SOFT
def test_the_answer_is_the_sum_of_the_trees_answers(soft):
    b = oracles.random_block(200, n_categories=(0, 4, 0))
    forest = forest_of(b)
    expected = np.sum([oracles.votes(tree, b.X, 3, soft=soft) for tree in forest.trees], axis=0)
    np.testing.assert_allclose(forest.answer(b.X, 3, soft=soft), expected)


@SOFT
@pytest.mark.parametrize("n", [8191, 8192, 10_000])
def test_two_threads_answer_as_one_does(soft, n):
    b = oracles.random_block(10_000, n_categories=(0, 4, 0))
    forest = forest_of(b)
    alone = forest.answer(b.X[:n], 5, soft=soft, n_jobs=1)
    np.testing.assert_array_equal(forest.answer(b.X[:n], 5, soft=soft, n_jobs=2), alone)
    np.testing.assert_allclose(alone.sum(axis=1), len(forest.trees))
    assert not alone[:, 3:].any()


STRENGTHS, MIX = np.array([0.0, 3.0, 30.0]), np.array([0.5, 0.2, 0.3])


def shares_by_hand(forest, X, n_classes):
    """Return the mean over trees of one sample's shrunk proba, mixed from those of each strength."""
    answers = np.zeros((len(X), n_classes))
    for tree in forest.trees:
        for strength, share in zip(STRENGTHS, MIX, strict=True):
            by_leaf = {leaf: oracles.shrunk(tree, leaf, n_classes, strength) for leaf in set(tree.route(X).tolist())}
            answers += share * np.array([by_leaf[leaf] for leaf in tree.route(X).tolist()]) / len(forest)
    return answers


def test_shares_are_the_mean_of_the_trees_shrunk_shares():
    b = oracles.random_block(40, n_categories=(0, 4, 0))
    forest = forest_of(b)
    found = forest.proba(b.X, 3, STRENGTHS, MIX)
    np.testing.assert_allclose(found, shares_by_hand(forest, b.X, 3), atol=0.011)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("n", [100, 10_000])
def test_values_read_are_the_mean_over_trees(n):
    b = oracles.random_block(n)
    forest = forest_of(b)
    values = [np.arange(len(tree.nodes), dtype=np.float32) for tree in forest.trees]
    for n_jobs in (1, 2):
        proba, read = forest.proba_and_values(b.X, 3, STRENGTHS, MIX, values, n_jobs=n_jobs)
        np.testing.assert_array_equal(proba, forest.proba(b.X, 3, STRENGTHS, MIX))
        np.testing.assert_allclose(read, np.mean([tree.route(b.X) for tree in forest.trees], axis=0))


@pytest.mark.parametrize("n", [1, 100, 10_000])
def test_leaves_that_are_known_already_answer_the_same_to_the_last_bit(n):
    b = oracles.random_block(10_000, n_categories=(0, 4, 0))
    forest, X = forest_of(b), b.X[:n]
    values = [np.arange(len(tree.nodes), dtype=np.float32) for tree in forest.trees]
    for n_jobs in (1, 2):
        leaves = forest.route(X, n_jobs)
        np.testing.assert_array_equal(leaves, [tree.route(X) for tree in forest.trees])
        known = forest.proba(X, 3, STRENGTHS, MIX, n_jobs, leaves)
        np.testing.assert_array_equal(known, forest.proba(X, 3, STRENGTHS, MIX))
        known = forest.proba_and_values(X, 3, STRENGTHS, MIX, values, n_jobs, leaves)
        for one, other in zip(known, forest.proba_and_values(X, 3, STRENGTHS, MIX, values), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", [8191, 10_000])
def test_two_threads_share_as_one_does(n):
    b = oracles.random_block(10_000, n_categories=(0, 4, 0))
    forest = forest_of(b)
    alone = forest.proba(b.X[:n], 5, STRENGTHS, MIX, 1)
    np.testing.assert_array_equal(forest.proba(b.X[:n], 5, STRENGTHS, MIX, 2), alone)
    np.testing.assert_allclose(alone.sum(axis=1), 1)
    assert not alone[:, 3:].any()


def test_shares_from_leaves_are_those_of_each_strength_alone():
    b = oracles.random_block(300)
    forest = forest_of(b)
    found = forest.proba_from(forest.leaf_of, 3, STRENGTHS)
    assert found.shape == (3, 300, 3)
    for some, strength in zip(found, STRENGTHS, strict=True):
        np.testing.assert_array_equal(some, forest.proba(b.X, 3, np.array([strength]), np.ones(1)))


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_a_forest_knows_the_classes_that_some_tree_has_met(n_classes):
    b = oracles.random_block(60, n_classes=2)
    more = Forest((*forest_of(b).trees, oracles.tree_of(oracles.random_block(60))[0]), (), np.ones(60, dtype=bool))
    assert np.flatnonzero(forest_of(b).knows(n_classes)).tolist() == [0, 1]
    if n_classes > 2:
        assert np.flatnonzero(more.knows(n_classes)).tolist() == [0, 1, 2]


def test_a_tree_that_answered_is_saved_as_one_that_did_not():
    b = oracles.random_block(100)
    tree, _ = oracles.tree_of(b)
    before = pickle.dumps(tree)
    proba = Forest((tree,), (), np.ones(100, dtype=bool)).proba(b.X, 3, STRENGTHS, MIX)
    assert pickle.dumps(tree) == before
    twin = pickle.loads(before)
    again = Forest((twin,), (), np.ones(100, dtype=bool)).proba(b.X, 3, STRENGTHS, MIX)
    np.testing.assert_array_equal(again, proba)
    assert twin.n_leaves == tree.n_leaves
    for name in (
        "nodes",
        "category_bits",
        "row_start",
        "row_class",
        "row_weight",
        "row_scale",
        "importance",
        "born",
        "cause",
    ):
        np.testing.assert_array_equal(getattr(twin, name), getattr(tree, name))
    assert twin.seed == tree.seed


def test_recency_is_that_of_each_tree():
    forest = forest_of(oracles.random_block(200))
    for young in (slice(150, None), np.arange(3, 200, 4)):
        near = forest.recency(young, 5.1, n_jobs=2)
        for tree, leaf_of, found in zip(forest.trees, forest.leaf_of, near, strict=True):
            np.testing.assert_allclose(found, oracles.recency(tree, leaf_of[young], 5.1), rtol=1e-6)


@SOFT
def test_leaves_already_known_give_the_same_answer(soft):
    b = oracles.random_block(300)
    forest = forest_of(b)
    answer = forest.answer(b.X, 3, soft=soft)
    np.testing.assert_array_equal(forest.answer_from(forest.leaf_of, 3, 300, soft=soft), answer)


def test_trees_that_know_nothing_say_nothing():
    b = oracles.random_block(30)
    bare = Tree.bare(3, 0)
    silent = Forest((bare,), (bare.route(b.X),), np.zeros(30, dtype=bool))
    assert not silent.answer(b.X, 3, soft=True).any()
    tree, leaf_of = oracles.tree_of(b)
    pair = Forest((bare, tree), (bare.route(b.X), leaf_of), np.ones(30, dtype=bool))
    np.testing.assert_allclose(pair.answer(b.X, 3, soft=True), oracles.votes(tree, b.X, 3, soft=True))


def test_no_samples_get_no_answers():
    forest = forest_of(oracles.random_block(30))
    assert forest.answer(np.empty((0, 3)), 3, soft=True).shape == (0, 3)


def test_memory_keeps_some_samples():
    b = oracles.random_block(50)
    forest = forest_of(b)
    forest.known[:10] = False
    kept = np.array([40, 3, 12])
    fewer = forest.keep(kept)
    assert fewer.trees is forest.trees
    assert fewer.known.tolist() == [True, False, True]
    for now, then in zip(fewer.leaf_of, forest.leaf_of, strict=True):
        np.testing.assert_array_equal(now, then[kept])


def test_a_forest_that_forgets_still_answers():
    b = oracles.random_block(50)
    forest = forest_of(b)
    forgetful = forest.forget()
    assert not forgetful.known.any()
    assert all((leaf_of == -1).all() and len(leaf_of) == 50 for leaf_of in forgetful.leaf_of)
    assert forest.known.all()
    np.testing.assert_array_equal(forgetful.answer(b.X, 3, soft=True), forest.answer(b.X, 3, soft=True))


def test_nodes_and_leaves_are_those_of_all_trees():
    forest = forest_of(oracles.random_block(50))
    assert len(forest) == 5
    assert forest.n_nodes == sum(len(tree.nodes) for tree in forest.trees)
    assert forest.n_leaves == sum((tree.nodes["split"] < 0).sum() for tree in forest.trees)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_keep_the_order_of_the_items(n_jobs):
    assert in_threads(lambda item: item * item, iter(range(20)), n_jobs) == [item * item for item in range(20)]
    assert in_threads(str, [], n_jobs) == []
