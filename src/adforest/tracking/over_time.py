"""Statistics of every column over time, in a bounded number of blocks of equally many batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adforest.forest.types import AnyArray, Float32Array, Float64Array, Int32Array

MAX_BLOCKS = 64  # even, since they are joined in pairs when it is exceeded


@dataclass(frozen=True, slots=True, eq=False)
class FiguresOverTime:
    """Statistics of m columns in b blocks, oldest first; NaN where a column was not known or had no past.

    Attributes
    ----------
    batches : int32 (b, 3)
        First batch, last batch and number of learnt batches of each block. All have the same number of these, a power
        of 2, but the last one, which may have fewer.
    n_samples : float64 (b,)
        Samples counted.
    missing, unseen : float32 (b, m)
        Fraction of the samples with a missing value, and with a category never learnt before their batch.
    distance : float32 (b, m)
        Mean over batches of the distance between the last ones and the past, see `adforest.tracking.distance`.
    """

    batches: Int32Array
    n_samples: Float64Array
    missing: Float32Array
    unseen: Float32Array
    distance: Float32Array

    @classmethod
    def none(cls, n_features: int) -> FiguresOverTime:
        """Return the statistics of no batches."""
        by_block = np.empty((0, n_features), dtype=np.float32)
        return cls(np.empty((0, 3), dtype=np.int32), np.empty(0), by_block, by_block, by_block)

    def with_columns(self, n_features: int) -> FiguresOverTime:
        """Return the statistics with more columns, NaN in all blocks."""
        more = ((0, 0), (0, n_features - self.missing.shape[1]))
        missing, unseen, distance = (
            np.pad(one, more, constant_values=np.nan) for one in (self.missing, self.unseen, self.distance)
        )
        return FiguresOverTime(self.batches, self.n_samples, missing, unseen, distance)

    def after(
        self, batch: int, n_samples: int, missing: Float64Array, unseen: Float64Array, distance: Float64Array
    ) -> FiguresOverTime:
        """Return the statistics after one more batch, of which some samples were counted."""
        one = np.array([missing, unseen, distance], dtype=np.float32)[:, np.newaxis]
        first = self.batches[-1, 1] + 1 if len(self.batches) else 1
        new = FiguresOverTime(np.array([[first, batch, 1]], dtype=np.int32), np.array([float(n_samples)]), *one)
        n_last, size = (self.batches[-1, 2], self.batches[0, 2]) if len(self.batches) else (0, 0)
        if n_last < size:
            return self._part(slice(None, -1))._followed_by(_joined(self._part(slice(-1, None)), new))
        if len(self.batches) == MAX_BLOCKS:
            return _joined(self._part(slice(0, None, 2)), self._part(slice(1, None, 2)))._followed_by(new)
        return self._followed_by(new)

    def _part(self, places: slice) -> FiguresOverTime:
        """Return some of the blocks."""
        return FiguresOverTime(*(one[places] for one in self._arrays))

    def _followed_by(self, later: FiguresOverTime) -> FiguresOverTime:
        """Return these blocks followed by later ones."""
        return FiguresOverTime(*(np.concatenate(pair) for pair in zip(self._arrays, later._arrays, strict=True)))

    @property
    def _arrays(self) -> tuple[AnyArray, ...]:
        return self.batches, self.n_samples, self.missing, self.unseen, self.distance


def _joined(one: FiguresOverTime, other: FiguresOverTime) -> FiguresOverTime:
    """Return blocks joined in pairs."""
    n_batches = one.batches[:, 2] + other.batches[:, 2]
    batches = np.column_stack([one.batches[:, 0], other.batches[:, 1], n_batches]).astype(np.int32)
    by_samples, by_batches = (one.n_samples, other.n_samples), (one.batches[:, 2], other.batches[:, 2])
    return FiguresOverTime(
        batches,
        one.n_samples + other.n_samples,
        _mean(one.missing, other.missing, *by_samples),
        _mean(one.unseen, other.unseen, *by_samples),
        _mean(one.distance, other.distance, *by_batches),
    )


def _mean(one: Float32Array, other: Float32Array, n_one: AnyArray, n_other: AnyArray) -> Float32Array:
    """Return the weighted mean of two numbers, or the one that is not NaN."""
    weight = (n_other / (n_one + n_other))[:, np.newaxis]
    mean = np.where(np.isnan(one), other, np.where(np.isnan(other), one, one + weight * (other - one)))
    return mean.clip(0, 1).astype(np.float32)
