import pytest

from experiments.comparison.results import Results
from experiments.running.protocols import find_protocol
from experiments.specs import selections
from experiments.specs.methods import METHODS as KNOWN
from experiments.specs.methods import is_installed
from experiments.specs.options import Options
from experiments.specs.run_spec import ONLINE
from experiments.specs.sources import SOURCES, stream_size
from experiments.studies import online
from experiments.studies.catalogue import STUDIES
from experiments.studies.online import (
    ADF_R,
    BATCH_SIZES,
    DELAYS,
    METHODS,
    MOA,
    NO_CHANGE,
    RIVER,
    TRIVIAL,
    all_streams,
    delayed_streams,
    plan,
    report,
    told_delay,
)
from made_up import check_chapter, make_results

FULL, QUICK = Options(), Options(quick=True)
NAMES = {told_delay(delay): ADF_R for delay in DELAYS} | {spec: name for name, spec in METHODS.items()}
PLANNED = [name for name in METHODS if name not in MOA or is_installed(name)]
ACCURACY = {ADF_R: 0.8, "Markov": 0.7, NO_CHANGE: 0.6, "Majority": 0.2, "AMF": 0.9, "ARF": 0.5}


def rows_of(run):
    """Return two rows; AMF is ahead of ADF-R on elec2 only, larger batches and delay cost one point a step."""
    options, name = dict(run.stream.options), NAMES[run.method]
    accuracy = ACCURACY.get(name, 0.3) if run.stream.name == "elec2" or name != "AMF" else 0.4
    accuracy -= 0.01 * (BATCH_SIZES.index(options["batch_size"]) + DELAYS.index(options.get("delay", 0)))
    common = {"stage": "", "log_loss": 1 - accuracy, "accuracy_no_change": 0.6, "accuracy_majority": 0.2}
    common |= {"predict_seconds": 0.1, "train_seconds": 0.9 if name == ADF_R else 0.1}
    return [
        common | {"batch": 1, "n": 999, "accuracy": accuracy},
        common | {"batch": 2, "n": 1, "accuracy": accuracy - 0.1},
    ]


@pytest.fixture(scope="module")
def chapter():
    return report(make_results(plan(FULL), rows_of), FULL)


def table(chapter, title):
    return next(one for one in chapter.tables if one.title.startswith(title))


def test_plan():
    assert STUDIES["online"].plan is plan
    runs = plan(FULL)
    assert len(set(runs)) == len(runs)
    assert {run.protocol for run in runs} == {ONLINE}
    assert {run.stream.name for run in runs} == {"elec2", "outdoor", "covtype100k", "labels"} <= set(SOURCES)
    assert {run.method.name for run in runs} == set(PLANNED) <= set(KNOWN)
    assert set(PLANNED) >= {ADF_R, *TRIVIAL, *RIVER}
    assert {stream_size(run.stream) for run in runs} == {5_000, 4_000, 20_000, 45_312}
    online_runs = 6 * len(PLANNED)
    assert len(runs) == online_runs + 2 * (1 + len(TRIVIAL)) + 4 * (len(BATCH_SIZES) - 1) + 3 * (len(DELAYS) - 1)
    assert {stream.name for stream in delayed_streams(FULL).values()} == {"elec2"}


def test_a_quick_plan_needs_no_files():
    assert {run.stream.name for run in plan(QUICK)} == {"house", "labels"}
    assert {stream_size(run.stream) for run in plan(QUICK)} == {2_000}
    assert not {run.method.name for run in plan(QUICK)} & set(selections.NOT_QUICK)


def test_chapter_says_where_adf_is_ahead_and_where_not(chapter):
    check_chapter(chapter, "online")
    against_rules, against_river, *_ = chapter.findings
    assert "ahead on elec2 (+10.0 points against Markov), outdoor" in against_rules
    assert "behind" not in against_rules
    assert "behind on elec2 (-10.0 points against AMF)." in against_river
    assert "ahead on outdoor (+30.0 points against ARF), covtype" in against_river
    assert chapter.command == "python -m experiments online"


def test_figures_are_means_over_samples(chapter):
    accuracy = table(chapter, "Accuracy, one sample at a time")
    assert [row[0] for row in accuracy.rows] == [*all_streams(FULL), "mean"]
    assert accuracy.columns[1:] == tuple(PLANNED)
    assert accuracy.rows[0][1] == pytest.approx(0.8 - 0.1 / 1000)
    assert table(chapter, "Kappa-temporal").rows[0][1] == pytest.approx((0.2 - 1e-4) / 0.4)
    assert table(chapter, "Kappa-M").rows[0][1] == pytest.approx((0.6 - 1e-4) / 0.8)
    assert table(chapter, "Log loss").best == "min"
    assert table(chapter, "Microseconds").rows[0][1] == pytest.approx(2000)


def test_batch_sizes_and_delays_are_compared_on_the_samples_that_all_have(chapter):
    sizes = table(chapter, "ADF-R: accuracy by batch size")
    assert [row[0] for row in sizes.rows] == ["elec2", "outdoor", "covtype", "labels in a cycle"]
    assert sizes.rows[0][1:] == pytest.approx((0.7, 0.69, 0.68, 0.67, 0.66))
    delays = table(chapter, "Accuracy with late labels, elec2")
    assert [row[0] for row in delays.rows] == ["0", "1", "10", "100", "1,000"]
    assert delays.rows[-1][1:] == pytest.approx((0.66, 0.66, 0.46))


def test_real_figures_end_in_a_chapter(monkeypatch):
    monkeypatch.setattr(online, "QUICK_SAMPLES", 1_040)
    monkeypatch.setattr(online, "BATCH_SIZES", (1, 20))
    monkeypatch.setattr(online, "DELAYS", (0, 10))
    monkeypatch.setattr(selections, "NOT_QUICK", RIVER[:-2])  # but for a tree and neighbours
    # Tests before this one leave processes behind (loky's, Dask's), whose seconds would be read for every sample.
    monkeypatch.setattr("nextbatch.usage.has_children", lambda: False)
    results = make_results(plan(QUICK), lambda run: find_protocol(run).evaluate(run, None).rows)
    assert isinstance(results, Results)
    chapter = report(results, QUICK)
    check_chapter(chapter, "online")
    cycle = next(row for row in table(chapter, "Accuracy, one sample").rows if row[0] == "labels in a cycle")
    assert cycle[1] > 0.5  # what the labels say, and the features do not
    assert any("Quick" in caveat for caveat in chapter.caveats)
