"""Calibrated votes: against plain NumPy, the order of classes, and weights that follow what came."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest import AdaptiveDecisionForestClassifier, load
from adforest.adaptation.calibration import (
    PLAIN,
    SHARP,
    UNIFORM,
    calibrated,
    no_calibration,
    weights_after,
)
from adforest.adaptation.tuning import TUNING
from adforest.adaptation.voting import calibration_of
from adforest.base import get_fitted
from model_file_parts import Sample, arrays_of, from_arrays

FIRST, SEEN = np.array(TUNING.first_calibration), np.array([5, 1, 0, 7])


def drawn(n, n_classes=4, concentration=1.0, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, concentration), n)


def mean_log(weights, votes, y):
    return np.log(calibrated(votes, weights, np.ones(votes.shape[1]))[np.arange(len(y)), y]).mean()


def moved(votes, y, n_times=60):
    """Return the weights after the same samples came many times."""
    weights = FIRST
    for _ in range(n_times):
        weights = weights_after(weights, votes, np.ones(votes.shape[1]), y, np.ones(len(y)), TUNING)
    return weights


@pytest.mark.parametrize("seen", [SEEN, SEEN * 0.5, SEEN[:2]])
def test_calibrated_votes_are_what_the_formula_says(seen):
    weights, votes = np.array([0.3, 0.5, 0.2]), 1.7 * drawn(50)
    found = calibrated(votes, weights, seen)
    np.testing.assert_allclose(found, oracles.calibrated(votes, weights, seen), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_votes_for_no_class_and_no_votes_stay_so():
    weights = FIRST
    assert not calibrated(np.zeros((2, 4)), weights, SEEN).any()
    assert calibrated(np.empty((0, 4)), weights, SEEN).shape == (0, 4)
    votes = drawn(3)
    assert calibrated(votes, no_calibration(), SEEN) is votes


@given(
    votes=st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(any),
    weights=st.tuples(*[st.floats(0, 1)] * 3).filter(lambda found: sum(found) > 0.1),
)
def test_the_order_of_the_classes_stays(votes, weights):
    votes, weights = np.array([votes]), np.array(weights) / sum(weights)
    found = calibrated(votes, weights, np.ones(votes.shape[1]))[0]
    assert (np.diff(found[np.argsort(votes[0])]) >= -1e-15).all()
    assert found[votes[0].argmax()] == found.max()


def test_weights_follow_the_true_classes():
    rng, votes = np.random.default_rng(1), drawn(2_000, concentration=0.5)
    cubes = votes**3 / (votes**3).sum(axis=1, keepdims=True)
    true = np.array([[row.searchsorted(u) for row, u in zip(p.cumsum(axis=1), rng.random(2_000), strict=True)] for p in
                     (votes, cubes, np.full_like(votes, 0.25))]).clip(0, 3).astype(np.int32)  # fmt: skip
    plain, sharp, uniform = (moved(votes, y) for y in true)
    assert plain[PLAIN] > 0.6
    assert sharp[SHARP] > 0.8
    assert uniform[UNIFORM] > 0.6
    for weights, y in zip((plain, sharp, uniform), true, strict=True):
        assert weights.sum() == pytest.approx(1)
        assert mean_log(weights, votes, y) > mean_log(FIRST, votes, y) - 5e-3


def test_a_sample_of_weight_two_counts_as_two():
    votes, y, seen = drawn(40), np.arange(40, dtype=np.int32) % 4, np.ones(4)
    twice = np.arange(40) < 10
    weighted = weights_after(FIRST, votes, seen, y, 1.0 + twice, TUNING)
    votes, y = (np.concatenate([one, one[twice]]) for one in (votes, y))
    np.testing.assert_allclose(weighted, weights_after(FIRST, votes, seen, y, np.ones(len(y)), TUNING))


def test_right_classes_without_any_vote_raise_the_least_probability():
    votes, y = np.tile([1.0, 0.0], (100, 1)), (np.arange(100) < 10).astype(np.int32)
    assert calibrated(votes[:1], moved(votes, y), np.ones(2))[0, 1] == pytest.approx(0.1, abs=0.03)
    unchanged = weights_after(FIRST, votes[:0], np.ones(2), y[:0], np.ones(0), TUNING)
    assert unchanged is FIRST


def stream(n_batches=12, n=300):
    for number in range(n_batches):
        rng = np.random.default_rng(number)
        y = rng.integers(0, 4, n)
        yield rng.normal(size=(n, 3)) + 1.5 * y[:, np.newaxis] * [1, -1, 0], y


def test_calibration_changes_probabilities_and_no_answer():
    model = AdaptiveDecisionForestClassifier(8, random_state=0)
    for X, y in stream():
        model.partial_fit(X, y)
    weights = get_fitted(model).state.evidence.calibration
    assert np.abs(weights - FIRST).max() > 0.02
    plain = AdaptiveDecisionForestClassifier(8, random_state=0)
    for X, y in stream():
        plain.partial_fit(X, y)
    object.__setattr__(get_fitted(plain).state.evidence, "calibration", no_calibration())
    assert np.abs(model.predict_proba(X) - plain.predict_proba(X)).max() > 0.02
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    for one in (model, plain):
        one.set_params(answer_for="everything")
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_votes_that_the_last_labels_adjust_are_not_calibrated():
    model = AdaptiveDecisionForestClassifier(8, random_state=0)
    for X, y in stream(6):
        model.partial_fit(X, y)
    assert not np.array_equal(calibration_of(get_fitted(model).state), no_calibration())
    model.partial_fit(X[:5], y[:5])
    assert get_fitted(model).state.is_adjusted
    np.testing.assert_array_equal(calibration_of(get_fitted(model).state), no_calibration())


def test_files_of_before_are_not_calibrated_until_they_learn(tmp_path):
    sample = Sample("ours", tmp_path)
    document, arrays = arrays_of(sample)
    (name,) = [one for one in arrays if one.endswith("calibration")]
    del arrays[name]
    (tmp_path / "old.adf").write_bytes(from_arrays(sample, document, arrays))
    old = load(tmp_path / "old.adf")
    state = get_fitted(old).state
    np.testing.assert_array_equal(state.evidence.calibration, no_calibration())
    old.partial_fit(sample.X, sample.y)
    assert get_fitted(old).state.evidence.calibration[PLAIN] < 1
