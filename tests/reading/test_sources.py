import gzip
import io
import zipfile
from pathlib import Path

import pytest

from adforest.reading import read_batches
from table_files import joined, long_file, until_error, write_text

EMPTY = "holds no records, and is passed over. Look at what wrote it, or leave it out."


def write_zip(path, members):
    """Write an archive of text files in the order given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


# --- zip


@pytest.mark.parametrize("batch_size", [None, 2])
def test_an_archive_is_its_members_by_name(tmp_path, batch_size):
    members = {"part-10.csv": "a,y\n4,u\n", "part-2.csv": "y,a\nu,1\nv,2\nu,3\n"}
    path = write_zip(tmp_path / "x.zip", members | {"__MACOSX/._part-2.csv": "?", ".hidden": "?"})
    batches = list(read_batches(path, target="y", batch_size=batch_size))
    assert joined(batches) == ({"a": [1, 2, 3, 4]}, ["u", "v", "u", "u"])
    assert [len(batch.y) for batch in batches] == ([3, 1] if batch_size is None else [2, 2])
    assert batches[-1].files == ((path / "part-2.csv", path / "part-10.csv") if batch_size else (path / "part-10.csv",))


def test_archives_of_one_file_in_a_folder(tmp_path):
    for n in (1, 2):
        write_zip(tmp_path / f"{n}.csv.zip", {f"deep/{n}.csv": f"a,y\n{n},u\n"})
    write_zip(tmp_path / "3.zip", {"3.csv.gz": gzip.compress(b"a,y\n3,u\n")})
    assert joined(read_batches(tmp_path, target="y"))[0] == {"a": [1, 2, 3]}


def test_an_archive_of_arff(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"x.arff": "@relation r\n@attribute a real\n@attribute y {u}\n@data\n?,u\n"})
    assert joined(read_batches(path, target="y")) == ({"a": [None]}, ["u"])


def test_errors_name_the_member(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"1.csv": "a,y\n1,u\n", "2.csv": "a,y\n2,u\n3\n"})
    records, _, error = until_error(read_batches(path, target="y"))
    assert records == [1, 2]
    assert error.startswith(f"line 3 of '{path / '2.csv'}' has 1 field; expected 2")


def test_a_large_member_is_cut_and_may_be_left_halfway(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"x.csv": long_file("1")})
    assert [len(batch.y) for batch in read_batches(path, target="y", batch_size=100_000)] == [100_000, 50_001]
    assert len(next(read_batches(path, target="y", batch_size=10)).y) == 10


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "'{path}' holds no files; expected .csv or .tsv or .jsonl or .ndjson or .arff files. Leave it out."),
        (
            {"a.csv": "", "b.parquet": ""},
            "'{path}' holds 'b.parquet'; expected .csv, .tsv, .jsonl, .ndjson, .arff files alone in a zip archive. "
            "Unpack it, and pass the files to be read.",
        ),
        (None, "'{path}' is damaged (File is not a zip file). Write it again, or leave it out."),
    ],
)
def test_archives_that_cannot_be_read(tmp_path, members, message):
    path = tmp_path / "x.zip"
    path.write_bytes(b"no archive") if members is None else write_zip(path, members)
    with pytest.raises(ValueError) as caught:
        read_batches(path, target="y")
    assert str(caught.value) == message.format(path=path)


def test_an_archive_with_a_password(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"1.csv": "a,y\n1,u\n"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # what the archive says of the member
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"'.*x\.zip' is protected by a password, .*\. Unpack it first\."):
        read_batches(path, target="y")


def test_an_archive_with_a_damaged_member(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"1.csv": "a,y\n1,u\n", "2.csv": long_file("1")})
    content = bytearray(path.read_bytes())
    content[-400] ^= 0xFF
    path.write_bytes(content)
    records, _, error = until_error(read_batches(path, target="y"))
    assert records[0] == 1
    assert error.startswith(f"'{path / '2.csv'}' is damaged (")


# --- encodings


@pytest.mark.parametrize("suffix", ["csv", "arff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_is_known_by_its_first_bytes(tmp_path, suffix, encoding):
    arff = "@relation r\n@attribute größe real\n@attribute y {ü}\n@data\n1,ü\n"
    write_text(tmp_path, {f"x.{suffix}": {"csv": "größe,y\n1,ü\n", "arff": arff}[suffix]}, encoding)
    assert joined(read_batches(tmp_path, target="y")) == ({"größe": [1]}, ["ü"])


@pytest.mark.parametrize("suffix", ["csv", "arff"])
@pytest.mark.parametrize(("letter", "meant"), [("ü", "0xFC, which is 'ü' in cp1252 (Windows)"), ("\x81", "0x81")])
def test_other_encodings_are_named_by_line_and_letter(tmp_path, suffix, letter, meant):
    text = {"csv": "b,a,y\nx,1,u\n{},2,u\n", "arff": "@relation r\n@attribute y {{u}}\n% {}\n@data\nu\n"}[suffix]
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(text.format(letter).encode("latin-1"))
    with pytest.raises(ValueError) as caught:
        read_batches(path, target="y")
    assert str(caught.value) == (
        f"line 3 of '{path}' is not UTF-8: it holds the byte {meant}. Pass the encoding of the file, for example "
        "encoding='cp1252' or 'latin-1'."
    )


def test_another_encoding_late_in_a_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(("b,a,y\n" + "x,1,u\n" * 300_000 + "ü,2,u\n").encode("cp1252"))
    records, _, error = until_error(read_batches(path, target="y", batch_size=70_000))
    assert len(records) == 300_000
    assert error.startswith(f"line 300002 of '{path}' is not UTF-8: it holds the byte 0xFC")
    assert until_error(read_batches(path, target="y", batch_size=70_000, encoding="cp1252"))[2] is None


@pytest.mark.parametrize("thousands", [None, ","])
def test_another_encoding_in_a_column_of_numbers(tmp_path, thousands):
    write_text(tmp_path, {"1.csv": "a,y\n1,u\n"})
    (tmp_path / "2.csv").write_bytes("a,y\n2,u\n20°,u\n".encode("cp1252"))
    records, _, error = until_error(read_batches(tmp_path, target="y", thousands=thousands))
    assert records == [1, 2]
    assert error.startswith(
        f"line 3 of '{tmp_path / '2.csv'}' is not UTF-8: it holds the byte 0xB0, which is '°' in cp"
    )


def test_a_named_encoding_that_is_wrong(tmp_path):
    path = write_text(tmp_path, {"x.csv": "a,y\n1,u\n"}, "utf-8") / "x.csv"
    with pytest.raises(ValueError, match=r"'.*x\.csv' is not UTF-16\. Pass the encoding of the file, for example"):
        read_batches(path, target="y", encoding="utf-16")
    path = write_text(tmp_path, {"x.csv": "a,y\n1,ü\n"}, "utf-8") / "x.csv"
    with pytest.raises(ValueError, match=r"line 2 of '.*x\.csv' is not ASCII: it holds the byte 0xC3"):
        read_batches(path, target="y", encoding="ascii")


# --- delimiters


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_makes_the_target_a_column(tmp_path, delimiter):
    text = '"a;b,c|d",e f,y\n1,2,u\n'.replace(",", delimiter).replace(f"b{delimiter}c", "b,c")
    (batch,) = read_batches(write_text(tmp_path, {"x.csv": text}), target="y")
    assert batch.X.to_pydict() == {"a;b,c|d": [1], "e f": [2]}


def test_files_may_differ_in_their_delimiter(tmp_path):
    write_text(tmp_path, {"1.csv": "a,y\n1,u\n", "2.csv": "a;y\n2;u\n"})
    assert joined(read_batches(tmp_path, target="y"))[0] == {"a": [1, 2]}


def test_the_names_of_a_wrong_target_are_parted_too(tmp_path):
    write_text(tmp_path, {"x.csv": "a;b;y\n1;2;u\n"})
    with pytest.raises(ValueError, match=r"the target 'rent' is no column of .*; its columns are 'a', 'b', 'y'\."):
        read_batches(tmp_path, target="rent")


# --- files without records, and row numbers


@pytest.mark.parametrize("batch_size", [None, 2])
def test_empty_files_are_passed_over_with_a_warning(tmp_path, batch_size):
    write_text(tmp_path, {"1.csv": "", "2.csv": "q\n", "3.csv": "a,y\n1,u\n"})
    write_text(tmp_path, {"4.csv": "\n\n", "5.csv": "b,c\n\n", "6.csv": "a,y\n2,v\n"})
    with pytest.warns(UserWarning, match="no records") as caught:
        assert joined(read_batches(tmp_path, target="y", batch_size=batch_size)) == ({"a": [1, 2]}, ["u", "v"])
    assert [str(one.message) for one in caught] == [f"'{tmp_path / f'{n}.csv'}' {EMPTY}" for n in (1, 2, 4, 5)]
    assert {Path(one.filename).name for one in caught} == {"table_files.py"}, "warnings point at the caller's line"


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "arff", "parquet", "feather", "arrows", "zip"])
def test_empty_files_of_every_format(tmp_path, suffix):
    content = {"csv.gz": gzip.compress(b""), "zip": zip_of_nothing()}.get(suffix, b"")
    (tmp_path / f"1.{suffix}").write_bytes(content)
    write_zip(tmp_path / "2.zip", {"x.csv": "a,y\n1,u\n"})
    write_text(tmp_path, {"2.csv": "a,y\n1,u\n"})
    with pytest.warns(UserWarning, match="holds no records, and is passed over"):
        assert joined(read_batches([tmp_path / f"1.{suffix}", tmp_path / "2.csv"], target="y"))[0] == {"a": [1]}


def zip_of_nothing():
    """Return an archive of an empty file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.csv", "")
    return buffer.getvalue()


