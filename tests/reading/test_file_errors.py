import gzip
import sys
from pathlib import Path

import pandas as pd
import pytest

from adforest.reading import read_batches
from table_files import long_file, write_text

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
        ({"a.csv": ""}, "", r"'.*a\.csv' holds no records; expected at least one"),
        ({"a.csv": "a y\n1 0\n"}, "", r"target 'y' is no column of .*; its columns are 'a y'\. .* pass delimiter=';'"),
        (
            {"a.csv": "a,hour,y\n1,12:30,0\n"},
            "",
            r"'hour' of .* dates or times .*drop=\['hour'\].*categorical=\['hour'\]",
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
        ({"batch_size": 0}, ValueError, "batch_size is 0; expected an integer of at least 1"),
        ({"batch_size": 2.0}, ValueError, r"batch_size is 2\.0; expected"),
        ({"batch_size": True}, ValueError, "batch_size is True; expected"),
        ({"order": "size"}, ValueError, "order is 'size'; expected 'name', 'time' or None"),
        ({"delimiter": "||"}, ValueError, r"delimiter is '\|\|'; expected one character"),
        ({"decimal": ""}, ValueError, "decimal is ''; expected one character"),
        ({"decimal": None}, ValueError, "decimal is None; expected one character"),
        ({"thousands": ""}, ValueError, "thousands is ''; expected one character"),
        ({"thousands": "."}, ValueError, r"decimal and thousands are both '\.'; expected different characters"),
        ({"on_bad_lines": "warn"}, ValueError, "on_bad_lines is 'warn'; expected 'error' or 'skip'"),
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
