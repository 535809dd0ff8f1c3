"""Sign test: over the batches of each data set, as in the paper, and over the data sets."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.comparison.caveats import caveat_methods_left_out, caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.published import PUBLISHED_METHODS, read_published
from experiments.comparison.results import Results
from experiments.comparison.significance import CRITICAL_Z, SignTest, sign_test
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import heatmap
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, RIVALS, dataset_streams, plan_34_batches

SUMMARY = "the paper's sign test of each ADF against each rival, over batches and over data sets"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_34_batches(options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    found = Comparison(results, dataset_streams(options), "accuracy")
    rivals = found.present(RIVALS)
    tests = {ours: {stream: _test_batches(found, stream, ours, rivals) for stream in found.streams} for ours in ADF}
    return Chapter(
        name="signtest",
        title="Sign tests",
        question="Is ADF ahead in more batches than luck would give it?",
        findings=(*(_describe_counts(ours, tests[ours]) for ours in ADF), _describe_published()),
        caveats=(
            *filter(None, (_caveat_behind(ours, tests[ours]) for ours in ADF)),
            "Batches of one stream are no independent draws: a test set holds records of two batches before, and a "
            "model carries what it learnt along. The chances given are therefore too small, here as in the paper.",
            f"{len(ADF) * len(rivals) * len(found.streams)} tests are made: at 2.5 % one in forty is passed by luck.",
            *caveat_one_seed(options),
            *caveat_methods_left_out(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            *(_z_table(ours, tests[ours], rivals) for ours in ADF),
            *([_dataset_table(found, rivals)] if len(found.streams) > 1 else []),
            _published_table(),
        ),
        figures=tuple(_figure(ours, tests[ours], rivals) for ours in ADF),
        command=options.command("signtest"),
    )


def _test_batches(found: Comparison, stream: str, ours: str, rivals: Sequence[str]) -> dict[str, SignTest]:
    """Return the sign tests over the batches of one stream against the rivals that ran on it."""
    spec, results = found.streams[stream], found.results
    mine = results.by_batch(spec, MethodSpec(ours), "accuracy")
    ran = [rival for rival in rivals if results.has(spec, MethodSpec(rival))]
    return {rival: sign_test(mine, results.by_batch(spec, MethodSpec(rival), "accuracy")) for rival in ran}


def _describe_counts(ours: str, tests: dict[str, dict[str, SignTest]]) -> str:
    """Return how many of its tests an ADF passes."""
    every = [test for by_rival in tests.values() for test in by_rival.values()]
    passed = sum(test.is_significant for test in every)
    return (
        f"{ours} is ahead of a rival in significantly more than half of the batches in {passed} of {len(every)} tests."
    )


def _caveat_behind(ours: str, tests: dict[str, dict[str, SignTest]]) -> str:
    """Return which rivals are significantly ahead of an ADF."""
    behind = [
        f"{rival} on {stream}"
        for stream, by_rival in tests.items()
        for rival, test in by_rival.items()
        if test.z < -CRITICAL_Z
    ]
    return f"Significantly ahead of {ours}: {join_words(behind)}." if behind else ""


def _z_table(ours: str, tests: dict[str, dict[str, SignTest]], rivals: Sequence[str]) -> Table:
    """Return the normal scores of an ADF against each rival."""
    rows: list[tuple[Cell, ...]] = [
        (stream, *(by_rival[rival].z if rival in by_rival else None for rival in rivals))
        for stream, by_rival in tests.items()
    ]
    note = f"Above {CRITICAL_Z}: {ours} is ahead in significantly more batches; below -{CRITICAL_Z}: the rival is."
    return Table(f"{ours} over the batches of each data set: z", ("data set", *rivals), tuple(rows), 2, "", note)


def _dataset_table(found: Comparison, rivals: Sequence[str]) -> Table:
    """Return on how many data sets each ADF is ahead of each rival that ran on all, and the chance of that."""
    complete = found.complete(rivals)
    rows: list[tuple[Cell, ...]] = []
    for ours in ADF:
        tests = [sign_test(*zip(*_pairs(found, ours, rival), strict=True)) for rival in complete]
        rows.append((f"{ours} ahead on", *(f"{test.wins} of {len(found.streams)}" for test in tests)))
        rows.append((f"{ours} p", *(test.p for test in tests)))
    note = "Exact chance of as many leads or more by luck; six of six is 0.016."
    return Table("Over the data sets' mean accuracies", ("", *complete), tuple(rows), 3, "", note)


def _pairs(found: Comparison, ours: str, rival: str) -> list[tuple[float, float]]:
    """Return both mean accuracies on each data set."""
    return [(found.value(stream, ours), found.value(stream, rival)) for stream in found.streams]


def _published_tests() -> dict[str, SignTest]:
    """Return the sign tests of the published ADF-S against the published others over the 34 batches of LDPA."""
    figures = read_published("ldpa_34_batches_accuracy").figures
    return {name: sign_test(figures["ADF-S"], figures[name]) for name in PUBLISHED_METHODS if name != "ADF-S"}


def _describe_published() -> str:
    """Return what the sign test makes of the paper's own LDPA figures."""
    tests = _published_tests()
    passed = sum(test.is_significant for test in tests.values())
    return (
        f"The paper's own figures for LDPA, tested the same way: ADF-S is significantly ahead of {passed} of the "
        f"{len(tests)} others."
    )


def _published_table() -> Table:
    """Return the sign tests of the paper's own LDPA figures."""
    tests = _published_tests()
    rows: list[tuple[Cell, ...]] = [
        ("wins", *(test.wins for test in tests.values())),
        ("losses", *(test.losses for test in tests.values())),
        ("z", *(test.z for test in tests.values())),
        ("p", *(test.p for test in tests.values())),
    ]
    return Table("Published ADF-S on the 34 batches of LDPA", ("", *tests), tuple(rows), 3)


def _figure(ours: str, tests: dict[str, dict[str, SignTest]], rivals: Sequence[str]) -> Figure:
    """Return the normal scores of an ADF as coloured cells."""
    values = [[by_rival[one].z if one in by_rival else None for one in rivals] for by_rival in tests.values()]
    plot = heatmap(values, rivals, list(tests), x_title="rival", y_title="data set", digits=1)
    return Figure(f"{ours}: z of the sign test", plot, f"Above {CRITICAL_Z} the lead is significant.")
