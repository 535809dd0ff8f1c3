"""River's stream learners behind the face of the other rivals."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from adforest.base import EncodedBatch, FittedModel, VotingBatchClassifier
from adforest.encoding import TableEncoder
from adforest.forest.types import Float64Array
from adforest.libraries import require
from adforest.parameters import COMMON, OneOf, Rules

MODELS = (
    "adaptive_random_forest",
    "hoeffding_adaptive_tree",
    "hoeffding_tree",
    "knn",
    "leveraging_bagging",
    "mondrian_forest",
    "oza_bagging",
    "streaming_random_patches",
)
NUMBERS_ONLY = ("knn", "mondrian_forest")
LARGEST_SEED = 2**31


class RiverClassifier(VotingBatchClassifier[Any]):
    """A learner of River 0.26, fed one sample after the other, class values by value.

    ============================  =====================================================================  ==========
    ``model``                     what it is in River, with River's own defaults                         categories
    ============================  =====================================================================  ==========
    ``hoeffding_tree``            ``tree.HoeffdingTreeClassifier`` (HT)                                  yes
    ``hoeffding_adaptive_tree``   ``tree.HoeffdingAdaptiveTreeClassifier`` (HAT)                         yes
    ``adaptive_random_forest``    ``forest.ARFClassifier`` (ARF)                                         yes
    ``streaming_random_patches``  ``ensemble.SRPClassifier`` (SRP)                                       yes
    ``mondrian_forest``           ``preprocessing.StandardScaler | forest.AMFClassifier`` (AMF)          no
    ``knn``                       ``preprocessing.StandardScaler | neighbors.KNNClassifier`` (KNN)       no
    ``leveraging_bagging``        ``ensemble.LeveragingBaggingClassifier`` of Hoeffding trees            yes
    ``oza_bagging``               ``ensemble.BaggingClassifier`` of Hoeffding trees (OzaBag)             yes
    ============================  =====================================================================  ==========

    All of them learn a class whenever it first appears. Needs ``pip install 'adforest[experiments]'``.

    Parameters
    ----------
    model : str, default="hoeffding_tree"
        One of the names above.
    n_estimators : int, default=10
        Trees, for the models that have several.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
    random_state : int, RandomState or None, default=None
        Seed of all draws: the same seed and the same batches make the same model. None draws one with the first batch.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    river_model_ : river.base.Classifier
        The learner itself.

    Notes
    -----
    A missing value is left out of the sample, which River's trees cope with. SRP takes the columns of its very first
    sample for all there are. AMF and KNN expect attributes of like ranges; River's manual scales them to [0, 1], but
    that moves all that was learnt whenever a new class widens a range, and standard scores did better.

    A batch is learnt by a copy of the learner, so that an error leaves it as it was.

    Examples
    --------
    >>> from experiments.rivals import RiverClassifier
    >>> X, y = [[1], [2], [8], [9]] * 20, ["low", "low", "high", "high"] * 20
    >>> model = RiverClassifier("hoeffding_tree").partial_fit(X, y)  # doctest: +SKIP
    >>> model = model.partial_fit([[50], [60]] * 20, ["huge", "huge"] * 20)  # doctest: +SKIP
    >>> model.predict([[1.5], [55]]).tolist()  # doctest: +SKIP
    ['low', 'huge']
    """

    _rules: ClassVar[Rules] = COMMON | {"model": (OneOf(*MODELS),)}

    def __init__(
        self,
        model: str = "hoeffding_tree",
        n_estimators: int = 10,
        *,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.random_state = random_state

    @property
    def _takes_categories(self) -> bool:  # type: ignore[override]
        return bool(self.model not in NUMBERS_ONLY)

    def _learnt_from(self, before: Any, encoded: EncodedBatch) -> Any:
        learner = self._new(encoded.seed % LARGEST_SEED) if before is None else copy.deepcopy(before)
        values = encoded.labels.by_arrival[encoded.samples.y].tolist()
        for sample, value in zip(_as_dicts(encoded.samples.X, encoded.encoder), values, strict=True):
            learner.learn_one(sample, value)
        return learner

    def _new(self, seed: int) -> Any:
        """Return a learner that knows nothing."""
        river = {room: self._river(room) for room in ("ensemble", "forest", "neighbors", "preprocessing", "tree")}
        several = {"n_models": self.n_estimators, "seed": seed}
        if self.model == "hoeffding_tree":
            return river["tree"].HoeffdingTreeClassifier()
        if self.model == "hoeffding_adaptive_tree":
            return river["tree"].HoeffdingAdaptiveTreeClassifier(seed=seed)
        if self.model == "adaptive_random_forest":
            return river["forest"].ARFClassifier(**several)
        if self.model == "streaming_random_patches":
            return river["ensemble"].SRPClassifier(**several)
        if self.model == "mondrian_forest":
            forest = river["forest"].AMFClassifier(n_estimators=self.n_estimators, seed=seed)
            return river["preprocessing"].StandardScaler() | forest
        if self.model == "knn":
            neighbours = river["neighbors"].KNNClassifier(engine=river["neighbors"].SWINN(seed=seed))
            return river["preprocessing"].StandardScaler() | neighbours
        bagging = {"leveraging_bagging": "LeveragingBaggingClassifier", "oza_bagging": "BaggingClassifier"}[self.model]
        return getattr(river["ensemble"], bagging)(river["tree"].HoeffdingTreeClassifier(), **several)

    def _river(self, room: str) -> Any:
        """Return one of River's packages."""
        return require(f"river.{room}", type(self).__name__, "experiments")

    def _votes(self, model: FittedModel[Any], X: Float64Array) -> Float64Array:
        votes = np.zeros((len(X), len(model.labels.by_arrival)))
        code = {value: code for code, value in enumerate(model.labels.by_arrival.tolist())}
        for row, sample in zip(votes, _as_dicts(X, model.encoder), strict=True):
            for value, share in model.state.predict_proba_one(sample).items():
                row[code[value]] = share
        return votes

    @property
    def river_model_(self) -> Any:
        """The learner itself."""
        return self._known("river_model_").state


def _as_dicts(X: Float64Array, encoder: TableEncoder) -> Iterator[dict[int, Any]]:
    """Yield samples as River reads them: by column, categories as text, what is missing left out."""
    nominal = np.flatnonzero(encoder.is_categorical).tolist()
    categories = {j: list(map(str, encoder.category_values(j))) for j in nominal}
    for values in X.tolist():
        sample = {j: value for j, value in enumerate(values) if value == value}
        for j in categories.keys() & sample.keys():
            sample[j] = categories[j][int(sample[j])]
        yield sample
