"""The scikit-learn face: batches in, new classes and categories welcome, tables of any kind, reports out."""

import inspect
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adforest import AdaptiveDecisionForestClassifier, BatchReport, PaperADFClassifier
from adforest.growers import count_features


def forest(**changes):
    return AdaptiveDecisionForestClassifier(**{"random_state": 0} | changes)


def clusters(seed, classes=(0, 1), n=60):
    """Return one tight cluster a class, 10 apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 2)) + 10 * y[:, None], y


def swapped(model, n=2):
    """Let a model learn a few batches, and as many with the labels the other way round."""
    for number in range(n):
        model.partial_fit(*clusters(number))
    for number in range(n):
        X, y = clusters(100 + number)
        model.partial_fit(X, 1 - y)
    return model


# --- learning


def test_the_signature_is_the_one_promised():
    promised = {
        "n_estimators": 20,
        "base_forest": "random_forest",
        "splitting": "entropy",
        "drift_threshold": 3,
        "window_size": 3,
        "memory_size": 100_000,
        "min_samples_leaf": 1,
        "max_features": "default",
        "max_depth": None,
        "renewal": 1.0,
        "answer_for": "next_batch",
        "categorical_features": "from_dtype",
        "max_categories": None,
        "min_frequency": None,
        "column_changes": "error",
        "n_jobs": None,
        "random_state": None,
        "verbose": 0,
    }
    signature = inspect.signature(AdaptiveDecisionForestClassifier).parameters
    assert {name: parameter.default for name, parameter in signature.items()} == promised
    positional = [p.name for p in signature.values() if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional == ["n_estimators"]


def test_learnt_attributes():
    model = forest().fit(*clusters(0))
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.feature_importances_.shape == (2,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert len(model.permanent_forest_) == len(model.active_forest_) == 20
    assert model.temporary_forest_ is None
    assert model.answering_forest_ == "permanent"
    assert len(model.history_) == 1


def test_there_is_nothing_learnt_before_learning():
    model = forest()
    for name in ("classes_", "n_features_in_", "feature_importances_", "permanent_forest_", "history_"):
        assert not hasattr(model, name)


def test_the_attribute_that_decides_is_the_important_one():
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = forest(max_features=None).fit(X, X[:, 2] > 0)
    assert model.feature_importances_[2] > 0.95


def test_fit_forgets_and_partial_fit_does_not():
    near, far = clusters(0, (0, 1)), clusters(1, (5, 6))
    model = forest().fit(*near).partial_fit(*far)
    assert model.classes_.tolist() == [0, 1, 5, 6]
    assert model.score(*near) > 0.95
    assert model.score(*far) > 0.95
    model.fit(*far)
    assert model.classes_.tolist() == [5, 6]
    assert len(model.history_) == 1


def test_fit_is_the_first_partial_fit():
    X, y = clusters(0)
    np.testing.assert_array_equal(forest().fit(X, y).predict_proba(X), forest().partial_fit(X, y).predict_proba(X))


def test_learning_returns_the_model():
    model = forest()
    assert model.fit(*clusters(0)) is model
    assert model.partial_fit(*clusters(1)) is model


def test_a_class_a_batch_and_all_of_them_known_in_the_end():
    model = forest()
    for klass in range(8):
        model.partial_fit(*clusters(klass, (klass,)))
    assert model.score(*clusters(99, tuple(range(8)), 400)) > 0.9


def test_new_classes_in_any_batch():
    model = forest()
    for number, classes in enumerate([(3,), (1, 3), (0,), (2, 4), (0, 1, 2, 3, 4)]):
        model.partial_fit(*clusters(number, classes))
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.score(*clusters(9, (0, 1, 2, 3, 4))) > 0.9
    assert [report.scenario for report in model.history_] == ["SUC", "MKUC", "SUC", "MUC", "MKC"]


def test_columns_of_predict_proba_follow_the_sorted_classes():
    # They arrive in the order 7, 3, 5.
    model = forest()
    for klass in (7, 3, 5):
        model.partial_fit(*clusters(klass, (klass,)))
    assert model.classes_.tolist() == [3, 5, 7]
    for column, klass in enumerate(model.classes_):
        shares = model.predict_proba(clusters(50 + klass, (klass,))[0])
        assert shares.shape == (60, 3)
        assert (shares.argmax(axis=1) == column).mean() > 0.9
        np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_predict_is_the_largest_share():
    model = forest().fit(*clusters(0, (2, 0, 1))).partial_fit(*clusters(1, (4, 3)))
    X, _ = clusters(2, (0, 1, 2, 3, 4), 300)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize(
    "labels", [["b", "a"], [True, False], [10, -3], [2.0, 1.0], np.array(["longer", "x"], dtype=object)]
)
def test_labels_come_back_as_they_went_in(labels):
    X, y = clusters(0)
    y = np.asarray(labels)[y]
    model = forest().fit(X, y)
    assert model.classes_.dtype == y.dtype
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.95


def test_declared_classes_have_a_column_before_their_first_record():
    X, y = clusters(0)
    model = forest().partial_fit(X, y, classes=[0, 1, 9])
    assert model.classes_.tolist() == [0, 1, 9]
    assert (model.predict_proba(X)[:, 2] == 0).all()
    assert model.history_[0].new_classes == (0, 1)
    model.partial_fit(*clusters(1, (9,)))
    assert model.score(*clusters(2, (9,))) > 0.9


def test_classes_are_welcome_that_were_not_declared():
    model = forest().partial_fit(*clusters(0), classes=[0, 1]).partial_fit(*clusters(1, (4,)), classes=[0, 1])
    assert model.classes_.tolist() == [0, 1, 4]


@pytest.mark.parametrize(
    "model", [forest(n_estimators=3, memory_size=400), PaperADFClassifier(n_estimators=3, random_state=0)], ids=repr
)
def test_a_class_that_vanished_for_1000_batches_is_still_known(model):
    model.partial_fit(*clusters(0, (0, 1, 4), 90))
    for number in range(1_000):
        model.partial_fit(*clusters(number + 1, n=4))
    assert model.classes_.tolist() == [0, 1, 4]
    X, y = clusters(5_000, (4,))
    assert model.score(X, y) > 0.9, "it is answered right away when it comes back"
    model.partial_fit(X, y)
    assert model.history_[-1].scenario == "SKC"
    assert model.history_[-1].new_classes == ()
    assert model.score(*clusters(5_001, (0, 1, 4))) > 0.9


@pytest.mark.parametrize("memory_size", [1, 100])
def test_a_class_that_vanished_is_known_with_batches_larger_than_the_memory(memory_size):
    model = forest(memory_size=memory_size)
    model.partial_fit(*clusters(0, (0, 1, 4), 90))
    for number in range(20):
        model.partial_fit(*clusters(number + 1, n=60))
    assert model.score(*clusters(50, (4,))) > 0.9


def test_set_params_between_batches_takes_effect():
    models = [forest(), forest()]
    for model in models:
        for number in range(6):
            model.partial_fit(*clusters(number))
    models[1].set_params(drift_threshold=0)
    for model in models:
        X, y = clusters(6)
        model.partial_fit(X, 1 - y)
    assert [model.history_[-1].drift for model in models] == ["temporary", "sustained"]


@pytest.mark.parametrize("memory_size", [None, 0, 100])
def test_memory_size(memory_size):
    model = forest(memory_size=memory_size)
    for number in range(8):
        model.partial_fit(*clusters(number, n=30))
    kept = len(model.permanent_forest_.known)
    # Two batches of 30 are the window that the next batch will complete.
    assert kept in {None: [240], 0: [60], 100: range(158, 161)}[memory_size]
    assert model.permanent_forest_.known.sum() == (0 if memory_size == 0 else kept)
    assert model.score(*clusters(99)) > 0.95


# --- tables


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


@pytest.mark.filterwarnings("ignore:column 'id' of batch 1 brings the number of its values to 1,000 in 1,000 records")
def test_a_name_of_its_own_for_every_record_is_not_learnt_by_heart():
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


def test_a_missing_value_goes_where_most_records_went():
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


# --- reports


def test_a_report_has_all_the_fields_promised():
    assert [field.name for field in fields(BatchReport)] == [
        "batch",
        "n_records",
        "scenario",
        "new_classes",
        "drift",
        "perturbed",
        "action",
        "accuracy",
        "n_leaves",
        "answering",
        "votes",
        "seconds",
    ]


def test_history_tells_the_story_of_a_drift():
    model = swapped(forest(), n=2)
    assert [report.batch for report in model.history_] == [1, 2, 3, 4]
    assert [report.n_records for report in model.history_] == [60] * 4
    # A change shows in how the newest forest does on the batch that follows it.
    assert [report.drift for report in model.history_] == ["none", "none", "none", "temporary"]
    assert [report.scenario for report in model.history_] == ["MUC", "MKC", "MKC", "MKC"]
    last = model.history_[-1]
    forests = {"permanent", "active", "temporary", "newest"}
    assert set(last.action) == set(last.n_leaves) == forests
    assert set(last.accuracy) == {*forests, "vote"}
    assert set(last.perturbed) == {"permanent", "active"}, "the others are never repaired"
    assert last.n_leaves["permanent"] == model.permanent_forest_.n_leaves
    assert last.n_leaves["temporary"] == model.temporary_forest_.n_leaves
    assert all(0 <= share <= 1 for share in (*last.perturbed.values(), *last.accuracy.values()))
    assert last.answering == model.answering_forest_ == max(last.votes, key=last.votes.get)
    assert set(last.votes) == forests - {"active"}, "it has a vote once it has replaced itself"
    assert sum(last.votes.values()) == pytest.approx(1)
    assert all(report.seconds > 0 for report in model.history_)


def test_new_classes_are_reported_by_value_and_sorted():
    model = forest().fit([[0.0], [1.0]], ["walk", "sit"]).partial_fit([[5.0], [6.0]], ["run", "hop"])
    assert [report.new_classes for report in model.history_] == [("sit", "walk"), ("hop", "run")]
    numbers = forest().fit([[0.0], [1.0]], np.array([7, 2]))
    assert numbers.history_[0].new_classes == (2, 7)
    assert all(type(klass) is int for klass in numbers.history_[0].new_classes), "plain Python, ready for JSON"


def test_a_report_cannot_be_changed():
    report = forest().fit(*clusters(0)).history_[0]
    with pytest.raises(FrozenInstanceError):
        report.drift = "sustained"


def test_the_list_of_reports_is_a_copy():
    model = forest().fit(*clusters(0))
    model.history_.clear()
    assert len(model.history_) == 1


def test_a_report_reads_well():
    model = swapped(forest(), n=2)
    first, last = str(model.history_[0]), str(model.history_[-1])
    assert first.startswith("batch 1: 60 records, MUC, new classes 0, 1, drift none, permanent answers (")
    lines = last.splitlines()
    assert lines[0].startswith("batch 4: 60 records, MKC, drift temporary, ")
    assert sorted(line.split()[0] for line in lines[1:]) == ["active", "newest", "permanent", "temporary"]
    assert "kept" in last
    assert "perturbed" in last
    assert f"leaves {model.history_[-1].n_leaves['permanent']}" in lines[1]
    assert all(line == line.rstrip() for line in lines)
    one = str(forest().fit([[0.0]], ["a"]).history_[0])
    assert one.startswith("batch 1: 1 record, SUC, new classes a, ")


def test_verbose_prints_each_report(capsys):
    model = forest(verbose=1).partial_fit(*clusters(0)).partial_fit(*clusters(1))
    assert capsys.readouterr().out == "".join(f"{report}\n" for report in model.history_)


def test_silent_by_default(capsys):
    swapped(forest())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


# --- parameters


@pytest.mark.parametrize(
    ("max_features", "m", "expected"),
    [
        ("default", 1, 1),
        ("log2+1", 1, 1),
        ("default", 2, 2),
        ("log2+1", 2, 2),
        ("default", 6, 3),
        ("log2+1", 6, 3),
        ("default", 8, 4),
        ("log2+1", 8, 4),
        ("default", 25, 5),
        ("default", 1_000, 31),
        ("log2+1", 1_000, 10),
        ("sqrt", 1, 1),
        ("sqrt", 10, 3),
        ("log2", 1, 1),
        ("log2", 10, 3),
        (None, 10, 10),
        (4, 10, 4),
        (np.int64(4), 10, 4),
        (1, 10, 1),
        (40, 10, 10),
        (0.5, 10, 5),
        (0.01, 10, 1),
        (1.0, 10, 10),
    ],
)
def test_max_features_in_all_spellings(max_features, m, expected):
    assert count_features(max_features, m) == expected
    X = np.random.default_rng(0).normal(size=(30, m))
    model = forest(n_estimators=2, max_features=max_features).fit(X, np.arange(30) % 2)
    assert model.predict(X).shape == (30,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("n_estimators", 2.0),
        ("n_estimators", True),
        ("base_forest", "oak"),
        ("splitting", "gini"),
        ("drift_threshold", -1),
        ("window_size", 0),
        ("memory_size", -1),
        ("memory_size", 1.5),
        ("min_samples_leaf", 0),
        ("max_features", 0),
        ("max_features", 1.5),
        ("max_features", "half"),
        ("max_depth", 0),
        ("renewal", -1),
        ("answer_for", "now"),
        ("categorical_features", "some"),
        ("n_jobs", "two"),
        ("random_state", "seed"),
        ("verbose", -1),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError) as error:
        forest(**{name: value}).fit(*clusters(0))
    assert str(error.value).startswith(f"{name} of AdaptiveDecisionForestClassifier is {value!r}; expected ")


@pytest.mark.parametrize("renewal", [0, 1])
def test_max_depth_holds_through_expansions(renewal):
    model = forest(max_depth=3, splitting="entropy", renewal=renewal)
    for number in range(6):
        rng = np.random.default_rng(number)
        model.partial_fit(rng.uniform(size=(100, 3)), rng.integers(0, 3, 100))
    assert max(tree.depth for tree in model.permanent_forest_.trees) == 3


def test_a_stray_record_in_a_small_batch_grows_no_root():
    X, y = clusters(0)
    model = forest(renewal=0).fit(X, y)
    roots = [tree.nodes[0] for tree in model.permanent_forest_.trees]
    stray = X[:50].copy()
    stray[0, 0] = X[:, 0].max() + 1
    model.partial_fit(stray, np.r_[1 - y[0], y[1:50]])
    assert [tree.nodes[0] for tree in model.permanent_forest_.trees] == roots


def test_a_single_tree():
    model = forest(n_estimators=1).fit(*clusters(0)).partial_fit(*clusters(1, (5,)))
    assert len(model.permanent_forest_) == 1
    assert model.score(*clusters(2, (0, 1, 5))) > 0.9


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_the_same_seed_gives_the_same_answers_for_any_number_of_threads(n_jobs):
    X, _ = clusters(99, n=9_000)
    expected = swapped(forest(n_jobs=1)).predict_proba(X)
    np.testing.assert_array_equal(swapped(forest(n_jobs=n_jobs)).predict_proba(X), expected)


def test_random_state():
    X, y = clusters(0)
    y[::3] = 1 - y[::3]
    one, two, other = (forest(random_state=seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()
    generator = forest(random_state=np.random.RandomState(1)).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(generator, one)
