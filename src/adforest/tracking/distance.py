"""Distance between two empirical distributions, corrected for chance."""

from __future__ import annotations

import numpy as np

from adforest.forest.types import Float64Array

CHANCE = 3.0  # standard deviations above its mean up to which a divergence counts as chance


def distances(one: Float64Array, other: Float64Array, n_one: Float64Array, n_other: Float64Array) -> Float64Array:
    """Return the Jensen-Shannon distance of two distributions corrected for chance, 0 where it may be chance.

    To first order, the divergence D in bits of two samples, of n and m samples of one distribution over k cells, is a
    chi-squared variable with the mean E = (k - 1) / (8 ln 2) * (1 / n + 1 / m) and the standard deviation
    E * sqrt(2 / (k - 1)). The distance is sqrt(D - E) where D is more than three standard deviations above E.

    Parameters
    ----------
    one, other : float64 (m, k)
        Counts, or weights, by column and cell.
    n_one, n_other : float64 (m,)
        Effective sample sizes.

    Returns
    -------
    float64 (m,)
        From 0, no change, to 1, no value in common; NaN where a side has no samples.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = one / one.sum(axis=1, keepdims=True), other / other.sum(axis=1, keepdims=True)
        middle = (p + q) / 2
        divergence = (_entropies(middle) - (_entropies(p) + _entropies(q)) / 2).clip(0, 1)
        freedom = np.maximum((middle > 0).sum(axis=1) - 1, 1)
        mean = freedom / (8 * np.log(2)) * (1 / n_one + 1 / n_other)
        limit = mean * (1 + CHANCE * np.sqrt(2 / freedom))
        found: Float64Array = np.sqrt(np.where(divergence > limit, divergence - mean, 0.0))
    found[(one.sum(axis=1) == 0) | (other.sum(axis=1) == 0)] = np.nan
    return found


def _entropies(shares: Float64Array) -> Float64Array:
    """Return the entropy of each row in bits."""
    entropies: Float64Array = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    return entropies
