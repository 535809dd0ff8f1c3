"""Class means and how far samples are from them; missing values take no part in either."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adforest.forest.types import Float64Array, Int32Array, Int64Array

TOO_LARGE, HUGE = 1e150, 1e300  # beyond it squares leave the range of a float; dividing by that brings them back
AT_ONCE = 1_000_000  # differences held at a time


class ClassSums(NamedTuple):
    """Sums of the values of each class and their number, float64 (k, m); missing values are not counted."""

    total: Float64Array
    known: Float64Array

    @classmethod
    def of(cls, X: Float64Array, y: Int32Array | Int64Array, n_classes: int) -> ClassSums:
        """Add up samples by class.

        Raises
        ------
        ValueError
            If a sum leaves the range of a float.
        """
        m = X.shape[1]
        known = ~np.isnan(X)
        place = (y.astype(np.intp)[:, None] * m + np.arange(m)).ravel()

        def added(weights: Float64Array) -> Float64Array:
            sums: Float64Array = (
                np.bincount(place, weights.ravel(), n_classes * m).reshape(n_classes, m).astype(np.float64)
            )
            return sums

        return cls(added(np.where(known, X, 0.0)), added(known.astype(np.float64))).checked()

    def plus(self, other: ClassSums) -> ClassSums:
        """Return the sums over both; other may know more classes."""
        room = ((0, len(other.total) - len(self.total)), (0, 0))
        with np.errstate(over="ignore"):
            return ClassSums(np.pad(self.total, room) + other.total, np.pad(self.known, room) + other.known).checked()

    def checked(self) -> ClassSums:
        """Return the sums, or raise where one left the range of a float."""
        overflown = ~np.isfinite(self.total).all(axis=0)
        if overflown.any():
            raise ValueError(
                f"Input X contains values too large: column {int(overflown.argmax())} adds up to more than a float can "
                "hold. Divide it by a large number."
            )
        return self

    @property
    def means(self) -> Float64Array:
        """Mean of each class by attribute, NaN where it has shown no value."""
        unknown = np.full_like(self.total, np.nan)
        return np.divide(self.total, self.known, out=unknown, where=self.known > 0)


def squared_distances(X: Float64Array, means: Float64Array) -> Float64Array:
    """Return the squared Euclidean distance of each sample to each mean.

    It is taken over the attributes known on both sides, and scaled up to all of them, as
    `sklearn.metrics.pairwise.nan_euclidean_distances` does; infinite where no attribute is known on both sides.

    Parameters
    ----------
    X : float64 (n, m)
    means : float64 (k, m)

    Returns
    -------
    float64 (n, k)
    """
    distances = np.empty((len(X), len(means)))
    # Differences, not a product of matrices: they keep their digits, and a sample's answer does not depend on the
    # samples it comes with.
    step = max(1, AT_ONCE // means.size)
    with np.errstate(over="ignore"):
        for start in range(0, len(X), step):
            away = X[start : start + step, None] - means
            np.einsum("nkm,nkm->nk", away, away, out=distances[start : start + step])
    odd = np.flatnonzero(~np.isfinite(distances).all(axis=1))
    if len(odd):
        distances[odd] = _odd_distances(X[odd], means)
    return distances


def _odd_distances(X: Float64Array, means: Float64Array) -> Float64Array:
    """Return squared distances where values are missing on either side, or so large that squares overflow."""
    largest = np.maximum(_largest(X, axis=1), _largest(means, axis=None))
    scale = np.where(largest > TOO_LARGE, HUGE, 1.0)[:, None]
    distances = np.full((len(X), len(means)), np.inf)
    for k, mean in enumerate(means):
        away = X / scale - mean / scale
        known = ~np.isnan(away)
        shared = known.sum(axis=1)
        total = np.square(away, where=known, out=np.zeros_like(away)).sum(axis=1)
        np.divide(total * X.shape[1], shared, out=distances[:, k], where=shared > 0)
    return distances


def _largest(values: Float64Array, axis: int | None) -> Float64Array:
    """Return the largest magnitudes; 0 where there is no value."""
    largest: Float64Array = np.fmax.reduce(np.abs(values), axis=axis, initial=0.0)
    return largest
