"""Sign test: over the 34 batches of each data set as in the paper, for the paper's class and for our defaults."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.comparison.caveats import caveat_quick, caveats_as_published
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.published import METHOD_OF_COLUMN, PUBLISHED_METHODS, read_published
from experiments.comparison.published_comparison import plan_as_published
from experiments.comparison.results import Results
from experiments.comparison.significance import ALPHA, CRITICAL_Z, SignTest, sign_test
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import heatmap
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, dataset_streams

SUMMARY = "the paper's sign test of ADF-S and ADF-R against the other methods, and once more of our defaults"
TESTED = ("ADF-S", "ADF-R")  # the columns that the paper tests
EXISTING = tuple(column for column in PUBLISHED_METHODS if column not in ADF)
PUBLISHED = "ldpa_34_batches_accuracy"
STATEMENT = (
    "The paper: ADF-S is significantly better than the other methods (z > 1.96, p < 0.025) on all data sets, but for "
    "cases that an arrow marks in its figure, and ADF-R is similar."
)

Tests = dict[str, dict[str, SignTest]]  # by data set and column


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_as_published(dataset_streams(options), options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    found = Comparison(results, dataset_streams(options), "accuracy")
    paper = {f"{column} paper": sign_tests(found, f"{column} paper", _others(column)) for column in TESTED}
    defaults = {column: sign_tests(found, column, PUBLISHED_METHODS) for column in TESTED}
    tests = paper | defaults
    return Chapter(
        name="signtest",
        title="Sign tests",
        question="Is ADF ahead in more batches than luck would give it?",
        findings=(
            STATEMENT,
            *(describe_tests(ours, by_stream) for ours, by_stream in tests.items()),
            _describe_published(),
        ),
        caveats=(
            *filter(None, (_caveat_behind(ours, by_stream) for ours, by_stream in tests.items())),
            "Batches of one stream are no independent draws: a test set holds samples of two batches before, and a "
            "model carries what it learnt along. The chances given are therefore too small, here as in the paper.",
            f"{sum(len(one) for by_stream in tests.values() for one in by_stream.values())} tests are made: at 2.5 % "
            "one in forty is passed by luck.",
            *caveats_as_published(options, "LDPA"),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            *(_z_table(f"{column} paper", paper[f"{column} paper"], _published_tests(column)) for column in TESTED),
            *(_z_table(column, defaults[column], {}) for column in TESTED),
            _passed_table(tests),
        ),
        figures=tuple(_figure(ours, by_stream) for ours, by_stream in tests.items()),
        command=options.command("signtest"),
    )


def _others(column: str) -> list[str]:
    """Return the published columns but one."""
    return [other for other in PUBLISHED_METHODS if other != column]


def sign_tests(found: Comparison, ours: str, columns: Sequence[str]) -> Tests:
    """Return the sign tests over the batches of each stream against the columns that ran, with the paper's settings."""
    results = found.results
    tests: Tests = {}
    for title, stream in found.streams.items():
        mine = results.by_batch(stream, MethodSpec(ours), "accuracy")
        rivals = {column: MethodSpec(METHOD_OF_COLUMN[column]) for column in columns}
        tests[title] = {
            column: sign_test(mine, results.by_batch(stream, rival, "accuracy"))
            for column, rival in rivals.items()
            if results.has(stream, rival)
        }
    return tests


def describe_tests(ours: str, tests: Tests) -> str:
    """Return on how many data sets ours is significantly ahead of all existing methods, and the exceptions."""
    missed = {
        stream: [column for column, test in by_column.items() if column in EXISTING and not test.is_significant]
        for stream, by_column in tests.items()
    }
    n_all = sum(not columns for columns in missed.values())
    said = [f"{join_words(columns)} on {stream}" for stream, columns in missed.items() if columns]
    tail = f"; not of {'; '.join(said)}" if said else ""
    return (
        f"{ours} is significantly ahead of every existing method that ran (z > {CRITICAL_Z}) on {n_all} of "
        f"{len(tests)} data sets{tail}."
    )


def _caveat_behind(ours: str, tests: Tests) -> str:
    """Return which methods are significantly ahead of an ADF."""
    behind = [
        f"{column} on {stream}"
        for stream, by_column in tests.items()
        for column, test in by_column.items()
        if test.z < -CRITICAL_Z
    ]
    return f"Significantly ahead of {ours}: {join_words(behind)}." if behind else ""


def _tested_columns(*tests: dict[str, SignTest]) -> list[str]:
    """Return the columns that were tested against, in the paper's order."""
    return [column for column in PUBLISHED_METHODS if any(column in by_column for by_column in tests)]


def _z_table(ours: str, tests: Tests, published: dict[str, SignTest]) -> Table:
    """Return the normal scores of an ADF against each column; the published batches, if given, below those of LDPA."""
    columns = _tested_columns(*tests.values(), published)
    rows: list[tuple[Cell, ...]] = []
    for stream, by_column in tests.items():
        rows.append((stream, *(by_column[column].z if column in by_column else None for column in columns)))
        if published and len(rows) == 1:
            rows.append(("LDPA, published", *(published[column].z for column in columns)))
    note = (
        f"Above {CRITICAL_Z} (right-tailed, α = {ALPHA}): {ours} is ahead in significantly more batches; below "
        f"-{CRITICAL_Z}: the other is. The others have the paper's settings."
    )
    return Table(f"{ours} over the batches of each data set: z", ("data set", *columns), tuple(rows), 2, "", note)


def _passed_table(tests: dict[str, Tests]) -> Table:
    """Return how many of the existing methods each ADF is significantly ahead of, next to what the paper says."""
    rows: list[tuple[Cell, ...]] = []
    for stream in next(iter(tests.values())):
        cells = []
        for by_stream in tests.values():
            existing = [test for column, test in by_stream[stream].items() if column in EXISTING]
            cells.append(f"{sum(test.is_significant for test in existing)} of {len(existing)}")
        rows.append((stream, *cells, f"all {len(EXISTING)}"))
    note = "The paper names the exceptions in a figure only, whose values are not in its text."
    heads = ("data set", *tests, "the paper, ADF-S and ADF-R")
    return Table("Existing methods that ADF is significantly ahead of", heads, tuple(rows), 0, "", note)


def _published_tests(ours: str) -> dict[str, SignTest]:
    """Return the sign tests of a published column against the others over the 34 batches of LDPA."""
    figures = read_published(PUBLISHED).figures
    return {column: sign_test(figures[ours], figures[column]) for column in _others(ours)}


def _describe_published() -> str:
    """Return what the sign test makes of the paper's own LDPA figures."""
    tests = {column: test for column, test in _published_tests("ADF-S").items() if column in EXISTING}
    passed = sum(test.is_significant for test in tests.values())
    return (
        f"The paper's own figures for LDPA, tested the same way: ADF-S is significantly ahead of {passed} of the "
        f"{len(tests)} existing methods."
    )


def _figure(ours: str, tests: Tests) -> Figure:
    """Return the normal scores of an ADF as coloured cells."""
    columns = _tested_columns(*tests.values())
    values = [[by_column[one].z if one in by_column else None for one in columns] for by_column in tests.values()]
    plot = heatmap(values, columns, list(tests), x_title="method", y_title="data set", digits=1)
    return Figure(f"{ours}: z of the sign test", plot, f"Above {CRITICAL_Z} the lead is significant.")
