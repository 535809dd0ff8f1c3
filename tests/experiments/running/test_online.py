from itertools import count

import numpy as np
import pytest

from experiments.running import online
from experiments.running.online import make_learner, run_online
from experiments.running.protocols import find_protocol
from experiments.specs.methods import make_model
from experiments.specs.run_spec import ONLINE, MethodSpec, RunSpec, StreamSpec
from experiments.specs.sources import open_stream
from nextbatch import protocols

RUNS = StreamSpec.of("labels", "runs", n_batches=150, batch_size=1)


def evaluate(stream, name):
    run = RunSpec(stream, MethodSpec(name), 0, ONLINE)
    return find_protocol(run).evaluate(run, None)


def samples(spec):
    batches = open_stream(spec, 0, None).batches
    return np.concatenate([one.X_train for one in batches]), np.concatenate([one.y_train for one in batches])


def delayed(spec, delay):
    return StreamSpec.of(spec.name, spec.variant, **dict(spec.options), delay=delay)


def test_each_sample_is_predicted_before_its_label_is_learnt(monkeypatch):
    monkeypatch.setattr(protocols, "process_time", count().__next__)  # a clock that goes on by a second a look
    monkeypatch.setattr(online, "ROW_SAMPLES", 100)
    evaluation = evaluate(RUNS, "ADF-R")
    X, y = samples(RUNS)
    model = make_model(MethodSpec("ADF-R"), open_stream(RUNS, 0, None), 0).partial_fit(X[:1], y[:1])
    right, losses = [], []
    for x, label in zip(X[1:], y[1:], strict=True):
        shares = dict(zip(model.classes_.tolist(), model.predict_proba([x])[0], strict=True))
        right.append(max(shares, key=shares.get) == label)
        losses.append(-np.log(max(shares.get(label, 0), 1e-3)))
        model.partial_fit([x], [label])
    assert [(row["batch"], row["n"]) for row in evaluation.rows] == [(1, 99), (2, 50)]
    for row, here in zip(evaluation.rows, (slice(99), slice(99, None)), strict=True):
        assert row["accuracy"] == pytest.approx(np.mean(right[here]))
        assert row["log_loss"] == pytest.approx(np.mean(losses[here]))
        assert (row["predict_seconds"], row["train_seconds"]) == pytest.approx((row["n"], row["n"]))
        last, now = y[:-1][here], y[1:][here]
        assert row["accuracy_no_change"] == np.mean(last == now)


@pytest.mark.parametrize("delay", [1, 10])
def test_labels_come_late(delay):
    _, y = samples(RUNS)
    (row,) = evaluate(delayed(RUNS, delay), "No change").rows
    assert row["n"] == len(y) - delay - 1
    assert row["accuracy"] == row["accuracy_no_change"] == np.mean(y[: -delay - 1] == y[delay + 1 :])


@pytest.mark.parametrize(("name", "column"), [("No change", "accuracy_no_change"), ("Majority", "accuracy_majority")])
def test_rules_are_those_that_kappas_compare_with(name, column):
    (row,) = evaluate(RUNS, name).rows
    assert row["accuracy"] == row[column]


def test_labels_of_a_batch_come_at_its_end():
    batches = StreamSpec.of("labels", "runs", n_batches=15, batch_size=10)
    _, y = samples(batches)
    assert np.array_equal(y, samples(RUNS)[1])
    (row,) = evaluate(batches, "No change").rows
    assert row["n"] == 140
    assert row["accuracy"] == np.mean(y[9:-1:10].repeat(10) == y[10:])


def test_river_learns_by_itself_sample_by_sample():
    tree = pytest.importorskip("river.tree", reason="River is not installed: pip install 'adforest[experiments]'")
    spec = StreamSpec.of("drift", "none", concept="rules", n_batches=60, batch_size=1)  # with categorical features
    stream = open_stream(spec, 0, None)
    own, right, losses = tree.HoeffdingTreeClassifier(), [], []
    for batch in stream.batches:
        [values], [label] = batch.X_train.tolist(), batch.y_train.tolist()
        x = {j: str(value) if stream.categorical[j] else value for j, value in enumerate(values)}
        shares = own.predict_proba_one(x)
        right.append(bool(shares) and max(shares, key=shares.get) == label)
        losses.append(-np.log(max(shares.get(label, 0) / (sum(shares.values()) or 1), 1e-3)))
        own.learn_one(x, label)
    (row,) = evaluate(spec, "HT").rows
    assert row["accuracy"] == pytest.approx(np.mean(right[1:]))
    assert row["log_loss"] == pytest.approx(np.mean(losses[1:]))


@pytest.mark.parametrize("name", ["AMF", "HAT", "KNN"])
def test_learners_of_river_take_streams_with_categories(name):
    pytest.importorskip("river", reason="River is not installed: pip install 'adforest[experiments]'")
    stream = open_stream(StreamSpec.of("drift", "none", concept="rules", n_batches=60, batch_size=1), 0, None)
    model = make_model(MethodSpec(name), stream, 0)
    learner = make_learner(model, stream.n_categories, one_hot=name != "HAT")
    (row,) = run_online(stream, learner)
    assert 0 < row["accuracy"] <= 1
    assert 0 < row["log_loss"] < -np.log(1e-3)
