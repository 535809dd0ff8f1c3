"""Data sets: the paper's table of them beside ours, and what its accuracy column may have been measured with."""

from __future__ import annotations

import numpy as np

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.published import read_published
from experiments.comparison.results import Results, last_of
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import dots
from experiments.running.measures import Row
from experiments.specs.methods import with_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import dataset_streams, plan_runs

SUMMARY = "records, features and classes beside the published ones, and how the paper's accuracy column was measured"
# Whose accuracy the paper's column may be, all fitted once; leaf sizes are the paper's, River's tree has its defaults.
DEFINITIONS = {
    "Hoeffding tree": with_settings("ADF-H paper", n_estimators=1),
    "Hoeffding tree, River": with_settings("HT"),
    "10 Hoeffding trees": with_settings("ADF-H paper"),
    "SysFor's first tree": with_settings("SysFor batch paper", n_estimators=1),
    "SysFor, 10 trees": with_settings("SysFor batch paper"),
    "RF, 10 trees": with_settings("RF batch paper"),
}
COLUMN = "classification_accuracy"
OWN = "House"  # ours is drawn anew, the paper's is not public


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study: four fifths of a data set are learnt at once, the rest is the test."""
    return plan_runs(dataset_streams(options, "whole"), DEFINITIONS.values(), options.seeds)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    accuracy = Comparison(results, dataset_streams(options, "whole"), last_of("accuracy"), DEFINITIONS)
    nearest = find_nearest(accuracy)
    return Chapter(
        name="datasets",
        title="The data sets",
        question="Are these the paper's data sets, and what is the accuracy that its table gives for each?",
        findings=(
            _describe_counts(accuracy),
            _describe_nearest(accuracy, nearest),
            _describe_forests(accuracy),
        ),
        caveats=(
            "The paper does not say how its accuracy column was measured. Here four fifths of the records, drawn at "
            "random, are learnt in one go and the rest is the test. Which method it was is inferred: the nearest of "
            f"{len(DEFINITIONS)} definitions on {len(_compared(accuracy))} data sets is a close fit and no proof.",
            *_explain(nearest),
            f"The paper's {OWN} is not public. Ours is drawn by rules of our own, so that it is not used to find the "
            "nearest definition.",
            "The paper counts the class as an attribute.",
            *caveat_one_seed(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(_glance_table(accuracy, nearest), _definitions_table(accuracy)),
        figures=(_figure(accuracy),),
        command=options.command("datasets"),
    )


def find_nearest(accuracy: Comparison) -> str:
    """Return the definition whose accuracies are nearest to the published column on average."""
    return min(DEFINITIONS, key=lambda name: mean_distance(accuracy, name))


def mean_distance(accuracy: Comparison, name: str) -> float:
    """Return how far a definition is from the published column, the mean over the data sets that are the paper's."""
    return float(np.mean([abs(_gap(accuracy, stream, name)) for stream in _compared(accuracy)]))


def _compared(accuracy: Comparison) -> list[str]:
    """Return the data sets that are the paper's own; House if there is no other."""
    return [stream for stream in accuracy.streams if stream != OWN] or [OWN]


def _gap(accuracy: Comparison, stream: str, name: str) -> float:
    """Return how much higher our accuracy is than the published one."""
    return accuracy.value(stream, name) - _published(stream, COLUMN)


def _published(stream: str, column: str) -> float:
    """Return a figure of the paper's table of data sets."""
    value = read_published("datasets").value(stream, column)
    assert value is not None, f"the paper has no {stream}"
    return value


def _counts(accuracy: Comparison, stream: str) -> tuple[int, int, int]:
    """Return records, features and classes of a data set as a run saw them."""
    method = DEFINITIONS["RF, 10 trees"]
    run = RunSpec(accuracy.streams[stream], method)
    record = accuracy.results.records[run]
    row: Row = record.rows[-1]
    return row["n_train"] + row["n_test"], len(record.settings["categorical_features"]), row["n_classes"]


# What is said


