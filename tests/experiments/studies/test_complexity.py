import numpy as np
import pytest

from experiments.running.protocols import find_protocol
from experiments.specs.options import Options
from experiments.specs.run_spec import HOLDOUT, LONG_STREAM
from experiments.studies import complexity
from experiments.studies.complexity import GRID, NAMES, fit_slope, plan, report
from made_up import check_chapter, make_results, make_rows

FULL, QUICK = Options(), Options(quick=True)
TITLE_OF = {name: title for title, name in NAMES.items()}
EXPONENTS = {"ADF-R": (1, 0.5, 1), "ADF-S": (1.5, 3, 1), "ADF-H": (1, 1.4, 1), "RF": (0.8, 2, 1), "CIRF": (0, 0, 0)}


def rows_of(run):
    """Return rows whose seconds are a known power of all sizes; the first batch takes a constant time."""
    options = dict(run.stream.options)
    sizes = options["batch_size"], options["n_features"], dict(run.method.settings).get("n_estimators", 10)
    later = 1e-6 * np.prod(np.power(np.array(sizes, dtype=float), EXPONENTS[TITLE_OF[run.method.name]]))
    strays = [1.0, later, later, 100 * later, later, 3 * later]  # the median does not mind some
    return make_rows([0.5] * 6, train_seconds=strays)


@pytest.fixture(scope="module")
def chapter():
    return report(make_results(plan(FULL), rows_of), FULL)


def test_slopes_are_found_and_stand_beside_the_papers(chapter):
    check_chapter(chapter, "complexity")
    rows = {row[0]: row[1:] for row in chapter.tables[0].rows}
    for name, exponents in EXPONENTS.items():
        assert rows[f"{name}, later batches"][:3] == pytest.approx(exponents)
        assert rows[f"{name}, first batch"][:3] == pytest.approx((0, 0, 0), abs=1e-9)
    assert rows["ADF-R, later batches"][3:] == (1, 2, 1)
    assert rows["ADF-H, later batches"][3:] == (1, 1, 1)
    assert rows["ADF-S, later batches"][3:] == (None, None, None)


def test_what_grows_faster_than_the_paper_says_is_told(chapter):
    assert chapter.findings[0] == (
        "ADF-R: seconds of later batches grow like n^1 m^0.5 M^1; the paper's bound n^1 m^2 M^1."
    )
    assert chapter.findings[1].endswith("not in the paper's table.")
    assert chapter.findings[-2] == (
        "Above the paper's exponent by more than 0.1: ADF-H in m, later batches (1.40 against 1)."
    )


def test_growth_along_the_stream_is_told(chapter):
    assert chapter.findings[-1].startswith("Seconds of batch 6 over those of batch 2, of the same size: ADF-R 3.0×, ")


def test_seconds_are_medians(chapter):
    seconds = next(table for table in chapter.tables if table.title.endswith("later batches"))
    shown = {row[0]: row[1] for row in seconds.rows}
    assert shown["n = 8,000"] == pytest.approx(1e-3 * 8_000 * 4 * 10)
    assert len(seconds.rows) == sum(map(len, GRID.values()))


def test_full_runs_have_the_machine_to_themselves_and_four_points():
    assert {run.protocol for run in plan(FULL)} == {LONG_STREAM}
    assert {run.protocol for run in plan(QUICK)} == {HOLDOUT}
    assert {run.seed for run in plan(FULL)} == {0, 1, 2}
    for grid in (GRID, complexity.QUICK_GRID):
        assert all(len(values) >= 4 for values in grid.values())


def test_settings_are_the_papers_but_for_what_is_measured():
    assert {setting for run in plan(FULL) for setting, _ in run.method.settings} == {"n_estimators"}


def test_slope_is_by_least_squares():
    assert fit_slope([1, np.e], [1, np.e**3]) == pytest.approx(3)
    assert fit_slope([1, 2, 4], [1, 4, 4]) == pytest.approx(1)


def test_real_seconds_end_in_a_chapter(monkeypatch):
    monkeypatch.setattr(complexity, "NAMES", {"ADF-R": "ADF-R paper", "CIRF": "CIRF paper"})
    monkeypatch.setattr(complexity, "QUICK_GRID", {"n": (100, 200, 300, 400), "m": (4, 5, 6, 7), "M": (1, 2, 3, 4)})
    results = make_results(dict.fromkeys(plan(QUICK)), lambda run: find_protocol(run).evaluate(run, None).rows)
    chapter = report(results, QUICK)
    check_chapter(chapter, "complexity")
    assert any("Quick" in caveat for caveat in chapter.caveats)
    assert all(figure.plot["data"] for figure in chapter.figures)
