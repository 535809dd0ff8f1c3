"""Tables in the bodies of requests: JSON records or columns, CSV, Parquet and Arrow IPC, within limits.

Nothing in a body is believed: sizes are checked before memory is taken for them, Arrow's offsets before they are
followed, and compressed Arrow is refused, whose size is known only when it is unpacked.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from adforest.service.parquet_pages import unpacked_size
from adforest.service.requests import MAX_COLUMNS, RequestError
from adforest.service.tables import TEXT, kind_of, normalised

JSON, CSV = "application/json", "text/csv"
PARQUET = ("application/vnd.apache.parquet", "application/x-parquet")
ARROW = ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file")
TYPES = (JSON, CSV, *PARQUET, *ARROW)
MAX_RECORDS, MAX_CELLS, MAX_NAME, MAX_ID = 1_000_000, 50_000_000, 200, 200
MAX_NESTED = 2 * MAX_RECORDS  # objects and lists of JSON, each of which takes 60 bytes and more
VALUE_BYTES = 8  # of a number in memory
MAX_TEXT = 10_000  # bytes of a text value: each may become a category of the model
MAX_UNPACKED = 1 << 29  # bytes of a Parquet file
DICTIONARY_HEADER, BATCH_HEADER, NO_VALUE = 2, 3, 0  # of Arrow's messages
Hold = Callable[[int], object]


class Body(NamedTuple):
    """Body of a request: a table, and the other fields of a JSON body."""

    table: pa.Table
    others: dict[str, Any]


def read_body(
    content: bytes,
    content_type: str,
    kinds: Mapping[str, str],
    text: Sequence[str] = (),
    target: str | None = None,
    hold: Hold = bool,
) -> Body:
    """Return the table of a body.

    Parameters
    ----------
    content : bytes
    content_type : str
    kinds : mapping of str to str
        Known types of columns; CSV does not distinguish text from numbers.
    text : sequence of str
        Columns of CSV that are text besides.
    target : str, optional
        The column of classes in a batch, whose booleans stay such.
    hold : callable
        Called with the bytes that the table will take, where they may be many more than those of the body; it raises
        if there is no memory for them.
    """
    kind = media_type(content_type)
    if kind == JSON:
        found = parse_json(content)
        return Body(
            table_of(found, target, hold),
            {name: value for name, value in found.items() if name not in ("records", "columns")},
        )
    if kind not in TYPES:
        raise RequestError(
            415,
            f"the content type is {content_type[:80]!r}; expected {', '.join(TYPES)}. Name it by Content-Type.",
        )
    try:
        if kind == CSV:
            table = _read_csv(content, {*text, *(name for name, one in kinds.items() if one == TEXT)})
        else:
            table = _read_parquet(content, hold) if kind in PARQUET else _read_arrow(content)
    except RequestError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, struct.error) as error:
        raise RequestError(400, f"the body is no {kind} that can be read ({_short(error)}).") from None
    return Body(_checked(table, target), {})


def media_type(content_type: str) -> str:
    """Return the media type of a body without its parameters.

    Examples
    --------
    >>> media_type("application/json; charset=utf-8")
    'application/json'
    """
    return content_type.partition(";")[0].strip().lower()


def parse_json(content: bytes) -> dict[str, Any]:
    """Return the JSON object of a body."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON; write null")

    if content.count(b"{") + content.count(b"[") > MAX_NESTED:
        raise RequestError(413, f"the body has more than {MAX_NESTED:,} objects and lists. Send it in parts.")
    try:
        found = json.loads(content, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, f"the body is no JSON that can be read ({_short(error)}).") from None
    if type(found) is not dict:
        raise RequestError(422, f"the body is JSON {type(found).__name__}; expected an object.")
    return found


def only(given: dict[str, Any], *names: str, besides: Sequence[str] = ()) -> dict[str, Any]:
    """Return the fields of a body, or raise if there is one that is not known: it may be a misspelt one."""
    for name in given:
        if name not in names:
            raise RequestError(422, f"{name[:80]!r} is not known; expected {', '.join((*besides, *names))}.")
    return given


