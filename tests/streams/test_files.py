import gzip
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, feather, ipc, parquet
from scipy.io import arff as scipy_arff

from adforest import AdaptiveDecisionForestClassifier
from adforest.streams import read_batches
from adforest.streams.arff import split_values
from adforest.streams.paths import natural_key

TEXT_FORMATS = ("csv", "tsv", "csv.gz", "csv.bz2", "tsv.zst", "CSV", "arff", "arff.gz")
FORMATS = (*TEXT_FORMATS, "parquet", "arrow", "arrows", "feather", "ipc")
EXPECTED = {
    "area m²": [55.5, None, 70.0, 120.25],
    "beds": [1.0, 2.0, None, 4.0],
    "street, name": ["Ahornstraße", 'a "b", c', None, "it's\\here"],
    "view": [1.0, 0.0, None, 1.0],
}
RENTS = ["low", "high", "very high", "low"]
TABLE = pa.table(
    {
        "area m²": EXPECTED["area m²"],
        "beds": pa.array([1, 2, None, 4]),
        "street, name": EXPECTED["street, name"],
        "view": [True, False, None, True],
        "rent": RENTS,
    }
)


def quoted(value):
    """Return a value as ARFF writes it."""
    if value is None:
        return "?"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(int(value) if isinstance(value, bool) else value)


def as_arff(table):
    kinds = {"beds": "integer", "street, name": "string", "rent": "{low, high, 'very high'}"}
    lines = [f"@attribute {quoted(name)} {kinds.get(name, 'numeric')}" for name in table.column_names]
    rows = [",".join(map(quoted, row)) for row in zip(*table.to_pydict().values(), strict=True)]
    return "\n".join(["% a comment", "@relation houses", *lines, "@data", *rows, ""])


def write(table, path):
    """Write a table in the format its path asks for."""
    name = path.name.lower()
    if ".arff" in name:
        with pa.output_stream(str(path), compression="detect") as stream:
            stream.write(as_arff(table).encode())
    elif ".csv" in name or ".tsv" in name:
        with pa.output_stream(str(path), compression="detect") as stream:
            csv.write_csv(table, stream, csv.WriteOptions(delimiter="\t" if ".tsv" in name else ","))
    elif name.endswith(".parquet"):
        parquet.write_table(table, path, row_group_size=3)
    elif name.endswith((".feather", ".ipc")):
        feather.write_feather(table, str(path), chunksize=3)
    else:
        with (ipc.new_stream if name.endswith("s") else ipc.new_file)(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=3)


def write_text(folder, files, encoding="utf-8"):
    """Write files given as text, and return their folder."""
    for name, text in files.items():
        (folder / name).write_bytes(text.encode(encoding))
    return folder


def joined(batches):
    """Return all records and all classes of some batches."""
    batches = list(batches)
    return pa.concat_tables([batch.X for batch in batches]).to_pydict(), [
        y for batch in batches for y in batch.y.tolist()
    ]


