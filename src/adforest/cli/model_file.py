"""The model file of a command: one process learns at a time, and what a killed one left half-written is removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def load_model(path: Path) -> Any:
    """Return the model of a file, or raise if there is none."""
    from adforest import load

    if not path.exists():
        raise FileNotFoundError(
            f"there is no model '{path}'; expected a file that 'adforest learn' wrote. Correct the name, or learn one."
        )
    return load(path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from learning into the same file; the lock ends with the process, however that ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(f".{path.name}.lock"), "ab") as file:
        if not _lock(file):
            raise ValueError(
                f"another process is learning into '{path}'; expected one at a time, or batches would be lost. Wait "
                "until it ends, or end it."
            )
        for left in path.parent.glob(f".{path.name}.*.tmp"):  # see adforest.storage.atomic
            left.unlink(missing_ok=True)
        yield


def _lock(file: Any) -> bool:
    """Lock an open file, or return False if another process has done so."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
