"""Decision thresholds from misclassification costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from adforest.exceptions import ParameterError


def threshold_for_cost(y_true: Any, y_score: Any, *, pos_label: Any, cost_fp: float, cost_fn: float) -> float:
    """Return the threshold with the lowest total cost on some predictions.

    A sample is predicted positive if its score is at least the threshold. Use scores that were predicted before the
    sample was learnt, such as those of ``model.prequential_``: later ones are too optimistic.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class values.
    y_score : array-like of shape (n_samples,)
        Probabilities of ``pos_label``, or any other score.
    pos_label : int, float, bool or str
        The class value that is positive; all others are negative. It need not be among ``y_true``.
    cost_fp, cost_fn : float
        Cost of a false positive and of a false negative; neither is below 0,
        and one at least is above. Only their ratio matters.

    Returns
    -------
    float
        Between two neighbouring scores all thresholds cost the same: ``cost_fp / (cost_fp + cost_fn)``, which is
        optimal for calibrated probabilities, is returned if it lies between them, otherwise the middle. Of several
        intervals with the lowest cost the one nearest to it is taken, of two equally near the lower one. Without
        samples it is returned itself.

    Examples
    --------
    >>> from adforest import threshold_for_cost
    >>> y, fraud = ["honest", "fraud", "honest", "fraud"], [0.1, 0.3, 0.5, 0.7]
    >>> threshold_for_cost(y, fraud, pos_label="fraud", cost_fp=1, cost_fn=1)
    0.6
    >>> threshold_for_cost(y, fraud, pos_label="fraud", cost_fp=1, cost_fn=10)
    0.2

    scikit-learn's meta-estimator predicts with it, without fitting the model again::

        FixedThresholdClassifier(FrozenEstimator(model), threshold=threshold, pos_label="fraud")
    """
    if not (min(cost_fp, cost_fn) >= 0 < cost_fp + cost_fn < np.inf):
        raise ParameterError(
            f"cost_fp is {cost_fp!r} and cost_fn is {cost_fn!r}; expected numbers of at least 0, one of them above 0."
        )
    check_consistent_length(y_true, y_score)
    floats = check_array(
        y_score, dtype=[np.float64, np.float32], ensure_2d=False, ensure_min_samples=0, input_name="y_score"
    )
    is_positive = np.asarray(y_true) == pos_label
    by_theory = cost_fp / (cost_fp + cost_fn)
    levels, level = np.unique(column_or_1d(floats), return_inverse=True)  # ascending scores, and which a sample has
    if not len(levels):
        return float(by_theory)
    # Threshold k, of one more than there are levels, is above those before k: their positives are missed.
    missed = np.append(0, np.bincount(level[is_positive], minlength=len(levels)).cumsum())
    false = np.append(np.bincount(level[~is_positive], minlength=len(levels))[::-1].cumsum()[::-1], 0)
    costs = cost_fp * false + cost_fn * missed
    # Numbers of the scores' own type, none of them a score: those of single precision are rounded probabilities.
    low, high = np.nextafter(levels[[0, -1]], np.array([-np.inf, np.inf], dtype=levels.dtype))
    middle = levels[:-1] / 2 + levels[1:] / 2
    middle = np.where(middle > levels[:-1], middle, levels[1:])
    thresholds = np.concatenate([[low], middle, [high]]).astype(np.float64)
    rounded = levels.dtype.type(by_theory)
    index = np.searchsorted(levels, rounded)
    if index == len(levels) or levels[index] != rounded:
        thresholds[index] = by_theory
    cheapest = thresholds[costs == costs.min()]
    return float(cheapest[np.abs(cheapest - by_theory).argmin()])
