"""Results as plain CSV: a row a run, the last row of a key counts."""

from __future__ import annotations

import csv
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nextbatch import __version__
from nextbatch.batches import QUICK_BATCHES, QUICK_SIZE

if sys.platform != "win32":
    import fcntl

Row = dict[str, str]

FILE, SUBMISSIONS = "runs.csv", "submissions"
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
    "late",
)
CURVES = ("accuracy_by_batch", "log_loss_by_batch", "seconds_by_batch", "mb_by_batch")
COLUMNS = (
    *KEY,
    "status",
    *MEASURES,
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
    "timeout",
    "memory",
    "table_sha256",
    "predictions_sha256",
    "fingerprint",
    *CURVES,
)
SUBMITTED = "yours"  # the family of learners that are submissions, whatever their rows say
_EMPTY = dict.fromkeys(COLUMNS, "")  # columns that an earlier version did not write
QUICK = "quick"  # the size of a quick run
N_VERIFIED = 2  # streams that `verify` runs again, and without which a learner is unverified
OK, TIMEOUT, MEMORY, ERROR = "ok", "timeout", "memory", "error"


def key_of(row: Row) -> tuple[str, ...]:
    """Return what tells a run from all others."""
    return tuple(row[name] for name in KEY)


def read_rows(*places: Path) -> list[Row]:
    """Return the runs in some folders or files, none if there is no file; of two with the same key the later one."""
    rows: dict[tuple[str, ...], Row] = {}
    for place in places:
        path = place / FILE if place.is_dir() else place
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                reader = csv.DictReader(file)
                absent = set(KEY) - set(reader.fieldnames or ())
                if absent:
                    raise ValueError(
                        f"{path} is not a table of runs: the columns {', '.join(sorted(absent))} are missing."
                    )
                for row in reader:
                    if None in row.values() or None in row:
                        raise ValueError(f"line {reader.line_num} of {path} is not a whole row; remove it.")
                    rows[key_of(row)] = _EMPTY | row
    return list(rows.values())


def read_results(*places: Path) -> list[Row]:
    """Return the runs in some folders, and those of the submissions beside each of them: ``submissions/NAME``.

    Of a submission only runs of the learner NAME are taken, and none if the folders have runs of a learner of that
    name: they cannot change anybody else's results.
    """
    rows = read_rows(*places)
    names = {row["learner"] for row in rows}
    for path in [path for place in places for path in sorted((place.parent / SUBMISSIONS).glob(f"*/{FILE}"))]:
        name = path.parent.name
        if name not in names:
            rows += [row | {"family": SUBMITTED} for row in read_rows(path) if row["learner"] == name]
    return rows


def choose_sizes(rows: Sequence[Row]) -> list[Row]:
    """Return the runs that are compared: of each protocol on each stream those of one size.

    It is the largest size that all learners with a run there have, so that one longer run hides no others. Where no
    size is common to all, it is the one that most of them have, of several such the largest.

    Examples
    --------
    >>> made = [("full", "a"), ("first 20 batches", "a"), ("first 20 batches", "b"), ("quick", "b")]
    >>> rows = [{"protocol": "p", "stream": "s", "size": size, "learner": learner} for size, learner in made]
    >>> [row["learner"] for row in choose_sizes(rows)], choose_sizes(rows)[0]["size"]
    (['a', 'b'], 'first 20 batches')
    """
    learners: dict[tuple[str, str], dict[str, set[str]]] = {}
    for row in rows:
        sizes = learners.setdefault((row["protocol"], row["stream"]), {})
        sizes.setdefault(row["size"], set()).add(row["learner"])
    chosen = {
        place: max(sizes, key=lambda size: (len(sizes[size]), _extent(size))) for place, sizes in learners.items()
    }
    return [row for row in rows if row["size"] == chosen[row["protocol"], row["stream"]]]


def _extent(size: str) -> float:
    """Return a number that is larger for runs of longer parts of streams."""
    return {"quick": 0.0, "full": float("inf")}.get(size) or float("".join(filter(str.isdigit, size)) or 0)


def say_sizes(rows: Sequence[Row]) -> str:
    """Return how much of each stream was run, in words.

    Examples
    --------
    >>> say_sizes([{"stream": "a", "size": "full"}, {"stream": "b", "size": "first 20 batches"}])
    'first 20 batches of 1 stream, the whole of 1 stream'
    >>> say_sizes([{"stream": "a", "size": "full"}])
    'the whole of each stream'
    """
    streams: dict[str, set[str]] = {}
    for row in rows:
        streams.setdefault(row["size"], set()).add(row["stream"])
    names = {"full": "the whole", "quick": f"{QUICK_BATCHES} batches of {QUICK_SIZE} samples"}
    parts = []
    for size in sorted(streams, key=_extent):
        n = len(streams[size])
        where = "each stream" if len(streams) == 1 else f"{n} stream{'s' if n > 1 else ''}"
        parts.append(f"{names.get(size, size)} of {where}")
    return ", ".join(parts)


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


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep other runs from the folder meanwhile: they would do the same jobs, and take time from each other.

    Raises
    ------
    ValueError
        If another one is there. On Windows nothing is locked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="utf-8") as file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"another run writes to {folder}; wait for it, or use another --out.") from None
        yield


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
