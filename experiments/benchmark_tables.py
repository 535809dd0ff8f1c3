"""Tables and figures of benchmarks/record.jsonl, in which `make bench` keeps a line for each measure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from experiments.running.behaviour import fingerprint_behaviour
from experiments.specs.run_spec import MethodSpec

RECORD = Path(__file__).parents[1] / "benchmarks" / "record.jsonl"
EARLIER = "with an earlier version of the code"
# What the table of costs shows: its row, the measure, our figure, the other's name and figure, and how they compare.
COSTS: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("", "grow 10 trees on 160,000 x 6", "seconds", "", "sklearn_seconds", "times_faster"),
    ("", "accuracy on 20,000 fresh records after 160,000", "accuracy", "", "sklearn_accuracy", "points_above"),
    ("", "grow 10 trees on 4,000 x 6", "seconds", "", "sklearn_seconds", "times_faster"),
    ("", "accuracy on 20,000 fresh records after 4,000", "accuracy", "", "sklearn_accuracy", "points_above"),
    ("", "grow 10 SysFor trees on 4,000 x 6", "seconds", "random forest: ", "random_forest_seconds", "times_slower"),
    (
        "samples per second, a Hoeffding tree on 100,000 x 6",
        "Hoeffding tree on 100,000 x 6",
        *("records_per_second", "River: ", "river_records_per_second", "times_faster"),
    ),
    ("", "n_jobs=2 on 160,000 x 6", "seconds", "one thread: ", "one_thread_seconds", "times_faster"),
    ("", "predict 100,000 records", "seconds", "", "sklearn_seconds", "times_faster"),
    ("", "predict one record", "seconds", "", "sklearn_seconds", "times_faster"),
    (
        "predict_proba of 100,000 samples by all forests after 8 batches, 20 trees",
        "the vote of 100,000 records in ONNX Runtime",
        *("our_seconds", "ONNX Runtime, our export: ", "seconds", "share_of_ours"),
    ),
    (
        "... of one sample",
        "the vote of one record in ONNX Runtime",
        *("our_seconds", "ONNX Runtime: ", "seconds", "share_of_ours"),
    ),
    *(
        (
            f"partial_fit along LDPA, 10 trees, memory_size={size}, per batch",
            f"partial_fit along LDPA, memory_size={size}",
            *("seconds_per_batch", "refitted on the last 3: ", "sklearn_last_3_seconds", "share_of_last_3"),
        )
        for size in ("100000", "None")
    ),
    *(
        (
            f"partial_fit of {size} with a memory of 100,000 x 10, mean of 2,000 batches",
            f"a batch of {size} with a memory of 100,000 x 10, mean of 2,000",
            *("milliseconds", "", "", ""),
        )
        for size in (1, 5, 20)
    ),
    (
        "partial_fit of 100 samples after `fit` of 2,000,000 x 20",
        "a batch of 100 after a fit of 2,000,000 x 20",
        *("first_seconds", "later ones: ", "later_seconds", ""),
    ),
    (
        "`adforest predict` from Parquet to Parquet, 10 columns, 10 trees, one core, rows per second",
        "adforest predict, Parquet to Parquet",
        *("records_a_second", "without its start: ", "records_a_second_without_start", ""),
    ),
    ("save a model", "save and load, with records", "save_seconds", "load it: ", "load_seconds", ""),
)
SCALE = (
    ("learning", "learn 10,000,000 x 10 in 5 batches", "seconds", "", "local_seconds", "times"),
    ("learning, CPU seconds of all processes", "learn 10,000,000 x 10 in 5 batches", "", "", "", "cpu_times"),
    ("scoring 10 million samples", "score 10,000,000 records", "seconds", "", "local_seconds", "times"),
    ("bytes moved", "bytes moved", "megabytes", "by the formula ", "formula_megabytes", "times"),
    (
        "client and scheduler, 100,000 samples drawn from each batch",
        "memory of client and scheduler",
        *("megabytes", "with a tenth of the samples ", "megabytes_tenth", "times"),
    ),
)
SERVICE = (
    *(
        (name, f"service{workers}: single predictions", "requests_per_second", "99 % within ", "p99_milliseconds", "")
        for name, workers in (("requests of one sample per second", ""), ("... with `--workers 2`", ", 2 workers"))
    ),
    (
        "samples per second, 10,000 in a request (Arrow)",
        "service: samples in requests of 10,000",
        *("samples_per_second", "99 % within ", "p99_milliseconds", ""),
    ),
    *(
        (
            name,
            f"service{workers}: 99 % quantile while it learns",
            *("learning_milliseconds", "idle: ", "idle_milliseconds", "times"),
        )
        for name, workers in (
            ("99 % of requests take at most, while batches of 2,000 are learnt", ""),
            ("... with `--workers 2`, five busy processes on the two cores", ", 2 workers"),
        )
    ),
    *(
        (
            f"labels acknowledged per second, tables in {tables}",
            f"service, {tables}: labels on the disk",
            *("labels_per_second", "", "", ""),
        )
        for tables in ("SQLite", "PostgreSQL")
    ),
    *(
        (
            f"... while their batches are learnt, {tables}",
            f"service, {tables}: labels on the disk while their batches are learnt",
            *("labels_per_second", "", "", ""),
        )
        for tables in ("SQLite", "PostgreSQL")
    ),
    (
        "requests of one sample per second, 20 trees, beside MLServer with a scikit-learn forest",
        "service beside MLServer: single predictions",
        *("per_second", "MLServer: ", "mlserver_per_second", "times_faster"),
    ),
    (
        "memory of all processes, last third of 30 minutes of requests, labels and batches",
        "service: 30 minutes of requests",
        *("megabytes_end", "first third: ", "megabytes_begin", ""),
    ),
)
CLUSTER = "simulated: a batch of 1e+10 records on 1,000 cores"
CLUSTER_STEPS = {
    "count, seconds": "count undrawn samples in all trees: proportional to samples per core and to trees",
    "schedule tasks, seconds": "schedule tasks, a few for each partition: more cores do not help",
    "build trees, seconds": "grow trees, on at most as many workers as there are trees",
    "send trees to count in, seconds": "send trees to all workers, passed on from one to the next",
    "merge counts, seconds": "merge counts",
    "send records to build from, seconds": "send drawn samples to the workers that grow trees",
    "bring trees to the client, seconds": "bring trees to the client, whatever the number of samples",
    "bring records to the client, seconds": "bring drawn samples to the client, whatever their number in the batch",
    "draw, seconds": "draw samples",
    "survey, seconds": "survey columns and classes",
}


@cache
def read_benchmarks(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    """Return the lines of the record of benchmarks by measure."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return {line["measure"]: line for line in map(json.loads, text.splitlines())}


