"""Prequential evaluation: a model predicts each batch before it learns it (test, then train)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from adforest.classifier import BaseADFClassifier
from adforest.forest.types import AnyArray, Float64Array
from experiments.running.measures import Row, log_loss, make_encoder
from experiments.running.probability_metrics import measure_probabilities
from experiments.specs.sources import Stream
from nextbatch.protocols import predict_then_learn


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
    has_shares = hasattr(model, "predict_proba")
    steps = predict_then_learn(
        model.predict_proba if has_shares else model.predict,
        model.partial_fit,
        partial(_judge_shares if has_shares else _judge_classes, model),
        ((encode(batch.X_train), batch.y_train) for batch in stream.batches),
    )
    rows: list[Row] = []
    for batch, step in zip(stream.batches, steps, strict=True):
        if step.found is None:
            continue
        row: Row = {"batch": batch.number, "stage": batch.scenario, "n": len(step.y), **step.found}
        row |= {"predict_seconds": step.predict_seconds, "train_seconds": step.learn_seconds}
        if isinstance(model, BaseADFClassifier):
            report = model.history_[-1]
            row |= {"drift": report.drift} | {f"accuracy_{name}": value for name, value in report.accuracy.items()}
        rows.append(row)
    return rows


def _judge_classes(model: Any, answers: AnyArray, y: AnyArray) -> Row:
    """Return how good predicted classes are."""
    return {"accuracy": float(np.mean(answers == y)), "log_loss": None}


def _judge_shares(model: Any, answers: Float64Array, y: AnyArray) -> Row:
    """Return how good class probabilities are."""
    row = {
        "accuracy": float(np.mean(model.classes_[answers.argmax(axis=1)] == y)),
        "log_loss": log_loss(answers, model.classes_, y),
    }
    return row | measure_probabilities(answers, model.classes_, y)
