"""Learners of other libraries and rules that look at labels alone: nextbatch's, given samples as arrays of numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from adforest.forest.types import AnyArray, Float64Array
from nextbatch.learners.base import frame_of
from nextbatch.learners.refits import Refit
from nextbatch.learners.streaming import CapyMOA, River
from nextbatch.learners.trivial import Trivial

NO_CHANGE, MAJORITY, MARKOV = "no-change", "prior-all", "successor"


class OutsideClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner of nextbatch behind the methods of the other rivals.

    Attributes
    ----------
    classes_ : ndarray
        Class values learnt so far, sorted.
    learner_ : nextbatch.learners.Learner
    """

    categorical_features: Any = None
    random_state: Any = None

    def make(self, seed: int) -> Any:
        """Return the learner."""
        raise NotImplementedError

    def partial_fit(self, X: Float64Array, y: AnyArray, classes: Any = None) -> Self:
        """Learn one more batch."""
        if not hasattr(self, "learner_"):
            self.learner_ = self.make(int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)))
            self.learner_.reset()
            self.classes_ = y[:0]
        self.learner_.partial_fit(as_frame(X, self.categorical_features), y.astype(object))
        self.classes_ = np.union1d(self.classes_, y)
        return self

    def predict_proba(self, X: Float64Array) -> Float64Array:
        """Return class probabilities, in the order of ``classes_``."""
        found = self.learner_.predict_proba(as_frame(X, self.categorical_features))
        frame = frame_of(found, self.learner_, len(X)).reindex(columns=self.classes_.tolist(), fill_value=0.0)
        votes = frame.to_numpy(dtype=np.float64, copy=True)
        votes[~votes.any(axis=1)] = 1.0
        shares: Float64Array = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: Float64Array) -> AnyArray:
        """Return the most probable class of each sample."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def as_frame(X: Float64Array, categorical: Any = None) -> pd.DataFrame:
    """Return samples as nextbatch gives them to learners: categories as text.

    Examples
    --------
    >>> as_frame(np.array([[1.0, 2.5], [np.nan, 0.0]]), [True, False]).to_numpy(dtype=object).tolist()
    [['1.0', 2.5], [None, 0.0]]
    """
    frame = pd.DataFrame(X)
    for j in np.flatnonzero([] if categorical is None else categorical).tolist():
        texts = [None if value != value else str(value) for value in frame[j].tolist()]
        frame[j] = pd.Series(texts, dtype=object)
    return frame


class RefitLightGBMClassifier(OutsideClassifier):
    """LightGBM refitted for every batch, with its defaults.

    Parameters
    ----------
    window : int or None, default=None
        Batches it is refitted on, the last ones; None keeps all of them.
    categorical_features : list of bool or None, default=None
        Which columns are categorical.
    random_state : int, RandomState or None, default=None
        Seed of all draws.
    """

    def __init__(
        self, *, window: int | None = None, categorical_features: Any = None, random_state: Any = None
    ) -> None:
        self.window = window
        self.categorical_features = categorical_features
        self.random_state = random_state

    def make(self, seed: int) -> Refit:
        """Return the learner."""
        return Refit("lightgbm", self.window, seed)


class RiverClassifier(OutsideClassifier):
    """A learner of River, given one sample after the other.

    Parameters
    ----------
    model : str, default="ht"
        See `nextbatch.learners.streaming.River`.
    n_estimators : int, default=10
        Trees, for the models that have several.
    categorical_features : list of bool or None, default=None
        Which columns are categorical.
    random_state : int, RandomState or None, default=None
        Seed of all draws.
    """

    def __init__(
        self, model: str = "ht", n_estimators: int = 10, *, categorical_features: Any = None, random_state: Any = None
    ) -> None:
        self.model = model
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.random_state = random_state

    def make(self, seed: int) -> River:
        """Return the learner."""
        return River(self.model, seed, self.n_estimators)


class PickledCapyMOA(CapyMOA):
    """One whose size can be told: what Java holds is packed when it is pickled. MOA cannot pack random patches."""

    def __getstate__(self) -> dict[str, Any]:
        import jpype

        packed = bytes(jpype.JClass("org.jpype.pickle.Encoder")().pack(self.learner.moa_learner))
        return {name: value for name, value in vars(self).items() if name not in ("learner", "schema")} | {
            "packed": packed
        }


class CapyMOAClassifier(OutsideClassifier):
    """A learner of MOA, given one sample after the other, with MOA's defaults.

    Parameters
    ----------
    model : str, default="ht"
        See `nextbatch.learners.streaming.CapyMOA`.
    n_estimators : int, default=10
        Trees, for the models that have several.
    grace_period : int or None, default=None
        Samples that a leaf sees between two attempts to split it, in every tree of the model. None is MOA's default.
    categorical_features : list of bool or None, default=None
        Which columns are categorical.
    random_state : int, RandomState or None, default=None
        Seed of all draws.
    """

    def __init__(
        self,
        model: str = "ht",
        n_estimators: int = 10,
        *,
        grace_period: int | None = None,
        categorical_features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_estimators = n_estimators
        self.grace_period = grace_period
        self.categorical_features = categorical_features
        self.random_state = random_state

    def make(self, seed: int) -> CapyMOA:
        """Return the learner."""
        return PickledCapyMOA(self.model, seed, self.n_estimators, self.grace_period)


class TrivialClassifier(OutsideClassifier):
    """A rule that looks at labels alone: what a method must be ahead of where labels come at once.

    Parameters
    ----------
    rule : str, default="prior-all"
        See `nextbatch.learners.trivial.Trivial`.
    """

    def __init__(self, rule: str = MAJORITY) -> None:
        self.rule = rule

    def make(self, seed: int) -> Trivial:
        """Return the rule."""
        return Trivial(self.rule)
