"""What members are given, and what they make of it: the forest as if it were alone, others what they can take."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from adforest import AdaptiveDecisionForestClassifier, NextBatchVotingClassifier

COLOURS = ["red", "green", "blue", None]


def mixed_batch(seed, n=120, colours=COLOURS):
    """Return a table of text, numbers with gaps and dates, and classes that the first two decide."""
    rng = np.random.default_rng(seed)
    colour, size = rng.choice(colours, n), rng.normal(size=n)
    y = np.where(np.isin(colour, ["red", "blue"]), np.where(size > 0, "large", "small"), "other")
    size[rng.random(n) < 0.1] = np.nan
    date = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    return pd.DataFrame({"colour": colour, "size": size, "date": date}), y


def voting(*members, **changes):
    named = [(f"m{i}", member) for i, member in enumerate(members)]
    return NextBatchVotingClassifier(named, random_state=0, **{"refit_after": 0} | changes)


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that keeps what it is given, and answers the most frequent class."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.sample_weight_ = X, y, sample_weight
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        self.asked_ = X
        return np.full(len(X), self.answer_)

    def predict_proba(self, X):
        return (self.predict(X)[:, np.newaxis] == self.classes_).astype(float)


class FrameRecorder(Recorder):
    """One whose tags say that it takes categories."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


