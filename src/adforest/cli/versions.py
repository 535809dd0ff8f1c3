"""Models that were replaced, kept beside the file: ``m.adf.versions/batch-000012.adf`` is the model of twelve batches.

A model is kept by giving its file a second name just before the first one leads to the next model: nothing is copied,
and what is kept is never written to.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

NAME = re.compile(r"batch-(\d+)(?:-(\d+))?\.adf")


class Version(NamedTuple):
    """A model that was replaced.

    Attributes
    ----------
    batch : int
        The last one that it learnt.
    number : int
        Of several that learnt as many, after a rollback; counted from 1.
    path : Path
    """

    batch: int
    number: int
    path: Path


def versions_of(model: Path) -> list[Version]:
    """Return the models that are kept of a file, in the order in which they were replaced."""
    folder = _folder(model)
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        match = NAME.fullmatch(path.name)
        if match:
            found.append(Version(int(match[1]), int(match[2] or 1), path))
    return sorted(found, key=lambda one: (one.path.stat().st_mtime_ns, one.batch, one.number))


def keep_version(model: Path, batch: int) -> None:
    """Give a model file that is about to be replaced a second name."""
    folder = _folder(model)
    folder.mkdir(mode=0o700, exist_ok=True)
    number = 1
    path = folder / f"batch-{batch:06d}.adf"
    while path.exists():
        if path.samefile(model):
            return
        number += 1
        path = folder / f"batch-{batch:06d}-{number}.adf"
    try:
        os.link(model, path)
    except OSError:  # a file system without such names
        shutil.copy2(model, path)


def drop_versions(model: Path, n_kept: int) -> None:
    """Remove the oldest models that are kept, but for so many."""
    found = versions_of(model)
    for one in found[: max(len(found) - n_kept, 0)]:
        one.path.unlink(missing_ok=True)


def is_kept(model: Path) -> bool:
    """Return whether a model file is itself among those kept, as a process that was killed may leave it."""
    return any(one.path.samefile(model) for one in versions_of(model))


def _folder(model: Path) -> Path:
    """Return where the models are that are kept of a file."""
    return model.with_name(f"{model.name}.versions")
