import hashlib
import io
import os
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.streams.datasets import _read_columns
from experiments.streams.uci import SOURCES, read_archive
from experiments.streams.uci.archives import parse_archive
from experiments.streams.uci.repository import check_columns, digest_columns

DATA = Path(os.environ.get("ADFOREST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def zip_bytes(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return packed.getvalue()


@pytest.fixture
def pack(tmp_path):
    """Return a function that packs files by path and returns the archive."""

    def pack(files):
        path = tmp_path / "archive.zip"
        path.write_bytes(zip_bytes(files))
        return path

    return pack


def assert_table(columns, expected):
    assert list(columns) == list(expected)
    for name, values in expected.items():
        assert columns[name].tolist() == values, name


# --- each format, small


def test_ldpa_loses_its_clocks(pack):
    archive = pack(
        {
            "ConfLongDemo_JSI.txt": "A01,010-000-024-033,633790226051280329,27.05.2009 14:03:25:127,"
            "4.062931060791016,1.8924342393875122,0.5074254274368286,walking\r\n"
            "A01,020-000-033-111,633790226051820913,27.05.2009 14:03:25:183,"
            "4.291953563690186,1.7811404466629028,1.3444952964782715,standing up from sitting on the ground\r\n"
        }
    )
    assert_table(
        parse_archive("ldpa", archive),
        {
            "sequence": ["A01", "A01"],
            "tag": ["010-000-024-033", "020-000-033-111"],
            "x": [4.062931060791016, 4.291953563690186],
            "y": [1.8924342393875122, 1.7811404466629028],
            "z": [0.5074254274368286, 1.3444952964782715],
            "class": ["walking", "standing up from sitting on the ground"],
        },
    )


def test_uifwa_takes_the_person_from_the_file_name_in_the_order_of_the_numbers(pack):
    folder = "User Identification From Walking Activity"
    inner = zip_bytes(
        {
            f"{folder}/10.csv": "0,7,8,9\n",
            f"{folder}/2.csv": "0,4,5,6\n0.030639,4.5,-0.29965,6.5\n",
            f"{folder}/1.csv": "0,0.69464,3.1735,7.5048\n",
            f"{folder}/README": "Each file is one person, 3.csv is not here.\n",
            f"__MACOSX/{folder}/._1.csv": b"\x00\x05\x16\x07\xff",
        }
    )
    assert_table(
        parse_archive("uifwa", pack({f"{folder}.zip": inner})),
        {
            "time": [0.0, 0.0, 0.030639, 0.0],
            "x": [0.69464, 4.0, 4.5, 7.0],
            "y": [3.1735, 5.0, -0.29965, 8.0],
            "z": [7.5048, 6.0, 6.5, 9.0],
            "class": ["1", "2", "2", "10"],
        },
    )


def test_eb_is_what_follows_the_header(pack):
    header = [
        "@relation eb",
        "",
        "@attribute forkva numeric",
        "@attribute forkw numeric",
        "@attribute type {Bank,Residential(individual)}",
        "@attribute sector numeric",
        "@attribute serviceID {671004572,5783456902}",
        "",
        "@DATA",
    ]
    records = [
        "0.865935636652813,0.143762528699181,Bank,1,671004572",
        "0.5, 0.25, Residential(individual), 1, 5783456902",
    ]
    columns = parse_archive("eb", pack({"eb.arff": "\r\n".join([*header, *records, "%", "%", "%"])}))
    assert_table(
        columns,
        {
            "forkva": [0.865935636652813, 0.5],
            "forkw": [0.143762528699181, 0.25],
            "type": ["Bank", "Residential(individual)"],
            "sector": [1, 1],
            "class": ["671004572", "5783456902"],
        },
    )
    assert columns["sector"].dtype == np.int64


def test_arem_with_spaces_for_commas_and_commas_too_many(pack):
    header = "# Task: some\r\n# Frequency (Hz): 20\r\n# Clock (millisecond): 250\r\n# Duration (seconds): 120\r\n"
    header += "# Columns: time,avg_rss12,var_rss12,avg_rss13,var_rss13,avg_rss23,var_rss23\r\n"
    archive = pack(
        {
            "cycling/dataset9.csv": header + "0,1,2,3,4,5,6\n250,1.5,2,3,4,5,6,",
            "bending2/dataset4.csv": header.replace(",", " ") + "0 7 0.5 7 7 7 7 \n250 8 0.43 8 8 8 8 \n",
            "bending1/dataset10.csv": header + "0,10,0,0,0,0,0\n",
            "bending1/dataset2.csv": header + "0,2,0,0,0,0,0  \r\n\r\n",
            "bendingType.pdf": b"%PDF-1.4 \xff",
        }
    )
    columns = parse_archive("arem", archive)
    assert_table(
        {name: columns[name] for name in ("time", "avg_rss12", "var_rss12", "class")},
        {
            "time": [0, 0, 0, 250, 0, 250],
            "avg_rss12": [2.0, 10.0, 7.0, 8.0, 1.0, 1.5],
            "var_rss12": [0.0, 0.0, 0.5, 0.43, 2.0, 2.0],
            "class": ["bending1", "bending1", "bending2", "bending2", "cycling", "cycling"],
        },
    )
    assert list(columns) == list(SOURCES["arem"].layout)
    assert columns["time"].dtype == np.int64


AVILA_RECORD = "0.266074,-0.16562,0.32098,0.483299,0.17234,0.273364,0.371178,0.929823,0.251173,0.159345"


def test_avila_is_the_training_file_and_then_the_test_file(pack):
    columns = parse_archive(
        "avila", pack({"avila/avila-ts.txt": AVILA_RECORD + ",W\r\n", "avila/avila-tr.txt": AVILA_RECORD + ",A\r\n"})
    )
    assert list(columns) == list(SOURCES["avila"].layout)
    assert columns["class"].tolist() == ["A", "W"]
    assert columns["modular_ratio_by_interlinear_spacing"].tolist() == [0.159345, 0.159345]


def test_a_file_packed_twice_counts_once(pack):
    inner = zip_bytes({"avila-tr.txt": AVILA_RECORD + ",B\n"})
    columns = parse_archive("avila", pack({"a/avila.zip": inner, "b/avila-tr.txt": AVILA_RECORD + ",A\n"}))
    assert columns["class"].tolist() == ["A"]


NUMBER = st.floats(allow_nan=False, allow_infinity=False)


@given(
    rows=st.lists(st.tuples(NUMBER, NUMBER, NUMBER, NUMBER), min_size=1, max_size=5), separator=st.sampled_from(", ")
)
def test_numbers_come_back_to_the_last_bit(rows, separator):
    text = "\n".join(separator.join(map(repr, row)) for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "uifwa.zip"
        archive.write_bytes(zip_bytes({"7.csv": text}))
        columns = parse_archive("uifwa", archive)
    np.testing.assert_array_equal(np.column_stack([columns[name] for name in ("time", "x", "y", "z")]), rows)


# --- what is not an archive of the data set


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"1.csv": "0,1,2,3\n0,1,2\n"}, r"line 2 of '1\.csv' has 3 fields, expected 4: time, x, y, z"),
        ({"1.csv": "0,1,two,3\n"}, r"column 'y' has a field that is no number: .*two.*"),
        ({"1.csv": "\n"}, r"expected records in files named like .*csv, and there are none"),
        ({"one.csv": "0,1,2,3\n"}, r"expected records in files named like .*csv, and there are none"),
    ],
)
def test_another_format_is_refused_with_the_place(pack, files, message):
    with pytest.raises(ValueError, match=rf"'archive\.zip' does not hold the data set 'uifwa': {message}\. Fetch http"):
        read_archive("uifwa", pack(files))


