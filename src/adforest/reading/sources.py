"""Sources of text: a file, compressed or not, a member of a zip archive, standard input; and lines left out of them."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import pyarrow as pa

from adforest.exceptions import Advice, InputError
from adforest.reading.paths import COMPRESSIONS, TEXT_SUFFIXES, natural_key, suffix_of
from adforest.wording import counted

START_BYTES = 1 << 10  # enough to identify a format
HOW_TO_ENCODE = Advice("Pass the encoding of the file, for example {encoding} or 'latin-1'.", {"encoding": "cp1252"})


@dataclass(frozen=True)
class Source:
    """A text file.

    Attributes
    ----------
    path : Path
        Where it lies; a member of a zip archive lies in the archive as if that were a folder.
    declared_encoding : str
        The encoding the user named.
    archive : Path or None
        The zip archive it is a member of.
    member : str
        Its name there.
    """

    path: Path
    declared_encoding: str
    archive: Path | None = None
    member: str = ""

    @cached_property
    def encoding(self) -> str:
        """The encoding; a file whose first bytes can only be UTF-16 is not UTF-8."""
        if codecs.lookup(self.declared_encoding).name != "utf-8":
            return self.declared_encoding
        with self.open() as stream:
            start = stream.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        if start == b"\0\0":
            raise InputError(f"'{self.path}' is no text: it begins with zeros. Write it again, or leave it out.")
        return {1: "utf-16-le", 0: "utf-16-be"}.get(start.find(b"\0"), "utf-8")

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the file for its bytes, uncompressed; an error about its encoding names the line."""
        compression = COMPRESSIONS.get(self.path.suffix.lower())
        try:
            if self.archive is None:
                with opened(self.path) as file, pa.input_stream(file, compression=compression) as stream:
                    yield stream
            else:
                with (
                    _opened(self.archive) as archive,
                    archive.open(self.member) as member,
                    pa.input_stream(member, compression=compression) as stream,
                ):
                    yield stream
        except UnicodeError:
            raise self.undecodable() from None
        except zipfile.BadZipFile as error:
            raise _damaged(self.path, error) from error

    @contextmanager
    def open_text(self, errors: str = "strict", newline: str | None = None) -> Iterator[TextIO]:
        """Open the file as text, without the mark some programs put at its beginning."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        with self.open() as stream, io.TextIOWrapper(io.BufferedReader(stream), encoding, errors, newline) as lines:
            yield lines

    def undecodable(self) -> InputError:
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
                    return InputError(
                        f"line {number} of '{self.path}' is not {self.encoding.upper()}: it holds the byte "
                        f"0x{byte.hex().upper()}{meant}.",
                        HOW_TO_ENCODE,
                    )
        return InputError(f"'{self.path}' is not {self.encoding.upper()}.", HOW_TO_ENCODE)


class TableFile(ABC):
    """A file of records with named columns; by default one that has the types of its columns."""

    keeps_types = True  # if not, any column can be read as text

    @property
    @abstractmethod
    def path(self) -> Path:
        """Where it lies."""

    @property
    def header_label(self) -> str:
        """How an error about the columns calls the file: with the line that names them, if there is one."""
        return f"'{self.path}'"

    @property
    @abstractmethod
    def schema(self) -> Any:
        """Names and Arrow types of the columns, as far as the file has them."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether there are no records."""

    @abstractmethod
    def blocks(self, wanted: Mapping[str, Any], n_samples: int) -> Iterator[Any]:
        """Yield the wanted columns, given with the types the stream has for them, as record batches."""

    def check(self, wanted: Mapping[str, Any]) -> None:  # noqa: B027 - there is nothing to check by default
        """Raise if a column holds a value that cannot be read as the inferred type."""

    def locate(self, record: int, column: str) -> tuple[str, str]:
        """Return the name of a record in errors, counted from 0, and the text of one of its fields if that is known."""
        return f"record {record + 1} of '{self.path}'", ""


@dataclass(frozen=True)
class TextFile(TableFile):
    """A text file."""

    source: Source

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.source.path


