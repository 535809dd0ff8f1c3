"""JSON lines: one object per line, its keys are the columns; a key that a line lacks is a missing value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import json

from adforest.exceptions import InputError
from adforest.reading.sources import TextFile

CHUNK_BYTES = 1 << 20  # read at once, and what a file is judged by unless all of it is looked at
ROW = re.compile(r"(?:JSON parse error: )?(.*?)\.? in row (\d+)")
CHANGED = re.compile(r"Column\(/(.*)\) changed from (\w+) to (\w+)")
WORDS = {"number": "a number", "string": "text", "boolean": "true or false", "object": "an object", "array": "a list"}


class Chunk(NamedTuple):
    """Whole lines of a file, and the number of lines before them."""

    n_before: int
    text: bytes


@dataclass(frozen=True)
class JsonFile(TextFile):
    """A file of JSON lines; numbers, text and booleans have their own syntax."""

    is_judged_whole: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no line but empty ones."""
        return next(self._chunks(), None) is None

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, of all lines or of those at the beginning."""
        chunks = islice(self._chunks(), None if self.is_judged_whole else 1)
        schemas = [self._parsed(chunk, json.ParseOptions()).schema for chunk in chunks]
        try:
            return pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowException as error:
            raise InputError(
                f"a column of '{self.path}' changes its type ({error}); expected numbers or text alone in a column. "
                "Correct the file, or leave it out."
            ) from error

    def blocks(self, wanted: Mapping[str, Any], n_samples: int) -> Iterator[Any]:
        """Yield the wanted columns as record batches of up to n_samples."""
        expected = pa.schema([(name, self._parsed_as(name, kind)) for name, kind in wanted.items()])
        options = json.ParseOptions(explicit_schema=expected, unexpected_field_behavior="ignore")
        for chunk in self._chunks():
            yield from self._parsed(chunk, options).combine_chunks().to_batches(n_samples)

    def locate(self, record: int, column: str) -> tuple[str, str]:
        """Return how an error calls a record, counted from 0."""
        with self.source.open_text() as lines:
            filled = (number for number, line in enumerate(lines, start=1) if line.strip())
            return f"line {next(islice(filled, record, None))} of '{self.path}'", ""

    def _parsed_as(self, name: str, kind: Any) -> Any:
        """Return the type to read a column in: that of the stream where it is only wider than the file's."""
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        found = self.schema.field(name).type
        is_wider = pa.types.is_null(found) or (pa.types.is_integer(found) and pa.types.is_floating(plain))
        is_date = pa.types.is_timestamp(found)  # is also the text it is written in, or more exact in other lines
        is_written = is_date and (pa.types.is_string(plain) or pa.types.is_timestamp(plain))
        return plain if is_wider or is_written else found

    def _parsed(self, chunk: Chunk, options: Any) -> Any:
        """Return lines as a table, or raise an error that names the line."""
        try:
            return json.read_json(
                pa.BufferReader(chunk.text),
                read_options=json.ReadOptions(use_threads=False, block_size=len(chunk.text) + 1),
                parse_options=options,
            )
        except pa.ArrowInvalid as error:
            raise self._refused(chunk, str(error)) from error

    def _refused(self, chunk: Chunk, message: str) -> InputError:
        """Return the error for a line that cannot be read."""
        row = ROW.fullmatch(message)
        if row is None:
            return InputError(f"'{self.path}' cannot be read ({message}). Correct the file, or leave it out.")
        filled = (number for number, line in enumerate(chunk.text.split(b"\n"), start=1) if line.strip())
        where = f"line {chunk.n_before + next(islice(filled, int(row[2]), None))} of '{self.path}'"
        changed = CHANGED.fullmatch(row[1])
        if changed is None or not changed[1]:
            return InputError(
                f'{where} is no JSON object ({row[1]}); expected one a line, such as {{"size": 1.5}}. Correct the '
                "line, or leave the file out."
            )
        column, before, now = changed.groups()
        return InputError(
            f"{where} holds {WORDS.get(now, now)} in column {column!r}; expected {WORDS.get(before, before)}, as in "
            "other records. Correct the value."
        )

    def _chunks(self) -> Iterator[Chunk]:
        """Yield the file in pieces of whole lines, without those that hold nothing."""
        n_before, rest = 0, ""
        with self.source.open_text() as text:
            while piece := text.read(CHUNK_BYTES):
                lines, newline, rest = (rest + piece).rpartition("\n")
                if lines.strip():
                    yield Chunk(n_before, lines.encode())
                n_before += lines.count("\n") + len(newline)
        if rest.strip():
            yield Chunk(n_before, rest.encode())
