"""Drift: how methods come through changes of what decides the class, and what ADF says of streams without any."""

from __future__ import annotations

import numpy as np

from experiments.comparison.caveats import caveat_one_seed
from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.recovery import (
    DRIFT_KINDS,
    METHOD_NAMES,
    REFIT,
    Recovery,
    caveat_river,
    count_verdicts,
    drift_streams,
    plan_drift,
    stationary_streams,
)
from experiments.comparison.results import Results, count_drifts
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import lines
from experiments.specs.options import Options
from experiments.specs.run_spec import RESET_AT_CHANGES, MethodSpec, RunSpec

SUMMARY = "recovery after abrupt, gradual, temporary and recurring changes of three families of concepts; false alarms"
TOLD_NAME = "RF told"
STEPS = (1, 2, 3, 5)
VERDICTS = ("temporary", "sustained")


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_drift(options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = drift_streams(options)
    found = Comparison(results, streams, "accuracy")
    names = found.present(METHOD_NAMES)
    recovery = Recovery(results)
    return Chapter(
        name="drift",
        title="Real drift",
        question="When the rules change, how soon is a method right again, and does it cry wolf when they do not?",
        findings=(
            f"Highest mean accuracy of {len(names)} methods: {found.describe_leaders(names)}.",
            *(_describe_gap(found, rival) for rival in names if rival != "ADF-R"),
            *(_describe_recovery(recovery, kind, options) for kind in DRIFT_KINDS),
            _describe_alarms(results, options),
        ),
        caveats=(
            _caveat_best(found, names),
            "The concepts are simple and the attributes never drift: only what they mean does.",
            f"{TOLD_NAME} is a random forest of ours that is told of each change and refitted on the batches since; "
            "nobody has it in practice. After a return of an old concept a method that remembers it may well be ahead.",
            *caveat_river(options),
            *caveat_one_seed(options),
        ),
        tables=(
            found.table("Mean accuracy over the batches", names, note="Dash: not run."),
            *(_recovery_table(recovery, names, kind, options) for kind in DRIFT_KINDS),
            _alarm_table(results, options),
        ),
        figures=tuple(_figure(results, names, kind, options) for kind in DRIFT_KINDS),
        command=options.command("drift"),
    )


def _describe_gap(found: Comparison, rival: str) -> str:
    """Return how ADF stands to a rival, over the streams and seeds that both ran on."""
    gaps = found.gaps("ADF-R", rival)
    worst = min(gaps, key=gaps.__getitem__)
    behind = sum(gap < 0 for gap in gaps.values())
    return (
        f"ADF-R against {rival}: {points(found.mean_gap('ADF-R', rival))} points on average, behind on {behind} of "
        f"{len(gaps)} streams; worst on {worst} ({points(gaps[worst])})."
    )


def _describe_recovery(recovery: Recovery, kind: str, options: Options) -> str:
    """Return when ADF has recovered from a kind of change."""
    streams = drift_streams(options, [kind])
    batches = recovery.batches_to_recover(streams, MethodSpec("ADF-R"))
    gaps = {step: recovery.mean_gap(streams, MethodSpec("ADF-R"), step) for step in (1, 2)}
    said = join_words([f"{points(gap)} at batch {step}" for step, gap in gaps.items() if gap is not None])
    when = "not before the next" if batches is None else f"after {batches} batch{'es' if batches > 1 else ''}"
    return f"{kind.capitalize()} change: ADF-R is within a point of {TOLD_NAME} {when} ({said} after the change)."


def _caveat_best(found: Comparison, names: list[str]) -> str:
    """Return where ADF is behind the best of the others."""
    leaders = found.leaders([name for name in names if name != "ADF-R"])
    gaps = {stream: found.gap(stream, "ADF-R", rival).mean for stream, rival in leaders.items()}
    behind = [f"{leaders[one]} on {one} ({points(gap)})" for one, gap in gaps.items() if gap < 0]
    if not behind:
        return "On no stream is any of the others ahead of ADF-R, which says as much about the streams."
    return f"ADF-R is behind {join_words(behind)}."


def _describe_alarms(results: Results, options: Options) -> str:
    """Return how often ADF takes a stationary stream for a drifting one."""
    counts = {verdict: count_verdicts(results, options, verdict) for verdict in VERDICTS}
    said = join_words([f"{count} a {verdict} drift" for verdict, (count, _) in counts.items()])
    return f"Of {counts['sustained'][1]} batches without any change ADF-R calls {said}."


def _recovery_table(recovery: Recovery, names: list[str], kind: str, options: Options) -> Table:
    """Return how far each method is from the refit some batches after a change, and when it is within a point."""
    streams = drift_streams(options, [kind])
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        gaps = [recovery.mean_gap(streams, MethodSpec(name), step) for step in STEPS]
        if gaps[0] is not None:
            batches = recovery.batches_to_recover(streams, MethodSpec(name))
            rows.append((name, *(None if gap is None else 100 * gap for gap in gaps), batches))
    heads = ("", *(f"batch {step}" for step in STEPS), "batches to within a point")
    note = "Mean over concepts, changes and seeds. Dash: no concept lasts as long, or never."
    return Table(f"{kind.capitalize()}: points against {TOLD_NAME} after a change", heads, tuple(rows), 1, "", note)


def _alarm_table(results: Results, options: Options) -> Table:
    """Return the verdicts on stationary streams."""
    rows: list[tuple[Cell, ...]] = []
    for concept, stream in stationary_streams(options).items():
        batches = results.rows(stream, MethodSpec("ADF-R"))
        counts = [int(count_drifts(batches, verdict)) for verdict in VERDICTS]
        rows.append((concept, len(batches), *counts, results.mean(stream, MethodSpec("ADF-R"), "accuracy")))
    heads = ("concept", "batches", *(f"{verdict} drift" for verdict in VERDICTS), "mean accuracy")
    note = "Noise limits accuracy to 0.90 for sea and 0.95 for the others."
    return Table("ADF-R on streams without drift: false verdicts", heads, tuple(rows), 3, "", note)


def _figure(results: Results, names: list[str], kind: str, options: Options) -> Figure:
    """Return accuracies along the batches, means over the concepts and seeds."""
    streams = drift_streams(options, [kind])
    complete = [name for name in names if all(results.has(one, MethodSpec(name)) for one in streams.values())]
    series = {
        name: np.mean(
            [results.by_batch(one, MethodSpec(name), "accuracy") for one in streams.values()], axis=0
        ).tolist()
        for name in complete
    }
    told = results.with_protocol(RESET_AT_CHANGES)
    series[TOLD_NAME] = np.mean([told.by_batch(one, REFIT, "accuracy") for one in streams.values()], axis=0).tolist()
    rows = results.rows(next(iter(streams.values())), MethodSpec("ADF-R"))
    plot = lines(
        series,
        [row["batch"] for row in rows],
        y_title="accuracy, mean of three concepts",
        stages=[str(row["stage"]) for row in rows],
        hidden=[name for name in complete if name in ("RF batch", "SRP")],
    )
    return Figure(
        f"{kind.capitalize()} changes", plot, "Shaded: the concept that rules. Click a name to show or hide it."
    )
