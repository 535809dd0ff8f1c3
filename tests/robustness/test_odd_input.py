"""Odd input just works."""

from functools import partial

import numpy as np
import polars as pl
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from small_forests import forest
from whole_models import clusters


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[np.nan, np.nan]], [["a", 1]], np.ones((1, 2), dtype=bool)])
def test_one_record(X):
    model = forest().partial_fit(X, ["only"])
    assert model.predict(X).tolist() == ["only"]
    assert model.predict_proba(X).tolist() == [[1.0]]
    model.partial_fit(X, ["only"]).partial_fit(X, ["other"])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_stream_of_single_records():
    X, y = clusters(0, (0, 1, 2), n=150)
    model = forest()
    for record, label in zip(X, y, strict=True):
        model.partial_fit(record[None], [label])
    assert [report.n_samples for report in model.history_] == [1] * 150
    assert model.score(*clusters(1, (0, 1, 2))) > 0.9


def test_one_class():
    X, _ = clusters(0)
    model = forest().fit(X, np.zeros(60, dtype=int)).partial_fit(X, np.zeros(60, dtype=int))
    assert (model.predict(X) == 0).all()
    assert model.predict_proba(X).shape == (60, 1)
    assert model.history_[-1].drift == "none"
    assert model.feature_importances_.tolist() == [0, 0, 0]


def test_one_column():
    X = np.arange(100.0)[:, None]
    model = forest().fit(X, X[:, 0] > 50).partial_fit(X + 100, np.ones(100, dtype=bool))
    assert model.score(X, X[:, 0] > 50) > 0.95


@pytest.mark.parametrize("constant", [0.0, -0.0, 1e300, 5e-324, np.nan])
def test_a_constant_or_missing_column(constant):
    X, y = clusters(0)
    X[:, 1] = constant
    model = forest().fit(X, y).partial_fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.feature_importances_[1] == 0


def test_all_columns_constant_or_missing():
    for X in (np.ones((40, 2)), np.full((40, 2), np.nan)):
        y = np.array([0] * 30 + [1] * 10)
        model = forest().fit(X, y).partial_fit(X, y)
        assert (model.predict(X) == 0).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_column_that_was_missing_and_then_is_not():
    X, y = clusters(0)
    hidden = np.full_like(X, np.nan)
    model = forest().fit(hidden, y)
    for number in range(12):
        model.partial_fit(*clusters(number))
    assert model.score(X, y) > 0.9
    assert model.predict(hidden).shape == (60,)


def test_a_text_column_that_was_missing_and_then_is_not():
    kind = pl.Series("kind", [None] * 20, dtype=pl.String)
    model = forest().fit(pl.DataFrame([kind]), ["a", "b"] * 10)
    for _ in range(12):
        model.partial_fit(pl.DataFrame({"kind": ["a", "b"] * 10}), ["a", "b"] * 10)
    assert model.predict(pl.DataFrame({"kind": ["a", "b"]})).tolist() == ["a", "b"]


def test_a_million_identical_records():
    X, y = np.ones((1_000_000, 2)), (np.arange(1_000_000) % 10 < 3).astype(int)
    model = forest(n_estimators=2).partial_fit(X, y)
    assert model.permanent_forest_.n_leaves == 2
    assert model.predict(X[:1]).tolist() == [0]
    assert model.predict_proba(X[:1])[0] == pytest.approx([0.7, 0.3], abs=0.01)
    model.partial_fit(X, y)
    assert model.predict_proba(X[:1])[0] == pytest.approx([0.7, 0.3], abs=0.01)


def test_a_thousand_classes():
    X, y = np.arange(4_000.0)[:, None] // 4, np.arange(4_000) // 4
    model = forest().fit(X, y)
    assert len(model.classes_) == 1_000
    assert model.score(X, y) > 0.95
    model.partial_fit(X + 5_000, y + 1_000)
    assert len(model.classes_) == 2_000
    assert model.score(X, y) > 0.95
    assert model.score(X + 5_000, y + 1_000) > 0.95


def test_a_new_class_in_each_of_many_batches():
    model = forest(n_estimators=3)
    for klass in range(150):
        model.partial_fit(np.full((10, 1), float(klass)), [klass] * 10)
    assert len(model.classes_) == 150
    # The permanent forest knows them all; who answers is another question.
    answers = model.permanent_forest_.answer(np.arange(150.0)[:, None], 150, soft=True)
    assert np.mean(answers.argmax(axis=1) == np.arange(150)) > 0.95


def test_five_thousand_columns():
    X = np.random.default_rng(0).normal(size=(60, 5_000))
    y = (X[:, 7] > 0).astype(int)
    model = forest(n_estimators=3).fit(X, y).partial_fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.feature_importances_.shape == (5_000,)


def test_numbers_of_every_size():
    X = np.array([[5e-324], [1e-300], [1.0], [1e150], [-1e150], [0.0]])
    model = forest(n_estimators=50).fit(np.repeat(X, 10, axis=0), np.repeat(np.arange(6), 10))
    assert model.predict(X).tolist() == [0, 1, 2, 3, 4, 5]


def test_numbers_at_the_end_of_float64():
    model = forest().fit([[-1.7e308], [-1.6e308]] * 5, [0, 0] * 5)
    model.partial_fit([[1.6e308], [1.7e308]] * 5, [1, 1] * 5)
    assert model.predict([[-1.7e308], [1.7e308]]).tolist() == [0, 1]


@pytest.mark.parametrize("order", ["C", "F", "strided", "readonly"])
def test_arrays_of_any_layout(order):
    X, y = clusters(0)
    expected = forest().fit(X, y).partial_fit(X, y).predict_proba(X)
    if order == "strided":
        wide = np.zeros((120, 6))
        wide[::2, ::2] = X
        X = wide[::2, ::2]
    elif order == "readonly":
        X, y = X.copy(), y.copy()
        X.flags.writeable = y.flags.writeable = False
    else:
        X = np.array(X, order=order)
    np.testing.assert_array_equal(forest().fit(X, y).partial_fit(X, y).predict_proba(X), expected)


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, partial(PaperADFClassifier, min_samples_leaf=1)])
def test_sysfor_without_trees_for_some_places_learns_on(kind):
    # Two values of one attribute offer one tree; the other places keep the trees they had, which learn the batch.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = kind(n_estimators=10, base_forest="sysfor", memory_size=30, window_size=1, random_state=0)
    model.fit(X, X[:, 0] + 0.3 * rng.normal(size=60) > 0)
    for _ in range(4):
        X = np.zeros((300, 2))
        X[:, 0] = rng.integers(0, 2, 300) * 9 - 4
        model.partial_fit(X, X[:, 0] > 0)
        permanent = model.permanent_forest_
        assert {len(leaf_of) for leaf_of in permanent.leaf_of} == {len(permanent.known)}
    assert model.score(X, X[:, 0] > 0) == 1
