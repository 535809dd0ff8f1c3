"""Trees in a model file: the nodes of all trees of all forests one after the other, and how many each tree has.

Forests refer to trees by index, so that a tree that two of them share is in the file once. Everything that kernels
rely on is checked here for all trees at once: kernels do not check whether an index is within its array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adforest.exceptions import ModelFileError
from adforest.forest import Tree
from adforest.forest._kernels import routing
from adforest.forest._kernels.growing import NODE
from adforest.forest.tree import CATEGORICAL, CAUSES
from adforest.forest.types import AnyArray, BoolArray, Int32Array, Int64Array, Nodes
from adforest.storage.fields import Array, PartReader, PartWriter, Sizes, read_fields

MAX_SET_WORDS = 1024  # of 64 categories each: codes have 16 bits
MAX_WEIGHT = 1e30  # of a class in a leaf; sums of weights are 32-bit floats, which end at 3e38
MAX_SUMS, SUMS_PER_ROW = 2**24, 256  # class weights of inner nodes, which are computed when a tree first predicts

BY_TREE = (
    Array("n_nodes", np.int64, ("n_trees",), low=1, below=2**31 - 1),
    Array("n_words", np.int64, ("n_trees",), low=1, below=2**31 - 1),
    Array("seed", np.uint64, ("n_trees",)),
    Array("importance", np.float64, ("n_trees", "n_columns")),
)
BY_NODE = (
    Array("threshold", np.float64, ("n_nodes",), takes_infinity=True),  # infinite: known or missing
    Array("left", np.int32, ("n_nodes",)),
    Array("split", np.int32, ("n_nodes",)),
    Array("n_rows", np.int32, ("n_nodes",), low=0),
    Array("row_scale", np.float64, ("n_nodes",), low=0, below=2),  # one over a sum of integers
    Array("born", np.int32, ("n_nodes",), low=0, below="next_batch"),
    Array("cause", np.uint8, ("n_nodes",), below=len(CAUSES)),
)
BY_ROW = (
    Array("row_class", np.int32, ("n_rows",), low=0, below="n_classes"),
    Array("row_weight", np.float64, ("n_rows",), low=0, below=MAX_WEIGHT),
)
BY_WORD = (Array("category_bits", np.uint64, ("n_words",)),)
FIELDS = (*BY_TREE, *BY_NODE, *BY_ROW, *BY_WORD)


def write_trees(trees: Sequence[Tree], out: PartWriter) -> None:
    """Write trees, whose indices start at 0."""

    def joined(parts: list[AnyArray]) -> AnyArray:
        return np.concatenate(parts)

    nodes = joined([tree.nodes.view(np.uint8) for tree in trees]).view(NODE)
    columns: dict[str, AnyArray] = {
        "n_nodes": np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
        "n_words": np.array([len(tree.category_bits) for tree in trees], dtype=np.int64),
        "seed": np.array([tree.seed for tree in trees], dtype=np.uint64),
        "importance": np.stack([tree.importance for tree in trees]),
        "threshold": nodes["threshold"],
        "left": nodes["left"],
        "split": nodes["split"],
        "n_rows": joined([np.diff(tree.row_start) for tree in trees]),
    }
    for name in ("row_scale", "born", "cause", "row_class", "row_weight", "category_bits"):
        columns[name] = joined([getattr(tree, name) for tree in trees])
    for field in FIELDS:
        field.write(columns[field.name], out)


def read_trees(part: PartReader, sizes: Sizes, is_categorical: BoolArray) -> list[Tree]:
    """Return the trees of a file, or raise if one of them is invalid.

    Parameters
    ----------
    sizes : dict
        n_columns, n_classes and next_batch are known.
    is_categorical : bool (n_columns,)
        Which columns may have categorical splits.
    """
    own = {name: sizes[name] for name in ("n_columns", "n_classes", "next_batch")}
    columns = read_fields(BY_TREE, part, own)
    n_nodes, n_words = columns.pop("n_nodes"), columns.pop("n_words")
    own["n_nodes"], own["n_words"] = int(n_nodes.sum()), int(n_words.sum())
    columns |= read_fields(BY_NODE, part, own)
    own["n_rows"] = int(columns["n_rows"].sum(dtype=np.int64))
    columns |= read_fields((*BY_ROW, *BY_WORD), part, own)
    nodes = np.empty(own["n_nodes"], dtype=NODE)
    for name in ("threshold", "left", "split"):
        nodes[name] = columns.pop(name)
    _check_children(nodes, n_nodes)
    _check_questions(nodes, n_nodes, n_words, columns["category_bits"], is_categorical)
    row_start = _starts(columns["n_rows"])
    _check_rows(nodes, columns["n_rows"], row_start, columns["row_class"])
    trees = _cut(nodes, n_nodes, n_words, row_start, columns)
    _check_reach(trees)
    return trees


def _starts(lengths: AnyArray) -> Int64Array:
    """Return the first index of each of some parts, and the end of the last one."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])


