import pytest

from experiments.specs.methods import default_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec
from experiments.studies import thresholds
from experiments.studies.thresholds import DATASETS, EPSILONS, NAMES, THETAS, plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options()


def accuracy(run):
    """Make the best cell θ = 0.3, ε = 0.03."""
    settings = default_settings(run.method.name) | dict(run.method.settings)
    return 0.9 - abs(settings["repair_threshold"] - 0.3) / 10 - abs(settings["error_tolerance"] - 0.03)


def made_up(options):
    return make_results(plan(options), lambda run: make_rows([accuracy(run)] * 3))


def test_plan_is_the_whole_grid_and_shares_the_cell_that_others_run():
    runs = plan(FULL)
    assert len(set(runs)) == len(runs) == len(DATASETS) * len(NAMES) * len(THETAS) * len(EPSILONS)
    for name in NAMES:
        assert sum(run.method == MethodSpec(name) for run in runs) == len(DATASETS)
    assert len(plan(Options(quick=True))) < len(runs) / 8


def test_best_cell_is_named_and_framed():
    chapter = report(made_up(FULL), FULL)
    check_chapter(chapter, "thresholds")
    assert len(chapter.figures) == len(DATASETS) * len(NAMES)
    for sentence in chapter.findings:
        assert "best at θ = 0.3, ε = 0.03 (0.900), -2.0 points at θ = 0.4, ε = 0.02, the default" in sentence
        assert "worst at θ = 1.0, ε = 0.1 (-14.0)" in sentence
    summary, *tables = chapter.tables
    assert summary.rows[0][1:6] == (
        "θ 0.2 to 0.4, ε 0.01 to 0.03",
        "θ = 0.3, ε = 0.03",
        *map(pytest.approx, (0.9, 0.88, 0.76)),
    )
    assert tables[0].rows[THETAS.index(0.3)][1 + EPSILONS.index(0.03)] == pytest.approx(0.9)
    plot = chapter.figures[0].plot
    assert plot["data"][0]["z"][THETAS.index(0.3)][EPSILONS.index(0.03)] == pytest.approx(0.9)
    (frame,) = plot["layout"]["shapes"]
    assert (frame["x0"] + 0.5, frame["y0"] + 0.5) == (EPSILONS.index(0.02), THETAS.index(0.4))


def test_a_default_off_the_grid_is_not_framed(monkeypatch):
    monkeypatch.setattr(
        thresholds, "default_settings", lambda name: {"repair_threshold": 0.35, "error_tolerance": 0.02}
    )
    chapter = report(made_up(FULL), FULL)
    assert all("the default" not in sentence for sentence in chapter.findings)
    assert {row[4] for row in chapter.tables[0].rows} == {None}
    assert not chapter.figures[0].plot["layout"].get("shapes")