class GapRecorder(Recorder):
    """One whose tags say that it takes missing values."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


# --- the forest


@pytest.mark.parametrize(
    "as_table", [lambda X: X, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_the_forest_learns_as_if_it_were_alone(as_table):
    alone = AdaptiveDecisionForestClassifier(n_estimators=4, random_state=3)
    model = voting(alone, DecisionTreeClassifier())
    alone = AdaptiveDecisionForestClassifier(n_estimators=4, random_state=3)
    rng = np.random.default_rng(0)
    for seed in range(3):
        X, y = mixed_batch(seed)
        weight = rng.integers(0, 3, len(y)) if seed else None
        for one in (alone, model):
            one.partial_fit(as_table(X), y, sample_weight=weight)
    member, X = model.named_estimators_.m0, as_table(mixed_batch(9)[0])
    np.testing.assert_array_equal(member.predict_proba(X), alone.predict_proba(X))
    assert member.feature_names_in_.tolist() == ["colour", "size", "date"]
    assert [r.accuracy for r in member.history_] == [r.accuracy for r in alone.history_]


def test_every_kind_of_table_makes_the_same_vote():
    answers = []
    for as_table in (lambda X: X, pl.from_pandas, pa.Table.from_pandas, lambda X: X.to_numpy(dtype=object)):
        model = voting(AdaptiveDecisionForestClassifier(n_estimators=4), HistGradientBoostingClassifier(max_iter=5))
        for seed in range(3):
            X, y = mixed_batch(seed)
            model.partial_fit(as_table(X.drop(columns="date")), y)
        assert 0 < model.weights_["m1"] < 1
        answers.append(model.predict_proba(as_table(mixed_batch(9)[0].drop(columns="date"))))
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


# --- what members are given


def test_members_that_need_numbers_get_codes_and_no_gaps():
    X, y = mixed_batch(0)
    model = voting(Recorder()).fit(X, y)
    given = model.named_estimators_.m0.X_
    assert given.dtype == np.float64
    assert not np.isnan(given).any()
    assert set(given[:, 0]) == {-1, 0, 1, 2}
    assert given[X["size"].isna(), 1].tolist() == [np.nanmedian(X["size"])] * X["size"].isna().sum()
    assert given[0, 2] == (X["date"][0] - pd.Timestamp(0)) / pd.Timedelta(seconds=1)
    model.predict(pd.DataFrame({"date": X["date"][:2], "colour": ["never seen", "red"], "size": [np.nan, 1.0]}))
    asked = model.named_estimators_.m0.asked_
    assert asked[0, 0] == -1
    assert asked[:, 1].tolist() == [np.nanmedian(X["size"]), 1.0]


def test_members_that_take_nan_get_it():
    X, y = mixed_batch(0)
    alone = voting(GapRecorder()).fit(X, y).named_estimators_.m0
    calibrated = voting(CalibratedClassifierCV(GapRecorder(), cv=2)).fit(X, y).named_estimators_.m0
    for fitted in (alone, calibrated.calibrated_classifiers_[0].estimator):
        assert np.isnan(fitted.X_).any(axis=0).tolist() == [True, True, False]


@pytest.mark.parametrize("as_table", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_members_that_take_categories_get_a_frame_of_the_library_that_came(as_table):
    model = voting(FrameRecorder())
    for seed in range(2):
        model.partial_fit(as_table(mixed_batch(seed)[0]), mixed_batch(seed)[1])
    given = model.named_estimators_.m0.X_
    assert isinstance(given, type(as_table(mixed_batch(0)[0])))
    came = pd.concat([mixed_batch(seed)[0] for seed in range(2)], ignore_index=True)
    given = given if isinstance(given, pd.DataFrame) else given.to_pandas()
    pd.testing.assert_frame_equal(given, came, check_dtype=False)


def test_pipelines_select_columns_by_name():
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]), (StandardScaler(), ["size"]), sparse_threshold=0
    )
    model = voting(make_pipeline(encode, HistGradientBoostingClassifier(max_iter=20)))
    for seed in range(3):
        model.partial_fit(*mixed_batch(seed, colours=[*COLOURS, f"new {seed}"]))
    assert model.score(*mixed_batch(9, colours=[*COLOURS, "never seen"])) > 0.85


def test_a_pipeline_that_cannot_take_text_is_left_out_and_says_why():
    model = voting(AdaptiveDecisionForestClassifier(n_estimators=4), make_pipeline(StandardScaler(), GaussianNB()))
    with pytest.warns(UserWarning, match="m1 could not learn batch 1: ValueError.*could not convert string to float"):
        model.fit(*mixed_batch(0))
    assert "could not convert" in model.history_[-1].left_out["m1"]
    assert model.history_[-1].action["m1"] == "left out"
    assert model.weights_ == {"m0": 1.0, "m1": 0.0}
    assert list(model.named_estimators_) == ["m0"]


@pytest.mark.parametrize(
    "member",
    [
        LogisticRegression(max_iter=1000),
        GaussianNB(),
        RidgeClassifier(),
        CalibratedClassifierCV(GaussianNB(), cv=2),
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 4]}, cv=2),
    ],
    ids=lambda member: type(member).__name__,
)
def test_classifiers_of_scikit_learn_take_tables_with_gaps(member):
    model = voting(member)
    for seed in range(2):
        X, y = mixed_batch(seed)
        model.partial_fit(X.drop(columns="date"), y)
    assert model.history_[-1].accuracy["m0"] > 0.4
    np.testing.assert_allclose(model.predict_proba(X.drop(columns="date")).sum(axis=1), 1)


# --- categories


def test_boosting_is_told_which_columns_are_categories():
    X, y = mixed_batch(0)
    model = voting(HistGradientBoostingClassifier(max_iter=3), LGBMClassifier(n_estimators=3, verbosity=-1)).fit(X, y)
    assert model.named_estimators_.m0.is_categorical_.tolist() == [True, False, False]
    # A booster of LightGBM notes "a:b" for numbers and the categories themselves for categories.
    infos = model.named_estimators_.m1.booster_.dump_model()["feature_infos"]
    assert infos["Column_0"]["values"]
    assert not infos["Column_1"]["values"]


def test_categories_that_the_user_listed_stay():
    X, y = mixed_batch(0)
    member = HistGradientBoostingClassifier(max_iter=3, categorical_features=[False, False, False])
    assert voting(member).fit(X, y).named_estimators_.m0.is_categorical_ is None


def test_more_categories_than_boosting_can_take():
    rng = np.random.default_rng(0)
    names = np.array([f"n{k}" for k in range(400)])
    frequent = rng.choice(names, 2_000, p=np.r_[np.full(4, 0.15), np.full(396, 0.4 / 396)])
    y = np.isin(frequent, names[:2])
    model = voting(HistGradientBoostingClassifier(max_iter=20)).fit(pd.DataFrame({"name": frequent}), y)
    assert len(np.unique(frequent)) > 255
    assert model.predict(pd.DataFrame({"name": names[:4]})).tolist() == [True, True, False, False]


def test_columns_without_any_value():
    X, y = mixed_batch(0)
    X = X.assign(empty=np.nan, none=pd.Series([None] * len(X), dtype="category"))
    model = voting(HistGradientBoostingClassifier(max_iter=3), LGBMClassifier(n_estimators=3, verbosity=-1)).fit(X, y)
    assert not model.history_[-1].left_out
    assert model.predict(X.assign(empty=1.0, none="new")).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("library", "name", "options"),
    [
        ("xgboost", "XGBClassifier", {"n_estimators": 5}),
        ("catboost", "CatBoostClassifier", {"iterations": 5, "verbose": 0, "allow_writing_files": False}),
    ],
)
def test_other_boosting_libraries(library, name, options):
    member = getattr(pytest.importorskip(library), name)(**options)
    model = voting(AdaptiveDecisionForestClassifier(n_estimators=4), member)
    for seed in range(3):
        model.partial_fit(*mixed_batch(seed, colours=[*COLOURS, f"new {seed}"]))
    assert model.history_[-1].accuracy["m1"] > 0.6
    assert not model.history_[-1].left_out


# --- labels, weights, seeds


def test_refitted_members_learn_numbers_and_the_others_class_values():
    X, y = mixed_batch(0)
    model = voting(Recorder(), GaussianNB()).fit(X, y)
    assert model.named_estimators_.m0.classes_.tolist() == [0, 1, 2]
    assert model.named_estimators_.m1.classes_.tolist() == ["large", "other", "small"]
    assert set(model.predict(X)) <= set(y)


def test_class_weights_are_named_by_value():
    X, y = mixed_batch(0)
    member = DecisionTreeClassifier(class_weight={"small": 5.0, "other": 2.0, "large": 1.0})
    model = voting(member).fit(X, y)
    assert model.named_estimators_.m0.class_weight == {0: 1.0, 1: 2.0, 2: 5.0}
    assert member.class_weight["small"] == 5.0


def test_weights_reach_those_members_that_take_them():
    X, y = mixed_batch(0)
    weight = np.where(y == "small", 3.0, 1.0)
    weight[:20] = 0
    model = voting(Recorder(), make_pipeline(FrameRecorder()), DummyClassifier()).fit(X, y, sample_weight=weight)
    assert model.named_estimators_.m0.sample_weight_.tolist() == weight[20:].tolist()
    assert len(model.named_estimators_.m1[-1].X_) == len(model.named_estimators_.m0.X_) == 100
    expected = np.bincount(np.unique(y[20:], return_inverse=True)[1], weight[20:]) / weight.sum()
    np.testing.assert_allclose(model.named_estimators_.m2.class_prior_, expected)
    assert voting(Recorder()).fit(X, y).named_estimators_.m0.sample_weight_ is None


def test_members_without_a_seed_get_one():
    X, y = mixed_batch(0)
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())
    members = [DecisionTreeClassifier(), DecisionTreeClassifier(random_state=7), pipeline]
    fitted = voting(*members).fit(X, y).estimators_
    again = voting(*members).fit(X, y).estimators_
    seeds = [fitted[0].random_state, fitted[1].random_state, fitted[2][-1].random_state]
    assert seeds == [again[0].random_state, 7, again[2][-1].random_state]
    assert None not in seeds
    assert members[0].random_state is None


def test_one_class_only():
    X = np.arange(60.0)[:, np.newaxis]
    model = voting(HistGradientBoostingClassifier(max_iter=3), DecisionTreeClassifier()).fit(X, ["a"] * 60)
    assert model.predict_proba(X).tolist() == [[1.0]] * 60
    model.partial_fit(X, ["a"] * 30 + ["b"] * 30)
    assert model.history_[-1].accuracy == {"m0": 0.5, "m1": 0.5, "vote": 0.5}
    assert model.partial_fit(X, ["a"] * 30 + ["b"] * 30).score(X[30:], ["b"] * 30) == 1


def test_the_only_sample_of_a_class_comes_twice():
    X = np.arange(41.0)[:, np.newaxis]
    y = np.r_[np.zeros(20), np.ones(20), 2].astype(int)
    fitted = voting(Recorder()).fit(X, y).named_estimators_.m0
    assert np.bincount(fitted.y_).tolist() == [20, 20, 2]
    weighted = voting(Recorder()).fit(X, y, sample_weight=np.full(41, 4.0)).named_estimators_.m0
    assert weighted.sample_weight_[weighted.y_ == 2].tolist() == [2.0, 2.0]
    boosting = HistGradientBoostingClassifier(max_iter=3, early_stopping=True)  # holds a part of each class out
    assert not voting(boosting).fit(X, y).history_[-1].left_out