def table_of(found: Mapping[str, Any], target: str | None = None, hold: Hold = bool) -> pa.Table:
    """Return the records or columns of a JSON object as a table."""
    records, columns = found.get("records"), found.get("columns")
    if (records is None) == (columns is None):
        raise RequestError(422, "expected either 'records', a list of objects, or 'columns', an object of lists.")
    if records is not None:
        if type(records) is not list or not all(type(one) is dict for one in records):
            raise RequestError(422, "'records' is no list of objects, such as [{\"area\": 70}].")
        check_shape(len(records), len(records[0]) if records else 0)
        names = list(dict.fromkeys(name for one in records for name in one))
        check_shape(len(records), len(names))
        hold(len(records) * len(names) * VALUE_BYTES)
        # One list at a time: records may be few bytes, and lack most of the columns.
        return _checked(pa.table({name: _column(name, [one.get(name) for one in records]) for name in names}), target)
    if type(columns) is not dict or not all(type(one) is list for one in columns.values()):
        raise RequestError(422, "'columns' is no object of lists, such as {\"area\": [70]}.")
    if len({len(one) for one in columns.values()}) > 1:
        raise RequestError(422, "'columns' differ in length; expected one value a record in each.")
    return _checked(pa.table({name: _column(name, values) for name, values in columns.items()}), target)


def record_ids(given: Any, n_records: int) -> list[str]:
    """Return the record ids of a request, checked."""
    if type(given) is not list or len(given) != n_records:
        raise RequestError(422, f"'record_ids' is no list of {n_records} ids, one a record.")
    for one in given:
        check_id(one)
    if len(set(given)) != len(given):
        raise RequestError(422, "'record_ids' has an id twice; expected one of its own for each record.")
    return given


def check_id(given: Any) -> str:
    """Return a record id, or raise."""
    if type(given) is not str or not 0 < len(given) <= MAX_ID or not given.isprintable():
        raise RequestError(
            422, f"a record_id is {str(given)[:80]!r}; expected text of 1 to {MAX_ID} printable characters."
        )
    return given


