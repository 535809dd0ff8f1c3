import json
import math
import shlex

import pytest

from experiments.__main__ import SUMMARIES, main
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.per_batch import PerBatch, mean_by_stage
from experiments.comparison.published import METHOD_OF_COLUMN
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter
from experiments.run_studies import run_studies
from experiments.running.records import RunRecord
from experiments.running.runner import run_all
from experiments.specs import selections
from experiments.specs.options import Options, read_options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import ADF, ALL_METHODS, methods_on, plan_34_batches
from experiments.studies import accuracy
from experiments.studies.catalogue import STUDIES
from experiments.studies.cost import bytes_growth, seconds_growth

QUICK = Options(quick=True)
BESIDE_PUBLISHED = ("accuracy", "time", "ldpa", "rearranged", "bigdata")
PAPER = (*BESIDE_PUBLISHED, "signtest", "nemenyi", "readings", "rivals", "retention", "cost")


@pytest.fixture(scope="module")
def tiny():
    """Make quick runs tiny: fewer records, and none of the methods that take seconds even then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selections, "QUICK_SAMPLES", 1200)
        slow = ("HT", "HAT", "ARF", "OzaBag", "NCMF", "LightGBM", "SysFor batch", "SysFor last 3")
        patch.setattr(selections, "NOT_QUICK", (*slow, *selections.NOT_QUICK))
        yield


@pytest.fixture(scope="module")
def out(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("quick")
    run_studies(PAPER, Options(quick=True, out=folder))
    return folder


@pytest.fixture(scope="module")
def chapters(out):
    return {name: Chapter.from_json(json.loads((out / f"{name}.json").read_text())) for name in PAPER}


@pytest.mark.parametrize("name", PAPER)
def test_chapter_says_something(name, chapters):
    chapter = chapters[name]
    assert chapter.name == name
    assert chapter.question.endswith("?")
    assert len(chapter.findings) >= 2
    assert any("Quick" in caveat for caveat in chapter.caveats)
    for sentence in (*chapter.findings, *chapter.caveats):
        assert sentence.endswith((".", "?"))
        assert "nan" not in sentence.lower()
        assert "  " not in sentence


@pytest.mark.parametrize("name", PAPER)
def test_tables_hold_numbers(name, chapters):
    for table in chapters[name].tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
        cells = [cell for row in table.rows for cell in row[1:]]
        assert any(isinstance(cell, float) or " of " in str(cell) for cell in cells)
        assert not any(isinstance(cell, float) and not math.isfinite(cell) for cell in cells)


@pytest.mark.parametrize("name", BESIDE_PUBLISHED)
def test_published_figures_are_shown_in_quick_runs_too(name, chapters):
    heads = [head for table in chapters[name].tables for row in table.rows for head in (row[0], *table.columns)]
    assert any(str(head).endswith(", published") for head in heads)
    assert any("quick runs are of other data" in caveat for caveat in chapters[name].caveats)


@pytest.mark.parametrize("name", PAPER)
def test_chapter_says_what_it_was_measured_with(name, chapters):
    provenance = chapters[name].provenance
    assert provenance.n_seeds == 1
    assert {"ADF-R paper", "ADF-S paper"} <= set(provenance.behaviour)


@pytest.mark.parametrize("name", PAPER)
def test_figures_have_something_in_them(name, chapters):
    for figure in chapters[name].figures:
        assert figure.plot["data"]
        json.dumps(figure.plot, allow_nan=False)


@pytest.mark.parametrize("name", PAPER)
def test_command_asks_for_the_same_again(name, chapters):
    program, *arguments = shlex.split(chapters[name].command)
    assert [program, *arguments[:3]] == ["python", "-m", "experiments", name]
    parser_options = _parse(arguments[2:])
    assert parser_options.quick
    assert parser_options.n_seeds == 1


def _parse(arguments):
    from experiments.__main__ import _make_parser

    return read_options(_make_parser().parse_args(arguments))


def test_command_finds_everything_done(out, chapters, capsys):
    arguments = shlex.split(chapters["bigdata"].command)[3:]
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert main([*arguments, "--out", str(out)]) == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before
    assert capsys.readouterr().err == ""


def test_report_holds_every_chapter(out, chapters):
    report = (out / "report.html").read_text(encoding="utf-8")
    assert all(chapter.title in report for chapter in chapters.values())


def test_shared_runs_are_made_once(out, tiny):
    runs = {run for name in PAPER for run in STUDIES[name].plan(QUICK)}
    assert len(list((out / "runs").glob("*.json"))) == len(runs)


def test_rows_of_an_experiment_are_a_table(out):
    from pyarrow import parquet

    table = parquet.read_table(out / "ldpa.parquet")
    assert len(table) == 34 * len(set(table["method"].to_pylist()))


def test_full_plans_cover_six_data_sets_and_every_method():
    runs = plan_34_batches(Options())
    assert {run.stream.name for run in runs} == {"ldpa", "uifwa", "eb", "arem", "avila", "house"}
    assert {run.method.name for run in runs if run.stream.name == "avila"} == set(ALL_METHODS)
    assert {"HT", "ARF"} <= set(methods_on("House", Options()))
    assert len(plan_34_batches(Options(n_seeds=3))) == 3 * len(runs)


def test_chapters_of_the_paper_run_its_columns_and_our_defaults_alone(monkeypatch):
    monkeypatch.setattr("experiments.comparison.published_comparison.is_installed", lambda name: "MOA" not in name)
    for name in ("accuracy", "time", "ldpa", "rearranged", "signtest", "nemenyi"):
        runs = STUDIES[name].plan(Options())
        ran = {run.method.name for run in runs if run.method not in accuracy.CIRF.values()}
        assert ran == {one for one in (*METHOD_OF_COLUMN.values(), *ADF) if "MOA" not in one}


def test_all_is_every_study():
    assert set(SUMMARIES) == {"all", "results", "pages", *STUDIES}


# What is computed from figures, on figures made up


def record(accuracies, **columns):
    rows = [
        {"batch": i + 1, "stage": "MKC-1" if i < 3 else "SUC", "n_train": 10, "accuracy": accuracy}
        | {name: values[i] for name, values in columns.items()}
        for i, accuracy in enumerate(accuracies)
    ]
    return RunRecord("key", {}, {}, "", {}, {}, "", "", "", 0.0, rows)


STREAMS = {"A": StreamSpec("a"), "B": StreamSpec("b")}


def made_up():
    figures = {
        ("A", "ADF-R"): [0.9, 0.8, 0.7],
        ("A", "RF all"): [0.7, 0.6, 0.5],
        ("B", "ADF-R"): [0.5, 0.5, 0.5],
        ("B", "RF all"): [0.6, 0.6, 0.6],
        ("A", "ARF"): [1.0, 1.0, 1.0],
    }
    return Results({RunSpec(STREAMS[a], MethodSpec(name)): record(values) for (a, name), values in figures.items()})


def test_comparison_says_who_leads_and_who_is_behind():
    found = Comparison(made_up(), STREAMS, "accuracy")
    assert found.present(["ARF", "RF all", "HT"]) == ["ARF", "RF all"]
    assert found.complete(["ARF", "RF all"]) == ["RF all"]
    assert found.leaders(["ADF-R", "RF all"]) == {"A": "ADF-R", "B": "RF all"}
    assert found.leaders(["ADF-R", "RF all", "ARF"]) == {"A": "ARF", "B": "RF all"}
    assert found.describe_gap("ADF-R", "RF all") == "ADF-R against RF all: +5.0 points on average, behind on B (-10.0)."
    assert (
        found.describe_losses("ADF-R", ["RF all", "ARF"])
        == "ADF-R loses to ARF on A (-20.0 points) and RF all on B (-10.0 points)."
    )
    assert found.describe_losses("RF all", ["ADF-R"], "is behind") == "RF all is behind ADF-R on A (-20.0 points)."
    assert found.describe_gap("ARF", "RF all") == "ARF against RF all: +40.0 points on average, behind nowhere."


def test_comparison_leaves_gaps_where_a_method_did_not_run():
    table = Comparison(made_up(), STREAMS, "accuracy").table("t", ["ADF-R", "RF all", "ARF", "HT"])
    assert table.columns == ("data set", "ADF-R", "RF all", "ARF")
    assert [row[0] for row in table.rows] == ["A", "B", "mean"]
    assert table.rows[1][3] is None
    assert table.rows[2][3] is None
    assert table.rows[2][1] == pytest.approx(0.65)


def test_comparison_knows_methods_by_other_names():
    changed = MethodSpec.of("ADF-R", window_size=5)
    results = Results({RunSpec(STREAMS["A"], changed): record([0.25, 0.75, 0.5])})
    found = Comparison(results, {"A": STREAMS["A"]}, "accuracy", methods={"γ = 5": changed})
    assert found.table("t", ["γ = 5", "ADF-R"]).rows == (("A", 0.5),)
    assert PerBatch(results, STREAMS["A"], ["γ = 5"], {"γ = 5": changed}).by_batch("γ = 5") == [0.25, 0.75, 0.5]


def test_growth_is_last_third_over_first():
    sizes = [1.0, None, 1.0, None, 2.0, None, None, 3.0, 5.0]
    rows = record([0.5] * 9, train_seconds=[9.0, 1, 1, 1, 2, 2, 2, 3, 3], bytes=sizes).rows
    assert bytes_growth(rows) == pytest.approx(4.0)
    assert seconds_growth(rows) == pytest.approx(3.0)  # the first batch, which builds, does not count


def test_stages_have_means_in_their_order():
    assert mean_by_stage(["SUC", "SUC", "MKC"], [0.2, 0.4, 1.0]) == pytest.approx({"SUC": 0.3, "MKC": 1.0})


def test_words_are_joined():
    assert [join_words(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_tables_show_mean_and_deviation_over_seeds(tiny, tmp_path):
    options = Options(quick=True, n_seeds=2, out=tmp_path)
    runs = [run for run in plan_34_batches(options) if run.method.name in ("RF batch", "NCMC")]
    found = Comparison(Results(run_all(runs, options)), selections.dataset_streams(options), "accuracy")
    row = found.table("t", ["RF batch", "NCMC"]).rows[0]
    assert all(isinstance(cell, str) and " ± " in cell for cell in row[1:])
    assert options.command("accuracy") == "python -m experiments accuracy --quick --seeds 2"
