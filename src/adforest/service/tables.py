"""Arrow tables of records: as bytes with metadata, concatenated, compared; types of their columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

NOTE = b"adforest"
NUMBER, TEXT, MOMENT, DURATION = "number", "text", "time", "duration"
NOTHING = "nothing"  # no value yet


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
    """Return tables below each other; columns that one lacks are missing in it, integers beside floats become such."""
    floats = {one.name for table in tables for one in table.schema if one.type == pa.float64()}
    return pa.concat_tables(
        [_with_floats(one, floats) for one in tables], promote_options="permissive"
    ).combine_chunks()


def _with_floats(table: pa.Table, names: set[str]) -> pa.Table:
    """Return a table in which some columns are no integers; large ones are rounded."""
    columns = [
        column.cast(pa.float64(), safe=False) if name in names and column.type == pa.int64() else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


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
        if types.is_string_view(found.value_type):  # which Arrow takes from no dictionary
            column = column.cast(pa.dictionary(found.index_type, pa.string()))
        return _normal(column.cast(column.type.value_type))
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
            if name not in known:
                new[name] = NOTHING
            continue
        kind = kind_of(column)
        if kind is None:
            raise ValueError(f"column {name[:80]!r} holds {column}; expected numbers, text, times or durations.")
        if known.get(name, kind) not in (kind, NOTHING):
            raise ValueError(
                f"column {name[:80]!r} holds {kind} but {known[name]} in records before. Convert it to {known[name]}."
            )
        if known.get(name, NOTHING) == NOTHING:
            new[name] = kind
    return new


def kinds_in(table: pa.Table) -> dict[str, str]:
    """Return the types of columns."""
    return {
        name: kind_of(column) or NOTHING for name, column in zip(table.column_names, table.schema.types, strict=True)
    }


def check_finite(table: pa.Table) -> None:
    """Raise if a value is infinite: no model learns it."""
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_floating(column.type) and pc.any(pc.is_inf(column)).as_py():
            raise ValueError(f"column {name[:80]!r} holds infinity; expected finite values or none.")


def first_difference(table: pa.Table, rows: Sequence[int], other: pa.Table, other_rows: Sequence[int]) -> int | None:
    """Return the first of some pairs of rows that differ; a column that is missing is as one without a value."""
    found = []
    for name in dict.fromkeys([*table.column_names, *other.column_names]):
        pairs = zip(_values(table, name, rows), _values(other, name, other_rows), strict=True)
        is_other = (row for row, (a, b) in enumerate(pairs) if a != b and not (a != a and b != b))
        found.append(next(is_other, len(rows)))
    first = min(found, default=len(rows))
    return first if first < len(rows) else None


def _values(table: pa.Table, name: str, rows: Sequence[int]) -> list[Any]:
    """Return some values of a column."""
    found: list[Any] = table[name].take(rows).to_pylist() if name in table.column_names else [None] * len(rows)
    return found


def without_row(table: pa.Table, row: int) -> pa.Table:
    """Return a table in which one row holds no values any more."""
    import pyarrow.compute as pc

    mask = pa.array([one != row for one in range(len(table))])
    columns = [pc.if_else(mask, column, pa.scalar(None, column.type)) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def label_column(labels: Sequence[Any]) -> pa.Array:
    """Return labels as a column of one type."""
    return pa.array(labels)
