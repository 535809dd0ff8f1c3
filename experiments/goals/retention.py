"""Goal 2: at the end of the stream as good on all of its batches as a forest refitted on everything."""

from __future__ import annotations

from experiments.comparison.comparison import Comparison, points
from experiments.comparison.results import Results, last_of
from experiments.goals.accuracy import ADF_R, METHODS, RF_ALL, RF_LAST_3
from experiments.goals.goal import Outcome, at_least, gap_table, worst_gap
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import dataset_streams, plan_runs

TITLE = "2 Retention"
MIN_GAP = -1.0  # points, on each data set


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the goal."""
    return plan_runs(dataset_streams(options), METHODS.values(), options.seeds)


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    found = Comparison(results, dataset_streams(options), last_of("retention"), METHODS)
    where, gap = worst_gap(found, ADF_R, RF_ALL)
    return Outcome(
        verdicts=(at_least(f"points of retention above {RF_ALL}, worst data set ({where})", MIN_GAP, gap),),
        findings=(
            f"Retention after the last batch: {ADF_R} is {points(found.mean_gap(ADF_R, RF_ALL))} points above "
            f"{RF_ALL} on average over the data sets, {gap:+.1f} on {where}, where it stands worst; {RF_LAST_3} is "
            f"{points(found.mean_gap(RF_LAST_3, RF_ALL))} on average.",
        ),
        caveats=(
            "Retention asks for all batches alike. What a stream's end makes likely, and what its beginning did, count "
            "the same.",
        ),
        tables=(
            found.table("2 Retention: accuracy on held-back records of all batches, after the last"),
            gap_table(f"2 Retention: points of {ADF_R} above the others", found, ADF_R, f"{RF_LAST_3} is the floor."),
        ),
    )