def _check_children(nodes: Nodes, n_nodes: Int64Array) -> None:
    """Raise unless every node but the roots is the child of exactly one node of its own tree."""
    first = _starts(n_nodes)[:-1]
    inner = np.flatnonzero(nodes["split"] >= 0)
    tree = np.repeat(np.arange(len(n_nodes)), n_nodes)[inner]
    left = nodes["left"][inner].astype(np.int64)
    if ((left < 1) | (left >= n_nodes[tree] - 1)).any():
        raise ModelFileError("a node has children beyond its tree")
    left += first[tree]
    n_parents = np.bincount(np.concatenate([left, left + 1]), minlength=len(nodes))
    n_parents[first] += 1
    if (n_parents != 1).any():
        raise ModelFileError("a node has two parents or none")


def _check_questions(
    nodes: Nodes, n_nodes: Int64Array, n_words: Int64Array, category_bits: AnyArray, is_categorical: BoolArray
) -> None:
    """Raise if a node splits on a column or a set of categories that does not exist."""
    inner = np.flatnonzero(nodes["split"] >= 0)
    split = nodes["split"][inner]
    feature = split >> 2
    if (feature >= len(is_categorical)).any():
        raise ModelFileError("a node asks about a column that is not there")
    by_set = split & CATEGORICAL != 0
    if not is_categorical[feature[by_set]].all():
        raise ModelFileError("a node asks about categories of a column that has none")
    tree = np.repeat(np.arange(len(n_nodes)), n_nodes)[inner[by_set]]
    first_word = nodes["threshold"][inner[by_set]]
    if ((first_word != np.floor(first_word)) | (first_word < 1) | (first_word >= n_words[tree])).any():
        raise ModelFileError("a node's set of categories is beyond its tree")
    length = category_bits[_starts(n_words)[:-1][tree] + first_word.astype(np.int64)]
    if (length > MAX_SET_WORDS).any() or (first_word + length >= n_words[tree]).any():
        raise ModelFileError("a node's set of categories is too long")


def _check_rows(nodes: Nodes, n_rows: Int32Array, row_start: Int64Array, row_class: Int32Array) -> None:
    """Raise if an inner node holds class weights, or a leaf does not name its classes in ascending order."""
    if n_rows[nodes["split"] >= 0].any():
        raise ModelFileError("a node that is no leaf holds class weights")
    is_first = np.zeros(len(row_class) + 1, dtype=bool)
    is_first[row_start] = True
    if not (np.diff(row_class, prepend=-1)[~is_first[:-1]] > 0).all():
        raise ModelFileError("the classes of a leaf are not in ascending order")


def _cut(
    nodes: Nodes, n_nodes: Int64Array, n_words: Int64Array, row_start: Int64Array, columns: dict[str, AnyArray]
) -> list[Tree]:
    """Return the trees, each with arrays of its own, so that the memory of each can be freed."""
    trees, node, word = [], _starts(n_nodes), _starts(n_words)
    for number in range(len(n_nodes)):
        own = slice(node[number], node[number + 1])
        rows = slice(row_start[own.start], row_start[own.stop])
        if rows.stop - rows.start >= 2**31 - 1:
            raise ModelFileError("a tree has more class weights than can be numbered")
        trees.append(
            Tree(
                nodes=nodes[own].copy(),
                category_bits=columns["category_bits"][word[number] : word[number + 1]].copy(),
                row_start=(row_start[own.start : own.stop + 1] - rows.start).astype(np.int32),
                row_class=columns["row_class"][rows].copy(),
                row_weight=columns["row_weight"][rows].copy(),
                row_scale=columns["row_scale"][own].copy(),
                importance=columns["importance"][number].copy(),
                seed=int(columns["seed"][number]),
                born=columns["born"][own].copy(),
                cause=columns["cause"][own].copy(),
            )
        )
    return trees


def _check_reach(trees: list[Tree]) -> None:
    """Raise if a node cannot be reached from its root, or if predicting would take far more memory than the file.

    Every node has one parent at this point, so unreachable nodes form cycles. Every class of a leaf is stored in all
    nodes above it once the tree predicts (`Tree.sums`).
    """
    n_sums = n_rows = 0
    for tree in trees:
        depth = routing.depths(tree.nodes)
        if not depth[1:].all():
            raise ModelFileError("a node cannot be reached from the root of its tree")
        n_inner, n_classes = len(tree.nodes) - tree.n_leaves, int(tree.row_class.max(initial=-1)) + 1
        n_above = int(np.diff(tree.row_start).astype(np.int64) @ depth.astype(np.int64))
        n_more = min(n_above, n_inner * n_classes)
        if n_more + len(tree.row_class) + n_classes >= 2**31:
            raise ModelFileError("the class weights of a tree's nodes are more than can be numbered")
        n_sums += n_more
        n_rows += len(tree.row_class)
    if n_sums > max(MAX_SUMS, SUMS_PER_ROW * n_rows):
        raise ModelFileError(f"its trees are so deep that answering would take {12 * n_sums:,} bytes")
