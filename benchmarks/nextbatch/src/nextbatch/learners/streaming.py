"""Learners that go on from sample to sample: River's, MOA's through CapyMOA, and adforest's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nextbatch.encoding import Encoder
from nextbatch.learners.base import Labels

ROOM = 64  # classes and categories that MOA is told of beforehand; it cannot be told later


class River:
    """A classifier of River, given one sample after the other, categories as text, missing values left out."""

    def __init__(self, model: str, random_state: int = 0) -> None:
        self.model, self.random_state = model, random_state

    def reset(self) -> None:
        """Forget everything."""
        from river import ensemble, forest, tree

        self.learner: Any = {
            "arf": lambda: forest.ARFClassifier(seed=self.random_state),
            "hat": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=self.random_state),
            "leveraging": lambda: ensemble.LeveragingBaggingClassifier(
                tree.HoeffdingTreeClassifier(), seed=self.random_state
            ),
        }[self.model]()

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Learn samples one by one."""
        for x, label in zip(_as_dicts(X), y, strict=True):
            self.learner.learn_one(x, label)

    def predict_proba(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return class probabilities, of the classes that any sample got some of."""
        found = [self.learner.predict_proba_one(x) for x in _as_dicts(X)]
        columns = sorted({label for one in found for label in one}) or [""]
        return pd.DataFrame([[one.get(label, 0.0) for label in columns] for one in found], columns=columns)


def _as_dicts(X: pd.DataFrame) -> list[dict[str, Any]]:
    """Return samples as River takes them."""
    names = X.columns.tolist()
    rows = zip(*(X[name].tolist() for name in names), strict=True)
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None and value == value}
        for row in rows
    ]


class CapyMOA:
    """A classifier of MOA, through CapyMOA. Classes and categories get places in the order in which they come."""

    def __init__(self, model: str, random_state: int = 0) -> None:
        self.model, self.random_state = model, random_state

    def reset(self) -> None:
        """Forget everything; the schema needs the columns, so the learner is made with the first batch."""
        import capymoa.classifier  # noqa: F401

        self.encoder = Encoder()
        self.learner: Any = None
        self.classes: dict[str, int] = {}

    def _start(self, X: pd.DataFrame) -> None:
        """Make the learner, with room for classes and categories that may come."""
        from capymoa import classifier
        from capymoa.stream import Schema

        made = {"arf": "AdaptiveRandomForestClassifier", "hat": "HoeffdingAdaptiveTree"}[self.model]
        places = [str(code) for code in range(ROOM)]
        nominal = {name: places for name in X.columns if X[name].dtype.kind == "O"}
        self.schema = Schema.from_custom(
            features=[*map(str, X.columns), "class"],
            target="class",
            categories={**nominal, "class": places},
            name="stream",
        )
        self.learner = getattr(classifier, made)(schema=self.schema, random_seed=self.random_state)

    def _rows(self, X: pd.DataFrame) -> Any:
        """Return samples as numbers; MOA's NaN is missing, and so is a category beyond the room."""
        values = self.encoder.transform(X)
        for j in self.encoder.categorical(X):
            values[values[:, j] >= ROOM, j] = np.nan
        return values

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Learn samples one by one."""
        from capymoa.instance import LabeledInstance

        if self.learner is None:
            self._start(X)
        self.encoder.learn(X)
        for row, label in zip(self._rows(X), y, strict=True):
            code = self.classes.setdefault(label, len(self.classes))
            if code >= ROOM:
                raise ValueError(f"the stream has more than {ROOM} classes, for which MOA was given room.")
            self.learner.train(LabeledInstance.from_array(self.schema, row, code))

    def predict_proba(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return class probabilities: MOA's votes by class."""
        from capymoa.instance import Instance

        votes = np.zeros((len(X), max(1, len(self.classes))))
        for i, row in enumerate(self._rows(X)):
            found = self.learner.predict_proba(Instance.from_array(self.schema, row))
            if found is not None:
                n = min(len(found), votes.shape[1])
                votes[i, :n] = np.nan_to_num(np.asarray(found)[:n])
        return pd.DataFrame(votes, columns=list(self.classes) or [""])


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
