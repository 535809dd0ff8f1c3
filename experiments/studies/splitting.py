"""Splitting: SAT, entropy and iSAT, on the toy batches and on the data sets."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.results import Results, last_of
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import bars
from experiments.specs.generators import TOY_BATCHES, TOY_STAGES
from experiments.specs.methods import with_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import dataset_streams, plan_runs

SUMMARY = "where perturbed trees are cut: SAT, entropy and iSAT on toy batches and on six data sets"
STRATEGIES = {"SAT": "sat", "entropy": "entropy", "iSAT": "isat"}
NAMES = ("ADF-R paper", "ADF-R")
TOY = StreamSpec("toy", "three batches")


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    streams = dataset_streams(options)
    return [
        *plan_runs({"toy": TOY}, _toy_methods().values(), [0]),
        *(run for name in NAMES for run in plan_runs(streams, _methods(name).values(), options.seeds)),
    ]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options)
    accuracy = {name: Comparison(results, streams, "accuracy", _methods(name)) for name in NAMES}
    retention = {name: Comparison(results, streams, last_of("retention"), _methods(name)) for name in NAMES}
    leaves = {
        name: Comparison(results, streams, last_of("leaves_permanent"), _methods(name), is_better_high=False)
        for name in NAMES
    }
    return Chapter(
        name="splitting",
        title="SAT, entropy, iSAT",
        question="Where should a tree be cut that a batch has perturbed?",
        findings=(
            _describe_toy(results),
            *(_describe_strategies(found, name) for name, found in accuracy.items()),
        ),
        caveats=(
            "The toy's numbers are ours, in the spirit of the paper's figure, whose numbers are not in its source.",
            *(_caveat_isat(found, name) for name, found in accuracy.items()),
            "With our defaults one tree a batch is grown anew and other forests stand by, which hides much of what a "
            "strategy does to a tree.",
            *caveat_one_seed(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            _toy_table(results),
            *(found.table(f"{name}: mean accuracy over the batches") for name, found in accuracy.items()),
            *(found.table(f"{name}: retention after the last batch") for name, found in retention.items()),
            *(
                found.table(f"{name}: leaves of the permanent forest after the last batch", digits=0)
                for name, found in leaves.items()
            ),
        ),
        figures=tuple(_figure(name, found) for name, found in accuracy.items()),
        command=options.command("splitting"),
    )


def _methods(name: str) -> dict[str, MethodSpec]:
    """Return a method with each strategy."""
    return {title: with_settings(name, splitting=splitting) for title, splitting in STRATEGIES.items()}


def _toy_methods() -> dict[str, MethodSpec]:
    """Return a single tree with each strategy: SysFor's first, which is built without a bootstrap, never renewed."""
    return {
        title: with_settings("ADF-S", splitting=splitting, n_estimators=1, renewal=0)
        for title, splitting in STRATEGIES.items()
    }


def _describe_toy(results: Results) -> str:
    """Return how many toy houses each strategy's tree has right in the end."""
    ends = {title: results.rows(TOY, method)[-1] for title, method in _toy_methods().items()}
    total = sum(map(len, TOY_BATCHES))
    said = "; ".join(
        f"{title} {round(total * row['accuracy_permanent'])} with {row['leaves_permanent']} leaves"
        for title, row in ends.items()
    )
    return f"Of {total} toy houses the tree has right after three batches: {said}."


def _describe_strategies(found: Comparison, name: str) -> str:
    """Return what iSAT brings against the others on the data sets."""
    gaps = {other: found.mean_gap("iSAT", other) for other in ("entropy", "SAT")}
    return (
        f"{name}, iSAT: {points(gaps['entropy'])} points against entropy and {points(gaps['SAT'])} against SAT on "
        "average over the data sets."
    )


def _caveat_isat(found: Comparison, name: str) -> str:
    """Return on which data sets another strategy is ahead of iSAT."""
    behind = [
        f"{other} on {stream} ({points(-gap)})"
        for stream in found.streams
        for other in ("entropy", "SAT")
        if (gap := found.gap(stream, "iSAT", other).mean) < 0
    ]
    return f"{name}: {'ahead of iSAT: ' + join_words(behind) if behind else 'no other strategy is ahead of iSAT'}."


def _toy_table(results: Results) -> Table:
    """Return houses right and leaves of the one tree after each toy batch."""
    rows: list[tuple[Cell, ...]] = []
    for title, method in _toy_methods().items():
        for row in results.rows(TOY, method):
            so_far = sum(map(len, TOY_BATCHES[: row["batch"]]))
            right = round(so_far * row["accuracy_permanent"])
            story = TOY_STAGES[row["batch"] - 1]
            rows.append(
                (
                    f"{title}, batch {row['batch']}",
                    story,
                    f"{right} of {so_far}",
                    row["accuracy_permanent"],
                    row["leaves_permanent"],
                )
            )
    return Table(
        "Toy: one tree along three batches of ten houses",
        ("", "batch", "houses right", "share", "leaves"),
        tuple(rows),
        2,
    )


def _figure(name: str, found: Comparison) -> Figure:
    """Return accuracies by data set."""
    series = {title: [found.value(stream, title) for stream in found.streams] for title in found.methods}
    plot = bars(series, list(found.streams), title="mean accuracy over the batches")
    return Figure(f"{name}: accuracy by strategy", plot, "Higher is better.")
