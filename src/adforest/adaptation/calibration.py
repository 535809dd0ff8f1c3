"""Calibration: how far the forests' vote is sharpened or flattened, by what right classes were given so far.

With p the class probabilities that the votes add up to, what is answered is

    weights[0] * p**3 / sum(p**3) + weights[1] * p + weights[2] / number of classes that came so far.

The order of the classes stays, and so does the answer of `predict`. Weights are those of a mixture: a batch that was
answered before it was learnt has those under which its right classes would have been most probable, about (a few steps
of expectation maximization), and they move towards these by n / (n + `MEMORY`) for its n samples. Where leaves are too
cautious the first part grows; where the vote gave right classes next to nothing the last one does.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from adforest.forest._kernels import variants
from adforest.forest.types import AnyArray, Float64Array, Int32Array

SHARP, PLAIN, UNIFORM = range(3)
# Measured in docs/decisions/0030-calibrated-votes.md.
FIRST_WEIGHTS = (0.0, 0.995, 0.005)  # to begin with
FIRST_ESTIMATE = (0.2, 0.78, 0.02)  # of a batch, before the first step
MEMORY = 1_000  # samples that the weights before a batch count for
N_STEPS = 30  # of expectation maximization
SMALLEST = 1e-12  # probability of a right class, lest an estimate divides by 0


@cache
def first_calibration() -> Float64Array:
    """Return the weights to begin with; they cannot be changed."""
    return _fixed(FIRST_WEIGHTS)


@cache
def no_calibration() -> Float64Array:
    """Return the weights by which votes are left as they are; they cannot be changed."""
    return _fixed((0.0, 1.0, 0.0))


def _fixed(weights: tuple[float, ...]) -> Float64Array:
    """Return weights as an array that cannot be changed."""
    array = np.array(weights)
    array.setflags(write=False)
    return array


def calibrated(votes: Float64Array, weights: Float64Array, seen: AnyArray) -> Float64Array:
    """Return votes as calibrated probabilities; where nothing speaks for any class, votes stay 0.

    Seen is how many samples of each class have been learnt, for as many classes as are known, or how much they count.
    """
    return votes if weights[PLAIN] == 1 else variants.calibrate(votes, weights, seen.astype(np.float64))


def weights_after(
    weights: Float64Array, votes: Float64Array, seen: AnyArray, y: Int32Array, weight: Float64Array
) -> Float64Array:
    """Return the weights after some samples of known classes were answered.

    Parameters
    ----------
    weights : float64 (3,)
        As they were.
    votes, seen : float64 (n, n_classes), (n_classes,)
        As for `calibrated`.
    y : int32 (n,)
        Classes.
    weight : float64 (n,)
        How much each sample counts.
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
