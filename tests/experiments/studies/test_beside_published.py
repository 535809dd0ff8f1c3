"""The chapters of the paper on figures made up: all data sets and columns, six batches each."""

import pytest

from experiments.comparison import caveats, published_comparison
from experiments.comparison.published import METHOD_OF_COLUMN, PUBLISHED_METHODS, read_published
from experiments.specs.options import Options
from experiments.specs.selections import ADF
from experiments.studies import accuracy, bigdata, ldpa, nemenyi, readings, rearranged, signtest, timing
from made_up import check_chapter, make_results, make_rows

FULL = Options(n_seeds=2)
METHODS = (*METHOD_OF_COLUMN.values(), *ADF, "CIRF paper")
BATCHES = {label[1]: label[0] for label in read_published("ldpa_34_batches_accuracy").labels}


@pytest.fixture(autouse=True)
def all_installed(monkeypatch):
    for module in (caveats, published_comparison, bigdata):
        monkeypatch.setattr(module, "is_installed", lambda name: True)


def level(run):
    """Make the accuracy of a method tell which it is; the second seed is two points better."""
    return 0.3 + METHODS.index(run.method.name) / 100 + run.seed / 50


def rows_of(run, n_batches=34):
    stages = list(BATCHES.values())[:n_batches]
    shares = [{"MKC-1": 0.25, "MKC-2": 0.6}.get(stage) for stage in stages]
    drift = ["temporary" if stage == "SUC" else "sustained" if stage == "MUC-1" else "none" for stage in stages]
    # Accuracies alternate around their level, so that ranks and signs are decided by the method.
    accuracies = [level(run) + (-1) ** i / 1000 for i in range(n_batches)]
    return make_rows(accuracies, stage=stages, large_leaf_share=shares, drift=drift, leaves_permanent=7)


def make_chapter(study, options=FULL):
    return study.report(make_results(study.plan(options), rows_of), options)


def table_of(chapter, title):
    return next(table for table in chapter.tables if table.title == title)


def row_of(table, name):
    return dict(zip(table.columns, next(row for row in table.rows if row[0] == name), strict=True))


def test_overall_table_holds_ours_published_difference_and_defaults():
    chapter = make_chapter(accuracy)
    check_chapter(chapter, "accuracy")
    table = table_of(chapter, "Ours beside the published figures")
    assert table.columns == ("data set", *PUBLISHED_METHODS)
    assert len(table.rows) == 4 * (6 + 1)
    expected = 0.3 + METHODS.index("CIRF-S paper") / 100 + 0.01
    assert row_of(table, "LDPA, paper's settings")["CIRF"] == f"{expected:.3f} ± 0.014"
    assert row_of(table, "LDPA, published")["CIRF"] == 0.526
    assert row_of(table, "LDPA, difference")["CIRF"] == pytest.approx(expected - 0.526)
    assert row_of(table, "LDPA, defaults")["ADF-R"] == f"{0.3 + METHODS.index('ADF-R') / 100 + 0.01:.3f} ± 0.014"
    assert row_of(table, "LDPA, defaults")["CIRF"] is None
    published = [read_published("overall_accuracy").value(name, "HT") for name in ("LDPA", "UIFWA", "EB", "AReM")]
    published += [read_published("overall_accuracy").value(name, "HT") for name in ("Avila", "House")]
    assert row_of(table, "mean, published")["HT"] == pytest.approx(sum(published) / 6)
    assert row_of(table, "mean, difference")["HT"] == pytest.approx(0.33 - sum(published) / 6)


def test_cirf_is_shown_on_both_base_forests_with_small_and_large_leaves():
    table = table_of(make_chapter(accuracy), "CIRF by what it starts from")
    row = row_of(table, "LDPA")
    assert len(row) == 1 + 6
    expected = 0.3 + METHODS.index("CIRF paper") / 100 + 0.01
    assert row["random forest, leaves of 20"] == f"{expected:.3f} ± 0.014"


def test_differences_are_summed_up_by_group():
    said = make_chapter(accuracy).findings
    (group,) = [one for one in said if one.startswith("MOA's stream learners")]
    assert "from -13.6 (ARF on EB) to +17.8 (OzaBag on UIFWA)" in group  # 0.380 - 0.516 and 0.360 - 0.182
    assert any("ADF-R +2.0, ADF-S +2.0, ADF-H +5.0" in one for one in said)


