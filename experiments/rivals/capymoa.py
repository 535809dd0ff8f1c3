"""MOA's stream learners, through CapyMOA, behind the face of the other rivals."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from adforest.base import EncodedBatch, FittedModel, VotingBatchClassifier
from adforest.encoding import TableEncoder
from adforest.forest.types import Float64Array
from adforest.libraries import require
from adforest.parameters import AT_LEAST_ONE, COMMON, NONE, OneOf, Rules


class MOALearner(NamedTuple):
    """A learner of MOA: its Java class below ``moa.classifiers``, its options, and MOA's default of the grace period.

    The options say what MOA would take by default, but for the number of trees and the grace period.
    """

    java_class: str
    options: str
    grace_period: int


MODELS = {
    "HT": MOALearner("trees.HoeffdingTree", "-g {grace_period}", 200),
    "HAT": MOALearner("trees.HoeffdingAdaptiveTree", "-g {grace_period}", 200),
    "OzaBag": MOALearner("meta.OzaBag", "-s {n_estimators} -l (trees.HoeffdingTree -g {grace_period})", 200),
    "LeveragingBag": MOALearner(
        "meta.LeveragingBag", "-s {n_estimators} -l (trees.HoeffdingTree -g {grace_period})", 200
    ),
    "ARF": MOALearner(
        "meta.AdaptiveRandomForest",
        "-s {n_estimators} -l (ARFHoeffdingTree -e 2000000 -g {grace_period} -c 0.01)",
        50,
    ),
    "SRP": MOALearner(
        "meta.StreamingRandomPatches", "-s {n_estimators} -l (trees.HoeffdingTree -g {grace_period} -c 0.01)", 50
    ),
}
UNCOPIED = "SRP"  # MOA marks its members as not serialisable
ROOM = 100  # classes, and categories of a column, that MOA's header has room for at least


class CapyMOAClassifier(VotingBatchClassifier["Learner"]):
    """A learner of MOA, given one sample after the other, with MOA's defaults.

    ===================  =====================================  ========================
    ``model``            its class in MOA                       grace period by default
    ===================  =====================================  ========================
    ``"HT"``             ``trees.HoeffdingTree``                200
    ``"HAT"``            ``trees.HoeffdingAdaptiveTree``        200
    ``"OzaBag"``         ``meta.OzaBag``                        200
    ``"LeveragingBag"``  ``meta.LeveragingBag``                 200
    ``"ARF"``            ``meta.AdaptiveRandomForest``          50
    ``"SRP"``            ``meta.StreamingRandomPatches``        50
    ===================  =====================================  ========================

    All of them learn a class whenever it first appears: MOA's header, which is fixed when a learner is made, is given
    room for 100 classes, and for as many categories a column, or twice what the first batch has. The room to spare
    changes no answer. Needs ``pip install 'adforest[capymoa]'`` and Java 17 or newer.

    Parameters
    ----------
    model : {"HT", "HAT", "OzaBag", "LeveragingBag", "ARF", "SRP"}, default="HT"
        Which of MOA's learners: Hoeffding tree, adaptive one, bagging of them, adaptive random forest, random patches.
    n_estimators : int, default=10
        Trees, for the models that have several.
    grace_period : int or None, default=None
        Samples that a leaf sees between two attempts to split it, in every tree of the model. None is MOA's default.
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
    moa_model_ : capymoa.base.MOAClassifier
        The learner itself.

    Notes
    -----
    The defaults are those of MOA, not of ``capymoa.classifier``, whose Hoeffding trees split at a confidence of 0.001
    where MOA's ask for 0.0000001, and prune and free memory differently. MOA's command-line options are in
    ``moa_model_.CLI``.

    A batch is learnt by a copy of the learner, so that an error leaves it as it was, and models can be pickled. SRP
    is the exception to both: MOA cannot copy or save it, so it learns in place.

    Examples
    --------
    >>> from experiments.rivals import CapyMOAClassifier
    >>> X, y = [[1], [2], [8], [9]] * 20, ["low", "low", "high", "high"] * 20
    >>> model = CapyMOAClassifier("HT").partial_fit(X, y)  # doctest: +SKIP
    >>> model = model.partial_fit([[50], [60]] * 20, ["huge", "huge"] * 20)  # doctest: +SKIP
    >>> model.predict([[1.5], [55]]).tolist()  # doctest: +SKIP
    ['low', 'huge']
    """

    _rules: ClassVar[Rules] = COMMON | {"model": (OneOf(*MODELS),), "grace_period": (AT_LEAST_ONE, NONE)}

    def __init__(
        self,
        model: str = "HT",
        n_estimators: int = 10,
        *,
        grace_period: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_estimators = n_estimators
        self.grace_period = grace_period
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _learnt_from(self, before: Learner | None, encoded: EncodedBatch) -> Learner:
        if before is None:
            learner = self._new(encoded)
        else:
            before.check_room(encoded)
            learner = before if before.model == UNCOPIED else before.copy()
        learner.train(encoded.samples.X, encoded.samples.y.tolist())
        return learner

    def _new(self, encoded: EncodedBatch) -> Learner:
        """Return a learner that knows nothing, with room for classes and categories to come."""
        require("capymoa.classifier", type(self).__name__, "capymoa", " and Java 17 or newer")
        nominal = np.flatnonzero(encoded.encoder.is_categorical).tolist()
        room = {j: _room(len(encoded.encoder.category_values(j))) for j in nominal}
        room[encoded.encoder.n_features] = _room(encoded.samples.n_classes)
        return Learner(self.model, room, encoded.seed, self.n_estimators, self.grace_period)

    def _votes(self, model: FittedModel[Learner], X: Float64Array) -> Float64Array:
        return model.state.votes(X, len(model.labels.by_arrival))

    @property
    def moa_model_(self) -> Any:
        """The learner itself."""
        return self._known("moa_model_").state.capy


class Learner:
    """One of MOA's learners and the header of its samples; but for SRP, it can be copied and pickled.

    Parameters
    ----------
    model : str
        One of `MODELS`.
    room : dict of int to int
        By nominal column, how many values its header has; the last entry is the class.
    seed : int
    n_estimators : int
    grace_period : int or None
    """

    def __init__(
        self, model: str, room: dict[int, int], seed: int, n_estimators: int, grace_period: int | None = None
    ) -> None:
        self.model, self.room, self.seed = model, room, seed
        self.n_estimators, self.grace_period = n_estimators, grace_period
        target = max(room)
        stream = require("capymoa.stream", "CapyMOAClassifier", "capymoa")
        self.schema = stream.Schema.from_custom(
            features=[str(j) for j in range(target + 1)],
            target=str(target),
            categories={str(j): [str(code) for code in range(n)] for j, n in room.items()},
        )
        moa = MODELS[model]
        options = moa.options.format(n_estimators=n_estimators, grace_period=grace_period or moa.grace_period)
        base, jpype = (require(name, "CapyMOAClassifier", "capymoa") for name in ("capymoa.base", "jpype"))
        java_class = jpype.JClass(f"moa.classifiers.{moa.java_class}")
        self.capy = base.MOAClassifier(java_class, schema=self.schema, CLI=options, random_seed=seed)

    def check_room(self, encoded: EncodedBatch) -> None:
        """Raise if a batch brings more classes or categories than the header has room for."""
        encoder, target = encoded.encoder, max(self.room)
        for j in np.flatnonzero(encoder.is_categorical).tolist():
            if j not in self.room:
                raise TypeError(
                    f"batch {encoded.number} is the first to bring values of column {_name(encoder, j)}, which are "
                    "categories; MOA's header was made for numbers. List it in categorical_features and start a new "
                    "model with fit()."
                )
        for j, n in self.room.items():
            arrived = encoded.samples.n_classes if j == target else len(encoder.category_values(j))
            if arrived > n:
                what = "classes" if j == target else f"categories of column {_name(encoder, j)}"
                raise ValueError(
                    f"batch {encoded.number} brings the number of {what} to {arrived}, but MOA's header was made with "
                    f"room for {n}. Start a new model with fit(), or merge rare ones."
                )

    def train(self, X: Float64Array, y: list[int]) -> None:
        """Learn samples in place, one after the other."""
        instance = require("capymoa.core", "CapyMOAClassifier", "capymoa").LabeledInstance
        for sample, code in zip(X, y, strict=True):
            self.capy.train(instance.from_array(self.schema, sample, code))

    def votes(self, X: Float64Array, n_classes: int) -> Float64Array:
        """Return MOA's votes by class; none where they leave the range of a float."""
        instance = require("capymoa.core", "CapyMOAClassifier", "capymoa").Instance
        votes = np.zeros((len(X), n_classes))
        for row, sample in zip(votes, X, strict=True):
            java = instance.from_array(self.schema, sample).java_instance
            found = np.array(self.capy.moa_learner.getVotesForInstance(java))
            if np.isfinite(found).all():
                row[: len(found)] = found[:n_classes]
        return votes

    def copy(self) -> Learner:
        """Return a copy that learns on its own."""
        return self._around(self.capy.moa_learner.copy())

    def _around(self, moa_learner: Any) -> Learner:
        """Return a learner like this one around another object of MOA."""
        other = Learner(self.model, self.room, self.seed, self.n_estimators, self.grace_period)
        other.capy.moa_learner = moa_learner
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        if self.model == UNCOPIED:
            raise TypeError(
                "CapyMOAClassifier('SRP') cannot be pickled, because MOA cannot save it. Take model='ARF', or "
                "RiverClassifier('streaming_random_patches')."
            )
        encoder = require("jpype", "CapyMOAClassifier", "capymoa").JClass("org.jpype.pickle.Encoder")()
        packed = bytes(encoder.pack(self.capy.moa_learner))
        return _unpickled, (self.model, self.room, self.seed, self.n_estimators, self.grace_period, packed)


def _unpickled(
    model: str, room: dict[int, int], seed: int, n_estimators: int, grace_period: int | None, packed: bytes
) -> Learner:
    """Return the learner that was pickled."""
    learner = Learner(model, room, seed, n_estimators, grace_period)
    decoder = require("jpype", "CapyMOAClassifier", "capymoa").JClass("org.jpype.pickle.Decoder")()
    return learner._around(decoder.unpack(packed))


def _room(n: int) -> int:
    """Return how many values the header is made for when n are known."""
    return max(ROOM, 2 * n)


def _name(encoder: TableEncoder, position: int) -> str:
    """Return the name of a column, or its position."""
    return repr(encoder.feature_names[position]) if encoder.feature_names is not None else str(position)
