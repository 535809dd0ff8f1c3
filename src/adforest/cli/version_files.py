"""Earlier versions of a model, kept beside its file: ``m.adf.versions/batch-000012.adf`` has learnt twelve batches.

A version is a hard link that is made just before the model file is replaced: nothing is copied, and the content of a
version never changes, except when records are forgotten.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adforest.base import get_fitted, set_fitted
from adforest.cli.batch_files import learnt_columns
from adforest.storage import load, save

NAME = re.compile(r"batch-(\d+)(?:-(\d+))?\.adf")


class Version(NamedTuple):
    """An earlier version of a model.

    Attributes
    ----------
    batch : int
        The last one that it learnt.
    number : int
        Number among versions with the same last batch, after a rollback; counted from 1.
    path : Path
    """

    batch: int
    number: int
    path: Path


def versions_of(model: Path) -> list[Version]:
    """Return the versions of a model file, in the order in which they were replaced."""
    folder = _folder(model)
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        match = NAME.fullmatch(path.name)
        if match:
            found.append(Version(int(match[1]), int(match[2] or 1), path))
    return sorted(found, key=lambda one: (one.path.stat().st_mtime_ns, one.batch, one.number))


def keep_version(model: Path, batch: int) -> None:
    """Keep a model file that is about to be replaced as a version."""
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
    """Remove the oldest versions, except for a number of them."""
    found = versions_of(model)
    for one in found[: max(len(found) - n_kept, 0)]:
        one.path.unlink(missing_ok=True)


def is_kept(model: Path) -> bool:
    """Return whether a model file is itself a version, as after a crash."""
    return any(one.path.samefile(model) for one in versions_of(model))


def _folder(model: Path) -> Path:
    """Return the folder of the versions of a model file."""
    return model.with_name(f"{model.name}.versions")


def forget_records(path: Path, column: str, values: Sequence[str]) -> int:
    """Drop the records with some values in a column from the memory of a model file, and return how many."""
    model: Any = load(path)
    known = get_fitted(model)
    names = learnt_columns(model)
    if column not in names:
        raise ValueError(
            f"--column is {column!r}, which this model did not learn from; expected one of "
            f"{', '.join(map(repr, names[:20]))}. A model stores nothing of other columns."
        )
    index = names.index(column)
    codes = _codes(known.encoder, index, column, values)
    state = known.state
    is_dropped = np.isin(state.memory.matrix()[:, index], codes)
    n_dropped = int(is_dropped.sum())
    if n_dropped:
        state = state.with_samples(np.flatnonzero(~is_dropped))
    waiting = state.pending
    if waiting is not None:
        kept = ~np.isin(waiting.X[:, index], codes)
        n_dropped += int((~kept).sum())
        weight = None if waiting.weight is None else waiting.weight[kept]
        left = replace(waiting, X=waiting.X[kept], y=waiting.y[kept], serial=waiting.serial[kept], weight=weight)
        state = replace(state, pending=left if len(left) else None)
    if n_dropped:
        set_fitted(model, replace(known, state=state))
        save(model, path)
    return n_dropped


def _codes(encoder: Any, index: int, column: str, values: Sequence[str]) -> list[float]:
    """Return the codes of values of a column."""
    from adforest.encoding.columns import NUMBERS

    if encoder.is_categorical[index]:
        known = {str(value): code for code, value in enumerate(encoder.category_values(index)) if value is not None}
        return [float(known[value]) for value in values if value in known]
    if encoder.kinds[index] != NUMBERS:
        raise ValueError(f"column {column!r} holds {encoder.kinds[index]}; expected one of text or numbers.")
    try:
        return [float(value) for value in values]
    except ValueError:
        raise ValueError(f"column {column!r} holds numbers; --value is {values!r}. Pass a number.") from None
