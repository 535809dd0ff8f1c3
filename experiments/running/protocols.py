"""How parts are measured: most follow their stream the usual way, some need an eye of their own."""

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
from adforest.streams import Batch
from experiments.running.prequential import FORESTS, Row, follow_stream, predict_then_learn
from experiments.running.timing import cpu_seconds, read_resident_bytes, time_forests
from experiments.specs.generators import GENERATORS
from experiments.specs.methods import find_method, make_model
from experiments.specs.run_spec import USUAL, Part
from experiments.specs.sources import Stream, open_stream, shape_of

TOLD, RECALL, TIMED, ENDLESS, NEXT_BATCH = "told", "recall", "timed", "endless", "next_batch"
TESTED = 2_000  # records of each class that recall is measured on, the latest ones


@dataclass(frozen=True)
class Followed:
    """What came of a part.

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
class Kind:
    """A way to measure a part.

    Attributes
    ----------
    follow : callable
        Runs a part, given the folder of the data sets.
    is_alone : bool
        Whether nothing else may run meanwhile, in a process of its own.
    """

    follow: Callable[[Part, Path | None], Followed]
    is_alone: bool = False


def find_kind(part: Part) -> Kind:
    """Return how a part is measured."""
    if part.kind not in KINDS:
        raise ValueError(f"there is no kind of part {part.kind!r}; expected one of {', '.join(KINDS)}")
    return KINDS[part.kind]


def follow_usual(part: Part, folder: Path | None) -> Followed:
    """Measure everything that can be measured after each batch, see `follow_stream`."""
    stream = open_stream(part.stream, part.seed, folder)
    model = make_model(part.method, stream, part.seed)
    rows = follow_stream(stream, model, part.seed, is_numerical=find_method(part.method).is_numerical)
    return Followed(model, stream.digest(), rows)


def follow_told(part: Part, folder: Path | None) -> Followed:
    """Tell a method when the concept changes: it forgets everything then, and knows the new concept alone."""
    stream = open_stream(part.stream, part.seed, folder)
    rows: list[Row] = []
    for _, run in groupby(stream.batches, key=lambda batch: batch.scenario):
        model = make_model(part.method, stream, part.seed)
        is_numerical = find_method(part.method).is_numerical
        rows += follow_stream(replace(stream, batches=list(run)), model, part.seed, is_numerical=is_numerical)
    return Followed(model, stream.digest(), rows)


def follow_recalls(part: Part, folder: Path | None) -> Followed:
    """Measure, after each batch, how many test records of each class seen so far are recognised.

    Rows have ``batch``, ``stage``, ``n_train``, ``accuracy`` on the batch's test set, and ``recall_<class>`` on the
    latest test records of the class, whether or not the batch has any.
    """
    stream = open_stream(part.stream, part.seed, folder)
    model = make_model(part.method, stream, part.seed)
    tests: dict[Any, AnyArray] = {}
    rows = []
    for batch in stream.batches:
        model.partial_fit(batch.X_train, batch.y_train)
        for value in np.unique(batch.y_test).tolist():
            fresh = batch.X_test[batch.y_test == value]
            tests[value] = np.concatenate([tests.get(value, fresh[:0]), fresh])[-TESTED:]
        recalls = {f"recall_{value}": float(np.mean(model.predict(X) == value)) for value, X in tests.items()}
        rows.append(_start_row(batch) | {"accuracy": _score(model, batch)} | recalls)
    return Followed(model, stream.digest(), rows)


def follow_next_batch(part: Part, folder: Path | None) -> Followed:
    """Let a method answer each batch before it learns it, see `predict_then_learn`."""
    stream = open_stream(part.stream, part.seed, folder)
    model = make_model(part.method, stream, part.seed)
    rows = predict_then_learn(stream, model, is_numerical=find_method(part.method).is_numerical)
    return Followed(model, stream.digest(), rows)


def follow_timed(part: Part, folder: Path | None) -> Followed:
    """Take the time a method needs, in turn with what scikit-learn needs for the same batch.

    Rows have ``batch``, ``stage``, ``n_train``, ``accuracy``, ``train_seconds``, and what `time_forests` finds.
    """
    stream = open_stream(part.stream, part.seed, folder)
    model = make_model(part.method, stream, part.seed)
    n_trees = model.get_params()["n_estimators"]
    rows = []
    for position, batch in enumerate(stream.batches):
        row = _start_row(batch) | _learn(model, batch) | {"accuracy": _score(model, batch)}
        rows.append(row | time_forests(stream.batches[: position + 1], len(stream.batches), n_trees, part.seed))
    return Followed(model, stream.digest(), rows)


def follow_endless(part: Part, folder: Path | None) -> Followed:
    """Measure what a method costs along a stream too long to be kept: each batch is drawn, learnt and let go.

    Rows have ``batch``, ``stage``, ``n_train``, ``accuracy``, ``train_seconds``, ``resident_bytes`` of the process, and
    for ADF ``drift`` and ``nodes_<forest>``.
    """
    model = make_model(part.method, shape_of(part.stream), part.seed)
    total = hashlib.sha256()
    rows = []
    for batch in GENERATORS[part.stream.name].draw(part.stream, part.seed):
        row = _start_row(batch) | _learn(model, batch) | {"resident_bytes": read_resident_bytes()}
        rows.append(row | {"accuracy": _score(model, batch)} | _count_nodes(model))
        total.update(Stream([batch], (), 0).digest().encode())
    return Followed(model, total.hexdigest(), rows)


def _start_row(batch: Batch) -> Row:
    """Return what is known of a batch before it is learnt."""
    return {"batch": batch.number, "stage": batch.scenario, "n_train": len(batch.y_train)}


def _learn(model: Any, batch: Batch) -> Row:
    """Let a model learn a batch, and return the CPU seconds it took."""
    return {"train_seconds": cpu_seconds(lambda: model.partial_fit(batch.X_train, batch.y_train))}


def _score(model: Any, batch: Batch) -> float:
    """Return the accuracy on a batch's test set."""
    return float(np.mean(model.predict(batch.X_test) == batch.y_test))


def _count_nodes(model: Any) -> Row:
    """Return the nodes of ADF's forests, None where there is no forest, and its verdict."""
    if not isinstance(model, BaseADFClassifier):
        return {}
    learner = model._checked().state.state
    forests = {name: learner.forest(name) for name in FORESTS}
    nodes = {f"nodes_{name}": None if forest is None else forest.n_nodes for name, forest in forests.items()}
    return {"drift": model.history_[-1].drift} | nodes


KINDS = {
    USUAL: Kind(follow_usual),
    TOLD: Kind(follow_told),
    RECALL: Kind(follow_recalls),
    TIMED: Kind(follow_timed, is_alone=True),
    ENDLESS: Kind(follow_endless, is_alone=True),
    NEXT_BATCH: Kind(follow_next_batch),
}
