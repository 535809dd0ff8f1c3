"""Samples to be predicted, from files of any size: the columns that a model knows, and columns to be kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adforest.exceptions import InputError, ParameterError
from adforest.reading.files import open_sources
from adforest.reading.paths import FilePath


def read_records(
    source: FilePath | Sequence[FilePath],
    types: Mapping[str, Any],
    *,
    keep: Sequence[str] = (),
    may_lack: bool = False,
    n_samples: int = 1 << 16,
    **reading: Any,
) -> Iterator[tuple[Any, Any]]:
    """Yield tables of records, and tables of the columns to be kept; memory holds one of each.

    Parameters
    ----------
    source : path or list of paths
        As in `read_batches`.
    types : dict of str to pyarrow.DataType
        The columns and their types, as in `read_batches`; other columns are ignored.
    keep : list of str, optional
        Columns to be kept as they are; of a CSV file as text.
    may_lack : bool, default=False
        Whether some of the columns may be missing.
    n_samples : int
        Samples in a table, about.
    **reading
        Format of the files: ``order``, ``delimiter``, ``decimal``, … as in `read_batches`.

    Yields
    ------
    X, kept : pyarrow.Table
    """
    files, _ = open_sources(source, None, next(iter(types)), frozenset(types), **reading)
    for file in files:
        yield from _read(file, types, keep, n_samples, may_lack=may_lack)


def _read(
    file: Any, types: Mapping[str, Any], keep: Sequence[str], n_samples: int, *, may_lack: bool
) -> Iterator[tuple[Any, Any]]:
    """Yield the tables of one file."""
    import pyarrow as pa

    from adforest.reading.formats import is_empty, read_schema
    from adforest.reading.layout import Choice, Layout, listed

    if is_empty(file):
        return
    schema = read_schema(file)
    lacking = [name for name in keep if name not in schema.names]
    if lacking:
        raise ParameterError(
            f"{file.header_label} lacks {listed(lacking)}, which is to be kept; its columns are "
            f"{listed(schema.names)}. Name one of them."
        )
    wanted = {name: kind for name, kind in types.items() if name in schema.names or not may_lack}
    if not wanted:
        raise InputError(
            f"{file.header_label} has none of the columns learnt; expected {listed(list(types))}. Rename its columns."
        )
    kept = {name: schema.field(name).type if file.keeps_types else pa.string() for name in keep if name not in wanted}
    layout = Layout(Choice(None), wanted | kept, "the model")
    blocks: list[Any] = []
    n_gathered = 0
    for block in layout.read(file):
        blocks.append(block)
        n_gathered += block.num_rows
        if n_gathered >= n_samples:
            yield _parted(pa.Table.from_batches(blocks), wanted, keep)
            blocks, n_gathered = [], 0
    if blocks:
        yield _parted(pa.Table.from_batches(blocks), wanted, keep)


def _parted(table: Any, wanted: Mapping[str, Any], keep: Sequence[str]) -> tuple[Any, Any]:
    """Return the columns to be predicted from, and those to be kept."""
    return table.select(list(wanted)), table.select(list(keep))
