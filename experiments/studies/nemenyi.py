"""Nemenyi: average ranks over the 34 batches of each data set as in the paper, and over the data sets."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.comparison.caveats import caveat_quick, caveats_as_published
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.published import METHOD_OF_COLUMN, read_published
from experiments.comparison.published_comparison import plan_as_published
from experiments.comparison.results import Results
from experiments.comparison.significance import RankTest, rank_test
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.rank_diagram import rank_diagram
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, dataset_streams

SUMMARY = "Friedman's and Nemenyi's tests of average ranks over batches and data sets: the paper's class, our defaults"
TESTED = ("ADF-S", "ADF-R")  # the columns that the paper tests
MIN_BLOCKS = 3  # data sets below which ranks say nothing
PUBLISHED_BATCHES = "ldpa_34_batches_accuracy"
STATEMENT = (
    "The paper: ADF-S and ADF-R are significantly better than the other techniques (right-tailed, p < 0.025) on all "
    "data sets."
)
DEFAULTS = ", our defaults"  # ends the titles of what is tested with our ADF instead of the paper's

Methods = Mapping[str, MethodSpec]  # by published column
Tests = dict[str, RankTest]  # by data set


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_as_published(dataset_streams(options), options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    found = Comparison(results, dataset_streams(options), "accuracy")
    ran = [column for column, name in METHOD_OF_COLUMN.items() if found.complete([name])]
    paper = {column: MethodSpec(METHOD_OF_COLUMN[column]) for column in ran}
    defaults = paper | {column: MethodSpec(column) for column in ADF}
    published = rank_test(read_published("overall_accuracy").figures)
    published_batches = rank_test(
        {column: read_published(PUBLISHED_BATCHES).figures[column] for column in METHOD_OF_COLUMN}
    )
    by_stream = {"": rank_batches(found, paper), DEFAULTS: rank_batches(found, defaults)}
    over = {"": _rank_streams(found, paper), DEFAULTS: _rank_streams(found, defaults)}
    over_streams = {which: test for which, test in over.items() if test is not None}
    beside = {"": {"LDPA, published": published_batches}, DEFAULTS: {}}
    return Chapter(
        name="nemenyi",
        title="Ranks",
        question="Which methods can be told apart by their ranks?",
        findings=(
            STATEMENT,
            *(
                describe_tests(f"{ours}{' paper' if not which else ' by default'}", ours, tests)
                for which, tests in by_stream.items()
                for ours in TESTED
            ),
            *(_describe_ranks(f"data sets{which}", test) for which, test in over_streams.items()),
            *(describe_tests(f"Published {ours}", ours, {"LDPA": published_batches}) for ours in TESTED),
            f"The paper's own overall table, ranked over its data sets: {_describe_published(published)}",
        ),
        caveats=(
            "Batches of one stream are no independent draws, so that ranks over batches seem surer than they are; over "
            "data sets there are few ranks, and only large differences show.",
            "All methods are ranked at once. One by one, as the paper writes, Nemenyi's test of two methods is the "
            "sign test, but for ties and the correction for continuity: see the chapter on sign tests.",
            "Which methods take part changes all ranks: near-copies of one method push others apart.",
            *caveats_as_published(options, "LDPA"),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            *(
                _rank_table(f"Average ranks over the batches of each data set{which}", tests | beside[which])
                for which, tests in by_stream.items()
            ),
            *(
                _p_table(f"Nemenyi's p against {ours} over the batches of each data set{which}", ours, tests)
                for which, tests in ((which, tests | beside[which]) for which, tests in by_stream.items())
                for ours in TESTED
            ),
            *(_table(f"Average ranks over data sets{which}", test) for which, test in over_streams.items()),
            _table("Average ranks of the published figures over six data sets", published),
        ),
        figures=(
            *(_figure(f"Average ranks over data sets{which}", test) for which, test in over_streams.items()),
            *(_figure(f"Average ranks over the batches of {one}", test) for one, test in by_stream[""].items()),
            _figure("Average ranks of the published figures", published),
        ),
        command=options.command("nemenyi"),
    )


def rank_batches(found: Comparison, methods: Methods) -> Tests:
    """Return the tests over the batches of each stream."""
    return {
        title: rank_test(
            {column: found.results.by_batch(stream, method, "accuracy") for column, method in methods.items()}
        )
        for title, stream in found.streams.items()
    }


def _rank_streams(found: Comparison, methods: Methods) -> RankTest | None:
    """Return the test over the mean accuracies of the streams, None where there are too few."""
    if len(found.streams) < MIN_BLOCKS:
        return None
    streams = found.streams.values()
    return rank_test(
        {
            column: [found.results.mean(stream, method, found.measure) for stream in streams]
            for column, method in methods.items()
        }
    )


def describe_tests(name: str, ours: str, tests: Tests) -> str:
    """Return on how many data sets ours ranks significantly better than all others but ADF, and the exceptions."""
    missed = {
        stream: [
            column
            for column, rank in test.ranks.items()
            if column not in ADF and not (_is_apart(test, ours, column) and rank > test.ranks[ours])
        ]
        for stream, test in tests.items()
    }
    n_all = sum(not columns for columns in missed.values())
    said = [f"{join_words(columns)} on {stream}" for stream, columns in missed.items() if columns]
    tail = f"; not than {'; '.join(said)}" if said else ""
    return f"{name} ranks significantly better than every existing method on {n_all} of {len(tests)} data sets{tail}."


def _describe_ranks(over: str, test: RankTest) -> str:
    """Return the best ranks, and which others the best method is told apart from."""
    best = [f"{name} {rank:.2f}" for name, rank in list(test.ranks.items())[:3]]
    first, *others = test.ranks
    worse = [name for name in others if _is_apart(test, first, name)]
    return (
        f"Over {over} ({test.n_blocks}): best average ranks of {len(test.ranks)} methods are {join_words(best)}; "
        f"{first} is told apart from {join_words(worse) if worse else 'no other'} (critical difference "
        f"{test.difference:.2f}, Friedman p = {test.p:.2g})."
    )


def _describe_published(test: RankTest) -> str:
    """Return which methods the paper's own figures cannot tell from its best."""
    best, *others = test.ranks
    alike = [name for name in others if not _is_apart(test, best, name)]
    return f"{best} has the best rank ({test.ranks[best]:.2f}) and is not told apart from {join_words(alike)}."


def _is_apart(test: RankTest, one: str, other: str) -> bool:
    """Return whether two methods' ranks differ by more than the critical difference."""
    return abs(test.ranks[one] - test.ranks[other]) > test.difference


def _rank_table(title: str, tests: Tests) -> Table:
    """Return the average ranks of each column on each data set, and the critical differences."""
    columns = [column for column in METHOD_OF_COLUMN if any(column in test.ranks for test in tests.values())]
    rows: list[tuple[Cell, ...]] = [
        (column, *(test.ranks.get(column) for test in tests.values())) for column in columns
    ]
    rows.append(("critical difference", *(test.difference for test in tests.values())))
    note = "1 is the best; ranks that are further apart than the critical difference differ at 2.5 % of one tail."
    return Table(title, ("method", *tests), tuple(rows), 2, "", note)


def _p_table(title: str, ours: str, tests: Tests) -> Table:
    """Return Nemenyi's p of each column against ours on each data set."""
    columns = [column for column in METHOD_OF_COLUMN if any((ours, column) in test.pairs for test in tests.values())]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (column, *(test.pairs.get((ours, column)) for test in tests.values())) for column in columns
    )
    return Table(title, ("method", *tests), rows, 3, "", "Two-sided: below 0.05 is below 0.025 of one tail.")


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
