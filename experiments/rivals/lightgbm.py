"""LightGBM continued from its last model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs

from adforest.base import EncodedBatch, FittedModel
from adforest.forest.types import Float64Array
from adforest.libraries import require
from adforest.parameters import AT_LEAST_ONE, COMMON, Rules
from experiments.rivals.base import Rival

NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Boosted:
    """A booster, or the only class there was to learn, the classes it has room for, and how often it started again."""

    booster: Any
    only: int
    n_classes: int
    n_restarts: int


class ContinuedLightGBMClassifier(Rival[Boosted]):
    """LightGBM that goes on boosting its last model with every batch.

    LightGBM's number of classes is fixed when a model is made. A class that was declared, by
    ``partial_fit(X, y, classes=...)`` at the first batch, is learnt when its first sample arrives. **A class that was
    not declared makes it start again** from the batch that brings it: what was learnt before is lost. ``n_restarts_``
    says how often that happened.

    A batch of a single class gives LightGBM nothing to boost: a model that starts with one answers that class until
    more arrive, and any other is left as it was.

    Needs ``pip install 'adforest[experiments]'``.

    Parameters
    ----------
    trees_per_batch : int, default=10
        Rounds of boosting on every batch; a round grows one tree a class.
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
    booster_ : lightgbm.Booster or None
        None as long as there was one class only.
    n_restarts_ : int

    Notes
    -----
    Everything else is LightGBM's default, among it at least 20 samples a leaf: batches of fewer than 40 teach it
    nothing. It starts from equal scores instead of class frequencies, because a declared class without samples would
    start so low that it could not be learnt later.

    Examples
    --------
    >>> from experiments.rivals import ContinuedLightGBMClassifier
    >>> X, y = [[1], [2], [8], [9]] * 20, ["low", "low", "high", "high"] * 20
    >>> model = ContinuedLightGBMClassifier()
    >>> model = model.partial_fit(X, y, classes=["low", "high", "huge"])  # doctest: +SKIP
    >>> model = model.partial_fit([[50], [60], [1]] * 20, ["huge", "huge", "low"] * 20)  # doctest: +SKIP
    >>> model.predict([[1.5], [55]]).tolist(), model.n_restarts_  # doctest: +SKIP
    (['low', 'huge'], 0)
    """

    _rules: ClassVar[Rules] = COMMON | {"trees_per_batch": (AT_LEAST_ONE,)}

    def __init__(
        self,
        trees_per_batch: int = 10,
        *,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.trees_per_batch = trees_per_batch
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learnt_from(self, before: Boosted | None, encoded: EncodedBatch) -> Boosted:
        lightgbm = require("lightgbm", type(self).__name__, "experiments")
        batch = encoded.samples
        n_classes = max(2, batch.n_classes)
        n_restarts = 0 if before is None else before.n_restarts + (before.n_classes != n_classes)
        last = before.booster if before is not None and before.n_classes == n_classes else None
        if (batch.y == batch.y[0]).all():
            only = int(batch.y[0]) if last is None else NONE
            return Boosted(last, only, n_classes, n_restarts)
        data = lightgbm.Dataset(
            batch.X,
            batch.y,
            init_score=np.zeros((len(batch), n_classes)) if last is None else None,
            categorical_feature=np.flatnonzero(encoded.encoder.is_categorical).tolist(),
        )
        options = {
            **{"objective": "multiclass", "num_class": n_classes, "num_threads": effective_n_jobs(self.n_jobs)},
            **{"seed": encoded.seed, "deterministic": True, "force_col_wise": True, "verbosity": -1},
        }
        booster = lightgbm.train(options, data, num_boost_round=self.trees_per_batch, init_model=last)
        return Boosted(booster, NONE, n_classes, n_restarts)

    def _votes(self, model: FittedModel[Boosted], X: Float64Array) -> Float64Array:
        n_classes = len(model.labels.by_arrival)
        if model.state.booster is None:
            return np.tile(np.eye(n_classes)[model.state.only], (len(X), 1))
        shares: Float64Array = model.state.booster.predict(X, num_threads=effective_n_jobs(self.n_jobs))
        return shares[:, :n_classes]

    @property
    def booster_(self) -> Any:
        """The last model."""
        return self._known("booster_").state.booster

    @property
    def n_restarts_(self) -> int:
        """How often a class that was not declared made it start again."""
        return self._known("n_restarts_").state.n_restarts
