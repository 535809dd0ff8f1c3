"""Columns that come, go, are empty at first, or have names that are not text."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.encoding import EncodingRules
from encoded_tables import extend_table, learn_table

NAN = np.nan
ALLOW, ERROR = EncodingRules(column_changes="allow"), EncodingRules(column_changes="error")


def forest(kind=AdaptiveDecisionForestClassifier, **changes):
    return kind(**{"n_estimators": 5, "random_state": 0} | changes)


# --- columns without a value so far


@pytest.mark.parametrize(
    ("later", "kind", "expected"),
    [
        ([1.5, 2.5], "numbers", [1.5, 2.5]),
        (["a", None], "categories", [0, NAN]),
        (pd.Categorical([5, 3]), "categories", [0, 1]),
        (pd.to_datetime(["1970-01-02", None]), "dates", [86_400, NAN]),
        (pd.to_timedelta([1, 2], unit="h"), "durations", [3_600, 7_200]),
    ],
)
@pytest.mark.parametrize("nothing", [None, NAN, pd.NA, pd.NaT])
def test_the_first_values_decide(later, kind, expected, nothing):
    empty = pd.DataFrame({"a": [nothing] * 2, "b": [1, 2]})
    encoder, matrix = learn_table(empty)
    np.testing.assert_array_equal(matrix, [[NAN, 1], [NAN, 2]])
    encoder, _ = extend_table(encoder, empty, batch=2)
    assert encoder.kinds == ("undecided", "numbers")
    encoder, matrix = extend_table(encoder, empty.assign(a=later), batch=3)
    assert encoder.kinds[0] == kind
    np.testing.assert_array_equal(matrix[:, 0], expected)
    np.testing.assert_array_equal(encoder.translate(empty.assign(a=later)), matrix)


def test_what_is_asked_of_an_undecided_column_is_missing():
    encoder, _ = learn_table(pd.DataFrame({"a": [None, None], "b": ["x", "y"]}))
    for value in (1.5, "text", pd.Timestamp(0)):
        np.testing.assert_array_equal(encoder.translate(pd.DataFrame({"a": [value], "b": ["y"]})), [[NAN, 1]])


def test_arrays_decide_too():
    encoder, _ = learn_table(np.array([[NAN, 1.0]]))
    assert encoder.kinds == ("undecided", "numbers")
    same, _ = extend_table(encoder, np.array([[NAN, 2.0]]), batch=2)
    assert same is encoder
    numbers, _ = extend_table(encoder, np.array([[3.0, 2.0]]), batch=2)
    assert numbers.kinds == ("numbers", "numbers")
    text, matrix = extend_table(encoder, [["a", 2.0]], batch=2)
    assert text.kinds == ("categories", "numbers")
    assert matrix.tolist() == [[0, 2]]


def test_a_list_of_categorical_features_decides_before_the_values():
    empty = pd.DataFrame({"a": [None], "b": [None]})
    encoder, _ = learn_table(empty, ["a"])
    assert encoder.kinds == ("categories", "undecided")
    assert extend_table(encoder, pd.DataFrame({"a": [7], "b": [1.0]}), batch=2)[1].tolist() == [[0, 1]]
    with pytest.raises(TypeError) as error:
        extend_table(encoder, pd.DataFrame({"a": ["x"], "b": ["y"]}), batch=2)
    assert str(error.value) == (
        "column 'b' of batch 2 holds text ('y') but is not among categorical_features. Add it there, drop it, or "
        "convert it to numbers, for example with pd.to_numeric(..., errors='coerce')."
    )


def test_numbers_that_turn_to_text_say_what_to_set():
    model = forest().fit(pd.DataFrame({"age": [1.0, 2.0]}), [0, 1])
    with pytest.raises(TypeError) as error:
        model.partial_fit(pd.DataFrame({"age": ["12", "?"]}), [0, 1])
    assert str(error.value) == (
        "column 'age' of batch 2 holds text ('?', '12') but the model learnt it as numbers. Convert it to numbers with "
        "pd.to_numeric(..., errors='coerce'), which makes other text missing, or list it in categorical_features and "
        "start a new model with fit()."
    )


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
def test_a_model_learns_a_text_column_that_was_empty_at_first(kind, base_forest):
    model = forest(kind, base_forest=base_forest, min_samples_leaf=1)
    rng, y = np.random.default_rng(0), np.arange(200) % 2
    noise = rng.normal(size=200)
    model.partial_fit(pd.DataFrame({"town": [None] * 200, "noise": noise}), y)
    frame = pd.DataFrame({"town": np.where(y, "Graz", "Linz"), "noise": noise})
    for _ in range(8):
        model.partial_fit(frame, y)
    assert model.score(frame, y) > 0.8


# --- names that are not text


def test_whole_numbers_are_names():
    frame = pd.DataFrame([[1, 2, 3]], columns=[2019, 2020, 2021])
    encoder, matrix = learn_table(frame)
    assert matrix.tolist() == [[1, 2, 3]]
    assert encoder.feature_names is None, "as in scikit-learn"
    assert encoder.translate(frame[[2021, 2019, 2020]]).tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match=r"the extra one is 2022 and the missing one is 2021. Rename the columns"):
        encoder.translate(frame.rename(columns={2021: 2022}))
    with pytest.warns(UserWarning, match="^X does not have valid feature names, but AdaptiveDecision"):
        assert encoder.translate(np.array([[1.0, 2.0, 3.0]])).tolist() == [[1, 2, 3]]
    with pytest.raises(TypeError, match="column 2020 of these samples holds text"):
        encoder.translate(frame.astype({2020: str}))


@pytest.mark.parametrize("first", [np.array([[1.0, 2.0, 3.0]]), pd.DataFrame([[1.0, 2.0, 3.0]])])
def test_arrays_and_numbered_columns_are_the_same(first):
    encoder, matrix = learn_table(first)
    frame = pd.DataFrame(matrix)
    for X in (matrix, frame, frame[[2, 0, 1]], matrix.tolist()):
        assert encoder.translate(X).tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match=r"the extra one is 7 and the missing one is 2. Rename the columns"):
        encoder.translate(frame.rename(columns={2: 7}))
    with pytest.warns(UserWarning, match="^X has feature names, but AdaptiveDecision"):
        assert encoder.translate(pd.DataFrame(matrix, columns=list("abc"))).tolist() == [[1, 2, 3]]


def test_the_tuples_of_a_multi_index_are_names():
    columns = pd.MultiIndex.from_tuples([("rain", "mean"), ("rain", "max"), ("wind", "mean")])
    for values in ([[1.0, 2.0, 3.0]], [[1.0, "wet", 3.0]]):
        frame = pd.DataFrame(values, columns=columns)
        encoder, matrix = learn_table(frame)
        shuffled = frame[[("wind", "mean"), ("rain", "max"), ("rain", "mean")]]
        assert encoder.translate(shuffled).tolist() == matrix.tolist()
        with pytest.raises(ValueError, match=r"the missing one is \('rain', 'max'\). Add it, or start"):
            encoder.translate(frame.drop(columns=[("rain", "max")]))


def test_a_model_matches_numbered_columns():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=[30, 10, 20])
    y = (frame[10] > 0).to_numpy()
    model = forest().fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame[[10, 20, 30]]), model.predict_proba(frame))
    assert not hasattr(model, "feature_names_in_")
    assert pickle.loads(pickle.dumps(model)).predict(frame[[20, 10, 30]]).tolist() == model.predict(frame).tolist()


# --- columns added and dropped


def test_added_and_dropped_columns():
    encoder, _ = learn_table(pd.DataFrame({"a": [1.0], "b": ["x"]}), rules=ALLOW)
    for convert in (lambda frame: frame, pl.from_pandas):
        later = convert(pd.DataFrame({"c": ["new"], "b": ["y"], "d": [4.0]}))
        grown, matrix = extend_table(encoder, later, 2, ALLOW)
        np.testing.assert_array_equal(matrix, [[NAN, 1, 0, 4]])
        assert grown.names == ("a", "b", "c", "d")
        assert grown.kinds == ("numbers", "categories", "categories", "numbers")
        np.testing.assert_array_equal(grown.translate(later, "allow"), matrix)
        np.testing.assert_array_equal(
            grown.translate(pd.DataFrame({"a": [7], "z": [0]}), "allow"), [[7, NAN, NAN, NAN]]
        )
        with pytest.raises(ValueError, match="the missing one is 'a'"):
            grown.translate(later)
    numbers, _ = learn_table(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    np.testing.assert_array_equal(
        extend_table(numbers, pd.DataFrame({"b": [3.0], "c": [4.0]}), 2, ALLOW)[1], [[NAN, 3, 4]]
    )


def test_changes_that_are_not_allowed_say_what_to_set():
    encoder, _ = learn_table(pd.DataFrame({"a": [1.0], "b": ["x"]}), rules=ERROR)
    with pytest.raises(ValueError) as error:
        extend_table(encoder, pd.DataFrame({"a": [1.0], "b": ["x"], "c": [2]}), 3, ERROR)
    assert str(error.value) == (
        "The feature names should match those that were passed during fit.\n"
        "batch 3 has 3 columns but the model learnt 2; "
        "the extra one is 'c'. Drop it, set column_changes='allow', or start a new model with fit()."
    )


def test_no_column_in_common_is_no_change_of_columns():
    encoder, _ = learn_table(pd.DataFrame({"a": [1.0], "b": ["x"]}), rules=ALLOW)
    with pytest.raises(ValueError) as error:
        extend_table(encoder, pd.DataFrame({"A": [1.0], "B": ["x"]}), 2, ALLOW)
    assert str(error.value) == (
        "The feature names should match those that were passed during fit.\n"
        "batch 2 has 2 columns but the model learnt 2; "
        "the extra ones are 'A', 'B' and the missing ones are 'a', 'b'. Rename the columns, or start a new model with "
        "fit()."
    )


def test_arrays_have_no_names_to_change():
    encoder, _ = learn_table(np.ones((2, 2)))
    with pytest.raises(ValueError, match="X has 3 features, but AdaptiveDecisionForestClassifier is expecting 2"):
        extend_table(encoder, np.ones((2, 3)), 2, ALLOW)


TABLES = st.dictionaries(st.sampled_from("abcd"), st.lists(st.floats(-9, 9), min_size=3, max_size=3), min_size=1)


@given(st.lists(TABLES, min_size=2, max_size=5))
def test_every_value_is_found_under_its_name(tables):
    tables = [{"key": [0.0, 1.0, 2.0]} | table for table in tables]
    encoder, _ = learn_table(pl.DataFrame(tables[0]))
    for number, table in enumerate(tables, start=1):
        encoder, matrix = extend_table(encoder, pl.DataFrame(table), number, ALLOW)
        for position, name in enumerate(encoder.names):
            np.testing.assert_array_equal(matrix[:, position], table.get(name, [NAN] * 3))
        np.testing.assert_array_equal(encoder.translate(pl.DataFrame(table), "allow"), matrix)
    assert set(encoder.names) == {name for table in tables for name in table}


def moving_columns(number, n=300):
    """Return a batch: 'new' comes with the third and decides from then on, 'old' goes with the fifth."""
    rng = np.random.default_rng(number)
    frame = pd.DataFrame({"old": rng.normal(size=n), "key": rng.normal(size=n), "new": rng.choice(["a", "b", "c"], n)})
    y = np.where(frame["new"] == "a", "first", np.where(frame["key"] > 0, "second", "third"))
    return frame.drop(columns=["new"] if number < 3 else ["old"] if number > 5 else []), y


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
@pytest.mark.parametrize("splitting", ["entropy", "isat", "sat"])
@pytest.mark.parametrize("base_forest", ["random_forest", "hoeffding"])
def test_a_model_learns_on_while_columns_come_and_go(kind, splitting, base_forest):
    model = forest(kind, splitting=splitting, base_forest=base_forest, column_changes="allow", min_samples_leaf=1)
    for number in range(1, 12):
        model.partial_fit(*moving_columns(number))
    assert model.feature_names_in_.tolist() == ["old", "key", "new"]
    assert model.n_features_in_ == 3
    assert model.feature_importances_.shape == (3,)
    if (kind, splitting) == (AdaptiveDecisionForestClassifier, "entropy"):
        assert model.score(*moving_columns(50)) > 0.85
        assert model.feature_importances_[2] > model.feature_importances_[0]
    copy = pickle.loads(pickle.dumps(model))
    frame, y = moving_columns(60)
    for one in (model, copy):
        one.partial_fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), copy.predict_proba(frame))
    assert model.predict(frame.drop(columns="key").assign(unheard=1)).shape == (300,)


def test_small_batches_that_wait_are_widened_too():
    model = forest(column_changes="allow")
    frame, y = moving_columns(1, 2_000)
    model.partial_fit(frame, y)
    for number in (2, 3, 2, 4):
        model.partial_fit(*moving_columns(number, 30))
    assert model.n_features_in_ == 3
    assert model.history_[-1].action != {}
    model.partial_fit(*moving_columns(5, 2_000))
    assert model.permanent_forest_.trees[0].importance.shape == (3,)


def test_the_parameter_may_be_changed_between_batches():
    model = forest().partial_fit(*moving_columns(1))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="set column_changes='allow', or"):
        model.partial_fit(*moving_columns(3))
    assert pickle.dumps(model) == before, "a batch that is refused changes nothing"
    model.set_params(column_changes="allow").partial_fit(*moving_columns(3))
    assert model.n_features_in_ == 3
    model.set_params(column_changes="error")
    with pytest.raises(ValueError, match="the missing one is 'old'"):
        model.predict(moving_columns(6)[0])


def test_forests_that_were_one_stay_one():
    model = forest(column_changes="allow").partial_fit(*moving_columns(1)).partial_fit(*moving_columns(3))
    pairs = zip(model.permanent_forest_.trees, model.active_forest_.trees, strict=True)
    assert all(one is other for one, other in pairs)