def _describe_counts(accuracy: Comparison) -> str:
    """Return where records, features or classes differ from the published ones."""
    other = []
    for stream in accuracy.streams:
        columns = ("records", "attributes", "classes")
        records, features, classes = _counts(accuracy, stream)
        for what, ours, column in zip(columns, (records, features + 1, classes), columns, strict=True):
            theirs = int(_published(stream, column))
            if ours != theirs:
                other.append(f"{stream} has {ours:,} {what}, in the paper {theirs:,}")
    if not other:
        return "Samples, features and classes are those of the paper's table."
    return f"Samples, features and classes are those of the paper's table, but {join_words(other)}."


def _describe_nearest(accuracy: Comparison, nearest: str) -> str:
    """Return which definition is nearest to the published column, and how near."""
    gaps = join_words([f"{stream} {points(_gap(accuracy, stream, nearest))}" for stream in _compared(accuracy)])
    return (
        f"Nearest to the published accuracies is {nearest}: {100 * mean_distance(accuracy, nearest):.1f} points off on "
        f"average ({gaps})."
    )


def _describe_forests(accuracy: Comparison) -> str:
    """Return how far the other definitions are."""
    order = sorted(DEFINITIONS, key=lambda name: mean_distance(accuracy, name))[1:]
    said = join_words([f"{name} {100 * mean_distance(accuracy, name):.1f}" for name in order])
    return f"The others are off by, in points on average: {said}."


def _explain(nearest: str) -> list[str]:
    """Return why a column of Hoeffding trees would be as low as it is."""
    if "Hoeffding" not in nearest:
        return []
    return [
        "A Hoeffding tree looks at each sample once and splits a leaf only when it is almost sure of the best feature. "
        "That would explain why the column lies far below what forests make of the same records, most of all on "
        "Avila: it says what one careful pass finds, not how hard a data set is."
    ]


# What is shown


def _glance_table(accuracy: Comparison, nearest: str) -> Table:
    """Return the paper's table with our figures beside each of its own."""
    rows: list[tuple[Cell, ...]] = []
    for stream in accuracy.streams:
        records, features, classes = _counts(accuracy, stream)
        theirs = [int(_published(stream, column)) for column in ("records", "attributes", "classes")]
        counts = [f"{ours:,} / {paper:,}" for ours, paper in zip((records, features + 1, classes), theirs, strict=True)]
        right, published = accuracy.value(stream, nearest), _published(stream, COLUMN)
        rows.append((stream, *counts, right, published, f"{points(right - published)} points"))
    heads = ("data set", "records", "attributes", "classes", "accuracy", "published accuracy", "difference")
    note = f"Counts: ours / published, the class being an attribute. Accuracy: {nearest}, learnt from four fifths."
    return Table("The data sets at a glance", heads, tuple(rows), 2, note=note)


def _definitions_table(accuracy: Comparison) -> Table:
    """Return the accuracy by every definition, and how far each is from the published column."""
    rows: list[tuple[Cell, ...]] = [
        (stream, *(accuracy.value(stream, name) for name in DEFINITIONS), _published(stream, COLUMN))
        for stream in accuracy.streams
    ]
    rows.append(("mean distance to published", *(mean_distance(accuracy, name) for name in DEFINITIONS), None))
    note = f"The mean distance leaves {OWN} out." if len(accuracy.streams) > 1 else ""
    return Table(
        "Accuracy on a fifth of the records, by definition",
        ("data set", *DEFINITIONS, "published"),
        tuple(rows),
        note=note,
    )


def _figure(accuracy: Comparison) -> Figure:
    """Return all definitions and the published column as dots."""
    streams = list(accuracy.streams)
    series: dict[str, list[float | None]] = {"published": [_published(stream, COLUMN) for stream in streams]}
    series |= {name: [accuracy.value(stream, name) for stream in streams] for name in DEFINITIONS}
    return Figure("Accuracy by definition", dots(series, streams, title="accuracy"), "The paper's figure among ours.")
