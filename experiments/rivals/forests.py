"""Rivals made of our own random forest: refitted on a window of batches, or with trees added for every batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adforest.base import EncodedBatch, FittedModel, StateT
from adforest.forest import Forest, GrowthParams, Samples, Tree
from adforest.forest.types import Float64Array, Int32Array
from adforest.growers import Grower, RandomForestGrower, TreeRequest, count_features
from adforest.parallel import spawn_seeds
from adforest.parameters import AT_LEAST_ONE, COMMON, Rules
from experiments.rivals.base import Rival


class ForestRival(Rival[StateT]):
    """A rival whose state is, or holds, a forest of our own trees; they vote softly."""

    max_features: str | float | None
    min_samples_leaf: int
    n_jobs: int | None

    def _forest_of(self, state: StateT) -> Forest:
        """Return the forest that answers."""
        raise NotImplementedError

    def _grower(self, n_features: int) -> Grower:
        """Return who builds the trees."""
        return RandomForestGrower(GrowthParams(count_features(self.max_features, n_features), self.min_samples_leaf))

    def _grown(self, samples: Samples, seeds: list[int]) -> Forest:
        """Grow a forest from all of the samples."""
        everything = np.arange(len(samples), dtype=np.int32)
        grown = self._grower(samples.X.shape[1]).build(TreeRequest(samples, everything, seeds, n_jobs=self.n_jobs))
        return forest_of(tree for tree, _ in grown)

    def _votes(self, model: FittedModel[StateT], X: Float64Array) -> Float64Array:
        n_classes = len(model.labels.by_arrival)
        return self._forest_of(model.state).answer(X, n_classes, soft=True, n_jobs=self.n_jobs)

    @property
    def forest_(self) -> Forest:
        """The forest that answers."""
        return self._forest_of(self._known("forest_").state)


Batches = tuple[tuple[Float64Array, Int32Array], ...]


def keep_batches(before: Batches, batch: Samples, window: int | None) -> Batches:
    """Return the last batches, one more among them; all of them if there is no window.

    The new one is copied: its matrix may be the caller's own array, which is free to change after the call.
    """
    batches = (*before, (batch.X.copy(), batch.y))
    return batches if window is None else batches[-window:]


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """The batches at hand, and the forest grown from them."""

    batches: Batches
    forest: Forest


class RefitForestClassifier(ForestRival[Refit]):
    """Random forest refitted for every batch: on the batch, on the last few, or on everything.

    Parameters
    ----------
    n_estimators : int, default=10
        Trees.
    window : int or None, default=1
        Batches it is refitted on, the last ones; None keeps all of them. What falls out of the window is forgotten,
        though its classes stay in ``classes_``.
    max_features : {"default", "log2", "log2+1", "sqrt"}, int, float or None, default="default"
        Attributes tried at each node; "log2+1" is int(log2 m) + 1,
        "default" that or int(sqrt m), whichever is more, the rest as in scikit-learn.
    min_samples_leaf : int, default=1
        Samples a leaf must keep.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
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
    forest_ : Forest

    Examples
    --------
    >>> from experiments.rivals import RefitForestClassifier
    >>> model = RefitForestClassifier(window=None, random_state=0)
    >>> model = model.partial_fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> model = model.partial_fit([[50], [60]], ["huge", "huge"])
    >>> model.predict([[1.5], [55]]).tolist()
    ['low', 'huge']
    """

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        window: int | None = 1,
        max_features: str | float | None = "default",
        min_samples_leaf: int = 1,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.window = window
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learnt_from(self, before: Refit | None, encoded: EncodedBatch) -> Refit:
        batch = encoded.samples
        batches = keep_batches(before.batches if before else (), batch, self.window)
        X, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
        # Samples are numbered afresh: a refit is the very forest that fit() makes of the same samples.
        serial = np.arange(len(y), dtype=np.int64)
        window = Samples(X, y, serial, batch.n_categories, batch.n_classes)
        return Refit(batches, self._grown(window, spawn_seeds([encoded.seed], self.n_estimators)))

    def _forest_of(self, state: Refit) -> Forest:
        return state.forest


class AddTreesForestClassifier(ForestRival[Forest]):
    """Random forest that grows new trees on every batch and drops none; all of them vote.

    Ten lines and no memory of samples: what any cleverer method must visibly beat. A tree never votes for classes
    that came after it, so a new class needs several batches to be heard among many old trees.

    Parameters
    ----------
    trees_per_batch : int, default=10
        Trees grown on every batch.
    max_features : {"default", "log2", "log2+1", "sqrt"}, int, float or None, default="default"
        Attributes tried at each node; "log2+1" is int(log2 m) + 1,
        "default" that or int(sqrt m), whichever is more, the rest as in scikit-learn.
    min_samples_leaf : int, default=1
        Samples a leaf must keep.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
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
    forest_ : Forest
        All trees, in order of arrival.

    Examples
    --------
    >>> from experiments.rivals import AddTreesForestClassifier
    >>> model = AddTreesForestClassifier(trees_per_batch=5, random_state=0)
    >>> model = model.partial_fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> model = model.partial_fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> len(model.forest_), model.predict([[1.5], [8.5]]).tolist()
    (10, ['low', 'high'])
    """

    _rules: ClassVar[Rules] = COMMON | {"trees_per_batch": (AT_LEAST_ONE,)}

    def __init__(
        self,
        trees_per_batch: int = 10,
        *,
        max_features: str | float | None = "default",
        min_samples_leaf: int = 1,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.trees_per_batch = trees_per_batch
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learnt_from(self, before: Forest | None, encoded: EncodedBatch) -> Forest:
        new = self._grown(encoded.samples, encoded.seeds(self.trees_per_batch))
        return new if before is None else forest_of((*before.trees, *new.trees))

    def _forest_of(self, state: Forest) -> Forest:
        return state


def forest_of(trees: Any) -> Forest:
    """Return a forest that remembers no samples."""
    trees = tuple[Tree, ...](trees)
    nowhere: Int32Array = np.empty(0, dtype=np.int32)
    return Forest(trees, (nowhere,) * len(trees), np.empty(0, dtype=bool))
