import math

import pytest

from experiments.__main__ import _make_parser
from experiments.comparison.next_batch import (
    ADF_R,
    ADF_R_MANY,
    ARF,
    ARF_MAX_RECORDS,
    BATCH_SIZES,
    LIGHTGBM,
    LIGHTGBM_ALL_NOT_ON,
    LIGHTGBM_ON,
    METHODS,
    OTHER_BASES,
    OTHER_BASES_ON,
    REFITS,
    SKLEARN,
    NextBatch,
    all_streams,
    artificial_streams,
    generated_streams,
    methods_on,
    real_streams,
    stationary_streams,
)
from experiments.goals import next_batch as goal
from experiments.run_studies import run_studies
from experiments.specs import selections
from experiments.specs.methods import METHODS as KNOWN
from experiments.specs.options import DEFAULT_SEEDS, Options, read_options
from experiments.specs.run_spec import PREQUENTIAL
from experiments.specs.sources import IN_ORDER, SOURCES, stream_size
from experiments.studies.catalogue import STUDIES
from experiments.studies.streams import plan, report
from made_up import check_chapter, make_results, make_rows

FULL, QUICK = Options(n_seeds=3), Options(quick=True)
TITLES = {stream: title for title, stream in all_streams(FULL).items()}
NAMES = {spec: name for name, spec in METHODS.items()}


class World:
    """Rows for every run of the plan; a test worsens one thing and sees one verdict fall."""

    def __init__(self, **changes):
        self.accuracy = {ADF_R: 0.9, "sklearn RF all": 0.85, "RF all": 0.86, "RF last 3": 0.8, ARF: 0.7}
        self.accuracy |= {"LightGBM all": 0.89, "ADF-R, 100 trees": 0.92, "RF all, 100 trees": 0.9}
        self.changes = changes

    def rows_of(self, run):
        title, name = TITLES[run.stream], NAMES[run.method]
        accuracy = self.accuracy.get(name, 0.6)
        loss = 1 - accuracy
        drift = "none"
        if name in (ADF_R, ADF_R_MANY):
            accuracy += self.changes.get("points", {}).get(title, 0) / 100 + 0.001 * run.seed
            loss += self.changes.get("loss", {}).get(title, 0)
            drift = [self.changes.get("drift", {}).get(title, "none"), *["none"] * 9]
        sure, n_right = (title == "gas" and name == ADF_R), 30 + 4 * ("RF" in name)
        bins = {"n": [0] * 8 + [40, 0], "sum": [0.0] * 8 + [34.0, 0.0], "right": [0] * 8 + [20 if sure else n_right, 0]}
        probabilities = {"brier_score": 2 * loss, "reliability_top": bins, "reliability_all": bins}
        forests = {"accuracy_permanent": 0.5, "accuracy_vote": accuracy, "accuracy_newest": 0.4}
        return make_rows(
            [accuracy] * 10, log_loss=loss, drift=drift, **probabilities, **(forests if "ADF" in name else {})
        )


def judged(**changes):
    found = NextBatch.of(make_results(plan(FULL), World(**changes).rows_of))
    return goal.judge(found, FULL)


def missed(**changes):
    return [one.measure for one in judged(**changes) if not one.is_met]


# Who runs where


def test_it_is_an_experiment_of_three_seeds():
    assert STUDIES["streams"].plan is plan
    arguments = _make_parser().parse_args(["streams"])
    assert read_options(arguments, DEFAULT_SEEDS["streams"]).n_seeds == 3


def test_streams_are_those_that_sources_make():
    streams = all_streams(FULL)
    assert {stream.name for stream in streams.values()} <= set(SOURCES)
    assert list(real_streams(FULL)) == list(BATCH_SIZES)
    assert {stream.variant for stream in real_streams(FULL).values()} == {IN_ORDER}
    assert len(streams) == 9 + len(generated_streams(FULL)) + len(stationary_streams(FULL))
    for stream in generated_streams(FULL).values():
        assert (dict(stream.options)["n_batches"], dict(stream.options)["batch_size"]) == (40, 500)
    for stream in stationary_streams(FULL).values():
        assert (dict(stream.options)["n_batches"], dict(stream.options)["batch_size"]) == (100, 300)


