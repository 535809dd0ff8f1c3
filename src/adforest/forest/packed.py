"""A matrix of samples in few bytes: each column in the narrowest type that holds its values exactly.

There is spare capacity for more rows, so that a batch is added without copying the others.
"""

from dataclasses import dataclass
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from adforest.forest._kernels.packing import narrowest, pack, unpack
from adforest.forest._kernels.rows import take_into
from adforest.forest.types import AnyArray, Float32Array, Float64Array, Int32Array, Int64Array, UInt8Array, UInt16Array

Scalar = TypeVar("Scalar", bound=np.generic)

# Room that is set aside: a fraction of the rows that are there, and rows at least.
SPARE_FRACTION, MIN_SPARE = 1 / 16, 1024
WIDTHS = np.array([2, 4, 8])  # bytes of a value, by type
DOUBLE = 2  # the type that holds any number
USUAL_NAN = np.array([np.nan]).view(np.uint64)[0]


class GrowableRows(np.ndarray[Any, np.dtype[Any]]):
    """Rows of which several owners read the first ones, each as many as it knows; those that are there never change.

    Owners hold plain arrays, views of this one; the owner of all rows may add more. Others, such as an earlier model,
    copy their rows when they add some. Copies and saved arrays have no spare capacity.
    """

    _n_used: int
    _lock: Any

    def __new__(cls, n_used: int, n_columns: int, dtype: npt.DTypeLike) -> Self:
        """Return a buffer for some rows, to be written, with spare capacity."""
        room = super().__new__(cls, (n_used + max(MIN_SPARE, int(SPARE_FRACTION * n_used)), n_columns), dtype)
        room._n_used, room._lock = n_used, Lock()
        return room

    def _first(self, n: int) -> AnyArray:
        """Return the first rows as a plain array."""
        return np.asarray(self)[:n]

    def _takes(self, n_owned: int, n_more: int) -> bool:
        """Return whether there is spare capacity behind these rows, and reserve it."""
        with self._lock:
            is_free = self._n_used == n_owned and n_owned + n_more <= len(self)
            if is_free:
                self._n_used += n_more
            return is_free


def more_rows(rows: npt.NDArray[Scalar], n_more: int) -> npt.NDArray[Scalar]:
    """Return rows followed by new ones to be written; they are copied if there is no spare capacity."""
    n = len(rows)
    room = _room_of(rows)
    if room is None or not room._takes(n, n_more):
        room = GrowableRows(n + n_more, rows.shape[1], rows.dtype)
        room._first(n)[:] = rows
    return room._first(n + n_more)


def taken(rows: npt.NDArray[Scalar], kept: Int64Array) -> npt.NDArray[Scalar]:
    """Return the rows at some positions, ascending, with spare capacity."""
    room = GrowableRows(len(kept), rows.shape[1], rows.dtype)
    take_into(rows, kept, np.asarray(room))
    return room._first(len(kept))


def _room_of(rows: AnyArray) -> GrowableRows | None:
    """Return the buffer whose first rows an array is."""
    base: AnyArray | None = rows
    while isinstance(base, np.ndarray):
        if isinstance(base, GrowableRows):
            return base if rows.ctypes.data == base.ctypes.data and rows.flags.c_contiguous else None
        base = base.base
    return None


@dataclass(frozen=True, slots=True, eq=False)
class PackedRows:
    """The rows of a matrix of float64, to be had again exactly; rows that are there never change.

    Attributes
    ----------
    types : uint8 (m,)
        By column: 0 for uint16, 1 for float32, 2 for float64. A column that needs more later gets it; none is
        made narrower again.
    uint16 : ndarray of uint16, (n, ...)
        Columns of integers from 0 to 65,534, codes of categories among them; 65,535 is missing.
    float32 : ndarray of float32, (n, ...)
        Columns whose numbers are exact in single precision.
    float64 : ndarray of float64, (n, ...)
        All others.
    """

    types: UInt8Array
    uint16: UInt16Array
    float32: Float32Array
    float64: Float64Array

    @classmethod
    def of(cls, X: Float64Array, at_least: UInt8Array | None = None) -> Self:
        """Return a matrix packed, its columns in no narrower types than some."""
        return cls.empty(X.shape[1], at_least).with_rows(X)

    @classmethod
    def bit_by_bit(cls, X: Float64Array) -> Self:
        """Return a C-contiguous matrix packed so that it is restored bit by bit, NaNs with unusual bits included."""
        is_odd = np.isnan(X) & (X.view(np.uint64) != USUAL_NAN)
        return cls.of(X, np.where(is_odd.any(axis=0), DOUBLE, 0).astype(np.uint8))

    @classmethod
    def empty(cls, n_columns: int, at_least: UInt8Array | None = None) -> Self:
        """Return no rows."""
        types = np.zeros(n_columns, dtype=np.uint8) if at_least is None else at_least
        n_uint16, n_float32, n_float64 = np.bincount(types, minlength=3)
        return cls(
            types,
            np.empty((0, n_uint16), dtype=np.uint16),
            np.empty((0, n_float32), dtype=np.float32),
            np.empty((0, n_float64), dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.uint16)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return int(WIDTHS[self.types].sum())

    def with_rows(self, X: Float64Array) -> Self:
        """Return these rows followed by more; they are copied only without spare capacity, or for wider types."""
        types = narrowest(X, self.types)
        before = self if (types == self.types).all() else type(self).empty(len(types), types)
        if before is not self and len(self):
            before = before.with_rows(self.matrix())
        n, more = len(before), len(X)
        after = type(self)(
            before.types,
            more_rows(before.uint16, more),
            more_rows(before.float32, more),
            more_rows(before.float64, more),
        )
        pack(X, types, after._index_in_type(), after.uint16[n:], after.float32[n:], after.float64[n:])
        return after

    def taken(self, kept: Int64Array) -> Self:
        """Return the rows at some positions, ascending."""
        return type(self)(self.types, taken(self.uint16, kept), taken(self.float32, kept), taken(self.float64, kept))

    def matrix(self) -> Float64Array:
        """Return the rows in order; not to be written to."""
        if self.float64.shape[1] == len(self.types):
            return self.float64
        return unpack(self.types, self._index_in_type(), self.uint16, self.float32, self.float64)

    def _index_in_type(self) -> Int32Array:
        """Return the index of each column among those of its type."""
        indices = np.empty(len(self.types), dtype=np.int32)
        for one in range(len(WIDTHS)):
            same = self.types == one
            indices[same] = np.arange(np.count_nonzero(same), dtype=np.int32)
        return indices
