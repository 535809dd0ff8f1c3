"""Series over time with at most as many points as a figure can show: neighbouring batches are averaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from adforest.adaptation.report import ACTIVE, PERMANENT
from adforest.forest.types import Float64Array, Int64Array
from adforest.monitor.model_view import Timeline
from adforest.monitor.pages import words
from adforest.monitor.pages.plots import Scale, batch_scale

MAX_POSITIONS = 200


@dataclass(frozen=True)
class Course:
    """A `Timeline` as arrays, thinned; NaN where a figure is not known.

    Attributes
    ----------
    first, last : ndarray of int
        First and last batch of each position.
    n_samples : ndarray
    accuracy : dict of str to (mean, low, high)
    metrics : dict of str to ndarray
    confidence, expected, seconds : ndarray
    votes, n_leaves : dict of str to ndarray
    n_temporary, n_sustained : ndarray
    learnt_at : ndarray
        When the last batch of each position was learnt, in seconds since 1970.
    """

    first: Int64Array
    last: Int64Array
    n_samples: Float64Array
    accuracy: dict[str, tuple[Float64Array, Float64Array, Float64Array]]
    metrics: dict[str, Float64Array]
    confidence: Float64Array
    expected: Float64Array
    votes: dict[str, Float64Array]
    n_temporary: Float64Array
    n_sustained: Float64Array
    n_leaves: dict[str, Float64Array]
    seconds: Float64Array
    learnt_at: Float64Array

    def __len__(self) -> int:
        return len(self.first)

    @property
    def middle(self) -> Float64Array:
        """Middle of the batches of each position."""
        return (self.first + self.last) / 2

    @property
    def scale(self) -> Scale:
        """Batches from left to right, as they are drawn."""
        return batch_scale([*self.first, *self.last])

    @property
    def batches(self) -> list[str]:
        """The batches of each position, as text."""
        return [words.batches(first, last) for first, last in zip(self.first.tolist(), self.last.tolist(), strict=True)]

    @property
    def positions(self) -> list[float]:
        """Horizontal position as a fraction of the width."""
        found: list[float] = self.scale.fraction(self.middle).tolist()
        return found

    def ticks(self, n: int = 8) -> list[tuple[float, str]]:
        """Return about n batches to be named below a figure, and in a second line when they were learnt."""
        ticks = self.scale.ticks(n, whole=True)
        numbers = [f"batch {tick:,.0f}" if index == 0 else f"{tick:,.0f}" for index, tick in enumerate(ticks)]
        is_known = np.isfinite(self.learnt_at)
        if not is_known.any():
            return list(zip(ticks, numbers, strict=True))
        known, at = self.last[is_known], self.learnt_at[is_known]
        moments = words.moments(np.interp(ticks, known, at, left=np.nan).tolist(), float(at[-1] - at[0]))
        return [(tick, f"{number}\n{moment}") for tick, number, moment in zip(ticks, numbers, moments, strict=True)]

    @property
    def edges(self) -> Float64Array:
        """Where places begin, and where the last one ends."""
        return np.append(self.first - 0.5, self.last[-1:] + 0.5)

    @property
    def is_thinned(self) -> bool:
        """Whether a position may be more than one batch."""
        return bool((self.first != self.last).any())


def thin(timeline: Timeline, last: int | None = None, most: int = MAX_POSITIONS) -> Course:
    """Return the series of the last batches with at most some points.

    Parameters
    ----------
    timeline : Timeline
    last : int or None
        How many batches to go back; None for all.
    most : int
        Positions; each has about the same number of batches.
    """
    ends = np.array(timeline.last, dtype=np.int64)
    start = 0 if last is None or not len(ends) else int(np.searchsorted(ends, ends[-1] - last, side="right"))
    first, ends = np.array(timeline.first, dtype=np.int64)[start:], ends[start:]
    group = _groups(first, ends, most)
    fold = _Fold(group, weight=(ends - first + 1).astype(float), start=start)
    edges = np.flatnonzero(np.diff(group, prepend=-1))
    lasts = np.append(edges[1:], len(ends)) - 1 if len(ends) else edges
    return Course(
        first=first[edges],
        last=ends[lasts],
        n_samples=fold.total(timeline.n_samples),
        accuracy={
            name: (fold.mean(one.mean), fold.bound(one.mean, one.low), fold.bound(one.mean, one.high))
            for name, one in timeline.accuracy.items()
        },
        metrics={name: fold.mean(values) for name, values in timeline.metrics.items()},
        confidence=fold.mean(timeline.confidence),
        expected=fold.mean(timeline.expected),
        votes={name: fold.mean(values) for name, values in timeline.votes.items()},
        n_temporary=fold.total(timeline.n_temporary),
        n_sustained=fold.total(timeline.n_sustained),
        n_leaves={name: fold.mean(values) for name, values in timeline.n_leaves.items()},
        seconds=fold.mean(timeline.seconds),
        learnt_at=as_floats(timeline.learnt_at[start:])[lasts],
    )


def _groups(first: Int64Array, last: Int64Array, most: int) -> Int64Array:
    """Return the position of each entry of a timeline, rising from 0."""
    if len(first) <= most:
        return np.arange(len(first))
    middle = (first + last) / 2
    width = (last[-1] - first[0] + 1) / most
    return np.unique(((middle - first[0]) // width).astype(np.int64), return_inverse=True)[1]


class _Fold:
    """Means and sums over the entries of each position."""

    def __init__(self, group: Int64Array, weight: Float64Array, start: int) -> None:
        self._group, self._weight, self._start = group, weight, start
        self._n = int(group[-1]) + 1 if len(group) else 0

    def mean(self, values: Sequence[float | None]) -> Float64Array:
        """Return the mean over batches, of those that have the figure."""
        known = as_floats(values[self._start :])
        weight = np.where(np.isfinite(known), self._weight, 0.0)
        total = np.bincount(self._group, weight, self._n)
        summed = np.bincount(self._group, weight * np.nan_to_num(known), self._n)
        found: Float64Array = np.divide(summed, total, out=np.full(self._n, np.nan), where=total > 0)
        return found

    def bound(self, values: Sequence[float | None], bounds: Sequence[float | None]) -> Float64Array:
        """Return a bound of the mean's interval: distances from the values add up as those of independent ones."""
        mean, away = self.mean(values), as_floats(bounds[self._start :]) - as_floats(values[self._start :])
        weight = np.where(np.isfinite(away), self._weight, 0.0)
        total = np.bincount(self._group, weight, self._n)
        summed = np.sqrt(np.bincount(self._group, (weight * np.nan_to_num(away)) ** 2, self._n))
        side = np.sign(np.bincount(self._group, np.nan_to_num(away), self._n))
        found: Float64Array = mean + side * np.divide(summed, total, out=np.full(self._n, np.nan), where=total > 0)
        return found

    def total(self, values: Sequence[float]) -> Float64Array:
        """Return the sum."""
        found: Float64Array = np.bincount(self._group, as_floats(values[self._start :]), self._n).astype(np.float64)
        return found


def as_floats(values: Iterable[float | None]) -> Float64Array:
    """Return figures as an array, NaN where one is not known."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def without_twins(by_forest: dict[str, Float64Array]) -> dict[str, Float64Array]:
    """Return figures that are known at all; not those of the active forest where it has been the permanent one."""
    found = {name: values for name, values in by_forest.items() if np.isfinite(values).any()}
    if ACTIVE in found and np.array_equal(found[ACTIVE], found.get(PERMANENT, np.empty(0)), equal_nan=True):
        del found[ACTIVE]
    return found
