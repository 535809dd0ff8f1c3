"""Goal 4: a batch costs at most half of refitting scikit-learn's forest on the last three, a tenth of everything."""

from __future__ import annotations

import numpy as np

from experiments.comparison.results import Results
from experiments.goals.goal import Outcome, Verdict, at_most
from experiments.reporting.chapter import Cell, Figure, Table
from experiments.reporting.plots import bars
from experiments.running.measures import Row
from experiments.specs.methods import N_TREES, with_default_trees
from experiments.specs.options import Options
from experiments.specs.run_spec import TIMED, RunSpec
from experiments.specs.selections import dataset_streams, plan_runs

TITLE = "4 Cost"
METHOD = with_default_trees("ADF-R")
MAX_SHARE_OF_LAST_3, MAX_SHARE_OF_ALL = 0.5, 0.1
LIMITS = {"the last 3": MAX_SHARE_OF_LAST_3, "everything at the end": MAX_SHARE_OF_ALL}
REFITS = {"the last 3": "last_3_seconds", "everything at the end": "all_seconds"}  # by scikit-learn's defaults
GROWN_ALIKE = {
    "the last 3, grown like ours": "last_3_alike_seconds",
    "everything, grown like ours": "all_alike_seconds",
}

Timed = dict[str, list[Row]]  # rows by data set


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the goal."""
    return plan_runs(dataset_streams(options), [METHOD], [0], TIMED)


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    timed = results.with_protocol(TIMED)
    rows = {title: timed.rows(stream, METHOD) for title, stream in dataset_streams(options).items()}
    means = {
        refit: float(np.mean([share(some, column) for some in rows.values()]))
        for refit, column in (REFITS | GROWN_ALIKE).items()
    }
    return Outcome(
        verdicts=tuple(_judge(rows, refit) for refit in REFITS),
        findings=(
            "CPU seconds a batch of ADF-R on average over the data sets, as a share of those in which scikit-learn "
            f"refits as many trees, {N_TREES}: "
            + "; ".join(f"{mean:.2f} on {refit}" for refit, mean in means.items())
            + ".",
        ),
        caveats=(
            "Seconds were taken in turn in one process, batch by batch, with nothing else of this program running; one "
            "pass with seed 0 on one machine. Garbage was collected between them, on neither side's time.",
            "What a batch may grow goes by its records plus 500, so that its part of the time is larger where batches "
            "are small.",
            "The limits are for scikit-learn's forest with its defaults but for as many trees: Gini's index, square "
            "root of the number of attributes. Grown like ours, by entropy and int(log2 m) + 1 of m attributes, it "
            "takes "
            "longer. It reads categories as numbers.",
        ),
        tables=(_table(rows),),
        figures=(_figure(rows),),
    )


def share(rows: list[Row], column: str) -> float:
    """Return our mean seconds a batch over those of a refit, their mean too, or what it took at the end."""
    return seconds(rows, "train_seconds") / seconds(rows, column)


def seconds(rows: list[Row], column: str) -> float:
    """Return the mean of a column where it was taken."""
    return float(np.mean([row[column] for row in rows if row[column] is not None]))


def _judge(rows: Timed, refit: str) -> Verdict:
    """Return the verdict on the data set with the largest share of a refit's seconds."""
    shares = {title: share(some, REFITS[refit]) for title, some in rows.items()}
    dearest = max(shares, key=shares.__getitem__)
    return at_most(
        f"seconds a batch over refitting {refit}, worst data set ({dearest})", LIMITS[refit], shares[dearest]
    )


def _table(rows: Timed) -> Table:
    """Return all seconds and their ratios."""
    columns = [*REFITS.values(), *GROWN_ALIKE.values()]
    made: list[tuple[Cell, ...]] = []
    for title, some in rows.items():
        made.append(
            (f"{title}, seconds", seconds(some, "train_seconds"), *(seconds(some, column) for column in columns))
        )
        made.append((f"{title}, ADF in parts of RF", None, *(share(some, column) for column in columns)))
    return Table(
        "4 Cost: CPU seconds per batch, one thread", ("data set", "ADF-R", *REFITS, *GROWN_ALIKE), tuple(made), 4
    )


def _figure(rows: Timed) -> Figure:
    """Return mean seconds by data set."""
    columns = {
        "ADF-R": "train_seconds",
        "RF last 3, scikit-learn": "last_3_seconds",
        "RF all, at the end": "all_seconds",
    }
    series = {name: [seconds(some, column) for some in rows.values()] for name, column in columns.items()}
    plot = bars(series, list(rows), title="CPU seconds", log=True)
    return Figure("4 Cost: CPU seconds per batch", plot, "Lower is better; scikit-learn with its defaults.")
