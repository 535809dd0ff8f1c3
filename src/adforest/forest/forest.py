"""A forest: trees, and which leaf of each tree every sample in memory is in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from adforest.forest._kernels import counting, shrinkage
from adforest.forest._kernels.rows import take
from adforest.forest.tree import Tree
from adforest.forest.types import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from adforest.parallel import PART_SIZE, in_parts, in_threads


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees that answer together.

    Attributes
    ----------
    trees : tuple of Tree
    leaf_of : tuple of int32 arrays
        For each tree the leaf of every sample in memory, -1 for samples that do not count in the tree; none at all
        where nobody asks, since a forest is not to be repaired.
    known : bool array
        Which samples in memory the forest has learnt.
    """

    trees: tuple[Tree, ...]
    leaf_of: tuple[Int32Array, ...]
    known: BoolArray

    def __len__(self) -> int:
        return len(self.trees)

    @property
    def n_leaves(self) -> int:
        """Leaves of all trees."""
        return sum(tree.n_leaves for tree in self.trees)

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return sum(len(tree.nodes) for tree in self.trees)

    def route(self, X: Float64Array, n_jobs: int | None = None) -> Int32Array:
        """Return the leaf of each sample in each tree, (n_trees, n); threads share out trees where samples are many."""
        leaf, trees = np.empty((len(self), len(X)), dtype=np.int32), [tree.sums for tree in self.trees]
        if len(X) < 2 * PART_SIZE:
            shrinkage.route(trees, X, leaf)
        else:
            in_threads(lambda k: shrinkage.route(trees[k : k + 1], X, leaf[k : k + 1]), range(len(self)), n_jobs)
        return leaf

    def knows(self, n_classes: int) -> BoolArray:
        """Return which classes some tree has met."""
        known = np.zeros(n_classes, dtype=bool)
        for tree in self.trees:
            known[tree.row_class] = True
            if known.all():
                break
        return known

    def answer(self, X: Float64Array, n_classes: int, *, soft: bool, n_jobs: int | None = None) -> Float64Array:
        """Return the sum of the trees' answers by class, at most one a tree and sample."""
        votes = np.zeros((len(X), n_classes))

        def vote(part: slice) -> None:
            for tree in self.trees:
                tree.vote(X[part], votes[part], soft=soft)

        in_parts(vote, len(X), n_jobs)
        return votes

    def shares(
        self,
        X: Float64Array,
        n_classes: int,
        strengths: Float64Array,
        mix: Float64Array,
        n_jobs: int | None = None,
        leaves: Int32Array | None = None,
    ) -> Float64Array:
        """Return the mean over trees of their shrunk class shares, see `shrinkage.vote`.

        Where the leaf of each sample in each tree is known already, it may be given.
        """
        return self._shares(X, n_classes, strengths, mix, None, n_jobs, leaves)

    def shares_and_values(
        self,
        X: Float64Array,
        n_classes: int,
        strengths: Float64Array,
        mix: Float64Array,
        values: Sequence[Float32Array],
        n_jobs: int | None = None,
        leaves: Int32Array | None = None,
    ) -> tuple[Float64Array, Float64Array]:
        """Return what `shares` does, and the mean over trees of some values by node at the leaf of each sample."""
        both = self._shares(X, n_classes + 1, strengths, mix, values, n_jobs, leaves)
        return np.ascontiguousarray(both[:, :n_classes]), both[:, n_classes]

    def _shares(
        self,
        X: Float64Array,
        n_columns: int,
        strengths: Float64Array,
        mix: Float64Array,
        values: Sequence[Float32Array] | None,
        n_jobs: int | None,
        leaves: Int32Array | None,
    ) -> Float64Array:
        shares, trees = np.zeros((len(X), n_columns)), [tree.sums for tree in self.trees]

        def add(part: slice) -> None:
            reached = None if leaves is None else leaves[:, part]
            shrinkage.vote(trees, strengths, mix, X[part], shares[part], values, reached)

        in_parts(add, len(X), n_jobs, is_even=True)  # few parts: each makes tables of its own
        shares /= len(self)
        return shares

    def shares_from(self, leaves: Int32Array, n_classes: int, strengths: Float64Array) -> Float64Array:
        """Return what `shares` does for each strength alone, for samples whose leaf in each tree is known already."""
        shares = np.zeros((len(strengths), len(leaves[0]), n_classes))
        shrinkage.vote_each([tree.sums for tree in self.trees], leaves, strengths, shares)
        shares /= len(self)
        return shares

    def find_sums(self, n_jobs: int | None) -> None:
        """Find the class weights of all nodes now, so that the first to ask does not wait for them."""
        in_threads(lambda tree: tree.sums, self.trees, n_jobs)

    def nearness(
        self, young: slice | Int64Array, expected: float, n_jobs: int | None, weight: Float64Array | None = None
    ) -> tuple[Float32Array, ...]:
        """Return for each tree how near its nodes are to the samples at some places, see `counting.nearness`."""

        def measure(work: tuple[Tree, Int32Array]) -> Float32Array:
            sums = work[0].sums
            return counting.nearness(sums.order, sums.parent, sums.total, work[1][young], expected, weight)

        return tuple(in_threads(measure, zip(self.trees, self.leaf_of, strict=True), n_jobs))

    def answer_from(self, leaves: Iterable[Int32Array], n_classes: int, n_samples: int, *, soft: bool) -> Float64Array:
        """Return what `answer` returns for samples whose leaf in each tree is known already."""
        votes = np.zeros((n_samples, n_classes))
        for tree, leaf in zip(self.trees, leaves, strict=True):
            tree.vote_from(leaf, votes, soft=soft)
        return votes

    def paths(self, X: Float64Array) -> tuple[csr_matrix, Int64Array]:
        """Return which nodes samples pass, trees side by side (samples x nodes), and where each tree begins."""
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
        """Return the forest with other trees in the place of some, given by the id of those that they replace."""
        return replace(self, trees=tuple(changed.get(id(tree), tree) for tree in self.trees))

    def keep(self, kept: Int64Array) -> "Forest":
        """Return the forest after memory kept only the samples at the given positions, ascending."""
        return Forest(self.trees, tuple(take(leaf_of, kept) for leaf_of in self.leaf_of), take(self.known, kept))

    def forget(self) -> "Forest":
        """Return the forest with no sample known to any leaf."""
        nowhere = np.full(len(self.known), -1, dtype=np.int32)
        return Forest(self.trees, (nowhere,) * len(self.leaf_of), np.zeros_like(self.known))
