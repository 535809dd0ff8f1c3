"""Prequential evaluation: a model predicts each batch before it learns it (test, then train)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from adforest.classifier import BaseADFClassifier
from adforest.forest.types import AnyArray
from experiments.running.measures import Row, log_loss, make_encoder
from experiments.running.probability_metrics import measure_probabilities
from experiments.running.timing import timed
from experiments.specs.sources import Stream


def run_prequential(stream: Stream, model: Any, *, one_hot: bool = False) -> list[Row]:
    """Let a model predict each batch before it learns it.

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
        - what `measure_probabilities` finds for models with shares,
        - ``predict_seconds``, ``train_seconds``: CPU seconds of answering the batch and of learning it,

        and for ADF its verdict ``drift`` on the batch, and ``accuracy_<name>`` of each forest and of their ``vote``,
        as the model measured it before learning the batch.
    """
    encode = make_encoder(stream.n_categories, one_hot=one_hot)
    rows: list[Row] = []
    for position, batch in enumerate(stream.batches):
        X, y = encode(batch.X_train), batch.y_train
        row: Row = {"batch": batch.number, "stage": batch.scenario, "n": len(y)}
        if position:
            row |= _predict(model, X, y)
        _, row["train_seconds"] = timed(partial(model.partial_fit, X, y))
        if isinstance(model, BaseADFClassifier):
            report = model.history_[-1]
            row |= {"drift": report.drift} | {f"accuracy_{name}": value for name, value in report.accuracy.items()}
        if position:
            rows.append(row)
    return rows


def _predict(model: Any, X: Any, y: AnyArray) -> Row:
    """Return how a model does on records it has not learnt."""
    has_shares = hasattr(model, "predict_proba")
    answers, seconds = timed(partial(model.predict_proba if has_shares else model.predict, X))
    loss = log_loss(answers, model.classes_, y) if has_shares else None
    best = model.classes_[answers.argmax(axis=1)] if has_shares else answers
    row: Row = {"accuracy": float(np.mean(best == y)), "log_loss": loss, "predict_seconds": seconds}
    return row | (measure_probabilities(answers, model.classes_, y) if has_shares else {})
