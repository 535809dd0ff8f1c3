"""Files that come after earlier batches: what columns hold is known; and records to be answered."""

import io

import pyarrow as pa
import pytest
from pyarrow import parquet

from adforest.reading import read_batches
from adforest.reading.records import read_records
from adforest.reading.sources import spool
from table_files import EXPECTED, FORMATS, TABLE, write, write_text

NUMBERS, TEXT = pa.float64(), pa.string()


def test_known_columns_are_not_judged_again(tmp_path):
    folder = write_text(tmp_path, {"x.csv": "a,b,y\n1,7,1\n2,,2\n"})
    (batch,) = read_batches(folder, target="y", types={"a": NUMBERS, "b": TEXT, "y": TEXT})
    assert batch.X.to_pydict() == {"a": [1, 2], "b": ["7", None]}
    assert batch.y.tolist() == ["1", "2"]


def test_text_where_numbers_were_is_named_by_its_line(tmp_path):
    folder = write_text(tmp_path, {"x.csv": "a,y\nfour,1\nfive,2\n"})
    with pytest.raises(ValueError, match=r"line 2 of '.*x\.csv' holds 'four' in column 'a'; expected a number"):
        list(read_batches(folder, target="y", types={"a": NUMBERS}))


def test_other_types_of_typed_files_are_named(tmp_path):
    write(pa.table({"a": ["u"], "y": [1]}), tmp_path / "x.parquet")
    message = r"column 'a' of '.*x\.parquet' holds text; expected numbers, as in the batches before\."
    with pytest.raises(ValueError, match=message):
        list(read_batches(tmp_path, target="y", types={"a": NUMBERS}))


def test_columns_to_drop_may_lack_in_later_files(tmp_path):
    folder = write_text(tmp_path, {"x.csv": "a,y\n1,1\n"})
    with pytest.raises(ValueError, match="drop names 'id'"):
        read_batches(folder, target="y", drop=["id"])
    (batch,) = read_batches(folder, target="y", drop=["id"], types={})
    assert batch.X.column_names == ["a"]


def test_a_batch_that_an_error_cut_short_says_so(tmp_path):
    folder = write_text(tmp_path, {"1.csv": "a,y\n1,1\n2,2\n", "2.csv": "a,y\n3,1\n4,2,5\n"})
    batches = read_batches(folder, target="y")
    assert [next(batches).is_whole, next(batches).is_whole] == [True, False]
    with pytest.raises(ValueError, match="has 3 fields"):
        next(batches)


# --- records to be answered

TYPES = {"street, name": TEXT, "beds": NUMBERS, "view": NUMBERS}


@pytest.mark.parametrize("suffix", FORMATS)
def test_records_of_every_format(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    write(TABLE, path)
    tables = [X for X, _ in read_records(path, TYPES, n_samples=3)]
    found = pa.concat_tables(tables)
    assert found.to_pydict() == {name: EXPECTED[name] for name in TYPES}
    assert found.schema.types == [TEXT, NUMBERS, NUMBERS]


def test_columns_are_kept_as_they_are(tmp_path):
    write_text(tmp_path, {"x.csv": "id,a\n007,1\n,2\n"})
    ((X, kept),) = read_records(tmp_path / "x.csv", {"a": NUMBERS}, keep=["id", "a"])
    assert X.to_pydict() == {"a": [1, 2]}
    assert kept.to_pydict() == {"id": ["007", None], "a": [1, 2]}
    parquet.write_table(pa.table({"day": pa.array([0, 1], pa.date32()), "a": [1, 2]}), tmp_path / "x.parquet")
    ((_, kept),) = read_records(tmp_path / "x.parquet", {"a": NUMBERS}, keep=["day"])
    assert kept.schema.types == [pa.date32()]
    with pytest.raises(ValueError, match=r"lacks 'jd', which is to be kept; its columns are 'day', 'a'\. Name one"):
        list(read_records(tmp_path / "x.parquet", {"a": NUMBERS}, keep=["jd"]))


def test_columns_that_lack(tmp_path):
    path = write_text(tmp_path, {"x.csv": "a,c\n1,5\n"})
    with pytest.raises(ValueError, match=r"line 1 of '.*x\.csv' lacks 'b'; expected the columns of the model"):
        list(read_records(path, {"a": NUMBERS, "b": TEXT}))
    ((X, _),) = read_records(path, {"a": NUMBERS, "b": TEXT}, may_lack=True)
    assert X.to_pydict() == {"a": [1]}
    with pytest.raises(ValueError, match=r"has none of the columns learnt; expected 'e'"):
        list(read_records(path, {"e": NUMBERS}, may_lack=True))


# --- standard input


@pytest.mark.parametrize("suffix", [one for one in FORMATS if not one.startswith(("CSV", "tsv", "jsonl.", "arff."))])
def test_standard_input_is_known_by_its_first_bytes(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    write(TABLE, path)
    (tmp_path / "spooled").mkdir()
    (batch,) = read_batches(spool(io.BytesIO(path.read_bytes()), tmp_path / "spooled"), target="rent")
    assert batch.X.to_pydict() == EXPECTED
