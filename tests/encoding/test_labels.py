"""Labels become codes in order of arrival by batch; what is no label says so."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from adforest import AdaptiveDecisionForestClassifier
from adforest.encoding import check_same_length
from encoded_tables import extend_labels, learn_labels

WORDS = ["sit", "walk", "sit", "run"]


@pytest.mark.parametrize(
    "y",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        np.array(WORDS, dtype=np.dtypes.StringDType()),
        pd.Series(WORDS),
        pd.Series(WORDS, dtype="category"),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pa.array(WORDS),
        pa.chunked_array([WORDS[:1], WORDS[1:]]),
        pa.array(WORDS).dictionary_encode(),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}",
)
def test_text_from_anywhere(y):
    labels, codes = learn_labels(y)
    assert codes.tolist() == [1, 2, 1, 0]
    assert codes.dtype == np.int32
    assert labels.by_arrival.tolist() == ["run", "sit", "walk"]
    assert labels.is_sorted
    assert labels.classes.tolist() == ["run", "sit", "walk"]
    assert labels.by_arrival[labels.order].tolist() == labels.classes.tolist()


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        (np.array([3, 1], dtype=np.uint8), np.uint8),
        (np.array([3, 1], dtype=object), np.int64),
        ([3, 1], np.int64),
        ([3.0, 1.0], np.float64),
        ([True, False], np.bool_),
        (pd.Series([3, 1], dtype="Int64"), np.int64),
        (pd.Series([True, False], dtype="boolean"), np.bool_),
        (pl.Series([3, 1], dtype=pl.Int8), np.int8),
        (pa.array([3, 1]), np.int64),
    ],
)
def test_numbers_keep_their_dtype(y, dtype):
    labels, codes = learn_labels(y)
    assert codes.tolist() == [1, 0]
    assert labels.classes.dtype == dtype
    np.testing.assert_array_equal(labels.classes, np.unique(np.asarray(y).astype(dtype)))


@given(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=8), min_size=1, max_size=5), st.booleans())
def test_every_label_comes_back(batches, as_text):
    batches = [np.array([f"{'x' * abs(n)}{n}" for n in batch]) if as_text else np.array(batch) for batch in batches]
    labels, _ = learn_labels(batches[0])
    for batch in batches:
        labels, codes = extend_labels(labels, batch)
        np.testing.assert_array_equal(labels.by_arrival[codes], batch)
    every = np.concatenate(batches)
    np.testing.assert_array_equal(labels.classes, np.unique(every))
    assert labels.classes.dtype == np.unique(every).dtype or as_text
    sorted_by_batch = [value for batch in batches for value in sorted(batch.tolist())]
    assert labels.by_arrival.tolist() == list(dict.fromkeys(sorted_by_batch))
    assert labels.is_sorted == (labels.by_arrival.tolist() == labels.classes.tolist())


def test_the_old_table_stays_as_it_was():
    labels, _ = learn_labels(["b", "a"])
    grown, codes = extend_labels(labels, ["much longer", "a"], batch=2)
    assert codes.tolist() == [2, 0]
    assert labels.classes.tolist() == ["a", "b"]
    assert grown.classes.tolist() == ["a", "b", "much longer"]
    assert extend_labels(labels, ["a"])[0] is labels


def test_whole_floats_join_integers():
    labels, _ = learn_labels(np.array([1, 2], dtype=np.uint8))
    grown, codes = extend_labels(labels, [2.0, -1.0, 300.0])
    assert codes.tolist() == [1, 2, 3]
    assert grown.classes.dtype.kind == "i"
    assert grown.classes.tolist() == [-1, 1, 2, 300]


def test_declared_classes_are_known_before_they_come():
    labels, _ = learn_labels([5, 2])
    declared = labels.declare([9, 2, 0])
    assert declared.by_arrival.tolist() == [2, 5, 0, 9]
    assert declared.classes.tolist() == [0, 2, 5, 9]
    assert declared.declare(np.array([9])) is declared
    assert labels.classes.tolist() == [2, 5]
    with pytest.raises(TypeError, match=r"the classes declared are text \('a'\) but the model learnt numbers \(2\)"):
        labels.declare(["a"])


def test_pickled_tables_answer_alike():
    labels, codes = learn_labels(WORDS)
    assert extend_labels(pickle.loads(pickle.dumps(labels)), WORDS)[1].tolist() == codes.tolist()


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([0.5, 1.0], ValueError, "Unknown label type: continuous. the labels of batch 1 hold numbers such as 0.5"),
        ([1.0, np.nan], ValueError, "Input y contains NaN: the labels of batch 1 lack 1 value; .* Drop the samples"),
        (["a", None], ValueError, "Input y contains NaN"),
        (["a", np.nan, np.nan], ValueError, "Input y contains NaN: the labels of batch 1 lack 2 values"),
        (pd.Series(["a", None]), ValueError, "Input y contains NaN"),
        (pd.Series([1, None], dtype="Int64"), ValueError, "Input y contains NaN"),
        (pl.Series(["a", None]), ValueError, "Input y contains NaN"),
        (pa.array([1, None]), ValueError, "Input y contains NaN"),
        ([1.0, np.inf], ValueError, "Input y contains infinity"),
        ([1, "a"], TypeError, "the labels of batch 1 mix values of type int and str; expected all text or all numbers"),
        (np.ones((2, 2)), ValueError, "y should be a 1d array"),
        (np.array([{}, {}]), ValueError, "Unknown label type: unknown. the labels of batch 1 hold values of type dict"),
        (np.array(["2020-01-01"], dtype="M8[D]"), ValueError, "Unknown label type: datetime64"),
        (np.array([b"a"]), ValueError, "Unknown label type: .* must be text, integers or booleans"),
    ],
)
def test_what_is_no_label_says_so(y, error, message):
    with pytest.raises(error, match=message):
        learn_labels(y)


def test_text_and_numbers_do_not_mix_between_batches():
    with pytest.raises(TypeError, match=r"the labels of batch 3 are numbers \(1\) but the model learnt text \('b'\)"):
        extend_labels(learn_labels(["b"])[0], [1], batch=3)
    with pytest.raises(TypeError, match=r"the labels of batch 3 are text \('b'\) but the model learnt numbers \(1\)"):
        extend_labels(learn_labels([1])[0], ["b"], batch=3)


def test_column_vectors_warn_as_in_scikit_learn():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert learn_labels(np.array([[2], [1], [2]]))[1].tolist() == [1, 0, 1]


def test_one_label_a_sample():
    check_same_length(3, 3, "batch 7")
    with pytest.raises(ValueError, match=r"samples: \[2, 3\]; batch 7 has 2 samples but 3 labels. Pass one label"):
        check_same_length(2, 3, "batch 7")
    with pytest.raises(ValueError, match="there are 2 samples but 1 label"):
        check_same_length(2, 1)


def test_labels_that_look_like_measurements_are_warned_of():
    X, y = np.arange(600.0).reshape(-1, 1), np.random.default_rng(0).integers(0, 5_000, 600)
    model = AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0)
    with pytest.warns(
        UserWarning, match=r"unique classes is greater than 50% .*: batch 1 has 566 in 600 samples"
    ) as told:
        model.fit(X, y)
    assert told[0].filename == __file__
    model.partial_fit(X, y + 5_000)  # said once
    AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0).fit(X[:20], y[:20])  # too few to tell
    AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0).fit(X, y % 300)
