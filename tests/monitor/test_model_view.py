"""What there is to see of a model, against the model itself."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier, load
from adforest.monitor import ModelView
from experiments.rivals import RefitForestClassifier
from made_reports import report
from saved_models import CASES, long_history, ours


def frame(number, n=400):
    """Return shops, a size that grows, a day, gaps; from batch 9 on a new shop and a new class."""
    rng = np.random.default_rng(number)
    y = rng.choice(["low", "high"], n)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n) + 2 * (y == "high") + (number > 8),
            "shop": rng.choice(["a", "b", "c"] + ["new"] * 3 * (number > 8), n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, n), unit="D"),
            "took": pd.to_timedelta(rng.random(n), unit="h"),
            "gaps": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n)),
        }
    )
    return X, np.where((number > 8) & (rng.random(n) < 0.1), "odd", y)


@pytest.fixture(scope="module")
def model():
    model = AdaptiveDecisionForestClassifier(n_estimators=5, memory_size=1_500, random_state=0)
    for number in range(1, 11):
        model.partial_fit(*frame(number))
    return model


@pytest.fixture(scope="module")
def view(model):
    return ModelView.from_estimator(model)


def columns(view):
    return {one.name: one for one in view.columns}


@pytest.mark.parametrize("name", CASES)
def test_every_model_can_be_seen_and_written_as_json(name, tmp_path):
    case = CASES[name]()
    seen = ModelView.from_estimator(case.model)
    text = json.dumps(seen.as_dict(), allow_nan=False)
    assert json.loads(text)["n_batches"] == len(case.model.history_) + sum(map(len, case.model.history_blocks_))
    frozen = pickle.loads(pickle.dumps(case.model.snapshot(samples=True)))
    assert ModelView.from_estimator(frozen) == seen
    case.model.save(tmp_path / "model.adf", samples=False)
    bare, shown = (
        ModelView.from_estimator(load(tmp_path / "model.adf")),
        ModelView.from_estimator(case.model.snapshot()),
    )
    assert bare == shown
    assert bare.memory.n_samples == 0
    assert not bare.memory.is_complete


def test_what_cannot_be_seen():
    with pytest.raises(TypeError, match="was given RefitForestClassifier; expected an AdaptiveDecisionForest"):
        ModelView.from_estimator(RefitForestClassifier())


def test_the_timeline_is_that_of_the_reports(model, view):
    line, history = view.timeline, model.history_
    assert line.first == line.last == tuple(range(1, 11))
    assert line.n_samples == (400,) * 10
    vote = line.accuracy["vote"]
    assert vote.mean == (None, *(one.accuracy["vote"] for one in history[1:]))
    for mean, low, high in list(zip(vote.mean, vote.low, vote.high, strict=True))[1:]:
        interval = binomtest(round(400 * mean), 400).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx(interval, abs=0.003)
    assert line.confidence == tuple(one.confidence for one in history)
    assert line.expected[:4] == (None,) * 4
    assert all(0 < one <= 1 for one in line.expected[4:])
    assert line.answering == tuple(one.answering for one in history)
    assert sum(line.votes[name][-1] for name in line.votes) == pytest.approx(1)
    assert line.n_leaves["permanent"] == tuple(one.n_leaves["permanent"] for one in history)
    assert line.seconds == tuple(one.seconds for one in history)
    assert line.n_new_classes == tuple(len(one.new_classes) for one in history)
    assert view.batches == tuple(history)


def test_older_batches_are_places_of_the_timeline():
    seen = ModelView.from_estimator(long_history(ours()).model)
    line = seen.timeline
    assert len(line.first) == 300 + 1_000
    assert (line.first[0], line.last[0], line.first[-1], line.last[-1]) == (1, 2, 1_600, 1_600)
    assert line.accuracy["vote"].mean[0] == pytest.approx(0.8)
    assert line.seconds[0] == report(1).seconds
    assert line.votes["permanent"] == (1.0,) * 1_300
    assert line.accuracy["vote"].low[0] > line.accuracy["vote"].low[-1], "a block has tested more records"


def test_classes(model, view):
    assert [one.value for one in view.classes] == ["high", "low", "odd"]
    assert [one.status for one in view.classes] == ["present", "present", "new"]
    assert [one.first_batch for one in view.classes] == [1, 1, 9]
    assert sum(one.n_samples for one in view.classes) == view.n_samples == 4_000
    assert sum(one.n_in_memory for one in view.classes) == view.memory.n_samples
    assert sum(one.bytes_in_memory for one in view.classes) == view.memory.bytes
    assert [(one.batch, one.klass) for one in view.events if one.kind == "class born"] == [(9, "odd")]
    assert {one.status for one in ModelView.from_estimator(CASES["declared"]().model).classes} == {
        "present",
        "declared",
    }


def test_classes_that_go_and_come_again():
    seen = ModelView.from_estimator(CASES["sketches"]().model)
    told = [(one.batch, one.kind) for one in seen.events if one.klass == "high"]
    assert told == [(2, "class gone"), (4, "class returned"), (4, "class gone")]
    high = next(one for one in seen.classes if one.value == "high")
    assert (high.status, high.n_returns) == ("gone", 1)


def test_drifts_are_events():
    seen = ModelView.from_estimator(CASES["ours"]().model)
    history = CASES["ours"]().model.history_
    for kind in ("temporary", "sustained"):
        expected = [one.batch for one in history if one.drift == kind]
        assert [one.batch for one in seen.events if one.kind == f"drift {kind}"] == expected
        assert expected


def test_columns_come_worst_first(model, view):
    impacts = [one.impact for one in view.columns]
    assert impacts == sorted(impacts, reverse=True)
    assert [one.impact for one in view.columns] == [one.distance * one.importance for one in view.columns]
    by_position = sorted(view.columns, key=lambda one: one.position)
    assert [one.importance for one in by_position] == model.feature_importances_.tolist()
    assert [one.kind for one in by_position] == ["numbers", "categories", "dates", "durations", "numbers"]
    found = columns(view)
    assert found["size"].distance > 0.2
    assert found["shop"].distance > 0.3
    assert max(found[name].distance for name in ("day", "took", "gaps")) < 0.1
    assert view.columns[0].name == "size"


def test_distributions(view):
    assert view.last_batches == (8, 10)
    assert view.past_batches == (1, 7)
    found = columns(view)
    for one in view.columns:
        assert sum(each.past for each in one.bins) == pytest.approx(1)
        assert sum(each.last for each in one.bins) == pytest.approx(1)
    shops = {one.label: one for one in found["shop"].bins}
    assert set(shops) == {"a", "b", "c", "new"}
    assert (shops["new"].past, shops["new"].kind) == (0, "category")
    assert shops["new"].last == pytest.approx(1 / 3, abs=0.05)
    gaps = found["gaps"]
    assert gaps.bins[-1].label == "missing"
    assert gaps.bins[-1].last == gaps.missing == pytest.approx(0.3, abs=0.05)
    size = [one for one in found["size"].bins if one.kind == "range"]
    assert size[0].label.startswith("below ")
    assert size[-1].label.startswith("above ")
    assert [one.low for one in size[1:]] == [one.high for one in size[:-1]]
    assert found["size"].outside == size[0].last + size[-1].last > 0
    assert found["day"].bins[3].label.startswith("2024-0")
    assert found["took"].bins[3].label.endswith(" s")


def test_shares_over_time(view):
    assert view.column_blocks == tuple((number, number) for number in range(1, 11))
    found = columns(view)
    assert found["shop"].unseen_by_block[:8] == (0,) * 8
    assert found["shop"].unseen_by_block[8] == pytest.approx(0.5, abs=0.1)
    assert found["shop"].unseen_by_block[9] == 0
    assert found["shop"].unseen == pytest.approx(0.5 / 3, abs=0.05)
    assert found["shop"].unseen_before == 0
    assert found["gaps"].missing_by_block == pytest.approx([0.3] * 10, abs=0.08)
    assert found["size"].distance_by_block[:3] == (None,) * 3
    assert found["size"].distance_by_block[-1] == pytest.approx(found["size"].distance, abs=1e-6)


def test_columns_of_few_records_show_what_there_is():
    X, y = frame(1, n=60)
    seen = ModelView.from_estimator(ours().fit(X, y))
    assert {one.distance for one in seen.columns} == {0.0}
    assert sum(one.last for one in columns(seen)["shop"].bins) == pytest.approx(1)
    assert columns(seen)["shop"].missing_before is None
    assert seen.last_batches is None


def test_forests(model, view):
    found = {one.name: one for one in view.forests}
    assert list(found) == ["permanent", "active", "temporary", "newest"]
    permanent = model.permanent_forest_
    assert found["permanent"].n_leaves == permanent.n_leaves
    assert found["permanent"].max_depth == max(tree.depth for tree in permanent.trees)
    assert 0 < found["permanent"].mean_depth <= found["permanent"].max_depth
    assert [one.name for one in view.forests if one.answers] == [model.answering_forest_]
    assert sum(one.vote for one in view.forests) == pytest.approx(1)
    assert found["active"].same_as in (None, "permanent")
    assert found["permanent"].bytes > 16 * permanent.n_nodes


def test_memory(view):
    assert view.memory.limit == 1_500
    assert view.memory.n_samples <= 1_500 + 3 * 400
    assert view.memory.is_complete
    assert ModelView.from_estimator(CASES["small batches"]().model).memory.n_waiting == 4


def test_the_papers_vote_is_tested_before_learning():
    model = PaperADFClassifier(n_estimators=4, random_state=0)
    for number in range(1, 8):
        model.partial_fit(*frame(number))
    seen = ModelView.from_estimator(model)
    assert seen.kind == ModelView.from_estimator(model.snapshot()).kind == "PaperADFClassifier"
    assert seen.timeline.accuracy["vote"].mean[1:] == tuple(one.accuracy["vote"] for one in model.history_[1:])
    assert seen.expected.mean is not None