def test_what_is_no_zip_file_is_refused(tmp_path):
    page = tmp_path / "eb.zip"
    page.write_text("<html>Please sign in</html>")
    with pytest.raises(ValueError, match=r"'eb\.zip' does not hold .*not a zip file.* pass folder=") as caught:
        read_archive("eb", page)
    assert isinstance(caught.value.__cause__, zipfile.BadZipFile)


def test_a_damaged_archive_is_refused(pack):
    archive = pack({"1.csv": "0,1,2,3\n" * 1000})
    content = bytearray(archive.read_bytes())
    content[45] ^= 0xFF  # in the packed records, behind the 30 bytes and the name of the local header
    archive.write_bytes(content)
    with pytest.raises(ValueError, match=r"'archive\.zip' does not hold the data set 'uifwa'"):
        read_archive("uifwa", archive)


# --- the digest


def table(**changes):
    return {"x": np.array([1.0, 2.0]), "tag": np.array(["a", "bc"]), "class": np.array(["u", "v"])} | changes


def test_digest_of_equal_tables_is_equal():
    assert digest_columns(table()) == digest_columns(table(x=np.array([1, 2])))
    assert digest_columns(table(x=np.array([0.0]))) == digest_columns(table(x=np.array([-0.0])))
    assert digest_columns(table(), ("x",)) == digest_columns(table(x=np.array([5.0, 6.0])), ("x",))


