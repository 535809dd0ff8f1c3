"""Bad input is refused and changes nothing."""

import numpy as np
import pandas as pd
import pytest

from small_forests import forest
from whole_models import FRAME, RENT, assert_same, clusters, snapshot, with_

BAD_TABLES = {
    "an extra column": (with_(age=1), RENT, ["4 columns", "learnt 3", "'age'", "Drop it"]),
    "a missing column": (FRAME.drop(columns="beds"), RENT, ["2 columns", "learnt 3", "'beds'", "Add it"]),
    "a renamed column": (FRAME.rename(columns={"beds": "rooms"}), RENT, ["'rooms'", "'beds'", "Rename"]),
    "a column twice": (pd.concat([FRAME, FRAME[["beds"]]], axis=1), RENT, ["'beds'", "2 times", "Rename or drop"]),
    "text for numbers": (with_(beds=list("abcd")), RENT, ["'beds'", "text ('a', 'b', 'c')", "pd.to_numeric"]),
    "numbers for text": (with_(kind=[1, 2, 3, 4]), RENT, ["'kind'", "numbers (1.0)", "text ('flat')", "Convert"]),
    "dates for numbers": (with_(beds=pd.to_datetime(["2020-01-01"] * 4)), RENT, ["'beds'", "datetime64", "Convert"]),
    "infinity": (with_(area=[np.inf, 1, 2, 3]), RENT, ["infinity", "'area'", "Replace it"]),
    "minus infinity": (with_(area=[1, -np.inf, 2, 3]), RENT, ["infinity", "'area'", "Replace it"]),
    "an empty batch": (FRAME[:0], RENT[:0], ["0 sample"]),
    "no columns": (FRAME[[]], RENT, ["0 feature"]),
    "too few labels": (FRAME, RENT[:3], ["4 samples but 3 labels", "one label per sample"]),
    "too many labels": (FRAME, np.append(RENT, "low"), ["4 samples but 5 labels"]),
    "a missing label": (FRAME, ["low", None, "low", "high"], ["NaN", "lack 1 value", "Drop"]),
    "a NaN label": (FRAME, np.array(["low", np.nan, "low", "high"], dtype=object), ["NaN", "lack 1 value", "Drop"]),
    "numbers as labels": (FRAME, [0, 1, 0, 1], ["numbers (0)", "learnt text ('high')", "Convert"]),
    "mixed labels": (FRAME, ["low", 1, "low", "high"], ["int and str", "Convert them to text"]),
    "2-d labels": (FRAME, np.array([["low", "high"]] * 4), ["1d array", "shape (4, 2)"]),
    "no labels": (FRAME, None, ["requires y"]),
    "a number as X": (3.0, RENT, ["Expected 2D array"]),
    "1-d X": ([1.0, 2.0, 3.0, 4.0], RENT, ["Expected 2D array"]),
    "3-d X": (np.zeros((4, 3, 2)), RENT, ["dim 3"]),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_table_is_refused_and_changes_nothing(name):
    X, y, words = BAD_TABLES[name]
    model = forest().partial_fit(FRAME, RENT)
    before = snapshot(model, FRAME)
    with pytest.raises((ValueError, TypeError)) as error:
        model.partial_fit(X, y)
    for word in words:
        assert word in str(error.value)
    assert_same(model, FRAME, before)
    model.partial_fit(FRAME, RENT)
    twin = forest().partial_fit(FRAME, RENT).partial_fit(FRAME, RENT)
    np.testing.assert_array_equal(model.predict_proba(FRAME), twin.predict_proba(FRAME))


BAD_ARRAYS = {
    "an extra column": (np.zeros((4, 4)), [0, 1, 0, 1], ["4 features", "expecting 3"]),
    "a missing column": (np.zeros((4, 2)), [0, 1, 0, 1], ["2 features", "expecting 3"]),
    "text": ([["a", 1, 2]] * 4, [0, 1, 0, 1], ["column 0", "text ('a')", "numbers"]),
    "complex numbers": (np.zeros((4, 3), dtype=complex), [0, 1, 0, 1], ["Complex"]),
    "infinity": (np.full((4, 3), np.inf), [0, 1, 0, 1], ["infinity"]),
    "empty": (np.empty((0, 3)), [], ["0 sample"]),
    "continuous labels": (np.zeros((4, 3)), [0.5, 1.5, 0.1, 0.2], ["continuous", "0.5"]),
    "infinite labels": (np.zeros((4, 3)), [0, 1, np.inf, 1], ["infinity"]),
    "NaN labels": (np.zeros((4, 3)), [0, 1, np.nan, 1], ["NaN"]),
    "text as labels": (np.zeros((4, 3)), list("abab"), ["text ('a')", "learnt numbers"]),
    "2-d labels": (np.zeros((4, 3)), np.zeros((4, 2)), ["1d array", "(4, 2)"]),
    "objects as labels": (np.zeros((4, 3)), [object()] * 4, ["type object"]),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_a_bad_array_is_refused_and_changes_nothing(name):
    X, y, words = BAD_ARRAYS[name]
    good = clusters(0)
    model = forest().partial_fit(*good)
    before = snapshot(model, good[0])
    with pytest.raises((ValueError, TypeError)) as error:
        model.partial_fit(X, y)
    for word in words:
        assert word in str(error.value)
    assert_same(model, good[0], before)


@pytest.mark.parametrize("name", ["text", "complex numbers", "infinity", "empty", "continuous labels", "2-d labels"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bad_first_batch_leaves_nothing_learnt(name, method):
    X, y, _ = BAD_ARRAYS[name]
    if name == "text":
        X = [["a", 1, 2], [1, 2, 3], ["b", 1, 2], ["c", 1, 2]]  # text alone is welcome in a first batch
    model = forest()
    with pytest.raises((ValueError, TypeError)):
        getattr(model, method)(X, y)
    assert not hasattr(model, "classes_")
    assert model.fit(*clusters(0)).classes_.tolist() == [0, 1]


def test_a_failing_fit_leaves_what_was_learnt_before():
    good = clusters(0)
    model = forest().fit(*good).partial_fit(*clusters(1))
    before = snapshot(model, good[0])
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((4, 2), np.inf), [0, 1, 0, 1])
    assert_same(model, good[0], before)


def test_bad_parameters_and_bad_classes_leave_what_was_learnt_before():
    good = clusters(0)
    model = forest().fit(*good)
    before = snapshot(model, good[0])
    with pytest.raises(TypeError, match="classes declared are text"):
        model.partial_fit(*clusters(1), classes=["a"])
    assert_same(model, good[0], before)
    model.set_params(answer_for="tomorrow")
    with pytest.raises(ValueError, match="answer_for"):
        model.partial_fit(*clusters(1))
    model.set_params(answer_for="next_batch")
    assert_same(model, good[0], before)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("name", ["an extra column", "a missing column", "text", "infinity", "empty"])
def test_bad_records_to_be_predicted_are_refused(name, method):
    X, _, words = BAD_ARRAYS[name]
    model = forest().fit(*clusters(0))
    with pytest.raises((ValueError, TypeError)) as error:
        getattr(model, method)(X)
    assert any(word in str(error.value) for word in words)


def test_an_error_names_the_batch():
    model = forest().partial_fit(FRAME, RENT).partial_fit(FRAME, RENT)
    with pytest.raises(ValueError, match="batch 3 has 4 columns but the model learnt 3; the extra one is 'age'"):
        model.partial_fit(with_(age=1), RENT)
