from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from adforest import AdaptiveDecisionForestClassifier
from adforest.reading import read_batches
from table_files import EXPECTED, FORMATS, RENTS, TABLE, joined, write, write_text


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("batch_size", [None, 3])
def test_every_format_gives_the_same_records(tmp_path, suffix, batch_size):
    path = tmp_path / f"houses.{suffix}"
    write(TABLE, path)
    batches = list(read_batches(path, target="rent", batch_size=batch_size))
    assert joined(batches) == (EXPECTED, RENTS)
    assert [len(batch.y) for batch in batches] == ([4] if batch_size is None else [3, 1])
    assert [batch.number for batch in batches] == list(range(1, len(batches) + 1))
    assert {batch.files for batch in batches} == {(path,)}
    assert repr(batches[0]).endswith(f"from {path}")
    assert repr(batches[0]).startswith(
        f"FileBatch 1: {len(batches[0].y)} records, {batches[0].X.num_columns} columns, "
    )
    assert {str(kind) for batch in batches for kind in batch.X.schema.types} == {"double", "string"}


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_frames_pandas_wrote_come_back_without_their_index(tmp_path, suffix):
    frame = pd.DataFrame(
        {"a": [3, 2], "b": pd.Categorical([None, "v"]), "c": pd.Categorical([7, 8]), "y": 1}, index=[20, 30]
    )
    path = tmp_path / f"x.{suffix}"
    table = pa.Table.from_pandas(frame)
    assert "__index_level_0__" in table.column_names
    write(table, path)
    (batch,) = read_batches(path, target="y")
    assert batch.X.to_pydict() == {"a": [3, 2], "b": [None, "v"], "c": [7, 8]}
    # Feather keeps that 'c' holds categories, Parquet does not.
    assert pa.types.is_dictionary(batch.X.schema.field("c").type) == (suffix == "feather")


@pytest.mark.parametrize("method", ["write_ipc", "write_ipc_stream", "write_parquet", "write_csv"])
def test_frames_polars_wrote(tmp_path, method):
    words = pl.Series(["u", "v", None])
    frame = pl.DataFrame(
        {"s": words, "c": words.cast(pl.Categorical), "e": words.cast(pl.Enum(["u", "v"])), "y": words}
    )
    suffix = {"write_ipc": "arrow", "write_ipc_stream": "arrows", "write_parquet": "parquet", "write_csv": "csv"}[
        method
    ]
    getattr(frame.with_columns(y=pl.Series([3, 1, 2])), method)(tmp_path / f"x.{suffix}")
    (batch,) = read_batches(tmp_path, target="y")
    assert batch.X.to_pydict() == {name: ["u", "v", None] for name in "sce"}
    assert batch.y.tolist() == [3, 1, 2]


def test_an_arrow_stream_is_known_by_its_first_bytes_whatever_its_name(tmp_path):
    with ipc.new_stream(str(tmp_path / "x.arrow"), TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert joined(read_batches(tmp_path, target="rent")) == (EXPECTED, RENTS)


def test_csv_as_programs_write_it(tmp_path):
    text = '\ufeffa b,"c,d",y\r\n1.5,"x, ""q""",ü\r\n\r\n2,"two\r\nlines",z\r\n,NA,z\r\n'
    (batch,) = read_batches(write_text(tmp_path, {"x.csv": text}), target="y")
    assert batch.X.to_pydict() == {"a b": [1.5, 2, None], "c,d": ['x, "q"', "two\r\nlines", None]}
    assert batch.y.tolist() == ["ü", "z", "z"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
@pytest.mark.parametrize("n_samples", [3, 200_000])
def test_csv_in_other_dialects(tmp_path, encoding, n_samples):
    text = "größe;y\n" + "1,5;ü\n-;a\n?;a\n" * (n_samples // 3)
    write_text(tmp_path, {"x.csv": text}, encoding)
    options = {"delimiter": ";", "decimal": ",", "encoding": encoding, "na_values": ["-", "?"], "batch_size": 100_000}
    batches = list(read_batches(tmp_path, target="y", **options))
    assert batches[0].X.slice(0, 3).to_pydict() == {"größe": [1.5, None, None]}
    assert sum(batch.X["größe"].null_count for batch in batches) == n_samples // 3 * 2
    assert batches[0].y[0] == "ü"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["3", "1"], [3, 1]),
        (["true", "False"], [True, False]),
        (["a", "1"], ["a", "1"]),
        (["1.5", "2"], [1.5, 2.0]),
        (["9007199254740993", "9007199254740992"], [2**53 + 1, 2**53]),
    ],
)
def test_class_values_keep_their_kind(tmp_path, values, expected):
    (batch,) = read_batches(write_text(tmp_path, {"x.csv": "a,y\n" + "".join(f"1,{v}\n" for v in values)}), target="y")
    assert batch.y.tolist() == expected
    assert [type(y) for y in batch.y.tolist()] == [type(y) for y in expected]
    batch.y[0] = batch.y[1]  # the array is the user's own


