"""Weights of members and mixtures: the regret bound by brute force, and what happens to those that cannot answer."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation.evidence import hedge
from adforest.adaptation.tuning import TUNING
from adforest.next_batch.experts import MIXTURES, REFIT_TRUST, ExpertWeights


def test_experts_are_members_and_mixtures_of_two():
    experts = ExpertWeights.begin([False, True, False])
    assert experts.mixtures.shape == (3 + 3 * len(MIXTURES), 3)
    np.testing.assert_allclose(experts.mixtures.sum(axis=1), 1)
    assert [0.5, 0.5, 0] in experts.mixtures.tolist()
    assert [0, 0.25, 0.75] in experts.mixtures.tolist()
    assert len(np.unique(experts.mixtures, axis=0)) == len(experts.mixtures)


def test_to_begin_with_refitted_members_count_less_and_equals_the_same():
    experts = ExpertWeights.begin([False, True])
    assert experts.first.sum() == pytest.approx(1)
    assert experts.first[1] == pytest.approx(REFIT_TRUST * experts.first[0])
    assert (np.diff(experts.first[np.argsort(experts.mixtures[:, 1])]) < 0).all()
    for are_refitted in ([False, False, False], [True, True, True]):
        alike = ExpertWeights.begin(are_refitted)
        np.testing.assert_allclose(alike.of_members(np.ones(3, dtype=bool)), 1 / 3)


def probabilities(rng, n, n_classes, sharpness):
    """Return class probabilities, the larger the sharpness the surer."""
    return rng.dirichlet(np.full(n_classes, 1 / sharpness), n)


def gain_of(proba, y):
    """Return the mean gain of a sample, by its definition."""
    given = proba[np.arange(len(y)), y]
    return np.mean((proba.argmax(axis=1) == y) + TUNING.log_gain * np.log(np.maximum(given, TUNING.min_proba)))


def best_sequence(gains, costs_of_first, cost_of_change, cost_of_staying):
    """Return the largest gain of a sequence of experts minus what the bound takes off, over all sequences."""
    n_batches, n_experts = gains.shape
    best = -np.inf
    for sequence in product(range(n_experts), repeat=n_batches):
        total = sum(gains[t, e] for t, e in enumerate(sequence)) - costs_of_first[sequence[0]]
        total -= sum(cost_of_change[b] if a != b else cost_of_staying for a, b in pairwise(sequence))
        best = max(best, total)
    return best


@given(
    seed=st.integers(0, 10_000),
    n_batches=st.integers(1, 5),
    n_experts=st.integers(2, 4),
    size=st.integers(TUNING.full_switch, 2 * TUNING.max_counted),
    scale=st.sampled_from([0.01, 0.3, 1]),
)
def test_the_gain_by_weight_is_hardly_below_that_of_the_best_sequence_of_experts(
    seed, n_batches, n_experts, size, scale
):
    rng, counted = np.random.default_rng(seed), min(size, TUNING.max_counted)
    first = rng.dirichlet(np.ones(n_experts))
    gains = counted * scale * rng.choice([-0.92, 0.0, 1.0], (n_batches, n_experts))
    weights, by_weight, mixed = first, 0.0, 0.0
    for gain in gains:
        by_weight += weights @ gain
        mixed += (
            gain.max() + np.log(weights @ np.exp(TUNING.learning_rate * (gain - gain.max()))) / TUNING.learning_rate
        )
        weights = hedge(weights, first, gain / counted, size)
    staying = -np.log(1 - TUNING.switch_rate) / TUNING.learning_rate
    change = -np.log(TUNING.switch_rate * first) / TUNING.learning_rate
    best = best_sequence(gains, -np.log(first) / TUNING.learning_rate, change, staying)
    assert mixed >= best - 1e-9  # Herbster & Warmuth
    ranges = gains.max(axis=1) - gains.min(axis=1)
    assert by_weight >= mixed - TUNING.learning_rate / 8 * (ranges**2).sum() - 1e-9  # Hoeffding


def test_the_bound_is_close_where_the_best_expert_changes():
    # Two experts that are right in turn, four batches each: who never changed weights would get half of it right.
    gains = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
    first = np.full(2, 0.5)
    weights, by_weight = first, 0.0
    for gain in gains:
        by_weight += weights @ gain
        weights = hedge(weights, first, gain, TUNING.max_counted)
    assert by_weight > 6.4


@given(seed=st.integers(0, 10_000), n=st.integers(1, 80), n_classes=st.integers(2, 4), n_members=st.integers(1, 3))
def test_weights_follow_the_gains_of_members_and_of_their_mixtures(seed, n, n_classes, n_members):
    rng = np.random.default_rng(seed)
    experts = ExpertWeights.begin((rng.random(n_members) < 0.5).tolist())
    answers = {i: probabilities(rng, n, n_classes, 3) for i in range(n_members)}
    y = rng.integers(0, n_classes, n).astype(np.int32)
    after = experts.after_answers(answers, y, np.ones(n), n)
    mixed = [sum(part * answers[i] for i, part in enumerate(parts)) for parts in experts.mixtures]
    expected = hedge(experts.weights, experts.first, np.array([gain_of(one, y) for one in mixed]), n)
    np.testing.assert_allclose(after.weights, expected)
    assert after.of_members(np.ones(n_members, dtype=bool)).sum() == pytest.approx(1)


def test_samples_count_by_weight():
    experts, y = ExpertWeights.begin([False, False]), np.array([0, 0, 1], dtype=np.int32)
    answers = {0: np.array([[0.9, 0.1]] * 3), 1: np.array([[0.1, 0.9]] * 3)}
    by_weight = experts.after_answers(answers, y, np.array([1.0, 1.0, 4.0]), 6)
    repeated = {i: one[[0, 1, 2, 2, 2, 2]] for i, one in answers.items()}
    twice = experts.after_answers(repeated, y[[0, 1, 2, 2, 2, 2]], np.ones(6), 6)
    np.testing.assert_allclose(by_weight.weights, twice.weights)
    assert by_weight.weights[1] > by_weight.weights[0]


def test_who_cannot_answer_keeps_its_weight_and_the_others_share_theirs():
    rng, experts = np.random.default_rng(0), ExpertWeights.begin([False, True, True])
    y = np.zeros(50, dtype=np.int32)
    experts = experts.after_answers({i: probabilities(rng, 50, 2, 1) for i in range(3)}, y, np.ones(50), 50)
    answers = {0: np.tile([0.9, 0.1], (50, 1)), 2: np.tile([0.2, 0.8], (50, 1))}
    after = experts.after_answers(answers, y, np.ones(50), 50)
    silent = experts.mixtures[:, 1] > 0
    np.testing.assert_array_equal(after.weights[silent], experts.weights[silent])
    assert after.weights.sum() == pytest.approx(1)
    without = np.array([True, False, True])
    assert after.of_members(without)[1] == 0
    assert after.of_members(without).sum() == pytest.approx(1)
    assert after.of_members(without)[0] > experts.of_members(without)[0]
    np.testing.assert_allclose(after.of_members(np.array([False, True, False])), [0, 1, 0])
