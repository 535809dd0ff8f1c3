"""Record by record: each sample is predicted, then its label is learnt, at once or some samples later."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any, Protocol

import numpy as np

from adforest.forest.types import AnyArray, Float64Array
from experiments.rivals import CapyMOAClassifier, RiverClassifier
from experiments.rivals.capymoa import ROOM
from experiments.rivals.capymoa import Learner as MOAModel
from experiments.running.measures import MIN_SHARE, Row, make_encoder
from experiments.running.timing import timed
from experiments.specs.sources import Stream
from experiments.specs.trivial import MAJORITY, NO_CHANGE, TrivialClassifier

ROW_SAMPLES = 1_000  # samples a row
RULES = {"accuracy_no_change": NO_CHANGE, "accuracy_majority": MAJORITY}  # what kappas compare with


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
        self.learner = model._new(int(model.random_state))
        self.encode = make_encoder(n_categories, one_hot=one_hot)
        self.nominal = set() if one_hot else {j for j, n in enumerate(n_categories) if n}

    def prepare(self, X: Float64Array) -> list[dict[int, Any]]:
        """Return samples as dicts, categories as text, what is missing left out."""
        return [
            {j: str(value) if j in self.nominal else value for j, value in enumerate(row) if value == value}
            for row in self.encode(X).tolist()
        ]

    def predict(self, prepared: list[dict[int, Any]]) -> list[dict[Any, float]]:
        """Return class probabilities of each sample; none before the first was learnt."""
        return [self.learner.predict_proba_one(x) for x in prepared]

    def learn(self, prepared: list[dict[int, Any]], y: AnyArray) -> None:
        """Learn samples one by one."""
        for x, label in zip(prepared, y.tolist(), strict=True):
            self.learner.learn_one(x, label)

    def judge(self, answers: list[dict[Any, float]], y: AnyArray) -> tuple[AnyArray, Float64Array]:
        """Return which answers are right, and the probability of each right class."""
        pairs = list(zip(answers, y.tolist(), strict=True))
        right = [max(one, key=one.__getitem__, default=None) == label for one, label in pairs]
        shares = [one.get(label, 0.0) / (sum(one.values()) or 1.0) for one, label in pairs]
        return np.array(right), np.array(shares)


class MOALearner:
    """MOA's own learner, given its samples one by one; it learns in place, which its estimator does not.

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
        room = {j: n for j, n in enumerate(n_categories) if n} | {len(n_categories): ROOM}
        seed = int(model.random_state)
        self.learner = MOAModel(model.model, room, seed, model.n_estimators, model.grace_period)
        self.codes: dict[Any, int] = {}

    def prepare(self, X: Float64Array) -> Float64Array:
        """Return samples as they are."""
        return X

    def predict(self, prepared: Float64Array) -> Float64Array:
        """Return MOA's votes by class, in the order in which classes came."""
        return self.learner.votes(prepared, ROOM)

    def learn(self, prepared: Float64Array, y: AnyArray) -> None:
        """Learn samples one by one."""
        codes = [self.codes.setdefault(label, len(self.codes)) for label in y.tolist()]
        self.learner.train(prepared, codes)

    def judge(self, answers: Float64Array, y: AnyArray) -> tuple[AnyArray, Float64Array]:
        """Return which answers are right, and the probability of each right class."""
        codes = np.array([self.codes.get(label, ROOM - 1) for label in y.tolist()])
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
        What the batches train on is used. In batches of one sample it comes record by record; in larger ones the labels
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
    rules = {name: TrivialClassifier(rule) for name, rule in RULES.items()}
    waiting: deque[tuple[Any, AnyArray]] = deque()
    figures: dict[str, list[Any]] = {}
    is_fitted, start = False, 0
    for batch in stream.batches:
        y = batch.y_train
        X = learner.prepare(batch.X_train)
        found: dict[str, Any] = {}
        if is_fitted:
            answers, seconds = timed(partial(learner.predict, X))
            right, shares = learner.judge(answers, y)
            found = {"accuracy": right, "log_loss": -np.log(np.clip(shares, MIN_SHARE, 1.0))}
            found |= {name: rule.predict(y) == y for name, rule in rules.items()}
            found["predict_seconds"] = np.full(len(y), seconds / len(y))
        waiting.append((X, y))
        if len(waiting) > delay:
            X_known, y_known = waiting.popleft()
            _, seconds = timed(partial(learner.learn, X_known, y_known))
            for rule in rules.values():
                rule.partial_fit(y_known, y_known)
            is_fitted = True
            if found:
                found["train_seconds"] = np.full(len(y), seconds / len(y))
        if found:
            for name, values in (found | {"position": np.arange(start, start + len(y))}).items():
                figures.setdefault(name, []).append(values)
        start += len(y)
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
