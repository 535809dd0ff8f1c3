"""Files of tables, read in pieces: Parquet and Arrow; CSV, JSON lines and ARFF have modules of their own.

Every file has a schema and yields columns as record batches. Errors name the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc, parquet

from adforest.exceptions import InputError
from adforest.reading.arff import ArffFile
from adforest.reading.csv_files import CsvFile
from adforest.reading.csv_reading import CsvFormat, CsvReader
from adforest.reading.json_files import JsonFile
from adforest.reading.paths import suffix_of
from adforest.reading.sources import BadLines, Source, TableFile, find_sources, opened

BUFFER_BYTES = 1 << 16  # of each column of a Parquet file
BLOCK_VALUES = 1 << 16  # of all but CSV files
BLOCK_RECORDS = 256  # at least, however many columns there are


def open_files(path: Path, encoding: str, csv_format: CsvFormat, bad_lines: BadLines) -> list[TableFile]:
    """Return the files of a path, by its suffix: one, or the members of a zip archive.

    Parameters
    ----------
    path : Path
        An existing file of a known format.
    encoding : str
        The encoding of text files.
    csv_format : CsvFormat
        Format of CSV files.
    bad_lines : BadLines
        Handling of lines with a wrong number of fields.
    """
    suffix = suffix_of(path)
    if suffix in (".parquet", ".arrow", ".arrows", ".feather", ".ipc"):
        return [ParquetFile(path) if suffix == ".parquet" else ArrowFile(path)]
    return [_text_file(source, csv_format, bad_lines) for source in find_sources(path, encoding)]


def _text_file(source: Source, csv_format: CsvFormat, bad_lines: BadLines) -> TableFile:
    """Return a file of text by its suffix."""
    suffix = suffix_of(source.path)
    if suffix in (".jsonl", ".ndjson"):
        return JsonFile(source)
    return ArffFile(source, bad_lines) if suffix == ".arff" else CsvFile(CsvReader(source, csv_format), bad_lines)


def judged_whole(file: TableFile) -> TableFile:
    """Return a file whose column types are inferred from all of it."""
    return replace(file, is_judged_whole=True) if isinstance(file, CsvFile | JsonFile) else file


def is_empty(file: TableFile) -> bool:
    """Return whether a file has no records."""
    with naming(file.path):
        return file.is_empty


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
    """Replace errors of the libraries that read files by errors that name the file and give advice."""
    try:
        yield
    except MemoryError:  # Arrow's too, which is no fault of the file
        raise
    except pa.ArrowException as error:
        raise InputError(f"'{path}' cannot be read ({error}). Correct the file, or leave it out.") from error
    except OSError as error:
        if error.errno is not None:  # the system's own words name the file
            raise
        raise InputError(f"'{path}' is damaged ({error}). Write it again, or leave it out.") from error


@dataclass(frozen=True)
class StoredFile(TableFile):
    """A file that is not text."""

    location: Path

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.location


class ParquetFile(StoredFile):
    """A Parquet file, read page by page."""

    @property
    def n_rows(self) -> int:
        """How many records there are."""
        if _has_no_bytes(self.path):
            return 0
        with self._open() as file:
            return int(file.metadata.num_rows)

    @property
    def is_empty(self) -> bool:
        """Whether there are no records."""
        return self.n_rows == 0

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns."""
        with self._open() as file:
            return without_index(file.schema_arrow)

    def blocks(self, wanted: Mapping[str, Any], n_samples: int) -> Iterator[Any]:
        """Yield the wanted columns as record batches of up to n_samples."""
        # Both are needed, or the columns of a row group, which may be all of the file, are in memory as a whole.
        with self._open(buffer_size=BUFFER_BYTES, pre_buffer=False) as file:
            # Blocks are so small that threads would cost more than they bring.
            yield from file.iter_batches(n_samples, columns=list(wanted), use_threads=False)

    @contextmanager
    def _open(self, **options: Any) -> Iterator[Any]:
        """Open the file."""
        with opened(self.path) as source, parquet.ParquetFile(source, **options) as file:
            yield file


class ArrowFile(StoredFile):
    """An Arrow file or stream, also called IPC or Feather, read by the record batches it was written in."""

    @property
    def n_rows(self) -> int:
        """How many records there are."""
        if _has_no_bytes(self.path):
            return 0
        with self._batches() as batches:
            return sum(batch.num_rows for batch in batches)

    @property
    def is_empty(self) -> bool:
        """Whether there are no records."""
        if _has_no_bytes(self.path):
            return True
        with self._batches() as batches:
            return not any(batch.num_rows for batch in batches)

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns."""
        with self._open() as reader:
            return without_index(reader.schema)

    def blocks(self, wanted: Mapping[str, Any], n_samples: int) -> Iterator[Any]:
        """Yield the wanted columns as record batches of up to n_samples."""
        with self._batches() as batches:
            for batch in batches:
                for start in range(0, batch.num_rows, n_samples):
                    yield batch.slice(start, n_samples)

    @contextmanager
    def _batches(self) -> Iterator[Iterator[Any]]:
        """Open the file for the record batches it was written in."""
        with self._open() as reader:
            is_file = isinstance(reader, ipc.RecordBatchFileReader)
            yield map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Open the file in whichever of the two layouts its first bytes announce."""
        with opened(self.path) as source:
            is_file = source.read(6) == b"ARROW1"
            source.seek(0)
            with ipc.open_file(source) if is_file else ipc.open_stream(source) as reader:
                yield reader


def without_index(schema: Any) -> Any:
    """Return a schema without the row labels that pandas stores as columns."""
    labels = (schema.pandas_metadata or {}).get("index_columns", [])
    return pa.schema([field for field in schema if field.name not in labels])


def _has_no_bytes(path: Path) -> bool:
    """Return whether a file is empty, without even the header of its format."""
    return not path.stat().st_size
