"""Replace a file atomically: readers, also after a crash, find the old one or the new one."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

READERS_SECONDS = 2.0 if os.name == "nt" else 0.0  # on Windows a file cannot be replaced while someone reads it


def write_atomically(
    path: str | os.PathLike[str],
    content: Iterable[bytes | memoryview],
    *,
    mode: int | None = None,
    before_replacing: Callable[[], None] | None = None,
) -> os.stat_result:
    """Write a file beside the target, flush it to the disk, and rename it to the target.

    A process that is killed in between may leave ``.NAME.XXXXXXXX.tmp`` behind, which is never read.

    Parameters
    ----------
    path : str or path-like
    content : iterable of bytes
    mode : int, optional
        Permissions of a new file; by default those of any other. An existing file keeps its own.
    before_replacing : callable, optional
        Called after everything is written and before the file is replaced; if it raises, the old file stays.

    Returns
    -------
    os.stat_result
        Of the new file.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder. Give the file a name, such as {target / 'model.adf'}.")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    with suppress(FileNotFoundError):
        mode = target.stat().st_mode & 0o777

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else 0o600)  # never readable to more than it will be

    try:
        with open(beside, "xb", opener=opened) as file:
            if mode is not None:
                os.chmod(beside, mode)
            file.writelines(content)
            file.flush()
            sync_file(file.fileno())
            written = os.fstat(file.fileno())
        if before_replacing is not None:
            before_replacing()
        _replace(beside, target)
    except BaseException:
        with suppress(OSError):  # the first error is the one that is raised
            beside.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
    return written


def _replace(beside: Path, target: Path) -> None:
    """Rename a file; on Windows, wait until those who read the target have closed it."""
    end = time.monotonic() + READERS_SECONDS
    while True:
        try:
            return os.replace(beside, target)
        except PermissionError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.01)


def sync_file(descriptor: int) -> None:
    """Return once an open file or folder is on the disk: on macOS, fsync leaves it in the cache of the drive."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        with suppress(OSError):  # not every file system can; what is wrong with the disk is found by fsync, too
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Flush a folder to the disk, so that a new name in it is durable; does nothing on Windows."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync_file(descriptor)
    finally:
        os.close(descriptor)
