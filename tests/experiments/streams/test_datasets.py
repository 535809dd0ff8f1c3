import io
import os
import socket
import sys
import threading
import zipfile
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.streams.datasets import STREAMS, load_dataset, load_stream
from experiments.streams.uci import SOURCES
from experiments.streams.uci.archives import parse_archive
from experiments.streams.uci.downloads import SECONDS_TO_ANSWER, SECONDS_TO_CONNECT
from experiments.streams.uci.repository import digest_columns
from nextbatch.streams import digest_table, normalize

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
    assert ("time" in data.feature_names) == (name == "uifwa")  # elsewhere it only says when a record was made
    assert np.isfinite(data.X).all()


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="no data set 'iris'; expected one of arem, avila, eb, house, ldpa, uifwa"):
        load_dataset("iris")


# --- from a folder


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


def test_missing_file_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(
        FileNotFoundError,
        match=r"looked in .*expected a file 'ldpa\.parquet', or UCI's archive http.* as 'ldpa\.zip'.*Put it there",
    ):
        load_dataset("ldpa", tmp_path)


def test_missing_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "avila.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'adforest\[experiments\]'"):
        load_dataset("avila", tmp_path)


AREM = "# Columns: time,avg_rss12,var_rss12,avg_rss13,var_rss13,avg_rss23,var_rss23\n0,1,2,3,4,5,6\n250,1,2,3,4,5,7.5\n"


