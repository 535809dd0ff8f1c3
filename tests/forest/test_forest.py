"""Trees answer together: the same in one thread or two, from records or from their leaves."""

import numpy as np
import pytest

import oracles
from adforest.forest import Forest, Tree, in_threads

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


@SOFT
@pytest.mark.parametrize("n", [100, 10_000])
def test_values_read_are_the_mean_over_trees(soft, n):
    b = oracles.random_block(n)
    forest = forest_of(b)
    values = [np.arange(len(tree.nodes), dtype=np.float32) for tree in forest.trees]
    for n_jobs in (1, 2):
        answer, read = forest.answer_and_read(b.X, 3, values, soft=soft, n_jobs=n_jobs)
        np.testing.assert_array_equal(answer, forest.answer(b.X, 3, soft=soft))
        np.testing.assert_allclose(read, np.mean([tree.route(b.X) for tree in forest.trees], axis=0))


def test_nearness_is_that_of_each_tree():
    forest = forest_of(oracles.random_block(200))
    weights = np.linspace(1, 2, 200)
    near = forest.nearness(weights, 150, 5.1, n_jobs=2)
    for tree, leaf_of, found in zip(forest.trees, forest.leaf_of, near, strict=True):
        np.testing.assert_allclose(found, oracles.nearness(tree.nodes, leaf_of, weights, 150, 5.1), rtol=1e-6)


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


def test_no_records_get_no_answers():
    forest = forest_of(oracles.random_block(30))
    assert forest.answer(np.empty((0, 3)), 3, soft=True).shape == (0, 3)


def test_memory_keeps_some_records():
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