def test_numbers_of_every_width_are_one_kind(tmp_path):
    for place, kind in enumerate((pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(21, 2), pa.bool_(), pa.null())):
        values = pa.nulls(1) if kind == pa.null() else pa.array([1]).cast(kind)
        classes = pa.array([1]).cast(pa.float64() if place else pa.int16())
        parquet.write_table(pa.table({"a": values, "y": classes}), tmp_path / f"{place}.parquet")
    batches = list(read_batches(tmp_path, target="y"))
    assert [batch.X["a"].to_pylist() for batch in batches] == [[1.0]] * 5 + [[None]]
    assert {batch.X.schema.field("a").type for batch in batches} == {pa.float64()}
    assert {batch.y.dtype for batch in batches} == {np.dtype(np.int64)}


def test_categories_that_are_numbers_stay_categories(tmp_path):
    for place, values in enumerate([pa.array([5, 7]).dictionary_encode(), pa.array([7.0, None]), pa.nulls(2)]):
        parquet.write_table(pa.table({"a": values, "y": ["u", "v"]}), tmp_path / f"{place}.parquet")
    batches = list(read_batches(tmp_path, target="y"))
    assert [batch.X["a"].to_pylist() for batch in batches] == [[5, 7], [7, None], [None, None]]
    model = AdaptiveDecisionForestClassifier(n_estimators=2)
    for batch in batches:
        model.partial_fit(batch.X, batch.y)


def houses(seed, cities, rents, n=150):
    """Return a frame of houses whose rent follows from city and area."""
    rng = np.random.default_rng(seed)
    city, area = rng.integers(0, len(cities), n), rng.uniform(20, 200, n).round(1)
    rent = np.minimum((area // 70 + city).astype(int), len(rents) - 1)
    frame = pd.DataFrame({"area": area, "city": np.array(cities, dtype=object)[city], "beds": rng.integers(1, 5, n)})
    frame.loc[frame.index % 11 == 0, ["area", "city"]] = None
    return frame.assign(rent=np.array(rents, dtype=object)[rent])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_model_learns_from_files_what_it_learns_from_frames(tmp_path, suffix):
    frames = [
        houses(1, ["Bonn", "Ulm"], ["low", "middle"]),
        houses(2, ["Ulm", "Köln"], ["low", "middle"]),
        houses(3, ["Köln", "Bad Ems"], ["low", "middle", "high"]),
    ]
    for place, frame in enumerate(frames, start=9):
        path = tmp_path / f"export-{place}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    from_files, from_frames = (AdaptiveDecisionForestClassifier(n_estimators=10, random_state=0) for _ in range(2))
    for batch in read_batches(f"{tmp_path}/*.{suffix}", target="rent"):
        from_files.partial_fit(batch.X, batch.y)
    for frame in frames:
        from_frames.partial_fit(frame.drop(columns="rent"), frame["rent"])
    assert from_files.classes_.tolist() == ["high", "low", "middle"]
    assert from_files.feature_names_in_.tolist() == ["area", "city", "beds"]
    every = pd.concat(frames).drop(columns="rent")
    np.testing.assert_array_equal(from_files.predict_proba(every), from_frames.predict_proba(every))
    histories = [
        [replace(report, seconds=0, learnt_at=None) for report in model.history_] for model in (from_files, from_frames)
    ]
    assert histories[0] == histories[1]
