"""One sample at a time: each is predicted, then its label is learnt, at once or some samples later."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

import numpy as np

from adforest.forest.types import AnyArray, Float64Array
from experiments.rivals import CapyMOAClassifier, RiverClassifier
from experiments.rivals.outside import as_frame
from experiments.running.measures import Row, make_encoder
from experiments.specs.sources import Stream
from nextbatch.learners.streaming import ROOM
from nextbatch.measures import MIN_PROBABILITY
from nextbatch.protocols import predict_then_learn

ROW_SAMPLES = 1_000  # samples a row


class Learner(Protocol):
    """What predicts samples and learns their labels; only `predict` and `learn` are timed."""

    def prepare(self, X: Float64Array) -> Any:
        """Return samples as the learner reads them."""

    def predict(self, prepared: Any) -> Any:
        """Return class probabilities in a form of the learner's own."""

    def learn(self, prepared: Any, y: AnyArray) -> object:
        """Learn samples."""

    def judge(self, answers: Any, y: AnyArray) -> tuple[AnyArray, Float64Array]:
        """Return which answers are right, and the probability of each right class."""


class EstimatorLearner:
    """An estimator with ``predict_proba`` and ``partial_fit``, given its samples as arrays.

    Parameters
    ----------
    model : estimator
    n_categories : tuple of int
        Of each column; 0 where it is numerical.
    one_hot : bool
        Whether to give it one 0/1 column a category instead of categories.
    """

    def __init__(self, model: Any, n_categories: tuple[int, ...], *, one_hot: bool) -> None:
        self.model = model
        self.prepare = make_encoder(n_categories, one_hot=one_hot)
        self.predict = model.predict_proba
        self.learn = model.partial_fit

    def judge(self, answers: Float64Array, y: AnyArray) -> tuple[AnyArray, Float64Array]:
        """Return which answers are right, and the probability of each right class."""
        is_class = self.model.classes_ == y[:, np.newaxis]
        return is_class[np.arange(len(y)), answers.argmax(axis=1)], (answers * is_class).sum(axis=1)


class RiverLearner:
    """River's own learner, given its samples as dicts one by one, so that the time is its own.

    Parameters
    ----------
    model : RiverClassifier
        Says which learner.
    n_categories : tuple of int
    one_hot : bool
        As for `EstimatorLearner`.
    """

    def __init__(self, model: RiverClassifier, n_categories: tuple[int, ...], *, one_hot: bool) -> None:
        self.learner = model.make(int(model.random_state))
        self.learner.reset()
        self.encode = make_encoder(n_categories, one_hot=one_hot)
        self.nominal = None if one_hot else [n > 0 for n in n_categories]
        self.predict, self.learn = self.learner.predict, self.learner.learn

    def prepare(self, X: Float64Array) -> list[dict[Any, Any]]:
        """Return samples as dicts, categories as text, what is missing left out."""
        return self.learner.prepare(as_frame(self.encode(X), self.nominal))

    def judge(self, answers: list[dict[Any, float]], y: AnyArray) -> tuple[AnyArray, Float64Array]:
        """Return which answers are right, and the probability of each right class."""
        pairs = list(zip(answers, y.tolist(), strict=True))
        right = [max(one, key=one.__getitem__, default=None) == label for one, label in pairs]
        shares = [one.get(label, 0.0) / (sum(one.values()) or 1.0) for one, label in pairs]
        return np.array(right), np.array(shares)


class MOALearner:
    """MOA's own learner, given its samples as numbers, so that the time is its own.

    Parameters
    ----------
    model : CapyMOAClassifier
        Says which learner.
    n_categories : tuple of int
        As for `EstimatorLearner`.
    one_hot : bool
        Not used: MOA takes categories.
    """

    def __init__(self, model: CapyMOAClassifier, n_categories: tuple[int, ...], *, one_hot: bool) -> None:
        self.learner = model.make(int(model.random_state))
        self.learner.reset()
        self.learner.start(len(n_categories), {j: n for j, n in enumerate(n_categories) if n})
        self.predict, self.learn = self.learner.votes, self.learner.train

    def prepare(self, X: Float64Array) -> Float64Array:
        """Return samples as they are."""
        return X

    def judge(self, answers: Float64Array, y: AnyArray) -> tuple[AnyArray, Float64Array]:
        """Return which answers are right, and the probability of each right class."""
        codes = np.array([self.learner.classes.get(label, ROOM - 1) for label in y])
        total = answers.sum(axis=1)
        given = answers[np.arange(len(y)), codes] / np.where(total > 0, total, 1.0)
        return answers.argmax(axis=1) == codes, given


def make_learner(model: Any, n_categories: tuple[int, ...], *, one_hot: bool = False) -> Learner:
    """Return what predicts and learns for a method's estimator."""
    kinds: dict[type, Any] = {RiverClassifier: RiverLearner, CapyMOAClassifier: MOALearner}
    learner: Learner = kinds.get(type(model), EstimatorLearner)(model, n_categories, one_hot=one_hot)
    return learner


def run_online(stream: Stream, learner: Learner, delay: int = 0) -> list[Row]:
    """Let a learner predict each batch of a stream before it learns it, or one that came earlier.

    Parameters
    ----------
    stream : Stream
        What the batches train on is used. In batches of one sample samples come one by one; in larger ones the labels
        come at the end of each.
    learner : Learner
    delay : int, default=0
        After a batch was predicted, the labels of the one so many batches before it are learnt.

    Returns
    -------
    list of dict
        A row for each 1,000 samples, with

        - ``batch``: from 1, which thousand,
        - ``n``: samples that were predicted; those before the first label was learnt are not,
        - ``accuracy``, ``log_loss``,
        - ``accuracy_no_change``, ``accuracy_majority``: of the last label and of the most frequent one, of those
          known,
        - ``predict_seconds``, ``train_seconds``: CPU seconds of all of them.
    """
    counts: Counter[Any] = Counter()
    last: Any = None

    def judge(answers: Any, y: AnyArray) -> dict[str, Any]:
        right, shares = learner.judge(answers, y)
        most = max(counts.values())
        majority = min(label for label, n in counts.items() if n == most)
        rules = {"accuracy_no_change": y == last, "accuracy_majority": y == majority}
        return {"accuracy": right, "log_loss": -np.log(np.clip(shares, MIN_PROBABILITY, 1.0)), **rules}

    figures: dict[str, list[Any]] = {}
    start = 0
    batches = ((learner.prepare(batch.X_train), batch.y_train) for batch in stream.batches)
    for step in predict_then_learn(learner.predict, learner.learn, judge, batches, delay=delay):
        n = len(step.y)
        if step.known is not None:
            counts.update(step.known.tolist())
            last = step.known[-1]
        if step.found is not None:
            found = step.found | {"position": np.arange(start, start + n)}
            found |= {"predict_seconds": np.full(n, step.predict_seconds / n)}
            found |= {"train_seconds": np.full(n, step.learn_seconds / n)}
            for name, values in found.items():
                figures.setdefault(name, []).append(values)
        start += n
    return _by_thousand({name: np.concatenate(values) for name, values in figures.items()})


def _by_thousand(figures: dict[str, AnyArray]) -> list[Row]:
    """Return rows of a thousand samples each: means, and sums of seconds."""
    number = figures.pop("position") // ROW_SAMPLES + 1
    rows: list[Row] = []
    for one in np.unique(number).tolist():
        row: Row = {"batch": one, "stage": "", "n": int(np.sum(number == one))}
        for name, values in figures.items():
            here = values[number == one]
            row[name] = float(here.sum() if name.endswith("seconds") else here.mean())
        rows.append(row)
    return rows
