"""Calibration of the forests' vote: a mixture of the sharpened vote, the vote and the uniform distribution.

With p the votes scaled to a sum of 1, the calibrated probabilities are

    weights[0] * p**3 / sum(p**3) + weights[1] * p + weights[2] / number of classes seen so far.

The order of the classes is that of p, so `predict` does not change. Each batch, predicted before it is learnt, gives an
estimate of the weights: a few steps of expectation maximization of the likelihood of its true classes. The weights are
a moving average of these estimates, in which a batch of n samples counts n / (n + `MEMORY`). Where leaves are too
cautious the first weight grows; where true classes had probabilities near 0, the last one.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from adforest.forest._kernels import variants
from adforest.forest.types import AnyArray, Float64Array, Int32Array

SHARP, PLAIN, UNIFORM = range(3)
# Measured in docs/decisions/0030-calibrated-votes.md.
FIRST_WEIGHTS = (0.0, 0.995, 0.005)  # initially
FIRST_ESTIMATE = (0.2, 0.78, 0.02)  # of a batch, before the first step
MEMORY = 1_000  # samples that the weights before a batch count for
N_STEPS = 30  # of expectation maximization
SMALLEST = 1e-12  # probability of a true class, to avoid a division by 0


@cache
def first_calibration() -> Float64Array:
    """Return the initial weights, read-only."""
    return _fixed(FIRST_WEIGHTS)


@cache
def no_calibration() -> Float64Array:
    """Return the weights that leave votes as they are, read-only."""
    return _fixed((0.0, 1.0, 0.0))


def _fixed(weights: tuple[float, ...]) -> Float64Array:
    """Return weights as a read-only array."""
    array = np.array(weights)
    array.setflags(write=False)
    return array


def calibrated(votes: Float64Array, weights: Float64Array, seen: AnyArray) -> Float64Array:
    """Return calibrated probabilities; votes that are all 0 stay 0.

    Parameters
    ----------
    votes : float64 (n, n_classes)
    weights : float64 (3,)
    seen : (at most n_classes,)
        Samples learnt of each class, or the sum of their weights.
    """
    return votes if weights[PLAIN] == 1 else variants.calibrate(votes, weights, seen.astype(np.float64))


def weights_after(
    weights: Float64Array, votes: Float64Array, seen: AnyArray, y: Int32Array, weight: Float64Array
) -> Float64Array:
    """Return the weights after some samples of known classes were predicted.

    Parameters
    ----------
    weights : float64 (3,)
        Before these samples.
    votes, seen : float64 (n, n_classes), (n_classes,)
        As for `calibrated`.
    y : int32 (n,)
        Classes.
    weight : float64 (n,)
        Weight of each sample.
    """
    n = float(weight.sum())
    if not n:
        return weights
    estimate, counts = np.array(FIRST_ESTIMATE), seen.astype(np.float64)
    given = np.stack([variants.calibrate(votes, part, counts)[np.arange(len(y)), y] for part in np.eye(3)])
    given = np.maximum(given, SMALLEST)
    for _ in range(N_STEPS):
        estimate = estimate * (given @ (weight / (estimate @ given))) / n
    now: Float64Array = (MEMORY * weights + n * estimate) / (MEMORY + n)
    return now