def test_plan():
    runs = plan(FULL)
    assert {run.protocol for run in runs} == {PREQUENTIAL}
    assert len(set(runs)) == len(runs)
    assert {run.method.name for run in runs} <= set(KNOWN)
    assert {NAMES[run.method] for run in runs} == set(METHODS)
    for title in all_streams(FULL):
        ran = [NAMES[run.method] for run in runs if TITLES[run.stream] == title]
        assert all(ran.count(name) == 3 for name in (ADF_R, *REFITS))
        assert all(ran.count(name) == 1 for name in SKLEARN)
        has_lightgbm = title in LIGHTGBM_ON or title in real_streams(FULL)
        assert ran.count(LIGHTGBM[0]) == has_lightgbm
        assert ran.count(LIGHTGBM[1]) == (has_lightgbm and title not in LIGHTGBM_ALL_NOT_ON)
        assert ran.count(OTHER_BASES[0]) == (title in OTHER_BASES_ON)
        assert ran.count(ADF_R_MANY) == (title in stationary_streams(FULL))
    for run in runs:
        if run.method.name == ARF:
            assert stream_size(run.stream) <= ARF_MAX_RECORDS
            assert run.seed == 0
    assert {title for title in real_streams(FULL) if ARF in methods_on(title, FULL)} == {
        *("elec2", "outdoor", "gas", "EB", "AReM", "Avila")
    }
    trees = {dict(METHODS[name].settings)["n_estimators"] for name in (ADF_R, *OTHER_BASES, *REFITS, *SKLEARN)}
    assert trees == {20}


def test_a_quick_plan_needs_no_files():
    assert {run.stream.name for run in plan(QUICK)} == {"house", "drift", "classes", "case"}
    assert {run.stream.name for run in plan(QUICK) if run.method.name in (ARF, *LIGHTGBM)} == {"house"}
    assert sum(stream_size(run.stream) for run in plan(QUICK)) < 200_000


# Verdicts


def test_every_limit_is_kept_where_adf_is_well_ahead():
    verdicts = judged()
    assert missed() == []
    assert [one.measure[:3] for one in verdicts] == [
        *(["(a)"] * 2 + ["(b)"] * 2 + ["(c)"] * 3 + ["(d)"] * 2 + ["(e)"] * 4 + ["(f)"] + ["(g)"] * 2)
    ]
    assert verdicts[0].seen == pytest.approx(4.1)  # seeds 0 to 2 have 0.1 points more each
    assert verdicts[2].seen == pytest.approx(4.1)
    assert verdicts[4].measure == "(c) points above ARF, mean of 6 real streams"
    assert verdicts[4].seen == pytest.approx(20)  # seed 0 alone, which is all that ARF ran with
    assert verdicts[5].measure == "(c) points above LightGBM last 3, mean of 9 real streams"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"points": {"gas": -4.8}}, ["(a) points above the best refit of our RF, worst real stream (gas)"]),
        (
            {"points": dict.fromkeys(BATCH_SIZES, -3.0)},
            [
                "(b) points above the best refit of our RF, mean of real streams",
                "(c) points above LightGBM all, mean of 6 real streams",
            ],
        ),
        ({"loss": {"EB": 0.045}}, ["(d) log loss below the best refit of our RF, worst real stream (EB)"]),
        (
            {"points": {"noise, 2 classes": -2.9}},
            ["(e) points above RF all, 100 trees, worst stationary stream (noise, 2 classes)"],
        ),
        (
            {"loss": {"noise, 5 classes": 0.03}},
            ["(e) log loss above RF all, 100 trees, worst stationary stream (noise, 5 classes)"],
        ),
        (
            {"drift": {"noise, 5 classes": "temporary"}},
            ["(f) batches of 200 called drift, worst stationary stream (noise, 5 classes)"],
        ),
        (
            {"points": {"wide": -4.8}},
            ["(g) points above the best refit of our RF, wide data"],
        ),
    ],
)
def test_a_limit_falls_with_its_figure(changes, expected):
    assert missed(**changes) == expected


def test_alarms_are_counted_of_two_hundred_batches():
    (alarms,) = [one for one in judged(drift={"noise, 2 classes": "sustained"}) if one.measure.startswith("(f)")]
    assert alarms.seen == pytest.approx(200 * 1 / 10)


# The chapter


