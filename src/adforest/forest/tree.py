"""A tree: a few immutable flat arrays; every edit makes another tree."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeVar, dataclass_transform

import numpy as np

from adforest.forest._kernels import counting, routing, shrinkage, steps
from adforest.forest._kernels.growing import NODE
from adforest.forest._kernels.sums import TreeSums, entropies
from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array, Nodes, UInt8Array, UInt64Array

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False)
def pickled_dataclass(**options: Any) -> Callable[[type[T]], type[T]]:
    """Make a frozen dataclass with slots whose own `__getstate__` and `__setstate__` count.

    Before Python 3.11.4 `dataclass` replaces them by its own (CPython issue 104035).
    """

    def decorated(cls: type[T]) -> type[T]:
        own = {name: cls.__dict__[name] for name in ("__getstate__", "__setstate__")}
        made = dataclass(frozen=True, slots=True, **options)(cls)
        for name, method in own.items():
            setattr(made, name, method)
        return made

    return decorated


CATEGORICAL, MISSING_LEFT = 1, 2
CAUSES = ("tree built", "root added", "leaf expanded")
BUILT, ROOT_ADDED, LEAF_EXPANDED = range(3)


class LeafCounts(NamedTuple):
    """Class weights of nodes, one row per (node, class) pair; a tally is sorted by both."""

    node: Int32Array
    klass: Int32Array
    weight: Float64Array

    @classmethod
    def none(cls) -> "LeafCounts":
        """Return no rows."""
        ints = np.empty(0, dtype=np.int32)
        return cls(ints, ints, np.empty(0))

    def without(self, nodes: Int32Array) -> "LeafCounts":
        """Leave out the rows of some nodes."""
        kept = ~np.isin(self.node, nodes)
        return LeafCounts(self.node[kept], self.klass[kept], self.weight[kept])


@pickled_dataclass(eq=False, repr=False)
class Tree:
    """An immutable decision tree with the class weights of its leaves.

    Attributes
    ----------
    n_leaves : int
        Number of leaves.
    depth : int
        Length of the longest path from the root.
    nodes : structured array of shape (n_nodes,)
        ``threshold``, ``left`` (the right child follows it) and ``split``: negative for a leaf, otherwise the feature
        times four plus two flags (missing values go left; the split is categorical).
    category_bits : uint64
        Bit sets of the categories that go left, each preceded by its length.
    row_start, row_class, row_weight, row_scale
        Class weights by node, see `adforest.forest._kernels.counting`.
    importance : float64 (m,)
        Gain of the tree's splits by feature, in bits or Gini impurity times weight, less the penalty of categorical
        splits.
    seed : int
        Determines the bootstrap weight of every sample in this tree.
    born : int32
        By node: the batch that made it a split or a leaf.
    cause : uint8
        By node: how, see `CAUSES`.

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> model = AdaptiveDecisionForestClassifier(random_state=0)
    >>> model = model.fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> tree = model.permanent_forest_.trees[0]
    >>> tree
    Tree(n_leaves=2, depth=1)
    >>> tree.nodes["threshold"][0].item()
    5.0
    """

    nodes: Nodes
    category_bits: UInt64Array
    row_start: Int32Array
    row_class: Int32Array
    row_weight: Float64Array
    row_scale: Float64Array
    importance: Float64Array
    seed: int
    born: Int32Array
    cause: UInt8Array
    n_leaves: int = field(init=False)
    _sums: TreeSums | None = field(init=False, default=None, repr=False)
    # Sums of the same nodes before the rows of some leaves were added to, and these leaves.
    _before: tuple[TreeSums, Int32Array] | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        # Every inner node has two children, so leaves are one more than half of the rest.
        object.__setattr__(self, "n_leaves", (len(self.nodes) + 1) // 2)

    def __repr__(self) -> str:
        return f"Tree(n_leaves={self.n_leaves}, depth={self.depth})"

    def goes_left(self, first: int) -> BoolArray:
        """Return for each category of the bit set at an index whether it goes left."""
        words = self.category_bits[first + 1 : first + 1 + int(self.category_bits[first])]
        return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)

    def __getstate__(self) -> list[Any]:
        """Leave out everything that is derived, so that predicting does not change the saved bytes."""
        return [getattr(self, one.name) for one in fields(self) if one.init]

    def __setstate__(self, state: list[Any]) -> None:
        for one, value in zip((one for one in fields(self) if one.init), state, strict=True):
            object.__setattr__(self, one.name, value)
        object.__setattr__(self, "_sums", None)
        object.__setattr__(self, "_before", None)
        self.__post_init__()

    @property
    def sums(self) -> TreeSums:
        """Class weights of every node, computed at first use."""
        if self._sums is None:
            rows = self.row_start, self.row_class, self.row_weight
            sums = TreeSums(self.nodes, self.category_bits, *rows, *(self._before or ()))
            object.__setattr__(self, "_sums", sums)
            object.__setattr__(self, "_before", None)
        assert self._sums is not None
        return self._sums

    @classmethod
    def bare(cls, n_features: int, seed: int) -> "Tree":
        """Return a tree of one empty leaf."""
        nodes = np.zeros(1, dtype=NODE)
        nodes["left"] = nodes["split"] = -1
        return cls(
            nodes=nodes,
            category_bits=np.zeros(1, dtype=np.uint64),
            row_start=np.zeros(2, dtype=np.int32),
            row_class=np.empty(0, dtype=np.int32),
            row_weight=np.empty(0),
            row_scale=np.zeros(1),
            importance=np.zeros(n_features),
            seed=seed,
            born=np.zeros(1, dtype=np.int32),
            cause=np.zeros(1, dtype=np.uint8),
        )

    @classmethod
    def built(
        cls,
        nodes: Nodes,
        category_bits: UInt64Array,
        rows: tuple[Int32Array, Int32Array, Float64Array, Float64Array],
        importance: Float64Array,
        seed: int,
    ) -> "Tree":
        """Return a tree that was built as a whole, see `growing.grow_tree`."""
        born, cause = np.zeros(len(nodes), dtype=np.int32), np.zeros(len(nodes), dtype=np.uint8)
        return cls(nodes, category_bits, *rows, importance, seed, born, cause)

    def built_at(self, batch: int) -> "Tree":
        """Return the tree with all its nodes marked as built at a batch."""
        born, cause = np.full(len(self.nodes), batch, dtype=np.int32), np.zeros(len(self.nodes), dtype=np.uint8)
        rows = self.row_start, self.row_class, self.row_weight, self.row_scale
        return Tree(self.nodes, self.category_bits, *rows, self.importance, self.seed, born, cause)

    def added_to(self, rows: LeafCounts) -> "Tree":
        """Return the tree with a tally added to its leaves."""
        before = self.row_start, self.row_class, self.row_weight, self.row_scale
        nothing = np.zeros(len(self.nodes), dtype=np.uint8)
        now = counting.merge(*before, nothing, *rows, len(self.nodes))
        tree = Tree(self.nodes, self.category_bits, *now, self.importance, self.seed, self.born, self.cause)
        if self._sums is not None:
            object.__setattr__(tree, "_before", (self._sums, rows.node))
        return tree

    def with_features(self, feature_index: Int64Array) -> "Tree":
        """Return the tree for a matrix in which each feature has another index."""
        split = self.nodes["split"]
        moved = np.where(split < 0, split, feature_index[np.maximum(split, 0) >> 2] << 2 | split & 3)
        if np.array_equal(moved, split):
            return self
        nodes = self.nodes.copy()
        nodes["split"] = moved
        return replace(self, nodes=nodes)

    def without_categories(self, feature: int, codes: Int32Array) -> "Tree":
        """Return the tree that sends some categories of a feature where it sends missing values."""
        split = self.nodes["split"]
        asks = np.flatnonzero((split >= 0) & (split >> 2 == feature) & (split & CATEGORICAL != 0))
        if not len(asks):
            return self
        mask = np.zeros(int(codes.max()) // 64 + 1, dtype=np.uint64)
        np.bitwise_or.at(mask, codes >> 6, np.uint64(1) << (codes & 63).astype(np.uint64))
        bits = self.category_bits.copy()
        for first, is_left in zip(self.nodes["threshold"][asks].astype(int), split[asks] & MISSING_LEFT, strict=True):
            words = bits[first + 1 : first + 1 + int(bits[first])][: len(mask)]
            words[:] = words | mask[: len(words)] if is_left else words & ~mask[: len(words)]
        return replace(self, category_bits=bits)

    @property
    def depth(self) -> int:
        """Length of the longest path from the root."""
        return int(routing.depths(self.nodes).max())

    def route(self, X: Float64Array) -> Int32Array:
        """Return the index of the leaf that each sample reaches."""
        return routing.route(self.nodes, self.category_bits, X)

    def vote(self, X: Float64Array, votes: Float64Array, *, soft: bool) -> None:
        """Add this tree's votes for the samples."""
        rows = self.row_start, self.row_class, self.row_weight, self.row_scale
        routing.vote(self.nodes, self.category_bits, *rows, soft, X, votes)

    def vote_from(self, leaf: Int32Array, votes: Float64Array, *, soft: bool) -> None:
        """Add the votes of known leaves."""
        routing.vote_from(leaf, self.row_start, self.row_class, self.row_weight, self.row_scale, soft, votes)

    def add_proba_of(self, leaf: Int32Array, votes: Float64Array, strengths: Float64Array, mix: Float64Array) -> None:
        """Add the shrunk class probabilities of known leaves to votes, see `shrinkage.vote`."""
        shrinkage.vote_from(self.sums, leaf, strengths, mix, votes)

    def root_proba(self, n_classes: int) -> Float64Array:
        """Return the class probabilities at the root; zeros if the tree is empty."""
        sums, proba = self.sums, np.zeros(n_classes)
        rows = slice(sums.first[0], sums.stop[0])
        if sums.total[0] > 0:
            proba[sums.klass[rows]] = sums.weight[rows] / sums.total[0]
        return proba

    def add_proba_steps(
        self, leaf: Int32Array, added: Float64Array, strengths: Float64Array, mix: Float64Array
    ) -> None:
        """Add the contributions of features to the shrunk probabilities of leaves, see `steps.add_proba_steps`."""
        steps.add_proba_steps(self.sums, leaf, strengths, mix, added)

    def add_vote_steps(self, leaf: Int32Array, added: Float64Array, roots: Float64Array, *, soft: bool) -> None:
        """Add the contributions of features to the votes of leaves, see `steps.add_vote_steps`."""
        steps.add_vote_steps(self.sums, leaf, self.row_weight, self.row_scale, soft, added, roots)

    def read_leaves(self, leaf: Int32Array) -> tuple[Int32Array, Float64Array, Float64Array]:
        """Return the most frequent class of leaves, its frequency, and their total weight."""
        return steps.read_leaves(leaf, self.row_start, self.row_class, self.row_weight)

    def compare(self, rows: LeafCounts) -> tuple[Int32Array, Float64Array]:
        """Compare the contents of leaves with those of new rows, see `counting.compare`."""
        return counting.compare(self.row_start, self.row_class, self.row_weight, *rows)


