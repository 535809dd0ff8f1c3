"""Holdout evaluation: a model learns each batch, then predicts the batch's test set."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from adforest.adaptation import FORESTS
from adforest.classifier import BaseADFClassifier
from adforest.simulation import Batch
from experiments.running.measures import (
    Encode,
    Row,
    accuracy,
    accuracy_by_forest,
    describe_forests,
    make_encoder,
    start_row,
)
from experiments.running.timing import timed
from experiments.specs.sources import Stream

RETAINED, RETAINED_AT_LAST = 1_000, 20_000  # held-back records a model is asked for along the stream and at its end
SIZED_EVERY = 5  # batches; pickling a large model takes longer than learning a batch


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
    encode = make_encoder(stream.n_categories, one_hot=one_hot)
    rows = []
    for position, batch in enumerate(stream.batches):
        so_far = stream.batches[: position + 1]
        is_last = position + 1 == len(stream.batches)
        X = encode(batch.X_train)
        _, seconds = timed(partial(model.partial_fit, X, batch.y_train))
        row = start_row(batch) | {"train_seconds": seconds, "n_classes": len(model.classes_)}
        is_tested = is_last or not stream.is_tested_once
        row |= _test(model, batch, encode) if is_tested else {"n_test": 0, "predict_seconds": None, "accuracy": None}
        row["retention"] = _retention(model, so_far, encode, seed, RETAINED_AT_LAST if is_last else RETAINED)
        row["bytes"] = len(pickle.dumps(model)) if is_last or batch.number % SIZED_EVERY == 0 else None
        if isinstance(model, BaseADFClassifier):
            untested: Row = {f"accuracy_{name}": None for name in FORESTS}
            row |= describe_forests(model)
            row |= accuracy_by_forest(model, batch.X_test, batch.y_test) if is_tested else untested
        rows.append(row)
    return rows


def _test(model: Any, batch: Batch, encode: Encode) -> Row:
    """Return how a model does on a batch's test set."""
    X = encode(batch.X_test)
    answers, seconds = timed(partial(model.predict, X))
    return {"n_test": len(X), "predict_seconds": seconds, "accuracy": float(np.mean(answers == batch.y_test))}


def _retention(model: Any, so_far: Sequence[Batch], encode: Encode, seed: int, at_most: int) -> float | None:
    """Return the accuracy on held-back records of all batches so far, or on a sample if they are many."""
    X = np.concatenate([batch.X_held for batch in so_far])
    y = np.concatenate([batch.y_held for batch in so_far])
    if not len(y):
        return None
    drawn = np.random.default_rng([seed, len(so_far)]).permutation(len(y))[:at_most]
    return accuracy(model, encode(X[drawn]), y[drawn])
