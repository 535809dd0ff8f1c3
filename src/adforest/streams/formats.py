"""Files of tables, read piece by piece: CSV, Parquet and Arrow; ARFF has a module of its own.

Every file says what its columns hold and yields the wanted ones as record batches. Errors name the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import csv, ipc, parquet

from adforest.streams.arff import ArffFile
from adforest.streams.paths import COMPRESSIONS, suffix_of

HEAD_BYTES = 1 << 20  # what a CSV file is judged by
BLOCK_BYTES = 1 << 18  # of a CSV file; a record must fit in, and pyarrow reads 32 of them ahead
BUFFER_BYTES = 1 << 16  # of each column of a Parquet file
BLOCK_VALUES = 1 << 16  # of other files
BLOCK_RECORDS = 256  # at least, however many columns there are

CSV_ERROR = re.compile(r"column #(\d+): Row #(\d+): CSV conversion error to (\w+): invalid value '(.*)'", re.DOTALL)
WORDS = {"double": "a number", "int64": "a whole number", "bool": "true or false"}


@dataclass(frozen=True)
class TextFormat:
    """How text files are written; all but the encoding is about CSV."""

    delimiter: str | None
    decimal: str
    encoding: str
    na_values: tuple[str, ...]


class TableFile(Protocol):
    """A file of records with named columns."""

    @property
    def path(self) -> Path:
        """Where it lies."""

    @property
    def keeps_types(self) -> bool:
        """Whether the file says what its columns hold; if not, any column can be read as text."""

    @property
    def schema(self) -> Any:
        """Names and Arrow types of the columns, as far as the file tells."""

    def blocks(self, wanted: Mapping[str, Any], n_records: int) -> Iterator[Any]:
        """Yield the wanted columns, given with the types the stream has for them, as record batches."""


def open_file(path: Path, text: TextFormat, *, is_judged_whole: bool = False) -> TableFile:
    """Return a file that can be read, by its suffix.

    Parameters
    ----------
    path : Path
        An existing file of a known format.
    text : TextFormat
        How text files are written.
    is_judged_whole : bool
        Whether all of a CSV file decides what its columns hold, or its first block.
    """
    suffix = suffix_of(path)
    if suffix in (".csv", ".tsv"):
        return CsvFile(path, text, is_judged_whole)
    if suffix == ".arff":
        return ArffFile(path, text.encoding)
    return ParquetFile(path) if suffix == ".parquet" else ArrowFile(path)


def read_schema(file: TableFile) -> Any:
    """Return names and types of a file's columns."""
    with naming(file.path):
        schema = file.schema
        schema.names  # noqa: B018  decodes them, which may fail
        return schema


