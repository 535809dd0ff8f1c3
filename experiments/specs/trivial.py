"""Rules that look at labels alone: what a method must be ahead of where labels come at once."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from adforest.forest.types import AnyArray, Float64Array

NO_CHANGE, MAJORITY, MARKOV = "no change", "majority", "markov"


class TrivialClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Answers by the labels learnt so far, whatever the sample.

    Parameters
    ----------
    rule : {"majority", "no change", "markov"}, default="majority"
        The most frequent class; the last label; or the class that most often followed the last label, which is the last
        label itself where nothing has followed it yet. Probabilities are frequencies, those of "no change" 0 and 1.

    Attributes
    ----------
    classes_ : ndarray
        Class values learnt so far, sorted.

    Examples
    --------
    >>> model = TrivialClassifier("markov").partial_fit([[0]] * 5, list("abcab"))
    >>> model.predict([[0]]).tolist()
    ['c']
    """

    def __init__(self, rule: str = MAJORITY) -> None:
        self.rule = rule

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn the labels of some samples, in the order in which they came."""
        if not hasattr(self, "counts_"):
            self.counts_: Counter[Any] = Counter()
            self.followers_: dict[Any, Counter[Any]] = {}
            self.last_: Any = None
        n_known = len(self.counts_)
        for label in np.asarray(y).tolist():
            if self.counts_:
                self.followers_.setdefault(self.last_, Counter())[label] += 1
            self.counts_[label] += 1
            self.last_ = label
        if len(self.counts_) > n_known:
            self.classes_ = np.array(sorted(self.counts_))
        return self

    def predict_proba(self, X: Any) -> Float64Array:
        """Return the same class probabilities for all samples."""
        stay = Counter({self.last_: 1})
        counts = {NO_CHANGE: stay, MAJORITY: self.counts_, MARKOV: self.followers_.get(self.last_, stay)}[self.rule]
        shares = np.array([counts[value] for value in self.classes_.tolist()]) / sum(counts.values())
        return np.repeat(shares[np.newaxis], len(X), axis=0)

    def predict(self, X: Any) -> AnyArray:
        """Return the same class for all samples."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
