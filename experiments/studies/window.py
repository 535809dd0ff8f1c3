"""Window: what a reserve window of several batches buys, in a refitted forest and in ADF."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, points
from experiments.comparison.results import Results, last_of
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.specs.methods import with_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import dataset_streams, plan_runs

SUMMARY = "the reserve window: refitted with and without it as in the paper, and ADF with windows of 1 to 8 batches"
FIRST_BATCHES = 8  # batches, as in the paper
SIZES = (1, 2, 3, 5, 8)
REFITTED = {
    "SysFor": MethodSpec("SysFor batch paper"),
    "SysFor, window of 3": MethodSpec.of("SysFor batch paper", window=3),
    "RF": MethodSpec("RF batch paper"),
    "RF, window of 3": MethodSpec.of("RF batch paper", window=3),
}
ADF_NAMES = ("ADF-R paper", "ADF-R")  # the paper's class first


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return [
        *plan_runs(dataset_streams(options, names=["House"]), REFITTED.values(), options.seeds),
        *(
            run
            for name in ADF_NAMES
            for run in plan_runs(dataset_streams(options), _sizes(name).values(), options.seeds)
        ),
    ]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    house, streams = dataset_streams(options, names=["House"]), dataset_streams(options)
    refitted = {column: Comparison(results, house, first_batches(column), REFITTED) for column in COLUMNS}
    ours = {name: Comparison(results, streams, "accuracy", _sizes(name)) for name in ADF_NAMES}
    return Chapter(
        name="window",
        title="The reserve window",
        question="Is it worth rebuilding from the last few batches instead of the last one?",
        findings=(
            *(_describe_refitted(refitted, name) for name in ("SysFor", "RF")),
            *(_describe_sizes(found, name) for name, found in ours.items()),
        ),
        caveats=(
            "The paper's comparison is of SysFor with and without a window, not of ADF, on 8 batches of its House, "
            "which is not public; ours is drawn by our own generator, and its first 8 batches are taken.",
            "Tests hold records of the two batches before, which favours a window of three by design.",
            "CPU seconds on one machine, which other work may have slowed.",
            *caveat_one_seed(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            _refitted_table(refitted),
            *(found.table(f"{name}: mean accuracy by batches in the window") for name, found in ours.items()),
            *(
                Comparison(results, streams, last_of("retention"), _sizes(name)).table(
                    f"{name}: retention after the last batch"
                )
                for name in ADF_NAMES
            ),
            *(
                Comparison(results, streams, "train_seconds", _sizes(name), is_better_high=False).table(
                    f"{name}: CPU seconds to learn a batch", digits=4
                )
                for name in ADF_NAMES
            ),
        ),
        figures=(
            *(_along(results, house, column, title) for column, title in COLUMNS.items()),
            *(_figure(name, found) for name, found in ours.items()),
        ),
        command=options.command("window"),
    )


COLUMNS = {"accuracy": "accuracy", "train_seconds": "CPU seconds to learn a batch"}


def first_batches(column: str) -> Callable[[list[Row]], float]:
    """Return what takes the mean of a column over the first batches."""

    def mean(rows: list[Row]) -> float:
        return float(np.mean([row[column] for row in rows[:FIRST_BATCHES]]))

    return mean


def _sizes(name: str) -> dict[str, MethodSpec]:
    """Return a method with windows of some sizes, by the number of batches."""
    return {str(size): with_settings(name, window_size=size) for size in SIZES}


def _describe_refitted(refitted: dict[str, Comparison], name: str) -> str:
    """Return what a window buys a refitted forest, and what it costs."""
    (stream,) = refitted["accuracy"].streams
    window = f"{name}, window of 3"
    gain = refitted["accuracy"].gap(stream, window, name).mean
    cost = refitted["train_seconds"].value(stream, window) / refitted["train_seconds"].value(stream, name)
    return (
        f"{name} refitted on the last three batches instead of one: {points(gain)} points over the first "
        f"{FIRST_BATCHES} batches of {stream}, at {cost:.1f} times the seconds."
    )


def _describe_sizes(found: Comparison, name: str) -> str:
    """Return which window is best for ADF, and what the default and no window are worth against it."""
    best = max(found.methods, key=found.mean)
    chosen = next(size for size, method in found.methods.items() if not method.settings)
    alone = found.mean_gap("1", chosen)
    return (
        f"{name}: best on average over the data sets with a window of {best} ({found.mean(best):.3f}), "
        f"{points(found.mean_gap(chosen, best))} points with {chosen}, the default; without a window, of 1 batch, "
        f"{points(alone)} against that."
    )


def _refitted_table(refitted: dict[str, Comparison]) -> Table:
    """Return accuracy and seconds with and without a window."""
    (stream,) = refitted["accuracy"].streams
    digits = {"accuracy": 3, "train_seconds": 4}
    rows: list[tuple[Cell, ...]] = [
        (name, *(found.per_seed(stream, name).cell(digits[column]) for column, found in refitted.items()))
        for name in REFITTED
    ]
    title = f"Refitted with and without a window, mean over the first {FIRST_BATCHES} batches of {stream}"
    return Table(title, ("", *COLUMNS.values()), tuple(rows), 4, "", "The paper's leaf sizes.")


def _along(results: Results, house: dict[str, StreamSpec], column: str, title: str) -> Figure:
    """Return a column of the refitted forests along the first batches."""
    ((name, stream),) = house.items()
    series = {
        label: results.by_batch(stream, method, column)[:FIRST_BATCHES].tolist() for label, method in REFITTED.items()
    }
    plot = lines(series, list(range(1, FIRST_BATCHES + 1)), y_title=title)
    return Figure(f"{name}: {title} with and without a window", plot, "As in the paper's figure, means over the seeds.")


def _figure(name: str, found: Comparison) -> Figure:
    """Return the mean accuracy of ADF by the size of its window."""
    series = {stream: [found.value(stream, size) for size in found.methods] for stream in found.streams}
    plot = lines(series, list(SIZES), x_title="batches in the window", y_title="mean accuracy")
    return Figure(f"{name} by the size of its window", plot, "A line for each data set.")
