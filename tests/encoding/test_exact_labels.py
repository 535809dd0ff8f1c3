"""Class values stay exactly what they are, in a batch and across batches, or the error says what to pass."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier
from encoded_tables import extend_labels, learn_labels

BIG = 2**63 + 1  # a uint64 that float64 cannot hold
ODD = 2**53 + 1  # an int64 that float64 cannot hold


@pytest.mark.parametrize(
    "y",
    [
        [ODD - 1, ODD, ODD + 1],
        np.array([ODD - 1, ODD, ODD + 1]),
        np.array([ODD - 1, ODD, ODD + 1], dtype=object),
        np.array([BIG - 1, BIG, BIG + 1], dtype=np.uint64),
        [BIG - 1, BIG, BIG + 1],
        [np.uint64(BIG - 1), np.uint64(BIG), np.int64(7)],
        pd.Series([ODD - 1, ODD, ODD + 1], dtype="Int64"),
        pd.Series([BIG - 1, BIG, BIG + 1], dtype="UInt64"),
        pd.Series([BIG - 1, BIG, BIG + 1], dtype=pd.ArrowDtype(pa.uint64())),
        pd.Categorical([ODD - 1, ODD, ODD + 1]),
        pl.Series([BIG - 1, BIG, BIG + 1], dtype=pl.UInt64),
        pa.array([BIG - 1, BIG, BIG + 1], pa.uint64()),
        pa.chunked_array([[ODD - 1, ODD], [ODD + 1]]),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}",
)
def test_large_integers_stay_apart(y):
    labels, codes = learn_labels(y)
    assert labels.classes.dtype.kind in "iu"
    assert labels.by_arrival[codes].tolist() == np.asarray(y, dtype=object).tolist()
    assert len(labels.classes) == 3


def test_int64_and_uint64_join_without_floats():
    labels, _ = learn_labels(np.array([1, ODD]))
    grown, codes = extend_labels(labels, np.array([ODD + 1, ODD], dtype=np.uint64))
    assert grown.classes.dtype == np.int64
    assert grown.classes.tolist() == [1, ODD, ODD + 1]
    assert codes.tolist() == [2, 1]
    wide, _ = extend_labels(grown, np.array([BIG, BIG + 1], dtype=np.uint64))
    assert wide.classes.dtype == np.uint64
    assert wide.classes.tolist() == [1, ODD, ODD + 1, BIG, BIG + 1]
    back, codes = extend_labels(wide, np.array([5, ODD]))
    assert back.classes.tolist() == [1, 5, ODD, ODD + 1, BIG, BIG + 1]
    assert codes.tolist() == [5, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [-1, BIG],
            f"the labels of batch 1 bring class values from -1 to {BIG}, which no 64-bit integer type holds exactly. "
            "Convert them to text.",
        ),
        (
            [0, 2**64],
            f"the labels of batch 1 bring class values from 0 to {2**64}, which no 64-bit integer type holds exactly. "
            "Convert them to text.",
        ),
        (
            [2.0**53, 1.0],
            f"the labels of batch 1 hold {2**53} as float64, which does not tell it from its neighbours. Pass integers "
            "in every batch, or text.",
        ),
        (
            np.array([2**24], dtype=np.float32),
            f"the labels of batch 1 hold {2**24} as float32, which does not tell it from its neighbours. Pass integers "
            "in every batch, or text.",
        ),
        (
            [ODD, 2.0**60],
            f"the labels of batch 1 hold {2**60} as float64, which does not tell it from its neighbours. Pass integers "
            "in every batch, or text.",
        ),
    ],
)
def test_what_no_type_holds_is_refused(y, message):
    with pytest.raises(ValueError) as error:
        learn_labels(y)
    assert str(error.value) == message


def test_what_no_type_holds_is_refused_in_a_later_batch():
    with pytest.raises(ValueError, match=f"labels of batch 2 bring class values from -1 to {BIG}, which no 64-bit"):
        extend_labels(learn_labels([-1, 3])[0], np.array([BIG], dtype=np.uint64), batch=2)
    floats, _ = learn_labels([1.0, 2.0])
    with pytest.raises(ValueError, match=f"the labels of batch 2 hold {ODD} as float64, which does not tell it from"):
        extend_labels(floats, [3, ODD], batch=2)
    assert extend_labels(floats, [3])[0].classes.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=f"the classes declared bring class values from 0 to {2**64}"):
        learn_labels([1])[0].declare([0, 2**64])


def test_whole_numbers_and_whole_floats_in_one_list_are_integers():
    labels, codes = learn_labels([ODD, 1.0, 2])
    assert labels.classes.tolist() == [1, 2, ODD]
    assert labels.classes.dtype == np.int64
    assert codes.tolist() == [2, 0, 1]


def test_texts_that_end_in_a_null_stay_apart():
    labels, codes = learn_labels(["a", "a\0", "b"])
    assert labels.classes.tolist() == ["a", "a\0", "b"]
    assert codes.tolist() == [0, 1, 2]
    grown, _ = extend_labels(learn_labels(["a"])[0], ["a\0"])
    assert grown.classes.tolist() == ["a", "a\0"]


KINDS = {"text": ["a"], "numbers": [1], "booleans": [True]}


@pytest.mark.parametrize("learnt", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_two_kinds_mix_across_batches(learnt, kind):
    labels, _ = learn_labels(KINDS[learnt])
    if learnt == kind:
        assert extend_labels(labels, KINDS[kind], batch=4)[0] is labels
        return
    with pytest.raises(TypeError) as error:
        extend_labels(labels, KINDS[kind], batch=4)
    assert str(error.value) == (
        f"the labels of batch 4 are {kind} ({KINDS[kind][0]!r}) but the model learnt {learnt} ({KINDS[learnt][0]!r}). "
        f"Convert them to {learnt}, or start a new model with fit()."
    )


@pytest.mark.parametrize("y", [[True, 2], [np.True_, 0.0], np.array([True, 1], dtype=object), (1, False)])
def test_booleans_and_numbers_do_not_mix_within_a_batch(y):
    with pytest.raises(
        TypeError, match=r"^the labels of batch 1 mix values of type bool_? and (int|float)|int and bool"
    ):
        learn_labels(y)


def test_a_class_may_be_called_na():
    labels, codes = learn_labels(["NA", "nan", "None", "", "NA"])
    assert labels.by_arrival[codes].tolist() == ["NA", "nan", "None", "", "NA"]


INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 1, ODD, ODD - 1, ODD + 1])


@given(st.lists(st.lists(INTEGERS, min_size=1, max_size=6), min_size=1, max_size=4), st.data())
def test_integers_come_back_exactly_whatever_holds_them(batches, data):
    labels, _ = learn_labels(batches[0])
    for number, batch in enumerate(batches):
        holders = [list, np.array, lambda y: pd.Series(y, dtype="Int64"), pl.Series, pa.array]
        y = data.draw(st.sampled_from(holders))(batch)
        labels, codes = extend_labels(labels, y)
        assert labels.by_arrival[codes].tolist() == batch
        assert labels.classes.tolist() == sorted({value for one in batches[: number + 1] for value in one})


@given(st.lists(st.text(max_size=4), min_size=1, max_size=8), st.sampled_from([list, pd.Series, pl.Series, pa.array]))
@example(["\x00", "a\x00"], pl.Series)  # NumPy drops zeros at the end of text
def test_texts_come_back_exactly(words, holder):
    labels, codes = learn_labels(holder(words))
    assert labels.by_arrival[codes].tolist() == words


def test_bad_labels_leave_the_model_as_it_was():
    model = AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0).fit(np.eye(4), [1, 2, 1, 2])
    for bad in ([True, False] * 2, [1, True, 1, 2], [-1, BIG, 1, 2], [2.0**60] * 4, list("abab")):
        with pytest.raises((TypeError, ValueError)):
            model.partial_fit(np.eye(4), bad)
    assert model.classes_.tolist() == [1, 2]
    assert len(model.history_) == 1