def find_benchmark(measure: str) -> dict[str, Any] | None:
    """Return the line of a measure, by its name or how that begins; None if it was never recorded."""
    lines = read_benchmarks()
    return next((line for name, line in lines.items() if name == measure or name.startswith(f"{measure}, ")), None) or (
        next((line for name, line in lines.items() if name.startswith(measure)), None)
    )


def benchmark_figure(measure: str, field: str) -> str:
    """Return a figure of a measure with its unit.

    Examples
    --------
    >>> benchmark_figure("save and load, with records", "nodes")
    '1,277,244'
    """
    line = find_benchmark(measure)
    if line is None or field not in line:
        known = ", ".join(read_benchmarks() if line is None else line)
        raise LookupError(f"benchmarks/record.jsonl has no {field!r} of {measure!r}; it has {known}")
    return _quantity(line, field)


def costs_table() -> str:
    """Return how long learning and predicting take, beside scikit-learn."""
    return benchmark_table(COSTS, ["", "adforest", "scikit-learn's RandomForest, 10 trees", ""])


def scale_table() -> str:
    """Return what Dask costs on one machine."""
    return benchmark_table(SCALE, ["", "Dask", "local", ""])


def service_table() -> str:
    """Return the rates and response times of the service."""
    return benchmark_table(SERVICE, ["", "service", "", ""])


