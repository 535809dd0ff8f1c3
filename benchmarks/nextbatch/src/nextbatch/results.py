"""Results as plain CSV: a row a run, the last row of a key counts."""

from __future__ import annotations

import csv
import os
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nextbatch import __version__

if sys.platform != "win32":
    import fcntl

Row = dict[str, str]

FILE = "runs.csv"
KEY = ("size", "protocol", "stream", "learner", "seed")
MEASURES = (
    "accuracy",
    "log_loss",
    "balanced_accuracy",
    "rare_average_precision",
    "kappa_no_change",
    "kappa_majority",
    "new_class_recall",
    "seconds_per_batch",
    "peak_mb",
)
CURVES = ("accuracy_by_batch", "log_loss_by_batch", "seconds_by_batch", "mb_by_batch")
COLUMNS = (
    *KEY,
    "status",
    *MEASURES,
    "late",
    "n_batches",
    "n_samples",
    "says",
    "title",
    "family",
    "tuned",
    "verified",
    "version",
    "versions",
    "machine",
    "date",
    "table_sha256",
    "predictions_sha256",
    "fingerprint",
    *CURVES,
)
OK, TIMEOUT, MEMORY, ERROR = "ok", "timeout", "memory", "error"


def key_of(row: Row) -> tuple[str, ...]:
    """Return what tells a run from all others."""
    return tuple(row[name] for name in KEY)


def read_rows(*places: Path) -> list[Row]:
    """Return the runs in some folders or files; of two with the same key the later one."""
    rows: dict[tuple[str, ...], Row] = {}
    for place in places:
        path = place / FILE if place.is_dir() else place
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    if set(COLUMNS) - set(row) or None in row.values():
                        raise ValueError(
                            f"{path} is not a table of runs: the columns {', '.join(COLUMNS)} are expected."
                        )
                    rows[key_of(row)] = row
    return list(rows.values())


def append_row(folder: Path, row: dict[str, Any]) -> None:
    """Add a run to a folder's table; several processes may do so at a time, but on Windows."""
    path = folder / FILE
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        writer.writerow({name: as_text(row.get(name)) for name in COLUMNS})


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write runs as a new table, in the order of their keys."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        ordered: list[Row] = sorted(rows, key=key_of)
        writer.writerows(ordered)
    part.replace(path)


def as_text(value: Any) -> str:
    """Return a value as it stands in the table: six digits, lists joined by spaces, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(value) if isinstance(value, list) else str(value)


def number(row: Row, name: str) -> float | None:
    """Return a measure of a run that went through, or None."""
    return float(row[name]) if row["status"] == OK and row.get(name) else None


def describe_machine() -> str:
    """Return what the machine is: processor, cores, system, Python."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def describe_versions() -> str:
    """Return the versions of what all runs have in common."""
    found = {"NumPy": "numpy", "pandas": "pandas", "scikit-learn": "scikit-learn"}
    return ", ".join([f"nextbatch {__version__}", *(f"{name} {version(package)}" for name, package in found.items())])
