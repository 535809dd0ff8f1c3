"""Goal 1: more accurate over the 34 batches than a forest refitted on everything."""

from __future__ import annotations

from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.results import Results
from experiments.goals.goal import Outcome, at_least, gap_table, list_behind, worst_gap
from experiments.specs.methods import TREES, as_it_comes
from experiments.specs.options import Options
from experiments.specs.run_spec import Part
from experiments.specs.selections import plan_runs, streams_of

TITLE = "1 Accuracy"
OURS, EVERYTHING, LAST_3, SMALLER = "ADF-R", "RF all", "RF last 3", f"ADF-R, {TREES // 2} trees a forest"
METHODS = {
    **{name: as_it_comes(name) for name in (OURS, EVERYTHING, LAST_3)},
    SMALLER: as_it_comes(OURS, n_estimators=TREES // 2),
}
ABOVE = 1.0  # points on average


def plan(options: Options) -> list[Part]:
    """Return the parts to run."""
    return plan_runs(streams_of(options), METHODS.values(), options.seeds)


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    found = Comparison(results, streams_of(options), "accuracy", METHODS)
    gain = found.mean_gap(OURS, EVERYTHING)
    where, worst = worst_gap(found, OURS, EVERYTHING)
    behind = list_behind(found, OURS, (EVERYTHING, LAST_3))
    small = points(found.mean_gap(SMALLER, EVERYTHING))
    return Outcome(
        verdicts=(
            at_least(f"points of mean accuracy above {EVERYTHING}, mean of data sets", ABOVE, 100 * gain),
            at_least(f"points of mean accuracy above {EVERYTHING}, worst data set ({where})", 0.0, worst),
        ),
        findings=(
            f"Accuracy over 34 batches: {OURS} is {points(gain)} points above {EVERYTHING} on average over the data "
            f"sets, with the same {TREES} trees a forest, and {points(found.mean_gap(OURS, LAST_3))} above {LAST_3}. "
            f"With {TREES // 2} trees a forest, so that about as many vote as in {EVERYTHING}, it is {small} above it.",
        ),
        doubts=(
            f"Two or three of ADF's forests of {TREES} trees vote together, against one of {TREES} trees.",
            *([f"{OURS} is less accurate than {join_words(behind)}."] if behind else []),
            "The defaults were chosen on these data sets.",
        ),
        tables=(
            found.table("1 Accuracy: mean over the 34 batches"),
            gap_table(f"1 Accuracy: points of {OURS} above the others", found, OURS, "Taken seed by seed."),
        ),
    )
