"""Sketches of columns: counts of values in cells, of the last batches and of those before.

Of a batch at most 2,000 samples are counted, drawn by the hash of their serial numbers, so that the same samples make
the same sketch wherever they are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from adforest.forest import Samples
from adforest.forest._kernels.sampling import are_drawn
from adforest.forest._kernels.sketching import count_cells
from adforest.forest.types import AnyArray, Float64Array, Int32Array, Int64Array, UInt8Array
from adforest.tracking.cells import (
    MIN_VALUES,
    MISSING,
    N_BOUNDS,
    N_CELLS,
    OTHER,
    distances,
    first_bounds,
    padded,
    split,
    with_frequent,
)
from adforest.tracking.history import FiguresOverTime

MAX_DRAWN = 2_000  # samples of a batch that are counted
MAX_VALUES = 1_000_000  # values of these samples; with 500 columns or more fewer are drawn, at least MIN_EARLY
MIN_EARLY = 500  # samples that the first bounds are computed from
MIN_STEP = 250  # samples; smaller batches are joined
MAX_LAST = 3  # steps in "the last batches"
HALF_LIFE = 16  # steps, of counts of the past
FADING = 0.5 ** (1 / HALF_LIFE)
CROWDED = 0.5  # fraction of a column's values above which a cell is split
MAX_CHANGED = 32  # columns whose cells may change at one batch: those that need it most

NO_CODES = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSketches:
    """Counts of m columns; cells as in `adforest.tracking.cells`.

    Attributes
    ----------
    bounds : float64 (m, 15)
    past : float64 (m, 17)
        Samples by column and cell before the last batches; those of 16 steps earlier count half.
    past_squares : float64 (m,)
        Sum of the squared weights of these samples.
    past_unseen : float64 (m,)
        Number of them with a category that had never been learnt before their batch.
    past_batches : int32 (2,)
        First and last batch of the past; 0 before there is one.
    last : float64 (k, m, 17)
        Samples of the last steps, `MAX_LAST` at most; a step is a batch, or several that are small.
    last_unseen : float64 (k, m)
    last_batches : int32 (k, 2)
        First and last batch of each step.
    n_codes : int32 (m,)
        Categories learnt; those from this code on were never seen.
    early : float64 (n, m)
        Samples collected to compute bounds from; none after that.
    over_time : FiguresOverTime
    """

    bounds: Float64Array
    past: Float64Array
    past_squares: Float64Array
    past_unseen: Float64Array
    past_batches: Int32Array
    last: Float64Array
    last_unseen: Float64Array
    last_batches: Int32Array
    n_codes: Int32Array
    early: Float64Array
    over_time: FiguresOverTime

    @classmethod
    def none(cls, n_features: int) -> ColumnSketches:
        """Return the sketches of no samples."""
        return cls(
            bounds=np.full((n_features, N_BOUNDS), np.inf),
            past=np.zeros((n_features, N_CELLS)),
            past_squares=np.zeros(n_features),
            past_unseen=np.zeros(n_features),
            past_batches=np.zeros(2, dtype=np.int32),
            last=np.empty((0, n_features, N_CELLS)),
            last_unseen=np.empty((0, n_features)),
            last_batches=np.empty((0, 2), dtype=np.int32),
            n_codes=np.zeros(n_features, dtype=np.int32),
            early=np.empty((0, n_features)),
            over_time=FiguresOverTime.none(n_features),
        )

    @property
    def distances(self) -> Float64Array:
        """By column: distance of the last batches from the past, NaN as long as there is none."""
        last = self.last.sum(axis=0)
        n_past = self.past.sum(axis=1) ** 2 / np.where(self.past_squares > 0, self.past_squares, 1.0)
        return distances(self.past, last, n_past, last.sum(axis=1))

    def without_samples(self) -> ColumnSketches:
        """Return the sketches without collected samples."""
        return replace(self, early=self.early[:0])

    def with_early_counted(self, n_categories: Int32Array) -> ColumnSketches:
        """Return the sketches with bounds from the collected samples, however few, and these counted."""
        if not len(self.early):
            return self
        X = self.early
        made = replace(self, bounds=first_bounds(X, n_categories), early=X[:0])
        counts, _, _ = count_cells(X, np.arange(len(X)), made.bounds, n_categories, self.n_codes)
        unseen = np.nan_to_num(self.over_time.unseen * self.over_time.n_samples[:, np.newaxis]).sum(axis=0).round()
        return made._with_step(counts, unseen, int(self.over_time.batches[-1, 1]))

    def after(self, samples: Samples, batch: int, recycled_codes: Mapping[int, Int32Array]) -> ColumnSketches:
        """Return the sketches after one more batch.

        Parameters
        ----------
        batch : int
            Number of the batch.
        recycled_codes : dict of int to int32 arrays
            By column: codes that encoded other categories until now.
        """
        X, n_categories, rows = samples.X, samples.n_categories, drawn(samples)
        before = self.with_columns(X.shape[1])._without_codes(recycled_codes)
        if not len(before.last):
            return before._after_early(X[rows], batch, n_categories)
        before = before._with_opened(X, rows, n_categories)
        counts, unseen, is_mixed = count_cells(X, rows, before.bounds, n_categories, before.n_codes)
        for column, codes in recycled_codes.items():
            reused = codes[codes < before.n_codes[column]]
            unseen[column] += np.isin(X[rows, column], reused).sum()
        sketch = before._with_step(counts, unseen, batch)
        sketch = sketch._with_cells_changed(X, rows, counts, is_mixed, n_categories, recycled_codes)
        return sketch._with_figures(batch, counts[:, MISSING], unseen, len(rows), n_categories)

    def _after_early(self, X: Float64Array, batch: int, n_categories: Int32Array) -> ColumnSketches:
        """Return the sketches after a batch before there are bounds: its samples are collected."""
        rows = np.arange(len(X))
        counts, unseen, _ = count_cells(X, rows, self.bounds, n_categories, self.n_codes)
        sketch = replace(self, early=np.concatenate([self.early, X]))
        sketch = sketch._with_figures(batch, counts[:, MISSING], unseen, len(X), n_categories)
        return sketch.with_early_counted(n_categories) if len(sketch.early) >= MIN_EARLY else sketch

    def with_columns(self, n_features: int) -> ColumnSketches:
        """Return the sketches with more columns, without counts."""
        more = n_features - len(self.bounds)
        if not more:
            return self
        by_column = ((0, more), (0, 0))
        return replace(
            self,
            bounds=np.pad(self.bounds, by_column, constant_values=np.inf),
            past=np.pad(self.past, by_column),
            past_squares=np.pad(self.past_squares, (0, more)),
            past_unseen=np.pad(self.past_unseen, (0, more)),
            last=np.pad(self.last, ((0, 0), *by_column)),
            last_unseen=np.pad(self.last_unseen, ((0, 0), (0, more))),
            n_codes=np.pad(self.n_codes, (0, more)),
            early=np.pad(self.early, ((0, 0), (0, more)), constant_values=np.nan),
            over_time=self.over_time.with_columns(n_features),
        )

    def _without_codes(self, recycled_codes: Mapping[int, Int32Array]) -> ColumnSketches:
        """Return the sketches with counts of some codes moved to other categories; collected samples become missing."""
        sketch = replace(self, early=self.early.copy()) if recycled_codes else self
        for column, codes in recycled_codes.items():
            sketch.early[np.isin(sketch.early[:, column], codes), column] = np.nan
            kept = sketch.bounds[column][~np.isin(sketch.bounds[column], codes)]
            sketch = sketch._with_bounds(column, padded(kept))
        return sketch

    def _with_bounds(self, column: int, bounds: Float64Array, parts: Float64Array | None = None) -> ColumnSketches:
        """Return the sketches with other cells of a column.

        Parts are the fractions of each old cell that go to each new one; without them, cells are categories, and those
        without a cell are counted as other categories.
        """
        if parts is None:
            parts = np.zeros((MISSING, MISSING))
            old = self.bounds[column]
            index = np.searchsorted(bounds, old).clip(0, N_BOUNDS - 1)
            is_kept = np.isfinite(old) & (bounds[index] == old)
            parts[np.arange(N_BOUNDS), np.where(is_kept, index, OTHER)] = 1.0
            parts[OTHER, OTHER] = 1.0
        changed = replace(self, bounds=self.bounds.copy(), past=self.past.copy(), last=self.last.copy())
        changed.bounds[column] = bounds
        changed.past[column, :MISSING] = self.past[column, :MISSING] @ parts
        changed.last[:, column, :MISSING] = self.last[:, column, :MISSING] @ parts
        return changed

    def _with_opened(self, X: Float64Array, rows: Int64Array, n_categories: Int32Array) -> ColumnSketches:
        """Return the sketches with bounds for columns that had too few values, whose counts restart."""
        is_open = np.isinf(self.bounds[:, 0])
        if not is_open.any():
            return self
        columns = np.flatnonzero(is_open)
        bounds = first_bounds(X[np.ix_(rows, columns)], n_categories[columns])
        opened = columns[np.isfinite(bounds[:, 0])]
        if not len(opened):
            return self
        sketch = replace(self, bounds=self.bounds.copy(), past=self.past.copy(), last=self.last.copy())
        sketch.bounds[columns] = bounds
        sketch.past[opened, :MISSING] = sketch.last[:, opened, :MISSING] = 0.0
        return sketch

    def _with_step(self, counts: Int64Array, unseen: AnyArray, batch: int) -> ColumnSketches:
        """Return the sketches with the counts of a batch; older steps are added to the past."""
        last, last_unseen, batches = self.last, self.last_unseen, self.last_batches
        first = batches[-1, 1] + 1 if len(batches) else 1
        if len(last) and last[-1].sum(axis=1).max() < MIN_STEP:
            last, last_unseen, batches = last.copy(), last_unseen.copy(), batches.copy()
            last[-1] += counts
            last_unseen[-1] += unseen
            batches[-1, 1] = batch
            return replace(self, last=last, last_unseen=last_unseen, last_batches=batches)
        last = np.concatenate([last, counts[np.newaxis].astype(np.float64)])
        last_unseen = np.concatenate([last_unseen, unseen[np.newaxis].astype(np.float64)])
        batches = np.concatenate([batches, np.array([[first, batch]], dtype=np.int32)])
        if len(last) <= MAX_LAST:
            return replace(self, last=last, last_unseen=last_unseen, last_batches=batches)
        return replace(
            self,
            past=FADING * self.past + last[0],
            past_squares=FADING**2 * self.past_squares + last[0].sum(axis=1),
            past_unseen=FADING * self.past_unseen + last_unseen[0],
            past_batches=np.array([max(1, self.past_batches[0]), batches[0, 1]], dtype=np.int32),
            last=last[1:],
            last_unseen=last_unseen[1:],
            last_batches=batches[1:],
        )

    def _with_cells_changed(
        self,
        X: Float64Array,
        rows: Int64Array,
        counts: Int64Array,
        is_mixed: UInt8Array,
        n_categories: Int32Array,
        recycled_codes: Mapping[int, Int32Array],
    ) -> ColumnSketches:
        """Return the sketches after splitting crowded cells and adding cells for categories that became frequent."""
        known = np.maximum(counts[:, :MISSING].sum(axis=1), 1)
        is_number = n_categories == 0
        fullest = counts[:, :MISSING].argmax(axis=1)
        at = np.arange(len(counts)), fullest
        crowd = np.where(is_number & (is_mixed[at] > 0) & np.isfinite(self.bounds[:, 0]), counts[at] / known, 0.0)
        needs = np.where(is_number, crowd > CROWDED, counts[:, OTHER] > 0) & (known >= MIN_VALUES)
        if not needs.any():
            return self
        urgency = np.where(needs, np.where(is_number, crowd, counts[:, OTHER] / known), -1.0)
        sketch = self
        for column in np.argsort(-urgency, kind="stable")[: min(MAX_CHANGED, int(needs.sum()))].tolist():
            values = X[rows, column]
            values = values[~np.isnan(values)]
            if is_number[column]:
                sketch = sketch._split(column, values, int(fullest[column]))
            else:
                sketch = sketch._with_categories(column, values, recycled_codes.get(column, NO_CODES))
        return sketch

    def _split(self, column: int, values: Float64Array, cell: int) -> ColumnSketches:
        """Return the sketches with a cell of a column of numbers split."""
        inside = np.sort(values[np.searchsorted(self.bounds[column], values) == cell])
        weight = _fractions(self.past[column]) + _fractions(self.last[:, column].sum(axis=0))
        return self._with_bounds(column, *split(self.bounds[column], cell, inside, weight))

    def _with_categories(self, column: int, values: Float64Array, reused: Int32Array) -> ColumnSketches:
        """Return the sketches with cells for categories that are frequent in the last batch and had none."""
        codes, counts = np.unique(values, return_counts=True)
        bounds = self.bounds[column]
        is_other = ~np.isin(codes, bounds)
        fraction = _fractions(self.past[column] + self.last[:, column].sum(axis=0))[:N_BOUNDS]
        found = with_frequent(bounds, codes[is_other], counts[is_other], len(values), fraction)
        if found is None:
            return self
        sketch = self._with_bounds(column, found)
        is_new = is_other & np.isin(codes, found)
        is_unseen = (codes >= self.n_codes[column]) | np.isin(codes, reused)
        first, known = codes[is_new & is_unseen], codes[is_new & ~is_unseen]
        # Codes never seen before are those of this batch; the past counts of others are unknown: as in this batch.
        rest = self.last[:, column, OTHER].copy()
        rest[-1] = max(rest[-1] - counts[is_other & is_unseen].sum(), 0.0)
        fraction = counts[is_new & ~is_unseen] / max(counts[is_other & ~is_unseen].sum(), 1)
        pairs = [(sketch.past[column], self.past[column, OTHER]), *zip(sketch.last[:, column], rest, strict=True)]
        for cells, others in pairs:
            cells[np.searchsorted(found, known)] += fraction * others
            cells[OTHER] = max(cells[OTHER] - fraction.sum() * others, 0.0)  # negative by rounding
        sketch.last[-1, column, np.searchsorted(found, first)] += counts[is_new & is_unseen]
        sketch.last[-1, column, OTHER] = max(sketch.last[-1, column, OTHER] - counts[is_new & is_unseen].sum(), 0.0)
        return sketch

    def _with_figures(
        self, batch: int, missing: Int64Array, unseen: Int64Array, n_samples: int, n_categories: Int32Array
    ) -> ColumnSketches:
        """Return the sketches with the figures over time of a batch."""
        fractions = missing / n_samples, unseen / n_samples
        over_time = self.over_time.after(batch, n_samples, *fractions, self.distances)
        return replace(self, over_time=over_time, n_codes=n_categories.astype(np.int32))


def drawn(samples: Samples) -> Int64Array:
    """Return the indices of the samples that are counted: all, or about 2,000 drawn by the hash of serial numbers.

    If the samples were drawn from a larger batch, by the same hash, the result is that of the whole batch.
    """
    most = min(MAX_DRAWN, max(MIN_EARLY, MAX_VALUES // samples.X.shape[1]))
    n = len(samples) if samples.totals is None else samples.totals.n
    if n <= most:
        return np.arange(len(samples))
    return np.flatnonzero(are_drawn(samples.serial, most / n))


def sampled(samples: Samples) -> Samples:
    """Return the samples that are counted, and the number of all."""
    rows = drawn(samples)
    return samples if len(rows) == len(samples) else replace(samples.part(rows), totals=samples.batch_totals)


def _fractions(counts: Float64Array) -> Float64Array:
    """Return counts scaled to a sum of 1."""
    fractions: Float64Array = counts / max(counts.sum(), 1.0)
    return fractions
