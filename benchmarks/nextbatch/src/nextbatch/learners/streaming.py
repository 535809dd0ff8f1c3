"""Learners that go on from sample to sample: River's, MOA's through CapyMOA, and adforest's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nextbatch.encoding import Encoder
from nextbatch.learners.base import Labels

ROOM = 100  # classes and categories that MOA is told of beforehand, at least; it cannot be told later
# Java classes below moa.classifiers, with MOA's own defaults: those of capymoa.classifier differ for Hoeffding trees.
MOA = {
    "ht": ("trees.HoeffdingTree", "-g {grace_period}", 200),
    "hat": ("trees.HoeffdingAdaptiveTree", "-g {grace_period}", 200),
    "oza": ("meta.OzaBag", "{size}-l (trees.HoeffdingTree -g {grace_period})", 200),
    "leveraging": ("meta.LeveragingBag", "{size}-l (trees.HoeffdingTree -g {grace_period})", 200),
    "arf": ("meta.AdaptiveRandomForest", "{size}-l (ARFHoeffdingTree -e 2000000 -g {grace_period} -c 0.01)", 50),
    "srp": ("meta.StreamingRandomPatches", "{size}-l (trees.HoeffdingTree -g {grace_period} -c 0.01)", 50),
}

Sample = dict[Any, Any]


class River:
    """A classifier of River with its own defaults, given one sample after the other.

    Parameters
    ----------
    model : {"ht", "hat", "arf", "srp", "amf", "knn", "leveraging", "oza"}
        Hoeffding tree, adaptive one, adaptive random forest, random patches, Mondrian forest, nearest neighbours,
        leveraging bagging, bagging. The forest of Mondrian trees and the neighbours take standard scores of numbers,
        the others categories as text, too.
    random_state : int
    n_models : int
        Of those that have several.
    """

    def __init__(self, model: str, random_state: int = 0, n_models: int = 10) -> None:
        self.model, self.random_state, self.n_models = model, random_state, n_models

    def reset(self) -> None:
        """Forget everything."""
        from river import ensemble, forest, neighbors, preprocessing, tree

        seed, several = self.random_state, {"n_models": self.n_models, "seed": self.random_state}
        self.learner: Any = {
            "ht": lambda: tree.HoeffdingTreeClassifier(),
            "hat": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=seed),
            "arf": lambda: forest.ARFClassifier(**several),
            "srp": lambda: ensemble.SRPClassifier(**several),
            "amf": lambda: preprocessing.StandardScaler() | forest.AMFClassifier(self.n_models, seed=seed),
            "knn": lambda: preprocessing.StandardScaler() | neighbors.KNNClassifier(engine=neighbors.SWINN(seed=seed)),
            "leveraging": lambda: ensemble.LeveragingBaggingClassifier(tree.HoeffdingTreeClassifier(), **several),
            "oza": lambda: ensemble.BaggingClassifier(tree.HoeffdingTreeClassifier(), **several),
        }[self.model]()

    @staticmethod
    def prepare(X: pd.DataFrame) -> list[Sample]:
        """Return samples as River takes them: categories as text, what is missing left out."""
        names = X.columns.tolist()
        rows = zip(*(X[name].tolist() for name in names), strict=True)
        return [
            {name: value for name, value in zip(names, row, strict=True) if value is not None and value == value}
            for row in rows
        ]

    def learn(self, samples: Iterable[Sample], y: Labels) -> None:
        """Learn prepared samples one by one."""
        for x, label in zip(samples, y.tolist(), strict=True):
            self.learner.learn_one(x, label)

    def predict(self, samples: Iterable[Sample]) -> list[dict[Any, float]]:
        """Return the class probabilities of each of some prepared samples, as River gives them."""
        return [self.learner.predict_proba_one(x) for x in samples]

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Learn a batch."""
        self.learn(self.prepare(X), y)

    def predict_proba(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return class probabilities, of the classes that any sample got some of."""
        found = self.predict(self.prepare(X))
        columns = sorted({label for one in found for label in one}) or [""]
        return pd.DataFrame([[one.get(label, 0.0) for label in columns] for one in found], columns=columns)


class CapyMOA:
    """A classifier of MOA, through CapyMOA. Classes and categories get codes in the order in which they come.

    MOA's header, which is fixed when a learner is made, has room for more of both; room to spare changes no prediction.

    Parameters
    ----------
    model : {"ht", "hat", "oza", "leveraging", "arf", "srp"}
        Hoeffding tree, adaptive one, bagging, leveraging bagging, adaptive random forest, random patches.
    random_state : int
    n_models : int or None
        Of those that have several; None for MOA's default.
    grace_period : int or None
        Samples that a leaf sees between two attempts to split it; None for MOA's default.
    """

    def __init__(
        self, model: str, random_state: int = 0, n_models: int | None = None, grace_period: int | None = None
    ) -> None:
        self.model, self.random_state, self.n_models, self.grace_period = model, random_state, n_models, grace_period

    def reset(self) -> None:
        """Forget everything; MOA's header needs the columns, so the learner is made with the first batch."""
        import capymoa.base  # noqa: F401

        self.encoder = Encoder()
        self.learner: Any = None
        self.classes: dict[Any, int] = {}

    def start(self, n_features: int, room: dict[int, int]) -> None:
        """Make the learner, with room for so many categories of some columns."""
        import jpype
        from capymoa.base import MOAClassifier
        from capymoa.stream import Schema

        self.room = room
        self.schema = Schema.from_custom(
            features=[str(j) for j in range(n_features + 1)],
            target=str(n_features),
            categories={str(j): [str(code) for code in range(n)] for j, n in (room | {n_features: ROOM}).items()},
        )
        name, options, grace_period = MOA[self.model]
        size = f"-s {self.n_models} " if self.n_models else ""
        self.learner = MOAClassifier(
            jpype.JClass(f"moa.classifiers.{name}"),
            schema=self.schema,
            CLI=options.format(size=size, grace_period=self.grace_period or grace_period),
            random_seed=self.random_state,
        )

    def train(self, rows: NDArray[np.float64], y: Sequence[Any]) -> None:
        """Learn rows of numbers one by one."""
        from capymoa.core import LabeledInstance

        for row, label in zip(rows, y, strict=True):
            code = self.classes.setdefault(label, len(self.classes))
            if code >= ROOM:
                raise ValueError(f"the stream has more than {ROOM} classes, for which MOA was given room.")
            self.learner.train(LabeledInstance.from_array(self.schema, row, code))

    def votes(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return MOA's votes by the code of the class; none where they leave the range of a float."""
        from capymoa.core import Instance

        votes = np.zeros((len(rows), ROOM))
        for vote, row in zip(votes, rows, strict=True):
            java = Instance.from_array(self.schema, row).java_instance
            found = np.array(self.learner.moa_learner.getVotesForInstance(java))
            if np.isfinite(found).all():
                vote[: len(found)] = found[:ROOM]
        return votes

    def _rows(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return samples as numbers; MOA's NaN is missing, and so is a category beyond the room."""
        values = self.encoder.transform(X)
        for j, room in self.room.items():
            values[values[:, j] >= room, j] = np.nan
        return values

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Learn samples one by one."""
        self.encoder.learn(X)
        if self.learner is None:
            codes = self.encoder.codes
            room = {j: max(ROOM, 2 * len(codes[name])) for j, name in enumerate(X.columns) if name in codes}
            self.start(X.shape[1], room)
        for label in sorted(set(y.tolist())):
            self.classes.setdefault(label, len(self.classes))
        self.train(self._rows(X), y.tolist())

    def predict_proba(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return class probabilities: MOA's votes by class."""
        return pd.DataFrame(self.votes(self._rows(X))[:, : len(self.classes)], columns=list(self.classes))


class Adforest:
    """adforest's AdaptiveDecisionForestClassifier with its defaults."""

    def __init__(self, random_state: int = 0, **parameters: Any) -> None:
        self.random_state, self.parameters = random_state, parameters

    def reset(self) -> None:
        """Forget everything."""
        from adforest import AdaptiveDecisionForestClassifier

        self.model: Any = AdaptiveDecisionForestClassifier(random_state=self.random_state, **self.parameters)

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Learn a batch."""
        self.model.partial_fit(X, y.astype(str))

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Return class probabilities."""
        self.classes_ = self.model.classes_
        return self.model.predict_proba(X)
