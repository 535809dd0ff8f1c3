"""Every kind of table that arrives becomes the same matrix, or an error that says what to do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from encoded_tables import extend_table, learn_table

NAN = np.nan
SIZES, COLOURS, FLAGS = [1.5, None, 3.0], ["red", "blue", None], [True, False, True]
EXPECTED = [[1.5, 0, 1], [NAN, 1, 0], [3.0, NAN, 1]]

SAMPLES = [list(sample) for sample in zip(SIZES, COLOURS, FLAGS, strict=True)]
COLUMNS = {"size": SIZES, "colour": COLOURS, "flag": FLAGS}
SAME_TABLE = {
    "list": SAMPLES,
    "tuple": tuple(map(tuple, SAMPLES)),
    "object array": np.array(SAMPLES, dtype=object),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas object": pd.DataFrame(COLUMNS, dtype=object),
    "pandas categorical": pd.DataFrame(COLUMNS).astype({"colour": pd.CategoricalDtype(["blue", "green", "red"])}),
    "pandas nullable": pd.DataFrame(COLUMNS).astype({"size": "Float64", "colour": "string", "flag": "boolean"}),
    "pandas on arrow": pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS, schema_overrides={"colour": pl.Categorical}),
    "polars enum": pl.DataFrame(COLUMNS, schema_overrides={"colour": pl.Enum(["blue", "green", "red"])}),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow large": pa.table({**COLUMNS, "colour": pa.array(COLOURS, pa.large_string())}),
    "pyarrow dictionary": pa.table({**COLUMNS, "colour": pa.array(COLOURS).dictionary_encode()}),
    "pyarrow dictionary of views": pa.table(
        {
            **COLUMNS,
            "colour": pa.DictionaryArray.from_arrays(
                pa.array(COLOURS).dictionary_encode().indices,
                pa.array(COLOURS).dictionary_encode().dictionary.cast(pa.string_view()),
            ),
        }
    ),
    "pyarrow chunks": pa.concat_tables([pa.table(COLUMNS)[:1], pa.table(COLUMNS)[1:]]),
    "pyarrow batch": pa.record_batch(COLUMNS),
}


@pytest.mark.parametrize("X", SAME_TABLE.values(), ids=SAME_TABLE.keys())
def test_the_same_table_becomes_the_same_matrix(X):
    encoder, matrix = learn_table(X)
    np.testing.assert_array_equal(matrix, EXPECTED)
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert encoder.n_features == 3
    assert encoder.n_categories.tolist() == [0, 2, 0]
    assert encoder.n_categories.dtype == np.int32
    assert encoder.is_categorical.tolist() == [False, True, False]
    assert encoder.category_values(1) == ["red", "blue"]
    assert encoder.category_values(0) == []
    np.testing.assert_array_equal(encoder.translate(X), EXPECTED)


@pytest.mark.parametrize("X", list(SAME_TABLE.values())[3:], ids=list(SAME_TABLE)[3:])
def test_frames_give_their_names(X):
    names = learn_table(X)[0].feature_names
    assert names.dtype == object
    assert names.tolist() == ["size", "colour", "flag"]


@pytest.mark.parametrize("X", SAME_TABLE.values(), ids=SAME_TABLE.keys())
def test_what_one_library_taught_another_may_ask(X):
    named = not isinstance(X, (list, tuple, np.ndarray))
    encoder, _ = learn_table(pl.DataFrame(COLUMNS) if named else SAMPLES)
    np.testing.assert_array_equal(encoder.translate(X), EXPECTED)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ">f8", "int64", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_of_any_width_and_order(dtype, order):
    X = np.array([[0, 1], [1, 1], [1, 0]], dtype=dtype, order=order)
    encoder, matrix = learn_table(X)
    for answer in (matrix, encoder.translate(X), extend_table(encoder, X, batch=2)[1]):
        np.testing.assert_array_equal(answer, X.astype(np.float64))
        assert answer.dtype == np.dtype("=f8")
        assert answer.flags.c_contiguous


def test_float_arrays_are_not_copied():
    X = np.arange(6.0).reshape(3, 2)
    encoder, matrix = learn_table(X)
    assert np.shares_memory(matrix, X)
    assert encoder.translate(X) is X


def test_masked_values_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(learn_table(X)[1], [[1, NAN], [3, 4]])


def test_every_kind_of_missing_is_nan():
    X = np.array([[1.0, "a"], [None, None], [NAN, NAN], [pd.NA, pd.NA], [pd.NaT, pd.NaT]], dtype=object)
    np.testing.assert_array_equal(learn_table(X)[1], [[1, 0]] + [[NAN, NAN]] * 4)


def test_whole_frames_of_numbers():
    columns = {"a": [1, 2], "b": [0.5, None], "c": [True, False]}
    expected = [[1, 0.5, 1], [2, NAN, 0]]
    decimals = pl.DataFrame(columns).with_columns(pl.col("a").cast(pl.Decimal(10, 2)))
    frames = [pd.DataFrame(columns), pd.DataFrame(columns).convert_dtypes(), pl.DataFrame(columns), pa.table(columns)]
    for frame in [*frames, decimals]:
        np.testing.assert_array_equal(learn_table(frame)[1], expected)


def test_columns_without_any_value():
    frames = [pd.DataFrame({"a": [None, None]}, dtype=object), pl.DataFrame({"a": [None, None]})]
    for frame in [*frames, pa.table({"a": pa.nulls(2)}), [[None], [None]]]:
        encoder, matrix = learn_table(frame)
        assert np.isnan(matrix).all()
        assert not encoder.is_categorical.any()
    # A text dtype does not decide either: a reader of files calls a column so that is empty so far.
    for frame in (pd.DataFrame({"a": [None]}, dtype="str"), pl.DataFrame({"a": [None]}, schema={"a": pl.String})):
        encoder, _ = learn_table(frame)
        assert encoder.kinds == ("undecided",)
        assert extend_table(encoder, pd.DataFrame({"a": ["x"]}), 2)[1] == [[0]]
        assert extend_table(encoder, pd.DataFrame({"a": [7]}), 2)[1] == [[7]]


def test_numpy_text_is_categorical_throughout():
    for dtype in ("U", "S", np.dtypes.StringDType()):
        with pytest.warns(
            UserWarning, match=r"column 0 of batch 1 .* \('1', '2'\).*pd.to_numeric\(pd.Series\(X\[:, 0\]\)"
        ):
            encoder, matrix = learn_table(np.array([["1", "a"], ["2", "a"]]).astype(dtype))
        assert matrix.tolist() == [[0, 0], [1, 0]]
        assert encoder.category_values(0) == ["1", "2"]


@given(
    st.lists(st.tuples(st.floats(allow_infinity=False) | st.none(), st.sampled_from("abcde") | st.none()), min_size=1)
)
def test_lists_pandas_polars_and_pyarrow_agree(samples):
    numbers, texts = ([sample[i] for sample in samples] for i in (0, 1))
    columns = {"number": pa.array(numbers, pa.float64()), "text": pa.array(texts, pa.string())}
    table = pa.table(columns)
    encoder, matrix = learn_table(table)
    for frame in (table.to_pandas(), pl.from_arrow(table)):
        other, same = learn_table(frame, ["text"])
        np.testing.assert_array_equal(same, matrix)
        assert other.category_values(1) == encoder.category_values(1)
    np.testing.assert_array_equal(learn_table([list(sample) for sample in samples], [1])[1], matrix)
    values = encoder.category_values(1)
    assert [None if np.isnan(code) else values[int(code)] for code in matrix[:, 1]] == texts


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.ones(3), ValueError, "Expected 2D array, got 1D array instead(.|\n)*Reshape your data"),
        ([1.0, 2.0], ValueError, "Expected 2D array, got 1D array instead"),
        (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported: column 'a'"),
        (np.ones((0, 3)), ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.ones((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (pd.DataFrame({"a": []}), ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pl.DataFrame({"a": []}), ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        ([[1, np.inf]], ValueError, "infinity .*: see column 1 of batch 1. Replace it"),
        (pd.DataFrame({"a": [-np.inf], "b": ["x"]}), ValueError, "infinity .*: see column 'a' of batch 1"),
        (pd.DataFrame({"a": pd.Categorical([np.inf])}), ValueError, "infinity .*: see column 'a'"),
        (sparse.csr_array(1j * np.eye(2)), ValueError, "Complex data not supported"),
        (np.array([[{"a": 1}, 2.0]], dtype=object), TypeError, "argument must be .* string.* number"),
        (np.array([["a"], [{}]], dtype=object), TypeError, "column 0 of batch 1 mixes text with other objects"),
        (np.array([["a"], [1]], dtype=object), TypeError, r"numbers \(1\) and text \('a'\); .*pd.to_numeric"),
        (np.array([[b"a"]], dtype=object), TypeError, "values of type bytes .*Convert the whole column to text"),
        (pd.DataFrame({"a": [[1], [2]]}), TypeError, "column 'a' of batch 1 holds values of type list"),
        (pl.DataFrame({"a": [[1], [2]]}), TypeError, "column 'a' of batch 1 holds values of type List"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "column name 'a' occurs 2 times in batch 1"),
        (pa.table([[1], [2]], names=["a", "a"]), ValueError, "column name 'a' occurs 2 times in batch 1"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), TypeError, r"string names, but your input has \['int', 'str'\]"),
    ],
)
def test_what_cannot_be_read_says_so(X, error, message):
    with pytest.raises(error, match=message):
        learn_table(X)


def test_number_names_are_no_names():
    encoder, matrix = learn_table(pd.DataFrame([[1, 2]]))
    assert encoder.feature_names is None
    assert encoder.translate(np.array([[1.0, 2.0]])).tolist() == matrix.tolist()


def test_infinity_is_refused_on_every_path():
    X = np.array([[1.0, 2.0]])
    encoder, _ = learn_table(X)
    for call in (encoder.translate, lambda X: extend_table(encoder, X, batch=3)):
        with pytest.raises(ValueError, match="infinity"):
            call(np.array([[1.0, -np.inf]]))
    np.testing.assert_array_equal(encoder.translate(np.array([[1.0, NAN]])), [[1, NAN]])


def test_no_data_frame_library_is_needed():
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from encoded_tables import learn_labels, learn_table
print(learn_table([[1.0, "a"], [None, "b"]])[1].tolist(), learn_labels(["x", "y"])[1].tolist())
"""
    tests = Path(__file__).parents[1]
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tests)
    assert answer.stdout.strip() == "[[1.0, 0.0], [nan, 1.0]] [0, 1]"
