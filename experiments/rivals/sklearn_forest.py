"""scikit-learn's random forest refitted on a window of batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from adforest.base import EncodedBatch, FittedModel, VotingBatchClassifier
from adforest.forest.types import Float64Array
from experiments.rivals.forests import Batches, keep_batches


@dataclass(frozen=True, slots=True, eq=False)
class RefitSklearn:
    """The batches at hand, and scikit-learn's forest of them."""

    batches: Batches
    forest: Any


class SklearnForestClassifier(VotingBatchClassifier[RefitSklearn]):
    """scikit-learn's random forest refitted for every batch: on the batch, on the last few, or on everything.

    Its trees cut numbers only: categories are numbered in the order in which they first came, and cut like numbers.

    Parameters
    ----------
    n_estimators : int, default=10
        Trees.
    window : int or None, default=1
        Batches it is refitted on, the last ones; None keeps all of them. What falls out of the window is forgotten,
        though its classes stay in ``classes_``.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
    n_jobs : int or None, default=None
        Threads.
    random_state : int, RandomState or None, default=None
        Seed of all draws: the same seed and the same batches make the same model. None draws one with the first batch.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    forest_ : sklearn.ensemble.RandomForestClassifier
        Its classes are codes, numbered in the order in which they first came.

    Notes
    -----
    Everything else is scikit-learn's default: Gini's index, the square root of the attributes at each node.

    Examples
    --------
    >>> from experiments.rivals import SklearnForestClassifier
    >>> model = SklearnForestClassifier(window=None, random_state=0)
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
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.window = window
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learnt_from(self, before: RefitSklearn | None, encoded: EncodedBatch) -> RefitSklearn:
        batches = keep_batches(before.batches if before else (), encoded.samples, self.window)
        X, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
        forest = RandomForestClassifier(self.n_estimators, n_jobs=self.n_jobs, random_state=encoded.seed)
        return RefitSklearn(batches, forest.fit(X, y))

    def _votes(self, model: FittedModel[RefitSklearn], X: Float64Array) -> Float64Array:
        votes = np.zeros((len(X), len(model.labels.by_arrival)))
        votes[:, model.state.forest.classes_] = model.state.forest.predict_proba(X)
        return votes

    @property
    def forest_(self) -> Any:
        """The forest that answers."""
        return self._known("forest_").state.forest
