"""Drop records from the memory of a model by what a column holds."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from adforest.cli.batches import learnt_columns


def without_records_of(model: Any, column: str, values: Sequence[str]) -> tuple[Any, int]:
    """Return a model whose memory has no record with some values in a column, and how many it had."""
    known = model._model
    names = learnt_columns(model)
    if column not in names:
        raise ValueError(
            f"--column is {column!r}, which this model did not learn from; expected one of "
            f"{', '.join(map(repr, names[:20]))}. A model keeps nothing of other columns."
        )
    place = names.index(column)
    codes = _codes(known.encoder, place, column, values)
    state = known.learnt.state
    is_dropped = np.isin(state.memory.matrix()[:, place], codes)
    n_dropped = int(is_dropped.sum())
    if n_dropped:
        state = state.with_samples(np.flatnonzero(~is_dropped))
    waiting = state.pending
    if waiting is not None:
        kept = ~np.isin(waiting.X[:, place], codes)
        n_dropped += int((~kept).sum())
        weight = None if waiting.weight is None else waiting.weight[kept]
        left = replace(waiting, X=waiting.X[kept], y=waiting.y[kept], serial=waiting.serial[kept], weight=weight)
        state = replace(state, pending=left if len(left) else None)
    changed = copy(model)
    changed._model = replace(known, learnt=replace(known.learnt, state=state))
    return changed, n_dropped


def _codes(encoder: Any, place: int, column: str, values: Sequence[str]) -> list[float]:
    """Return what stands for values of a column in memory."""
    from adforest.encoding.columns import NUMBERS

    if encoder.is_categorical[place]:
        known = {str(value): code for code, value in enumerate(encoder.category_values(place)) if value is not None}
        return [float(known[value]) for value in values if value in known]
    if encoder.kinds[place] != NUMBERS:
        raise ValueError(f"column {column!r} holds {encoder.kinds[place]}; expected one of text or numbers.")
    try:
        return [float(value) for value in values]
    except ValueError:
        raise ValueError(f"column {column!r} holds numbers; --value is {values!r}. Pass a number.") from None
