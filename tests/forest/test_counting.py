"""Class weights in leaves, against dictionaries; bootstrap weights, against Poisson."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest._kernels.counting import compare, gather, merge, recency, tally

N_NODES, N_CLASSES = 6, 5
WEIGHTED = st.dictionaries(st.integers(0, N_CLASSES - 1), st.integers(1, 9).map(float), max_size=N_CLASSES)
COUNTS = st.dictionaries(st.integers(0, N_NODES - 1), WEIGHTED, max_size=N_NODES)


def as_rows(counts):
    """Return lines of (node, class, weight), ascending."""
    lines = [(node, k, weight) for node, row in sorted(counts.items()) for k, weight in sorted(row.items())]
    node, klass, weight = zip(*lines, strict=True) if lines else ((), (), ())
    return np.array(node, dtype=np.int32), np.array(klass, dtype=np.int32), np.array(weight, dtype=np.float64)


def as_tree_rows(counts):
    """Return row_start, row_class and row_weight as a tree of N_NODES keeps them."""
    node, klass, weight = as_rows(counts)
    return np.searchsorted(node, np.arange(N_NODES + 1)).astype(np.int32), klass, weight


def as_counts(node, klass, weight):
    counts = {}
    for n, k, w in zip(node.tolist(), klass.tolist(), weight.tolist(), strict=True):
        counts.setdefault(n, {})[k] = w
    return counts


@given(
    samples=st.lists(
        st.tuples(st.integers(-1, N_NODES - 1), st.integers(0, N_CLASSES - 1), st.sampled_from([0, 1, 2, 255])),
        max_size=60,
    )
)
def test_a_tally_adds_up_weights_by_leaf_and_class(samples):
    leaf, y, weights = zip(*samples, strict=True) if samples else ((), (), ())
    node, klass, weight = tally(
        np.array(leaf, dtype=np.int32),
        np.array(y, dtype=np.int32),
        np.array(weights, dtype=np.uint16),
        N_NODES,
    )
    assert as_counts(node, klass, weight) == oracles.tally(leaf, y, weights)
    lines = list(zip(node.tolist(), klass.tolist(), strict=True))
    assert lines == sorted(set(lines))


@pytest.mark.parametrize(("n_classes", "n"), [(3, 200), (65, 130), (5_000, 9_000), (1 << 20, 2_000)])
def test_many_lines_of_a_leaf_are_put_in_order_whatever_the_classes(n_classes, n):
    rng = np.random.default_rng(n)
    leaf, y = rng.choice([0, 0, 0, 4], n).astype(np.int32), rng.integers(n_classes, size=n).astype(np.int32)
    weights = rng.integers(0, 3, n).astype(np.uint16)
    rows = tally(leaf, y, weights, N_NODES)
    assert as_counts(*rows) == oracles.tally(leaf.tolist(), y.tolist(), weights.tolist())
    lines = list(zip(*(one.tolist() for one in rows[:2]), strict=True))
    assert lines == sorted(set(lines))
    start, nothing = np.searchsorted(rows[0], np.arange(N_NODES + 1)).astype(np.int32), np.zeros(N_NODES, np.uint8)
    kept = rng.random(len(rows[0])) < 0.5
    merged = merge(start, *rows[1:], np.zeros(N_NODES), nothing, *(one[kept] for one in rows), N_NODES)
    np.testing.assert_array_equal(merged[1], rows[1])
    np.testing.assert_array_equal(merged[2], rows[2] * (1 + kept))


def near_of(tree, young, expected):
    """Call the kernel with what a tree knows of its nodes."""
    return recency(tree.sums.order, tree.sums.parent, tree.sums.total, np.asarray(young, dtype=np.int32), expected)


@given(
    b=oracles.blocks(max_weight=9),
    share=st.floats(0, 1),
    expected=st.sampled_from([0.0, 0.3, 1.1, 5.1, 1_000.0]),
    out_of_bag=st.integers(1, 5),
)
def test_young_samples_are_near_where_they_are_many_for_the_place(b, share, expected, out_of_bag):
    tree, leaf_of = oracles.tree_of(b)
    young = leaf_of[round(share * len(leaf_of)) :]
    young[::out_of_bag] = -1
    found = near_of(tree, young, expected)
    assert found.dtype == np.float32
    assert found[0] == 1
    np.testing.assert_allclose(found, oracles.recency(tree, young, expected), rtol=1e-6)


def test_near_is_what_the_young_share_a_place_with():
    # Old samples are at 0 to 9, young ones at 5 to 9 only: a third of all, and half of those at each of these places.
    old, young = np.repeat(np.arange(10.0), 20), np.repeat(np.arange(5.0, 10.0), 20)
    b = oracles.block(np.concatenate([old, young])[:, np.newaxis], np.concatenate([old, young]).astype(int))
    tree, leaf_of = oracles.tree_of(b)
    places = tree.route(np.arange(10.0)[:, np.newaxis])
    np.testing.assert_allclose(near_of(tree, leaf_of[len(old) :], 5)[places], [0] * 5 + [1] * 5)
    # Of those at 8 and 9, nine times as many were seen as are at hand.
    rows = {node: {k: w + 160 * (k >= 8) for k, w in row.items()} for node, row in oracles.rows_of(tree).items()}
    near = [0] * 5 + [1] * 3 + [(20 / 200) / (100 / 620)] * 2
    found = near_of(oracles.with_rows(tree, rows), leaf_of[len(old) :], 3)[places]
    np.testing.assert_allclose(found, near, rtol=1e-6)


@pytest.mark.parametrize("young", [[], [-1, -1]])
def test_where_no_young_sample_counts_everything_is_near(young):
    tree, _ = oracles.tree_of(oracles.random_block(60))
    assert (near_of(tree, young, 1.0) == 1).all()


def test_a_tally_of_many_samples_does_not_overflow():
    n = 100_000
    zeros = np.zeros(n, dtype=np.int32)
    _, _, weight = tally(zeros, zeros, np.full(n, 255, dtype=np.uint16), 1)
    assert weight.tolist() == [255 * n]


@given(held=COUNTS, brought=COUNTS)
def test_what_leaves_held_is_set_beside_what_a_batch_brings(held, brought):
    leaf, statistics = compare(*as_tree_rows(held), *as_rows(brought))
    expected = {node: row for node, row in brought.items() if row}
    assert leaf.tolist() == sorted(expected)
    assert statistics.shape == (7, len(leaf))
    for node, found in zip(leaf.tolist(), statistics.T.tolist(), strict=True):
        assert found == oracles.compare(held.get(node, {}), expected[node])


def test_a_leaf_predicts_the_first_among_equals():
    held, brought = {0: {1: 3.0, 4: 3.0}}, {0: {1: 2.0, 4: 5.0}}
    _, statistics = compare(*as_tree_rows(held), *as_rows(brought))
    assert statistics[5].tolist() == [2.0]


@given(held=COUNTS, brought=COUNTS, dropped=st.sets(st.integers(0, N_NODES - 1)), added_nodes=st.integers(0, 4))
def test_merged_rows_hold_both_but_for_what_was_dropped(held, brought, dropped, added_nodes):
    brought = brought | ({N_NODES + added_nodes - 1: {2: 4.0}} if added_nodes else {})
    marks = np.isin(np.arange(N_NODES), list(dropped)).astype(np.uint8)
    scale = np.array([1 / sum(held[k].values()) if held.get(k) else 0.0 for k in range(N_NODES)])
    row_start, row_class, row_weight, row_scale = merge(
        *as_tree_rows(held), scale, marks, *as_rows(brought), N_NODES + added_nodes
    )
    assert len(row_start) == len(row_scale) + 1 == N_NODES + added_nodes + 1
    node = np.repeat(np.arange(N_NODES + added_nodes), np.diff(row_start))
    expected = {k: row for k, row in oracles.merge(held, dropped, brought).items() if row}
    assert as_counts(node, row_class, row_weight) == expected
    for start, stop, scale in zip(row_start, row_start[1:], row_scale, strict=False):
        assert (np.diff(row_class[start:stop]) > 0).all()
        assert scale == pytest.approx(1 / row_weight[start:stop].sum() if stop > start else 0)


@given(
    held=COUNTS,
    brought=st.lists(COUNTS, max_size=3),
    dropped=st.sets(st.integers(0, N_NODES - 1)),
    seed=st.integers(0, 9),
)
def test_lines_merge_in_any_order_however_often_they_name_a_class(held, brought, dropped, seed):
    marks = np.isin(np.arange(N_NODES), list(dropped)).astype(np.uint8)
    lines = [np.concatenate(parts) for parts in zip(as_rows({}), *map(as_rows, brought), strict=True)]
    order = np.random.default_rng(seed).permutation(len(lines[0]))
    row_start, row_class, row_weight, _ = merge(
        *as_tree_rows(held), np.zeros(N_NODES), marks, *[part[order] for part in lines], N_NODES
    )
    expected = oracles.merge(held, dropped, {})
    for counts in brought:
        expected = oracles.merge(expected, (), counts)
    node = np.repeat(np.arange(N_NODES), np.diff(row_start))
    assert as_counts(node, row_class, row_weight) == {k: row for k, row in expected.items() if row}
    for start, stop in pairwise(row_start):
        assert (np.diff(row_class[start:stop]) > 0).all()


@given(
    samples=st.lists(st.tuples(st.integers(-1, N_NODES - 1), st.integers(0, 2)), max_size=40),
    leaves=st.lists(st.integers(0, N_NODES - 1), unique=True),
)
def test_samples_of_mixed_leaves_are_gathered_leaf_by_leaf(samples, leaves):
    leaf_of, y = np.array(samples, dtype=np.int32).reshape(-1, 2).T.copy()
    indices, start, nodes = gather(leaf_of, y, np.array(leaves, dtype=np.int32), N_NODES)
    mixed = [leaf for leaf in sorted(leaves) if len({k for node, k in samples if node == leaf}) > 1]
    assert nodes.tolist() == mixed
    found = [indices[first:stop].tolist() for first, stop in pairwise(start)]
    assert found == [[i for i, (node, _) in enumerate(samples) if node == leaf] for leaf in mixed]
    assert start[-1] == len(indices)
