"""What a sample for River may hold; one that does not fit is refused, and the model stays as it was."""

import pickle
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.encoding.dicts import row_of_dict, table_of_dicts
from adforest.integrations.river import AdaptiveDecisionForest
from encoded_tables import learn_table
from rated_films import ratings

MOMENT = datetime(2026, 1, 1)


def model(**changes):
    return AdaptiveDecisionForest(**{"n_estimators": 3, "batch_size": 10, "seed": 0, **changes})


def learnt(n=25, **changes):
    learner = model(**changes)
    for number in range(n):
        x = {"size": float(number), "colour": "red" if number % 2 else "blue", "when": MOMENT + timedelta(number)}
        learner.learn_one(x, "odd" if number % 2 else "even")
    return learner


@pytest.mark.parametrize("n", [5, 25], ids=["waiting", "learnt"])
@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ({"size": "large"}, "odd", TypeError, r"feature 'size' of this sample holds text \('large'\) but numbers in"),
        ({"colour": 3}, "odd", TypeError, r"feature 'colour' of this sample holds numbers \(3\) but text in"),
        ({"when": 3}, "odd", TypeError, "'when' of this sample holds numbers .* but dates in those before. Convert it"),
        ({"when": MOMENT.replace(tzinfo=UTC)}, "odd", TypeError, "holds dates with a time zone .* but dates in"),
        ({"size": MOMENT}, "odd", TypeError, "'size' of this sample holds dates .* but numbers in"),
        ({"size": float("inf")}, "odd", ValueError, "'size' of this sample is infinite or too large"),
        ({"size": 10**400}, "odd", ValueError, "'size' of this sample is infinite or too large"),
        ({"new": [1, 2]}, "odd", TypeError, "feature 'new' of this sample holds values of type list"),
        ({"new": 1j}, "odd", ValueError, "Complex data not supported: feature 'new' of this sample"),
        ({1: 2.0}, "odd", TypeError, "either all text or none is, but '.*' is text and 1 is not"),
        ({"size": 1.0}, 7, TypeError, "are numbers .7. but the model learnt text .'even'."),
        ({"size": 1.0}, None, ValueError, "Input y contains NaN"),
        ({"size": 1.0}, float("nan"), ValueError, "Input y contains NaN"),
        ({"size": 1.0}, ["odd"], TypeError, "the label is a list; expected text"),
    ],
)
def test_a_sample_that_does_not_fit_is_refused_when_it_comes(n, x, y, error, message):
    learner = learnt(n)
    before = pickle.dumps(learner)
    with pytest.raises(error, match=message):
        learner.learn_one(x, y)
    assert pickle.dumps(learner) == before
    many = pd.DataFrame({name: [value] for name, value in x.items()})
    with pytest.raises((TypeError, ValueError)):
        learner.learn_many(many, [y])
    assert pickle.dumps(learner) == before
    learner.learn_one({"size": 1.0}, "odd")
    assert learner.n_waiting == n % 10 + 1


@pytest.mark.parametrize("n", [0, 5, 25])
def test_a_frame_of_which_a_part_does_not_fit_is_refused_as_a_whole(n):
    learner, untouched = learnt(n), learnt(n)
    frame = pd.DataFrame({"size": [*map(float, range(44)), float("inf")]})
    with pytest.raises(ValueError, match="infin"):
        learner.learn_many(frame, ["odd"] * 45)
    with pytest.raises(TypeError, match="numbers"):
        learner.learn_many(frame[:44], ["odd"] * 30 + [1] * 14)
    with pytest.raises(ValueError, match="44 samples but 3 labels"):
        learner.learn_many(frame[:44], ["odd"] * 3)
    for one in (learner, untouched):
        for number in range(12):
            one.learn_one({"size": float(number)}, "odd" if number % 3 else "even")
    assert learner.n_waiting == untouched.n_waiting
    assert len(learner.classifier.history_) == len(untouched.classifier.history_) == (n + 12) // 10
    for size in range(20):
        assert learner.predict_proba_one({"size": size}) == untouched.predict_proba_one({"size": size})


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(weight):
    learner = learnt()
    with pytest.raises(ValueError, match=r"the weight of this sample is .*; expected a number from 0 to"):
        learner.learn_one({"size": 1.0}, "odd", w=weight)
    assert learner.n_waiting == 5


