"""Time: milliseconds a batch, the published times beside; learning and answering apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.comparison.caveats import caveat_quick, caveats_as_published
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.published import METHOD_OF_COLUMN
from experiments.comparison.published_comparison import NOTE, PublishedComparison, plan_as_published
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter, Figure
from experiments.reporting.plots import scatter
from experiments.running.measures import Row
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import ADF, ADF_PAPER, dataset_streams

SUMMARY = "mean milliseconds a batch, published times beside; learning and answering apart"
COMPARED = ("RF batch paper", "SysFor batch paper", METHOD_OF_COLUMN["ARF"])


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_as_published(dataset_streams(options), options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options)
    learning = Comparison(results, streams, "train_seconds", is_better_high=False)
    answering = Comparison(results, streams, answer_milliseconds, is_better_high=False)
    batches = Comparison(results, streams, batch_milliseconds, is_better_high=False)
    accuracy = Comparison(results, streams, "accuracy")
    names = learning.present((*METHOD_OF_COLUMN.values(), *ADF))
    points = {name: (learning.mean(name), accuracy.mean(name)) for name in learning.complete(names)}
    return Chapter(
        name="time",
        title="Seconds per batch",
        question="What does it cost to learn a batch, and to answer?",
        findings=(
            *(_describe_ratio(learning, ours, COMPARED) for ours in (*ADF_PAPER, *ADF)),
            f"Least CPU seconds to learn a batch: {learning.describe_leaders(names)}.",
            f"No method is both faster to learn and more accurate, on average over the data sets, than "
            f"{join_words(find_frontier(points))}.",
        ),
        caveats=(
            "CPU seconds of one thread on one machine, which other work may have slowed. MOA's learners are written in "
            "Java and ours are compiled, so these are times of programs, not of algorithms.",
            "The paper does not say on which machine its times were taken, nor whether they include answering.",
            *caveats_as_published(options, "House"),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            PublishedComparison(batches, "overall_time_ms").make_table(
                "Milliseconds per batch beside the published ones",
                digits=0,
                note=f"Ours: learning and predicting. {NOTE}",
            ),
            learning.table("CPU seconds to learn a batch, mean over the batches", names, digits=4),
            answering.table("CPU milliseconds to answer 1,000 test samples", names, digits=2),
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


def batch_milliseconds(rows: list[Row]) -> float:
    """Return the mean milliseconds of learning a batch and answering its test set."""
    return 1e3 * float(np.mean([row["train_seconds"] + row["predict_seconds"] for row in rows]))


def answer_milliseconds(rows: list[Row]) -> float:
    """Return the milliseconds that 1,000 test samples take, over all batches."""
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
    said = f": {join_words(ratios)}" if ratios else ""
    return f"{ours} takes {learning.mean(ours):.3f} CPU seconds a batch on average{said}."