@pytest.mark.parametrize(("name", "called"), [("", "no name"), ("Unnamed: 0", "the name 'Unnamed: 0'")])
def test_row_numbers_that_pandas_wrote_are_noticed(tmp_path, name, called):
    path = write_text(tmp_path, {"x.csv": f"{name},a,y\n0,5,u\n1,6,v\n"}) / "x.csv"
    with pytest.warns(UserWarning, match="row numbers") as caught:
        (batch,) = read_batches(path, target="y")
    assert [str(one.message) for one in caught] == [
        f"the first column of '{path}' has {called} and holds integers: row numbers, as pandas writes them. They "
        f"are learnt like any other column; pass drop=[{name!r}] to leave them out."
    ]
    assert caught[0].filename == __file__
    assert batch.X.column_names == [name, "a"]
    (batch,) = read_batches(path, target="y", drop=[name])
    assert batch.X.column_names == ["a"]
    (batch,) = read_batches(path, target="y", columns=["a"])
    assert batch.X.column_names == ["a"]


def test_a_line_too_long_to_be_read(tmp_path):
    path = write_text(tmp_path, {"x.csv": 'a,"y\n' + "1,u\n" * 300_000}) / "x.csv"
    with pytest.raises(ValueError, match=r"'.*x\.csv' has a record longer than 262,144 bytes\. Look for a quote"):
        read_batches(path, target="y")


def test_columns_without_a_name_that_are_no_row_numbers(tmp_path):
    write_text(tmp_path, {"x.csv": ",a,y\nx,5,u\nz,6,v\n"})
    assert next(read_batches(tmp_path, target="y")).X.column_names == ["", "a"]
