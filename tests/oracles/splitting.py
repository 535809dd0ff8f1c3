"""What cuts gain, and the best of all there are."""

from itertools import product
from math import isnan, log2

import numpy as np


def bits(y, weights):
    """Return the entropy of the classes in bits, times their weight."""
    counts = np.bincount(np.asarray(y, dtype=np.int64), weights)
    counts = counts[counts > 0]
    return float(counts @ np.log2(counts.sum() / counts))


def gini(y, weights):
    """Return the Gini impurity of the classes, times their weight."""
    counts = np.bincount(np.asarray(y, dtype=np.int64), weights).astype(np.float64)
    return float(counts.sum() - (counts**2).sum() / max(counts.sum(), 1))


def gain(y, weights, left, impurity=bits):
    """Return the bits, or what else, that a cut into left and the rest saves."""
    y, weights, left = np.asarray(y), np.asarray(weights), np.asarray(left, dtype=bool)
    return impurity(y, weights) - impurity(y[left], weights[left]) - impurity(y[~left], weights[~left])


def best_gain(values, y, weights, min_leaf=1, impurity=bits):
    """Try every threshold with missing values on either side; None where nothing leaves min_leaf samples each side."""
    values = np.asarray(values, dtype=np.float64)
    known = sorted(set(values[~np.isnan(values)].tolist()))
    gains = []
    for threshold, missing_left in product(known, (False, True)):
        left = np.where(np.isnan(values), missing_left, values <= threshold)
        if min(left.sum(), (~left).sum()) >= max(min_leaf, 1):
            gains.append(gain(y, weights, left, impurity))
    return max(gains, default=None)


def best_subset_gain(values, y, weights, impurity=bits):
    """Try every set of categories with missing values on either side; None where all samples agree."""
    values = np.asarray(values, dtype=np.float64)
    kinds = sorted(set(values[~np.isnan(values)].tolist()))
    if np.isnan(values).any():
        kinds.append(np.nan)
    gains = []
    for chosen in product((False, True), repeat=len(kinds)):
        left = np.zeros(len(values), dtype=bool)
        for kind, goes in zip(kinds, chosen, strict=True):
            left |= goes & ((values == kind) | (np.isnan(values) & isnan(kind)))
        if left.any() and not left.all():
            gains.append(gain(y, weights, left, impurity))
    return max(gains, default=None)


def subset_price(values):
    """Return the bits that a cut by categories must gain: those to name one of the two-sided sets, not of the orders.

    Up to twice as many where most samples have a category of their own.
    """
    values = np.asarray(values, dtype=np.float64)
    k = len(set(values[~np.isnan(values)].tolist()))
    if k <= 2:
        return 0.0
    return (1 + k / len(values)) * (log2(2 ** (k - 1) - 1) - log2(k - 1))
