"""Readings: PaperADFClassifier as the author's program has it, and as the text does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, points
from experiments.comparison.published import METHOD_OF_COLUMN, read_published
from experiments.comparison.results import Measure, Results, count_drifts, last_of
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import bars
from experiments.specs.methods import with_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import Streams, dataset_streams, plan_runs

SUMMARY = "the paper's program and its text, read literally, side by side: accuracy, drift, leaves, retention"
DATASETS = ("LDPA", "AReM", "EB")
COLUMNS = ("ADF-R", "ADF-S")
READINGS = ("program", "text")
PUBLISHED = "overall_accuracy"
COUNTS: dict[str, tuple[Measure, int]] = {  # by title, with decimals
    "Batches called drift": (count_drifts, 1),
    "Batches called sustained drift": (partial(count_drifts, verdict="sustained"), 1),
    "Leaves of the permanent forest after the last batch": (last_of("leaves_permanent"), 0),
}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_runs(dataset_streams(options, names=DATASETS), _methods().values(), options.seeds)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options, names=DATASETS)
    accuracy = _compare(results, streams, "accuracy")
    return Chapter(
        name="readings",
        title="Two readings of the paper",
        question="Where the paper's text and its program differ, what does it change?",
        findings=tuple(_describe_readings(accuracy, column) for column in COLUMNS),
        caveats=(
            "The published figures were made with the program. The readings differ in three points: the confidence of "
            "a leaf after a batch, the samples that a leaf is expanded from, and which trees change their shape.",
            *caveat_one_seed(options),
            *caveat_quick(options, "LDPA, AReM and EB"),
        ),
        tables=(
            _accuracy_table(accuracy),
            _compare(results, streams, last_of("retention")).table("Retention after the last batch"),
            *(
                replace(_compare(results, streams, measure).table(title, digits=digits), best="")
                for title, (measure, digits) in COUNTS.items()
            ),
        ),
        figures=(
            Figure(
                "Accuracy by reading",
                bars(
                    {label: [accuracy.value(stream, label) for stream in streams] for label in accuracy.methods},
                    list(streams),
                    title="mean accuracy over the batches",
                ),
                "Higher is better.",
            ),
        ),
        command=options.command("readings"),
    )


def _methods() -> dict[str, MethodSpec]:
    """Return both methods in both readings, by the names that tables give them."""
    return {
        _label(column, reading): with_settings(METHOD_OF_COLUMN[column], reading=reading)
        for column in COLUMNS
        for reading in READINGS
    }


def _label(column: str, reading: str) -> str:
    """Return what a table calls a reading of a method."""
    return f"{METHOD_OF_COLUMN[column]}, {reading}"


def _compare(results: Results, streams: Streams, measure: Measure) -> Comparison:
    """Return the readings side by side."""
    return Comparison(results, streams, measure, _methods())


def _describe_readings(accuracy: Comparison, column: str) -> str:
    """Return what the program's reading brings against the text's, and how near each is to the published figures."""
    program, text = (_label(column, reading) for reading in READINGS)
    theirs = read_published(PUBLISHED)
    rows = {stream: theirs.value(theirs.row_for(stream), column) or 0.0 for stream in accuracy.streams}
    off = [
        sum(abs(accuracy.value(stream, label) - figure) for stream, figure in rows.items()) / len(rows)
        for label in (program, text)
    ]
    return (
        f"{METHOD_OF_COLUMN[column]}: the program's reading is {points(accuracy.mean_gap(program, text))} points "
        f"against the text's on average; from the published figures it is {100 * off[0]:.1f} points away, the text's "
        f"{100 * off[1]:.1f}."
    )


def _accuracy_table(accuracy: Comparison) -> Table:
    """Return mean accuracies in both readings, the published figure of each method next to them."""
    theirs = read_published(PUBLISHED)
    heads = [
        head for column in COLUMNS for head in (*(_label(column, one) for one in READINGS), f"{column}, published")
    ]
    rows: list[tuple[Cell, ...]] = []
    for stream in accuracy.streams:
        cells: list[Cell] = []
        for column in COLUMNS:
            cells += [accuracy.per_seed(stream, _label(column, reading)).cell() for reading in READINGS]
            cells.append(theirs.value(theirs.row_for(stream), column))
        rows.append((stream, *cells))
    return Table("Mean accuracy over the batches", ("data set", *heads), tuple(rows), 3)
