import pytest

from experiments.comparison.recovery import (
    CONCEPTS,
    DRIFT_KINDS,
    METHOD_NAMES,
    RIVER,
    Recovery,
    caveat_river,
    count_verdicts,
    drift_streams,
    plan_drift,
    stationary_streams,
)
from experiments.specs import selections
from experiments.specs.options import Options
from experiments.specs.run_spec import RESET_AT_CHANGES, MethodSpec
from experiments.studies.drift import plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options(n_seeds=3)
STAGES = list("AAABBBAAA")
ADF = [0.9, 0.9, 0.9, 0.5, 0.88, 0.9, 0.7, 0.9, 0.9]
TOLD_ROWS = [0.8, 0.9, 0.9, 0.8, 0.9, 0.9, 0.8, 0.9, 0.9]


def rows_of(run):
    if run.protocol == RESET_AT_CHANGES:
        return make_rows(TOLD_ROWS, stage=STAGES)
    if run.stream.variant == "none":
        return make_rows([0.9] * 4, drift=["none", "temporary", "none", "sustained"])
    if run.method.name == "ADF-R":
        return make_rows([accuracy + 0.001 * run.seed for accuracy in ADF], stage=STAGES)
    return make_rows([0.8 if run.method.name != "ARF" else 0.95] * 9, stage=STAGES)


@pytest.fixture(scope="module")
def results():
    return make_results(plan(FULL), rows_of)


def test_river_runs_with_few_seeds():
    runs = plan_drift(FULL)
    seeds = {name: {run.seed for run in runs if run.method.name == name} for name in METHOD_NAMES}
    assert {name: len(some) for name, some in seeds.items()} == {
        name: 1 if name in RIVER else 3 for name in METHOD_NAMES
    }
    streams = {name: {run.stream for run in runs if run.method.name == name} for name in RIVER}
    assert streams["ARF"] == set(drift_streams(FULL).values())
    assert streams["SRP"] == set(drift_streams(FULL, ["abrupt"]).values())
    assert "they ran with seed 0 only, SRP on the streams with abrupt drift only" in caveat_river(FULL)[0]


def test_stationary_streams_have_a_thousand_batches():
    counts = [dict(stream.options)["n_batches"] for stream in stationary_streams(FULL).values()]
    assert len(counts) == len(CONCEPTS)
    assert sum(counts) >= 1000


def test_quick_streams_shrink_with_the_quick_house(monkeypatch):
    monkeypatch.setattr(selections, "QUICK_SAMPLES", 1000)
    quick = Options(quick=True)
    assert {dict(stream.options)["batch_size"] for stream in drift_streams(quick).values()} == {40}
    assert len(drift_streams(quick)) == len(DRIFT_KINDS) * len(CONCEPTS)


def test_gaps_are_counted_from_each_change(results):
    recovery = Recovery(results)
    streams = drift_streams(FULL, ["abrupt"])
    adf = MethodSpec("ADF-R")
    # Two changes, to B and back to A; three streams; three seeds, of which the later ones are better by a thousandth.
    assert len(recovery.gaps(streams["abrupt sea"], adf, 1)) == 2 * 3
    first = ((0.5 - 0.8) + (0.7 - 0.8)) / 2
    assert recovery.mean_gap(streams, adf, 1) == pytest.approx(first + 0.001)
    assert recovery.mean_gap(streams, adf, 2) == pytest.approx(-0.01 + 0.001)
    assert recovery.mean_gap(streams, adf, 4) is None
    assert recovery.batches_to_recover(streams, adf) == 2
    assert recovery.batches_to_recover(streams, MethodSpec("ARF")) == 1


def test_mixed_concepts_are_no_change_to_recover_from():
    stages = ["A", "A", "A+B", "A+B", "B", "B"]
    runs = [run for run in plan(FULL) if run.stream.variant == "gradual" and run.seed == 0]
    results = make_results(
        runs, lambda run: make_rows([0.5 if run.protocol == RESET_AT_CHANGES else 0.4] * 6, stage=stages)
    )
    recovery, stream = Recovery(results), drift_streams(FULL)["gradual sea"]
    assert recovery.gaps(stream, MethodSpec("RF all"), 2) == pytest.approx([-0.1])
    assert recovery.gaps(stream, MethodSpec("RF all"), 3) == []
    assert recovery.batches_to_recover({"one": stream}, MethodSpec("RF all")) is None


def test_verdicts_on_stationary_streams_are_counted(results):
    assert count_verdicts(results, FULL, "sustained") == (3, 12)


def test_chapter_says_who_recovers_when(results):
    chapter = report(results, FULL)
    check_chapter(chapter, "drift")
    assert chapter.findings[0].startswith("Highest mean accuracy of 6 methods: ARF on abrupt sea, abrupt hyperplane")
    arf = next(sentence for sentence in chapter.findings if sentence.startswith("ADF-R against ARF"))
    # River's seed is 0: with that ADF-R has its mean as it is.
    assert f"{100 * (sum(ADF) / 9 - 0.95):+.1f} points on average, behind on 12 of 12 streams" in arf
    said = "Abrupt change: ADF-R is within a point of RF told after 2 batches (-19.9 at batch 1 and -0.9 at batch 2"
    assert any(sentence.startswith(said) for sentence in chapter.findings)
    assert chapter.findings[-1] == (
        "Of 12 batches without any change ADF-R calls 3 a temporary drift and 3 a sustained drift."
    )
    assert chapter.caveats[0].startswith("ADF-R is behind ARF on abrupt sea (")
    table = next(table for table in chapter.tables if table.title.startswith("Abrupt"))
    assert table.rows[0] == ("ADF-R", *map(pytest.approx, (-19.9, -0.9, 0.1)), None, 2)
    told = next(trace for trace in chapter.figures[0].plot["data"] if trace["name"] == "RF told")
    assert told["y"] == pytest.approx(TOLD_ROWS)
