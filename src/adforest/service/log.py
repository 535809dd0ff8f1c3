"""An append-only log in segments: synced entries survive a crash, others are cut off, damage is an error.

    segment | 16 bytes: magic, number of the first entry | entry | entry | ...
    entry   | 4 bytes: length | 8 bytes: checksum | 1 byte: kind | payload |

The checksum (BLAKE2b) is of the number of the entry, its kind and its payload: an entry is valid at its position only.
Entries are numbered from 1; the number of an entry is its position. Entries are collected and written by `sync`, all
with one write and one sync. A crash may leave entries torn that were not synced: these are cut off, with what follows.
The caller that opens a log gives the position through which entries were acknowledged: where one of these is not
whole, bits were changed, and the log is not opened.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeVar

from adforest.service.system import AppendFile, Disk

T = TypeVar("T")
MAGIC = b"ADFLOG01"
HEAD = struct.Struct("<8sQ")
FRAME = struct.Struct("<I8sB")
SUFFIX = ".log"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # after which it is known that nothing was written
MAX_ENTRY = 1 << 30  # bytes
SEGMENT_BYTES = int(os.environ.get("ADFOREST_SEGMENT_BYTES", 64 << 20))  # after which another segment is begun


class LogError(Exception):
    """The log cannot be read or written any more; the process must end, and the next one recovers."""


class LogFullError(Exception):
    """The disk is full; nothing was written, and it may be tried again later."""


class EntryTooLargeError(ValueError):
    """The entry is larger than one may be; nothing was written."""


class Entry(NamedTuple):
    """An entry of the log.

    Attributes
    ----------
    position : int
        Its number, from 1.
    kind : int
    payload : bytes
    """

    position: int
    kind: int
    payload: bytes


class Log:
    """The log of a model.

    Parameters
    ----------
    disk : Disk
    folder : Path
        It holds nothing else.
    acknowledged : int
        The position through which entries must be whole.
    segment_bytes : int
        Size from which on another segment is begun.

    Attributes
    ----------
    position : int
        Of the last entry taken, 0 if there is none.
    n_cut : int
        Bytes that a crash left at the end, and that were cut off.
    """

    def __init__(self, disk: Disk, folder: Path, acknowledged: int = 0, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._disk, self._folder, self._segment_bytes = disk, folder, segment_bytes
        self._is_broken = False
        self._waiting: list[bytes] = []
        self.n_cut = 0
        disk.make_folder(folder)
        self._firsts = sorted(_first_of(name) for name in disk.names(folder) if name.endswith(SUFFIX))
        self._file, self._size, self.position = self._open_last(acknowledged)
        self._synced = self.position

    def append(self, kind: int, payload: bytes) -> int:
        """Take an entry, and return its position; it is on the disk only after `sync`."""
        if len(payload) > MAX_ENTRY:
            raise EntryTooLargeError(
                f"an entry of the log would have {len(payload):,} bytes; expected {MAX_ENTRY:,} at most. Send less."
            )
        position = self.position + 1
        self._waiting.append(FRAME.pack(len(payload), _checksum(position, kind, payload), kind) + payload)
        self.position = position
        return position

    def sync(self) -> None:
        """Return once all entries are on the disk.

        Raises
        ------
        LogFullError
            If the disk is full: the entries since the last sync are removed, and the log stays as it was.
        LogError
            If it is not known what is on the disk. It is not tried again: a sync that failed may have dropped what it
            could not write, and a second one would succeed without it.
        """
        self._check()
        content, self._waiting = b"".join(self._waiting), []
        if not content:
            return
        try:
            self._file.write(content)
        except OSError as error:
            self._take_back(error)
        self._write(self._file.sync)
        self._size, self._synced = self._size + len(content), self.position

    def forget_waiting(self) -> None:
        """Take back the entries since the last sync."""
        self._waiting, self.position = [], self._synced

    def rotate(self) -> None:
        """Begin another segment if this one is large and the disk not full; all entries must be synced."""
        if self._size < self._segment_bytes:
            return
        first = self.position + 1
        try:
            file, size = self._begun(first)
        except OSError:
            self._write(lambda: self._disk.remove(self._path(first)))
            return
        self._file.close()
        self._firsts.append(first)
        self._file, self._size = file, size

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def segments(self) -> list[tuple[int, int]]:
        """Return the positions of the first and the last entry of each segment, oldest first."""
        lasts = [first - 1 for first in self._firsts[1:]] + [self.position]
        return list(zip(self._firsts, lasts, strict=True))

    def drop(self, through: int) -> int:
        """Remove the segments that hold no entry after a position, but never the last one; return how many."""
        old = [first for first, last in self.segments()[:-1] if last <= through]
        for first in old:
            self._disk.remove(self._path(first))
            self._firsts.remove(first)
        return len(old)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries after a position, oldest first."""
        yield from read_entries(self._disk, self._folder, after, through=self.position)

    def _open_last(self, acknowledged: int) -> tuple[AppendFile, int, int]:
        """Open the last segment behind its last whole entry; one with an incomplete header is rewritten."""
        first = self._firsts[-1] if self._firsts else 1
        content = self._disk.read(self._path(first)) if self._firsts else b""
        if content[: HEAD.size] != HEAD.pack(MAGIC, first) and acknowledged < first:
            self._firsts = self._firsts or [first]
            self.n_cut = len(content)
            return (*self._begun(first), first - 1)
        _check_head(content, first, self._path(first))
        position, size, known = first - 1, HEAD.size, HEAD.size if acknowledged >= first else 0
        for position, size in _whole_entries(content, first):
            known = size if position <= acknowledged else known
        if position < acknowledged:
            raise LogError(
                f"'{self._path(first)}' is damaged: entry {position + 1} is not as it was written, and entries through "
                f"{acknowledged} were acknowledged. Restore the folder from a backup."
            )
        self.n_cut = len(content) - size
        file = self._disk.append(self._path(first), size)
        # Whole entries and a head may be in memory only: a process was killed before its sync, or its sync failed, and
        # another one would succeed without them. What is not known to be on the disk is written again.
        file.rewrite(known, content[known:size])
        file.sync()
        return file, size, position

    def _take_back(self, error: OSError) -> None:
        """Remove a partly written entry where the disk is full, and raise."""
        if error.errno not in FULL:
            self._write(partial(_raise, error))
        self.position, path = self._synced, self._path(self._firsts[-1])
        self._write(self._file.close)
        self._file = self._write(lambda: self._disk.append(path, self._size))
        reason = error.strerror or str(error)
        raise LogFullError(f"the log cannot be written ({reason}); nothing was kept") from error

    def _begun(self, first: int) -> tuple[AppendFile, int]:
        """Begin a segment, with its head on the disk."""
        file = self._disk.append(self._path(first), 0)
        try:
            file.write(HEAD.pack(MAGIC, first))
            file.sync()
        except BaseException:
            file.close()
            raise
        return file, HEAD.size

    def _write(self, action: Callable[[], T]) -> T:
        """Run an operation after whose failure the contents of the disk are unknown."""
        self._check()
        try:
            return action()
        except BaseException as error:
            self._is_broken = True
            if isinstance(error, OSError):
                raise LogError(f"the log in '{self._folder}' cannot be written ({error.strerror or error})") from error
            raise

    def _check(self) -> None:
        """Raise if the log could not be written before."""
        if self._is_broken:
            raise LogError(f"the log in '{self._folder}' could not be written before; the service must be restarted")

    def _path(self, first: int) -> Path:
        return self._folder / f"{first:016d}{SUFFIX}"


