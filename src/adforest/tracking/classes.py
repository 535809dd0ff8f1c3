"""First and last batch of classes, which classes are gone, and their returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array

MISSED = 7.0  # expected samples of a class of which none came: by chance once in a thousand times
MAX_RETURNS = 512  # that are kept, the last ones


@dataclass(frozen=True, slots=True, eq=False)
class ClassLives:
    """Statistics by class code.

    A class is gone once `MISSED` samples of it would have been expected since it was last seen, given its frequency
    until then.

    Attributes
    ----------
    n_total : int
        Samples learnt.
    n_samples : int64 (n_classes,)
        Samples learnt of the class.
    first_batch, last_batch : int32 (n_classes,)
        Numbers of the batches, as given, with which it was first and last learnt; 0 if never.
    last_total : int64 (n_classes,)
        Samples learnt when it was last seen, itself included.
    n_returns : int32 (n_classes,)
        Number of returns after it was gone.
    returns : int32 (n, 3)
        The last returns: class code, last batch before it was gone, batch of its return.
    """

    n_total: int
    n_samples: Int64Array
    first_batch: Int32Array
    last_batch: Int32Array
    last_total: Int64Array
    n_returns: Int32Array
    returns: Int32Array

    @classmethod
    def none(cls) -> ClassLives:
        """Return the statistics before the first batch."""
        ints, longs = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        return cls(0, longs, ints, ints, longs, ints, np.empty((0, 3), dtype=np.int32))

    def after(self, came: Int64Array, batch: int) -> ClassLives:
        """Return the statistics after a batch with some number of samples of each class."""
        more = (0, len(came) - len(self.n_samples))
        n_samples, last_total = np.pad(self.n_samples, more), np.pad(self.last_total, more)
        first, last = np.pad(self.first_batch, more), np.pad(self.last_batch, more)
        n_returns = np.pad(self.n_returns, more)
        seen = np.flatnonzero(came)
        back = seen[_missed(n_samples, last_total, self.n_total)[seen] >= MISSED]
        returns = np.column_stack([back, last[back], np.full(len(back), batch)]).astype(np.int32)
        n_returns[back] += 1
        first[seen] = np.where(first[seen] == 0, np.int32(batch), first[seen])
        last[seen] = batch
        n_total = self.n_total + int(came.sum())
        last_total[seen] = n_total
        return ClassLives(
            n_total,
            n_samples + came,
            first,
            last,
            last_total,
            n_returns,
            np.concatenate([self.returns, returns])[-MAX_RETURNS:],
        )

    @property
    def is_gone(self) -> BoolArray:
        """By class: whether it is gone."""
        return _missed(self.n_samples, self.last_total, self.n_total) >= MISSED


def _missed(n_samples: Int64Array, last_total: Int64Array, n_total: int) -> Float64Array:
    """Return the expected number of samples of each class since it was last seen."""
    missed: Float64Array = (n_total - last_total) * (n_samples / np.maximum(last_total, 1))
    return missed
