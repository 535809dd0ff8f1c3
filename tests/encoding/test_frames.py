"""Data frames of every library, dates among their columns; and what is no table says what to pass instead."""

import datetime as dt
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

from adforest import AdaptiveDecisionForestClassifier
from encoded_tables import extend_table, learn_table

NAN = np.nan
NEW_YEAR = 1_577_836_800.0  # 2020-01-01 in seconds since 1970


# --- numbers of every type


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, None, 1], dtype="Int64"),
        pd.Series([3, None, 1], dtype="UInt8"),
        pd.Series([3, None, 1], dtype="Float32"),
        pd.Series([3, None, 1], dtype=pd.ArrowDtype(pa.int16())),
        pd.Series([3, None, 1], dtype=pd.ArrowDtype(pa.float32())),
        pd.Series([3, None, 1], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
        pd.Series(pd.arrays.SparseArray([3.0, NAN, 1.0])),
        pd.Series([3, None, 1], dtype=object),
        pl.Series([3, None, 1]),
        pl.Series([3, None, 1], dtype=pl.UInt64),
        pl.Series([3, None, 1], dtype=pl.Float32),
        pl.Series([3, None, 1], dtype=pl.Decimal(9, 2)),
        pa.array([3, None, 1]),
        pa.array([3, None, 1], pa.float32()),
        pa.array([3, None, 1], pa.decimal128(9, 2)),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', None) or column.type}",
)
@pytest.mark.parametrize("text", [True, False])
def test_numbers_of_every_type(column, text):
    build = (
        pa.table if isinstance(column, pa.Array) else pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    )
    encoder, matrix = learn_table(build({"a": column, "b": ["x", "y", "x"]} if text else {"a": column}))
    np.testing.assert_array_equal(matrix[:, 0], [3, NAN, 1])
    assert encoder.kinds[0] == "numbers"


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, None], dtype="boolean"),
        pd.Series([True, None], dtype=pd.ArrowDtype(pa.bool_())),
        pl.Series([True, None]),
        pa.array([True, None]),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', None) or column.type}",
)
def test_booleans_with_gaps_are_numbers(column):
    build = (
        pa.table if isinstance(column, pa.Array) else pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    )
    np.testing.assert_array_equal(learn_table(build({"a": column}))[1], [[1], [NAN]])


def test_integers_that_no_float_holds_are_rounded_as_numpy_rounds_them():
    odd = 2**53 + 1
    for frame in (pd.DataFrame({"a": [odd]}), pl.DataFrame({"a": [odd]}), pa.table({"a": [odd]}), np.array([[odd]])):
        assert learn_table(frame)[1].tolist() == [[float(odd)]]


def test_object_columns_are_read_to_their_end():
    # Libraries guess what a column of objects holds from its beginning.
    values = [None] * 150 + [1.5, 2.5]
    encoder, matrix = learn_table(pd.DataFrame({"a": pd.Series(values, dtype=object)}))
    assert encoder.kinds == ("numbers",)
    assert matrix[-2:].tolist() == [[1.5], [2.5]]
    mixed = pd.DataFrame({"a": pd.Series(["a"] * 150 + [1], dtype=object)})
    with pytest.raises(TypeError, match=r"column 'a' of batch 1 holds numbers \(1\) and text \('a'\); expected all"):
        learn_table(mixed)


COLUMNS = st.lists(
    st.tuples(
        st.none() | st.integers(-(2**40), 2**40),
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        st.none() | st.booleans(),
        st.none() | st.text("abcü \0", max_size=3),
        st.none() | st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1)),
        st.none() | st.timedeltas(dt.timedelta(-999), dt.timedelta(999)),
    ),
    min_size=1,
    max_size=8,
)


@given(COLUMNS)
def test_every_library_gives_the_same_matrix_and_samples_come_back(samples):
    types = [pa.int64(), pa.float64(), pa.bool_(), pa.string(), pa.timestamp("us"), pa.duration("us")]
    columns = [pa.array([sample[j] for sample in samples], kind) for j, kind in enumerate(types)]
    table = pa.table(columns, names=list("abcdef"))
    encoder, matrix = learn_table(table)
    frames = [
        pl.from_arrow(table),
        table.to_pandas(types_mapper=pd.ArrowDtype),
        table.to_pandas(),
        table.to_pandas().astype(object),
        table.to_batches()[0],
    ]
    for frame in frames:
        other, same = learn_table(frame)
        np.testing.assert_allclose(same, matrix, rtol=1e-15, atol=0)
        assert (other.kinds, other.category_values(3)) == (encoder.kinds, encoder.category_values(3))
        np.testing.assert_allclose(encoder.translate(frame), matrix, rtol=1e-15, atol=0)
    values = encoder.category_values(3)
    assert [None if np.isnan(code) else values[int(code)] for code in matrix[:, 3]] == [sample[3] for sample in samples]


# --- dates and durations