# --- formats


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
@pytest.mark.parametrize("n_records", [3, 200_000])
def test_csv_in_other_dialects(tmp_path, encoding, n_records):
    text = "größe;y\n" + "1,5;ü\n-;a\n?;a\n" * (n_records // 3)
    write_text(tmp_path, {"x.csv": text}, encoding)
    options = {"delimiter": ";", "decimal": ",", "encoding": encoding, "na_values": ["-", "?"], "batch_size": 100_000}
    batches = list(read_batches(tmp_path, target="y", **options))
    assert batches[0].X.slice(0, 3).to_pydict() == {"größe": [1.5, None, None]}
    assert sum(batch.X["größe"].null_count for batch in batches) == n_records // 3 * 2
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


# --- ARFF


ARFF = """@RELATION 'weather report'
% a comment
@attribute 'out look'{sunny, 'very "wet"', "it's", '?'}
@Attribute\ttemp REAL
@attribute note string
@attribute y {0,1}

@DATA
sunny, 85.5 ,'hot, dry',0
'very "wet"',?,?,1
% another comment

"it's" , -1e3 , "a\\tb" , 0
'?',+2,'?','1'
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_arff_names_values_and_gaps(tmp_path, newline, mark):
    (batch,) = read_batches(write_text(tmp_path, {"x.arff": mark + ARFF.replace("\n", newline)}), target="y")
    assert batch.X.to_pydict() == {
        "out look": ["sunny", 'very "wet"', "it's", "?"],
        "temp": [85.5, None, -1000, 2],
        "note": ["hot, dry", None, "a\tb", "?"],
    }
    assert batch.y.tolist() == ["0", "1", "0", "1"]


@given(rows=st.lists(st.tuples(st.floats(-1e6, 1e6) | st.none(), st.sampled_from(["low", "high", "very high"]))))
@settings(deadline=None, max_examples=20)
def test_arff_reads_what_scipy_reads(tmp_path_factory, rows):
    columns = {"a": [row[0] for row in rows] + [0.5], "rent": [row[1] for row in rows] + ["low"]}
    path = tmp_path_factory.mktemp("arff") / "x.arff"
    path.write_text(as_arff(pa.table(columns)).replace("'a'", "a").replace("'rent'", "rent"))  # scipy keeps the quotes
    (batch,) = read_batches(path, target="rent")
    records, _ = scipy_arff.loadarff(path)
    np.testing.assert_array_equal(batch.X["a"].to_numpy(), records["a"])
    assert batch.y.tolist() == [name.decode() for name in records["rent"]]


@given(values=st.lists(st.none() | st.text("ab ü,'\"\\?%{}"), min_size=1))
def test_quoted_arff_values_come_back(values):
    assert split_values(" , ".join(map(quoted, values))) == values


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{0 sunny, 3 1}", r"line 15 of '.*x\.arff' is sparse .*; expected one value an attribute\. Make .* dense"),
        ("sunny,1,a", r"line 15 of .* has 3 values, but 4 attributes are declared\."),
        ("sunny,1,'a,0", r"line 15 of .* quotes do not match"),
        ("windy,1,a,0", r"line 15 of .* holds 'windy' for attribute 'out look'; expected one of the 4 values declared"),
        ("sunny,warm,a,0", r"line 15 of .* holds 'warm' for attribute 'temp'; expected a number, or \? where"),
        ("sunny,1,a,?", r"record 5 of '.*x\.arff' has no value in the target column 'y'"),
    ],
)
def test_bad_arff_records_are_named_by_their_line(tmp_path, line, message):
    batches = read_batches(write_text(tmp_path, {"x.arff": f"{ARFF}{line}\n"}), target="y")
    with pytest.raises(ValueError, match=message):
        next(batches)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@atribute a real\n@data\n", r"line 2 of .* reads '@atribute a real'; expected @relation"),
        ("@relation r\n@attribute a relational\n", r"line 2 of .* reads .*; expected @attribute, a name, and numeric"),
        ("@relation r\n@data\n1\n", r"line 2 of .* reads '@data'; expected .* after at least one of these, @data"),
        ("@relation r\n@attribute a {b, 'c}\n", "line 2 of .*Correct the line"),
        ("@relation r\n@attribute a real\n", "has no line that says @data"),
        ("@relation r\n@attribute d date 'yyyy'\n@attribute y {a}\n@data\n2001,a\n", "'d' of .* holds dates or times"),
    ],
)
def test_bad_arff_headers_are_refused_at_once(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_batches(write_text(tmp_path, {"x.arff": text}), target="y")


@pytest.mark.parametrize("value", ["2.5", "99999999999999999999", "1e3", "x"])
def test_arff_integers_are_whole(tmp_path, value):
    text = "@relation r\n@attribute a real\n@attribute y integer\n@data\n1,7\n1,{}\n"
    assert next(read_batches(write_text(tmp_path, {"x.arff": text.format(8)}), target="y")).y.tolist() == [7, 8]
    with pytest.raises(ValueError, match=rf"line 6 of .* holds '{value}' for attribute 'y'; expected a whole number"):
        next(read_batches(write_text(tmp_path, {"x.arff": text.format(value)}), target="y"))


# --- which files, and in which order


NAMES = ["export-1.csv", "export-2.csv", "Export-10.csv", "export-010.csv", "export-a.csv"]


@pytest.fixture
def exports(tmp_path):
    """Five files, youngest first by name; the class is the place by name."""
    for place, name in enumerate(NAMES):
        write_text(tmp_path, {name: f"a,y\n1,{place}\n"})
        os.utime(tmp_path / name, (1000 - place // 2, 1000 - place // 2))
    write_text(tmp_path, {"README.md": "", "_SUCCESS": "", ".hidden.csv": "", "_temporary.csv": ""})
    (tmp_path / "folder.csv").mkdir()
    write_text(tmp_path / "folder.csv", {"export-7.csv": "a,y\n1,7\n"})
    return tmp_path


def places(batches):
    return [batch.y.item() for batch in batches]


def test_names_are_sorted_as_people_count(exports):
    assert places(read_batches(exports, target="y")) == [0, 1, 2, 3, 4]
    assert places(read_batches(str(exports), target="y", order="name")) == [0, 1, 2, 3, 4]


def test_time_sorts_by_last_change_then_by_name(exports):
    assert places(read_batches(exports, target="y", order="time")) == [4, 2, 3, 0, 1]


def test_patterns(exports):
    assert places(read_batches(exports / "export-?.csv", target="y")) == [0, 1, 4]
    assert places(read_batches(f"{exports}/**/export-[1267].csv", target="y")) == [0, 1, 7]


def test_a_name_that_looks_like_a_pattern_is_taken_literally(tmp_path):
    write_text(tmp_path, {"x[1].csv": "a,y\n1,0\n", "x1.csv": "a,y\n1,1\n"})
    assert places(read_batches(tmp_path / "x[1].csv", target="y")) == [0]


def test_a_list_keeps_its_order_unless_told_otherwise(exports):
    paths = [exports / NAMES[3], str(exports / NAMES[0]), exports / NAMES[4]]
    assert places(read_batches(paths, target="y")) == [3, 0, 4]
    assert places(read_batches(tuple(paths), target="y", order="name")) == [0, 3, 4]
    assert places(read_batches(paths, target="y", order="time")) == [4, 3, 0]


@given(st.lists(st.tuples(st.sampled_from(["a", "A", "a-", ""]), st.integers(0, 120)), unique=True))
def test_natural_order_is_the_order_of_the_numbers(names):
    ordered = sorted((Path("x", f"{word}{number}.csv") for word, number in names), key=natural_key)
    assert sorted(ordered, key=natural_key) == ordered
    for word in ("a", "A", "a-", ""):
        numbers = [number for one, number in names if one == word]
        found = [path.stem.removeprefix(word) for path in ordered if path.stem.rstrip("0123456789") == word]
        assert list(map(int, found)) == sorted(numbers)


# --- cutting


@pytest.fixture(scope="module")
def three_files(tmp_path_factory):
    """A folder for each format, with files of 7, 0 and 13 records; the column 'n' counts them."""
    root = tmp_path_factory.mktemp("cut")
    table = pa.table({"n": np.arange(20.0), "beds": np.arange(20), "rent": ["low", "high"] * 10})
    for suffix in ("csv", "parquet", "arrow", "arrows", "arff"):
        (root / suffix).mkdir()
        for place, (start, length) in enumerate([(0, 7), (7, 0), (7, 13)]):
            write(table.slice(start, length), root / suffix / f"{place}.{suffix}")
    return root


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "arrows", "arff"])
@given(batch_size=st.integers(1, 25), n_records=st.integers(1, 25))
@settings(deadline=None, max_examples=15)
def test_any_batch_size_gives_the_same_sequence(three_files, suffix, batch_size, n_records):
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("BLOCK_VALUES", "BLOCK_RECORDS"):
            patch.setattr(f"adforest.streams.formats.{limit}", n_records)
        batches = list(read_batches(three_files / suffix, target="rent", batch_size=batch_size))
    records, classes = joined(batches)
    assert records["n"] == records["beds"] == list(range(20))
    assert classes == ["low", "high"] * 10
    assert [len(batch.y) for batch in batches[:-1]] == [batch_size] * ((20 - 1) // batch_size)
    for batch in batches:
        came = {0 if n < 7 else 2 for n in batch.X["n"].to_pylist()}
        assert [int(path.stem) for path in batch.files] == sorted(came)


def test_without_a_batch_size_a_file_is_a_batch_and_an_empty_one_none(three_files):
    for folder in three_files.iterdir():
        assert [len(batch.y) for batch in read_batches(folder, target="rent")] == [7, 13]


MEASURE = """
import sys
import pyarrow as pa
from adforest.streams import read_batches
for path in sys.argv[1:]:
    n_records = sum(len(batch.y) for batch in read_batches(path, target="rent", batch_size=1000))
    print(n_records, pa.default_memory_pool().max_memory())
"""


def test_a_large_file_is_never_in_memory_as_a_whole(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table({f"x{place}": rng.random(200_000) for place in range(10)} | {"rent": ["low"] * 200_000})
    parquet.write_table(table, tmp_path / "x.parquet", data_page_size=1 << 16, use_dictionary=False)
    feather.write_feather(table, str(tmp_path / "x.feather"), chunksize=10_000)
    write(table, tmp_path / "x.csv")
    # In the order of what they need: Arrow only remembers the highest of all peaks.
    paths = [str(tmp_path / name) for name in ("x.parquet", "x.feather", "x.csv")]
    result = subprocess.run([sys.executable, "-c", MEASURE, *paths], capture_output=True, text=True, check=True)
    found = [tuple(map(int, line.split())) for line in result.stdout.splitlines()]
    assert [n_records for n_records, _ in found] == [200_000] * 3
    peaks = [peak for _, peak in found]
    assert peaks[0] < table.nbytes / 3
    assert peaks[1] < table.nbytes / 3
    assert peaks[2] < (tmp_path / "x.csv").stat().st_size / 3


def test_a_large_arff_file_is_never_in_memory_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("adforest.streams.formats.BLOCK_VALUES", 1)  # the smallest block has 256 records
    n_records = 20_000
    write(pa.table({"a": np.arange(n_records) / 7, "rent": ["low"] * n_records}), tmp_path / "x.arff")
    tracemalloc.start()
    try:
        assert sum(len(batch.y) for batch in read_batches(tmp_path, target="rent", batch_size=100)) == n_records
        assert tracemalloc.get_traced_memory()[1] < (tmp_path / "x.arff").stat().st_size / 2
    finally:
        tracemalloc.stop()


# --- columns that change


def test_columns_come_in_the_order_of_the_first_file(tmp_path):
    write_text(tmp_path, {"1.csv": "a,b,y\n1,u,0\n", "2.csv": "y,b,a\n0,v,2.5\n"})
    assert joined(read_batches(tmp_path, target="y"))[0] == {"a": [1, 2.5], "b": ["u", "v"]}


def test_columns_are_chosen_dropped_and_ordered(tmp_path):
    write_text(tmp_path, {"1.csv": "a,b,y,day\n1,u,0,2024-01-01\n", "2.csv": "a,b,y,hour\n1,u,0,12:30\n"})
    (first, _) = read_batches(tmp_path, target="y", columns=["b", "y", "a"])
    assert first.X.column_names == ["b", "a"]
    assert next(read_batches(tmp_path, target="y", drop=["day", "a"])).X.column_names == ["b"]
    assert next(read_batches(tmp_path, target="y", drop=["day"], columns=["b", "a", "day"])).X.column_names == [
        "b",
        "a",
    ]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("a,b,c,y\n1,u,0,0\n", r"'.*2\.csv' adds 'c'; expected the columns of '.*1\.csv'\. Rename or remove"),
        ("a,y\n1,0\n", r"'.*2\.csv' lacks 'b'; expected .*Add or rename"),
        ("A,b,y\n1,u,0\n", r"'.*2\.csv' lacks 'a' and adds 'A'; expected"),
        ("a,b,class\n1,u,0\n", r"the target 'y' is no column of '.*2\.csv'; its columns are 'a', 'b', 'class'\."),
        ("a,b,b,y\n1,u,v,0\n", r"column name 'b' occurs 2 times in '.*2\.csv'"),
        (
            "a,b,y\nx,u,0\n",
            r"column 'a' of '.*2\.csv' holds 'x' in record 1; expected a number, .* categorical=\['a'\]",
        ),
        ("a,b,y\n1,u,0\n\n2,v,w\n", r"column 'y' of .* holds 'w' in record 2; expected a whole number"),
        ("a,b,y\n1,u,0\n2,v,1.5\n", r"column 'y' of .* holds '1\.5' in record 2; expected a whole number"),
        ("a,b,y\n1,u,0\n2,v,\n", r"record 2 of '.*2\.csv' has no value in the target column 'y'; .*remove the record"),
        ("a,b,y\n1,u\n", r"'.*2\.csv' cannot be read as CSV \(.*Row #2.*Expected 3 columns, got 2"),
        ("", r"'.*2\.csv' is empty; expected"),
        ("\n\n", r"'.*2\.csv' holds neither records nor a whole line of column names"),
        ("a,b,y\n1,\udcfc,0\n", r"'.*2\.csv' is not UTF-8 .*Pass the right encoding"),
        ("a,b,\udcfc\n1,u,0\n", r"'.*2\.csv' is not written in the encoding expected .*encoding='latin-1'"),
        (
            'a,b,y\n1,"' + "u" * 600_000 + '",0\n',
            r"'.*2\.csv' has a record longer than 262,144 bytes\. Look for a quote",
        ),
    ],
)
@pytest.mark.parametrize("batch_size", [None, 2, 100])
def test_what_is_wrong_with_a_later_file_is_said_after_all_records_before_it(tmp_path, second, message, batch_size):
    write_text(tmp_path, {"1.csv": "a,b,y\n1,u,0\n2,v,1\n3,w,1\n"})
    (tmp_path / "2.csv").write_bytes(second.encode("utf-8", "surrogateescape"))
    batches = read_batches(tmp_path, target="y", batch_size=batch_size)
    seen = []
    with pytest.raises(ValueError, match=message):
        seen.extend(iter(lambda: next(batches), None))
    records, _ = joined(seen)
    assert records["a"][:3] == [1, 2, 3]
    sizes = {None: [3], 2: [2, 1], 100: [3]}[batch_size]
    assert [len(batch.y) for batch in seen][: len(sizes)] == sizes
    if batch_size is None:
        assert len(seen) == 1, "no part of the bad file became a batch"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array(["x"]), r"column 'a' of '.*2\.parquet' holds text; expected numbers, as in '.*1\.parquet'\. Convert"),
        (pa.array([0], pa.date32()), r"column 'a' of .* holds dates or times \(date32\[day\]\); expected numbers"),
        (pa.array([[1]]), r"column 'a' of .* holds values of type list.*; expected numbers"),
    ],
)
def test_types_that_change_between_files_that_know_them(tmp_path, values, message):
    for place, column in enumerate([pa.array([1]), values], start=1):
        parquet.write_table(pa.table({"a": column, "y": [True]}), tmp_path / f"{place}.parquet")
    batches = read_batches(tmp_path, target="y")
    next(batches)
    with pytest.raises(ValueError, match=message):
        next(batches)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["u"], [1], "'y' of .* holds numbers; expected text"),
        ([True], [1], "'y' of .* holds numbers; expected booleans"),
        ([1.0], [True], "'y' of .* holds booleans; expected numbers"),
        ([1], [1.5], "'y' of .* cannot be read as numbers .*1.5"),
    ],
)
def test_classes_do_not_change_their_kind(tmp_path, first, second, message):
    for place, classes in enumerate([first, second], start=1):
        parquet.write_table(pa.table({"a": [1], "y": classes}), tmp_path / f"{place}.parquet")
    batches = read_batches(tmp_path, target="y")
    next(batches)
    with pytest.raises(ValueError, match=message):
        next(batches)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arff"])
def test_listed_columns_are_text_in_every_file(tmp_path, suffix):
    codes = [pa.array([2000, 151]), pa.array([2000.0, None]), pa.array(["0151", "2000A"])]
    if suffix == "arff":
        codes.pop()  # it would be declared numeric
    for place, values in enumerate(codes, start=1):
        write(pa.table({"code": values, "a": [1.0, 2.0], "rent": ["low", "high"]}), tmp_path / f"{place}.{suffix}")
    X, _ = joined(read_batches(tmp_path, target="rent", categorical=["code"]))
    whole = "2000.0" if suffix == "arff" else "2000"
    assert X["code"] == ["2000", "151", whole, None, "0151", "2000A"][: 2 * len(codes)]


def test_dates_and_classes_can_be_read_as_text(tmp_path):
    write_text(tmp_path, {"1.csv": "day,y\n2024-01-01,1\n", "2.csv": "day,y\nsoon,none yet\n"})
    records, classes = joined(read_batches(tmp_path, target="y", categorical=["day", "y"]))
    assert records == {"day": ["2024-01-01", "soon"]}
    assert classes == ["1", "none yet"]


def test_a_column_empty_in_the_first_file_is_judged_by_the_one_that_fills_it(tmp_path):
    write_text(tmp_path, {"1.csv": "a,b,c,y\n1,,,u\n", "2.csv": "b,a,y\n", "3.csv": "a,b,c,y\n1,text,2.5,u\n"})
    batches = read_batches([tmp_path / "1.csv", tmp_path / "3.csv"], target="y")
    assert joined(batches)[0] == {"a": [1, 1], "b": [None, "text"], "c": [None, 2.5]}
    batches = read_batches(tmp_path, target="y")
    assert str(next(batches).X.schema.field("b").type) == "string", "the second file's fault waits for its turn"
    with pytest.raises(ValueError, match="lacks 'c'"):
        next(batches)


def test_a_column_that_is_always_empty_is_numbers(tmp_path):
    write_text(tmp_path, {"1.csv": "a,b,y\n1,,u\n", "2.csv": "a,b,y\n1,,u\n"})
    assert {str(batch.X.schema.field("b").type) for batch in read_batches(tmp_path, target="y")} == {"double"}


def test_truth_may_be_written_as_words_or_digits(tmp_path):
    write_text(tmp_path, {"1.csv": "a,b,y\ntrue,1,u\n,0,u\n", "2.csv": "a,b,y\n0,FALSE,u\nFalse,true,u\n"})
    assert joined(read_batches(tmp_path, target="y"))[0] == {"a": [1, None, 0, 0], "b": [1, 0, 0, 1]}


def long_file(last):
    """Return a CSV file of more than a megabyte whose last record differs."""
    return "a,y\n" + "1234567,u\n" * 150_000 + f"{last},u\n"


def test_a_large_csv_is_judged_by_its_first_megabyte_if_it_is_to_be_cut(tmp_path):
    write_text(tmp_path, {"x.csv": long_file("late")})
    with pytest.raises(ValueError, match="holds 'late' in record 150001; expected a number, as before it"):
        list(read_batches(tmp_path, target="y", batch_size=50_000))
    (batch,) = read_batches(tmp_path, target="y")
    assert batch.X["a"][-1].as_py() == "late"
    write_text(tmp_path, {"x.csv": long_file("1.5")})
    assert list(read_batches(tmp_path, target="y", batch_size=50_000))[-1].X["a"].to_pylist() == [1.5]


def test_quoted_line_ends_at_the_seams_of_blocks(tmp_path):
    rows = [f"{n}" + "\nx" * 20 for n in range(40_000)]
    csv.write_csv(pa.table({"a": rows, "y": np.arange(40_000) % 3}), tmp_path / "x.csv")
    assert joined(read_batches(tmp_path, target="y", batch_size=9_999)) == ({"a": rows}, [n % 3 for n in range(40_000)])


def test_records_are_counted_through_all_blocks_of_a_file(tmp_path):
    classes = np.ones(100_000)
    classes[[70_000, 90_000]] = np.nan
    parquet.write_table(pa.table({"a": classes, "y": pa.array(classes)}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"record 70001 of '.*' has no value in the target column 'y'"):
        next(read_batches(tmp_path, target="y"))


def test_no_part_of_a_bad_file_becomes_a_batch_where_files_are_batches(tmp_path):
    write_text(tmp_path, {"1.csv": "a,y\n1,u\n", "2.csv": long_file("late")})
    batches = read_batches(tmp_path, target="y")
    assert next(batches).X["a"].to_pylist() == [1]
    with pytest.raises(ValueError, match="holds 'late' in record 150001"):
        next(batches)


# --- errors at the call


ONE = {"x.csv": "a,b,y\n1,u,0\n"}


@pytest.mark.parametrize(
    ("files", "source", "message"),
    [
        ({}, "", r"the folder '.*' holds no files; expected files that end in \.csv, .*\.parquet"),
        ({"README.md": "", "x.xlsx": ""}, "", r"the folder '.*' holds only 'README\.md', 'x\.xlsx'; expected files"),
        ({}, "none.csv", r"there is no file or folder '.*none\.csv'; expected a folder, a file or a pattern"),
        ({}, "*.csv", r"no file matches the pattern '.*\*\.csv'"),
    ],
)
def test_nothing_to_read(tmp_path, files, source, message):
    with pytest.raises(FileNotFoundError, match=message):
        read_batches(write_text(tmp_path, files) / source, target="y")


@pytest.mark.parametrize(
    ("files", "source", "message"),
    [
        ({"x.xlsx": "?"}, "x.xlsx", r"the format of '.*x\.xlsx' is not known; expected a name that ends in \.csv"),
        ({"x.parquet.gz": "?"}, "x.parquet.gz", "is not known"),
        ({"a.csv": "a,y\n", "README.md": ""}, "*", r"'.*README\.md' is not known; .*narrower pattern"),
        ({"a.csv": "", "b.csv": "", "a.parquet": ""}, "", r"holds 2 \.csv and 1 \.parquet files; .* '.*\*\.csv'"),
        ({"a.csv": ""}, "", r"'.*a\.csv' is empty; expected columns with names"),
        ({"a.csv": "a;y\n1;0\n"}, "", r"target 'y' is no column of .*; its columns are 'a;y'\. .* pass delimiter=';'"),
        (
            {"a.csv": "a,day,y\n1,2024-01-01,0\n"},
            "",
            r"'day' of .* dates or times .*drop=\['day'\].*categorical=\['day'\]",
        ),
        ({"a.csv": "a,y\n1,2024-01-01\n"}, "", r"the target 'y' of .* dates or times .*\. Pass categorical=\['y'\] if"),
        ({"a.csv": "y\n1\n"}, "", "no column of .* is left to learn from beside the target 'y'"),
        ({"a.csv": "a,a,y\n1,2,0\n"}, "", "column name 'a' occurs 2 times"),
        ({"a.parquet": "PAR1PAR1PAR1"}, "", r"'.*a\.parquet' cannot be read \(.*\)\. Correct the file"),
        ({"a.arrow": "no arrow"}, "", r"'.*a\.arrow' cannot be read"),
        ({"a.csv.gz": "a,y\n1,0\n"}, "", r"'.*a\.csv\.gz' is damaged \(.*\)\. Write it again"),
        ({"a.arff.gz": "a,y\n1,0\n"}, "", r"'.*a\.arff\.gz' is damaged"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, files, source, message):
    with pytest.raises(ValueError, match=message):
        read_batches(write_text(tmp_path, files) / source, target="y")


@pytest.mark.parametrize("suffix", ["csv", "arff"])
def test_another_encoding_is_named(tmp_path, suffix):
    text = {"csv": "a,y\n1,ü\n", "arff": "@relation r\n@attribute a real\n@attribute y {ü}\n@data\n1,ü\n"}[suffix]
    write_text(tmp_path, {f"x.{suffix}": text}, "latin-1")
    with pytest.raises(ValueError, match=r"x\..* encoding.*'latin-1'"):
        read_batches(tmp_path, target="y")
    assert next(read_batches(tmp_path, target="y", encoding="latin-1")).y.tolist() == ["ü"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"target": "rent"},
            ValueError,
            r"the target 'rent' is no column of '.*x\.csv'; its columns are 'a', 'b', 'y'\.",
        ),
        ({"target": 2}, TypeError, "target is 2; expected the name of the column"),
        (
            {"columns": ["a", "c"]},
            ValueError,
            r"columns names 'c', which '.*' does not have; its columns are 'a', 'b', 'y'",
        ),
        ({"drop": ["c"]}, ValueError, "drop names 'c'"),
        ({"categorical": ["c"]}, ValueError, "categorical names 'c'"),
        ({"columns": "a"}, TypeError, "columns is 'a'; expected a list of text"),
        ({"categorical": [0]}, TypeError, r"categorical is \[0\]; expected a list of text"),
        ({"columns": ["y"]}, ValueError, "no column of .* is left to learn from"),
        ({"drop": ["a", "b"]}, ValueError, "no column of .* is left to learn from"),
        ({"batch_size": 0}, ValueError, "batch_size is 0; expected a whole number of at least 1"),
        ({"batch_size": 2.0}, ValueError, r"batch_size is 2\.0; expected"),
        ({"batch_size": True}, ValueError, "batch_size is True; expected"),
        ({"order": "size"}, ValueError, "order is 'size'; expected 'name', 'time' or None"),
        ({"delimiter": "||"}, ValueError, r"delimiter is '\|\|'; expected one character"),
        ({"decimal": ""}, ValueError, "decimal is ''; expected one character"),
        ({"encoding": "utf-9"}, ValueError, "encoding is 'utf-9', which Python does not know"),
        ({"source": []}, ValueError, "source is an empty list"),
        ({"source": pd.DataFrame({"a": [1]})}, TypeError, r"source is of type DataFrame; expected .*partial_fit\(\)"),
        ({"source": [1]}, TypeError, "source is of type list; expected a path"),
        ({"source": [Path("nowhere.csv")]}, FileNotFoundError, r"'nowhere\.csv' does not exist; a list holds files"),
        ({"source": [Path(__file__).parent]}, FileNotFoundError, "is a folder; a list holds files"),
    ],
)
def test_arguments_are_checked_at_the_call(tmp_path, change, error, message):
    arguments = {"source": write_text(tmp_path, ONE), "target": "y"} | change
    with pytest.raises(error, match=message):
        read_batches(**arguments)


def test_files_without_a_record(tmp_path):
    with pytest.raises(ValueError, match=r"'.*a\.csv' holds no records; expected at least one"):
        next(read_batches(write_text(tmp_path, {"a.csv": "a,y\n"}), target="y"))
    with pytest.raises(ValueError, match=r"the 2 files from '.*a\.csv' on hold no records"):
        next(read_batches(write_text(tmp_path, {"b.csv": "a,y\n"}), target="y", batch_size=3))


def test_classes_too_large_to_tell_apart_are_no_numbers(tmp_path):
    write_text(tmp_path, {"a.csv": "a,y\n1,99999999999999999998\n1,99999999999999999999\n"})
    with pytest.raises(ValueError, match=r"'y' of .* too large to tell apart\. Pass categorical=\['y'\]"):
        next(read_batches(tmp_path, target="y"))
    (batch,) = read_batches(tmp_path, target="y", categorical=["y"])
    assert batch.y.tolist() == ["99999999999999999998", "99999999999999999999"]


def test_a_file_that_ends_too_early_is_named(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(long_file(1).encode())[:-20])
    with pytest.raises(ValueError, match=r"'.*a\.csv\.gz' is damaged"):
        list(read_batches(tmp_path, target="y", batch_size=10))


def test_a_file_that_vanishes_is_named(tmp_path):
    batches = read_batches(write_text(tmp_path, {"1.csv": "a,y\n1,0\n", "2.csv": "a,y\n1,0\n"}), target="y")
    (tmp_path / "2.csv").unlink()
    next(batches)
    with pytest.raises(FileNotFoundError, match=r"2\.csv"):
        next(batches)


def test_missing_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'adforest\[data\]'"):
        read_batches(write_text(tmp_path, ONE), target="y")


# --- learning


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
    histories = [[replace(report, seconds=0) for report in model.history_] for model in (from_files, from_frames)]
    assert histories[0] == histories[1]
