"""Following a stream: a model learns each batch, is tested, and everything that can be measured is written down."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from adforest import AdaptiveDecisionForestClassifier
from adforest.forest.types import AnyArray, Floats
from adforest.streams import Batch
from experiments.specs.sources import Stream

Row = dict[str, Any]

FORESTS = ("permanent", "active", "temporary", "newest")
RETAINED, RETAINED_AT_LAST = 1_000, 20_000  # held-back records a model is asked for along the stream and at its end
SIZED_EVERY = 5  # batches; pickling a large model takes longer than learning a batch
LEAST_SHARE = (
    1e-3  # what the share of the right class counts at least in the log loss; that of an unknown class is none
)


def run_holdout(stream: Stream, model: Any, seed: int, *, one_hot: bool = False) -> list[Row]:
    """Let a model learn a stream batch by batch, and measure it after each.

    Parameters
    ----------
    stream : Stream
    model : estimator
        Learns by ``partial_fit``.
    seed : int
        Of the sample that measures retention; the same for every model.
    one_hot : bool, default=False
        Whether to give it one 0/1 column a category instead of categories.

    Returns
    -------
    list of dict
        A row per batch, with

        - ``batch``, ``stage``, ``n_train``, ``n_test``, ``n_classes`` (learnt so far),
        - ``train_seconds``, ``predict_seconds``: CPU seconds of learning the batch and of answering its test set,
        - ``accuracy`` on the test set,
        - ``retention``: accuracy on a sample of the held-back records of all batches so far,
        - ``bytes`` of the pickled model, at every fifth batch and the last,

        and for ADF what `describe_forests` and `accuracy_by_forest` find. What was not measured is None.
    """
    view = _one_hot_encoder(stream.n_categories) if one_hot else _as_is
    rows = []
    for position, batch in enumerate(stream.batches):
        so_far = stream.batches[: position + 1]
        is_last = position + 1 == len(stream.batches)
        row: Row = {"batch": batch.number, "stage": batch.scenario, "n_train": len(batch.y_train)}
        X = view(batch.X_train)
        start = process_time()
        model.partial_fit(X, batch.y_train)
        row["train_seconds"] = process_time() - start
        row["n_classes"] = len(model.classes_)
        is_tested = is_last or not stream.is_tested_once
        row |= _test(model, batch, view) if is_tested else _untested()
        row["retention"] = _retention(model, so_far, view, seed, RETAINED_AT_LAST if is_last else RETAINED)
        row["bytes"] = len(pickle.dumps(model)) if is_last or batch.number % SIZED_EVERY == 0 else None
        if isinstance(model, AdaptiveDecisionForestClassifier):
            row |= describe_forests(model)
            row |= accuracy_by_forest(model, batch.X_test, batch.y_test) if is_tested else _unjudged()
        rows.append(row)
    return rows


def run_prequential(stream: Stream, model: Any, *, one_hot: bool = False) -> list[Row]:
    """Let a model answer each batch before it learns it.

    Parameters
    ----------
    stream : Stream
        What the batches train on is used, their test records are not.
    model : estimator
        Learns by ``partial_fit``.
    one_hot : bool, default=False
        Whether to give it one 0/1 column a category instead of categories.

    Returns
    -------
    list of dict
        A row for each batch after the first, with

        - ``batch``, ``stage``, ``n`` (records of the batch),
        - ``accuracy`` and ``log_loss`` on the batch before learning it; the log loss is None for models without shares,
        - ``predict_seconds``, ``train_seconds``: CPU seconds of answering the batch and of learning it,

        and for ADF its verdict ``drift`` on the batch, and ``accuracy_<name>`` of each forest and of their ``vote``,
        as the model measured it before learning the batch.
    """
    view = _one_hot_encoder(stream.n_categories) if one_hot else _as_is
    rows: list[Row] = []
    for position, batch in enumerate(stream.batches):
        X, y = view(batch.X_train), batch.y_train
        row: Row = {"batch": batch.number, "stage": batch.scenario, "n": len(y)}
        if position:
            row |= _answer(model, X, y)
        start = process_time()
        model.partial_fit(X, y)
        row["train_seconds"] = process_time() - start
        if isinstance(model, AdaptiveDecisionForestClassifier):
            report = model.history_[-1]
            row |= {"drift": report.drift} | {f"accuracy_{name}": value for name, value in report.accuracy.items()}
        if position:
            rows.append(row)
    return rows


def log_loss(shares: Floats, classes: AnyArray, y: AnyArray) -> float:
    """Return the mean of -log(share of the right class), shares counting at least one in a thousand.

    Parameters
    ----------
    shares : ndarray of shape (n_records, n_classes)
    classes : ndarray of shape (n_classes,)
        What the columns stand for, sorted.
    y : ndarray of shape (n_records,)
        The right classes; one that is not among the classes has no share.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> round(log_loss(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array(["a", "b"]), np.array(["b", "c"])), 3)
    3.8
    """
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    right = np.where(classes[places] == y, shares[np.arange(len(y)), places], 0.0)
    return float(-np.log(np.clip(right, LEAST_SHARE, 1.0)).mean())


def describe_forests(model: AdaptiveDecisionForestClassifier) -> Row:
    """Return what ADF made of the last batch.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier

    Returns
    -------
    dict
        ``scenario``, ``drift``, ``answering``; and for each forest ``perturbed_<name>``, ``action_<name>``,
        ``leaves_<name>``, ``nodes_<name>``, None where there is no such forest.
    """
    report, learner = model.history_[-1], model._checked().state.learner
    row: Row = {"scenario": report.scenario, "drift": report.drift, "answering": report.answering}
    for name in FORESTS:
        forest = learner.forest(name)
        row[f"perturbed_{name}"] = report.perturbed.get(name)
        row[f"action_{name}"] = report.action.get(name)
        row[f"leaves_{name}"] = None if forest is None else forest.n_leaves
        row[f"nodes_{name}"] = None if forest is None else forest.n_nodes
    return row


def accuracy_by_forest(model: AdaptiveDecisionForestClassifier, X: Any, y: AnyArray) -> Row:
    """Return how accurate each of ADF's forests would be if it answered alone.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier
    X, y : table and array
        Test records and their class values.

    Returns
    -------
    dict
        ``accuracy_<name>`` for each forest, None where there is no such forest.
    """
    known = model._checked()
    matrix, values = known.encoder.translate(X), known.labels.by_arrival
    row: Row = {}
    for name in FORESTS:
        forest = known.state.learner.forest(name)
        row[f"accuracy_{name}"] = None
        if forest is not None:
            votes = forest.answer(matrix, len(values), soft=model.voting == "soft", n_jobs=1)
            row[f"accuracy_{name}"] = float(np.mean(values[votes.argmax(axis=1)] == y))
    return row


def _answer(model: Any, X: Any, y: AnyArray) -> Row:
    """Return how a model does on records it has not learnt."""
    has_shares = hasattr(model, "predict_proba")
    start = process_time()
    answers = model.predict_proba(X) if has_shares else model.predict(X)
    seconds = process_time() - start
    loss = log_loss(answers, model.classes_, y) if has_shares else None
    best = model.classes_[answers.argmax(axis=1)] if has_shares else answers
    return {"accuracy": float(np.mean(best == y)), "log_loss": loss, "predict_seconds": seconds}


def _test(model: Any, batch: Batch, view: Callable[[Any], Any]) -> Row:
    """Return how a model does on a batch's test set."""
    X = view(batch.X_test)
    start = process_time()
    answers = model.predict(X)
    seconds = process_time() - start
    return {"n_test": len(X), "predict_seconds": seconds, "accuracy": float(np.mean(answers == batch.y_test))}


