"""NCM forest: trees of nearest-class-mean nodes, whose leaves grow when a class arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adforest.base import EncodedBatch, FittedModel
from adforest.forest.types import Float64Array, Int32Array, Int64Array
from adforest.parallel import in_threads
from adforest.parameters import AT_LEAST_ONE, COMMON, Rules
from experiments.rivals.base import NumericalRival
from experiments.rivals.ncm_tree import NCMParams, NCMTree


@dataclass(frozen=True, slots=True, eq=False)
class Grove:
    """Trees, all samples seen, and the leaf of every sample in each tree."""

    trees: tuple[NCMTree, ...]
    X: Float64Array
    y: Int32Array
    leaf_of: tuple[Int64Array, ...]


class NCMForestClassifier(NumericalRival[Grove]):
    """Forest whose nodes send a sample to the side of its nearest class mean.

    A node knows the means of the classes that were there when it was made, each drawn at random to be positive or
    negative; of a few such drawings it keeps the one that gains most entropy. The first batch makes the trees, each
    from a bootstrap sample. A later batch is added to the counts of the leaves it reaches, and a leaf reached by a
    class it has never held grows on, from all samples seen there.

    Parameters
    ----------
    n_estimators : int, default=10
        Trees.
    n_assignments : int, default=10
        Drawings of positive and negative means tried at each node.
    min_samples_leaf : int, default=10
        Samples each side of a node must keep.
    n_jobs : int or None, default=None
        Threads. The forest is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of all draws: the same seed and the same batches make the same model. None draws one with the first batch.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    trees_ : tuple of NCMTree

    Notes
    -----
    Numerical attributes only, Euclidean distances in the attributes' own units, missing values as in `NCMClassifier`.
    All samples are kept, since growing a leaf needs them: memory grows with the stream. The publication lets a node
    know a random subset of the class means; here it knows those of all classes that reach it.

    References
    ----------
    Ristin et al., Incremental learning of NCM forests for large-scale image classification, CVPR 2014.

    Examples
    --------
    >>> from experiments.rivals import NCMForestClassifier
    >>> model = NCMForestClassifier(min_samples_leaf=1, random_state=0)
    >>> model = model.partial_fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> model = model.partial_fit([[50], [60]], ["huge", "huge"])
    >>> model.predict([[1.5], [55]]).tolist()
    ['low', 'huge']
    """

    _rules: ClassVar[Rules] = COMMON | {"n_assignments": (AT_LEAST_ONE,)}

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        n_assignments: int = 10,
        min_samples_leaf: int = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_assignments = n_assignments
        self.min_samples_leaf = min_samples_leaf
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learnt_from(self, before: Grove | None, encoded: EncodedBatch) -> Grove:
        batch, params = encoded.samples, NCMParams(self.n_assignments, self.min_samples_leaf)
        if before is None:
            X, y = batch.X.copy(), batch.y
            seeds = encoded.seeds(self.n_estimators)
            grown = in_threads(lambda seed: _built(X, y, batch.n_classes, params, seed), seeds, self.n_jobs)
        else:
            X, y = np.concatenate([before.X, batch.X]), np.concatenate([before.y, batch.y])
            work = zip(before.trees, before.leaf_of, encoded.seeds(len(before.trees)), strict=True)
            grown = in_threads(lambda one: _extended(*one, X, y, batch.n_classes, params), work, self.n_jobs)
        trees, leaf_of = zip(*grown, strict=True)
        return Grove(trees, X, y, leaf_of)

    def _votes(self, model: FittedModel[Grove], X: Float64Array) -> Float64Array:
        answers = in_threads(lambda tree: tree.vote(X), model.state.trees, self.n_jobs)
        votes: Float64Array = np.sum(answers, axis=0)
        return np.pad(votes, ((0, 0), (0, len(model.labels.by_arrival) - votes.shape[1])))

    @property
    def trees_(self) -> tuple[NCMTree, ...]:
        """The trees."""
        return self._known("trees_").state.trees


def _built(X: Float64Array, y: Int32Array, n_classes: int, params: NCMParams, seed: int) -> tuple[NCMTree, Int64Array]:
    """Build a tree from a bootstrap sample; its leaves then hold every sample once."""
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.integers(0, len(y), len(y)))
    tree = NCMTree.bare(n_classes).grown({0: drawn}, X, y, params, rng)
    leaf_of = tree.route(X)
    return NCMTree(tree.rules, np.zeros_like(tree.counts)).counting(leaf_of, y, n_classes), leaf_of


def _extended(
    tree: NCMTree, leaf_of: Int64Array, seed: int, X: Float64Array, y: Int32Array, n_classes: int, params: NCMParams
) -> tuple[NCMTree, Int64Array]:
    """Add the samples that leaf_of does not cover yet to a tree; grow the leaves that meet a class new to them."""
    start = len(leaf_of)
    reached = tree.route(X[start:])
    counted = tree.counting(reached, y[start:], n_classes)
    held = np.pad(tree.counts, ((0, 0), (0, n_classes - tree.counts.shape[1]))) > 0
    growing = np.unique(reached[~held[reached, y[start:]]])
    leaf_of = np.concatenate([leaf_of, reached])
    groups = _by_leaf(leaf_of, growing)
    grown = counted.grown(groups, X, y, params, np.random.default_rng(seed))
    moved = np.concatenate([np.empty(0, dtype=np.int64), *groups.values()])
    leaf_of[moved] = grown.route(X[moved])
    return grown, leaf_of


def _by_leaf(leaf_of: Int64Array, leaves: Int64Array) -> dict[int, Int64Array]:
    """Return the samples in each of the given leaves."""
    rows = np.flatnonzero(np.isin(leaf_of, leaves))
    rows = rows[np.argsort(leaf_of[rows], kind="stable")]
    starts = np.searchsorted(leaf_of[rows], leaves[1:])
    return dict(zip(leaves.tolist(), np.split(rows, starts), strict=False))
