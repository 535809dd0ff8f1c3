"""Arrow tables of records: as bytes with metadata, concatenated, compared; types of their columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

NOTE = b"adforest"
NUMBER, TEXT, MOMENT, DURATION = "number", "text", "time", "duration"


def to_bytes(table: pa.Table, note: Mapping[str, Any]) -> bytes:
    """Return a table and a JSON note as an Arrow IPC stream."""
    schema = table.schema.with_metadata({NOTE: json.dumps(note).encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def from_bytes(content: bytes) -> tuple[pa.Table, dict[str, Any]]:
    """Return the table and the note."""
    with pa.ipc.open_stream(content) as reader:
        table = reader.read_all()
    note: dict[str, Any] = json.loads(table.schema.metadata[NOTE])
    return table.replace_schema_metadata(None), note


def without_columns() -> pa.Table:
    """Return a table that holds nothing."""
    return pa.table({})


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables below each other; columns that one lacks are missing in it."""
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()


def normalised(table: pa.Table, target: str | None = None) -> pa.Table:
    """Return a table whose columns are of few types, so that tables of several requests can always be joined.

    Booleans become 0 and 1, but not those of the target: they are classes.
    """
    columns = [
        column if name == target and pa.types.is_boolean(column.type) else _normal(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.column_names).replace_schema_metadata(None)


def _normal(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as 64-bit numbers, text, or microseconds."""
    types, found = pa.types, column.type
    if found in (pa.int64(), pa.float64(), pa.string()):
        return column
    if types.is_dictionary(found):
        return _normal(column.cast(found.value_type))
    if types.is_uint64(found) or types.is_floating(found) or types.is_decimal(found):
        return column.cast(pa.float64(), safe=False)
    if types.is_integer(found) or types.is_boolean(found):
        return column.cast(pa.int64())
    if types.is_large_string(found) or types.is_string_view(found):
        return column.cast(pa.string())
    if types.is_timestamp(found) and found.tz is not None:
        column = column.cast(pa.timestamp(found.unit, "UTC")).cast(pa.timestamp(found.unit))
    if types.is_timestamp(found) or types.is_date(found):
        return column.cast(pa.timestamp("us"), safe=False)
    return column.cast(pa.duration("us"), safe=False) if types.is_duration(found) else column


def kind_of(column: pa.DataType) -> str | None:
    """Return the type of a column, None if it has no value or no type that can be learnt."""
    types = pa.types
    if types.is_dictionary(column):
        column = column.value_type
    if types.is_integer(column) or types.is_floating(column) or types.is_boolean(column) or types.is_decimal(column):
        return NUMBER
    if types.is_string(column) or types.is_large_string(column) or types.is_string_view(column):
        return TEXT
    if types.is_timestamp(column) or types.is_date(column):
        return MOMENT
    return DURATION if types.is_duration(column) else None


def new_kinds(table: pa.Table, known: Mapping[str, str]) -> dict[str, str]:
    """Return the types of columns that had no value before, or raise if the type of one has changed."""
    new = {}
    for name, column in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_null(column):
            continue
        kind = kind_of(column)
        if kind is None:
            raise ValueError(f"column {name[:80]!r} holds {column}; expected numbers, text, times or durations.")
        if known.get(name, kind) != kind:
            raise ValueError(
                f"column {name[:80]!r} holds {kind} but {known[name]} in records before. Convert it to {known[name]}."
            )
        if name not in known:
            new[name] = kind
    return new


def is_same_row(table: pa.Table, row: int, other: pa.Table, other_row: int) -> bool:
    """Return whether two rows hold the same values; a column that is missing is as one without a value."""

    def values(of: pa.Table, at: int) -> dict[str, Any]:
        found = of.slice(at, 1).to_pylist()[0]
        return {name: repr(value) if value != value else value for name, value in found.items() if value is not None}

    return values(table, row) == values(other, other_row)


def without_row(table: pa.Table, row: int) -> pa.Table:
    """Return a table in which one row holds no values any more."""
    import pyarrow.compute as pc

    mask = pa.array([place != row for place in range(len(table))])
    columns = [pc.if_else(mask, column, pa.scalar(None, column.type)) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def label_column(labels: Sequence[Any]) -> pa.Array:
    """Return labels as a column of one type."""
    return pa.array(labels)
