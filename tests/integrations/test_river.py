"""ADF in River: its own checks, its evaluation and pipelines, and batches made of samples that come one at a time."""

import inspect
import pickle
import random
from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import checks, compose, datasets, evaluate, metrics, preprocessing, stream

from adforest import AdaptiveDecisionForestClassifier
from adforest.integrations.river import AdaptiveDecisionForest
from documents import run_section

[CHECKED] = [AdaptiveDecisionForest(**params) for params in AdaptiveDecisionForest._unit_test_params()]
SAMPLES = 200


@pytest.mark.parametrize("check", list(checks.yield_checks(CHECKED)), ids=lambda check: check.__name__)
def test_river_checks(check):
    assert CHECKED._unit_test_skips() == set()
    random.seed(0)  # River's checks shuffle features
    check(CHECKED.clone())


def model(**changes):
    return AdaptiveDecisionForest(**{"n_estimators": 5, "batch_size": 20, "seed": 0, **changes})


def samples(n=SAMPLES, seed=0, classes=("walk", "sit", "run")):
    """Return samples of numbers and text, some values missing, and their classes."""
    rng = np.random.default_rng(seed)
    found = []
    for code in rng.integers(0, len(classes), n).tolist():
        x = {"speed": float(rng.normal() + 4 * code), "place": "indoors" if rng.random() < 0.2 * code else "out"}
        if rng.random() < 0.1:
            x["speed"] = None
        if rng.random() < 0.5:
            x["age"] = int(rng.integers(20, 60))
        found.append((x, classes[code]))
    return found


def learnt(pairs=None, **changes):
    learner = model(**changes)
    for x, y in pairs or samples():
        learner.learn_one(x, y)
    return learner


def is_right(learner, pairs):
    return np.mean([learner.predict_one(x) == y for x, y in pairs])


# --- learning


def test_batches_are_those_of_the_classifier():
    pairs = samples()
    learner, reference = model(), AdaptiveDecisionForestClassifier(5, column_changes="allow", random_state=0)
    columns = ["age", "place", "speed"]
    for start in range(0, SAMPLES, 20):
        for x, y in pairs[start : start + 20]:
            learner.learn_one(x, y)
        frame = pd.DataFrame([x for x, _ in pairs[start : start + 20]], columns=columns)
        reference.partial_fit(frame, [y for _, y in pairs[start : start + 20]])
    for ours, theirs in zip(learner.classifier.history_, reference.history_, strict=True):
        assert (ours.scenario, ours.accuracy, ours.votes) == (theirs.scenario, theirs.accuracy, theirs.votes)
    assert learner.classifier.feature_names_in_.tolist() == columns
    shares = reference.predict_proba(pd.DataFrame([x for x, _ in pairs], columns=columns))
    for (x, _), row in zip(pairs, shares, strict=True):
        assert learner.predict_proba_one(x) == dict(zip(reference.classes_.tolist(), row.tolist(), strict=True))


def test_samples_wait_until_a_batch_is_full():
    learner = model(batch_size=30)
    for number, (x, y) in enumerate(samples(75), start=1):
        learner.learn_one(x, y)
        assert learner.n_waiting == number % 30
    assert len(learner.classifier.history_) == 2
    learner.learn_waiting()
    assert learner.n_waiting == 0
    assert len(learner.classifier.history_) == 3
    learner.learn_waiting()
    assert len(learner.classifier.history_) == 3