def _column(name: str, values: list[Any]) -> pa.Array:
    """Return JSON values as a column."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        raise RequestError(422, f"column {name[:80]!r} holds values of several kinds ({_short(error)}).") from None


def _checked(table: pa.Table, target: str | None) -> pa.Table:
    """Return a table in few types, or raise if it is too large or its columns cannot be learnt."""
    check_shape(len(table), table.num_columns)
    names = table.column_names
    if len(set(names)) != len(names):
        raise RequestError(422, "a column stands twice in the table. Rename one.")
    for name in names:
        if not 0 < len(name) <= MAX_NAME or not name.isprintable():
            raise RequestError(422, f"a column is called {name[:80]!r}; expected 1 to {MAX_NAME} printable characters.")
    _check_types(table.schema)
    try:
        _check_unpacked(table)
        table = normalised(table, target)
        _check_text(table)
        return table
    except (pa.ArrowException, OverflowError, ValueError) as error:
        raise RequestError(422, f"the table holds values that cannot be converted ({_short(error)}).") from None


def _check_types(schema: pa.Schema) -> None:
    """Raise if a column is of a type that cannot be learnt."""
    for name, kind in zip(schema.names, schema.types, strict=True):
        if kind_of(kind) is None and not pa.types.is_null(kind):
            raise RequestError(
                422, f"column {name[:80]!r} holds {str(kind)[:80]}; expected numbers, text, times or durations."
            )


def _check_text(table: pa.Table) -> None:
    """Raise if a value is longer than a category may be."""
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_string(column.type):
            _check_length(name, pc.max(pc.binary_length(column)).as_py() or 0)


def _check_length(name: str, n_bytes: int) -> None:
    if n_bytes > MAX_TEXT:
        raise RequestError(422, f"column {name!r} holds text of more than {MAX_TEXT:,} bytes. Drop it, or shorten it.")


def _check_unpacked(table: pa.Table) -> None:
    """Raise if text that is there once for many records would be too large with a copy for each."""
    size = 0
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            lengths = _lengths_of_shared(chunk)
            _check_length(name, int(lengths.max(initial=0)))
            size += int(lengths.sum())
    if size > MAX_UNPACKED:
        raise RequestError(
            413, f"the text unpacks to {size:,} bytes; expected {MAX_UNPACKED:,} at most. Send it in parts."
        )


def _lengths_of_shared(chunk: pa.Array) -> Any:
    """Return the bytes of each value of text that values share; nothing for other columns."""
    import pyarrow.compute as pc

    if pa.types.is_string_view(chunk.type):
        views = np.frombuffer(chunk.buffers()[1] or b"", np.int32)[::4]  # 16 bytes each, their length first
        return views[chunk.offset : chunk.offset + len(chunk)].astype(np.int64)
    if not pa.types.is_dictionary(chunk.type) or kind_of(chunk.type) != TEXT:
        return np.zeros(0, np.int64)
    if pa.types.is_string_view(chunk.type.value_type):
        own = _lengths_of_shared(chunk.dictionary)
    else:
        own = pc.binary_length(chunk.dictionary).fill_null(0).to_numpy(zero_copy_only=False)
    taken = pa.array(own).take(chunk.indices).fill_null(0).to_numpy(zero_copy_only=False)
    return np.concatenate([own, taken]).astype(np.int64)


def check_shape(n_records: int, n_columns: int) -> None:
    """Raise if a table is larger than is allowed."""
    if n_records > MAX_RECORDS or n_columns > MAX_COLUMNS or n_records * n_columns > MAX_CELLS:
        raise RequestError(
            413,
            f"the table has {n_records:,} records of {n_columns:,} columns; expected at most {MAX_RECORDS:,}, "
            f"{MAX_COLUMNS:,}, and {MAX_CELLS:,} values. Send it in parts.",
        )


def _read_csv(content: bytes, text: set[str]) -> pa.Table:
    """Return a CSV file as a table; empty fields and the usual markers of missing values are missing."""
    from pyarrow import csv

    header = content.split(b"\n", 1)[0]
    check_shape(content.count(b"\n"), header.count(b",") + 1)
    options = csv.ConvertOptions(column_types=dict.fromkeys(text, pa.string()), strings_can_be_null=True)
    return csv.read_csv(io.BytesIO(content), convert_options=options)


def _read_parquet(content: bytes, hold: Hold) -> pa.Table:
    """Return a Parquet file as a table, after checking the sizes of its pages."""
    from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(content))
    about, schema = file.metadata, file.schema_arrow
    check_shape(about.num_rows, len(schema))
    _check_types(schema)
    hold(about.num_rows * len(schema) * VALUE_BYTES)
    size = unpacked_size(content)
    if size > MAX_UNPACKED:
        raise RequestError(413, f"the Parquet file unpacks to {size:,} bytes; expected {MAX_UNPACKED:,} at most.")
    text = [name for name, kind in zip(schema.names, schema.types, strict=True) if kind_of(kind) == TEXT]
    # Text is read as it is packed: each value once.
    return parquet.ParquetFile(io.BytesIO(content), read_dictionary=text).read(use_threads=False)


def _read_arrow(content: bytes) -> pa.Table:
    """Return an Arrow stream or file as a table; its offsets are checked before they are followed."""
    if content.startswith(b"ARROW1\0\0"):
        reader = pa.ipc.open_file(pa.BufferReader(content))
        stream = content[8:]
        table = None
    else:
        reader, stream, table = pa.ipc.open_stream(pa.BufferReader(content)), content, None
    _check_types(reader.schema)
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)):
        _check_message(message.metadata.to_pybytes())
    table = reader.read_all()
    table.validate(full=True)
    return table


def _check_message(metadata: bytes) -> None:
    """Raise if a message of Arrow has more rows than allowed or is compressed, by its FlatBuffers header."""
    message = struct.unpack_from("<I", metadata, 0)[0]
    kind, header = _field(metadata, message, 1), _field(metadata, message, 2)
    if kind is None or header is None or metadata[kind] not in (DICTIONARY_HEADER, BATCH_HEADER):
        return
    batch = header + struct.unpack_from("<I", metadata, header)[0]
    if metadata[kind] == DICTIONARY_HEADER:  # the batch is a field of it
        data = _field(metadata, batch, 1)
        if data is None:
            return
        batch = data + struct.unpack_from("<I", metadata, data)[0]
    length = _field(metadata, batch, 0)
    n_rows = 0 if length is None else struct.unpack_from("<q", metadata, length)[0]
    check_shape(n_rows, 1)
    if _field(metadata, batch, 3) is not None:
        raise RequestError(415, "the Arrow data is compressed; expected it as it is. Write it without compression.")


def _field(content: bytes, table: int, number: int) -> int | None:
    """Return where a field of a FlatBuffers table lies, None if it is not there."""
    vtable = table - struct.unpack_from("<i", content, table)[0]
    entry = 4 + 2 * number
    if vtable < 0 or entry + 2 > struct.unpack_from("<H", content, vtable)[0]:
        return None
    offset = struct.unpack_from("<H", content, vtable + entry)[0]
    return None if offset == NO_VALUE else table + offset


def _short(error: BaseException) -> str:
    """Return the first words of an error."""
    return " ".join(str(error).split())[:200] or type(error).__name__
