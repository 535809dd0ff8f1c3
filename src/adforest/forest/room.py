"""Records with room for more behind them, so that a batch is added without copying all that is there."""

from threading import Lock
from typing import Any

import numpy as np

from adforest.forest._kernels.rows import take_into
from adforest.forest.types import Floats, Longs

SPARE_SHARE, MIN_SPARE = 1 / 16, 1024  # room that is set aside: a share of the rows that are there, and rows at least


class Room:
    """Rows of one array that several owners read, each its own first ones; rows that are there never change.

    Whoever owns all rows that are there may add more. Others, such as those who still hold a model of before, get rows
    of their own when they do.
    """

    __slots__ = ("_lock", "_n_used", "_rows")

    def __init__(self, n_used: int, n_columns: int) -> None:
        self._rows = np.empty((n_used + max(MIN_SPARE, int(SPARE_SHARE * n_used)), n_columns))
        self._n_used = n_used
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Be nothing in a copy and in what is saved."""
        return type(None), ()

    @property
    def rows(self) -> Floats:
        """The rows that are there."""
        return self._rows[: self._n_used]

    def appended(self, n_owned: int, more: Floats) -> Floats | None:
        """Return the first rows and more behind them, or None where there is no room, or others have added some."""
        n = n_owned + len(more)
        with self._lock:
            if self._n_used != n_owned or n > len(self._rows) or more.shape[1] != self._rows.shape[1]:
                return None
            self._n_used = n
        self._rows[n_owned:n] = more
        return self._rows[:n]

    @classmethod
    def of(cls, X: Floats, more: Floats) -> "Room":
        """Return room that holds some rows and more behind them."""
        room = cls(len(X) + len(more), X.shape[1])
        room._rows[: len(X)] = X
        room._rows[len(X) : len(X) + len(more)] = more
        return room

    @classmethod
    def taken(cls, X: Floats, kept: Longs) -> "Room":
        """Return room that holds the rows at some positions, ascending."""
        room = cls(len(kept), X.shape[1])
        take_into(X, kept, room._rows)
        return room