@pytest.mark.parametrize("max_wait", [60, 60.0, timedelta(minutes=1)])
def test_samples_wait_no_longer_than_max_wait(max_wait, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("adforest.integrations._waiting.time.time", lambda: now[0])
    learner = model(max_wait=max_wait, batch_size=10)
    waiting = []
    for x, y in samples(12):
        learner.learn_one(x, y)
        waiting.append(learner.n_waiting)
        now[0] += 20
    assert waiting == [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]
    learner.learn_many(pd.DataFrame([x for x, _ in samples(3)]), pd.Series([y for _, y in samples(3)]))
    assert learner.n_waiting == 3
    now[0] += 60
    copy = pickle.loads(pickle.dumps(learner))
    copy.learn_many(pd.DataFrame([x for x, _ in samples(1)]), pd.Series([y for _, y in samples(1)]))
    assert copy.n_waiting == 0


def test_classes_and_features_come_and_go_without_being_declared():
    learner = learnt(samples(100, classes=("walk", "sit")))
    assert set(learner.predict_proba_one({})) == {"walk", "sit"}
    learner.learn_one({"depth": 1.0}, "swim")
    assert learner.predict_proba_one({"depth": 1.0})["swim"] == 0
    for number in range(99):
        learner.learn_one({"depth": 1.0 + number % 7}, "swim")
    assert learner.predict_one({"depth": 3.0}) == "swim"
    assert learner.classifier.feature_names_in_.tolist() == ["age", "place", "speed", "depth"]
    assert is_right(learner, samples(50, seed=1, classes=("walk", "sit"))) > 0.8
    assert learner.predict_one({"never": "seen"}) in ("walk", "sit", "swim")
    assert sum(learner.predict_proba_one({}).values()) == pytest.approx(1)


def test_features_that_no_batch_shares_are_learnt_side_by_side():
    learner = model(batch_size=40)
    for feature in ("left", "right", "left"):
        for number in range(40):
            learner.learn_one({feature: float(number)}, number < 20)
    assert learner.classifier.feature_names_in_.tolist() == ["left", "right"]
    assert [learner.predict_one({"left": 3.0}), learner.predict_one({"right": 30.0})] == [True, False]


def test_weights_are_those_of_the_classifier():
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], 60).tolist()
    learner = model(batch_size=1000, class_weight={True: 2.0})
    reference = AdaptiveDecisionForestClassifier(5, class_weight={True: 2.0}, column_changes="allow", random_state=0)
    sizes, labels = rng.normal(size=60), rng.random(60) < 0.5
    for size, label, weight in zip(sizes.tolist(), labels.tolist(), weights, strict=True):
        learner.learn_one({"size": size}, label, w=weight)
    assert learner.n_waiting == np.count_nonzero(weights)
    assert learner.predict_proba_one({})[True] == pytest.approx(np.average(labels, weights=weights))
    learner.learn_waiting()
    reference.partial_fit(pd.DataFrame({"size": sizes}), labels, sample_weight=weights)
    for size in sizes:
        assert list(learner.predict_proba_one({"size": size}).values()) == pytest.approx(
            reference.predict_proba(pd.DataFrame({"size": [size]}))[0]
        )


def test_samples_without_a_single_feature_wait_for_one_that_has():
    learner = model(batch_size=2)
    for _ in range(5):
        learner.learn_one({}, "walk")
    assert learner.predict_one({}) == "walk"
    learner.learn_many(pd.DataFrame({"speed": [None, 1.0, 2.0]}), ["walk", "run", "run"])
    assert learner.n_waiting == 1
    assert learner.predict_one({"speed": None}) == "walk"


@pytest.mark.parametrize(
    "labels", [("b", "a"), (3, 1), (True, False), (np.int64(3), np.int64(1)), (np.True_, np.False_)]
)
def test_labels_come_back_as_plain_values(labels):
    learner = model(batch_size=10)
    for number in range(40):
        learner.learn_one({0: float(number)}, labels[number % 2])
    assert type(learner.predict_one({0: 1.0})) in (str, int, bool)
    assert set(learner.predict_proba_one({0: 1.0})) == set(labels)


def test_before_the_first_sample_there_is_no_answer_and_before_the_first_batch_that_of_the_labels():
    learner = model()
    frame = pd.DataFrame({"speed": [1.0, 2.0]}, index=[7, 8])
    assert learner.predict_one({"speed": 1.0}) is None
    assert learner.predict_proba_one({"speed": 1.0}) == {}
    assert learner.predict_many(frame).tolist() == [None, None]
    assert learner.predict_proba_many(frame).shape == (2, 0)
    for y in ("walk", "run", "walk"):
        learner.learn_one({"speed": 1.0}, y)
    assert learner.predict_one({}) == "walk"
    assert learner.predict_proba_one({}) == {"walk": 2 / 3, "run": 1 / 3}
    assert learner.predict_many(frame).tolist() == ["walk", "walk"]
    assert learner.predict_proba_many(frame).loc[8].to_dict() == {"walk": 2 / 3, "run": 1 / 3}


