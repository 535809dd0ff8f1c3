"""Class frequencies of each category of a column, as numbers that trees can split by.

A tree has few samples for each of thousands of names, but the class rates of a name can be counted over the whole
stream. A sample's rates are those of the batches before its own, so that no label is part of its own rate, and
it keeps them (see the decision sample 27). Everything here is immutable: counting a batch returns other rates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from adforest.forest.types import Float64Array, Int32Array, Int64Array

MIN_VALUES = 100  # of a column: trees cut by fewer values as well without rates
PRIOR_WEIGHT = 10.0  # samples that the rate over all values counts for in that of each value
STEP = 0.2  # of log odds: finer ones would tell batches apart, since rates move a little with each
MIN_EVIDENCE = 3.0  # standard errors by which rates must have predicted later batches better than no value does
MAX_COUNTED = 16  # classes, the first ones seen
MAX_RATES = 5  # of a column
LEAST_RATE = 1e-4  # so that log odds are finite


@dataclass(frozen=True, eq=False)
class CategoryRates:
    """Class counts of the categories of one column, and those classes whose rates are columns of the matrix.

    Attributes
    ----------
    counts : int64 (n_codes, 1 + n_counted)
        Samples by code: of all classes, and of each of the first classes.
    gain, gain_squares : float64 (n_counted,)
        By class: sums over all samples of how much likelier, in nats, the rates before a batch made its labels than
        the rate over all values did, and of the squares.
    classes : tuple of int
        The classes whose rates are columns, in the order in which they became so. With two classes one rate is enough.
    """

    counts: Int64Array
    gain: Float64Array
    gain_squares: Float64Array
    classes: tuple[int, ...] = ()

    @classmethod
    def none(cls) -> CategoryRates:
        """Return the rates of a column without values."""
        return cls(np.empty((0, 1), dtype=np.int64), np.empty(0), np.empty(0))

    def look_up(self, codes: Float64Array) -> Float64Array:
        """Return the rates of some samples, of shape (n_samples, n_rates); NaN where the code is."""
        found: Float64Array = self.table[np.where(np.isnan(codes), -1, codes).astype(np.intp)]
        return found

    def with_codes(self, n_codes: int, recycled_codes: Int32Array | None) -> CategoryRates:
        """Return the rates for more codes, and nothing counted of those that mean other values now."""
        if n_codes == len(self.counts) and recycled_codes is None:
            return self
        counts = np.zeros((n_codes, self.counts.shape[1]), dtype=np.int64)
        counts[: len(self.counts)] = self.counts
        if recycled_codes is not None:
            counts[recycled_codes] = 0
        return replace(self, counts=counts)

    def with_columns(self, n_values: int) -> CategoryRates:
        """Return the rates with columns for classes whose rates have proved right, if the column has many values."""
        if n_values < MIN_VALUES or len(self.classes) == MAX_RATES:
            return self
        is_proved = self.gain > MIN_EVIDENCE * np.sqrt(self.gain_squares)
        if len(is_proved) == 2:
            is_proved[1] = False  # it says what the rate of the other class says
        is_proved[list(self.classes)] = False
        best = [int(k) for k in np.argsort(-self.gain, kind="stable") if is_proved[k]]
        new = best[: MAX_RATES - len(self.classes)]
        return replace(self, classes=(*self.classes, *new)) if new else self

    def after(self, codes: Float64Array, y: Int32Array, n_classes: int) -> CategoryRates:
        """Return the rates after a batch was counted, each tested by predicting the batch before it was counted.

        Parameters
        ----------
        codes : float64 (n,)
            The column's codes in the samples of the batch, NaN where missing.
        y : int32 (n,)
            Their classes, by code.
        n_classes : int
            Classes known.
        """
        n_counted = min(n_classes, MAX_COUNTED)
        before = self._of_classes(n_counted)
        is_known = ~np.isnan(codes)
        pair = codes[is_known].astype(np.int64) * (n_counted + 1) + np.minimum(y[is_known], n_counted)
        batch_counts = np.bincount(pair, minlength=len(self.counts) * (n_counted + 1)).reshape(-1, n_counted + 1)
        n, hits = batch_counts.sum(axis=1, keepdims=True), batch_counts[:, :n_counted]
        hit, miss = before._gains()
        return replace(
            before,
            counts=before.counts + np.column_stack([n, hits]),
            gain=before.gain + (hits * hit + (n - hits) * miss).sum(axis=0),
            gain_squares=before.gain_squares + (hits * hit**2 + (n - hits) * miss**2).sum(axis=0),
        )

    def _of_classes(self, n_counted: int) -> CategoryRates:
        """Return the rates of more classes, of which nothing was counted."""
        more = n_counted + 1 - self.counts.shape[1]
        if not more:
            return self
        return replace(
            self,
            counts=np.pad(self.counts, ((0, 0), (0, more))),
            gain=np.pad(self.gain, (0, more)),
            gain_squares=np.pad(self.gain_squares, (0, more)),
        )

    def _gains(self) -> tuple[Float64Array, Float64Array]:
        """Return by code and class the gain of a sample of the class, and of one that is not."""
        rate, prior = self._rates()
        return np.log(rate / prior), np.log((1 - rate) / (1 - prior))

    @cached_property
    def table(self) -> Float64Array:
        """Log odds of the class less those over all values, in steps of 0.2, float64 (n_codes + 1, n_rates).

        The last row is for missing values: NaN.
        """
        table = np.full((len(self.counts) + 1, len(self.classes)), np.nan)
        if self.classes:
            hit, miss = (gains[:, list(self.classes)] for gains in self._gains())
            table[:-1] = np.rint((hit - miss) / STEP) + 0.0  # no -0
        return table

    def _rates(self) -> tuple[Float64Array, Float64Array]:
        """Return the rates of classes by code, drawn towards those over all values, and these."""
        total = self.counts.sum(axis=0)
        prior = total[1:] / max(int(total[0]), 1)
        rate = (self.counts[:, 1:] + PRIOR_WEIGHT * prior) / (self.counts[:, :1] + PRIOR_WEIGHT)
        return np.clip(rate, LEAST_RATE, 1 - LEAST_RATE), np.clip(prior, LEAST_RATE, 1 - LEAST_RATE)
