"""Classifiers and clusters that tests of them share."""

import numpy as np

from adforest import AdaptiveDecisionForestClassifier


def forest(**changes):
    return AdaptiveDecisionForestClassifier(**{"random_state": 0} | changes)


def clusters(seed, classes=(0, 1), n=60):
    """Return one tight cluster a class, 10 apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 2)) + 10 * y[:, None], y


def swapped(model, n=2):
    """Let a model learn a few batches, and as many with the labels the other way round."""
    for number in range(n):
        model.partial_fit(*clusters(number))
    for number in range(n):
        X, y = clusters(100 + number)
        model.partial_fit(X, 1 - y)
    return model


def weights_draw_lots(estimator):
    """Say which of scikit-learn's checks fail: weights count in the mean over lots, see classifier/test_weights.py."""
    if estimator.min_samples_leaf > 1:  # the check's few samples make no tree then
        return {}
    reason = "a sample of weight 2 is the sample twice in the mean, not in each tree"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