def test_listed_features_are_categorical_even_if_they_come_late():
    learner = model(categorical_features=["code", "late"])
    for number in range(60):
        x = {"code": number % 4, "size": float(number)} | ({"late": number % 3} if number >= 40 else {})
        learner.learn_one(x, number % 4 == 2)
    encoder = learner.classifier._model.encoder
    assert dict(zip(encoder.names, encoder.is_categorical.tolist(), strict=True)) == {
        "code": True,
        "late": True,
        "size": False,
    }
    assert [learner.predict_one({"code": code, "size": 5.0}) for code in range(4)] == [False, False, True, False]


# --- many at once


def frame_of(pairs, library):
    frame = pd.DataFrame([x for x, _ in pairs], columns=["age", "place", "speed"])
    labels = pd.Series([y for _, y in pairs])
    return (frame, labels) if library is pd else (pl.from_pandas(frame), pl.from_pandas(labels))


@pytest.mark.parametrize("library", [pd, pl])
@settings(max_examples=15)
@given(sizes=st.lists(st.integers(1, 70), min_size=1, max_size=6), first=st.integers(0, 25))
def test_learn_many_is_learn_one_sample_by_sample(library, sizes, first):
    pairs = samples(first + sum(sizes), seed=len(sizes))
    one, many = model(n_estimators=2), model(n_estimators=2)
    for x, y in pairs:
        one.learn_one(x, y)
    for x, y in pairs[:first]:
        many.learn_one(x, y)
    for size in sizes:
        many.learn_many(*frame_of(pairs[first : first + size], library))
        first += size
    assert many.n_waiting == one.n_waiting
    for x, _ in pairs[-20:]:
        assert many.predict_proba_one(x) == pytest.approx(one.predict_proba_one(x))


@pytest.mark.parametrize("library", [pd, pl])
def test_many_answers_are_those_of_one_at_a_time(library):
    learner = learnt()
    learner.learn_one({}, "swim")
    pairs = samples(30, seed=1)
    frame, _ = frame_of(pairs, library)
    answers, shares = learner.predict_many(frame), learner.predict_proba_many(frame)
    assert type(answers).__module__.startswith(library.__name__)
    assert type(shares).__module__.startswith(library.__name__)
    assert list(answers) == [learner.predict_one(x) for x, _ in pairs]
    rows = shares.to_dict("records") if library is pd else shares.rows(named=True)
    assert rows == [learner.predict_proba_one(x) for x, _ in pairs]


def test_many_answers_keep_the_index_and_need_no_column_learnt():
    learner = learnt()
    frame = pd.DataFrame({"never": [1, 2]}, index=["x", "y"])
    assert learner.predict_many(frame).index.tolist() == ["x", "y"]
    assert learner.predict_proba_many(frame).index.tolist() == ["x", "y"]
    assert set(learner.predict_many(frame)) == {learner.predict_one({})}


def test_categorical_columns_are_text_as_in_a_sample():
    learner = model(batch_size=10)
    codes = [number % 2 for number in range(25)]
    learner.learn_many(pd.DataFrame({"code": pd.Categorical(codes)}), pd.Series(codes))
    learner.learn_one({"code": "1"}, 1)
    assert [learner.predict_one({"code": "0"}), learner.predict_one({"code": "1"})] == [0, 1]
    assert learner.predict_many(pd.DataFrame({"code": pd.Categorical([1, 0])})).tolist() == [1, 0]


# --- River's tools


def test_progressive_validation_with_a_pipeline():
    pipeline = compose.SelectType(str) + (compose.SelectType(float) | preprocessing.StandardScaler())
    pairs = [({**x, "speed": x["speed"] or 0.0}, y) for x, y in samples()]
    metric = evaluate.progressive_val_score(pairs, pipeline | model(), metrics.Accuracy() + metrics.LogLoss())
    assert metric[0].get() > 0.7
    pipeline |= model()
    frame = pd.DataFrame([{"speed": x["speed"]} for x, _ in pairs])
    scaled = preprocessing.StandardScaler() | model()
    scaled.learn_many(frame, pd.Series([y for _, y in pairs]))
    assert (scaled.predict_many(frame) == [y for _, y in pairs]).mean() > 0.8
    assert pipeline.clone()["AdaptiveDecisionForest"].batch_size == 20


