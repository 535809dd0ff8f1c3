import os
import sys
from pathlib import Path

import numpy as np
import pytest

from adforest.streams import load_dataset

DATA = Path(os.environ.get("ADFOREST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")

# name: records, columns, categorical columns, class values, as in the paper's table of data sets (its attribute counts
# include the class).
PAPER = {
    "ldpa": (164_860, 5, 2, 11),
    "uifwa": (149_332, 4, 0, 22),
    "eb": (45_781, 4, 1, 31),
    "arem": (42_239, 6, 0, 7),
    "avila": (20_867, 10, 0, 12),
    "house": (300_000, 9, 5, 7),
}


@pytest.mark.parametrize("name", PAPER)
def test_data_set_has_the_size_the_paper_gives(name):
    if name != "house" and not (DATA / f"{name}.parquet").is_file():
        pytest.skip(f"{name}.parquet is not at hand; set ADFOREST_DATA to the folder that holds it")
    data = load_dataset(name, DATA)
    assert (*data.X.shape, sum(data.categorical), len(np.unique(data.y))) == PAPER[name]
    assert len(data.y) == len(data.X)
    assert len(data.feature_names) == len(data.categorical) == data.X.shape[1]
    assert "time" not in data.feature_names or name == "uifwa"
    assert np.isfinite(data.X).all()


@pytest.fixture
def small_file(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"tag": ["b", "a", "b"], "x": [0.5, 1.5, 2.5], "class": ["up", "down", "up"]})
    parquet.write_table(table, tmp_path / "avila.parquet")
    return tmp_path


def test_text_becomes_codes_that_lead_back_to_the_text(small_file):
    data = load_dataset("avila", small_file)
    np.testing.assert_array_equal(data.X, [[1, 0.5], [0, 1.5], [1, 2.5]])
    assert data.y.tolist() == ["up", "down", "up"]
    assert data.categorical == (True, False)
    assert list(data.to_pandas()["tag"]) == ["b", "a", "b"]


def test_folder_may_come_from_the_environment(small_file, monkeypatch):
    monkeypatch.setenv("ADFOREST_DATA", str(small_file))
    assert load_dataset("avila").X.shape == (3, 2)


def test_no_folder_says_how_to_name_one(monkeypatch):
    monkeypatch.delenv("ADFOREST_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"got no folder .* expected .*'eb\.parquet'.* set ADFOREST_DATA"):
        load_dataset("eb")


def test_missing_file_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"looked in .*expected a file 'ldpa\.parquet'.*Put it there"):
        load_dataset("ldpa", tmp_path)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="no data set 'iris'; expected one of arem, avila, eb, house, ldpa, uifwa"):
        load_dataset("iris")


def test_missing_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "avila.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'adforest\[data\]'"):
        load_dataset("avila", tmp_path)
