"""Samples reach the leaf that a walk by hand reaches, and get the answer that stands there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import Tree
from adforest.forest._kernels.routing import depths, route

PROBES = (*oracles.FEW_VALUES, -1e300, -1.0, -0.5, 2.0, 3.0, 5.0, 6.5, 63.0, 64.0, 69.0, 70.0, 127.0, 128.0, 1e9)


@st.composite
def probes(draw, m):
    """Draw samples a tree may never have seen the like of."""
    n = draw(st.integers(0, 50))
    samples = draw(st.lists(st.sampled_from(PROBES), min_size=n * m, max_size=n * m))
    return np.array(samples, dtype=np.float64).reshape(n, m)


@given(b=oracles.blocks(), data=st.data())
def test_samples_reach_the_leaf_a_walk_by_hand_reaches(b, data):
    tree = oracles.grow_tree(b)
    X = data.draw(probes(b.X.shape[1]))
    np.testing.assert_array_equal(
        route(tree.nodes, tree.category_bits, X), oracles.route(tree.nodes, tree.category_bits, X)
    )
    np.testing.assert_array_equal(route(tree.nodes, tree.category_bits, b.X), tree.leaf_of)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 31, 32, 33, 511, 512, 513, 1300])
@pytest.mark.parametrize("n_categories", [(0, 0, 0), (0, 90, 3)], ids=["numerical", "mixed"])
def test_any_number_of_samples(n, n_categories):
    b = oracles.random_block(1300, n_categories=n_categories)
    tree, leaf_of = oracles.tree_of(b)
    np.testing.assert_array_equal(tree.route(b.X[:n]), leaf_of[:n])
    rows = np.arange(n, dtype=np.int32)[::-1].copy()
    np.testing.assert_array_equal(route(tree.nodes, tree.category_bits, b.X, rows), leaf_of[rows])
    votes = np.zeros((n, b.n_classes))
    tree.vote(b.X[:n], votes, soft=True)
    np.testing.assert_allclose(votes, oracles.votes(tree, b.X[:n], b.n_classes, soft=True))


@pytest.mark.parametrize("n", [1, 32])
@pytest.mark.parametrize("category", [np.inf, -np.inf, 2.0**63, 2.0**64, 1e300, -1.0, -1e300, 64.0])
@pytest.mark.parametrize("heavy", [0, 1], ids=["first side heavier", "second side heavier"])
def test_what_is_no_category_goes_where_missing_values_go(category, n, heavy):
    values = np.array([0.0, 1.0, 2.0, 3.0])
    b = oracles.block(values, values > 1, weights=np.where((values > 1) == heavy, 9, 1), n_categories=[4])
    tree = oracles.grow_tree(b)
    missing = route(tree.nodes, tree.category_bits, np.full((n, 1), np.nan))
    np.testing.assert_array_equal(route(tree.nodes, tree.category_bits, np.full((n, 1), category)), missing)


@pytest.mark.parametrize("soft", [True, False])
@given(b=oracles.blocks(), data=st.data())
def test_votes_are_added_as_the_leaves_say(soft, b, data):
    tree, _ = oracles.tree_of(b, max_depth=2)
    X = data.draw(probes(b.X.shape[1]))
    votes = np.full((len(X), b.n_classes), 2.0)
    tree.vote(X, votes, soft=soft)
    np.testing.assert_allclose(votes - 2, oracles.votes(tree, X, b.n_classes, soft=soft), atol=1e-12)
    again = np.full((len(X), b.n_classes), 2.0)
    tree.vote_from(tree.route(X), again, soft=soft)
    np.testing.assert_array_equal(again, votes)


@pytest.mark.parametrize("soft", [True, False])
def test_votes_leave_room_for_classes_the_tree_has_not_seen(soft):
    b = oracles.random_block(100)
    tree, _ = oracles.tree_of(b, max_depth=3)
    votes = np.zeros((100, 7))
    tree.vote(b.X, votes, soft=soft)
    assert not votes[:, 3:].any()
    np.testing.assert_allclose(votes.sum(axis=1), 1)


@pytest.mark.parametrize("soft", [True, False])
def test_samples_nowhere_and_empty_leaves_do_not_vote(soft):
    b = oracles.random_block(40)
    tree, leaf_of = oracles.tree_of(b)
    leaf_of[::2] = -1
    votes = np.zeros((40, 3))
    tree.vote_from(leaf_of, votes, soft=soft)
    np.testing.assert_allclose(votes.sum(axis=1), np.arange(40) % 2)
    votes = np.zeros((40, 3))
    bare = Tree.bare(3, 0)
    bare.vote(b.X, votes, soft=soft)
    bare.vote_from(bare.route(b.X), votes, soft=soft)
    assert not votes.any()


@given(b=oracles.blocks())
def test_depths_are_distances_from_the_root(b):
    nodes = oracles.grow_tree(b).nodes
    expected = oracles.depths(nodes)
    assert depths(nodes).tolist() == [expected[node] for node in range(len(nodes))]


def test_a_tree_is_as_deep_as_its_deepest_leaf():
    tree, _ = oracles.tree_of(oracles.random_block(500))
    assert tree.depth == max(oracles.depths(tree.nodes).values())
    assert Tree.bare(2, 0).depth == 0
