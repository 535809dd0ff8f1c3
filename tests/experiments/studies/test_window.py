import pytest

from experiments.specs.methods import default_settings
from experiments.specs.options import Options
from experiments.studies.window import ADF_NAMES, FIRST_BATCHES, REFITTED, SIZES, first_batches, plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options()


def rows_of(run):
    settings = dict(run.method.settings)
    if run.method.name in ADF_NAMES:
        size = settings.get("window_size", default_settings(run.method.name)["window_size"])
        return make_rows([0.9 - abs(size - 5) / 100] * 34, train_seconds=float(size))
    window = settings.get("window", 1)
    # Later batches must not count: they are not among the paper's eight.
    return make_rows([0.6 + 0.1 * (window == 3)] * FIRST_BATCHES + [0.0] * 26, train_seconds=[0.2 * window] * 34)


def test_means_are_over_the_first_batches():
    rows = make_rows([0.5] * FIRST_BATCHES + [1.0] * 26)
    assert first_batches("accuracy")(rows) == 0.5


def test_chapter_says_what_a_window_buys_and_costs():
    results = make_results(plan(FULL), rows_of)
    chapter = report(results, FULL)
    check_chapter(chapter, "window")
    assert (
        chapter.findings[0]
        == "SysFor refitted on the last three batches instead of one: +10.0 points over the first 8 "
        "batches of House, at 3.0 times the seconds."
    )
    assert (
        "ADF-R paper: best on average over the data sets with a window of 5 (0.900), -2.0 points with 3"
        in chapter.findings[2]
    )
    assert "without a window, of 1 batch, -2.0 against that" in chapter.findings[2]
    assert [row[0] for row in chapter.tables[0].rows] == list(REFITTED)
    assert chapter.tables[1].columns[1:] == tuple(map(str, SIZES))
    assert chapter.tables[1].rows[-1][1:] == pytest.approx([0.86, 0.87, 0.88, 0.90, 0.87])
    assert len(chapter.figures[0].plot["data"][0]["x"]) == FIRST_BATCHES


def test_default_window_is_shared_with_other_experiments():
    specs = {run.method for run in plan(FULL)}
    assert {name for name in ADF_NAMES if any(spec.name == name and not spec.settings for spec in specs)} == set(
        ADF_NAMES
    )
