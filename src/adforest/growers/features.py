"""How many features a node tries, by scikit-learn's spellings and the paper's, and which of many it draws."""

import math
from numbers import Integral

import numpy as np

from adforest.forest.types import Float64Array, Int32Array

PATH_LENGTH = 12  # nodes on a path; where a feature is tried on each path, all are drawn alike
MIN_UNIFORM_FRACTION = 0.2  # of the entries that stand for any feature, so that none dies out
N_ENTRIES = 4096  # entries of the list, so that probabilities are told to 0.02 %


def count_features(max_features: str | float | None, m: int) -> int:
    """Return how many features to try at each node."""
    if max_features is None:
        return m
    if max_features == "default":
        return min(m, max(int(math.log2(m)) + 1, int(math.sqrt(m))))
    if max_features == "log2+1":
        return min(m, int(math.log2(m)) + 1)
    if max_features == "sqrt":
        return max(1, int(math.sqrt(m)))
    if max_features == "log2":
        return max(1, int(math.log2(m)))
    if isinstance(max_features, Integral):
        return min(m, int(max_features))
    return max(1, int(float(max_features) * m))


def uniform_fraction(n_tried: int, m: int) -> float:
    """Return the fraction of entries that stand for any feature: 1 where nodes try so many that each has its turn."""
    return min(1.0, max(MIN_UNIFORM_FRACTION, PATH_LENGTH * n_tried / m))


def sampling_by_worth(worth: Float64Array, n_tried: int) -> Int32Array | None:
    """Return the list from which nodes draw features: each as often as its worth says, and -1 for any of all.

    Of a thousand features a node tries some thirty; where ten of them matter, most nodes would try none of these.

    Parameters
    ----------
    worth : float64 (m,)
        What each feature has proved to be worth, at least 0.
    n_tried : int
        Features that a node tries.

    Returns
    -------
    int32 (n,) or None
        None where all features are alike: few enough for each to be tried, or none worth anything.
    """
    m = len(worth)
    uniform = uniform_fraction(n_tried, m)
    if uniform == 1 or not worth.any():
        return None
    times = np.rint(N_ENTRIES * (1 - uniform) * worth / worth.sum()).astype(np.int64)
    draws = np.full(N_ENTRIES, -1, dtype=np.int32)
    favoured = np.repeat(np.arange(m, dtype=np.int32), times)[:N_ENTRIES]
    draws[: len(favoured)] = favoured
    return draws
