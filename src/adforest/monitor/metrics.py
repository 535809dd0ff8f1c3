"""Figures of models as text that Prometheus reads: at the monitor's /metrics, or as a file for node_exporter."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from adforest.adaptation.scoring import VOTE
from adforest.monitor.health import LEVELS
from adforest.monitor.model_view import ModelView

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MAX_STATUS = 10_000  # bytes of a status file


@dataclass(frozen=True, slots=True)
class Status:
    """What a process that learns says of itself beside the model.

    Attributes
    ----------
    files_waiting : int
        That are there and not learnt yet.
    files_rejected : int
        That were ever set aside.
    alerts_waiting, alerts_delivered, alert_failures : int
        Alerts in the outbox, deliveries, and attempts that failed.
    """

    files_waiting: int = 0
    files_rejected: int = 0
    alerts_waiting: int = 0
    alerts_delivered: int = 0
    alert_failures: int = 0


def status_path(model: str | os.PathLike[str]) -> Path:
    """Return where the status of a process lies that learns into a model."""
    real = Path(os.path.realpath(model))
    return real.with_name(f".{real.name}.status")


def read_status(model: str | os.PathLike[str]) -> Status:
    """Return what was last said, nothing where that is not there or makes no sense."""
    try:
        with open(status_path(model), "rb") as file:
            found = json.loads(file.read(MAX_STATUS))
    except (OSError, ValueError, RecursionError):
        return Status()
    names = [one.name for one in fields(Status)]
    if type(found) is not dict or not all(type(found.get(name)) is int and 0 <= found[name] < 2**53 for name in names):
        return Status()
    return Status(**{name: found[name] for name in names})


def written_status(status: Status) -> bytes:
    """Return a status as it lies beside a model."""
    return json.dumps(asdict(status)).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """What is told of a model.

    Attributes
    ----------
    n_batches, n_samples, n_classes : int
    seconds, last_seconds : float
        What learning took, in all and for the last batch.
    accuracy, balanced_accuracy, log_loss : float or None
        Of the last batch that was answered before it was learnt.
    n_temporary, n_sustained : int
        Batches that were called a drift.
    drift : {0, 1, 2}
        Of the last batch: none, temporary, sustained.
    level : {0, 1, 2}
        Health: ok, warning, critical.
    learnt_at : float or None
    """

    n_batches: int
    n_samples: int
    n_classes: int
    seconds: float
    last_seconds: float
    accuracy: float | None
    balanced_accuracy: float | None
    log_loss: float | None
    n_temporary: int
    n_sustained: int
    drift: int
    level: int
    learnt_at: float | None

    @classmethod
    def of(cls, view: ModelView) -> ModelFigures:
        """Return it of all that there is to see."""
        line = view.timeline
        sizes = [last - first + 1 for first, last in zip(line.first, line.last, strict=True)]
        vote = line.accuracy.get(VOTE)
        return cls(
            n_batches=view.n_batches,
            n_samples=view.n_samples,
            n_classes=view.n_classes,
            seconds=sum(one * n for one, n in zip(line.seconds, sizes, strict=True)),
            last_seconds=line.seconds[-1],
            accuracy=_last(vote.mean if vote else ()),
            balanced_accuracy=_last(line.metrics.get("balanced_accuracy", ())),
            log_loss=_last(line.metrics.get("log_loss", ())),
            n_temporary=sum(line.n_temporary),
            n_sustained=sum(line.n_sustained),
            drift=2 if line.n_sustained[-1] else 1 if line.n_temporary[-1] else 0,
            level=LEVELS.index(view.health.level),
            learnt_at=view.freshness.learnt_at,
        )


def _last(values: tuple[float | None, ...]) -> float | None:
    """Return the last figure that is known."""
    return next((one for one in reversed(values) if one is not None), None)


class Family(NamedTuple):
    """A metric: its name without the prefix, its type, what it says, and how it is found."""

    name: str
    kind: str
    help: str
    value: Callable[[Any], float | None]


OF_MODELS = (
    Family("batches_total", "counter", "Batches learnt.", lambda one: one.n_batches),
    Family("records_total", "counter", "Samples learnt.", lambda one: one.n_samples),
    Family("classes", "gauge", "Classes known.", lambda one: one.n_classes),
    Family("learning_seconds_total", "counter", "Seconds that learning took.", lambda one: one.seconds),
    Family("last_batch_seconds", "gauge", "Seconds that learning the last batch took.", lambda one: one.last_seconds),
    Family("last_batch_time_seconds", "gauge", "When it was learnt, since 1970.", lambda one: one.learnt_at),
    Family("accuracy", "gauge", "Accuracy on the last batch before it was learnt.", lambda one: one.accuracy),
    Family("balanced_accuracy", "gauge", "Balanced accuracy, likewise.", lambda one: one.balanced_accuracy),
    Family("log_loss", "gauge", "Log loss, likewise.", lambda one: one.log_loss),
    Family("temporary_drift_batches_total", "counter", "Batches of temporary drift.", lambda one: one.n_temporary),
    Family("sustained_drift_batches_total", "counter", "Batches of sustained drift.", lambda one: one.n_sustained),
    Family("drift", "gauge", "Of the last batch: 0 none, 1 temporary, 2 sustained.", lambda one: one.drift),
    Family("health", "gauge", "0 ok, 1 warning, 2 critical.", lambda one: one.level),
)
OF_STATUS = (
    Family("files_waiting", "gauge", "Files that are not learnt yet.", lambda one: one.files_waiting),
    Family("files_rejected_total", "counter", "Files that were set aside.", lambda one: one.files_rejected),
    Family("alerts_waiting", "gauge", "Alerts that are not delivered yet.", lambda one: one.alerts_waiting),
    Family("alerts_delivered_total", "counter", "Deliveries of alerts.", lambda one: one.alerts_delivered),
    Family("alert_failures_total", "counter", "Deliveries that failed.", lambda one: one.alert_failures),
)


def metrics_text(models: Mapping[str, tuple[ModelFigures | None, Status]]) -> str:
    """Return the figures of models by name, None for those that cannot be read, as Prometheus reads them."""
    lines: list[str] = []
    readable = Family("readable", "gauge", "Whether the model file can be read.", lambda one: float(one is not None))
    for family, place in [(readable, 0), *((one, 0) for one in OF_MODELS), *((one, 1) for one in OF_STATUS)]:
        name = f"adforest_{family.name}"
        lines += [f"# HELP {name} {family.help}", f"# TYPE {name} {family.kind}"]
        for model, found in models.items():
            value = None if found[place] is None and family is not readable else family.value(found[place])
            if value is not None:
                lines.append(f'{name}{{model="{_escaped(model)}"}} {float(value)!r}')
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    """Return the value of a label as it stands between quotes."""
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").encode("utf-8", "replace").decode()