@pytest.fixture(scope="module")
def chapter():
    changes = {"points": {"gas": -6}, "drift": {"elec2": "temporary"}}
    return report(make_results(plan(FULL), World(**changes).rows_of), FULL)


def table(chapter, title):
    return next(one for one in chapter.tables if one.title.startswith(title))


def test_chapter_says_what_was_measured(chapter):
    check_chapter(chapter, "streams")
    assert chapter.findings[0] == "14 of 16 limits are kept."
    assert (
        "Limits not kept: (a) points above the best refit of our RF, worst real stream (gas): -1.900"
        in (chapter.caveats[0])
    )
    assert any("chosen while looking at all nine real streams with seed 0" in caveat for caveat in chapter.caveats)
    assert any("ran with seed 0 only" in caveat for caveat in chapter.caveats)
    assert chapter.command == "python -m experiments streams --seeds 3"
    assert [figure.title.partition(":")[0] for figure in chapter.figures] == [*BATCH_SIZES, *BATCH_SIZES]


def test_tables_have_streams_and_methods(chapter):
    real = table(chapter, "Accuracy on the next batch, real streams")
    assert [row[0] for row in real.rows] == [*BATCH_SIZES, "mean"]
    assert real.columns[1:] == tuple(name for name in METHODS if "100" not in name)
    made = table(chapter, "Log loss on the next batch, generated streams")
    assert [row[0] for row in made.rows] == [*artificial_streams(FULL), "mean"]
    assert made.best == "min"
    brier = table(chapter, "Brier score on the next batch, real streams")
    assert (brier.best, brier.rows[0][4]) == ("min", "0.800 ± 0.000")
    error = table(chapter, "Calibration error of the prediction, real streams")
    assert [row[1] for row in error.rows[:3]] == ["0.100 ± 0.000", "0.100 ± 0.000", "0.350 ± 0.000"]
    assert error.rows[0][error.columns.index("RF all")] == "0.000 ± 0.000"
    seconds = table(chapter, "CPU seconds per batch, predicting and learning, real streams")
    assert seconds.rows[0][1] == "0.600 ± 0.000"
    above = table(chapter, "Points of ADF-R above the best of three refits, real streams")
    assert above.rows[2] == ("gas", "RF all", "-1.9 ± 0.1", "sklearn RF all", pytest.approx(-1.0))
    assert above.rows[-1][2] == pytest.approx(4.1 - 6 / 9)
    drifts = table(chapter, "Batches called drift")
    assert drifts.rows[0][:3] == ("elec2", 10, "1.0 ± 0.0")
    assert drifts.rows[4] == ("LDPA", 10, "0.0 ± 0.0", None, None)
    forests = table(chapter, "ADF-R: accuracy of each forest")
    assert forests.columns == ("stream", "permanent", "active", "temporary", "newest", "vote")


def test_reliability_diagrams_show_how_often_predictions_were_right(chapter):
    (gas,) = [figure for figure in chapter.figures if figure.title == "gas: reliability of the prediction"]
    drawn = {trace["name"]: trace["y"] for trace in gas.plot["data"]}
    assert drawn["ideal"] == pytest.approx([0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95])
    assert drawn[ADF_R] == [None] * 8 + [0.5, None]
    assert drawn["RF all"][8] == pytest.approx(34 / 40)


def test_one_seed_is_asked_for_again():
    one = Options(n_seeds=1)
    told = report(make_results(plan(one), World().rows_of), one)
    assert told.command == "python -m experiments streams --seeds 1"
    assert any("One draw" in caveat for caveat in told.caveats)


def test_quick_run_ends_in_report_and_markdown(tmp_path, monkeypatch):
    monkeypatch.setattr(selections, "QUICK_SAMPLES", 1500)
    monkeypatch.setattr(selections, "NOT_QUICK", (ARF, *LIGHTGBM))
    run_studies(["streams"], Options(quick=True, out=tmp_path))
    for name in ("report.html", "results.md"):
        assert "The next batch" in (tmp_path / name).read_text(encoding="utf-8")
    from pyarrow import parquet

    rows = parquet.read_table(tmp_path / "streams.parquet")
    assert set(rows["protocol"].to_pylist()) == {PREQUENTIAL}
    assert all(0 <= value <= 1 for value in rows["accuracy"].to_pylist())
    assert all(0 <= value <= -math.log(1e-3) + 1e-9 for value in rows["log_loss"].to_pylist())
