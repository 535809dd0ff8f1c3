"""Matrices back to tables: what an encoder reads in the table is the matrix again, in every library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adforest.encoding.rebuilding import as_frame, rebuilt_table
from adforest.encoding.tables import read_table
from encoded_tables import learn_table

FRAME = pd.DataFrame(
    {
        "number": [1.5, None, 3.0],
        "text": ["x", None, "y"],
        "category": pd.Categorical([7, 8, None]),
        "date": pd.to_datetime(["2020-01-01", "2021-01-01 10:00:01.5", None], format="ISO8601"),
        "zoned": pd.to_datetime(["2020-01-01", "2021-06-01", None], utc=True),
        "duration": pd.to_timedelta([1, 2, None], unit="s"),
        "nothing": [np.nan] * 3,
    }
)


@pytest.mark.parametrize(
    ("table", "library", "kind"),
    [
        (FRAME, "pandas", pd.DataFrame),
        (pl.from_pandas(FRAME.drop(columns="category")), "polars", pl.DataFrame),
        (pa.Table.from_pandas(FRAME.drop(columns="category")), "pyarrow", pd.DataFrame),
    ],
)
def test_a_rebuilt_frame_is_read_as_the_matrix_that_it_was_built_from(table, library, kind):
    assert read_table(table, "batch 1", "").library == library
    encoder, matrix = learn_table(table)
    frame = as_frame(rebuilt_table(encoder, matrix, library))
    assert type(frame) is kind
    listed = np.flatnonzero(encoder.is_categorical)
    again, same = learn_table(frame, listed)
    assert again.names == encoder.names
    assert again.kinds == encoder.kinds
    np.testing.assert_array_equal(same, matrix)
    assert [again.category_values(j) for j in listed] == [encoder.category_values(j) for j in listed]


def test_categories_that_were_never_learnt_are_missing():
    encoder, _ = learn_table(FRAME[["text"]])
    matrix = encoder.translate(pd.DataFrame({"text": ["y", "new"]}))
    assert as_frame(rebuilt_table(encoder, matrix, "pandas"))["text"].tolist()[0] == "y"
    assert as_frame(rebuilt_table(encoder, matrix, "pandas"))["text"].isna().tolist() == [False, True]


def test_names_that_are_no_text():
    for columns in ([0, 1], pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])):
        frame = pd.DataFrame([["x", 1.0], ["y", 2.0]], columns=columns)
        rebuilt = as_frame(rebuilt_table(*learn_table(frame), "pandas"))
        assert rebuilt.columns.tolist() == frame.columns.tolist()
        assert rebuilt.to_numpy().tolist() == frame.to_numpy().tolist()


def test_tables_without_names_are_arrays():
    numbers = np.array([[1.0, np.nan], [2.0, 3.0]])
    np.testing.assert_array_equal(as_frame(rebuilt_table(*learn_table(numbers), None)), numbers)
    mixed = as_frame(rebuilt_table(*learn_table([["x", 1.0], [None, 2.0]]), None))
    assert mixed.tolist() == [["x", 1.0], [None, 2.0]]


@pytest.mark.parametrize("index", [np.array([2, 0]), np.array([True, False, True])])
@pytest.mark.parametrize("names", [list(FRAME), ["number"]])
def test_rows_of_a_table_are_those_of_its_matrix(names, index):
    encoder, matrix = learn_table(FRAME[names])
    part = read_table(FRAME[names], "batch 1", "").rows(index)
    assert (part.n_samples, part.library) == (2, "pandas")
    np.testing.assert_array_equal(encoder.translate(part), matrix[index])
