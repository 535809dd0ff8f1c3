from itertools import count

import numpy as np
import pytest

from adforest.adaptation import FORESTS
from experiments.running import timing
from experiments.running.holdout import run_holdout
from experiments.running.measures import describe_forests
from experiments.specs.methods import make_model
from experiments.specs.run_spec import MethodSpec, StreamSpec
from experiments.specs.sources import open_stream

SPEC = StreamSpec.of("house", "34", n_samples=1500)


def evaluate(name, variant="34", seed=0, **settings):
    stream = open_stream(StreamSpec(SPEC.name, variant, SPEC.options), seed, None)
    model = make_model(MethodSpec.of(name, **settings), stream, seed)
    return stream, model, run_holdout(stream, model, seed, one_hot=name in ("CIRF", "NCMC"))


@pytest.fixture(scope="module")
def adf():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "process_time", count().__next__)  # a clock that goes on by a second a look
        yield evaluate("ADF-R")


def test_a_row_for_each_batch(adf):
    stream, model, rows = adf
    assert [row["batch"] for row in rows] == list(range(1, 35))
    assert [row["n_train"] for row in rows] == [len(batch.y_train) for batch in stream.batches]
    assert {(row["train_seconds"], row["predict_seconds"]) for row in rows} == {(1, 1)}
    assert [row["batch"] for row in rows if row["bytes"]] == [5, 10, 15, 20, 25, 30, 34]
    assert rows[-1]["n_classes"] == len(model.classes_) == 7
    assert {frozenset(row) for row in rows} == {frozenset(rows[0])}


def test_accuracy_is_the_model_s_own_score(adf):
    stream, model, rows = adf
    last = stream.batches[-1]
    assert rows[-1]["accuracy"] == pytest.approx(model.score(last.X_test, last.y_test))


def test_retention_at_the_end_is_over_all_held_back_records(adf):
    stream, model, rows = adf
    X = np.concatenate([batch.X_held for batch in stream.batches])
    y = np.concatenate([batch.y_held for batch in stream.batches])
    assert rows[-1]["retention"] == pytest.approx(model.score(X, y))


def test_adf_s_forests_are_tested_one_by_one(adf):
    _, model, rows = adf
    assert rows[0]["accuracy_temporary"] is None  # the permanent forest is all there is
    assert rows[0]["accuracy_permanent"] == pytest.approx(rows[0]["accuracy"])
    assert rows[-1]["accuracy_temporary"] is not None
    for row in rows:
        assert (row["accuracy_temporary"] is None) == (row["leaves_temporary"] is None)
        assert row["nodes_permanent"] >= row["leaves_permanent"]
    report = model.history_[-1]
    last = describe_forests(model)
    assert (last["scenario"], last["drift"], last["answering"]) == (report.scenario, report.drift, report.answering)
    assert last["leaves_permanent"] == model.permanent_forest_.n_leaves
    assert last["roots_permanent"] == 0, "by default trees get no new roots"


def test_same_seed_gives_the_same_rows_but_for_the_clock(adf):
    def without_clock(rows):
        return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows]

    assert without_clock(evaluate("ADF-R")[2]) == without_clock(adf[2])


@pytest.mark.parametrize("variant", ["big", "whole"])
def test_big_data_are_tested_once(variant):
    _, _, rows = evaluate("ADF-R", variant)
    assert [row["accuracy"] is None for row in rows] == [True] * (len(rows) - 1) + [False]
    assert [row["accuracy_permanent"] is None for row in rows] == [row["accuracy"] is None for row in rows]
    assert {row["retention"] for row in rows} == {None}


def test_methods_of_numbers_see_a_column_for_each_category():
    stream, model, rows = evaluate("CIRF")
    assert model.n_features_in_ == 4 + 5 * 2
    assert rows[-1]["accuracy"] is not None
    assert stream.batches[0].X_train.shape[1] == 9


def test_every_forest_is_looked_at(adf):
    _, model, rows = adf
    assert set(FORESTS) >= set(model._checked().state.forests)
    for name in FORESTS:
        assert {f"accuracy_{name}", f"leaves_{name}", f"nodes_{name}", f"action_{name}"} <= set(rows[-1])
    assert rows[-1]["accuracy_newest"] is not None
