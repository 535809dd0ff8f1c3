"""Edit a tree: put a root above it, grow subtrees at its leaves, add class weights; then read the new tree off."""

import numpy as np

from adforest.forest._kernels import counting, growing, routing
from adforest.forest._kernels.growing import NODE
from adforest.forest.samples import Groups, GrowthParams, Samples
from adforest.forest.tree import CATEGORICAL, LEAF_EXPANDED, MISSING_LEFT, ROOT_ADDED, LeafCounts, Tree
from adforest.forest.types import (
    AnyArray,
    BoolArray,
    Float64Array,
    Int32Array,
    Nodes,
    UInt64Array,
)


class TreeEditor:
    """Collects changes to a tree and applies them all at once; the tree itself stays as it is.

    Parameters
    ----------
    tree : Tree
    batch : int
        The batch that makes the changes.
    keeps_unsplit : bool
        Whether a leaf at which no subtree could be grown keeps its counts; otherwise it holds the samples it was
        tried with.
    """

    def __init__(self, tree: Tree, batch: int = 0, *, keeps_unsplit: bool = False) -> None:
        self._tree = tree
        self._batch = batch
        self._keeps_unsplit = keeps_unsplit
        self._born = tree.born
        self._cause = tree.cause
        self.nodes = tree.nodes
        self._category_bits = tree.category_bits
        self._importance = tree.importance
        self._dropped = np.zeros(len(tree.nodes), dtype=np.uint8)
        self._rows: list[LeafCounts] = []

    def add_root(self, feature: int, cut: float | BoolArray, *, tree_left: bool) -> tuple[int, int]:
        """Put a new root above the tree, which takes one side; the other is an empty leaf.

        The root keeps number 0, the old root's node moves to the end:

            | 0: new root | 1 ... | n: left child | n + 1: right child |

        Parameters
        ----------
        feature : int
            The feature that the new root splits on.
        cut : float or bool array
            The largest value that goes left, or which categories go left.
        tree_left : bool
            Whether the old tree is on the left. Missing values and unseen categories go where the tree is.

        Returns
        -------
        tuple of int
            The numbers of the empty leaf and of the old root.
        """
        n = len(self.nodes)
        leaf, moved = (n + 1, n) if tree_left else (n, n + 1)
        old_root, born, cause = self.nodes[0].copy(), self._born[0], self._cause[0]
        if old_root["split"] < 0:
            self._move_row(0, moved)
        self.split(0, feature, cut, missing_left=tree_left)
        self._stamp(np.array([0, leaf]), ROOT_ADDED)
        self.nodes[moved], self._born[moved], self._cause[moved] = old_root, born, cause
        return leaf, moved

    def split(self, node: int, feature: int, cut: float | BoolArray, *, missing_left: bool, gain: float = 0.0) -> int:
        """Split a node on a feature; return the number of the first of its two new, empty leaves.

        Categories beyond those in cut go where missing values go; the gain, in bits times weight, counts as importance.
        """
        self._importance = self._importance.copy()
        self._importance[feature] += gain
        n = len(self.nodes)
        children = np.zeros(2, dtype=NODE)
        children["left"] = children["split"] = -1
        self.nodes = _appended(self.nodes, children)
        self._stamp(np.array([node]), LEAF_EXPANDED)
        kind = CATEGORICAL if isinstance(cut, np.ndarray) else 0
        self.nodes["left"][node] = n
        self.nodes["split"][node] = (feature << 2) | (MISSING_LEFT if missing_left else 0) | kind
        if isinstance(cut, np.ndarray):
            self.nodes["threshold"][node] = len(self._category_bits)
            self._category_bits = np.concatenate([self._category_bits, _bit_set(cut, fill=missing_left)])
        else:
            self.nodes["threshold"][node] = cut
        return n

    def _move_row(self, node: int, target: int) -> None:
        """Carry the class weights of one node over to another."""
        if node < len(self._dropped) and not self._dropped[node]:
            rows = slice(*self._tree.row_start[node : node + 2])
            klass, weight = self._tree.row_class[rows], self._tree.row_weight[rows]
            self._dropped[node] = 1
            self._rows.append(LeafCounts(np.full(len(klass), target, dtype=np.int32), klass, weight))
        self._rows = [rows._replace(node=np.where(rows.node == node, target, rows.node)) for rows in self._rows]

    def grow(self, samples: Samples, groups: Groups, leaf_of: Int32Array, params: GrowthParams, seed: int) -> None:
        """Grow a subtree at each of the given leaves from its group of samples, see `growing.grow`.

        The counts of the leaves are dropped: their new leaves hold the weights of the samples given. Leaves that stay
        leaves may keep theirs instead, see ``keeps_unsplit``.
        """
        group_nodes, nodes, category_bits, (node, klass, weight), importance = growing.grow(
            samples,
            self.with_depths(groups, params.max_depth),
            params,
            leaf_of,
            n_nodes=len(self.nodes),
            n_words=len(self._category_bits),
            seed=seed,
        )
        rows, group_node = LeafCounts(node, klass, weight.astype(np.float64)), groups.node
        if self._keeps_unsplit:
            is_split = group_nodes["split"] >= 0
            rows = rows.without(group_node[~is_split])
            group_node, group_nodes = group_node[is_split], group_nodes[is_split]
        self.attach(group_node, group_nodes, nodes, category_bits, importance)
        self._rows.append(rows)

    def attach(
        self,
        group_node: Int32Array,
        group_nodes: Nodes,
        nodes: Nodes,
        category_bits: UInt64Array,
        importance: Float64Array,
    ) -> None:
        """Replace leaves by subtrees as `growing.grow` returns them; the counts of the leaves are dropped."""
        self._dropped[group_node[group_node < len(self._dropped)]] = 1
        self._rows = [rows.without(group_node) for rows in self._rows]
        self.nodes = _appended(self.nodes, nodes)
        self.nodes[group_node] = group_nodes
        self._stamp(group_node[group_nodes["split"] >= 0], LEAF_EXPANDED)
        self._category_bits = np.concatenate([self._category_bits, category_bits])
        self._importance = self._importance + importance

    def _stamp(self, nodes: AnyArray, cause: int) -> None:
        """Store that this batch made some nodes."""
        more = len(self.nodes) - len(self._born)
        self._born = np.concatenate([self._born, np.full(more, self._batch, dtype=np.int32)])
        self._cause = np.concatenate([self._cause, np.full(more, cause, dtype=np.uint8)])
        self._born[nodes] = self._batch
        self._cause[nodes] = cause

    @property
    def n_words(self) -> int:
        """How many 64-bit words the tree's category_bits take."""
        return len(self._category_bits)

    def with_depths(self, groups: Groups, max_depth: int | None) -> Groups:
        """Return groups with the depths of their leaves; without a limit these do not matter, and are 0."""
        is_limited = max_depth is not None
        return groups._replace(depth=routing.depths(self.nodes)[groups.node] if is_limited else 0 * groups.node)

    def route(self, X: Float64Array) -> Int32Array:
        """Return the leaf that each sample reaches in the tree as edited so far."""
        return routing.route(self.nodes, self._category_bits, X)

    def add(self, rows: LeafCounts) -> None:
        """Add class weights to leaves."""
        self._rows.append(rows)

    def finish(self) -> Tree:
        """Return the edited tree."""
        rows = self._rows or [LeafCounts.none()]
        added = rows[0] if len(rows) == 1 else LeafCounts(*map(np.concatenate, zip(*rows, strict=True)))
        tree = self._tree
        row_start, row_class, row_weight, row_scale = counting.merge(
            tree.row_start, tree.row_class, tree.row_weight, tree.row_scale, self._dropped, *added, len(self.nodes)
        )
        return Tree(
            self.nodes,
            self._category_bits,
            row_start,
            row_class,
            row_weight,
            row_scale,
            self._importance,
            tree.seed,
            self._born,
            self._cause,
        )


def _appended(nodes: Nodes, more: Nodes) -> Nodes:
    """Return nodes and more of them; NumPy would copy structures field by field, twenty times slower than bytes."""
    return np.concatenate([nodes.view(np.uint8), more.view(np.uint8)]).view(NODE)


def _bit_set(left: BoolArray, *, fill: bool) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """Return the words of a node's category set: their number, then the bits; those to spare follow fill."""
    n_words = max(1, -(-len(left) // 64))
    bits = np.full(n_words * 64, fill)
    bits[: len(left)] = left
    return np.concatenate([[np.uint64(n_words)], np.packbits(bits, bitorder="little").view(np.uint64)])
