"""Trees as an operator: TreeEnsemble finds the leaf of each sample, a table has the predictions of leaves.

A leaf of TreeEnsemble has one target only, so that it cannot hold the probabilities of several classes. Each tree is a
target here, and the value of a leaf is its row in a table of all leaves.
"""

from __future__ import annotations

import numpy as np

from adforest.forest import Tree
from adforest.forest.types import AnyArray, Float64Array, Int32Array
from adforest.integrations._forests import LeafProba, splits_of
from adforest.integrations.onnx.graph import ML, Graph

AT_MOST, MEMBER = 0, 6  # modes of nodes: x <= threshold; x is in a set
SUM, NO_TRANSFORM = 1, 0
NO_CODE = -1.0  # a category that does not occur, for sets that would be empty


def add_forest(
    graph: Graph,
    matrix: str,
    trees: tuple[Tree, ...],
    answers: list[LeafProba],
    more: Float64Array | None = None,
) -> str:
    """Add a forest to a graph; return the predictions of its trees, of shape (N, n_trees, n_classes).

    Parameters
    ----------
    matrix : str
        The samples, of shape (N, n_features).
    more : float64 (n_leaves,), optional
        One more value by leaf, all trees one after the other: it follows the classes.
    """
    rows = graph.add("Cast", _add_ensemble(graph, matrix, trees, answers), to=graph.onnx.TensorProto.INT64)
    table = np.concatenate([one.proba for one in answers])
    return graph.add("Gather", graph.constant(table if more is None else np.column_stack([table, more])), rows, axis=0)


def _add_ensemble(graph: Graph, matrix: str, trees: tuple[Tree, ...], answers: list[LeafProba]) -> str:
    """Add the operator that finds the row of each sample's leaf, in each tree, of shape (N, n_trees)."""
    roots, parts, sets, rows, n_nodes, n_leaves, n_rows = [], [], [], [], 0, 0, 0
    for tree, one in zip(trees, answers, strict=True):
        part, members, own_rows = _flat(tree, one.node, n_nodes, n_leaves)
        roots.append(n_nodes)
        parts.append(part)
        sets += members
        rows.append(own_rows + n_rows)
        n_nodes += len(part["nodes_modes"])
        n_leaves += len(own_rows)
        n_rows += len(one.node)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    attributes = {
        name: graph.tensor(array) if name in ("nodes_splits", "nodes_modes") else array.tolist()
        for name, array in joined.items()
    }
    if sets:
        # One set after the other, each followed by NaN.
        values = np.concatenate([np.append(codes if len(codes) else NO_CODE, np.nan) for codes in sets])
        attributes["membership_values"] = graph.tensor(values)
    return graph.add(
        "TreeEnsemble",
        matrix,
        domain=ML,
        **attributes,
        tree_roots=roots,
        leaf_targetids=np.repeat(np.arange(len(trees)), [len(one) for one in rows]).tolist(),
        leaf_weights=graph.tensor(np.concatenate(rows).astype(np.float64)),
        n_targets=len(trees),
        aggregate_function=SUM,
        post_transform=NO_TRANSFORM,
    )


def _flat(
    tree: Tree, leaves: Int32Array, first_node: int, first_leaf: int
) -> tuple[dict[str, AnyArray], list[Int32Array], AnyArray]:
    """Return the attributes of one tree's nodes, appended to those of others, their sets, and the leaf at each index.

    At a categorical split, categories in the set go to the true side, and all others to the false side, as missing
    values do.
    """
    asked, order = splits_of(tree), np.arange(len(leaves))
    is_leaf = tree.nodes["split"] < 0
    row = np.empty(len(tree.nodes), dtype=np.int64)
    row[asked.node] = np.arange(first_node, first_node + len(asked.node))
    row[leaves] = first_leaf + order
    left = tree.nodes["left"][0]
    if len(asked.node) and row[left] == row[left + 1]:
        # One is a leaf, the other is not, but ONNX Runtime before 1.24 mistakes a root for a leaf if these are equal.
        order = np.roll(order, 1)
        row[leaves[order]] = first_leaf + np.arange(len(leaves))
    is_true_left = ~(asked.by_categories & asked.missing_left)
    true, false = asked.left + ~is_true_left, asked.left + is_true_left
    nodes = {
        "nodes_featureids": asked.feature,
        "nodes_splits": np.where(asked.by_categories, 0.0, asked.threshold),
        "nodes_modes": np.where(asked.by_categories, MEMBER, AT_MOST).astype(np.uint8),
        "nodes_missing_value_tracks_true": (asked.missing_left & ~asked.by_categories).astype(np.int64),
        "nodes_truenodeids": row[true],
        "nodes_trueleafs": is_leaf[true].astype(np.int64),
        "nodes_falsenodeids": row[false],
        "nodes_falseleafs": is_leaf[false].astype(np.int64),
    }
    if not len(asked.node):  # a tree of one leaf needs a split all the same, with the leaf on both sides
        order = np.zeros(2, dtype=order.dtype)
        nodes = {name: np.zeros(1, dtype=array.dtype) for name, array in nodes.items()}
        nodes["nodes_truenodeids"][:], nodes["nodes_falsenodeids"][:] = first_leaf, first_leaf + 1
        nodes["nodes_trueleafs"][:] = nodes["nodes_falseleafs"][:] = 1
    return nodes, [asked.members[node] for node in asked.node[asked.by_categories].tolist()], order
