"""A forest: trees, and the leaf of every sample in memory in each tree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from adforest.forest._kernels import counting, shrinkage
from adforest.forest._kernels.rows import take
from adforest.forest.tree import Tree
from adforest.forest.types import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from adforest.parallel import PART_SIZE, in_parts, in_threads


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forest:
    """An immutable set of trees whose predictions are averaged.

    Attributes
    ----------
    trees : tuple of Tree
    n_leaves, n_nodes : int
        Number of leaves and nodes of all trees.
    leaf_of : tuple of int32 arrays
        For each tree the leaf of every sample in memory, -1 for samples that do not count in the tree; empty for
        forests that are never repaired.
    known : bool array
        Which samples in memory the forest has learnt.

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> model = AdaptiveDecisionForestClassifier(random_state=0)
    >>> model = model.fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> model.permanent_forest_
    Forest(n_trees=20, n_leaves=31)
    >>> len(model.permanent_forest_)
    20
    """

    trees: tuple[Tree, ...]
    leaf_of: tuple[Int32Array, ...]
    known: BoolArray

    def __len__(self) -> int:
        return len(self.trees)

    def __repr__(self) -> str:
        return f"Forest(n_trees={len(self)}, n_leaves={self.n_leaves})"

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return sum(tree.n_leaves for tree in self.trees)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return sum(len(tree.nodes) for tree in self.trees)

    def route(self, X: Float64Array, n_jobs: int | None = None) -> Int32Array:
        """Return the leaf of each sample in each tree, (n_trees, n); by threads where samples are many."""
        leaf, trees = np.empty((len(self), len(X)), dtype=np.int32), [tree.sums for tree in self.trees]
        if len(X) < 2 * PART_SIZE:
            shrinkage.route(trees, X, leaf)
        else:
            in_threads(lambda k: shrinkage.route(trees[k : k + 1], X, leaf[k : k + 1]), range(len(self)), n_jobs)
        return leaf

    def knows(self, n_classes: int) -> BoolArray:
        """Return which classes some tree has seen."""
        known = np.zeros(n_classes, dtype=bool)
        for tree in self.trees:
            known[tree.row_class] = True
            if known.all():
                break
        return known

    def answer(self, X: Float64Array, n_classes: int, *, soft: bool, n_jobs: int | None = None) -> Float64Array:
        """Return the sum of the trees' votes by class, at most one per tree and sample."""
        votes = np.zeros((len(X), n_classes))

        def vote(part: slice) -> None:
            for tree in self.trees:
                tree.vote(X[part], votes[part], soft=soft)

        in_parts(vote, len(X), n_jobs)
        return votes

    def proba(
        self,
        X: Float64Array,
        n_classes: int,
        strengths: Float64Array,
        mix: Float64Array,
        n_jobs: int | None = None,
        leaves: Int32Array | None = None,
    ) -> Float64Array:
        """Return the mean over trees of their shrunk class probabilities, see `shrinkage.vote`.

        The leaf of each sample in each tree may be given if it is known already.
        """
        return self._proba(X, n_classes, strengths, mix, None, n_jobs, leaves)

    def proba_and_values(
        self,
        X: Float64Array,
        n_classes: int,
        strengths: Float64Array,
        mix: Float64Array,
        values: Sequence[Float32Array],
        n_jobs: int | None = None,
        leaves: Int32Array | None = None,
    ) -> tuple[Float64Array, Float64Array]:
        """Return the result of `proba`, and the mean over trees of some values by node at the leaf of each sample."""
        both = self._proba(X, n_classes + 1, strengths, mix, values, n_jobs, leaves)
        return np.ascontiguousarray(both[:, :n_classes]), both[:, n_classes]

    def _proba(
        self,
        X: Float64Array,
        n_columns: int,
        strengths: Float64Array,
        mix: Float64Array,
        values: Sequence[Float32Array] | None,
        n_jobs: int | None,
        leaves: Int32Array | None,
    ) -> Float64Array:
        proba, trees = np.zeros((len(X), n_columns)), [tree.sums for tree in self.trees]

        def add(part: slice) -> None:
            reached = None if leaves is None else leaves[:, part]
            shrinkage.vote(trees, strengths, mix, X[part], proba[part], values, reached)

        in_parts(add, len(X), n_jobs, is_even=True)  # few parts: each makes tables of its own
        proba /= len(self)
        return proba

    def proba_from(self, leaves: Int32Array, n_classes: int, strengths: Float64Array) -> Float64Array:
        """Return the result of `proba` for each strength alone, for samples whose leaves are known already."""
        proba = np.zeros((len(strengths), len(leaves[0]), n_classes))
        shrinkage.vote_each([tree.sums for tree in self.trees], leaves, strengths, proba)
        proba /= len(self)
        return proba

    def recency(
        self, young: slice | Int64Array, expected: float, n_jobs: int | None, weight: Float64Array | None = None
    ) -> tuple[Float32Array, ...]:
        """Return for each tree the recency of its nodes, given the rows of recent samples; see `counting.recency`."""

        def measure(work: tuple[Tree, Int32Array]) -> Float32Array:
            sums = work[0].sums
            return counting.recency(sums.order, sums.parent, sums.total, work[1][young], expected, weight)

        return tuple(in_threads(measure, zip(self.trees, self.leaf_of, strict=True), n_jobs))

    def answer_from(self, leaves: Iterable[Int32Array], n_classes: int, n_samples: int, *, soft: bool) -> Float64Array:
        """Return the result of `answer` for samples whose leaf in each tree is known already."""
        votes = np.zeros((n_samples, n_classes))
        for tree, leaf in zip(self.trees, leaves, strict=True):
            tree.vote_from(leaf, votes, soft=soft)
        return votes

    def paths(self, X: Float64Array) -> tuple[csr_matrix, Int64Array]:
        """Return the decision paths, trees side by side (samples x nodes), and the first column of each tree."""
        starts = np.cumsum([0, *(len(tree.nodes) for tree in self.trees)])
        rows, columns = [], []
        for tree, start in zip(self.trees, starts[:-1], strict=True):
            node, row = tree.route(X), np.arange(len(X))
            while len(node):
                rows.append(row)
                columns.append(node + start)
                above = tree.sums.parent[node]
                node, row = above[above >= 0], row[above >= 0]
        row, column = np.concatenate(rows), np.concatenate(columns)
        return csr_matrix((np.ones(len(row), dtype=np.int8), (row, column)), shape=(len(X), starts[-1])), starts

    def with_trees(self, changed: Mapping[int, Tree]) -> "Forest":
        """Return the forest with some trees replaced, given by the id of those that they replace."""
        return replace(self, trees=tuple(changed.get(id(tree), tree) for tree in self.trees))

    def keep(self, kept: Int64Array) -> "Forest":
        """Return the forest after memory kept only the samples of the given rows, ascending."""
        return Forest(self.trees, tuple(take(leaf_of, kept) for leaf_of in self.leaf_of), take(self.known, kept))

    def forget(self) -> "Forest":
        """Return the forest without leaves of samples."""
        nowhere = np.full(len(self.known), -1, dtype=np.int32)
        return Forest(self.trees, (nowhere,) * len(self.leaf_of), np.zeros_like(self.known))


def as_proba(votes: Float64Array) -> Float64Array:
    """Return votes scaled to class probabilities; uniform where there are no votes."""
    votes[~votes.any(axis=1)] = 1.0
    proba: Float64Array = votes / votes.sum(axis=1, keepdims=True)
    return proba