@pytest.fixture
def small_archive(tmp_path, monkeypatch):
    """Return the bytes of a small archive of AReM, known by its digest as the right one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("lying/dataset1.csv", AREM)
        archive.writestr("bending1/dataset1.csv", AREM)
    path = tmp_path / "small.zip"
    path.write_bytes(packed.getvalue())
    digest = digest_columns(parse_archive("arem", path))
    monkeypatch.setitem(SOURCES, "arem", replace(SOURCES["arem"], n_samples=4, digest=digest))
    return packed.getvalue()


def assert_small(data):
    np.testing.assert_array_equal(data.X, [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7.5]] * 2)
    assert data.y.tolist() == ["bending1", "bending1", "lying", "lying"]
    assert data.feature_names == tuple(SOURCES["arem"].layout)[1:-1]


@pytest.mark.parametrize("name", ["arem.zip", SOURCES["arem"].url.rpartition("/")[2]])
def test_folder_may_hold_the_archive(tmp_path, small_archive, name):
    (tmp_path / name).write_bytes(small_archive)
    assert_small(load_dataset("arem", tmp_path))


def test_archive_with_other_records_is_refused(tmp_path, small_archive, monkeypatch):
    (tmp_path / "arem.zip").write_bytes(small_archive)
    monkeypatch.setitem(SOURCES, "arem", replace(SOURCES["arem"], n_samples=42_239))
    with pytest.raises(ValueError, match=r"'arem\.zip' does not hold .*gave 4 records .* expected 42,239 records"):
        load_dataset("arem", tmp_path)


# --- from UCI


class Site:
    """A web server on this machine that stands in for UCI's, and remembers what it was asked for."""

    def __init__(self):
        self.files = {}
        self.asked = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                content = site.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return the folder of the cache; there is no folder of the user, and no way to UCI."""
    pooch = pytest.importorskip("pooch")
    pytest.importorskip("pyarrow")
    monkeypatch.delenv("ADFOREST_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    with closing(socket.socket()) as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        monkeypatch.setattr(
            "experiments.streams.uci.repository.SITE", f"http://127.0.0.1:{nobody_listens.getsockname()[1]}"
        )
        yield tmp_path / "cache" / "adforest"


@pytest.fixture
def site(cache, monkeypatch):
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr("experiments.streams.uci.repository.SITE", site.address)
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def test_first_call_fetches_and_later_ones_do_not(site, cache, small_archive, capfd):
    path = f"/{SOURCES['arem'].address}"
    site.files[path] = small_archive
    assert_small(load_dataset("arem"))
    assert site.asked == [path]
    assert [file.name for file in cache.iterdir()] == ["arem.parquet"]
    site.files.clear()
    assert_small(load_dataset("arem"))
    assert site.asked == [path]
    assert_small(load_dataset("arem", cache))
    assert capfd.readouterr() == ("", "")


def test_wrong_records_from_uci_are_not_kept(site, cache, small_archive, monkeypatch):
    monkeypatch.setitem(SOURCES, "arem", replace(SOURCES["arem"], digest="0" * 64))
    site.files[f"/{SOURCES['arem'].address}"] = small_archive
    with pytest.raises(ValueError, match=rf"gave 4 records .* with digest {'0' * 64}.*put 'arem\.parquet' in a folder"):
        load_dataset("arem")
    assert list(cache.iterdir()) == []


def test_archive_that_moved_away_is_named(site, cache):
    with pytest.raises(FileNotFoundError, match=rf"tried to fetch {site.address}/459/avila\.zip .*HTTPError: 404"):
        load_dataset("avila")
    assert list(cache.iterdir()) == []


def test_without_network_one_attempt_and_one_error_say_all(cache, capfd, monkeypatch):
    import pooch

    tried, retrieve = [], pooch.retrieve

    def watched(url, downloader, **arguments):
        tried.append(downloader.kwargs["timeout"])
        return retrieve(url, downloader=downloader, **arguments)

    monkeypatch.setattr(pooch, "retrieve", watched)
    with pytest.raises(
        FileNotFoundError,
        match=r"got no folder and ADFOREST_DATA is not set, so it tried to fetch http.*/290/tamilnadu\S+ and failed "
        r"with ConnectionError: .*Pass folder=\.\.\. or set ADFOREST_DATA to a folder that holds 'eb\.parquet', or "
        r"fetch that archive by hand and put it in such a folder as 'eb\.zip'",
    ) as caught:
        load_dataset("eb")
    assert isinstance(caught.value.__cause__, OSError)
    assert tried == [(SECONDS_TO_CONNECT, SECONDS_TO_ANSWER)]
    assert capfd.readouterr() == ("", "")
    assert list(cache.iterdir()) == []


def test_pooch_speaks_to_others_as_before(cache):
    import pooch

    before = pooch.get_logger().level
    with pytest.raises(FileNotFoundError):
        load_dataset("eb")
    assert pooch.get_logger().level == before


def test_missing_pooch_says_what_to_install(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"needs pooch.*pip install 'adforest\[experiments\]', or pass folder="):
        load_dataset("uifwa")


def test_missing_pyarrow_is_noticed_before_anything_is_fetched(site, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'adforest\[experiments\]'"):
        load_dataset("arem")
    assert site.asked == []


# --- real streams

SHAPES = {
    "elec2": (45_312, 8, 1, 2),
    "gas": (6_697, 128, 0, 6),
    "hotel": (119_390, 26, 11, 3),
    "outdoor": (4_000, 21, 0, 40),
}


@pytest.mark.parametrize("name", SHAPES)
def test_stream_has_the_size_it_is_known_by(name):
    if not (DATA / "streams" / f"{name}.parquet").is_file():
        pytest.skip(f"streams/{name}.parquet is not at hand; set ADFOREST_DATA to the folder that holds it")
    data = load_stream(name, DATA)
    assert (*data.X.shape, sum(data.categorical), len(np.unique(data.y))) == SHAPES[name]
    assert np.isnan(data.X).any() == (name == "hotel")


@pytest.fixture
def stream_file(tmp_path, monkeypatch):
    columns = {
        "country": ["PRT", None, "GBR", "PRT"],
        "guests": pd.array([1, None, 3, 4], dtype="Int64"),
        "price": [0.5, 1.5, None, 2.5],
        "day": ["2", "3", "2", "2"],
        "class": ["out", "gone", "out", "out"],
    }
    (tmp_path / "streams").mkdir()
    pd.DataFrame(columns).to_parquet(tmp_path / "streams" / "hotel.parquet")
    recipe = replace(STREAMS["hotel"], sha256=digest_table(normalize(pd.DataFrame(columns))))
    monkeypatch.setitem(STREAMS, "hotel", recipe)
    return tmp_path


def test_stream_keeps_its_order_and_what_is_missing(stream_file):
    data = load_stream("hotel", stream_file)
    assert data.name == "hotel"
    np.testing.assert_array_equal(data.X, [[1, 1, 0.5, 0], [np.nan, np.nan, 1.5, 1], [0, 3, np.nan, 0], [1, 4, 2.5, 0]])
    assert data.y.tolist() == ["out", "gone", "out", "out"]
    assert data.feature_names == ("country", "guests", "price", "day")
    assert data.categorical == (True, False, False, True)
    assert {name: labels.tolist() for name, labels in data.categories.items()} == {
        "country": ["GBR", "PRT"],
        "day": ["2", "3"],
    }
    shown = data.to_pandas()["country"]
    assert shown.isna().tolist() == [False, True, False, False]
    assert shown[0] == "PRT"


def test_stream_folder_may_come_from_the_environment(stream_file, monkeypatch):
    monkeypatch.setenv("ADFOREST_DATA", str(stream_file))
    assert load_stream("hotel").X.shape == (4, 4)


def test_missing_stream_names_the_file(tmp_path, monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=r"load_stream\('gas'\) looked in .*streams/gas\.parquet.*ADFOREST_DATA"
    ):
        load_stream("gas", tmp_path)
    monkeypatch.delenv("ADFOREST_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"got no folder.*expected a file 'streams/gas\.parquet'"):
        load_stream("gas")


def test_unknown_stream_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"there is no stream 'rain'; expected one of .*elec2, .*weatherAUS"):
        load_stream("rain")
