"""Goal 2: at the end of the stream as good on all of its batches as a forest refitted on everything."""

from __future__ import annotations

from experiments.comparison.comparison import Comparison, points
from experiments.comparison.results import Results, last_of
from experiments.goals.accuracy import EVERYTHING, LAST_3, METHODS, OURS
from experiments.goals.goal import Outcome, at_least, gap_table, worst_gap
from experiments.specs.options import Options
from experiments.specs.run_spec import Part
from experiments.specs.selections import plan_runs, streams_of

TITLE = "2 Retention"
BELOW = -1.0  # points, on each data set


def plan(options: Options) -> list[Part]:
    """Return the parts to run."""
    return plan_runs(streams_of(options), METHODS.values(), options.seeds)


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    found = Comparison(results, streams_of(options), last_of("retention"), METHODS)
    where, gap = worst_gap(found, OURS, EVERYTHING)
    return Outcome(
        verdicts=(at_least(f"points of retention above {EVERYTHING}, worst data set ({where})", BELOW, gap),),
        findings=(
            f"Retention after the last batch: {OURS} is {points(found.mean_gap(OURS, EVERYTHING))} points above "
            f"{EVERYTHING} on average over the data sets, {gap:+.1f} on {where}, where it stands worst; {LAST_3} is "
            f"{points(found.mean_gap(LAST_3, EVERYTHING))} on average.",
        ),
        doubts=(
            "Retention asks for all batches alike. What a stream's end makes likely, and what its beginning did, count "
            "the same.",
        ),
        tables=(
            found.table("2 Retention: accuracy on held-back records of all batches, after the last"),
            gap_table(f"2 Retention: points of {OURS} above the others", found, OURS, f"{LAST_3} is the floor."),
        ),
    )
