"""What a learner is, and learners made of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Labels = NDArray[np.object_]


class Learner(Protocol):
    """Three methods: forget, learn a batch, predict a batch."""

    def reset(self) -> Any:
        """Forget everything. Called before a stream begins."""

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> Any:
        """Learn a batch; any batch may bring new classes and new categories."""

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Return class probabilities: a data frame with a column a class, or an array in the order of ``classes_``."""


class Selected:
    """Several learners that all learn; the one that did best so far predicts.

    Parameters
    ----------
    make : sequence of callables
        Each is called with ``random_state`` and returns a learner.
    trial : int or None
        After so many batches only the best one is kept. None keeps all of them.
    decay : float
        How much a batch's result counts one batch later.
    random_state : int
    """

    def __init__(
        self,
        make: Sequence[Callable[..., Learner]],
        trial: int | None = None,
        decay: float = 0.8,
        random_state: int = 0,
    ) -> None:
        self.make, self.trial, self.decay, self.random_state = make, trial, decay, random_state

    def reset(self) -> None:
        """Forget everything."""
        self.learners = [make(random_state=self.random_state) for make in self.make]
        self.scores = np.zeros(len(self.learners))
        self.n_batches = 0
        for one in self.learners:
            one.reset()

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Compare the learners on a batch, then let all of them learn it."""
        if self.n_batches and len(self.learners) > 1:
            results = [float(np.mean(predict_labels(one, X) == y)) for one in self.learners]
            self.scores = self.scores * (1.0 if self.trial else self.decay) + results
        if self.n_batches == self.trial:
            self.learners, self.scores = [self.best], self.scores[:1]
        for one in self.learners:
            one.partial_fit(X, y)
        self.n_batches += 1

    @property
    def best(self) -> Learner:
        """The learner with the best results so far."""
        return self.learners[int(self.scores.argmax())]

    def predict_proba(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return what the best learner says."""
        return frame_of(self.best.predict_proba(X), self.best, len(X))


def frame_of(found: Any, learner: Any, n_samples: int) -> pd.DataFrame:
    """Return a learner's class probabilities as a data frame, whatever form it gives them in; check them."""
    if not isinstance(found, pd.DataFrame):
        found = pd.DataFrame(np.asarray(found, dtype=np.float64), columns=list(learner.classes_))
    values = found.to_numpy(dtype=np.float64)
    if len(values) != n_samples or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"predict_proba returned {values.shape[0]} rows of probabilities from {np.min(values, initial=0):g} to "
            f"{np.max(values, initial=0):g} for {n_samples} samples; expected a row of finite numbers from 0 on each."
        )
    return found


def predict_labels(learner: Learner, X: pd.DataFrame) -> Labels:
    """Return the most probable class of each sample."""
    found = frame_of(learner.predict_proba(X), learner, len(X))
    labels: Labels = found.columns.to_numpy(dtype=object)[found.to_numpy().argmax(axis=1)]
    return labels
