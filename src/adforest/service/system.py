"""Disk and clock of the service behind two small interfaces, so that a simulation can bring its own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from adforest.service.databases import PRIVATE, Database, ServerDatabase, check_url, open_file
from adforest.storage.atomic import sync_file, sync_folder, write_atomically

BINARY = getattr(os, "O_BINARY", 0)  # on Windows, where a line feed would be written as two bytes
PRIVATE_FOLDER = 0o700  # records may be personal data: readable by their owner alone


class AppendFile(Protocol):
    """A file that is written at its end."""

    def write(self, content: bytes) -> None:
        """Write bytes behind the last ones; they are on the disk only after `sync`."""

    def rewrite(self, begin: int, content: bytes) -> None:
        """Write the last bytes of the file again, which are those: a sync that failed may have dropped them."""

    def sync(self) -> None:
        """Return once all that was written is on the disk."""

    def close(self) -> None:
        """Close the file."""


class Disk(Protocol):
    """Interface of the file system."""

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, on the disk."""

    def names(self, path: Path) -> list[str]:
        """Return the sorted names in a folder, none if it is not there."""

    def exists(self, path: Path) -> bool:
        """Return whether there is a file or folder."""

    def read(self, path: Path) -> bytes:
        """Return what a file holds."""

    def append(self, path: Path, size: int) -> AppendFile:
        """Open a file, made if it is not there, cut after so many bytes; its name is on the disk."""

    def replace(self, path: Path, content: Iterable[bytes | memoryview]) -> None:
        """Replace a file at once, on the disk."""

    def link(self, path: Path, name: Path) -> None:
        """Give a file a second name, unless that is taken."""

    def remove(self, path: Path) -> None:
        """Remove a file or a folder with all that is in it, if it is there."""

    def database(self, path: Path, schema: str | None) -> Database:
        """Open an SQLite file, or a schema of PostgreSQL; a transaction that is committed is on the disk."""


class RealFile:
    """A file of the operating system."""

    def __init__(self, path: Path, size: int) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | BINARY, PRIVATE)
        try:
            if os.fstat(self._descriptor).st_size != size:
                os.ftruncate(self._descriptor, size)
                sync_file(self._descriptor)
            os.lseek(self._descriptor, size, os.SEEK_SET)
        except BaseException:
            os.close(self._descriptor)
            raise

    def write(self, content: bytes) -> None:
        """Write all of it: a disk that is nearly full may take a part at first."""
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def rewrite(self, begin: int, content: bytes) -> None:
        """Write the last bytes again: the system takes them for changed, and the next sync writes them."""
        os.lseek(self._descriptor, begin, os.SEEK_SET)
        self.write(content)

    def sync(self) -> None:
        """Return once it is on the disk."""
        sync_file(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class RealDisk:
    """The file system of the operating system.

    Parameters
    ----------
    database_url : str, optional
        Of PostgreSQL, for tables that are there.
    """

    def __init__(self, database_url: str | None = None) -> None:
        self.database_url = None if database_url is None else check_url(database_url)

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, on the disk."""
        missing = [one for one in (path, *path.parents) if not one.exists()]
        path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        for one in dict.fromkeys([path, *missing]):  # also one that is there: who made it may have been killed
            sync_folder(one.parent)

    def names(self, path: Path) -> list[str]:
        """Return the sorted names in a folder."""
        return sorted(os.listdir(path)) if path.is_dir() else []

    def exists(self, path: Path) -> bool:
        """Return whether there is a file or folder."""
        return path.exists()

    def read(self, path: Path) -> bytes:
        """Return what a file holds."""
        return path.read_bytes()

    def append(self, path: Path, size: int) -> RealFile:
        """Open a file to write behind so many bytes."""
        file = RealFile(path, size)
        try:
            sync_folder(path.parent)  # also of a file that is there: who made it may have been killed before this
        except BaseException:
            file.close()
            raise
        return file

    def replace(self, path: Path, content: Iterable[bytes | memoryview]) -> None:
        """Replace a file at once."""
        write_atomically(path, content, mode=PRIVATE)

    def link(self, path: Path, name: Path) -> None:
        """Give a file a second name, or copy it on a file system without such names."""
        if name.exists():
            sync_folder(name.parent)  # who gave it the name may have been killed before this
            return
        try:
            os.link(path, name)
        except OSError:
            beside = name.with_name(f".{name.name}.tmp")
            shutil.copyfile(path, beside)
            os.chmod(beside, PRIVATE)
            with open(beside, "rb+") as copy:
                sync_file(copy.fileno())
            os.replace(beside, name)
        sync_folder(name.parent)

    def remove(self, path: Path) -> None:
        """Remove a file or a folder."""
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_folder(path.parent)

    def database(self, path: Path, schema: str | None) -> Database:
        """Open an SQLite file, or a schema of PostgreSQL."""
        if schema is None:
            return open_file(path)
        if self.database_url is None:
            raise OSError(f"the tables of '{path.parent}' are in PostgreSQL. Say where with --database URL.")
        return ServerDatabase(self.database_url, schema)

    def drop_database(self, schema: str) -> None:
        """Remove a schema of PostgreSQL."""
        if self.database_url is not None:
            ServerDatabase(self.database_url, schema).drop()


class Clock(Protocol):
    """Interface of the clock."""

    def now(self) -> float:
        """Return the seconds since 1970."""


class SteadyClock:
    """The time of day at its creation plus the time elapsed since: setting the machine's clock does not change it."""

    def __init__(self) -> None:
        self._begin = time.time() - time.monotonic()

    def now(self) -> float:
        """Return the seconds since 1970."""
        return self._begin + time.monotonic()
