import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from adforest.reading import read_batches
from adforest.reading.paths import natural_key
from table_files import joined, write, write_text

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


@pytest.mark.filterwarnings("ignore:.* holds no records, and is passed over")
@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "arrows", "arff"])
@given(batch_size=st.integers(1, 25), n_samples=st.integers(1, 25))
@settings(deadline=None, max_examples=15)
def test_any_batch_size_gives_the_same_sequence(three_files, suffix, batch_size, n_samples):
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("BLOCK_VALUES", "BLOCK_RECORDS"):
            patch.setattr(f"adforest.reading.formats.{limit}", n_samples)
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
        with pytest.warns(UserWarning, match=rf"'.*1\.{folder.name}' holds no records, and is passed over\. Look at"):
            assert [len(batch.y) for batch in read_batches(folder, target="rent")] == [7, 13]


MEASURE = """
import sys
import pyarrow as pa
from adforest.reading import read_batches
for path in sys.argv[1:]:
    n_samples = sum(len(batch.y) for batch in read_batches(path, target="rent", batch_size=1000))
    print(n_samples, pa.default_memory_pool().max_memory())
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
    assert [n_samples for n_samples, _ in found] == [200_000] * 3
    peaks = [peak for _, peak in found]
    assert peaks[0] < table.nbytes / 3
    assert peaks[1] < table.nbytes / 3
    assert peaks[2] < (tmp_path / "x.csv").stat().st_size / 3


def test_a_large_arff_file_is_never_in_memory_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("adforest.reading.formats.BLOCK_VALUES", 1)  # the smallest block has 256 records
    n_samples = 20_000
    write(pa.table({"a": np.arange(n_samples) / 7, "rent": ["low"] * n_samples}), tmp_path / "x.arff")
    tracemalloc.start()
    try:
        assert sum(len(batch.y) for batch in read_batches(tmp_path, target="rent", batch_size=100)) == n_samples
        assert tracemalloc.get_traced_memory()[1] < (tmp_path / "x.arff").stat().st_size / 2
    finally:
        tracemalloc.stop()
