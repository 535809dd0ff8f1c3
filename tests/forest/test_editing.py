"""An edited tree routes as the edits say and loses no weight; the tree it came from stays as it is."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import LeafCounts, Tree, TreeEditor
from adforest.forest._kernels.counting import tally

ROOT_SIDES = pytest.mark.parametrize("tree_left", [True, False], ids=["tree left", "tree right"])
NUMBERS = (-np.inf, -2.0, 0.0, 0.5, 1.0, np.inf, np.nan)


def snapshot(tree):
    """Return copies of all a tree holds."""
    return [np.array(getattr(tree, field.name)) for field in fields(tree)]


def check_unchanged(tree, before):
    for now, then in zip(snapshot(tree), before, strict=True):
        np.testing.assert_array_equal(now, then)


def give_weights(editor, node, weights):
    """Add weights by class to one leaf."""
    klass = np.flatnonzero(weights).astype(np.int32)
    editor.add(LeafCounts(np.full(len(klass), node, dtype=np.int32), klass, np.asarray(weights, dtype=float)[klass]))


def leaf_tree(weights=(3, 0, 2)):
    """Return a tree that is one leaf of three attributes."""
    editor = TreeEditor(Tree.bare(3, 0))
    give_weights(editor, 0, weights)
    return editor.finish()


def check_root_above(tree, edited, X, new, moved, beyond):
    """Samples beyond the cut are in the new leaf, others where they were; the old root alone has a new number."""
    old = tree.route(X)
    expected = np.where(beyond, new, np.where(old == 0, moved, old))
    np.testing.assert_array_equal(edited.route(X), expected)
    np.testing.assert_array_equal(oracles.route(edited.nodes, edited.category_bits, X), expected)
    moved_rows = {moved if node == 0 else node: row for node, row in oracles.rows_of(tree).items()}
    assert oracles.rows_of(edited) == moved_rows
    assert edited.n_leaves == tree.n_leaves + 1
    assert edited.n_leaves == (edited.nodes["split"] < 0).sum()
    assert set(oracles.depths(edited.nodes)) == set(range(len(edited.nodes)))


@ROOT_SIDES
@given(b=oracles.blocks(categories=(0, 0, 3)), data=st.data())
def test_a_numerical_root_sends_what_lies_beyond_it_to_a_new_leaf(tree_left, b, data):
    tree, _ = oracles.tree_of(b)
    before = snapshot(tree)
    feature = data.draw(st.integers(0, b.X.shape[1] - 1))
    cut = data.draw(st.sampled_from([-2.0, 0.0, 0.7]))
    editor = TreeEditor(tree)
    new, moved = editor.add_root(feature, cut, tree_left=tree_left)
    X = np.array(data.draw(st.lists(st.sampled_from(NUMBERS), min_size=b.X.size, max_size=b.X.size)))
    X = X.reshape(b.X.shape)
    value = X[:, feature]
    beyond = (value > cut) if tree_left else (value <= cut)
    check_root_above(tree, editor.finish(), X, new, moved, beyond)
    check_unchanged(tree, before)


@ROOT_SIDES
@given(b=oracles.blocks(categories=(5,), max_features=2), data=st.data())
def test_a_categorical_root_keeps_missing_and_unseen_categories_with_the_tree(tree_left, b, data):
    tree, _ = oracles.tree_of(b)
    before = snapshot(tree)
    n_known = data.draw(st.sampled_from([1, 5, 63, 64, 65, 130]))
    left = np.array(data.draw(st.lists(st.booleans(), min_size=n_known, max_size=n_known)))
    editor = TreeEditor(tree)
    new, moved = editor.add_root(0, left, tree_left=tree_left)
    X = np.full((205, b.X.shape[1]), 2.0)
    X[:, 0] = np.append(np.arange(-3, 201), np.nan)
    beyond = np.zeros(205, dtype=bool)
    beyond[3 : 3 + n_known] = left != tree_left
    check_root_above(tree, editor.finish(), X, new, moved, beyond)
    check_unchanged(tree, before)


@ROOT_SIDES
def test_a_root_above_a_single_leaf_takes_its_weights_along(tree_left):
    tree = leaf_tree()
    editor = TreeEditor(tree)
    new, moved = editor.add_root(1, 0.5, tree_left=tree_left)
    edited = editor.finish()
    assert oracles.rows_of(edited) == {moved: {0: 3, 2: 2}}
    X = np.zeros((3, 3))
    X[:, 1] = [0, 1, np.nan]
    beyond = [False, True, False] if tree_left else [True, False, False]
    np.testing.assert_array_equal(edited.route(X), np.where(beyond, new, moved))


@ROOT_SIDES
@pytest.mark.parametrize("leaf_only", [True, False], ids=["a leaf", "a tree"])
def test_roots_stack(tree_left, leaf_only):
    b = oracles.random_block(60, n_categories=(0, 0, 3))
    tree = leaf_tree() if leaf_only else oracles.tree_of(b)[0]
    weights = oracles.class_weights(tree)
    editor = TreeEditor(tree)
    first, moved = editor.add_root(0, 0.5, tree_left=tree_left)
    second, _ = editor.add_root(2, np.array([True, False, True]), tree_left=True)
    give_weights(editor, first, [0, 7, 0])
    give_weights(editor, second, [0, 0, 5])
    edited = editor.finish()
    old = tree.route(b.X)
    beyond = (b.X[:, 0] > 0.5) if tree_left else (b.X[:, 0] <= 0.5)
    expected = np.where(beyond, first, np.where(old == 0, moved, old))
    expected = np.where(b.X[:, 2] == 1, second, expected)
    np.testing.assert_array_equal(edited.route(b.X), expected)
    assert oracles.rows_of(edited)[first] == {1: 7}
    assert oracles.rows_of(edited)[second] == {2: 5}
    assert oracles.class_weights(edited) == {
        0: weights[0],
        1: weights.get(1, 0) + 7,
        2: weights[2] + 5,
    }


@given(b=oracles.blocks(), data=st.data())
def test_growing_at_leaves_replaces_what_they_held(b, data):
    tree, leaf_of = oracles.tree_of(b, max_depth=2)
    before = snapshot(tree)
    leaves = data.draw(st.lists(st.sampled_from(sorted(set(leaf_of.tolist()))), unique=True, min_size=1))
    groups = [np.flatnonzero(leaf_of == leaf) for leaf in leaves]
    editor, placed = TreeEditor(tree), leaf_of.copy()
    oracles.grow_at(editor, b, np.concatenate(groups), np.cumsum([0, *map(len, groups)]), leaves, placed)
    edited = editor.finish()
    np.testing.assert_array_equal(edited.route(b.X), placed)
    assert oracles.rows_of(edited) == oracles.tally(placed, b.y, b.weights)
    kept = ~np.isin(leaf_of, leaves)
    np.testing.assert_array_equal(placed[kept], leaf_of[kept])
    assert (edited.importance >= tree.importance).all()
    assert edited.n_leaves == (edited.nodes["split"] < 0).sum()
    check_unchanged(tree, before)


@ROOT_SIDES
@pytest.mark.parametrize("leaf_only", [True, False], ids=["a leaf", "a tree"])
def test_a_root_and_growth_and_counts_together_hold_every_sample_once(tree_left, leaf_only):
    b = oracles.random_block(400, n_categories=(0, 5, 0))
    first = np.arange(200)
    editor = TreeEditor(Tree.bare(3, 0))
    leaf_of = np.full(400, -1, dtype=np.int32)
    oracles.grow_at(editor, b, first, [0, 200], [0], leaf_of, max_depth=0 if leaf_only else 4)
    tree = editor.finish()
    before = snapshot(tree)

    batch = np.arange(200, 400)
    leaf_of[batch] = tree.route(b.X[batch])
    editor = TreeEditor(tree)
    new, moved = editor.add_root(0, 0.8, tree_left=tree_left)
    leaf_of[leaf_of == 0] = moved
    beyond = batch[(b.X[batch, 0] > 0.8) if tree_left else (b.X[batch, 0] <= 0.8)]
    leaf_of[beyond] = new
    oracles.grow_at(editor, b, beyond, [0, len(beyond)], [new], leaf_of)
    others = np.setdiff1d(batch, beyond)
    editor.add(LeafCounts(*tally(leaf_of[others], b.y[others], b.weights[others], len(editor.nodes))))
    edited = editor.finish()
    np.testing.assert_array_equal(edited.route(b.X[batch]), leaf_of[batch])
    assert oracles.rows_of(edited) == oracles.tally(leaf_of, b.y, b.weights)
    check_unchanged(tree, before)


@ROOT_SIDES
@pytest.mark.parametrize("max_depth", [1, None], ids=["stays a leaf", "is cut"])
def test_growing_where_a_single_leaf_moved_to_replaces_what_it_held(tree_left, max_depth):
    b = oracles.random_block(50, missing=0)
    tree, leaf_of = oracles.tree_of(b, max_depth=0)
    editor = TreeEditor(tree)
    _, moved = editor.add_root(0, 100.0 if tree_left else -100.0, tree_left=tree_left)
    leaf_of[:] = moved
    oracles.grow_at(editor, b, np.arange(50), [0, 50], [moved], leaf_of, max_depth=max_depth)
    edited = editor.finish()
    np.testing.assert_array_equal(edited.route(b.X), leaf_of)
    assert oracles.rows_of(edited) == oracles.tally(leaf_of, b.y, b.weights)


def test_growing_twice_uses_words_and_nodes_side_by_side():
    b = oracles.random_block(300, n_categories=(9, 80))
    tree, leaf_of = oracles.tree_of(b, max_depth=1)
    editor = TreeEditor(tree)
    for leaf in (1, 2):
        group = np.flatnonzero(leaf_of == leaf)
        oracles.grow_at(editor, b, group, [0, len(group)], [leaf], leaf_of, seed=leaf)
    edited = editor.finish()
    np.testing.assert_array_equal(edited.route(b.X), leaf_of)
    assert oracles.rows_of(edited) == oracles.tally(leaf_of, b.y, b.weights)


def test_depth_counts_from_the_root_of_the_tree():
    b = oracles.random_block(500, missing=0)
    tree, leaf_of = oracles.tree_of(b, max_depth=2)
    editor = TreeEditor(tree)
    leaves = np.unique(leaf_of)
    order = np.argsort(leaf_of, kind="stable")
    starts = np.searchsorted(leaf_of[order], np.append(leaves, len(tree.nodes)))
    oracles.grow_at(editor, b, order, starts, leaves, leaf_of, max_depth=5)
    assert editor.finish().depth == 5


def test_weights_added_twice_add_up():
    tree = leaf_tree((1, 2, 0))
    editor = TreeEditor(tree)
    give_weights(editor, 0, [1, 0, 4])
    give_weights(editor, 0, [2, 0, 1])
    edited = editor.finish()
    assert oracles.rows_of(edited) == {0: {0: 4, 1: 2, 2: 5}}
    assert edited.row_scale.tolist() == [pytest.approx(1 / 11)]
    assert oracles.rows_of(tree) == {0: {0: 1, 1: 2}}


def test_an_editor_without_edits_returns_an_equal_tree():
    tree, _ = oracles.tree_of(oracles.random_block(40))
    check_unchanged(TreeEditor(tree).finish(), snapshot(tree))


def test_rows_come_out_sorted_by_node_then_class_and_added_up():
    editor = TreeEditor(leaf_tree((1, 2, 0)))
    first = editor.split(0, 0, 0.5, missing_left=True)
    node = np.array([first + 1, first, first + 1, first + 1], dtype=np.int32)
    editor.add(LeafCounts(node, np.array([1, 2**20, 0, 1], dtype=np.int32), np.arange(4.0)))
    edited = editor.finish()
    assert oracles.rows_of(edited) == {0: {0: 1, 1: 2}, first: {2**20: 1}, first + 1: {0: 2, 1: 3}}
    assert edited.row_class.tolist() == [0, 1, 2**20, 0, 1]
