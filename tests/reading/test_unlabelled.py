"""Samples without a class are an error, or left out and counted by choice."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from adforest.reading import read_batches
from table_files import until_error, write_text

FILES = {"1.csv": "a,y\n1,u\n2,\n3,v\n", "2.csv": "a,y\n4,\n5,\n", "3.csv": "a,y\n6,u\n"}


@pytest.mark.parametrize("batch_size", [None, 1, 2, 100])
def test_they_are_left_out_and_counted_by_choice(tmp_path, batch_size):
    write_text(tmp_path, FILES)
    batches = read_batches(tmp_path, target="y", batch_size=batch_size, unlabelled="skip")
    assert batches.n_unlabelled == 0
    with pytest.warns(UserWarning, match="without a class") as caught:
        assert until_error(batches) == ([1, 3, 6], ["u", "v", "u"], None)
    assert [str(one.message) for one in caught] == [
        f"3 records without a class left out; the first is line 3 of '{tmp_path / '1.csv'}'."
    ]
    assert batches.n_unlabelled == 3


def test_they_are_an_error_that_names_the_choice(tmp_path):
    write_text(tmp_path, FILES)
    records, _, error = until_error(read_batches(tmp_path, target="y"))
    assert records == [1]
    assert error.endswith("Fill it in, remove the record, or pass unlabelled='skip' to leave such records out.")


@pytest.mark.parametrize("classes", [[0.0, None, float("nan"), 1.0], [0, None, None, 1], [None, None, True, False]])
def test_whatever_the_classes_are(tmp_path, classes):
    parquet.write_table(pa.table({"a": [1, 2, 3, 4], "y": classes}), tmp_path / "x.parquet")
    with pytest.warns(UserWarning, match=r"2 records without a class left out; the first is record \d of"):
        (batch,) = read_batches(tmp_path, target="y", unlabelled="skip")
    assert batch.y.tolist() == [one for one in classes if one is not None and one == one]
    assert len(batch.X) == 2


def test_files_without_any_class(tmp_path):
    write_text(tmp_path, {"1.csv": "a,y\n1,\n2,\n"})
    batches = read_batches(tmp_path, target="y", unlabelled="skip")
    with pytest.warns(UserWarning, match="2 records"), pytest.raises(ValueError, match="holds no records with a class"):
        next(batches)


def test_another_choice(tmp_path):
    with pytest.raises(ValueError, match="unlabelled is 'drop'; expected 'error' or 'skip'"):
        read_batches(tmp_path, target="y", unlabelled="drop")
