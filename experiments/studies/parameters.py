"""Parameters: the main ones of ADF-R, each changed alone from its default."""

from __future__ import annotations

import numpy as np

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.results import Results, count_drifts, last_of
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import bars
from experiments.specs.methods import default_settings, with_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec, Scalar
from experiments.specs.selections import dataset_streams, plan_runs

SUMMARY = "each main parameter of ADF-R, 10 trees, changed alone from the defaults, on six data sets"
ADF_R, DEFAULT = "ADF-R", "defaults, 10 trees"
MIN_CHANGE = 0.002  # of accuracy; smaller changes are not spoken of

# What the first row has is left out.
CHOICES: dict[str, tuple[Scalar, ...]] = {
    "memory_size": (None, 100_000, 10_000, 0),
    "min_samples_leaf": (1, 5, 20),
    "splitting": ("isat", "entropy", "sat"),
    "renewal": (0, 1, 3),
    "answer_for": ("next_batch", "everything"),
    "n_estimators": (5, 10, 20),
    "drift_threshold": (1, 3, 6),
    "window_size": (1, 3, 5),
    "max_features": ("default", "sqrt", None),
    "max_depth": (None, 12),
}


def choices() -> dict[str, MethodSpec]:
    """Return ADF-R with its defaults but for 10 trees, and with each parameter changed alone."""
    has = default_settings(ADF_R)
    changed = {
        f"{name}={value}": with_settings(ADF_R, **{name: value})
        for name, values in CHOICES.items()
        for value in values
        if value != has[name]
    }
    return {DEFAULT: MethodSpec(ADF_R), **changed}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_runs(dataset_streams(options), choices().values(), options.seeds)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams, methods = dataset_streams(options), choices()
    accuracy = Comparison(results, streams, "accuracy", methods)
    retention = Comparison(results, streams, last_of("retention"), methods)
    return Chapter(
        name="parameters",
        title="Parameters",
        question="What does accuracy lose or gain when one parameter is changed and everything else left as it is?",
        findings=(
            _describe_needed(accuracy),
            _describe_better(accuracy),
            _describe_idle(accuracy),
            _describe_kept(retention),
        ),
        caveats=(
            "The defaults were chosen on these data sets with seed 0, so that they stand a little better here than "
            "they would elsewhere.",
            "One parameter at a time: what two changes do together is not seen.",
            "Choices that lose here may win where rules change: these streams' rules never do.",
            *caveat_one_seed(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            _change_table("Points of mean accuracy against the defaults", accuracy),
            _change_table("Points of retention after the last batch against the defaults", retention),
            _cost_table(results, accuracy),
        ),
        figures=(_figure(accuracy),),
        command=options.command("parameters"),
    )


def _changes(found: Comparison) -> dict[str, float]:
    """Return what each change does on average over the data sets."""
    return {name: found.mean_gap(name, DEFAULT) for name in found.methods if name != DEFAULT}


def _list(changes: dict[str, float]) -> str:
    """Return changes with what they do, as an enumeration."""
    return join_words([f"{name} ({points(change)})" for name, change in changes.items()])


def _describe_needed(found: Comparison) -> str:
    """Return which choices cost most when changed."""
    worst = sorted(_changes(found).items(), key=lambda pair: pair[1])[:5]
    return f"Changes that cost most, in points of accuracy on average over the data sets: {_list(dict(worst))}."


def _describe_better(found: Comparison) -> str:
    """Return which changes would be for the better."""
    better = {name: change for name, change in _changes(found).items() if change > MIN_CHANGE}
    if not better:
        return f"No single change gains more than {100 * MIN_CHANGE:.1f} points on average over the data sets."
    ranked = dict(sorted(better.items(), key=lambda pair: -pair[1]))
    return f"Changes that would gain, on average over the data sets: {_list(ranked)}."


def _describe_idle(found: Comparison) -> str:
    """Return how many changes hardly matter."""
    idle = [name for name, change in _changes(found).items() if abs(change) <= MIN_CHANGE]
    shown = f": {join_words(idle)}" if idle else ""
    return (
        f"{len(idle)} of {len(_changes(found))} changes move accuracy by {100 * MIN_CHANGE:.1f} points or less{shown}."
    )


def _describe_kept(found: Comparison) -> str:
    """Return which changes cost most retention."""
    worst = sorted(_changes(found).items(), key=lambda pair: pair[1])[:3]
    return f"Changes that cost most retention after the last batch: {_list(dict(worst))}."


def _change_table(title: str, found: Comparison) -> Table:
    """Return what each change does on each data set, in points."""
    rows: list[tuple[Cell, ...]] = [
        (DEFAULT, *(found.value(stream, DEFAULT) for stream in found.streams), found.mean(DEFAULT))
    ]
    for name, change in _changes(found).items():
        gaps = (100 * found.gap(stream, name, DEFAULT).mean for stream in found.streams)
        rows.append((name, *gaps, 100 * change))
    note = "First row: the figure itself. Others: points above it, mean over the seeds."
    return Table(title, ("change", *found.streams, "mean"), tuple(rows), 2, "", note)


def _cost_table(results: Results, found: Comparison) -> Table:
    """Return what each change does to seconds, leaves and verdicts."""
    measures = {
        "seconds": Comparison(results, found.streams, "train_seconds", found.methods),
        "leaves": Comparison(results, found.streams, last_of("leaves_permanent"), found.methods),
    }
    drifts = Comparison(results, found.streams, count_drifts, found.methods)
    rows: list[tuple[Cell, ...]] = []
    for name in found.methods:
        ratios = (
            float(np.mean([one.value(stream, name) / one.value(stream, DEFAULT) for stream in one.streams]))
            for one in measures.values()
        )
        rows.append((name, *ratios, drifts.mean(name)))
    heads = ("change", "seconds, × default", "leaves, × default", "batches called drift")
    return Table("Cost, mean over the data sets", heads, tuple(rows), 2)


def _figure(found: Comparison) -> Figure:
    """Return what each change does to accuracy, worst first."""
    ranked = dict(sorted(_changes(found).items(), key=lambda pair: pair[1]))
    plot = bars({"points": [100 * change for change in ranked.values()]}, list(ranked), title="points", digits=2)
    return Figure("Points of accuracy against the defaults", plot, "Mean over the data sets; left of zero: a loss.")
