"""Beyond the paper: seven goals, what was seen, and whether they are met."""

from __future__ import annotations

from typing import Protocol

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import join_words
from experiments.comparison.results import Results
from experiments.goals import accuracy, bounds, classes, cost, drift, recent_and_past, retention
from experiments.goals.goal import MET, MISSED, Outcome, caveat_missed
from experiments.reporting.chapter import Cell, Chapter, Table
from experiments.specs.methods import N_TREES
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec

SUMMARY = "seven goals with limits: accuracy, retention, bounds, cost, drift, classes, recent and old records"


class Goal(Protocol):
    """What a module of `experiments.goals` offers."""

    TITLE: str

    def plan(self, options: Options) -> list[RunSpec]:
        """Return the runs of the study."""

    def judge(self, results: Results, options: Options) -> Outcome:
        """Return whether the goal is met."""


GOALS: tuple[Goal, ...] = (accuracy, retention, bounds, cost, drift, classes, recent_and_past)


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return [run for goal in _wanted(options) for run in goal.plan(options)]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    outcomes = {goal.TITLE: goal.judge(results, options) for goal in _wanted(options)}
    return Chapter(
        name="beyond",
        title="Beyond the paper",
        question="Are the goals met that the paper did not set itself?",
        findings=(_describe_verdicts(outcomes), *(said for one in outcomes.values() for said in one.findings)),
        caveats=(
            *caveat_missed((verdict for one in outcomes.values() for verdict in one.verdicts), 2),
            *(said for one in outcomes.values() for said in one.caveats),
            *_caveat_left_out(options),
            *caveat_one_seed(options),
            *caveat_quick(options, "the six data sets, and all streams are short"),
        ),
        tables=(_summary(outcomes), *(table for one in outcomes.values() for table in one.tables)),
        figures=tuple(figure for one in outcomes.values() for figure in one.figures),
        command=options.command("beyond"),
    )


def _wanted(options: Options) -> list[Goal]:
    """Return the goals that were asked for."""
    return [goal for number, goal in enumerate(GOALS, 1) if not options.goals or number in options.goals]


def _describe_verdicts(outcomes: dict[str, Outcome]) -> str:
    """Return which goals are met and which are missed."""
    met, missed = ([title for title, one in outcomes.items() if one.is_met == is_met] for is_met in (True, False))
    said = [f"{words}: {join_words(titles)}" for words, titles in (("met", met), ("missed", missed)) if titles]
    return f"{len(met)} of {len(outcomes)} goals are met. {'; '.join(said).capitalize()}."


def _caveat_left_out(options: Options) -> list[str]:
    """Return which goals nothing was measured of."""
    titles = [goal.TITLE for goal in GOALS if goal not in _wanted(options)]
    return [f"Not measured in this run: {join_words(titles)}."] if titles else []


def _summary(outcomes: dict[str, Outcome]) -> Table:
    """Return every figure against its limit."""
    rows: list[tuple[Cell, ...]] = [
        (title, verdict.measure, verdict.wanted, verdict.seen, MET if verdict.is_met else MISSED)
        for title, one in outcomes.items()
        for verdict in one.verdicts
    ]
    heads = ("goal", "measure", "wanted", "seen", "verdict")
    note = f"ADF-R with defaults but {N_TREES} trees a forest, 10 for goal 5. A goal is met if all of its rows are."
    return Table("Goals", heads, tuple(rows), 2, "", note)
