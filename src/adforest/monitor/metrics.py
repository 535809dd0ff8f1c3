"""Metrics of models in the text format of Prometheus: at the monitor's /metrics, or as a file for node_exporter."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from adforest.adaptation.scoring import VOTE
from adforest.monitor.health import LEVELS
from adforest.monitor.model_view import ModelView

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MAX_STATUS = 10_000  # bytes of a status file
Figures: TypeAlias = Mapping[str, float | None]  # by name of the family, without the prefix


@dataclass(frozen=True, slots=True)
class Status:
    """Status of a process that learns, in a file beside the model.

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
    """Return the path of the status of a process that learns into a model."""
    real = Path(os.path.realpath(model))
    return real.with_name(f".{real.name}.status")


def read_status(model: str | os.PathLike[str]) -> Status:
    """Return the last status, one of zeros where there is none or it is damaged."""
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
    """Return the content of a status file."""
    return json.dumps(asdict(status)).encode() + b"\n"


class Family(NamedTuple):
    """A metric: its name without the prefix, type, help, and the function that computes it."""

    name: str
    kind: str
    help: str
    value: Callable[[Any], float | None]


def _seconds(view: ModelView) -> float:
    """Return the seconds that learning took in all; of a block of batches, the mean is known."""
    line = view.timeline
    return sum(one * (last - first + 1) for one, first, last in zip(line.seconds, line.first, line.last, strict=True))


def _total(name: str) -> Callable[[ModelView], int]:
    """Return a function that sums up a count over all batches."""
    return lambda view: sum(getattr(view.timeline, name))


def _drift(view: ModelView) -> int:
    """Return the drift of the last batch as a number."""
    return 2 if view.timeline.n_sustained[-1] else 1 if view.timeline.n_temporary[-1] else 0


def _last(name: str) -> Callable[[ModelView], float | None]:
    """Return a function that returns the last known value of a metric of the vote."""

    def last(view: ModelView) -> float | None:
        vote = view.timeline.accuracy.get(VOTE)
        known = {**view.timeline.metrics, "accuracy": vote.mean if vote else ()}
        return next((one for one in reversed(known[name]) if one is not None), None)

    return last


READABLE = Family("readable", "gauge", "Whether the model file can be read.", lambda one: float(one is not None))
OF_MODELS = (
    Family("batches_total", "counter", "Batches learnt.", lambda one: one.n_batches),
    Family("records_total", "counter", "Samples learnt.", lambda one: one.n_samples),
    Family("classes", "gauge", "Classes known.", lambda one: one.n_classes),
    Family("learning_seconds_total", "counter", "Seconds that learning took.", _seconds),
    Family(
        "last_batch_seconds",
        "gauge",
        "Seconds that learning the last batch took.",
        lambda one: one.timeline.seconds[-1],
    ),
    Family("last_batch_time_seconds", "gauge", "When it was learnt, since 1970.", lambda one: one.freshness.learnt_at),
    Family("accuracy", "gauge", "Accuracy on the last batch before it was learnt.", _last("accuracy")),
    Family("balanced_accuracy", "gauge", "Balanced accuracy, likewise.", _last("balanced_accuracy")),
    Family("log_loss", "gauge", "Log loss, likewise.", _last("log_loss")),
    Family("temporary_drift_batches_total", "counter", "Batches of temporary drift.", _total("n_temporary")),
    Family("sustained_drift_batches_total", "counter", "Batches of sustained drift.", _total("n_sustained")),
    Family("drift", "gauge", "Of the last batch: 0 none, 1 temporary, 2 sustained.", _drift),
    Family("health", "gauge", "0 ok, 1 warning, 2 critical.", lambda one: LEVELS.index(one.health.level)),
)
OF_STATUS = (
    Family("files_waiting", "gauge", "Files that are not learnt yet.", lambda one: one.files_waiting),
    Family("files_rejected_total", "counter", "Files that were set aside.", lambda one: one.files_rejected),
    Family("alerts_waiting", "gauge", "Alerts that are not delivered yet.", lambda one: one.alerts_waiting),
    Family("alerts_delivered_total", "counter", "Deliveries of alerts.", lambda one: one.alerts_delivered),
    Family("alert_failures_total", "counter", "Deliveries that failed.", lambda one: one.alert_failures),
)


def figures_of(view: ModelView | None) -> Figures:
    """Return the figures of a model by name, those of a file that cannot be read for None."""
    return {one.name: one.value(view) for one in (READABLE, *(OF_MODELS if view is not None else ()))}


def metrics_text(models: Mapping[str, tuple[Figures, Status]]) -> str:
    """Return the figures and the status of models, by name, in the text format of Prometheus."""
    rows = {
        model: {**figures, **{one.name: one.value(status) for one in OF_STATUS}}
        for model, (figures, status) in models.items()
    }
    lines: list[str] = []
    for family in (READABLE, *OF_MODELS, *OF_STATUS):
        name = f"adforest_{family.name}"
        lines += [f"# HELP {name} {family.help}", f"# TYPE {name} {family.kind}"]
        for model, row in rows.items():
            value = row.get(family.name)
            if value is not None:
                lines.append(f'{name}{{model="{escaped(model)}"}} {float(value)!r}')
    return "\n".join(lines) + "\n"


def escaped(label: str) -> str:
    """Return the value of a label, escaped for quotes."""
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").encode("utf-8", "replace").decode()