@dataclass
class Skipped:
    """How to handle invalid lines or records, and how many were left out so far.

    Attributes
    ----------
    are_skipped : bool
        Whether they are left out; if not, the first one is an error.
    count : int
        How many were left out.
    first : str
        The first of these in words.
    """

    are_skipped: bool = False
    count: int = 0
    first: str = ""


class BadLines(Skipped):
    """Lines whose number of fields is wrong."""

    def meet(self, locate: Callable[[], str], n_found: int, n_expected: int) -> None:
        """Count a line, or raise an error about it; its location is computed only if it is needed."""
        fields = counted(n_found, "field")
        if not self.are_skipped:
            raise InputError(
                f"{locate()} has {fields}; expected {n_expected}, one for each column.",
                Advice(
                    "Correct the line (a value that holds the delimiter needs quotes), or pass {on_bad_lines} to leave "
                    "such lines out.",
                    {"on_bad_lines": "skip"},
                ),
            )
        if not self.count:
            self.first = f"{locate()} with {fields} instead of {n_expected}"
        self.count += 1


def find_sources(path: Path, encoding: str) -> list[Source]:
    """Return the text files of a path: itself, or the members of a zip archive by name."""
    if path.suffix.lower() != ".zip":
        return [Source(path, encoding)]
    with _opened(path) as archive:
        members = [
            (path / info.filename, info)
            for info in archive.infolist()
            # A dot or an underscore marks what is no data, such as __MACOSX.
            if not info.is_dir() and not any(part.startswith((".", "_")) for part in Path(info.filename).parts)
        ]
    if not members:
        raise InputError(f"'{path}' holds no files; expected {' or '.join(TEXT_SUFFIXES)} files. Leave it out.")
    for member, info in members:
        if suffix_of(member) not in TEXT_SUFFIXES:
            raise InputError(
                f"'{path}' holds '{info.filename}'; expected {', '.join(TEXT_SUFFIXES)} files alone in a zip archive. "
                "Unpack it, and pass the files to be read."
            )
        if info.flag_bits & 0x1:
            raise InputError(f"'{path}' is protected by a password, which is not supported. Unpack it first.")
    return [
        Source(member, encoding, path, info.filename)
        for member, info in sorted(members, key=lambda found: natural_key(found[0]))
    ]


def opened(path: Path) -> Any:
    """Open a file for Arrow, also one whose name is no UTF-8; not mapped into memory, where one cut short would crash.

    Errors name the file as it is called.
    """
    try:
        return pa.OSFile(os.fsencode(path))
    except OSError as error:
        error.filename = str(path)
        raise


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive, or raise an error that names it."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise _damaged(path, error) from error
    with archive:
        yield archive


def _damaged(path: Path, error: Exception) -> InputError:
    """Return the error for an archive that cannot be unpacked."""
    return InputError(f"'{path}' is damaged ({error}). Write it again, or leave it out.")


def spool(stream: BinaryIO, folder: Path) -> Path:
    """Write a stream to a file with the suffix of its format.

    Parquet, Arrow, zip, gzip, zstandard and bzip2 are known by their first bytes, JSON lines and ARFF by their first
    character; all else is CSV. Of compressed input, only CSV is detected.

    Parameters
    ----------
    stream : binary file
    folder : Path
        Where the file is made; it is called ``input`` and a suffix.

    Returns
    -------
    Path
    """
    start = stream.read(START_BYTES)
    path = folder / f"input{_suffix(start)}"
    with open(path, "xb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return path


def _suffix(start: bytes) -> str:
    """Return the suffix of the format that the first bytes identify."""
    marks = {
        b"PAR1": ".parquet",
        b"ARROW1": ".arrow",
        b"\xff\xff\xff\xff": ".arrows",
        b"PK\x03\x04": ".zip",
        b"\x1f\x8b": ".csv.gz",
        b"\x28\xb5\x2f\xfd": ".csv.zst",
        b"BZh": ".csv.bz2",
    }
    for mark, suffix in marks.items():
        if start.startswith(mark):
            return suffix
    return {b"{": ".jsonl", b"@": ".arff", b"%": ".arff"}.get(start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1], ".csv")
