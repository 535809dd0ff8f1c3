import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from adforest.reading import read_batches
from table_files import joined, long_file, write, write_text


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
            r"line 2 of '.*2\.csv' holds 'x' in column 'a'; expected a number, .* categorical=\['a'\]",
        ),
        ("a,b,y\n1,u,0\n\n2,v,w\n", r"line 4 of .* holds 'w' in column 'y'; expected an integer"),
        ("a,b,y\n1,u,0\n2,v,1.5\n", r"line 3 of .* holds '1\.5' in column 'y'; expected an integer"),
        ("a,b,y\n1,u,0\n2,v,\n", r"line 3 of '.*2\.csv' has no value in the target column 'y'; .*remove the record"),
        ("a,b,y\n1,u\n", r"line 2 of '.*2\.csv' has 2 fields; expected 3, one for each column"),
        ("a,b,y\n1,\udcfc,0\n", r"line 2 of '.*2\.csv' is not UTF-8.*encoding='cp1252'"),
        ("a,b,\udcfc\n1,u,0\n", r"line 1 of '.*2\.csv' is not UTF-8.*encoding='cp1252'"),
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
    n_before = 3 + second.count("\n1,u,0\n") * second.count("\n2,v,")  # the second file has a good record in some cases
    assert joined(seen)[0]["a"] == [1, 2, 3, 1][:n_before]
    sizes = {None: [3, n_before - 3], 2: [2, n_before - 2], 100: [n_before]}[batch_size]
    assert [len(batch.y) for batch in seen] == [size for size in sizes if size]


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
    write_text(tmp_path, {"1.csv": "a,b,c,y\n1,,,u\n", "2.csv": "b,a,y\n,,u\n", "3.csv": "a,b,c,y\n1,text,2.5,u\n"})
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


def test_a_large_csv_is_judged_by_its_first_megabyte_if_it_is_to_be_cut(tmp_path):
    write_text(tmp_path, {"x.csv": long_file("late")})
    batches = read_batches(tmp_path, target="y", batch_size=50_000)
    assert [len(next(batches).y) for _ in range(3)] == [50_000] * 3
    with pytest.raises(ValueError, match=r"line 150002 of .* holds 'late' in column 'a'; expected a number"):
        next(batches)
    with pytest.raises(ValueError, match=r"line 150002 of .* holds 'late' in column 'a'; expected a number"):
        read_batches(tmp_path, target="y")
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
    batches = read_batches(tmp_path, target="y")
    assert len(next(batches).y) == 70_000
    with pytest.raises(ValueError, match=r"record 70001 of '.*' has no value in the target column 'y'"):
        next(batches)


def test_the_good_beginning_of_a_bad_file_is_a_batch_where_files_are_batches(tmp_path):
    write_text(tmp_path, {"1.csv": "a,y\n1,u\n", "2.csv": long_file("late")})
    batches = read_batches(tmp_path, target="y")
    assert next(batches).X["a"].to_pylist() == [1]
    assert len(next(batches).y) == 150_000
    with pytest.raises(ValueError, match=r"line 150002 of '.*2\.csv' holds 'late' in column 'a'"):
        next(batches)
