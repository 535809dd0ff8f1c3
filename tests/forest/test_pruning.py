"""C4.5's pruning by the errors a leaf must expect, in trees of one block and of several groups."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import Groups, GrowthParams, LeafCounts, Tree, TreeEditor
from grown_trees import CONFIDENCE, SHARED, check_whole, shared_codes


def test_the_oracle_expects_the_errors_in_quinlans_book():
    # Programs for Machine Learning, 1993, section 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750; with
    # errors the book's exact binomial limit, U25%(1, 16) = 0.157, is a little above that by the normal law.
    assert oracles.expected_errors(6, 0, 0.25) / 6 == pytest.approx(0.206, abs=5e-4)
    assert oracles.expected_errors(9, 0, 0.25) / 9 == pytest.approx(0.143, abs=5e-4)
    assert oracles.expected_errors(1, 0, 0.25) == pytest.approx(0.75)
    assert oracles.expected_errors(16, 1, 0.25) / 16 == pytest.approx(0.157, abs=3e-3)
    assert oracles.expected_errors(2, 2, 0.25) == 2
    assert oracles.expected_errors(0, 0, 0.25) == 0


@pytest.mark.parametrize(
    ("left", "right", "kept"),
    [
        # a leaf expects           its children                        with 0.1 of allowance
        ((9, 0), (0, 1), True),  # 10 samples, 1 error:  2.41           0.14 × 9 + 0.75 = 2.04       kept
        ((1, 0), (0, 1), True),  # 2 samples, 1 error:   1.85           2 × 0.75 = 1.50              kept
        ((9, 1), (8, 1), False),  # majorities agree, so cutting does not save an error
        ((5, 1), (1, 5), True),
    ],
)
def test_a_cut_is_kept_where_it_saves_expected_errors(left, right, kept):
    X, y, weights = [0, 0, 1, 1], [0, 1, 0, 1], np.array([*left, *right])
    there = weights > 0
    b = oracles.block(np.array(X)[there], np.array(y)[there], weights=weights[there])
    tree, leaf_of = oracles.grow_c45(b, prune_confidence=CONFIDENCE)
    assert len(tree.nodes) == (3 if kept else 1)
    check_whole(b, tree, leaf_of, range(len(b.y)))


@pytest.mark.parametrize("confidence", [0.01, 0.25, 0.5, 0.9])
def test_the_formula_decides_for_every_small_table(confidence):
    rng = np.random.default_rng(0)
    tables = [*product(range(5), repeat=4), *rng.integers(0, 256, (300, 4)), *rng.integers(0, 30, (300, 4))]
    n_kept = n_cut = 0
    for table in tables:
        weights = np.array(table)
        there = weights > 0
        if there.sum() < 2:
            continue
        X, y = np.array([0, 0, 1, 1])[there], np.array([0, 1, 0, 1])[there]
        b = oracles.block(X, y, weights=weights[there])
        unpruned, _ = oracles.grow_c45(b)
        tree, _ = oracles.grow_c45(b, prune_confidence=confidence)
        if len(unpruned.nodes) > 1:
            n_cut += 1
            weights_at = {0: {0: table[0] + table[2], 1: table[1] + table[3]}} | oracles.rows_of(unpruned)
            _, expected = oracles.kept_cuts(unpruned.nodes, weights_at, confidence)
            n_kept += len(expected)
            assert len(tree.nodes) == 1 + 2 * len(expected), table
        else:
            assert len(tree.nodes) == 1
    assert 20 < n_kept < n_cut - 20


def pruning_of(b, unpruned, confidence, indices, start=0):
    """Return the cuts that brute force keeps of a subtree."""
    passing = oracles.samples_at(unpruned.nodes, unpruned.category_bits, b.X, indices, start)
    weights_at = {
        node: oracles.tally([node] * len(here), b.y[here], b.weights[here])[node] for node, here in passing.items()
    }
    return oracles.kept_cuts(unpruned.nodes, weights_at, confidence, start)[1] if passing else set()


def check_same(unpruned, kept, tree, at=0, there=0):
    """Check that a tree is the unpruned one, but for cuts not kept; return how many nodes it has."""
    before, now = unpruned.nodes[at], tree.nodes[there]
    if at not in kept:
        assert now.tolist() == (0, -1, -1)
        return 1
    assert now["split"] == before["split"]
    if now["split"] & oracles.CATEGORICAL:
        sets = [
            words[int(node["threshold"]) :][: 1 + int(words[int(node["threshold"])])].tolist()
            for node, words in ((before, unpruned.category_bits), (now, tree.category_bits))
        ]
        assert sets[0] == sets[1]
    else:
        assert now["threshold"] == before["threshold"]
    assert 0 < now["left"] < len(tree.nodes) - 1
    return 1 + sum(
        check_same(unpruned, kept, tree, int(before["left"]) + side, int(now["left"]) + side) for side in (0, 1)
    )


def check_pruned(b, confidence=CONFIDENCE, binned=None, **params):
    """Check a pruned tree against the unpruned one pruned by brute force; return how many cuts there were and are."""
    unpruned, _ = oracles.grow_c45(b, binned=binned, **params)
    tree, leaf_of = oracles.grow_c45(b, binned=binned, prune_confidence=confidence, **params)
    kept = pruning_of(b, unpruned, confidence, range(len(b.y)))
    assert check_same(unpruned, kept, tree) == len(tree.nodes) == 1 + 2 * len(kept)
    check_whole(b, tree, leaf_of, range(len(b.y)))
    np.testing.assert_array_equal(leaf_of, tree.route(b.X))
    return len(unpruned.nodes) // 2, len(kept)


@given(
    b=oracles.blocks(max_weight=4),
    confidence=st.sampled_from([0.001, 0.1, 0.25, 0.5, 0.8]),
    min_leaf=st.integers(1, 3),
)
def test_pruning_is_that_of_brute_force(b, confidence, min_leaf):
    check_pruned(b, confidence, min_samples_leaf=min_leaf)


@SHARED
@pytest.mark.parametrize("n", [60, 128, 129, 500, 2000])
@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 90)], ids=["numerical", "mixed"])
def test_pruning_of_larger_trees_is_that_of_brute_force(binned, n, n_categories):
    for distinct in (None, 2):
        b = oracles.random_block(n, n_categories=n_categories, distinct=distinct, seed=n)
        before, after = check_pruned(b, binned=shared_codes(b, binned))
        assert 0 < after < before


@pytest.mark.parametrize("n", [60, 100, 1000])
def test_noise_is_pruned_to_a_single_leaf(n):
    rng = np.random.default_rng(n)
    b = oracles.block(rng.normal(size=(n, 3)), np.arange(n) % 15 == 0)
    before, after = check_pruned(b, confidence=1e-4)
    assert before > 0
    assert after == 0


def test_what_is_clear_is_not_pruned():
    values = np.arange(100)
    before, after = check_pruned(oracles.block(values, values // 10))
    assert before == after == 9


def frame():
    """Return an editor of a tree with five leaves, three of which hold weights, and their numbers.

    0 ─┬─ 1 ─┬─ 3
       │     └─ 4 ─┬─ 7
       │           └─ 8
       └─ 2 ─┬─ 5
             └─ 6
    """
    editor = TreeEditor(Tree.bare(3, 0))
    for node, cut in ((0, 0.5), (1, -1.0), (2, 2.0)):
        editor.split(node, 0, cut, missing_left=False)
    editor.split(4, 1, np.array([True, False]), missing_left=True)
    leaves = [3, 5, 6, 7, 8]
    held = {5: {0: 2.0, 2: 1.0}, 6: {1: 4.0}, 8: {0: 7.0}}
    for node, row in held.items():
        klass = np.array(list(row), dtype=np.int32)
        editor.add(LeafCounts(np.full(len(klass), node, dtype=np.int32), klass, np.array(list(row.values()))))
    return TreeEditor(editor.finish()), leaves, held


@pytest.mark.parametrize("n", [60, 900])
@SHARED
def test_several_groups_are_pruned_in_one_call_and_the_rest_is_untouched(binned, n):
    b = oracles.random_block(n, n_categories=(0, 6, 0), distinct=3)
    b.y[: n // 3] = np.arange(n // 3) % 9 == 0
    b.weights[:] = 1
    order = np.arange(n - 5, dtype=np.int32)
    # The first group is noise, the second is empty, the fourth has one sample, the last is empty.
    starts = np.array([0, n // 3, n // 3, n - 6, n - 5, n - 5])
    targets = np.array([7, 3, 5, 8, 6], dtype=np.int32)
    trees, least = [], 0.01
    for confidence in (0, least):
        editor, leaves, held = frame()
        leaf_of = np.full(n, -7, dtype=np.int32)
        params = GrowthParams(max_features=1, by_ratio=True, prune_confidence=confidence)
        weights = b.weights[order]
        samples = replace(b.samples, codes=shared_codes(b, binned))
        editor.grow(samples, Groups(order, weights, starts, targets), leaf_of, params, 0)
        trees.append(editor.finish())
    unpruned, tree = trees
    assert len(tree.nodes) < len(unpruned.nodes)
    assert (leaf_of[n - 5 :] == -7).all()
    gains, n_nodes = np.zeros(3), 4
    for i, node in enumerate(targets.tolist()):
        group = order[starts[i] : starts[i + 1]]
        kept = pruning_of(b, unpruned, least, group, node)
        n_nodes += check_same(unpruned, kept, tree, node, node)
        gains += check_whole(b, tree, leaf_of, group, node)
    assert n_nodes == len(tree.nodes)
    assert set(oracles.depths(tree.nodes)) == set(range(len(tree.nodes)))
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)
    before = frame()[0].nodes
    assert tree.nodes[:3].tolist() == before[:3].tolist()
    assert tree.nodes[4] == before[4]
    assert sorted(leaves) == sorted(targets.tolist())
    assert sum(map(sum, map(dict.values, oracles.rows_of(tree).values()))) == b.weights[order].sum()
    assert held.keys() <= set(targets.tolist())


def test_leaves_that_are_not_grown_at_keep_what_they_hold():
    b = oracles.random_block(80, n_categories=(0, 6, 0))
    editor, _, held = frame()
    leaf_of = np.full(80, -7, dtype=np.int32)
    indices = np.arange(80, dtype=np.int32)
    params = GrowthParams(max_features=1, by_ratio=True, prune_confidence=CONFIDENCE)
    target = np.array([3], dtype=np.int32)
    editor.grow(b.samples, Groups(indices, b.weights, np.array([0, 80]), target), leaf_of, params, 0)
    before = editor.finish()
    rows = oracles.rows_of(before)
    assert {node: rows[node] for node in held} == held
    check_whole(b, before, leaf_of, indices, 3)
    # Growing again at one of the new leaves leaves all the others alone.
    target[0] = leaf_of[0]
    again = TreeEditor(before)
    group = np.flatnonzero(leaf_of == target[0]).astype(np.int32)
    moved = leaf_of.copy()
    again.grow(b.samples, Groups(group, b.weights[group], np.array([0, len(group)]), target), moved, params, 1)
    after = again.finish()
    others = np.setdiff1d(indices, group)
    np.testing.assert_array_equal(moved[others], leaf_of[others])
    rows_after = oracles.rows_of(after)
    assert {node: row for node, row in rows.items() if node != target[0]}.items() <= rows_after.items()
    check_whole(b, after, moved, group, int(target[0]))
