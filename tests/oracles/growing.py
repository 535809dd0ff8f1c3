"""Trees of whole blocks, grown by the kernel."""

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from adforest.forest import Groups, GrowthParams, Tree, TreeEditor
from adforest.forest._kernels.binning import bin_columns
from adforest.forest._kernels.growing import NODE, grow


class GrownTree(NamedTuple):
    """What the growing kernel made of one block, put together as a tree."""

    nodes: np.ndarray
    category_bits: np.ndarray
    rows: dict
    importance: np.ndarray
    leaf_of: np.ndarray


def grow_groups(
    b,
    indices,
    group_start,
    group_node,
    *,
    base,
    weights=None,
    depth=None,
    binned=False,
    max_features=None,
    min_leaf=1,
    max_bins=255,
    max_depth=-1,
    criterion="entropy",
    draws=None,
    seed=0,
):
    """Call the kernel; nodes before base are leaves but for those the groups take the place of."""
    leaf_of = np.full(len(b.y), -7, dtype=np.int32)
    indices = np.asarray(indices, dtype=np.int32)
    group_node = np.asarray(group_node, dtype=np.int32)
    groups = Groups(
        indices,
        b.weights[indices] if weights is None else weights,
        np.asarray(group_start, dtype=np.int64),
        group_node,
        np.zeros(len(group_node), dtype=np.int32) if depth is None else np.asarray(depth, dtype=np.int32),
    )
    params = GrowthParams(
        max_features=b.X.shape[1] if max_features is None else max_features,
        min_samples_leaf=min_leaf,
        max_bins=max_bins,
        max_depth=max_depth if max_depth >= 0 else None,
        criterion=criterion,
        draws=draws,
    )
    samples = b.samples
    if binned:
        samples = replace(samples, codes=bin_columns(b.X, b.n_categories, max_bins))
    group_nodes, added, category_bits, (row_node, row_class, row_weight), importance = grow(
        samples, groups, params, leaf_of, n_nodes=base, n_words=1, seed=seed
    )
    nodes = np.zeros(base, dtype=NODE)
    nodes["left"] = nodes["split"] = -1
    nodes[group_node] = group_nodes
    rows = defaultdict(dict)
    for node, k, weight in zip(row_node.tolist(), row_class.tolist(), row_weight.tolist(), strict=True):
        assert k not in rows[node]
        rows[node][k] = weight
    category_bits = np.concatenate([np.zeros(1, dtype=np.uint64), category_bits])
    return GrownTree(np.concatenate([nodes, added]), category_bits, dict(rows), importance, leaf_of)


def grow_tree(b, *, indices=None, **limits):
    """Grow one tree from its root."""
    indices = np.arange(len(b.y)) if indices is None else indices
    return grow_groups(b, indices, [0, len(indices)], [0], base=1, **limits)


def tree_of(b, *, seed=0, max_depth=None):
    """Return a finished Tree of the block and the leaf of every sample."""
    editor = TreeEditor(Tree.bare(b.X.shape[1], seed))
    leaf_of = np.full(len(b.y), -1, dtype=np.int32)
    grow_at(editor, b, np.arange(len(b.y)), [0, len(b.y)], [0], leaf_of, seed=seed, max_depth=max_depth)
    return editor.finish(), leaf_of


def grow_at(editor, b, indices, group_start, group_node, leaf_of, *, seed=0, max_depth=None):
    """Let an editor grow at leaves, trying all attributes."""
    indices = np.asarray(indices, dtype=np.int32)
    editor.grow(
        b.samples,
        Groups(
            indices,
            b.weights[indices],
            np.asarray(group_start, dtype=np.int64),
            np.asarray(group_node, dtype=np.int32),
        ),
        leaf_of,
        GrowthParams(max_features=b.X.shape[1], max_depth=max_depth),
        seed,
    )