def test_progressive_validation_on_data_of_river():
    metric = evaluate.progressive_val_score(
        datasets.ImageSegments().take(600), model(batch_size=50), metrics.Accuracy()
    )
    assert metric.get() > 0.6
    late = stream.simulate_qa(datasets.Phishing().take(100), moment=None, delay=10, copy=True)
    learner = model()
    for _, x, y in late:
        if y is None:
            learner.predict_one(x)
        else:
            learner.learn_one(x, y)
    assert len(learner.classifier.history_) == 5


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_has_the_samples_that_wait(protocol):
    pairs = samples()
    learner = learnt(pairs[:110])
    assert learner.n_waiting == 10
    copy = pickle.loads(pickle.dumps(learner, protocol))
    for x, y in pairs[110:]:
        assert copy.predict_proba_one(x) == learner.predict_proba_one(x)
        copy.learn_one(x, y)
        learner.learn_one(x, y)
    assert len(copy.classifier.history_) == 10


def test_a_clone_has_the_parameters_and_knows_nothing():
    learner = learnt(max_wait=timedelta(seconds=5), max_depth=3)
    copy = learner.clone()
    assert copy._get_params() == learner._get_params()
    assert copy.predict_one(samples()[0][0]) is None
    assert learner.clone({"batch_size": 7}).batch_size == 7


def test_the_parameters_are_those_of_the_classifier():
    ours = inspect.signature(AdaptiveDecisionForest).parameters
    theirs = inspect.signature(AdaptiveDecisionForestClassifier).parameters
    assert set(ours) - set(theirs) == {"batch_size", "max_wait", "seed"}
    assert set(theirs) - set(ours) == {"random_state", "column_changes"}
    assert all(ours[name].default == theirs[name].default for name in set(ours) & set(theirs))
    passed_on = {name: learnt().classifier.get_params()[name] for name in set(ours) & set(theirs)}
    assert passed_on == {name: getattr(model(), name) for name in passed_on}


def test_the_example_of_the_documentation_runs():
    names = run_section("River")
    assert names["metric"].get() > 0.8
    assert names["model"].n_waiting == 0


# --- sample by sample, which is the default


def test_each_sample_is_learnt_at_once_by_default():
    X = np.random.default_rng(0).normal(size=(60, 2))
    learner = AdaptiveDecisionForest(n_estimators=3, seed=0)
    reference = AdaptiveDecisionForestClassifier(3, column_changes="allow", random_state=0)
    for number, row in enumerate(X, start=1):
        x, y = dict(zip("ab", row.tolist(), strict=True)), bool(row[0] > row[1])
        learner.learn_one(x, y)
        reference.partial_fit(pd.DataFrame([x]), [y])
        assert learner.n_waiting == 0
        assert len(learner.classifier.history_) == number
        shares = reference.predict_proba(pd.DataFrame([x]))[0].tolist()
        assert learner.predict_proba_one(x) == dict(zip(reference.classes_.tolist(), shares, strict=True))


def test_answers_go_by_the_last_labels():
    learner = AdaptiveDecisionForest(n_estimators=3, seed=0)
    right = []
    for number in range(300):  # labels in a cycle, and a feature that says nothing
        x, y = {"speed": float(number * 37 % 11)}, "abc"[number % 3]
        right.append(learner.predict_one(x) == y)
        learner.learn_one(x, y)
    assert np.mean(right[-100:]) > 0.9


def test_a_frame_is_one_batch_where_samples_do_not_wait():
    pairs = samples(80)
    learner = AdaptiveDecisionForest(n_estimators=3, seed=0)
    reference = AdaptiveDecisionForestClassifier(3, column_changes="allow", random_state=0)
    for half in (pairs[:50], pairs[50:]):
        frame, labels = frame_of(half, pd)
        learner.learn_many(frame, labels)
        reference.partial_fit(frame, labels)
    assert len(learner.classifier.history_) == 2
    assert learner.n_waiting == 0
    np.testing.assert_array_equal(learner.predict_proba_many(frame), reference.predict_proba(frame))
