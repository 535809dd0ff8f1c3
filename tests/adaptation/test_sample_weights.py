import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation.memory import SampleWeights, rescaled
from adforest.adaptation.tuning import TUNING
from adforest.forest import Samples

WEIGHTS = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30)


def sample_weights(y, given_weights, class_weight=None, n_classes=3):
    seen = np.bincount(y, minlength=n_classes)
    return SampleWeights.of(
        class_weight, seen, np.bincount(y, given_weights, minlength=n_classes).astype(float), n_classes
    )


def test_without_weights_nothing_is_multiplied():
    y = np.array([0, 0, 2], dtype=np.int32)
    found = sample_weights(y, None)
    assert found.by_class is None
    assert found.of_samples(y, None) is None
    assert found.totals(y, None, 3).tolist() == [2, 0, 1]


@given(WEIGHTS, st.sampled_from([None, "balanced", (1.0, 5.0, 0.1), (2.0,)]))
def test_the_mean_of_weights_is_brought_to_between_one_and_four(weights, class_weight):
    weights = np.array(weights)
    y = (np.arange(len(weights)) % 3).astype(np.int32)
    found = sample_weights(y, weights, class_weight)
    counted = found.of_samples(y, weights)
    asked = weights.copy()
    if class_weight == "balanced":
        seen = np.bincount(y)
        asked *= (len(y) / (len(seen) * seen))[y]
    elif class_weight is not None:
        asked *= np.append(class_weight, np.ones(3))[y]
    np.testing.assert_allclose(counted / asked, counted[0] / asked[0])
    assert counted.mean() == pytest.approx(np.clip(asked.mean(), TUNING.min_mean_weight, TUNING.max_mean_weight))
    np.testing.assert_allclose(found.totals(y, weights, 3), np.bincount(y, counted, minlength=3))


def test_balanced_classes_weigh_the_same_and_unseen_ones_as_they_are():
    y = np.array([0] * 90 + [1] * 10, dtype=np.int32)
    found = sample_weights(y, None, "balanced")
    np.testing.assert_allclose(found.totals(y, None, 3), [50, 50, 0])
    assert found.by_class[2] == 1


@given(WEIGHTS)
def test_what_is_grown_from_alone_has_a_mean_of_its_own(weights):
    n = len(weights)
    samples = Samples(np.zeros((n, 1)), np.zeros(n, np.int32), np.arange(n), np.zeros(1, np.int32), 1)
    assert rescaled(samples) is samples
    weights = np.array(weights)
    found = rescaled(Samples(samples.X, samples.y, samples.serial, samples.n_categories, 1, weight=weights)).weight
    assert found.mean() == pytest.approx(np.clip(weights.mean(), TUNING.min_mean_weight, TUNING.max_mean_weight))
    np.testing.assert_allclose(found / weights, found[0] / weights[0])
