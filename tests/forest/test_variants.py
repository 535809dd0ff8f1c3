"""Votes of several voters in several ways, against the formula of voting.py in plain NumPy."""

import numpy as np
import pytest

from adforest.forest._kernels.variants import gains, weigh


def drawn(n_classes, n=40, seed=0):
    """Return class proba of three voters, one of them the mean of two, and what they are weighed by."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.dirichlet(np.ones(n_classes), (3, n))
    a[0] = b[0] = 0  # nothing speaks for any class
    weights, contexts, ratios = rng.random((3, 4, 3)), rng.random((4, n)), rng.random((3, n_classes))
    weights[1, :, 2] = [0.009, 0.002, 0.0, 0.001]
    weights[2, :, 0] = [0.0, 0.01, 0.0, 0.0]
    return [(a,), (b,), (a, c)], weights, contexts, ratios, rng.integers(0, n_classes, n).astype(np.int32)


def by_hand(voters, ratios):
    """Return the corrected class proba of each voter in each way."""
    means = [np.mean(proba, axis=0) for proba in voters]
    products = [[mean * ratio for ratio in ratios] for mean in means]
    return [[p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300) for p in ways] for ways in products]


@pytest.mark.parametrize("n_classes", [1, 2, 3, 9, 40])
def test_votes_are_the_weighted_sum_over_voters_contexts_and_ways(n_classes):
    voters, weights, contexts, ratios, _ = drawn(n_classes)
    expected = np.zeros((40, n_classes))
    for ways, weight in zip(by_hand(voters, ratios), weights, strict=True):
        for proba, by_context in zip(ways, weight.T, strict=True):
            if by_context.max() >= 0.01:
                expected += (by_context @ contexts)[:, np.newaxis] * proba
    np.testing.assert_allclose(weigh(voters, weights, contexts, ratios, 0.01), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 9])
def test_gains_are_right_answers_and_logarithms_of_what_the_right_class_is_given(n_classes):
    voters, _, _, ratios, y = drawn(n_classes, seed=1)
    corrected = by_hand(voters, ratios)
    right = np.array([[proba.argmax(axis=1) == y for proba in ways] for ways in corrected], dtype=float)
    given = [[proba[np.arange(len(y)), y] for proba in ways] for ways in corrected]
    np.testing.assert_array_equal(gains(voters, ratios, y, 0.05, 0.0), right)
    expected = right + 0.3 * np.log(np.maximum(given, 0.05))
    np.testing.assert_allclose(gains(voters, ratios, y, 0.05, 0.3), expected, rtol=0, atol=1e-12)


def test_no_samples():
    none = np.empty((0, 3))
    assert weigh([(none,)], np.ones((1, 4, 3)), np.empty((4, 0)), np.ones((3, 3)), 0.0).shape == (0, 3)
    assert gains([(none,)], np.ones((3, 3)), np.empty(0, dtype=np.int32), 0.1, 0.2).shape == (1, 3, 0)