DATES = [dt.date(2020, 1, 1), None, dt.date(2020, 1, 2)]
TIMES = [dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 2)]
UTC_TIMES = [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None, dt.datetime(2020, 1, 2, tzinfo=dt.UTC)]
SPANS = [dt.timedelta(seconds=90), None, dt.timedelta(days=-1, milliseconds=500)]


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (pd.DataFrame({"day": pd.to_datetime(DATES)}), "dates"),
        (pd.DataFrame({"day": pd.to_datetime(DATES).as_unit("ns")}), "dates"),
        (pd.DataFrame({"day": pd.to_datetime(DATES, utc=True)}), "dates with a time zone"),
        (pd.DataFrame({"day": pd.to_datetime(DATES, utc=True).tz_convert("Asia/Tokyo")}), "dates with a time zone"),
        (pd.DataFrame({"day": DATES}, dtype=object), "dates"),
        (pd.DataFrame({"day": UTC_TIMES}, dtype=object), "dates with a time zone"),
        (pd.DataFrame({"day": pd.array(DATES, dtype=pd.ArrowDtype(pa.date32()))}), "dates"),
        (pd.DataFrame({"day": pd.array(TIMES, dtype=pd.ArrowDtype(pa.timestamp("ms")))}), "dates"),
        (pl.DataFrame({"day": DATES}), "dates"),
        (pl.DataFrame({"day": TIMES}), "dates"),
        (pl.DataFrame({"day": UTC_TIMES}), "dates with a time zone"),
        (pa.table({"day": DATES}), "dates"),
        (pa.table({"day": UTC_TIMES}), "dates with a time zone"),
        (np.array([["2020-01-01"], ["NaT"], ["2020-01-02"]], dtype="M8[D]"), "dates"),
        (np.array([["2020-01-01"], ["NaT"], ["2020-01-02"]], dtype="M8[ns]"), "dates"),
        ([[day] for day in DATES], "dates"),
        ([[pd.Timestamp(day)] for day in DATES], "dates"),
        ([[np.datetime64(day)] if day else [np.nan] for day in DATES], "dates"),
        ([[np.datetime64(day)] if day else [None] for day in DATES], "dates"),
    ],
)
def test_dates_are_seconds_since_1970(X, kind):
    encoder, matrix = learn_table(X)
    assert encoder.kinds == (kind,)
    np.testing.assert_array_equal(matrix, [[NEW_YEAR], [NAN], [NEW_YEAR + 86_400]])
    np.testing.assert_array_equal(encoder.translate(X), matrix)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"wait": SPANS}),
        pd.DataFrame({"wait": SPANS}, dtype=object),
        pl.DataFrame({"wait": SPANS}),
        pa.table({"wait": SPANS}),
        np.array([[90_000], ["NaT"], [-86_399_500]], dtype="m8[ms]"),
        [[span] for span in SPANS],
    ],
)
def test_durations_are_seconds(X):
    encoder, matrix = learn_table(X)
    assert encoder.kinds == ("durations",)
    np.testing.assert_array_equal(matrix, [[90], [NAN], [-86_399.5]])


def test_months_and_years_are_dates():
    for text in ("2020-01", "2020"):
        assert learn_table(np.array([[text]], dtype="M8"))[1].tolist() == [[NEW_YEAR]]


KINDS = {
    "numbers": (1.5, "float64"),
    "dates": (dt.datetime(2020, 1, 1), "datetime64[us]"),
    "dates with a time zone": (dt.datetime(2020, 1, 1, tzinfo=dt.UTC), "datetime64[us]"),
    "durations": (dt.timedelta(1), "timedelta64[us]"),
}


