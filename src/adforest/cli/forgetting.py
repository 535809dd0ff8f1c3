"""Drop records from the memory of a model by what a column holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adforest.base import get_fitted, set_fitted
from adforest.cli.batches import learnt_columns
from adforest.storage import load, save


def forget_records(path: Path, column: str, values: Sequence[str]) -> int:
    """Drop the records with some values in a column from the memory of a model file, and return how many."""
    model: Any = load(path)
    known = get_fitted(model)
    names = learnt_columns(model)
    if column not in names:
        raise ValueError(
            f"--column is {column!r}, which this model did not learn from; expected one of "
            f"{', '.join(map(repr, names[:20]))}. A model keeps nothing of other columns."
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
    """Return what stands for values of a column in memory."""
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