def read_blocks(file: TableFile, wanted: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the wanted columns of a file as record batches, in the order wanted; memory holds a few blocks at most."""
    with naming(file.path):
        for block in file.blocks(wanted, max(BLOCK_RECORDS, BLOCK_VALUES // len(wanted))):
            yield block.select(list(wanted))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn errors of the libraries that read files into errors that name the file and say what to do."""
    if not path.stat().st_size:
        raise ValueError(f"'{path}' is empty; expected columns with names, and records. Write it again, or remove it.")
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(
            f"'{path}' is not written in the encoding expected ({error}). Pass the right one, for example "
            "encoding='latin-1'."
        ) from error
    except pa.ArrowException as error:
        raise ValueError(f"'{path}' cannot be read ({error}). Correct the file, or leave it out.") from error
    except OSError as error:
        if error.errno is not None:  # the system's own words name the file
            raise
        raise ValueError(f"'{path}' is damaged ({error}). Write it again, or leave it out.") from error


@dataclass(frozen=True)
class CsvFile:
    """A CSV file; what its columns hold is guessed from their values."""

    path: Path
    text: TextFormat
    is_judged_whole: bool
    keeps_types = False

    @cached_property
    def schema(self) -> Any:
        """Names and guessed types of the columns."""
        try:
            with self._stream() as stream:
                if self.is_judged_whole:
                    return csv.read_csv(stream, **self._options()).schema
                # The second half is never parsed: it keeps a record cut short from being the last of the first.
                head = pa.BufferReader(stream.read(2 * HEAD_BYTES))
                with csv.open_csv(head, **self._options(block_size=HEAD_BYTES)) as reader:
                    return reader.schema
        except pa.ArrowInvalid as error:
            raise self._explained(error) from error

    def blocks(self, wanted: Mapping[str, Any], n_records: int) -> Iterator[Any]:
        """Yield the wanted columns in the types the stream has for them; blocks are bytes here, n_records is unused."""
        types = {name: self._parsed_as(name, kind) for name, kind in wanted.items()}
        options = self._options(column_types=types, include_columns=list(wanted))
        try:
            with self._stream() as stream, csv.open_csv(stream, **options) as reader:
                yield from reader
        except pa.ArrowInvalid as error:
            raise self._explained(error) from error

    def _parsed_as(self, name: str, kind: Any) -> Any:
        """Return the type to read a column in; numbers may be written as true and false."""
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        is_boolean = self.schema.field(name).type == pa.bool_()
        return pa.bool_() if is_boolean and plain == pa.float64() else plain

    def _options(self, block_size: int = BLOCK_BYTES, **columns: Any) -> dict[str, Any]:
        """Return what pyarrow is to know; on one thread its errors number the records."""
        delimiter = self.text.delimiter or ("\t" if suffix_of(self.path) == ".tsv" else ",")
        missing = [*csv.ConvertOptions().null_values, *self.text.na_values]
        return {
            "read_options": csv.ReadOptions(use_threads=False, block_size=block_size, encoding=self.text.encoding),
            "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            "convert_options": csv.ConvertOptions(
                null_values=missing, strings_can_be_null=True, decimal_point=self.text.decimal, **columns
            ),
        }

    def _stream(self) -> Any:
        """Open the file, uncompressed."""
        return pa.input_stream(str(self.path), compression=COMPRESSIONS.get(self.path.suffix.lower()))

    def _explained(self, error: Exception) -> ValueError:
        """Return pyarrow's error in words about records and columns."""
        if match := CSV_ERROR.search(str(error)):
            column, row, kind, value = match.groups()
            name = self.schema.names[int(column)]
            return ValueError(
                f"column {name!r} of '{self.path}' holds {value[:60]!r} in record {int(row) - 1}; expected "
                f"{WORDS.get(kind, kind)}, as before it. Correct the value, pass na_values=[{value[:60]!r}] if it "
                f"stands for a missing one, or categorical=[{name!r}] to read the whole column as text."
            )
        if "cannot infer number of columns" in str(error):
            return ValueError(f"'{self.path}' holds neither records nor a whole line of column names. Write it again.")
        if "invalid UTF8" in str(error):
            return ValueError(f"'{self.path}' is not UTF-8 ({error}). Pass the right encoding, such as 'latin-1'.")
        if "straddl" in str(error):
            return ValueError(
                f"'{self.path}' has a record longer than {BLOCK_BYTES:,} bytes. Look for a quote that is not closed."
            )
        return ValueError(f"'{self.path}' cannot be read as CSV ({error}). Correct the file, or leave it out.")


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, read page by page."""

    path: Path
    keeps_types = True

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns."""
        with parquet.ParquetFile(self.path) as file:
            return without_index(file.schema_arrow)

    def blocks(self, wanted: Mapping[str, Any], n_records: int) -> Iterator[Any]:
        """Yield the wanted columns as record batches of up to n_records."""
        # Both are needed, or the columns of a row group, which may be all of the file, are in memory as a whole.
        with parquet.ParquetFile(self.path, buffer_size=BUFFER_BYTES, pre_buffer=False) as file:
            yield from file.iter_batches(n_records, columns=list(wanted))


@dataclass(frozen=True)
class ArrowFile:
    """An Arrow file or stream, also called IPC or Feather, read by the record batches it was written in."""

    path: Path
    keeps_types = True

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns."""
        with self._open() as reader:
            return without_index(reader.schema)

    def blocks(self, wanted: Mapping[str, Any], n_records: int) -> Iterator[Any]:
        """Yield the wanted columns as record batches of up to n_records."""
        with self._open() as reader:
            is_file = isinstance(reader, ipc.RecordBatchFileReader)
            for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
                for start in range(0, batch.num_rows, n_records):
                    yield batch.slice(start, n_records)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Open the file in whichever of the two layouts its first bytes announce."""
        # Not mapped into memory: a file cut short under a map ends the process.
        with pa.OSFile(str(self.path)) as source:
            is_file = source.read(6) == b"ARROW1"
            source.seek(0)
            with ipc.open_file(source) if is_file else ipc.open_stream(source) as reader:
                yield reader


def without_index(schema: Any) -> Any:
    """Return a schema without the row labels that pandas stores as columns."""
    labels = (schema.pandas_metadata or {}).get("index_columns", [])
    return pa.schema([field for field in schema if field.name not in labels])
