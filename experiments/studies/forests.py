"""Forests: what the permanent, the active and the temporary forest answer on their own, and what ADF makes of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import join_words, points
from experiments.comparison.results import Results, count_drifts, mean_of
from experiments.comparison.stages import drift_table
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import dataset_streams, plan_runs

SUMMARY = "the three forests one by one along the batches, with verdicts of temporary and sustained drift"
NAMES = ("ADF-R paper", "ADF-S paper", "ADF-R", "ADF-S")  # the paper's class first
COMPARED_FORESTS = ("permanent", "active", "temporary")
SHOWN = "LDPA"  # the paper's figure
DRIFT_LABELS = {"temporary": "temporary drift", "sustained": "sustained drift"}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_runs(dataset_streams(options), map(MethodSpec, NAMES), options.seeds)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options)
    shown = SHOWN if SHOWN in streams else next(iter(streams))
    return Chapter(
        name="forests",
        title="Three forests",
        question="Which forest is the best where, and does ADF follow the best one?",
        findings=(
            *(_describe_gain(results, streams, name) for name in NAMES),
            *(_describe_drift(results, shown, streams[shown], name) for name in NAMES),
        ),
        caveats=(
            *(_caveat_missed(results, streams, name) for name in NAMES),
            "Each forest is judged on records that all of them could have learnt; where there is no temporary forest, "
            "its batches are missing from its mean, and they are the quiet ones.",
            "A verdict of drift says that the active forest could not be repaired, not that rules have changed: in "
            "these streams they never do, only the mixture of classes and regions does.",
            *caveat_one_seed(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            *(_table(results, streams, name) for name in NAMES),
            _verdicts(results, streams),
            drift_table(results, streams, NAMES),
        ),
        figures=tuple(_figure(results, shown, streams[shown], name) for name in NAMES),
        command=options.command("forests"),
    )


def best_of_three(rows: list[Row]) -> float:
    """Return the mean accuracy of whoever always asked the best forest of each batch."""
    return float(np.mean([max(_accuracy_by_forest(row).values()) for row in rows]))


def follows_best(rows: list[Row]) -> float:
    """Return the share of batches on which ADF answers no worse than the best of its forests."""
    return float(np.mean([row["accuracy"] >= max(_accuracy_by_forest(row).values()) for row in rows]))


def _accuracy_by_forest(row: Row) -> dict[str, float]:
    """Return the accuracy of each forest that there is."""
    return {name: row[f"accuracy_{name}"] for name in COMPARED_FORESTS if row.get(f"accuracy_{name}") is not None}


def _describe_gain(results: Results, streams: Mapping[str, StreamSpec], name: str) -> str:
    """Return what the three forests are worth against the permanent one alone."""
    method = MethodSpec(name)
    gains = [
        results.mean(stream, method, "accuracy") - results.mean(stream, method, mean_of("accuracy_permanent"))
        for stream in streams.values()
    ]
    share = np.mean([results.mean(stream, method, follows_best) for stream in streams.values()])
    return (
        f"{name}: {points(float(np.mean(gains)))} points against its permanent forest alone on average over the data "
        f"sets, from {points(min(gains))} to {points(max(gains))}; its answer is no worse than that of its best forest "
        f"on {share:.0%} of the batches."
    )


def _describe_drift(results: Results, title: str, stream: StreamSpec, name: str) -> str:
    """Return which forest is ahead on batches that were called drift, and on the others."""
    rows = results.rows(stream, MethodSpec(name))
    said = []
    for what, some in (
        ("drift", [row for row in rows if row["drift"] != "none"]),
        ("no drift", [row for row in rows if row["drift"] == "none"]),
    ):
        ahead = [max(_accuracy_by_forest(row), key=_accuracy_by_forest(row).__getitem__) for row in some]
        counts = [f"{forest} {ahead.count(forest)}" for forest in COMPARED_FORESTS if forest in ahead]
        said.append(f"{len(some)} batches of {what} ({join_words(counts) if counts else 'none'})")
    return f"{name} on {title}, seed 0, which forest is ahead: {said[0]}, {said[1]}."


def _caveat_missed(results: Results, streams: Mapping[str, StreamSpec], name: str) -> str:
    """Return what always asking the best forest would have brought."""
    method = MethodSpec(name)
    missed = {
        title: results.mean(stream, method, best_of_three) - results.mean(stream, method, "accuracy")
        for title, stream in streams.items()
    }
    most = max(missed, key=missed.__getitem__)
    return (
        f"Always asking the best forest of each batch would bring {name} "
        f"{points(float(np.mean(list(missed.values()))))} points on average, {points(missed[most])} on {most}."
    )


def _table(results: Results, streams: Mapping[str, StreamSpec], name: str) -> Table:
    """Return mean accuracies of the forests on their own, of the answer, and of the best choice."""
    measures = {**{forest: mean_of(f"accuracy_{forest}") for forest in COMPARED_FORESTS}, name: mean_of("accuracy")}
    measures["best of three"] = best_of_three
    rows: list[tuple[Cell, ...]] = []
    for title, stream in streams.items():
        has = {forest for row in results.rows(stream, MethodSpec(name)) for forest in _accuracy_by_forest(row)} | {name}
        cells = (
            results.cell(stream, MethodSpec(name), measure) if forest in has or forest == "best of three" else None
            for forest, measure in measures.items()
        )
        rows.append((title, *cells))
    note = "The temporary forest's mean is over the batches after which there was one."
    return Table(
        f"{name}: mean accuracy of each forest and of its answer", ("data set", *measures), tuple(rows), 3, "", note
    )


def _verdicts(results: Results, streams: Mapping[str, StreamSpec]) -> Table:
    """Return how many batches were called drift, the mean over the seeds."""
    rows: list[tuple[Cell, ...]] = []
    for title, stream in streams.items():
        cells: list[Cell] = [title]
        for name in NAMES:
            seeds = results.seeds(stream, MethodSpec(name))
            every = [results.rows(stream, MethodSpec(name), seed) for seed in seeds]
            cells += [float(np.mean([count_drifts(some, verdict) for some in every])) for verdict in DRIFT_LABELS]
        rows.append(tuple(cells))
    heads = ("data set", *(f"{name}, {verdict}" for name in NAMES for verdict in DRIFT_LABELS))
    return Table("Batches called drift, mean over the seeds", heads, tuple(rows), 1)


def _figure(results: Results, title: str, stream: StreamSpec, name: str) -> Figure:
    """Return the accuracies of the forests and of the answer along the batches, verdicts marked."""
    rows = results.rows(stream, MethodSpec(name))
    series = {forest: [row[f"accuracy_{forest}"] for row in rows] for forest in COMPARED_FORESTS}
    plot = lines(
        series | {name: [row["accuracy"] for row in rows]},
        [row["batch"] for row in rows],
        y_title="accuracy",
        stages=[str(row["stage"]) for row in rows],
        marks={
            said: [row["batch"] for row in rows if row["drift"] == verdict] for verdict, said in DRIFT_LABELS.items()
        },
    )
    return Figure(
        f"{name} on {title}, seed 0", plot, "Triangles: what ADF took for drift. Shaded: stages of the protocol."
    )
