import pytest

from experiments.specs import selections
from experiments.specs.options import Options
from experiments.studies import probabilities
from experiments.studies.catalogue import STUDIES
from experiments.studies.probabilities import ADF_R, LIGHTGBM, METHODS, average_precision, plan, recall_at, report
from made_up import check_chapter, make_results, make_rows

FULL, QUICK = Options(), Options(quick=True)


def rows_of(run):
    is_ours, is_rare = run.method.name == ADF_R, run.stream.name == "frauds"
    bins = {"n": [0] * 8 + [40, 0], "sum": [0.0] * 8 + [34.0, 0.0], "right": [0] * 8 + [34 if is_ours else 20, 0]}
    common = {"log_loss": 0.2, "brier_score": 0.1, "reliability_top": bins, "reliability_all": bins}
    rare = {
        "average_precision": [None, 0.5 + 0.2 * is_ours, 0.1],
        "n_positive": [0, 30, 10],
        "found_at_1": [0.0, 12.0 + is_ours, 0.0],
        "found_at_5": [0.0, 24.0, 4.0],
    }
    return make_rows([0.9, 0.9, 0.9], **common, **(rare if is_rare else {"top_5_accuracy": 0.6}))


def test_plan():
    assert STUDIES["probabilities"] is probabilities
    runs = plan(FULL)
    shares = {dict(run.stream.options)["share"] for run in runs if run.stream.name == "frauds"}
    assert (min(shares), max(shares)) == (0.001, 0.03)
    many = {run.method for run in runs if run.stream.variant == "many"}
    assert many == {method for name, method in METHODS.items() if name not in LIGHTGBM}
    assert len(runs) == len(METHODS) * len(shares) + len(many)


def test_rare_positives_count_once_whatever_their_batch():
    rows = rows_of(plan(FULL)[0])
    assert average_precision(rows) == pytest.approx((0.7 * 30 + 0.1 * 10) / 40)
    assert recall_at("at_1")(rows) == pytest.approx(13 / 40)
    assert recall_at("at_5")(rows) == pytest.approx(28 / 40)


def test_chapter_has_every_measure():
    chapter = report(make_results(plan(FULL), rows_of), FULL)
    check_chapter(chapter, "probabilities")
    tables = {table.title: table for table in chapter.tables}
    assert tables["Average precision of frauds on the next batch"].rows[0][:2] == ("frauds, 0.1%", pytest.approx(0.55))
    assert tables["Fraction of frauds found at an alarm rate of 1%"].best == "max"
    assert tables["Log loss, frauds"].best == "min"
    errors = tables["Calibration error of the prediction, 200 classes"].rows[0]
    assert errors[1:] == (pytest.approx(0), pytest.approx(14 / 40), pytest.approx(14 / 40))
    assert [figure.title.partition(": ")[2] for figure in chapter.figures] == [
        *["average precision on the next batch"] * 3,
        *["reliability of the prediction"] * 4,
    ]
    assert chapter.findings[0].startswith("Highest average precision: ADF-R on frauds, 0.1%, ")


def test_a_quick_run_ends_in_a_chapter(monkeypatch):
    from experiments.running.protocols import find_protocol

    monkeypatch.setattr(selections, "QUICK_SAMPLES", 4_000)
    runs = [run for run in plan(QUICK) if run.method.name not in LIGHTGBM]
    results = make_results(runs, lambda run: find_protocol(run).evaluate(run, None).rows)
    monkeypatch.setattr(probabilities, "METHODS", {k: v for k, v in METHODS.items() if k not in LIGHTGBM})
    chapter = report(results, QUICK)
    check_chapter(chapter, "probabilities")
    assert any("Quick" in caveat for caveat in chapter.caveats)
