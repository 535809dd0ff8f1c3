"""Samples with room for more behind them, so that a batch is added without copying all that is there."""

from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from adforest.forest._kernels.rows import take_into
from adforest.forest.types import AnyArray, Int64Array

Scalar = TypeVar("Scalar", bound=np.generic)

SPARE_FRACTION, MIN_SPARE = (
    1 / 16,
    1024,
)  # room that is set aside: a fraction of the rows that are there, and rows at least


class GrowableRows(np.ndarray[Any, np.dtype[Any]]):
    """Rows of which several owners read the first ones, each as many as it knows; those that are there never change.

    Owners hold plain arrays, views of this one, and whoever holds all rows that are there may add more. Others, such as
    those who still hold a model of before, get rows of their own when they do. Copies, and what is saved, are plain
    arrays without room.
    """

    _n_used: int
    _lock: Any

    def __new__(cls, n_used: int, n_columns: int, dtype: npt.DTypeLike) -> Self:
        """Return room for some rows, to be written, and more."""
        room = super().__new__(cls, (n_used + max(MIN_SPARE, int(SPARE_FRACTION * n_used)), n_columns), dtype)
        room._n_used, room._lock = n_used, Lock()
        return room

    def _first(self, n: int) -> AnyArray:
        """Return the first rows as a plain array."""
        return np.asarray(self)[:n]

    def _takes(self, n_owned: int, n_more: int) -> bool:
        """Return whether there is room behind all rows that are there, and set it aside."""
        with self._lock:
            is_free = self._n_used == n_owned and n_owned + n_more <= len(self)
            if is_free:
                self._n_used += n_more
            return is_free


def more_rows(rows: npt.NDArray[Scalar], n_more: int) -> npt.NDArray[Scalar]:
    """Return rows and more behind them, to be written; what is there is copied if there is no room behind it."""
    n = len(rows)
    room = _room_of(rows)
    if room is None or not room._takes(n, n_more):
        room = GrowableRows(n + n_more, rows.shape[1], rows.dtype)
        room._first(n)[:] = rows
    return room._first(n + n_more)


def taken(rows: npt.NDArray[Scalar], kept: Int64Array) -> npt.NDArray[Scalar]:
    """Return the rows at some positions, ascending, with room for more behind them."""
    room = GrowableRows(len(kept), rows.shape[1], rows.dtype)
    take_into(rows, kept, np.asarray(room))
    return room._first(len(kept))


def _room_of(rows: AnyArray) -> GrowableRows | None:
    """Return the room that an array's rows are the first ones of."""
    base: AnyArray | None = rows
    while isinstance(base, np.ndarray):
        if isinstance(base, GrowableRows):
            return base if rows.ctypes.data == base.ctypes.data and rows.flags.c_contiguous else None
        base = base.base
    return None