def test_missing_columns_are_named_with_how_to_get_them(monkeypatch):
    for module in (caveats, published_comparison):
        monkeypatch.setattr(module, "is_installed", lambda name: "MOA" not in name)
    chapter = make_chapter(accuracy)
    (said,) = [one for one in chapter.caveats if "MOA is not installed" in one]
    assert "HT, HAT, LeveragingBag, OzaBag and ARF" in said
    assert "make .venv-capymoa/made" in said
    row = row_of(table_of(chapter, "Ours beside the published figures"), "LDPA, paper's settings")
    assert (row["HT"], row["RF"] is not None) == (None, True)


def test_shares_of_the_largest_leaves_stand_below_the_paper_s():
    chapter = make_chapter(accuracy)
    table = table_of(chapter, "Samples from the two largest leaves")
    assert row_of(table, "the paper") == {
        "data set": "the paper",
        "MKC-1": 0.25,
        "MKC-2": 0.75,
        "MUC-1": 0.25,
        "MUC-2": 0.75,
    }
    assert row_of(table, "EB") == {
        "data set": "EB",
        "MKC-1": 0.25,
        "MKC-2": pytest.approx(0.6),
        "MUC-1": None,
        "MUC-2": None,
    }
    (said,) = [one for one in chapter.caveats if "too few samples" in one]
    assert "MKC-2 of EB (60%)" in said
    assert "MKC-1" not in said


def test_streams_that_do_not_say_have_no_table_of_shares():
    def without_shares(run):
        return [{key: value for key, value in row.items() if key != "large_leaf_share"} for row in rows_of(run)]

    chapter = accuracy.report(make_results(accuracy.plan(FULL), without_shares), FULL)
    assert not any("largest leaves" in table.title for table in chapter.tables)


def test_drift_is_counted_by_stage():
    chapter = make_chapter(accuracy)
    table = table_of(chapter, "Batches called drift, by stage")
    assert table.columns[:4] == ("stage", "batches", "ADF-R paper, temporary", "ADF-R paper, sustained")
    assert [row[:4] for row in table.rows if row[0] in ("SUC", "MUC-1", "SKC")] == [
        ("SKC", 18, 0.0, 0.0),
        ("SUC", 18, 18.0, 0.0),
        ("MUC-1", 24, 0.0, 24.0),
    ]
    assert (
        "ADF-R paper reports drift in 64% of the batches with classes of the second half alone (SUC, MUC-1 and MUC-2) "
        "and in 0% of the others." in chapter.findings
    )


def test_every_batch_of_ldpa_stands_beside_its_published_figure():
    chapter = make_chapter(ldpa)
    check_chapter(chapter, "ldpa")
    assert chapter.title == "LDPA, batch by batch"
    ours, forests, learners = chapter.tables[:3]
    assert ours.columns[:6] == (
        *("batch", "stage", "ADF-R, paper's settings", "ADF-R, published", "ADF-R, difference", "ADF-R, defaults"),
    )
    assert [len(table.rows) for table in (ours, forests, learners)] == [35, 35, 35]
    figures = read_published("ldpa_34_batches_accuracy").figures
    row = dict(zip(ours.columns, ours.rows[11], strict=True))
    mine = 0.3 + METHODS.index("ADF-S paper") / 100 + 0.01 - 0.001
    assert (row["batch"], row["stage"]) == (12, "SUC")
    assert row["ADF-S, published"] == figures["ADF-S"][11] == 0.655
    assert row["ADF-S, paper's settings"] == pytest.approx(mine)
    assert row["ADF-S, difference"] == pytest.approx(mine - 0.655)
    assert {head.split(",")[0] for head in (*ours.columns[2:], *forests.columns[2:], *learners.columns[2:])} == set(
        PUBLISHED_METHODS
    )
    stages = table_of(chapter, "Mean accuracy of each stage")
    assert row_of(stages, "SUC, published")["ADF-S"] == pytest.approx(sum(figures["ADF-S"][11:14]) / 3)
    assert not any(str(row[0]).startswith("mean") for row in stages.rows)


def test_28_batches_are_shown_overall_and_one_by_one():
    def rows_of_28(run):
        return rows_of(run)[:28]

    chapter = rearranged.report(make_results(rearranged.plan(FULL), rows_of_28), FULL)
    check_chapter(chapter, "rearranged")
    table = table_of(chapter, "Ours beside the published figures, 28 batches")
    assert row_of(table, "UIFWA, published")["ADF-R"] == 0.565
    batches = table_of(chapter, "LDPA, accuracy after each batch: ADF")
    assert len(batches.rows) == 29
    assert dict(zip(batches.columns, batches.rows[1], strict=True))["ADF-R, published"] == 0.652


