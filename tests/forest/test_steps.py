"""What each attribute adds along the paths of samples, against a walk node by node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import Tree

STRENGTHS = st.lists(st.sampled_from([0.0, 0.5, 3.0, 30.0, 1e3]), min_size=1, max_size=3, unique=True)


@st.composite
def trees(draw):
    """Draw a tree and its samples; leaves of some trees are emptied, as a repair may leave them."""
    b = draw(oracles.blocks(max_weight=9))
    tree, _ = oracles.tree_of(b, max_depth=draw(st.sampled_from([None, 1, 3])))
    rows = oracles.rows_of(tree)
    emptied = draw(st.sets(st.sampled_from(sorted(rows)), max_size=len(rows) - 1)) if draw(st.booleans()) else set()
    return b, oracles.with_rows(tree, {node: row for node, row in rows.items() if node not in emptied})


def share_steps(tree, X, n_classes, strengths, mix):
    """Return what the kernel adds for samples."""
    added = np.zeros((*X.shape, n_classes))
    tree.add_proba_steps(tree.route(X), added, np.array(strengths, dtype=float), np.array(mix, dtype=float))
    return added


def vote_steps(tree, X, n_classes, *, soft):
    """Return what the kernel adds for samples, and what it says they begin with."""
    added, roots = np.zeros((*X.shape, n_classes)), np.zeros((len(X), n_classes))
    tree.add_vote_steps(tree.route(X), added, roots, soft=soft)
    return added, roots


@given(drawn=trees(), strengths=STRENGTHS, data=st.data())
def test_steps_of_shrunk_shares_are_those_of_the_path(drawn, strengths, data):
    b, tree = drawn
    mix = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(strengths), max_size=len(strengths))), float)
    mix /= mix.sum()
    added, weights = share_steps(tree, b.X, b.n_classes, strengths, mix), oracles.sums(tree)
    for sample, found in zip(b.X, added, strict=True):
        path = oracles.path_to(tree, sample)
        answers = oracles.shrunk_on_the_way(weights, path, b.n_classes, strengths, mix)
        np.testing.assert_allclose(found, oracles.credited(tree, path, answers, b.X.shape[1]), atol=1e-6)
        np.testing.assert_allclose(tree.root_proba(b.n_classes), answers[0], atol=1e-6)
    # In the tree's own numbers they add up to its answer exactly.
    proba = np.zeros((len(b.X), b.n_classes))
    tree.add_proba_of(tree.route(b.X), proba, np.array(strengths), mix)
    np.testing.assert_allclose(tree.root_proba(b.n_classes) + added.sum(axis=1), proba, atol=1e-12)


@given(drawn=trees(), soft=st.booleans())
def test_steps_of_votes_are_those_of_the_path(drawn, soft):
    b, tree = drawn
    (added, roots), weights = vote_steps(tree, b.X, b.n_classes, soft=soft), oracles.sums(tree)
    for sample, found, root in zip(b.X, added, roots, strict=True):
        path = oracles.path_to(tree, sample)
        answers = oracles.voted_on_the_way(weights, path, b.n_classes, soft=soft)
        np.testing.assert_allclose(found, oracles.credited(tree, path, answers, b.X.shape[1]), atol=1e-6)
        np.testing.assert_allclose(root, answers[0], atol=1e-6)
    votes = np.zeros((len(b.X), b.n_classes))
    tree.vote(b.X, votes, soft=soft)
    np.testing.assert_allclose(roots + added.sum(axis=1), votes, atol=1e-12)


def test_a_vote_that_single_precision_cannot_tell_is_that_of_the_leaf():
    tree, _ = oracles.tree_of(oracles.block([0, 1, 2], [0, 1, 0]))
    leaf = int(tree.route(np.array([[1.0]]))[0])
    tree = oracles.with_rows(tree, oracles.rows_of(tree) | {leaf: {0: 2.0**26, 1: 2.0**26 + 1}})
    added, roots = vote_steps(tree, np.array([[1.0]]), 2, soft=False)
    assert (roots + added.sum(axis=1)).tolist() == [[0, 1]]


def test_attributes_that_a_path_does_not_ask_about_add_nothing():
    b = oracles.random_block(300, n_categories=(0, 5, 0))
    tree, _ = oracles.tree_of(b)
    added = share_steps(tree, b.X, 3, [0.0, 3.0], [0.5, 0.5])
    asked = np.array([np.isin(range(3), tree.nodes["split"][oracles.path_to(tree, one)[:-1]] >> 2) for one in b.X])
    assert (~asked).any()
    assert not added[~asked].any()
    assert np.abs(added[asked]).sum(axis=1).min() > 0


@given(trees())
def test_leaves_say_what_they_hold(drawn):
    b, tree = drawn
    leaves, rows = tree.route(b.X), oracles.rows_of(tree)
    for leaf, klass, confidence, weight in zip(leaves.tolist(), *tree.read_leaves(leaves), strict=True):
        row = rows.get(leaf, {})
        assert weight == sum(row.values())
        assert klass == min((k for k in row if row[k] == max(row.values())), default=-1)
        assert confidence == pytest.approx(max(row.values()) / sum(row.values()) if row else 0)


def test_no_samples_and_trees_that_know_nothing():
    bare, X = Tree.bare(3, 0), np.zeros((4, 3))
    assert not share_steps(bare, X, 2, [3.0], [1.0]).any()
    assert not np.any(vote_steps(bare, X, 2, soft=True)[1])
    assert bare.root_proba(2).tolist() == [0, 0]
    assert bare.read_leaves(bare.route(X))[0].tolist() == [-1] * 4
    tree, _ = oracles.tree_of(oracles.random_block(40))
    assert share_steps(tree, np.empty((0, 3)), 3, [3.0], [1.0]).shape == (0, 3, 3)
    assert vote_steps(tree, np.empty((0, 3)), 3, soft=False)[1].shape == (0, 3)
