"""Metrics of class probabilities on a batch: Brier score, reliability in bins, top five, rare positives."""

from __future__ import annotations

import numpy as np

from adforest.adaptation.metrics import brier_score, ranking_metrics
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int64Array
from experiments.running.measures import Row

N_BINS = 10  # of equal width, of probabilities
TOP = 5  # most probable classes among which the right one may be
ALARM_RATES = {"at_1": 0.01, "at_5": 0.05}  # shares of a batch that are looked at, the most probable positives first


def measure_probabilities(shares: Float64Array, classes: AnyArray, y: AnyArray) -> Row:
    """Return what class probabilities are worth on a batch.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
    classes : ndarray of shape (n_classes,)
        What the columns stand for, sorted.
    y : ndarray of shape (n_samples,)
        The right classes; one that is not among the classes has a probability of 0.

    Returns
    -------
    dict
        - ``brier_score``, by scikit-learn's default: halved where there are two classes;
        - ``top_5_accuracy`` where there are more than five; of classes as probable as the fifth, a part counts;
        - ``reliability_top``, ``reliability_all``: how many samples, the sum of their probabilities and how many were
          right, by ten bins of the probability of the most probable class, and of each class against all others;
        - where there are two classes ``average_precision`` of the second one, None in a batch of one class,
          ``n_positive``, and ``found_at_1`` and ``found_at_5``: how many positives are among the 1 % and the 5 % of the
          batch to which the second class is most probable.

    Examples
    --------
    >>> row = measure_probabilities(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array(["a", "b"]), np.array(["a", "a"]))
    >>> round(row["brier_score"], 3), row["n_positive"], row["reliability_top"]["n"][6:]
    (0.185, 0, [1, 0, 0, 1])
    """
    n_classes = len(classes)
    column = np.minimum(np.searchsorted(classes, y), n_classes - 1)
    is_known = classes[column] == y
    right = np.where(is_known, shares[np.arange(len(y)), column], 0.0)
    n_in_all = n_classes if is_known.all() else n_classes + 1
    best = shares.argmax(axis=1)
    is_class = (np.arange(n_classes) == column[:, np.newaxis]) & is_known[:, np.newaxis]
    row: Row = {
        "brier_score": brier_score(right, (shares**2).sum(axis=1), n_in_all),
        "reliability_top": _reliability(shares.max(axis=1), (best == column) & is_known),
        "reliability_all": _reliability(shares.ravel(), is_class.ravel()),
    }
    if n_classes > TOP:
        n_above, n_alike = ((compare(shares, right[:, np.newaxis])).sum(axis=1) for compare in (np.greater, np.equal))
        row["top_5_accuracy"] = float(np.mean(is_known * ((TOP - n_above) / np.maximum(n_alike, 1)).clip(0, 1)))
    if n_classes == 2:
        row |= _measure_positives(y == classes[1], shares[:, 1])
    return row


def _reliability(probability: Float64Array, is_right: BoolArray) -> Row:
    """Return how many probabilities are in each bin, their sum, and how many of them were right."""
    place: Int64Array = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
    sums = np.bincount(place, probability, N_BINS).round(6)
    n_right = np.bincount(place[is_right], minlength=N_BINS)
    return {"n": np.bincount(place, minlength=N_BINS).tolist(), "sum": sums.tolist(), "right": n_right.tolist()}


def _measure_positives(is_positive: BoolArray, probability: Float64Array) -> Row:
    """Return average precision, and how many positives are found at each rate of alarms."""
    _, average_precision = ranking_metrics(is_positive, probability)
    row: Row = {"average_precision": average_precision, "n_positive": int(is_positive.sum())}
    for name, rate in ALARM_RATES.items():
        row[f"found_{name}"] = count_found(is_positive, probability, rate * len(is_positive))
    return row


def count_found(is_positive: BoolArray, probability: Float64Array, n_alarms: float) -> float:
    """Return how many positives are among the most probable samples; of those as probable as the last, a part counts.

    Examples
    --------
    >>> count_found(np.array([True, False, True, False]), np.array([0.9, 0.5, 0.5, 0.1]), 2)
    1.5
    """
    if n_alarms <= 0 or not len(probability):
        return 0.0
    last = np.sort(probability)[::-1][min(int(np.ceil(n_alarms)), len(probability)) - 1]
    is_above, is_last = probability > last, probability == last
    part = min(1.0, (n_alarms - is_above.sum()) / is_last.sum())
    return float(is_positive[is_above].sum() + part * is_positive[is_last].sum())
