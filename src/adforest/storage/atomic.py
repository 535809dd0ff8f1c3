"""Replace a file at once: whoever reads it, or comes after a crash, finds the old one or the new one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: Iterable[bytes | memoryview]) -> None:
    """Write a file beside the target, make sure it is on the disk, and rename it to the target.

    A process that is killed in between may leave ``.NAME.XXXXXXXX.tmp`` behind, which nobody reads.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder. Give the file a name, such as {target / 'model.adf'}.")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb") as file:
            with suppress(FileNotFoundError):
                os.chmod(beside, target.stat().st_mode & 0o777)
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make sure that a new name is on the disk; Windows opens no folders, and needs none of this."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
