"""Time: seconds a batch, learning and answering apart, the published times beside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.comparison.caveats import caveat_methods_left_out, caveat_quick
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.published import METHOD_OF_COLUMN, PUBLISHED_METHODS, read_published
from experiments.comparison.results import Results
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import scatter
from experiments.running.measures import Row
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import ADF, COMMON_RIVALS, RIVALS, dataset_streams, plan_34_batches

SUMMARY = "mean seconds a batch, learning and answering apart, published times beside"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_34_batches(options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options)
    learning = Comparison(results, streams, "train_seconds", is_better_high=False)
    answering = Comparison(results, streams, answer_milliseconds, is_better_high=False)
    accuracy = Comparison(results, streams, "accuracy")
    names = learning.present((*ADF, *RIVALS))
    everywhere = learning.complete(names)
    points = {name: (learning.mean(name), accuracy.mean(name)) for name in everywhere}
    return Chapter(
        name="time",
        title="Seconds a batch",
        question="What does it cost to learn a batch, and to answer?",
        findings=(
            *(_describe_ratio(learning, ours, COMMON_RIVALS) for ours in ADF),
            f"Least CPU seconds to learn a batch: {learning.describe_leaders(names)}.",
            f"No method is both faster to learn and more accurate, on average over the data sets, than "
            f"{join_words(find_frontier(points))}.",
        ),
        caveats=(
            _caveat_dearer(learning, everywhere),
            "CPU seconds of one thread on one machine, which other work may have slowed; River's learners are written "
            "in Python and ours are compiled, so these are times of programs, not of algorithms.",
            "The paper does not say on which machine its times were taken, nor whether they include answering.",
            *caveat_methods_left_out(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            learning.table("CPU seconds to learn a batch, mean over the batches", names, digits=4),
            answering.table("CPU milliseconds to answer 1,000 test records", names, digits=2),
            *([] if options.quick else [_published_table(results, learning)]),
        ),
        figures=(
            Figure(
                "Accuracy against seconds of learning",
                scatter(points, x_title="CPU seconds to learn a batch", y_title="mean accuracy", log_x=True),
                "Means over the data sets, of the methods that ran on all of them. Up and to the left is better.",
            ),
        ),
        command=options.command("time"),
    )


def answer_milliseconds(rows: list[Row]) -> float:
    """Return the milliseconds that 1,000 test records take, over all batches."""
    tested = [row for row in rows if row["predict_seconds"] is not None]
    return 1e6 * float(sum(row["predict_seconds"] for row in tested)) / float(sum(row["n_test"] for row in tested))


def find_frontier(points: dict[str, tuple[float, float]]) -> list[str]:
    """Return the methods to which no other is preferable in both cost and accuracy, cheapest first.

    Examples
    --------
    >>> find_frontier({"a": (1.0, 0.5), "b": (2.0, 0.9), "c": (3.0, 0.8)})
    ['a', 'b']
    """
    frontier: list[str] = []
    best = -np.inf
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1])):
        if points[name][1] > best:
            frontier.append(name)
            best = points[name][1]
    return frontier


def _describe_ratio(learning: Comparison, ours: str, rivals: Sequence[str]) -> str:
    """Return how our seconds stand to those of some rivals, as the geometric mean of ratios over the data sets."""
    ratios = []
    for rival in learning.complete(rivals):
        logs = [np.log(learning.value(one, ours) / learning.value(one, rival)) for one in learning.streams]
        ratios.append(f"{np.exp(np.mean(logs)):.2g} times those of {rival}")
    return f"{ours} takes {learning.mean(ours):.3f} CPU seconds a batch on average: {join_words(ratios)}."


def _caveat_dearer(learning: Comparison, names: Sequence[str]) -> str:
    """Return which rivals learn faster than the fastest ADF."""
    ours = min(ADF, key=learning.mean)
    faster = [name for name in names if name not in ADF and learning.mean(name) < learning.mean(ours)]
    return f"Faster than {ours}, the fastest ADF: {join_words(faster) if faster else 'none'}."


def _published_table(results: Results, learning: Comparison) -> Table:
    """Return our milliseconds, learning and answering, above the published ones."""
    answering = Comparison(results, learning.streams, "predict_seconds")
    theirs = read_published("overall_time_ms")
    rows: list[tuple[Cell, ...]] = []
    for stream in learning.streams:
        ours = []
        for name in PUBLISHED_METHODS:
            learn, answer = (found.value_if_run(stream, METHOD_OF_COLUMN[name]) for found in (learning, answering))
            ours.append(None if learn is None or answer is None else 1000 * (learn + answer))
        rows.append((f"{stream}, ours", *ours))
        rows.append((f"{stream}, published", *(theirs.value(stream, name) for name in PUBLISHED_METHODS)))
    note = "Ours: learning and answering, with the paper's settings for SysFor, RF, CIRF and ADF."
    return Table(
        "Milliseconds a batch beside the published ones", ("data set", *PUBLISHED_METHODS), tuple(rows), 0, "min", note
    )
