import pytest

from experiments.specs.options import Options
from experiments.studies.forests import NAMES, best_of_three, follows_best, plan, report
from made_up import check_chapter, make_results, make_rows

ROWS = make_rows(
    [0.8, 0.7, 0.9, 0.6],
    accuracy_permanent=[0.7, 0.7, 0.7, 0.7],
    accuracy_active=[0.8, 0.5, 0.5, 0.5],
    accuracy_temporary=[None, 0.9, 0.9, None],
    drift=["none", "temporary", "sustained", "none"],
)
FULL = Options(n_seeds=2)


def test_best_of_three_is_over_the_forests_that_stand():
    assert best_of_three(ROWS) == pytest.approx((0.8 + 0.9 + 0.9 + 0.7) / 4)
    assert follows_best(ROWS) == pytest.approx(2 / 4)


def test_chapter_tells_forests_and_verdicts_apart():
    chapter = report(make_results(plan(FULL), lambda run: ROWS), FULL)
    check_chapter(chapter, "forests")
    assert chapter.findings[0].startswith("ADF-R paper: +5.0 points against its permanent forest alone")
    assert "2 batches of drift (temporary 2), 2 batches of no drift (permanent 1 and active 1)" in chapter.findings[4]
    assert "bring ADF-R paper +7.5 points on average, +7.5 on LDPA" in chapter.caveats[0]
    *tables, verdicts, by_stage = chapter.tables
    assert tables[0].columns == ("data set", "permanent", "active", "temporary", "ADF-R paper", "best of three")
    assert len(tables[0].rows) == 6
    assert verdicts.rows[0][1:] == (1.0, 1.0) * len(NAMES)
    assert by_stage.rows == (("MKC-1", 4 * 6, *(6.0, 6.0) * len(NAMES)),)
    marks = {trace["name"]: trace["x"] for trace in chapter.figures[0].plot["data"]}
    assert (marks["temporary drift"], marks["sustained drift"]) == ([2], [3])
    assert chapter.figures[0].title == "ADF-R paper on LDPA, seed 0"


def test_a_forest_that_never_stood_has_no_mean():
    rows = make_rows([0.8, 0.7])
    chapter = report(make_results(plan(FULL), lambda run: rows), FULL)
    check_chapter(chapter, "forests")
    assert chapter.tables[0].rows[0][3] is None