def importances(tree: Tree, n_categories: Int32Array, n_tried: int, sample_weight: float) -> Float64Array:
    """Return the gain beyond chance by feature, in bits times samples, from the current class weights of the nodes.

    The best of many splits has some gain even where a feature is noise, the more splits there are to choose from: a
    plain sum of gains favours identifiers and noise over features of few values. A split therefore counts by how far
    its gain exceeds the bits of the choice: log2(n - 1) for n samples and a numerical feature, k - 1 for k categories,
    and log2 of the number of features tried.

    Parameters
    ----------
    tree : Tree
    n_categories : int32 (m,)
        Categories known per feature, 0 for numerical ones.
    n_tried : int
        Features tried at each node.
    sample_weight : float
        Mean weight of a sample in the tree.
    """
    sums = tree.sums
    entropy = entropies(sums)
    inner = np.flatnonzero(tree.nodes["split"] >= 0)
    feature, left = tree.nodes["split"][inner] >> 2, tree.nodes["left"][inner]
    gain = (entropy[inner] - entropy[left] - entropy[left + 1]) / sample_weight
    n, k = sums.total[inner] / sample_weight, n_categories[feature]
    price = np.where(k > 0, np.minimum(np.maximum(n, 1), k) - 1, np.log2(np.maximum(n - 1, 1))) + np.log2(n_tried)
    worth = np.bincount(feature, np.maximum(gain - price, 0.0), minlength=len(n_categories))
    return worth.astype(np.float64)
