"""Tables of any kind, new categories and missing values in any batch."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from adforest import AdaptiveDecisionForestClassifier
from small_forests import clusters, forest

TABLE = pd.DataFrame(
    {
        "area": np.random.default_rng(0).uniform(50, 300, 80).round(2),
        "kind": np.random.default_rng(1).choice(["flat", "house", "hut"], 80),
        "beds": np.random.default_rng(2).integers(1, 5, 80),
        "garden": np.random.default_rng(3).random(80) > 0.5,
    }
)
RENT = np.where((TABLE["area"] > 150) ^ (TABLE["kind"] == "hut"), "high", "low")
TABLES = {
    "pandas": lambda frame: frame,
    "pandas categories": lambda frame: frame.assign(kind=frame["kind"].astype("category")),
    "pandas object": lambda frame: frame.assign(kind=frame["kind"].astype(object)),
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "numpy": lambda frame: frame.to_numpy(dtype=object),
    "list": lambda frame: frame.to_numpy(dtype=object).tolist(),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_any_kind_give_the_same_predictions(kind):
    convert, model, reference = TABLES[kind], forest(), forest()
    for half in (slice(0, 40), slice(40, 80)):
        reference.partial_fit(TABLE[half], RENT[half])
        model.partial_fit(convert(TABLE[half]), RENT[half])
    np.testing.assert_array_equal(model.predict_proba(convert(TABLE)), reference.predict_proba(TABLE))
    assert model.score(convert(TABLE), RENT) > 0.9
    assert hasattr(model, "feature_names_in_") == (kind not in ("numpy", "list"))


@pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, np.asfortranarray])
def test_numbers_of_any_kind_give_the_same_predictions(convert):
    X, y = clusters(0)
    expected = forest().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(forest().fit(convert(X), y).predict_proba(convert(X)), expected)


def test_one_model_takes_tables_of_several_kinds():
    model = forest().partial_fit(TABLE[:40], RENT[:40])
    model.partial_fit(pl.from_pandas(TABLE[40:]), RENT[40:])
    arrow = pa.Table.from_pandas(TABLE, preserve_index=False)
    np.testing.assert_array_equal(model.predict_proba(arrow), model.predict_proba(TABLE))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_are_matched_by_name_in_any_order(kind):
    convert, shuffled = TABLES[kind], TABLE[["garden", "beds", "kind", "area"]]
    model = forest().partial_fit(convert(TABLE[:40]), RENT[:40])
    other = forest().partial_fit(convert(TABLE[:40]), RENT[:40])
    expected = model.predict_proba(convert(TABLE))
    np.testing.assert_array_equal(model.predict_proba(convert(shuffled)), expected)
    model.partial_fit(convert(shuffled[40:]), RENT[40:])
    other.partial_fit(convert(TABLE[40:]), RENT[40:])
    np.testing.assert_array_equal(model.predict_proba(convert(TABLE)), other.predict_proba(convert(TABLE)))
    assert model.feature_names_in_.tolist() == ["area", "kind", "beds", "garden"]


def test_new_categories_in_any_batch():
    model = forest()
    for number, kinds in enumerate(["ab", "cd", "abe", "cdf"]):
        kind = np.random.default_rng(number).choice(list(kinds), 60)
        model.partial_fit(pd.DataFrame({"kind": kind}), np.isin(kind, ["a", "c", "e"]))
    frame = pd.DataFrame({"kind": list("abcdef")})
    assert model.predict(frame).tolist() == [True, False, True, False, True, False]


def test_thousands_of_categories():
    names, y = np.repeat([f"city {i:04}" for i in range(3_000)], 4), np.repeat(np.arange(3_000) % 2, 4)
    model = forest(n_estimators=5).fit(pd.DataFrame({"city": names}), y)
    model.partial_fit(pd.DataFrame({"city": np.char.add("new ", names)}), y)
    assert model.score(pd.DataFrame({"city": names}), y) > 0.9


@pytest.mark.filterwarnings("ignore:column 'id' of batch 1 brings the number of its values to 1,000 in 1,000 samples")
def test_a_name_of_its_own_for_every_sample_is_not_learnt_by_heart():
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(2_000, 2)), [f"id {i}" for i in range(2_000)]
    y = X[:, 0] > X[:, 1]
    model = forest(n_estimators=10).fit(pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "id": names})[:1_000], y[:1_000])
    fresh = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "id": names})[1_000:]
    plain = forest(n_estimators=10).fit(X[:1_000], y[:1_000])
    assert model.score(fresh, y[1_000:]) > plain.score(X[1_000:], y[1_000:]) - 0.01
    assert model.feature_importances_[2] < 0.02


def test_a_category_never_seen_is_answered_as_a_missing_one():
    model = forest().fit(TABLE, RENT)
    unseen, missing = TABLE.assign(kind="castle"), TABLE.assign(kind=None)
    np.testing.assert_array_equal(model.predict_proba(unseen), model.predict_proba(missing))
    assert set(model.predict(unseen)) <= {"low", "high"}


def test_a_missing_value_goes_where_most_samples_went():
    X = np.array([[0.0]] * 30 + [[1.0]] * 10)
    model = forest().fit(X, ["many"] * 30 + ["few"] * 10)
    assert model.predict([[np.nan]]).tolist() == ["many"]
    kinds = pd.DataFrame({"kind": ["a"] * 30 + ["b"] * 10})
    model = forest().fit(kinds, ["many"] * 30 + ["few"] * 10)
    assert model.predict(pd.DataFrame({"kind": [None, "unseen"]})).tolist() == ["many", "many"]


def test_a_missing_value_goes_where_it_gained_more_in_training():
    X = np.array([[0.0]] * 30 + [[1.0]] * 10 + [[np.nan]] * 10)
    model = forest().fit(X, ["many"] * 30 + ["few"] * 20)
    assert model.predict([[np.nan]]).tolist() == ["few"]
    assert model.predict([[0.0], [1.0]]).tolist() == ["many", "few"]


def test_missing_values_in_every_kind_of_table_are_the_same():
    holes = TABLE.astype({"beds": float})
    holes.loc[::3, "beds"] = np.nan
    holes.loc[1::3, "kind"] = None
    model = forest().fit(holes, RENT)
    expected = model.predict_proba(holes)
    for kind in ("polars", "pyarrow"):
        np.testing.assert_array_equal(model.predict_proba(TABLES[kind](holes)), expected)


@pytest.mark.parametrize("listed", [[1], [False, True], np.array([1])])
def test_numbers_can_be_declared_categorical(listed):
    # Codes without an order: even against odd needs many cuts of a number, and one of a set.
    code = np.arange(400) % 8
    X, y = np.column_stack([np.zeros(400), code]), code % 2
    model = forest(categorical_features=listed, max_features=None).fit(X, y)
    assert model.score(X, y) == 1.0
    assert {tree.n_leaves for tree in model.permanent_forest_.trees} == {2}


def test_categories_can_be_declared_by_name():
    model = forest(categorical_features=["beds", "kind"]).fit(TABLE, RENT)
    assert model.predict(TABLE.assign(beds=99)).shape == (80,)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_and_dense_tables_make_the_same_model(kind):
    rng = np.random.default_rng(0)
    dense = rng.random((60, 8)) * (rng.random((60, 8)) < 0.3)
    y = np.where(dense[:, 0] > dense[:, 1], "a", "b")
    models = []
    for X in (dense, kind(dense)):
        model = AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0).fit(X, y).partial_fit(X, y)
        models.append((model.predict_proba(X), model.predict(X).tolist(), model.score(X, y), model.apply(X)))
        models[-1] += (model.explain(X).contributions, model.snapshot().predict_proba(X))
    for one, other in zip(*models, strict=True):
        np.testing.assert_array_equal(one, other)
    assert model.__sklearn_tags__().input_tags.sparse


def test_words_of_texts_are_learnt_in_a_pipeline():
    texts = ["cheap loan now", "meeting at noon", "loan offer cheap", "noon lunch"] * 20
    model = make_pipeline(TfidfVectorizer(), AdaptiveDecisionForestClassifier(n_estimators=5, random_state=0))
    assert model.fit(texts, ["spam", "mail"] * 40).score(texts, ["spam", "mail"] * 40) == 1