def test_big_data_stand_beside_the_published_figures():
    chapter = make_chapter(bigdata)
    check_chapter(chapter, "bigdata")
    table = table_of(chapter, "Beside the published figures")
    assert table.columns == ("data set", "SysFor (whole data)", "CIRF", "ADF")
    assert row_of(table, "UIFWA, published")["ADF"] == 0.4091
    ours = 0.3 + METHODS.index("ADF-S paper") / 100 + 0.01 - 0.001
    assert row_of(table, "UIFWA, difference")["ADF"] == pytest.approx(ours - 0.4091)
    assert row_of(table, "UIFWA, defaults")["CIRF"] is None


def test_milliseconds_are_of_learning_and_answering():
    chapter = make_chapter(timing)
    table = table_of(chapter, "Milliseconds per batch beside the published ones")
    assert row_of(table, "LDPA, difference")["SysFor"] == pytest.approx(600 - 2651)


def test_sign_tests_are_of_the_paper_s_class_and_then_of_the_default():
    chapter = make_chapter(signtest)
    check_chapter(chapter, "signtest")
    assert [table.title.split(" over")[0] for table in chapter.tables[:4]] == [
        "ADF-S paper",
        "ADF-R paper",
        "ADF-S",
        "ADF-R",
    ]
    # 34 of 34 batches: (34 - 0.5 - 17) / (sqrt(34) / 2).
    assert row_of(chapter.tables[0], "EB")["ARF"] == pytest.approx(16.5 / (34**0.5 / 2))
    assert row_of(chapter.tables[1], "EB")["ADF-S"] < -1.96
    assert row_of(chapter.tables[0], "LDPA, published")["SysFor"] == pytest.approx(2.785, abs=0.001)
    assert ["ADF-S" in table.columns for table in chapter.tables[:4]] == [False, True, True, True]
    assert "ADF-S paper is significantly ahead of every existing method that ran (z > 1.96) on 6 of 6 data sets." in (
        chapter.findings
    )
    assert row_of(chapter.tables[4], "EB")["ADF-S paper"] == "8 of 8"


def test_exceptions_of_the_sign_tests_are_named():
    def mixed(run):
        return make_rows([0.5] * 34, stage=list(BATCHES.values())) if run.stream.name == "eb" else rows_of(run)

    chapter = signtest.report(make_results(signtest.plan(FULL), mixed), FULL)
    (said,) = [one for one in chapter.findings if one.startswith("ADF-R paper is")]
    assert "on 5 of 6 data sets; not of SysFor, RF, HT, HAT, LeveragingBag, OzaBag, CIRF and ARF on EB." in said


def test_ranks_are_over_the_batches_of_each_data_set_and_over_the_data_sets():
    chapter = make_chapter(nemenyi)
    check_chapter(chapter, "nemenyi")
    table = table_of(chapter, "Average ranks over the batches of each data set")
    assert table.columns == ("method", "LDPA", "UIFWA", "EB", "AReM", "Avila", "House", "LDPA, published")
    assert row_of(table, "ADF-S")["EB"] == 1.0  # the last of METHOD_OF_COLUMN is the most accurate
    assert row_of(table, "SysFor")["EB"] == 11.0
    assert row_of(table, "ADF-S")["LDPA, published"] == pytest.approx(1.88, abs=0.01)
    defaults = table_of(chapter, "Average ranks over the batches of each data set, our defaults")
    assert row_of(defaults, "ADF-H")["EB"] == 1.0  # and of METHODS, of our defaults
    # ARF has rank 4: three behind ADF-S and two behind ADF-R, where 2.59 is the critical difference.
    assert "ADF-S paper ranks significantly better than every existing method on 6 of 6 data sets." in chapter.findings
    (said,) = [one for one in chapter.findings if one.startswith("ADF-R paper ranks")]
    assert "on 0 of 6 data sets; not than ARF on LDPA; " in said
    assert table_of(chapter, "Average ranks over data sets").rows[0][:2] == ("ADF-S", 1.0)


def test_readings_stand_side_by_side():
    def by_reading(run):
        text = dict(run.method.settings).get("reading") == "text"
        return make_rows([0.5 - 0.1 * text] * 3, drift=["none", "temporary", "sustained"] if text else "none")

    chapter = readings.report(make_results(readings.plan(FULL), by_reading), FULL)
    check_chapter(chapter, "readings")
    assert {run.stream.name for run in readings.plan(FULL)} == {"ldpa", "arem", "eb"}
    assert chapter.findings[0].startswith("ADF-R paper: the program's reading is +10.0 points against the text's")
    assert row_of(chapter.tables[0], "EB")["ADF-R, published"] == 0.722
    assert row_of(table_of(chapter, "Batches called drift"), "EB")["ADF-S paper, text"] == "2.0 ± 0.0"
    assert row_of(table_of(chapter, "Batches called sustained drift"), "EB")["ADF-S paper, text"] == "1.0 ± 0.0"
