"""Survey of a file before it is read: its digest, its size, and whether it is complete."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from adforest.origins import DIGEST_BYTES

PIECE = 1 << 20  # bytes read at once
LINE_ENDS = (b"\n", b"\r", b"\n\0", b"\r\0")  # the last two in UTF-16
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # of Arrow


class Fingerprint(NamedTuple):
    """Digest of a file, and digests of its beginnings.

    Attributes
    ----------
    digest : bytes
    n_bytes : int
    beginnings : dict of int to bytes
        By number of bytes: digest of these first bytes.
    """

    digest: bytes
    n_bytes: int
    beginnings: Mapping[int, bytes]


@dataclass(frozen=True)
class Survey:
    """Size of a file.

    Attributes
    ----------
    n_bytes : int
        Uncompressed size.
    n_rows : int
        Lines of text, or records: at least the number of records.
    n_values : int
        Rows times columns, if the file has both; 0 for text.
    doubt : str
        Why it may be unfinished, empty if there is no sign of that.
    """

    n_bytes: int
    n_rows: int
    n_values: int = 0
    doubt: str = ""


@dataclass(frozen=True)
class Limits:
    """Maximum size of files; larger ones are refused before any of them is learnt.

    Attributes
    ----------
    max_records : int or None
        Lines of text count as records.
    max_bytes : int or None
        Uncompressed.
    max_columns : int or None
    """

    max_records: int | None = None
    max_bytes: int | None = None
    max_columns: int | None = None

    def check(self, path: Path, survey: Survey) -> None:
        """Raise if a file holds too many records or bytes."""
        for what, found, most in (
            ("records", survey.n_rows, self.max_records),
            ("bytes", survey.n_bytes, self.max_bytes),
        ):
            if most is not None and found > most:
                raise self._exceeded(path, f"{found:,} {what}", f"--max-{what} {most:,}")

    def check_columns(self, path: Path, n_columns: int) -> None:
        """Raise if a file has too many columns."""
        if self.max_columns is not None and n_columns > self.max_columns:
            raise self._exceeded(path, f"{n_columns:,} columns", f"--max-columns {self.max_columns:,}")

    @staticmethod
    def _exceeded(path: Path, found: str, most: str) -> ValueError:
        return ValueError(
            f"'{path}' holds {found} or more; expected {most} at most. Cut it into several files, or allow more."
        )


def fingerprint(path: Path, sizes: Collection[int] = ()) -> Fingerprint:
    """Return the digests of a file, or of a member of a zip archive, whose path is in the archive.

    Parameters
    ----------
    path : Path
    sizes : collection of int
        Lengths of the beginnings; those longer than the file are left out.
    """
    marks = sorted(sizes, reverse=True)
    found, n_bytes, beginnings = hashlib.blake2b(digest_size=DIGEST_BYTES), 0, {}
    for piece in _raw_pieces(path):
        start = 0
        while marks and marks[-1] < n_bytes + len(piece):
            stop = marks.pop() - n_bytes
            found.update(piece[start:stop])
            beginnings[n_bytes + stop] = found.digest()
            start = stop
        found.update(piece[start:])
        n_bytes += len(piece)
    return Fingerprint(found.digest(), n_bytes, beginnings)


def survey(path: Path, limits: Limits = Limits()) -> Survey:
    """Return the size of a file, or raise if it is damaged or beyond limits, in constant memory.

    Compressed files are read to their end, so that nothing is learnt of a truncated one.
    """
    from adforest.reading.formats import naming
    from adforest.reading.paths import TEXT_SUFFIXES, suffix_of
    from adforest.reading.sources import find_sources

    if suffix_of(path) not in (*TEXT_SUFFIXES, ".zip"):
        return _table(path)
    n_bytes, n_lines, is_ended = 0, 0, True
    for source in find_sources(path, "utf-8"):
        end = b"\n"
        with naming(source.path), source.open() as stream:
            for piece in _pieces(stream):
                n_bytes, n_lines, end = n_bytes + len(piece), n_lines + piece.count(b"\n"), (end + piece)[-2:]
                limits.check(path, Survey(n_bytes, n_lines - 1))  # but for the names of columns
        is_ended = end.endswith(LINE_ENDS)
        n_lines += not is_ended
    is_unfinished = path.suffix.lower() in TEXT_SUFFIXES and not is_ended
    return Survey(n_bytes, n_lines, doubt="its last line has no end" if is_unfinished else "")


def ends_a_line(path: Path, n_bytes: int) -> bool:
    """Return whether a line of a text file ends after a number of bytes."""
    with open(path, "rb") as file:
        file.seek(max(n_bytes - 2, 0))
        before, after = file.read(min(n_bytes, 2)), file.read(1)
    return before.endswith(LINE_ENDS) or after in (b"\n", b"\r")


def _table(path: Path) -> Survey:
    """Return how much a Parquet or Arrow file holds."""
    from adforest.reading.formats import ArrowFile, ParquetFile, naming

    size = path.stat().st_size
    file = ParquetFile(path) if path.suffix.lower() == ".parquet" else ArrowFile(path)
    with naming(path):
        n_rows = file.n_rows
        n_columns = len(file.schema.names) if size else 0
    doubt = ""
    if path.suffix.lower() == ".arrows" and size:
        with open(path, "rb") as stream:
            stream.seek(max(size - len(END_OF_STREAM), 0))
            doubt = "" if stream.read() == END_OF_STREAM else "the mark that ends it is missing"
    return Survey(max(size, 8 * n_rows * n_columns), n_rows, n_rows * n_columns, doubt)


def _raw_pieces(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file as they are, or those of a member of a zip archive."""
    if path.exists():
        with open(path, "rb") as file:
            yield from _pieces(file)
        return
    archive = next(parent for parent in path.parents if parent.is_file())
    with zipfile.ZipFile(archive) as opened, opened.open(path.relative_to(archive).as_posix()) as member:
        yield from _pieces(member)


def _pieces(stream: Any) -> Iterator[bytes]:
    """Yield the content of a stream."""
    while piece := stream.read(PIECE):
        yield piece
