"""Calibration of the forests' vote: a mixture of the sharpened vote, the vote and the uniform distribution.

With p the votes scaled to a sum of 1, the calibrated probabilities are

    weights[0] * p**3 / sum(p**3) + weights[1] * p + weights[2] / number of classes seen so far.

The order of the classes is that of p, so `predict` does not change. Each batch, predicted before it is learnt, gives an
estimate of the weights: a few steps of expectation maximization of the likelihood of its true classes. The weights are
a moving average of these estimates, in which a batch of n samples counts n / (n + ``calibration_memory``). Where leaves
are too cautious the first weight grows; where true classes had probabilities near 0, the last one.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from adforest.adaptation.tuning import Tuning
from adforest.forest._kernels import variants
from adforest.forest.types import AnyArray, Float64Array, Int32Array

SHARP, PLAIN, UNIFORM = range(3)
SMALLEST = 1e-12  # probability of a true class, to avoid a division by 0


@cache
def no_calibration() -> Float64Array:
    """Return the weights that leave votes as they are, read-only."""
    weights = np.array([0.0, 1.0, 0.0])
    weights.setflags(write=False)
    return weights


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
    weights: Float64Array, votes: Float64Array, seen: AnyArray, y: Int32Array, weight: Float64Array, tuning: Tuning
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
    if not n or not tuning.calibrates:
        return weights
    estimate, counts = np.array(tuning.calibration_estimate), seen.astype(np.float64)
    given = np.stack([variants.calibrate(votes, part, counts)[np.arange(len(y)), y] for part in np.eye(3)])
    given = np.maximum(given, SMALLEST)
    for _ in range(tuning.calibration_steps):
        estimate = estimate * (given @ (weight / (estimate @ given))) / n
    memory = tuning.calibration_memory
    now: Float64Array = (memory * weights + n * estimate) / (memory + n)
    return now