def cluster_table() -> str:
    """Return the simulated seconds of a batch on a large cluster by what they are spent on, the longest first."""
    line = find_benchmark(CLUSTER) or {}
    steps = sorted(CLUSTER_STEPS, key=lambda step: -line.get(step, 0.0))
    rows = [[CLUSTER_STEPS[step], _quantity(line, step)] for step in steps]
    return (
        as_table([["", ""], ["---", "---"], *rows, ["**all**", _quantity(line, "seconds")]])
        + f"\n\n{_taken([CLUSTER])}"
    )


def benchmark_table(rows: Iterable[tuple[str, str, str, str, str, str]], heads: list[str]) -> str:
    """Return rows of benchmarks as a table, and when they were taken."""
    rows = list(rows)
    return as_table([heads, ["---"] * len(heads), *map(_benchmark_row, rows)]) + "\n\n" + _taken(row[1] for row in rows)


def _benchmark_row(row: tuple[str, str, str, str, str, str]) -> list[str]:
    """Return the cells of a benchmark."""
    said, measure, ours, other, theirs, ratio = row
    line = find_benchmark(measure)
    compared = _quantity(line, theirs)
    name = said or measure.replace("records", "samples").replace("record", "sample").replace("fresh", "new")
    return [name, _quantity(line, ours), f"{other}{compared}" if compared else "", _quantity(line, ratio)]


def _quantity(line: dict[str, Any] | None, field: str) -> str:
    """Return a figure with the unit that its field's name says."""
    if not field:
        return ""
    value = None if line is None else line.get(field)
    if value is None:
        return "–"
    if "milliseconds" in field:
        return _seconds(value / 1e3)
    if "per_second" in field or "a_second" in field:
        return f"{value:,.0f}"
    if "seconds" in field:
        return _seconds(value)
    if "megabytes" in field:
        return f"{value / 1e3:.2f} GB" if value >= 1e3 else f"{value:.0f} MB"
    if field.startswith("points"):
        return f"{value:+.1f} points"
    if "times" in field or field.startswith("share"):
        return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _seconds(value: float) -> str:
    """Return seconds in a unit that suits them.

    Examples
    --------
    >>> [_seconds(value) for value in (22e-6, 0.00065, 0.0614, 11.31, 75.0)]
    ['22 µs', '0.65 ms', '61 ms', '11.3 s', '75 s']
    """
    factor, unit = next(((f, u) for f, u in ((1.0, "s"), (1e3, "ms")) if value * f >= 0.1), (1e6, "µs"))
    scaled = value * factor
    digits = 2 if scaled < 1 else 1 if scaled < 20 and unit == "s" else 0
    return f"{scaled:.{digits}f} {unit}"


def _taken(measures: Iterable[str]) -> str:
    """Return when and at which commits some benchmarks were taken, and whether predictions have changed since.

    Whether speed has changed since then is not known: the commit tells of which code it is.
    """
    lines = {line["measure"]: line for measure in measures if (line := find_benchmark(measure)) is not None}
    if not lines:
        return "Not measured yet: `make bench`."
    now = fingerprint_behaviour(MethodSpec("ADF-R"))
    origins: dict[str, list[str]] = {}
    for name, line in lines.items():
        earlier = "" if line["behaviour"] == now else f", {EARLIER}"
        origin = f"on {line['date']} at commit {line['commit']}{earlier}, on {line['machine']}"
        origins.setdefault(origin, []).append(name)
    said = [origin if len(origins) == 1 else f"{origin}: {'; '.join(names)}" for origin, names in origins.items()]
    return f"Measured {'. Measured '.join(said)}."


def as_table(rows: Iterable[list[str]]) -> str:
    """Return rows as a Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
