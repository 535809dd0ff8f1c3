"""Goal 1: more accurate over the 34 batches than a forest refitted on everything."""

from __future__ import annotations

from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.results import Results
from experiments.goals.goal import Outcome, at_least, gap_table, list_behind, worst_gap
from experiments.specs.methods import N_TREES, with_default_trees
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import dataset_streams, plan_runs

TITLE = "1 Accuracy"
ADF_R, RF_ALL, RF_LAST_3, ADF_R_HALF = "ADF-R", "RF all", "RF last 3", f"ADF-R, {N_TREES // 2} trees a forest"
METHODS = {
    **{name: with_default_trees(name) for name in (ADF_R, RF_ALL, RF_LAST_3)},
    ADF_R_HALF: with_default_trees(ADF_R, n_estimators=N_TREES // 2),
}
MIN_MEAN_GAIN = 1.0  # points on average


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the goal."""
    return plan_runs(dataset_streams(options), METHODS.values(), options.seeds)


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    found = Comparison(results, dataset_streams(options), "accuracy", METHODS)
    gain = found.mean_gap(ADF_R, RF_ALL)
    where, worst = worst_gap(found, ADF_R, RF_ALL)
    behind = list_behind(found, ADF_R, (RF_ALL, RF_LAST_3))
    small = points(found.mean_gap(ADF_R_HALF, RF_ALL))
    return Outcome(
        verdicts=(
            at_least(f"points of mean accuracy above {RF_ALL}, mean of data sets", MIN_MEAN_GAIN, 100 * gain),
            at_least(f"points of mean accuracy above {RF_ALL}, worst data set ({where})", 0.0, worst),
        ),
        findings=(
            f"Accuracy over 34 batches: {ADF_R} is {points(gain)} points above {RF_ALL} on average over the data "
            f"sets, with the same {N_TREES} trees a forest, and {points(found.mean_gap(ADF_R, RF_LAST_3))} above "
            f"{RF_LAST_3}. With {N_TREES // 2} trees a forest, so that about as many vote as in {RF_ALL}, it "
            f"is {small} above it.",
        ),
        caveats=(
            f"Two or three of ADF's forests of {N_TREES} trees vote together, against one of {N_TREES} trees.",
            *([f"{ADF_R} is less accurate than {join_words(behind)}."] if behind else []),
            "The defaults were chosen on these data sets.",
        ),
        tables=(
            found.table("1 Accuracy: mean over the 34 batches"),
            gap_table(f"1 Accuracy: points of {ADF_R} above the others", found, ADF_R, "Taken seed by seed."),
        ),
    )
