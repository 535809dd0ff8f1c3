"""Cost: seconds and bytes along the stream, and how they grow."""

from __future__ import annotations

import numpy as np

from experiments.comparison.caveats import caveat_methods_left_out, caveat_quick
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.per_batch import PerBatch
from experiments.comparison.results import Results, last_of
from experiments.reporting.chapter import Chapter
from experiments.running.measures import Row
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import ADF, RIVALS, dataset_streams, plan_34_batches, plan_methods

SUMMARY = "seconds and bytes along the stream, and how both grow from its first third to its last"
GROWTH_METHODS = (*ADF, "RF batch", "RF last 3", "RF all", "SysFor all", "Add trees", "CIRF", "LightGBM", "HT")
SHOWN = (*ADF, "RF all", "RF last 3", "Add trees")
MEGABYTE = 1e6


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return [
        *plan_34_batches(options),
        *plan_methods(dataset_streams(options, "big", ["LDPA"]), GROWTH_METHODS, options),
    ]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams, even = dataset_streams(options), dataset_streams(options, "big", ["LDPA"])
    growth = Comparison(results, even, seconds_growth, is_better_high=False)
    names = growth.present(GROWTH_METHODS)
    ((title, stream),) = even.items()
    per_batch = PerBatch(results, stream, names)
    every = Comparison(results, streams, "accuracy").present((*ADF, *RIVALS))
    size = Comparison(results, streams, last_megabytes, is_better_high=False)
    return Chapter(
        name="cost",
        title="Cost and its growth",
        question="Does a batch cost as much at the end of a stream as at its beginning?",
        findings=(
            *_describe_growth(growth, Comparison(results, even, bytes_growth), names),
            f"Smallest model after the last batch: {size.describe_leaders(every)}.",
            *(_describe_size(size, ours) for ours in ADF),
        ),
        caveats=(
            _caveat_growth(growth, names),
            "Bytes are those of the pickled model: records it keeps count, buffers it needs while learning do not.",
            "ADF keeps records up to memory_size; a stream shorter than that keeps growing it. On longer streams it "
            "levels off, which these streams cannot show.",
            "GrowthParams is measured on equal random batches of one data set, so that only the stream's length tells.",
            "CPU seconds on one machine, which other work may have slowed.",
            *caveat_methods_left_out(options),
            *caveat_quick(options, "LDPA and the six data sets"),
        ),
        tables=(
            growth.table(f"{title}, 34 equal batches: seconds of the last third over the first", names, digits=2),
            Comparison(results, even, bytes_growth, is_better_high=False).table(
                f"{title}, 34 equal batches: bytes of the last third over the first", names, digits=2
            ),
            Comparison(results, even, last_seconds, is_better_high=False).table(
                f"{title}, 34 equal batches: CPU milliseconds for 1,000 records in the last third", names, digits=1
            ),
            size.table("Megabytes after the last batch of the 34-batch streams", every, digits=2),
        ),
        figures=(
            per_batch.figure(f"{title}: seconds a batch", "train_seconds", "CPU seconds", shown=SHOWN, log_y=True),
            per_batch.figure(f"{title}: bytes", "bytes", "bytes of the pickled model", shown=SHOWN, log_y=True),
        ),
        command=options.command("cost"),
    )


def thirds(rows: list[Row], column: str) -> tuple[float, float]:
    """Return the mean of a column over the first third of the batches and over the last, where it was measured."""
    third = len(rows) // 3
    means = [
        float(np.mean([row[column] for row in some if row[column] is not None]))
        for some in (rows[:third], rows[-third:])
    ]
    return means[0], means[1]


def seconds_growth(rows: list[Row]) -> float:
    """Return how many times as long learning takes in the last third as in the first; the first batch is left out."""
    first, last = thirds(rows[1:], "train_seconds")
    return last / first


def bytes_growth(rows: list[Row]) -> float:
    """Return how many times as large the model is in the last third as in the first."""
    first, last = thirds(rows, "bytes")
    return last / first


def last_seconds(rows: list[Row]) -> float:
    """Return the milliseconds that learning 1,000 records takes in the last third."""
    some = rows[-(len(rows) // 3) :]
    return 1e6 * float(sum(row["train_seconds"] for row in some)) / float(sum(row["n_train"] for row in some))


def last_megabytes(rows: list[Row]) -> float:
    """Return the megabytes of the model after the last batch."""
    return last_of("bytes")(rows) / MEGABYTE


def _describe_growth(seconds: Comparison, size: Comparison, names: list[str]) -> list[str]:
    """Return how much seconds and bytes grow, method by method."""
    (stream,) = seconds.streams
    said = []
    for what, found in (("Seconds per batch", seconds), ("Bytes", size)):
        grown = {name: found.value(stream, name) for name in names}
        order = sorted(grown, key=grown.__getitem__)
        said.append(
            f"{what} grow, first third to last: {join_words([f'{name} {grown[name]:.1f}×' for name in order])}."
        )
    return said


def _caveat_growth(growth: Comparison, names: list[str]) -> str:
    """Return which rivals' seconds grow less than those of the best ADF."""
    (stream,) = growth.streams
    grown = {name: growth.value(stream, name) for name in names}
    ours = min(ADF, key=grown.__getitem__)
    flatter = [name for name in names if name not in ADF and grown[name] < grown[ours]]
    return f"Seconds that grow less than those of {ours}: {join_words(flatter) if flatter else 'none'}."


def _describe_size(size: Comparison, ours: str) -> str:
    """Return how large a model of ours is beside that of a forest refitted on everything, with its records."""
    ratio = np.mean([size.value(one, ours) / size.value(one, "RF all") for one in size.streams])
    return f"{ours} takes {size.mean(ours):.1f} MB on average, {ratio:.1f} times as much as RF all with its records."
