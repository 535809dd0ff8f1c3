import datetime as dt
import json

import pyarrow as pa
import pytest

from adforest.reading import json_files, read_batches


def write(folder, *lines, name="x.jsonl"):
    path = folder / name
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("chunk", [1, 20, 1 << 20])
def test_lines_may_leave_keys_out_and_be_empty(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(json_files, "CHUNK_BYTES", chunk)
    path = write(tmp_path, {"a": 1, "y": "u"}, "\n", {"b": "x", "y": "v"}, "  \n", {"a": 2.5, "y": "NA", "b": None})
    (batch,) = read_batches(path, target="y")
    assert batch.X.to_pydict() == {"a": [1.0, None, 2.5], "b": [None, "x", None]}
    assert batch.y.tolist() == ["u", "v", "NA"]


def test_the_last_line_may_lack_its_end(tmp_path):
    (batch,) = read_batches(write(tmp_path, {"a": 1, "y": 0}, '{"a": 2, "y": 1}'), target="y")
    assert batch.X.to_pydict() == {"a": [1, 2]}
    assert batch.y.tolist() == [0, 1]


@pytest.mark.parametrize("chunk", [1, 1 << 20])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"a": "four", "y": 1}, "line 4 of '{path}' holds text in column 'a'; expected a number, as in other records."),
        ('{"a": 1, "y"\n', "line 4 of '{path}' is no JSON object ("),
        ("[1, 2]\n", "line 4 of '{path}' is no JSON object ("),
        (
            {"a": 1, "y": None},
            "line 4 of '{path}' has no value in the target column 'y'; every record needs its class.",
        ),
    ],
)
def test_errors_name_the_line(tmp_path, monkeypatch, line, message, chunk):
    path = write(tmp_path, {"a": 1, "y": 1}, "\n", {"a": 2, "y": 0}, line)
    if chunk == 1 and isinstance(line, dict) and line["y"]:
        message = "a column of '{path}' changes its type ("  # lines are read one by one
    monkeypatch.setattr(json_files, "CHUNK_BYTES", chunk)
    with pytest.raises(ValueError) as caught:
        list(read_batches(path, target="y"))
    assert str(caught.value).startswith(message.format(path=path))


def test_dates_are_dates_or_text(tmp_path):
    path = write(tmp_path, {"day": "2024-01-01", "y": 1})
    (batch,) = read_batches(path, target="y")
    assert batch.X.to_pydict() == {"day": [dt.datetime(2024, 1, 1)]}
    (batch,) = read_batches(path, target="y", categorical=["day"])
    assert batch.X.to_pydict() == {"day": ["2024-01-01"]}


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes('{"a": "é", "y": 1}\n'.encode("latin-1"))
    with pytest.raises(ValueError, match=r"line 1 of .* is not UTF-8: it holds the byte 0xE9"):
        list(read_batches(path, target="y"))


def test_utf_16(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes('{"a": "é", "y": 1}\n'.encode("utf-16"))
    (batch,) = read_batches(path, target="y")
    assert batch.X.to_pydict() == {"a": ["é"]}


def test_a_file_without_lines(tmp_path):
    write(tmp_path, "\n", name="1.jsonl")
    write(tmp_path, {"a": True, "y": 1}, name="2.jsonl")
    with pytest.warns(UserWarning, match="holds no records"):
        (batch,) = read_batches(tmp_path, target="y")
    assert batch.X.schema.types == [pa.float64()]