def _untested() -> Row:
    """Return the row of a batch that is not tested."""
    return {"n_test": 0, "predict_seconds": None, "accuracy": None}


def _unjudged() -> Row:
    """Return the row of forests that are not tested."""
    return {f"accuracy_{name}": None for name in FORESTS}


def _retention(model: Any, so_far: Any, view: Callable[[Any], Any], seed: int, at_most: int) -> float | None:
    """Return the accuracy on held-back records of all batches so far, or on a sample if they are many."""
    X = np.concatenate([batch.X_held for batch in so_far])
    y = np.concatenate([batch.y_held for batch in so_far])
    if not len(y):
        return None
    drawn = np.random.default_rng([seed, len(so_far)]).permutation(len(y))[:at_most]
    return float(np.mean(model.predict(view(X[drawn])) == y[drawn]))


def _as_is(X: Any) -> Any:
    """Return records as they are."""
    return X


def _one_hot_encoder(n_categories: tuple[int, ...]) -> Callable[[Floats], Floats]:
    """Return how records become numbers: one 0/1 column a category, numerical columns as they are."""

    def spread(X: Floats) -> Floats:
        columns = [
            X[:, [j]] if n == 0 else (X[:, [j]] == np.arange(n)).astype(np.float64) for j, n in enumerate(n_categories)
        ]
        return np.concatenate(columns, axis=1)

    return spread if any(n_categories) else _as_is
