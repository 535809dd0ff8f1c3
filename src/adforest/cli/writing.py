"""Tables written piece by piece: Parquet, CSV or JSON lines; the file is there once it is whole."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

STANDARD_OUTPUT = "-"
FORMATS = (".parquet", ".csv", ".jsonl")


class TableWriter(Protocol):
    """Writes tables that have the same columns, one after the other."""

    def write_table(self, table: Any) -> None:
        """Write one more."""

    def close(self) -> None:
        """Write what is left."""


def check_output(path: str, force: bool) -> None:
    """Raise unless a table can be written to a path: by its suffix, and whether a file is there."""
    if path == STANDARD_OUTPUT:
        return
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(
            f"--out is '{path}'; expected a name that ends in {' or '.join(FORMATS)}, or - for CSV on standard output. "
            "Name another file."
        )
    check_free(Path(path), force)


def check_free(path: Path, force: bool) -> None:
    """Raise if a file is there that may not be replaced."""
    if path.exists() and not force:
        raise ValueError(f"'{path}' is there already. Name another file with --out, or replace it with --force.")


@contextmanager
def opened_writer(path: str, schema: Any) -> Iterator[TableWriter]:
    """Open a writer in the format of the path's suffix; - is CSV on standard output."""
    if path == STANDARD_OUTPUT:
        writer = _writer(sys.stdout.buffer, ".csv", schema)
        yield writer
        writer.close()
        return
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb") as file:
            writer = _writer(file, target.suffix.lower(), schema)
            yield writer
            writer.close()
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _writer(file: Any, suffix: str, schema: Any) -> TableWriter:
    """Return the writer of a format."""
    from pyarrow import csv, parquet

    if suffix == ".parquet":
        # Shares of classes hardly repeat: a dictionary of them costs time and saves nothing.
        coded = [field.name for field in schema if not str(field.type).startswith(("double", "float"))]
        writer: TableWriter = parquet.ParquetWriter(file, schema, use_dictionary=coded, write_statistics=False)
        return writer
    if suffix == ".csv":
        writer = csv.CSVWriter(file, schema, write_options=csv.WriteOptions(quoting_style="needed"))
        return writer
    return JsonLinesWriter(file)


class JsonLinesWriter:
    """Writes a JSON object a record; what is missing is null."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write_table(self, table: Any) -> None:
        """Write the records of a table."""
        lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in table.to_pylist())
        self._file.write("".join(lines).encode())

    def close(self) -> None:
        """Do nothing: every line is written."""
