"""MOA's stream learners, through CapyMOA, behind the face of the other rivals."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adforest.base import EncodedBatch, Model, VotingBatchClassifier
from adforest.encoding import TableEncoder
from adforest.forest.types import Floats
from adforest.libraries import require
from adforest.parameters import COMMON, OneOf, Rules

MODELS = {
    "HT": "HoeffdingTree",
    "HAT": "HoeffdingAdaptiveTree",
    "OzaBag": "OnlineBagging",
    "LeveragingBag": "LeveragingBagging",
    "ARF": "AdaptiveRandomForestClassifier",
    "SRP": "StreamingRandomPatches",
}
SINGLE = {"HT", "HAT"}
UNCOPIED = "StreamingRandomPatches"  # MOA marks its members as not serialisable
ROOM = 100  # classes, and categories of a column, that MOA's header has room for at least


class CapyMOAClassifier(VotingBatchClassifier["Learner"]):
    """A learner of MOA, fed one record after the other, class values by value.

    ===================  ====================================================================
    ``model``            what it is in ``capymoa.classifier`` 0.15, with CapyMOA's defaults
    ===================  ====================================================================
    ``"HT"``             ``HoeffdingTree``
    ``"HAT"``            ``HoeffdingAdaptiveTree``
    ``"OzaBag"``         ``OnlineBagging``
    ``"LeveragingBag"``  ``LeveragingBagging``
    ``"ARF"``            ``AdaptiveRandomForestClassifier``
    ``"SRP"``            ``StreamingRandomPatches``
    ===================  ====================================================================

    All of them learn a class whenever it first appears: MOA's header, which is fixed when a learner is made, is given
    room for 100 classes, and for as many categories a column, or twice what the first batch has. The room to spare
    changes no answer. Needs ``pip install 'adforest[capymoa]'`` and Java 17 or newer.

    Parameters
    ----------
    model : {"HT", "HAT", "OzaBag", "LeveragingBag", "ARF", "SRP"}, default="HT"
        Which of MOA's learners: Hoeffding tree, adaptive one, bagging of them, adaptive random forest, random patches.
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
    moa_model_ : capymoa.base.MOAClassifier
        The learner itself.

    Notes
    -----
    A batch is learnt by a copy of the learner, so that an error leaves it as it was, and models can be pickled. SRP
    is the exception to both: MOA cannot copy or save it, so it learns in place.

    Examples
    --------
    >>> from adforest.rivals import CapyMOAClassifier
    >>> X, y = [[1], [2], [8], [9]] * 20, ["low", "low", "high", "high"] * 20
    >>> model = CapyMOAClassifier("HT").partial_fit(X, y)  # doctest: +SKIP
    >>> model = model.partial_fit([[50], [60]] * 20, ["huge", "huge"] * 20)  # doctest: +SKIP
    >>> model.predict([[1.5], [55]]).tolist()  # doctest: +SKIP
    ['low', 'huge']
    """

    _rules: ClassVar[Rules] = COMMON | {"model": (OneOf(*MODELS),)}

    def __init__(
        self,
        model: str = "HT",
        n_estimators: int = 10,
        *,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _learnt_from(self, before: Learner | None, encoded: EncodedBatch) -> Learner:
        if before is None:
            learner = self._new(encoded)
        else:
            before.check_room(encoded)
            learner = before if before.name == UNCOPIED else before.copy()
        learner.train(encoded.records.X, encoded.records.y.tolist())
        return learner

    def _new(self, encoded: EncodedBatch) -> Learner:
        """Return a learner that knows nothing, with room for classes and categories to come."""
        require("capymoa.classifier", type(self).__name__, "capymoa", " and Java 17 or newer")
        nominal = np.flatnonzero(encoded.encoder.is_categorical).tolist()
        room = {j: _room(len(encoded.encoder.category_values(j))) for j in nominal}
        room[encoded.encoder.n_features] = _room(encoded.records.n_classes)
        options = {} if self.model in SINGLE else {"ensemble_size": self.n_estimators}
        return Learner(MODELS[self.model], room, encoded.seed, options)

    def _votes(self, model: Model[Learner], X: Floats) -> Floats:
        return model.learnt.votes(X, len(model.labels.by_arrival))

    @property
    def moa_model_(self) -> Any:
        """The learner itself."""
        return self._known("moa_model_").learnt.capy


class Learner:
    """One of CapyMOA's learners and the header of its records; but for SRP, it can be copied and pickled.

    Parameters
    ----------
    name : str
        Its class in `capymoa.classifier`.
    room : dict of int to int
        By nominal column, how many values its header has; the last entry is the class.
    seed : int
    options : dict
    """

    def __init__(self, name: str, room: dict[int, int], seed: int, options: dict[str, int]) -> None:
        self.name, self.room, self.seed, self.options = name, room, seed, options
        target = max(room)
        stream = require("capymoa.stream", "CapyMOAClassifier", "capymoa")
        self.schema = stream.Schema.from_custom(
            features=[str(j) for j in range(target + 1)],
            target=str(target),
            categories={str(j): [str(code) for code in range(n)] for j, n in room.items()},
        )
        classifier = require("capymoa.classifier", "CapyMOAClassifier", "capymoa")
        self.capy = getattr(classifier, name)(schema=self.schema, random_seed=seed, **options)

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
            arrived = encoded.records.n_classes if j == target else len(encoder.category_values(j))
            if arrived > n:
                what = "classes" if j == target else f"categories of column {_name(encoder, j)}"
                raise ValueError(
                    f"batch {encoded.number} brings the number of {what} to {arrived}, but MOA's header was made with "
                    f"room for {n}. Start a new model with fit(), or merge rare ones."
                )

    def train(self, X: Floats, y: list[int]) -> None:
        """Learn records in place, one after the other."""
        instance = require("capymoa.core", "CapyMOAClassifier", "capymoa").LabeledInstance
        for record, code in zip(X, y, strict=True):
            self.capy.train(instance.from_array(self.schema, record, code))

    def votes(self, X: Floats, n_classes: int) -> Floats:
        """Return MOA's votes by class; none where they leave the range of a float."""
        instance = require("capymoa.core", "CapyMOAClassifier", "capymoa").Instance
        votes = np.zeros((len(X), n_classes))
        for row, record in zip(votes, X, strict=True):
            java = instance.from_array(self.schema, record).java_instance
            found = np.array(self.capy.moa_learner.getVotesForInstance(java))
            if np.isfinite(found).all():
                row[: len(found)] = found[:n_classes]
        return votes

    def copy(self) -> Learner:
        """Return a copy that learns on its own."""
        return self._around(self.capy.moa_learner.copy())

    def _around(self, moa_learner: Any) -> Learner:
        """Return a learner like this one around another object of MOA."""
        other = Learner(self.name, self.room, self.seed, self.options)
        other.capy.moa_learner = moa_learner
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name == UNCOPIED:
            raise TypeError(
                "CapyMOAClassifier('SRP') cannot be pickled, because MOA cannot save it. Take model='ARF', or "
                "RiverClassifier('streaming_random_patches')."
            )
        encoder = require("jpype", "CapyMOAClassifier", "capymoa").JClass("org.jpype.pickle.Encoder")()
        packed = bytes(encoder.pack(self.capy.moa_learner))
        return _unpickled, (self.name, self.room, self.seed, self.options, packed)


def _unpickled(name: str, room: dict[int, int], seed: int, options: dict[str, int], packed: bytes) -> Learner:
    """Return the learner that was pickled."""
    learner = Learner(name, room, seed, options)
    decoder = require("jpype", "CapyMOAClassifier", "capymoa").JClass("org.jpype.pickle.Decoder")()
    return learner._around(decoder.unpack(packed))


def _room(n: int) -> int:
    """Return how many values the header is made for when n are known."""
    return max(ROOM, 2 * n)


def _name(encoder: TableEncoder, position: int) -> str:
    """Return the name of a column, or its position."""
    return repr(encoder.feature_names[position]) if encoder.feature_names is not None else str(position)