def read_entries(disk: Disk, folder: Path, after: int = 0, through: int | None = None) -> Iterator[Entry]:
    """Yield the entries of a log after a position and up to another one, without opening it for writing."""
    firsts = sorted(_first_of(name) for name in disk.names(folder) if name.endswith(SUFFIX))
    for first, following in zip(firsts, [*firsts[1:], None], strict=True):
        if (following is not None and following <= after + 1) or (through is not None and first > through):
            continue
        path = folder / f"{first:016d}{SUFFIX}"
        content = disk.read(path)
        if len(content) < HEAD.size:
            continue
        _check_head(content, first, path)
        position, begin = first - 1, HEAD.size
        for position, end in _whole_entries(content, first):
            if position > after and (through is None or position <= through):
                length, _, kind = FRAME.unpack_from(content, begin)
                yield Entry(position, kind, content[end - length : end])
            begin = end
        if following is not None and position != following - 1:
            raise LogError(f"'{path}' is damaged after entry {position}: expected entries up to {following - 1}")


def _whole_entries(content: bytes, first: int) -> Iterator[tuple[int, int]]:
    """Yield the position of each whole entry of a segment and where it ends, up to the first one that is not whole."""
    position, begin = first, HEAD.size
    while (end := _end_of(content, begin, position)) is not None:
        yield position, end
        position, begin = position + 1, end


def _end_of(content: bytes, begin: int, position: int) -> int | None:
    """Return where an entry ends, None if there is no whole one."""
    if begin + FRAME.size > len(content):
        return None
    length, checksum, kind = FRAME.unpack_from(content, begin)
    end = begin + FRAME.size + length
    if length > MAX_ENTRY or end > len(content):
        return None
    return end if _checksum(position, kind, content[end - length : end]) == checksum else None


def _raise(error: OSError) -> None:
    raise error


def _checksum(position: int, kind: int, payload: bytes) -> bytes:
    """Return the checksum of an entry at its position."""
    checksum = blake2b(struct.pack("<QB", position, kind), digest_size=8)
    checksum.update(payload)
    return checksum.digest()


def _check_head(content: bytes, first: int, path: Path) -> None:
    """Raise if a segment does not begin as it must."""
    if content[: HEAD.size] != HEAD.pack(MAGIC, first):
        raise LogError(f"'{path}' is damaged: it does not begin as a segment of a log does. Restore it from a backup.")


def _first_of(name: str) -> int:
    """Return the position of the first entry of a segment by its name."""
    stem = name.removesuffix(SUFFIX)
    if not (stem.isascii() and stem.isdigit()):
        raise LogError(f"there is a file '{name}' in the folder of a log. Move it elsewhere.")
    return int(stem)
