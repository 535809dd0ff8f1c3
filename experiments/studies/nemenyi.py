"""Nemenyi: average ranks of all methods, and which of them a test can tell apart."""

from __future__ import annotations

import numpy as np

from adforest.forest.types import Floats
from experiments.comparison.caveats import caveat_methods_left_out, caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.published import read_published
from experiments.comparison.results import Results
from experiments.comparison.significance import RankTest, rank_test
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.rank_diagram import rank_diagram
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, RIVALS, dataset_streams, plan_34_batches

SUMMARY = "Friedman's and Nemenyi's tests of average ranks, with the diagram of critical differences"
ALPHA = 0.05  # two-sided, the paper's 0.025 on each side
MIN_BLOCKS = 3  # data sets below which ranks say nothing


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_34_batches(options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    found = Comparison(results, dataset_streams(options), "accuracy")
    names = found.complete((*ADF, *RIVALS))
    tests = {"all batches": rank_test({name: _by_batch(found, name) for name in names})}
    if len(found.streams) >= MIN_BLOCKS:
        tests = {"data sets": rank_test({name: _by_dataset(found, name) for name in names}), **tests}
    published = rank_test(read_published("overall_accuracy").figures)
    return Chapter(
        name="nemenyi",
        title="Ranks",
        question="Which methods can be told apart by their ranks?",
        findings=(
            *(_describe_ranks(over, test) for over, test in tests.items()),
            *(_describe_apart(over, test) for over, test in tests.items()),
            f"The paper's own overall table, ranked over its data sets: {_describe_published(published)}",
        ),
        caveats=(
            *(_caveat_better(over, test) for over, test in tests.items()),
            "Batches of one stream are no independent draws, so that ranks over batches seem surer than they are; over "
            "data sets there are few ranks, and only large differences show.",
            "Which methods take part changes all ranks: near-copies of one method push others apart.",
            *caveat_one_seed(options),
            *caveat_methods_left_out(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            *(_table(f"Average ranks over {over}", test) for over, test in tests.items()),
            _table("Average ranks of the published figures over six data sets", published),
        ),
        figures=(
            *(_figure(f"Average ranks over {over}", test) for over, test in tests.items()),
            _figure("Average ranks of the published figures", published),
        ),
        command=options.command("nemenyi"),
    )


def _by_dataset(found: Comparison, name: str) -> list[float]:
    """Return a method's mean accuracy on each data set."""
    return [found.value(stream, name) for stream in found.streams]


def _by_batch(found: Comparison, name: str) -> Floats:
    """Return a method's accuracy on each batch of each data set."""
    return np.concatenate(
        [found.results.by_batch(spec, MethodSpec(name), "accuracy") for spec in found.streams.values()]
    )


def _describe_ranks(over: str, test: RankTest) -> str:
    """Return the best ranks and whether ranks differ at all."""
    best = [f"{name} {rank:.2f}" for name, rank in list(test.ranks.items())[:3]]
    alike = "differ" if test.p < ALPHA else "do not differ"
    return (
        f"Over {over} ({test.n_blocks}): best average ranks of {len(test.ranks)} methods are {join_words(best)}; "
        f"by Friedman's test the methods {alike} (p = {test.p:.2g})."
    )


def _describe_apart(over: str, test: RankTest) -> str:
    """Return which rivals the best ADF is told apart from."""
    ours = _best_adf(test)
    worse = [rival for rival in test.ranks if _is_apart(test, ours, rival) and test.ranks[rival] > test.ranks[ours]]
    said = join_words(worse) if worse else "no other"
    return f"Over {over}, {ours} ranks significantly better than {said} (critical difference {test.difference:.2f})."


def _caveat_better(over: str, test: RankTest) -> str:
    """Return which rivals rank before the best ADF, and which cannot be told apart from it."""
    ours = _best_adf(test)
    before = [rival for rival in test.ranks if rival not in ADF and test.ranks[rival] < test.ranks[ours]]
    alike = [rival for rival in test.ranks if rival not in ADF and not _is_apart(test, ours, rival)]
    ahead = f"{join_words(before)} rank before {ours}" if before else f"no rival ranks before {ours}"
    return f"Over {over}, {ahead}; not told apart from it: {join_words(alike) if alike else 'none'}."


def _describe_published(test: RankTest) -> str:
    """Return which methods the paper's own figures cannot tell from its best."""
    best, *others = test.ranks
    alike = [name for name in others if not _is_apart(test, best, name)]
    return f"{best} has the best rank ({test.ranks[best]:.2f}) and is not told apart from {join_words(alike)}."


def _best_adf(test: RankTest) -> str:
    """Return the ADF of the best rank."""
    return min(ADF, key=test.ranks.__getitem__)


def _is_apart(test: RankTest, one: str, other: str) -> bool:
    """Return whether two methods' ranks differ by more than the critical difference."""
    return abs(test.ranks[one] - test.ranks[other]) > test.difference


def _table(title: str, test: RankTest) -> Table:
    """Return each method's average rank, and Nemenyi's p against each ADF."""
    rows: list[tuple[Cell, ...]] = [
        (name, rank, *(test.pairs.get((ours, name)) for ours in ADF)) for name, rank in test.ranks.items()
    ]
    note = f"{test.n_blocks} rankings; Friedman p = {test.p:.2g}; critical difference {test.difference:.2f} at 5 %."
    return Table(title, ("method", "average rank", *(f"p against {ours}" for ours in ADF)), tuple(rows), 3, "", note)


def _figure(title: str, test: RankTest) -> Figure:
    """Return the diagram of critical differences."""
    caption = "Left is better; bars join methods that Nemenyi's test does not tell apart at 5 %."
    return Figure(title, rank_diagram(test.ranks, test.difference), caption)