@pytest.mark.parametrize("learnt", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_dates_and_durations_do_not_mix(learnt, kind):
    encoder, _ = learn_table(pl.DataFrame({"a": [KINDS[learnt][0]]}))
    frame = pl.DataFrame({"a": [KINDS[kind][0]]})
    if kind == learnt:
        assert extend_table(encoder, frame, batch=2)[0] is encoder
        return
    for call, source in (
        (lambda: extend_table(encoder, frame, batch=2), "batch 2"),
        (lambda: encoder.translate(frame), "these"),
    ):
        with pytest.raises(TypeError, match=f"^column 'a' of {source}") as error:
            call()
        assert str(error.value).endswith(
            f" holds {kind} ({KINDS[kind][1]}) but the model learnt it as {learnt}. Convert it to {learnt}, or start a "
            "new model with fit()."
        )


def test_text_does_not_mix_with_dates():
    encoder, _ = learn_table(pl.DataFrame({"a": TIMES}))
    with pytest.raises(TypeError) as error:
        extend_table(encoder, pl.DataFrame({"a": ["2020-01-01"]}), batch=2)
    assert str(error.value) == (
        "column 'a' of batch 2 holds text ('2020-01-01') but the model learnt it as dates. Convert it to dates with "
        "pd.to_datetime(..., errors='coerce'), or list it in categorical_features and start a new model with fit()."
    )
    with pytest.raises(TypeError) as error:
        learn_table(pl.DataFrame({"a": TIMES}), ["a"])
    assert str(error.value) == (
        "column 'a' of batch 1 holds dates (datetime64[us]) but is categorical. Convert it to text, or leave it out of "
        "categorical_features and start a new model with fit()."
    )
    with pytest.raises(TypeError, match="column 0 of batch 1 mixes values of type date and timedelta; a column is all"):
        learn_table([[dt.date(2020, 1, 1)], [dt.timedelta(1)]])


def test_a_model_learns_from_dates():
    days = pd.date_range("2020-01-01", periods=200)
    frame = pd.DataFrame({"day": days})
    y = (days > "2020-04-01").astype(int)
    model = AdaptiveDecisionForestClassifier(n_estimators=5, random_state=0).fit(frame, y)
    assert model.score(pl.from_pandas(frame), y) == 1


# --- what is no table


SAMPLES = [{"a": 1.0, "b": "x"}]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            pl.LazyFrame({"a": [1]}),
            TypeError,
            "X is a lazy frame (polars.LazyFrame), which holds no samples yet. Collect them: pass X.collect().",
        ),
        (SAMPLES, TypeError, "X is a list of dicts, not a table. Pass pandas.DataFrame(X) or polars.DataFrame(X)."),
        (
            tuple(SAMPLES),
            TypeError,
            "X is a tuple of dicts, not a table. Pass pandas.DataFrame(X) or polars.DataFrame(X).",
        ),
        ({"a": [1.0]}, TypeError, "X is a dict, not a table. Pass pandas.DataFrame(X) or polars.DataFrame(X)."),
        (
            pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), []),
            TypeError,
            "X is a pyarrow RecordBatchReader, not a table. Pass X.read_all(), or its batches one by one.",
        ),
        (
            pd.Series([1.0, 2.0]),
            ValueError,
            "Expected 2D array, got a Series (pandas.Series) instead. Pass a table: X.to_frame() if it is one column, "
            "[X] if it is one sample.",
        ),
        (
            pl.Series([1.0, 2.0]),
            ValueError,
            "Expected 2D array, got a Series (polars.Series) instead. Pass a table: X.to_frame() if it is one column, "
            "[X] if it is one sample.",
        ),
        (
            pl.DataFrame({"a": [dt.time(1, 2)]}),
            TypeError,
            "column 'a' of batch 1 holds values of type Time, which are neither numbers nor text. Convert it to "
            "numbers, or to text if its values are categories.",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table_says_what_to_pass(X, error, message):
    with pytest.raises(error) as raised:
        learn_table(X)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("module", "name", "remedy"),
    [
        ("_duckdb", "DuckDBPyRelation", "Fetch them: pass X.df() or X.pl()."),
        ("duckdb.duckdb", "DuckDBPyRelation", "Fetch them: pass X.df() or X.pl()."),
    ],
)
def test_relations_of_duckdb_are_known_by_their_name(module, name, remedy):
    relation = type(name, (), {"__module__": module})()
    with pytest.raises(TypeError) as raised:
        learn_table(relation)
    assert str(raised.value) == f"X is a lazy frame (duckdb.{name}), which holds no samples yet. {remedy}"


def test_lazy_frames_of_dask_name_the_integration():
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(TypeError, match=r"pass X\.compute\(\), or .* with adforest\.integrations\.dask\."):
        learn_table(dd.from_pandas(pd.DataFrame({"a": [1.0]}), npartitions=1))


def test_one_sample_as_a_series_in_a_list():
    assert learn_table([pd.Series([1.0, 2.0])])[1].tolist() == [[1, 2]]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.dok_array, sparse.coo_matrix])
def test_sparse_tables_are_made_dense(kind):
    encoder, matrix = learn_table(kind(np.eye(3)))
    assert matrix.tolist() == np.eye(3).tolist()
    assert encoder.translate(kind(2 * np.eye(3))).tolist() == (2 * np.eye(3)).tolist()


def test_sparse_tables_that_would_fill_the_memory_are_refused():
    wide = sparse.random_array((1_000, 150_000), density=1e-5, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"1,000 x 150,000 numbers, .* 1\.1 GiB .* at most 1 GiB\..*TruncatedSVD"):
        learn_table(wide.tocsr())
    learn_table(wide.tocsr()[:10])


def test_what_is_no_table_leaves_the_model_as_it_was():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    model = AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0).fit(frame, [0, 1])
    before = model.predict_proba(frame)
    bad = [pl.from_pandas(frame).lazy(), SAMPLES, {"a": [1.0]}, frame["a"], frame.assign(a=pd.Timestamp(0))]
    for X in bad:
        with pytest.raises((TypeError, ValueError)):
            model.partial_fit(X, [0, 1])
        with pytest.raises((TypeError, ValueError)):
            model.predict(X)
    assert len(model.history_) == 1
    np.testing.assert_array_equal(model.predict_proba(frame), before)


def test_reading_a_frame_imports_no_other_library():
    program = """
import sys, polars
sys.modules |= dict.fromkeys(["pandas", "pyarrow"])  # importing any of them now fails
from encoded_tables import learn_table
print(learn_table(polars.DataFrame({"a": [1, None], "b": ["x", None]}))[1].tolist())
"""
    tests = Path(__file__).parents[1]
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tests)
    assert answer.stdout.strip() == "[[1.0, 0.0], [nan, nan]]"
