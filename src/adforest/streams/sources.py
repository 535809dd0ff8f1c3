"""Where the bytes of a text file come from: a file, compressed or not."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from adforest.streams.paths import COMPRESSIONS

HOW_TO_ENCODE = "Pass the encoding of the file, for example encoding='cp1252' or 'latin-1'."


@dataclass(frozen=True)
class Source:
    """A text file.

    Attributes
    ----------
    path : Path
        Where it lies.
    declared_encoding : str
        The encoding the user named.
    """

    path: Path
    declared_encoding: str

    @cached_property
    def encoding(self) -> str:
        """The encoding; a file whose first bytes can only be UTF-16 is not UTF-8."""
        if codecs.lookup(self.declared_encoding).name != "utf-8":
            return self.declared_encoding
        with self.open() as stream:
            start = stream.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        return {1: "utf-16-le", 0: "utf-16-be"}.get(start.find(b"\0"), "utf-8")

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the file for its bytes, uncompressed; an error about its encoding names the line."""
        compression = COMPRESSIONS.get(self.path.suffix.lower())
        try:
            with pa.input_stream(str(self.path), compression=compression) as stream:
                yield stream
        except UnicodeError:
            raise self.undecodable() from None

    @contextmanager
    def open_text(self, errors: str = "strict", newline: str | None = None) -> Iterator[TextIO]:
        """Open the file as text, without the mark some programs put at its beginning."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        with self.open() as stream, io.TextIOWrapper(io.BufferedReader(stream), encoding, errors, newline) as lines:
            yield lines

    def undecodable(self) -> ValueError:
        """Return the error for a file in another encoding, which names the first line that shows it."""
        with self.open() as stream:
            lines = io.BufferedReader(stream) if "\n".encode(self.encoding) == b"\n" else ()
            for number, line in enumerate(lines, start=1):
                try:
                    line.decode(self.encoding)
                except UnicodeDecodeError as found:
                    byte = line[found.start : found.start + 1]
                    letter = byte.decode("cp1252", "replace")
                    meant = f", which is {letter!r} in cp1252 (Windows)" if letter != "\ufffd" else ""
                    return ValueError(
                        f"line {number} of '{self.path}' is not {self.encoding.upper()}: it holds the byte "
                        f"0x{byte.hex().upper()}{meant}. {HOW_TO_ENCODE}"
                    )
        return ValueError(f"'{self.path}' is not {self.encoding.upper()}. {HOW_TO_ENCODE}")
