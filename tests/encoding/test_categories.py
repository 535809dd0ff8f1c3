"""What an encoder remembers from batch to batch, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded_tables import extend_table, learn_table

NAN = np.nan
FIRST = pd.DataFrame({"age": [30.0, 41.0], "town": ["Graz", "Linz"], "blood": ["A", "0"]})


@pytest.fixture
def encoder():
    return learn_table(FIRST)[0]


def test_new_categories_go_behind_the_old_ones(encoder):
    later = pd.DataFrame({"age": [1], "town": ["Wels"], "blood": ["A"]})
    grown, matrix = extend_table(encoder, later, batch=2)
    assert matrix.tolist() == [[1, 2, 0]]
    assert grown.category_values(1) == ["Graz", "Linz", "Wels"]
    np.testing.assert_array_equal(grown.translate(FIRST), encoder.translate(FIRST))


def test_the_old_encoder_stays_as_it_was(encoder):
    later = FIRST.assign(town=["Wels", "Steyr"])
    extend_table(encoder, later, batch=2)
    assert encoder.category_values(1) == ["Graz", "Linz"]
    assert encoder.n_categories.tolist() == [0, 2, 2]
    np.testing.assert_array_equal(encoder.translate(later)[:, 1], [NAN, NAN])
    with pytest.raises(TypeError):  # the second column learns, the third fails
        extend_table(encoder, later.assign(blood=[1, 2]), batch=2)
    assert encoder.category_values(1) == ["Graz", "Linz"]


def test_a_batch_without_new_categories_adds_none(encoder):
    assert extend_table(encoder, FIRST[::-1], batch=2)[0].category_values(1) == encoder.category_values(1)
    numbers, _ = learn_table(FIRST[["age"]])
    assert extend_table(numbers, FIRST[["age"]], batch=2)[0] is numbers


def test_unseen_categories_are_missing_when_predicting(encoder):
    unseen = pd.DataFrame({"age": [1], "town": ["Wels"], "blood": ["0"]})
    np.testing.assert_array_equal(encoder.translate(unseen), [[1, NAN, 1]])


def test_pickled_encoders_answer_alike(encoder):
    copy = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(copy.translate(FIRST), encoder.translate(FIRST))
    assert copy.feature_names.tolist() == encoder.feature_names.tolist()
    np.testing.assert_array_equal(extend_table(copy, FIRST, batch=2)[1], extend_table(encoder, FIRST, batch=2)[1])


batches = st.lists(st.lists(st.sampled_from("abcdefgh") | st.none(), min_size=1, max_size=6), min_size=1, max_size=5)


@given(batches)
def test_codes_are_the_order_of_arrival(batches):
    arrived = list(dict.fromkeys(text for batch in batches for text in batch if text is not None))
    encoder, _ = learn_table([[text] for text in batches[0]], [0])
    for number, batch in enumerate(batches, start=1):
        encoder, matrix = extend_table(encoder, [[text] for text in batch], batch=number)
        codes = [NAN if text is None else arrived.index(text) for text in batch]
        np.testing.assert_array_equal(matrix[:, 0], codes)
    assert encoder.category_values(0) == arrived


@given(st.lists(st.sampled_from([3.0, -1.5, 0.0, -0.0, 7.0, NAN]), min_size=1))
def test_numbers_listed_as_categories(numbers):
    X = np.array(numbers)[:, None]
    encoder, matrix = learn_table(X, categorical_features=[0])
    arrived = list(dict.fromkeys(number for number in numbers if number == number))
    assert encoder.category_values(0) == arrived
    np.testing.assert_array_equal(matrix[:, 0], [arrived.index(n) if n == n else NAN for n in numbers])
    np.testing.assert_array_equal(encoder.translate(X), matrix)
    assert np.isnan(encoder.translate(np.array([[99.0]]))).all()


@pytest.mark.parametrize("listed", [[False, True, True], [1, 2], ["town", "blood"], np.array(["blood", "town"])])
def test_categorical_features_as_mask_positions_or_names(listed):
    encoder, matrix = learn_table(FIRST, listed)
    assert encoder.is_categorical.tolist() == [False, True, True]
    assert matrix.tolist() == [[30, 0, 0], [41, 1, 1]]


@pytest.mark.parametrize("nothing", [None, []])
def test_no_categorical_features(nothing):
    encoder, matrix = learn_table(FIRST[["age"]], nothing)
    assert not encoder.is_categorical.any()
    assert matrix.tolist() == [[30], [41]]
    # Numbers of a categorical dtype are still numbers.
    frame = pd.DataFrame({"grade": pd.Categorical([5, 3, None])})
    np.testing.assert_array_equal(learn_table(frame, nothing)[1], [[5], [3], [NAN]])
    with pytest.raises(TypeError, match=r"column 'town' of batch 1 holds text \('Graz', 'Linz'\) but is not among"):
        learn_table(FIRST, nothing)


@pytest.mark.parametrize("wrong", [[True], [3], [-1], [0.5], "town", [[0]]])
def test_categorical_features_that_fit_no_column(wrong):
    with pytest.raises(ValueError, match=r"categorical_features is .* positions from 0 to 2"):
        learn_table(FIRST, wrong)


def test_categorical_features_by_unknown_name():
    with pytest.raises(ValueError, match="categorical_features names 'city', which is no column of batch 1"):
        learn_table(FIRST, ["town", "city"])
    with pytest.raises(ValueError, match=r"categorical_features is \['town'\]"):
        learn_table(FIRST.to_numpy(), ["town"])


def test_categorical_dtypes_hold_anything():
    frame = pd.DataFrame({"grade": pd.Categorical([5, 3, 5]), "span": pd.cut([1.0, 9.0, 1.0], [0, 5, 10])})
    encoder, matrix = learn_table(frame)
    assert matrix.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert encoder.category_values(0) == [5.0, 3.0]
    assert encoder.category_values(1) == ["(0, 5]", "(5, 10]"]


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame])
def test_columns_are_matched_by_name_in_any_order(encoder, convert):
    shuffled = convert({"blood": ["0"], "town": ["Graz"], "age": [7]})
    assert encoder.translate(shuffled).tolist() == [[7, 0, 1]]
    assert extend_table(encoder, shuffled, batch=2)[1].tolist() == [[7, 0, 1]]


def test_numerical_frames_are_matched_by_name_too():
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=["a", "b", "c"])
    encoder, matrix = learn_table(frame)
    answer = encoder.translate(frame[["c", "a", "b"]])
    assert answer.flags.c_contiguous
    np.testing.assert_array_equal(answer, matrix)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age_band": 1}, "batch 7 has 4 columns but the model learnt 3; the extra one is 'age_band'. Drop it, or"),
        ({"u": 1, "v": 1}, "batch 7 has 5 columns but the model learnt 3; the extra ones are 'u', 'v'. Drop them, or"),
    ],
)
def test_extra_columns_are_named(encoder, change, message):
    with pytest.raises(
        ValueError, match=r"^The feature names should match those that were passed during fit.\n"
    ) as error:
        extend_table(encoder, FIRST.assign(**change), batch=7)
    assert str(error.value).endswith(f"{message} start a new model with fit().")


def test_missing_and_renamed_columns_are_named(encoder):
    with pytest.raises(ValueError, match=r"these samples have 2 columns .* 3; the missing one is 'town'. Add it, or"):
        encoder.translate(FIRST.drop(columns="town"))
    renamed = FIRST.rename(columns={"town": "Town"})
    with pytest.raises(ValueError, match=r"the extra one is 'Town' and the missing one is 'town'. Rename the columns"):
        encoder.translate(renamed)
    many = FIRST.assign(**{f"x{i}": 0 for i in range(9)})
    with pytest.raises(ValueError, match=r"'x0', 'x1', 'x2', 'x3', 'x4', …. Drop them"):
        encoder.translate(many)


def test_names_on_one_side_only_warn_and_go_by_position(encoder):
    with pytest.warns(UserWarning, match="^X does not have valid feature names, but AdaptiveDecisionForestClassifier"):
        assert encoder.translate([[1.0, "Linz", "A"]]).tolist() == [[1, 1, 0]]
    nameless, _ = learn_table(FIRST.to_numpy(), estimator_name="Forest")
    with pytest.warns(UserWarning, match="^X has feature names, but Forest was fitted without feature names$"):
        assert extend_table(nameless, FIRST, batch=2)[1].tolist() == [[30, 0, 0], [41, 1, 1]]


def test_wrong_number_of_nameless_columns():
    encoder, _ = learn_table(np.ones((2, 2)))
    message = "X has 3 features, but AdaptiveDecisionForestClassifier is expecting 2 features as input. Give batch 4 "
    with pytest.raises(ValueError, match=message):
        extend_table(encoder, np.ones((2, 3)), batch=4)
    with pytest.raises(ValueError, match="Give these samples the columns"):
        encoder.translate(np.ones((1, 3)))


def test_text_in_a_column_learnt_as_numbers(encoder):
    with pytest.raises(
        TypeError, match=r"column 'age' of batch 7 holds text \('12.5'\) but the model learnt it as num"
    ):
        extend_table(encoder, FIRST.assign(age="12.5"), batch=7)


def test_numbers_in_a_column_learnt_as_text(encoder):
    with pytest.raises(TypeError, match=r"column 'town' of these samples holds numbers \(4.0\) .* text \('Graz'\)"):
        encoder.translate(FIRST.assign(town=4))
    numeric, _ = learn_table([[1.0]], [0])
    with pytest.raises(TypeError, match=r"column 0 of batch 2 holds text \('a'\) .* numbers \(1.0\)"):
        extend_table(numeric, [["a"]], batch=2)


@pytest.mark.parametrize("nothing", [None, NAN, pd.NA])
def test_an_empty_column_takes_the_kind_learnt(encoder, nothing):
    empty = FIRST.assign(age=nothing, town=nothing)
    np.testing.assert_array_equal(encoder.translate(empty), [[NAN, NAN, 0], [NAN, NAN, 1]])
    assert extend_table(encoder, empty, batch=2)[0].kinds == encoder.kinds
    text = FIRST.assign(age=pd.Series([None, None], dtype="str"))
    np.testing.assert_array_equal(encoder.translate(text)[:, 0], [NAN, NAN])
