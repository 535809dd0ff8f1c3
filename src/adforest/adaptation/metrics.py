"""Metrics of class probabilities by scikit-learn's definitions, cheap enough to find them for every batch.

scikit-learn's own functions spend a millisecond each on checking their input; a small batch is learnt in less.
"""

from __future__ import annotations

import numpy as np

from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array

SMALLEST = float(np.finfo(np.float64).eps)  # probability that log loss takes 0 for, as `sklearn.metrics.log_loss` does


def balanced_accuracy(y: Int32Array, right: BoolArray) -> float:
    """Return the mean over the classes of y of the fraction of their samples that were answered right."""
    n_by_class = np.bincount(y)
    n_right = np.bincount(y[right], minlength=len(n_by_class))
    there = n_by_class > 0
    return float((n_right[there] / n_by_class[there]).mean())


def log_loss(given: Float64Array) -> float:
    """Return the mean of minus the logarithm of the probability that the right class was given."""
    return float(-np.log(given.clip(SMALLEST, 1 - SMALLEST)).mean())


def brier_score(given: Float64Array, squares: Float64Array, n_classes: int) -> float:
    """Return the mean over samples of the squared distance between class probabilities and the right class.

    Of two classes it is half of that, as in ``sklearn.metrics.brier_score_loss(scale_by_half="auto")``: from 0 to 1;
    where there are more, from 0 to 2.

    Parameters
    ----------
    given, squares : float64 (n,)
        Probability that the right class was given, and the sum of the squares of all classes' probabilities.
    n_classes : int
    """
    distance = float((1 - 2 * given + squares).mean())
    return distance / 2 if n_classes == 2 else distance


def ranking_metrics(is_positive: BoolArray, probability: Float64Array) -> tuple[float | None, float | None]:
    """Return the area under the ROC curve and the average precision; None where only one of two classes is there.

    Parameters
    ----------
    is_positive : bool (n,)
    probability : float64 (n,)
        Of the positive class.
    """
    n_positive = int(is_positive.sum())
    if n_positive in (0, len(is_positive)):
        return None, None
    order = np.argsort(-probability)
    ranked = probability[order]
    # Samples of the same probability are named together: a threshold lies behind the last of them.
    named: Int64Array = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]) + 1, len(ranked))
    found = is_positive[order].cumsum()[named - 1]
    recall, false = found / n_positive, (named - found) / (len(ranked) - n_positive)
    before = np.concatenate([[0.0], recall[:-1]])
    roc_auc = (false - np.concatenate([[0.0], false[:-1]])) @ (recall + before) / 2
    average_precision = (recall - before) @ (found / named)
    return float(roc_auc), float(average_precision)
