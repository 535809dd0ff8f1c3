"""Goal 3: bounded memory costs little, and neither bytes nor seconds grow along ten million records."""

from __future__ import annotations

import numpy as np

from adforest.adaptation import FORESTS
from experiments.comparison.comparison import Comparison
from experiments.comparison.results import Results, last_of
from experiments.goals.goal import Outcome, at_least, at_most, gap_table, worst_gap
from experiments.reporting.chapter import Cell, Figure, Table
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.specs import selections
from experiments.specs.methods import default_settings, with_default_trees
from experiments.specs.options import Options
from experiments.specs.run_spec import LONG_STREAM, RunSpec, StreamSpec
from experiments.specs.selections import dataset_streams, plan_runs

TITLE = "3 Bounds"
ADF_R, UNBOUNDED = "ADF-R", "memory_size=None"
METHODS = {ADF_R: with_default_trees(ADF_R), UNBOUNDED: with_default_trees(ADF_R, memory_size=None)}
MIN_GAP, MAX_GROWTH = -1.0, 1.3  # points, and times as much
MEGABYTE = 1e6
CONCEPT = "hyperplane"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the goal."""
    return [
        *plan_runs(dataset_streams(options), METHODS.values(), [0]),
        RunSpec(long_stream(options), METHODS[ADF_R], 0, LONG_STREAM),
    ]


def long_stream(options: Options) -> StreamSpec:
    """Return a stream of ten million records in 300 batches whose concept changes slowly in the middle."""
    counts = selections.batch_counts(options, full=(300, 33_334), quick=(30, selections.QUICK_SAMPLES // 5))
    return StreamSpec.of("drift", "gradual", concept=CONCEPT, **counts)


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    first = Results({run: record for run, record in results.records.items() if run.seed == 0})
    streams = dataset_streams(options)
    accuracy = Comparison(first, streams, "accuracy", METHODS)
    retention = Comparison(first, streams, last_of("retention"), METHODS)
    rows = results.with_protocol(LONG_STREAM).rows(long_stream(options), METHODS[ADF_R])
    bytes_, seconds = (growth(rows, column) for column in ("resident_bytes", "train_seconds"))
    losses = {
        what: worst_gap(found, ADF_R, UNBOUNDED) for what, found in (("accuracy", accuracy), ("retention", retention))
    }
    n = sum(row["n_train"] for row in rows)
    return Outcome(
        verdicts=(
            *(
                at_least(f"points of {what} above {UNBOUNDED}, worst data set ({where})", MIN_GAP, gap)
                for what, (where, gap) in losses.items()
            ),
            at_most(f"resident memory at the end of {n:,} records, × after a tenth", MAX_GROWTH, bytes_),
            at_most(f"seconds a batch at the end of {n:,} records, × after a tenth", MAX_GROWTH, seconds),
        ),
        findings=(
            f"Room for {default_settings(ADF_R)['memory_size']:,} older records, the default, against room for all: "
            + " and ".join(
                f"{gap:+.1f} points of {what} where it costs most ({where})" for what, (where, gap) in losses.items()
            )
            + ".",
            f"Along {n:,} records in {len(rows)} batches, the last tenth against the end of the first: {bytes_:.2f} "
            f"times the memory, {seconds:.2f} times the seconds a batch.",
        ),
        caveats=(
            "Resident memory is the whole process's, Python and libraries included, which makes growth look smaller "
            "than that of the model alone; what the allocator keeps after a peak counts too.",
            f"One run of one stream, {CONCEPT}, whose concept changes in its middle; by its "
            "end it is one that began after the first tenth.",
        ),
        tables=(
            gap_table(f"3 Bounds: points of accuracy above {UNBOUNDED}, seed 0", accuracy, ADF_R),
            gap_table(f"3 Bounds: points of retention above {UNBOUNDED}, seed 0", retention, ADF_R),
            _table(rows),
        ),
        figures=(
            _figure(rows, "resident_bytes", MEGABYTE, "megabytes"),
            _figure(rows, "train_seconds", 1.0, "CPU seconds"),
            _nodes(rows),
        ),
    )


def growth(rows: list[Row], column: str) -> float:
    """Return a column's mean over the last tenth of the batches, over that of the last third of the first tenth."""
    early, late = _ends(rows)
    return float(np.mean([row[column] for row in late]) / np.mean([row[column] for row in early]))


def _ends(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the batches that growth is measured from, and those it is measured to."""
    tenth = max(1, len(rows) // 10)
    return rows[2 * tenth // 3 : tenth], rows[-tenth:]


def _table(rows: list[Row]) -> Table:
    """Return what a batch costs after a tenth of the long stream and at its end."""
    made: list[tuple[Cell, ...]] = []
    for some in _ends(rows):
        nodes = (None if (n := _mean(some, f"nodes_{name}")) is None else round(n) for name in FORESTS)
        span = f"{some[0]['batch']} to {some[-1]['batch']}"
        memory = _mean(some, "resident_bytes") or 0.0
        made.append((span, memory / MEGABYTE, _mean(some, "train_seconds"), _mean(some, "accuracy"), *nodes))
    heads = ("batches", "megabytes", "seconds a batch", "accuracy", *(f"nodes, {name}" for name in FORESTS))
    return Table("3 Bounds: the long stream", heads, tuple(made), 3)


def _mean(rows: list[Row], column: str) -> float | None:
    """Return the mean of a column where it was measured."""
    values = [row[column] for row in rows if row.get(column) is not None]
    return float(np.mean(values)) if values else None


def _figure(rows: list[Row], column: str, unit: float, title: str) -> Figure:
    """Return a column along the long stream."""
    plot = lines({ADF_R: [row[column] / unit for row in rows]}, [row["batch"] for row in rows], y_title=title)
    return Figure(f"3 Bounds: {title} along the long stream", plot, "After each batch.")


def _nodes(rows: list[Row]) -> Figure:
    """Return the nodes of each forest along the long stream."""
    series = {name: [row.get(f"nodes_{name}") for row in rows] for name in FORESTS}
    plot = lines(series, [row["batch"] for row in rows], y_title="nodes")
    return Figure("3 Bounds: nodes of each forest along the long stream", plot, "A forest that is not there has none.")
