"""Goal 5: where rules change, near the best of all rivals everywhere and ahead of each on average; no false alarms."""

from __future__ import annotations

import numpy as np

from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.recovery import (
    CONCEPTS,
    METHOD_NAMES,
    Recovery,
    caveat_river,
    count_verdicts,
    drift_streams,
    plan_drift,
)
from experiments.comparison.results import PerSeed, Results
from experiments.goals.goal import Outcome, above, at_least, at_most, in_points
from experiments.reporting.chapter import Cell, Table
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec

TITLE = "5 Drift"
ADF_R = "ADF-R"
MIN_GAP, MIN_GAP_TO_REFIT, RECOVERED_BY = -1.0, -1.0, 2
RIVALS = METHOD_NAMES[1:]

Gaps = dict[str, dict[str, PerSeed]]  # by stream, by rival


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the goal."""
    return plan_drift(options)


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    gaps = _gaps(results, options)
    worst = {stream: min(by_rival.values(), key=lambda gap: gap.mean).mean for stream, by_rival in gaps.items()}
    where = min(worst, key=worst.__getitem__)
    means = {rival: _mean_gap(gaps, rival) for rival in RIVALS if any(rival in some for some in gaps.values())}
    nearest = min(means, key=means.__getitem__)
    after = {concept: _after_change(results, options, concept) for concept in CONCEPTS}
    slowest = min(after, key=after.__getitem__)
    alarms, n = count_verdicts(results, options, "sustained")
    return Outcome(
        verdicts=(
            at_least(f"points above the best rival, worst stream ({where})", MIN_GAP, worst[where]),
            above(f"points above each rival, mean of streams, nearest ({nearest})", 0.0, means[nearest]),
            at_least(
                f"points above a refit told of abrupt changes, {RECOVERED_BY} batches into them, worst concept "
                f"({slowest})",
                MIN_GAP_TO_REFIT,
                after[slowest],
            ),
            at_most(f"false sustained drifts in {n:,} batches without any", 0, float(alarms)),
        ),
        findings=(
            f"Real drift, {len(gaps)} streams: {ADF_R} is above "
            f"{join_words([f'{rival} by {gap:+.1f}' for rival, gap in means.items()])} points on average; against the "
            f"best of them on each stream it stands worst on {where} ({worst[where]:+.1f}).",
            f"At batch {RECOVERED_BY} after an abrupt change, points above a forest refitted on the new concept alone: "
            f"{join_words([f'{concept} {gap:+.1f}' for concept, gap in after.items()])}.",
        ),
        caveats=(
            "The best rival of each stream is chosen by its result, which no user can do beforehand.",
            *caveat_river(options),
        ),
        tables=(_table(gaps, means),),
    )


def _gaps(results: Results, options: Options) -> Gaps:
    """Return how many points ours is above each rival on each stream, over the seeds both ran with."""
    gaps: Gaps = {}
    for title, stream in drift_streams(options).items():
        found = Comparison(results, {title: stream}, "accuracy")
        gaps[title] = {rival: in_points(found.gap(title, ADF_R, rival)) for rival in found.present(RIVALS)}
    return gaps


def _mean_gap(gaps: Gaps, rival: str) -> float:
    """Return the mean over the streams a rival ran on."""
    return float(np.mean([some[rival].mean for some in gaps.values() if rival in some]))


def _after_change(results: Results, options: Options, concept: str) -> float:
    """Return how many points ours is above the refit soon after abrupt changes."""
    streams = {title: one for title, one in drift_streams(options, ["abrupt"]).items() if title.endswith(concept)}
    gap = Recovery(results).mean_gap(streams, MethodSpec(ADF_R), RECOVERED_BY)
    return 100 * gap if gap is not None else float("nan")


def _table(gaps: Gaps, means: dict[str, float]) -> Table:
    """Return the points above each rival on each stream."""
    rows: list[tuple[Cell, ...]] = [
        (stream, *(by_rival[rival].cell(1) if rival in by_rival else None for rival in means))
        for stream, by_rival in gaps.items()
    ]
    rows.append(("mean", *means.values()))
    heads = ("stream", *(f"against {rival}" for rival in means))
    return Table(f"5 Drift: points of {ADF_R} above the others", heads, tuple(rows), 1, "", "Taken seed by seed.")
