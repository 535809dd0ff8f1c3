"""Locks on open files that end with the process, and who holds one."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

LOCKED_BYTE = 1 << 30  # of the lock file, on Windows, where a locked byte cannot be read: far behind its text
HOLDER_BYTES = 500  # of the text that says who holds a lock, at most


def open_lock(path: Path) -> BinaryIO:
    """Open a lock file, made if it is not there, which its owner alone can read and lock."""
    note = open(path, "a+b", opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
    if os.name != "nt":
        with suppress(OSError):  # of someone else
            os.fchmod(note.fileno(), 0o600)
    return note


def note_holder(note: BinaryIO) -> None:
    """Write to a lock file who holds it; that it is locked does not depend on it."""
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    text = f"process {os.getpid()} on {socket.gethostname()} since {since} ({' '.join(map(ascii, sys.argv[:2]))})"
    with suppress(OSError):  # a full disk
        note.truncate(0)
        note.write(text.encode()[:HOLDER_BYTES])
        note.flush()


def holder_of(note: BinaryIO) -> str:
    """Return who holds a lock, nothing if that is not known."""
    note.seek(0)
    return " ".join(note.read(HOLDER_BYTES).decode(errors="replace").split())


def lock_file(file: BinaryIO) -> bool:
    """Lock an open file, or return False if another process has done so."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