@pytest.mark.parametrize(
    "other",
    [
        table(x=np.array([2.0, 1.0])),
        table(x=np.array([1.0, np.nextafter(2.0, 3.0)])),
        table(tag=np.array(["ab", "c"])),
        table(tag=np.array(["a", "bc", ""])),
        {name: table()[name] for name in ("tag", "x", "class")},
        {"y" if name == "x" else name: values for name, values in table().items()},
    ],
    ids=["order", "last bit", "where words end", "more records", "order of columns", "name of a column"],
)
def test_digest_of_another_table_differs(other):
    assert digest_columns(other) != digest_columns(table())


def test_another_table_is_refused_with_what_it_is(pack, monkeypatch):
    archive = pack({"1.csv": "0,1,2,3\n0,4,5,6\n"})
    columns = parse_archive("uifwa", archive)
    digest = digest_columns(columns)
    with pytest.raises(
        ValueError,
        match=rf"gave 2 records of time, x, y, z, class with digest {digest}, expected 149,332 records with digest "
        rf"{SOURCES['uifwa'].digest}\. Fetch https://archive.*286.* or put 'uifwa\.parquet' in a folder",
    ):
        read_archive("uifwa", archive)
    monkeypatch.setitem(SOURCES, "uifwa", replace(SOURCES["uifwa"], n_samples=2, digest=digest))
    assert_table(read_archive("uifwa", archive), {name: values.tolist() for name, values in columns.items()})


# --- the data sets themselves, where they are at hand


def as_text(value):
    """Write a number as short as it can be, without an exponent, and text as it is."""
    text = str(value)
    is_exponential = isinstance(value, float) and "e" in text
    return np.format_float_positional(value, trim="-") if is_exponential else text.removesuffix(".0")


def as_lines(columns, names=None):
    """Write records as UCI's files do."""
    fields = [map(as_text, columns[name].tolist()) for name in names or columns]
    return [",".join(record) + "\r\n" for record in zip(*fields, strict=True)]


def pack_labelled(columns, path):
    """Begin a file wherever the clock starts again."""
    lines = as_lines(columns, list(columns)[:-1])
    clock, label = columns["time"], columns["class"]
    starts = np.flatnonzero(np.r_[True, (clock[1:] < clock[:-1]) | (label[1:] != label[:-1])])
    files, numbers = {}, {}
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        numbers[label[start]] = numbers.get(label[start], 0) + 1
        name = path.format(label=label[start], number=numbers[label[start]])
        files[name] = files.get(name, "") + "".join(lines[start:stop])
    return files


def pack_avila(columns):
    lines = as_lines(columns)
    return {"avila/avila-tr.txt": "".join(lines[:10_430]), "avila/avila-ts.txt": "".join(lines[10_430:])}


PACK = {
    "arem": lambda columns: pack_labelled(columns, "{label}/dataset{number}.csv"),
    "avila": pack_avila,
    "eb": lambda columns: {"eb.arff": "@relation eb\r\n@data\r\n" + "".join(as_lines(columns))},
    "uifwa": lambda columns: pack_labelled(columns, "User Identification From Walking Activity/{label}.csv"),
}


def columns_at_hand(name):
    pytest.importorskip("pyarrow")
    if not (DATA / f"{name}.parquet").is_file():
        pytest.skip(f"{name}.parquet is not at hand; set ADFOREST_DATA to the folder that holds it")
    return _read_columns(DATA / f"{name}.parquet")


@pytest.mark.parametrize("name", SOURCES)
def test_the_data_set_passes_its_check(name):
    columns = columns_at_hand(name)
    check_columns(name, columns)
    assert {column: values.dtype.kind for column, values in columns.items()} == {
        column: np.dtype(kind).kind for column, kind in SOURCES[name].layout.items() if kind is not None
    }


@pytest.mark.parametrize("name", PACK)
def test_the_whole_data_set_comes_back_from_an_archive(name, pack):
    columns = columns_at_hand(name)
    read = read_archive(name, pack(PACK[name](columns)))
    assert_table(read, {column: values.tolist() for column, values in columns.items()})


def test_avila_is_byte_for_byte_what_uci_publishes():
    # MD5 sums of the two files that others took from UCI and put in their own programs.
    files = pack_avila(columns_at_hand("avila"))
    found = [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in files.values()]
    assert found == ["b78ee4f810c6de0e0c933ef36345f53b", "b0eb4691d779086bcd73ae4951b891ee"]


def test_a_changed_record_fails_the_check():
    columns = columns_at_hand("avila")
    columns["weight"] = columns["weight"] + 1e-6 * (np.arange(20_867) == 17)
    with pytest.raises(ValueError, match=r"gave 20,867 records .* expected 20,867 records with digest"):
        check_columns("avila", columns)
