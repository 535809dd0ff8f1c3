"""Contributions of features to class probabilities that are corrected for the class mix.

Class probabilities p are corrected to g(p) = p * ratio / (p . ratio), which is not a sum over features. If the features
add a_1 ... a_m to probabilities b at the roots, and all contributions are scaled together from 0 to their full size,

    feature j adds the integral over s from 0 to 1 of g'(b + s * (a_1 + ... + a_m)) a_j

to g(b) (Aumann & Shapley 1974; "integrated gradients"). This adds up to g(p) - g(b), is linear in a_j, is 0 where a_j
is 0, and a_j itself where no class is corrected. With Z(s) = (b + s * (p - b)) . ratio, linear in s, it is

    ratio * (a_j * mean of 1 / Z - (a_j . ratio) * mean of (b + s * (p - b)) / Z²).

Where votes are sharpened, g(p) = p³ / sum(p³), the mean over s is found numerically.
"""

from __future__ import annotations

import numpy as np

from adforest.forest.types import Float64Array

N_NODES = 16  # of s, by Gauss-Legendre quadrature
SMALL = 1e-3  # relative change of Z below which a series is exact and the formula is not


def mean_inverses(start: Float64Array, end: Float64Array, ratio: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the means of 1 / Z and of (b + s * (p - b)) / Z² over s from 0 to 1.

    Parameters
    ----------
    start : float64 (n_classes,) or (n, n_classes)
        The class probabilities at the roots, b.
    end : float64 (n, n_classes)
        The class probabilities of some samples, p.
    ratio : float64 (n_classes,)
        Factor of each class; positive.

    Returns
    -------
    first : float64 (n,)
    second : float64 (n, n_classes)
    """
    before, after = np.broadcast_to((start * ratio).sum(axis=-1), len(end)), (end * ratio).sum(axis=1)
    if (before <= 0).any():  # nothing was learnt, so nothing is added
        return np.zeros(len(end)), np.zeros_like(end)
    change = after / before - 1
    is_small = np.abs(change) < SMALL
    large = np.where(is_small, 1.0, change)
    series_1 = 1 - change / 2 + change**2 / 3 - change**3 / 4 + change**4 / 5
    series_2 = 1 / 2 - 2 / 3 * change + 3 / 4 * change**2 - 4 / 5 * change**3 + 5 / 6 * change**4
    mean_1 = np.where(is_small, series_1, np.log1p(large) / large) / before
    mean_2 = np.where(is_small, series_2, (np.log1p(large) - large / (1 + large)) / large**2) / before**2
    return mean_1, start / (before * after)[:, np.newaxis] + (end - start) * mean_2[:, np.newaxis]


def sharpened_steps(start: Float64Array, end: Float64Array, steps: Float64Array) -> Float64Array:
    """Return what attributes add to p³ / sum(p³), given what they add to p; float64 (n, n_features, n_classes).

    Parameters
    ----------
    start, end : float64 (n, n_classes)
        Class probabilities that the steps lead from and to; rows of 0 stay so.
    steps : float64 (n, n_features, n_classes)
    """
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    found = np.zeros_like(steps)
    for s, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        p = start + s * (end - start)
        cubes = p**3
        total = cubes.sum(axis=1, keepdims=True)
        total[total <= 0] = 1.0
        moved = steps * (3 * p**2 / total)[:, np.newaxis]
        moved -= moved.sum(axis=2, keepdims=True) * (cubes / total)[:, np.newaxis]
        found += weight * moved
    return found
