"""Evaluation protocols: how a run is made and what is measured of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from adforest.classifier import BaseADFClassifier
from adforest.forest.types import AnyArray
from adforest.simulation import Batch
from experiments.running.holdout import run_holdout
from experiments.running.measures import Row, accuracy, describe_forests, start_row
from experiments.running.online import make_learner, run_online
from experiments.running.prequential import run_prequential
from experiments.running.timing import cpu_seconds_without_gc, read_resident_bytes, time_forests
from experiments.specs.generators import GENERATORS
from experiments.specs.methods import find_method, make_model
from experiments.specs.run_spec import (
    HOLDOUT,
    LONG_STREAM,
    ONLINE,
    PREQUENTIAL,
    RECALL,
    RESET_AT_CHANGES,
    TIMED,
    RunSpec,
)
from experiments.specs.sources import Stream, empty_stream, open_stream

RECALL_RECORDS = 2_000  # records of each class that recall is measured on, the latest ones


@dataclass(frozen=True)
class Evaluation:
    """The result of a run.

    Attributes
    ----------
    model : estimator
        As it was after the last batch.
    data_sha256 : str
        Of the records in the order they came.
    rows : list of dict
        One a batch.
    """

    model: Any
    data_sha256: str
    rows: list[Row]


@dataclass(frozen=True)
class EvaluationProtocol:
    """A way to measure a run.

    Attributes
    ----------
    evaluate : callable
        Makes a run, given the folder of the data sets.
    modules : tuple of str
        Whose code decides what is measured.
    runs_alone : bool
        Whether nothing else may run meanwhile, in a process of its own.
    """

    evaluate: Callable[[RunSpec, Path | None], Evaluation]
    modules: tuple[str, ...]
    runs_alone: bool = False


def find_protocol(run: RunSpec) -> EvaluationProtocol:
    """Return how a run is measured."""
    if run.protocol not in PROTOCOLS:
        raise ValueError(f"there is no protocol {run.protocol!r}; expected one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[run.protocol]


def evaluate_holdout(run: RunSpec, folder: Path | None) -> Evaluation:
    """Measure everything that can be measured after each batch, see `run_holdout`."""
    stream = open_stream(run.stream, run.seed, folder)
    model = make_model(run.method, stream, run.seed)
    rows = run_holdout(stream, model, run.seed, one_hot=find_method(run.method).one_hot)
    return Evaluation(model, stream.digest(), rows)


def evaluate_reset_at_changes(run: RunSpec, folder: Path | None) -> Evaluation:
    """Start a new model whenever the concept changes, so that it only ever learns the present one; else a holdout."""
    stream = open_stream(run.stream, run.seed, folder)
    rows: list[Row] = []
    for _, batches in groupby(stream.batches, key=lambda batch: batch.scenario):
        model = make_model(run.method, stream, run.seed)
        one_hot = find_method(run.method).one_hot
        rows += run_holdout(replace(stream, batches=list(batches)), model, run.seed, one_hot=one_hot)
    return Evaluation(model, stream.digest(), rows)


def evaluate_recall(run: RunSpec, folder: Path | None) -> Evaluation:
    """Measure, after each batch, how many test records of each class seen so far are recognised.

    Rows have ``batch``, ``stage``, ``n_train``, ``accuracy`` on the batch's test set, and ``recall_<class>`` on the
    latest test records of the class, whether or not the batch has any.
    """
    stream = open_stream(run.stream, run.seed, folder)
    model = make_model(run.method, stream, run.seed)
    tests: dict[Any, AnyArray] = {}
    rows = []
    for batch in stream.batches:
        model.partial_fit(batch.X_train, batch.y_train)
        for value in np.unique(batch.y_test).tolist():
            fresh = batch.X_test[batch.y_test == value]
            tests[value] = np.concatenate([tests.get(value, fresh[:0]), fresh])[-RECALL_RECORDS:]
        recalls = {f"recall_{value}": accuracy(model, X, value) for value, X in tests.items()}
        rows.append(start_row(batch) | {"accuracy": accuracy(model, batch.X_test, batch.y_test)} | recalls)
    return Evaluation(model, stream.digest(), rows)


def evaluate_prequential(run: RunSpec, folder: Path | None) -> Evaluation:
    """Let a method answer each batch before it learns it, see `run_prequential`."""
    stream = open_stream(run.stream, run.seed, folder)
    model = make_model(run.method, stream, run.seed)
    rows = run_prequential(stream, model, one_hot=find_method(run.method).one_hot)
    return Evaluation(model, stream.digest(), rows)


def evaluate_online(run: RunSpec, folder: Path | None) -> Evaluation:
    """Let a method predict each sample before it learns its label, see `run_online`.

    Option ``delay`` of the stream says how many samples later labels come.
    """
    stream = open_stream(run.stream, run.seed, folder)
    model = make_model(run.method, stream, run.seed)
    learner = make_learner(model, stream.n_categories, one_hot=find_method(run.method).one_hot)
    rows = run_online(stream, learner, int(dict(run.stream.options).get("delay") or 0))
    return Evaluation(model, stream.digest(), rows)


def evaluate_timed(run: RunSpec, folder: Path | None) -> Evaluation:
    """Take the time a method needs, in turn with what scikit-learn needs for the same batch.

    Rows have ``batch``, ``stage``, ``n_train``, ``accuracy``, ``train_seconds``, and what `time_forests` finds.
    """
    stream = open_stream(run.stream, run.seed, folder)
    model = make_model(run.method, stream, run.seed)
    n_trees = model.get_params()["n_estimators"]
    rows = []
    for position, batch in enumerate(stream.batches):
        row = start_row(batch) | _learn(model, batch) | {"accuracy": accuracy(model, batch.X_test, batch.y_test)}
        rows.append(row | time_forests(stream.batches[: position + 1], len(stream.batches), n_trees, run.seed))
    return Evaluation(model, stream.digest(), rows)


def evaluate_long_stream(run: RunSpec, folder: Path | None) -> Evaluation:
    """Measure what a method costs along a stream too long to be kept: each batch is drawn, learnt and let go.

    Rows have ``batch``, ``stage``, ``n_train``, ``accuracy``, ``train_seconds``, ``resident_bytes`` of the process, and
    for ADF what `describe_forests` finds.
    """
    model = make_model(run.method, empty_stream(run.stream), run.seed)
    total = hashlib.sha256()
    rows = []
    for batch in GENERATORS[run.stream.name].draw(run.stream, run.seed):
        row = start_row(batch) | _learn(model, batch) | {"resident_bytes": read_resident_bytes()}
        row["accuracy"] = accuracy(model, batch.X_test, batch.y_test)
        is_adf = isinstance(model, BaseADFClassifier)
        rows.append(row | (describe_forests(model) if is_adf else {}))
        total.update(Stream([batch], (), 0).digest().encode())
    return Evaluation(model, total.hexdigest(), rows)


def _learn(model: Any, batch: Batch) -> Row:
    """Let a model learn a batch, and return the CPU seconds it took."""
    return {"train_seconds": cpu_seconds_without_gc(lambda: model.partial_fit(batch.X_train, batch.y_train))}


SHARED = tuple(f"experiments.running.{name}" for name in ("protocols", "measures", "timing"))
PROTOCOLS = {
    HOLDOUT: EvaluationProtocol(evaluate_holdout, (*SHARED, "experiments.running.holdout")),
    RESET_AT_CHANGES: EvaluationProtocol(evaluate_reset_at_changes, (*SHARED, "experiments.running.holdout")),
    RECALL: EvaluationProtocol(evaluate_recall, SHARED),
    TIMED: EvaluationProtocol(evaluate_timed, SHARED, runs_alone=True),
    LONG_STREAM: EvaluationProtocol(evaluate_long_stream, SHARED, runs_alone=True),
    PREQUENTIAL: EvaluationProtocol(
        evaluate_prequential,
        (
            *(*SHARED, "adforest.adaptation.metrics", "nextbatch.protocols"),
            *(f"experiments.running.{name}" for name in ("prequential", "probability_metrics")),
        ),
    ),
    ONLINE: EvaluationProtocol(
        evaluate_online,
        (*SHARED, "experiments.running.online", "experiments.rivals.outside", "nextbatch.protocols"),
    ),
}