@pytest.mark.parametrize("listed", [None, ["colour"]])
def test_text_of_features_that_are_not_listed_is_refused(listed):
    learner = model(categorical_features=listed)
    with pytest.raises(
        TypeError, match=r"'place' of this sample holds text \('out'\) but is not among categorical_fea"
    ):
        learner.learn_one({"place": "out"}, 1)
    assert learner.n_waiting == 0


def test_odd_values_that_are_numbers_or_missing_are_taken():
    learner = model()
    values = [1, 2.5, True, np.float32(3), np.int8(4), Decimal("5.5"), np.True_, None, float("nan"), pd.NA]
    for number, value in enumerate(values):
        learner.learn_one({"a": value, "b": number}, number % 2)
    assert learner.classifier.n_features_in_ == 2
    assert learner.n_waiting == 0
    for value in values:
        assert learner.predict_one({"a": value}) in (0, 1)


def test_an_interrupted_batch_waits_on(monkeypatch):
    learner = learnt(19)
    with monkeypatch.context() as patched:
        patched.setattr("adforest.base.check_parameters", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            learner.learn_one({"size": 1.0}, "odd")
    assert learner.n_waiting == 10
    assert len(learner.classifier.history_) == 1
    learner.learn_one({"size": 1.0}, "odd")
    assert learner.n_waiting == 0
    assert len(learner.classifier.history_) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"batch_size": 0},
            "batch_size of AdaptiveDecisionForest is 0; expected an int of at least 1",
        ),
        (
            {"max_wait": -1},
            "max_wait .* is -1; expected a number of at least 0, or a timedelta that is not negative, or",
        ),
        ({"max_wait": timedelta(-1)}, "max_wait .* expected a number of at least 0, or a timedelta that is not neg"),
        ({"n_estimators": "many"}, "n_estimators of AdaptiveDecisionForest is 'many'; expected an int"),
        (
            {"categorical_features": 3},
            "categorical_features .* is 3; expected a list of names, or 'from_dtype' or None",
        ),
        ({"seed": "x"}, "seed of AdaptiveDecisionForest is 'x'; expected an int from 0"),
    ],
)
def test_wrong_parameters_are_refused_at_once(changes, message):
    with pytest.raises(ValueError, match=message):
        model(**changes)


SAMPLES = [
    {"number": 1.5, "text": "a", "code": 1, "other": 0},
    {"number": None, "text": "b", "code": 2, "other": 1},
    {"text": "c"},
]


@pytest.mark.parametrize("listed", ["from_dtype", ["text", "code"]])
@pytest.mark.parametrize(
    "sample",
    [*SAMPLES, {}, {"number": 3}, {"text": "never"}, {"code": 7.0}, {"text": None}, {"number": True, "more": "x"}],
    ids=repr,
)
def test_one_sample_is_translated_as_a_table_of_one(listed, sample):
    names = ("number", "text", "code", "other")
    encoder, _ = learn_table(table_of_dicts(SAMPLES, names), listed)
    expected = encoder.translate(pd.DataFrame([{name: sample.get(name) for name in names}]))
    np.testing.assert_array_equal(row_of_dict(sample, encoder), expected)


@pytest.mark.parametrize(
    ("sample", "error"), [({"number": "1"}, TypeError), ({"text": 1}, TypeError), ({"number": np.inf}, ValueError)]
)
def test_one_sample_of_another_kind_is_refused_as_a_table_of_one_is(sample, error):
    encoder, _ = learn_table(table_of_dicts(SAMPLES, ("number", "text")))
    with pytest.raises(error, match=r"column '.*' of these samples"):
        row_of_dict(sample, encoder)


def test_class_rates_of_categories_are_those_of_the_classifier():
    *batches, (last, _) = ratings(8, n=300, n_users=110, n_films=110, says=3.0)
    learner = AdaptiveDecisionForest(n_estimators=3, batch_size=300, seed=0)
    classifier = AdaptiveDecisionForestClassifier(3, random_state=0, column_changes="allow")
    for X, y in batches:
        classifier.partial_fit(X[sorted(X)], y)
        for x, label in zip(X.to_dict("records"), y.tolist(), strict=True):
            learner.learn_one(x, label)
    assert learner._classifier._model.encoder.rate_columns == classifier._model.encoder.rate_columns != ()
    shares = classifier.predict_proba(last[sorted(last)])
    for x, expected in zip(last[:20].to_dict("records"), shares, strict=False):
        assert list(learner.predict_proba_one(x).values()) == pytest.approx(expected.tolist())
