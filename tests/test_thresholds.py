"""Thresholds by cost: against trying them all, and with scikit-learn's classifier of a fixed threshold."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier, threshold_for_cost

COSTS = st.sampled_from([(1, 1), (1, 20), (5, 1), (0, 1), (3, 0), (0.1, 0.7)])
# Few scores on purpose, among them neighbours: ties are where a scan goes wrong.
SCORES = [0.0, 0.1, np.nextafter(0.1, 1), 0.5, 0.7, 1.0]


def cost_of(threshold, is_positive, scores, cost_fp, cost_fn):
    """Return what a threshold costs."""
    said = scores >= threshold
    return cost_fp * int((said & ~is_positive).sum()) + cost_fn * int((~said & is_positive).sum())


def by_trying_all(is_positive, scores, cost_fp, cost_fn):
    """Return what `threshold_for_cost` should, place after place between scores."""
    theory = cost_fp / (cost_fp + cost_fn)
    rounded, kind, levels = scores.dtype.type(theory), scores.dtype.type, [-np.inf, *np.unique(scores), np.inf]
    found = []
    for low, high in itertools.pairwise(levels):
        if low < rounded < high:
            threshold = theory
        elif -np.inf < low and high < np.inf:
            middle = (low + high) / kind(2)
            threshold = float(middle if middle > low else high)
        else:
            threshold = float(np.nextafter(high, kind(-9)) if low == -np.inf else np.nextafter(low, kind(9)))
        cost = cost_of(threshold, is_positive, scores, cost_fp, cost_fn)
        found.append((cost, abs(threshold - theory), threshold))
    return min(found)[2]


@given(
    samples=st.lists(st.tuples(st.booleans(), st.sampled_from(SCORES)), max_size=12),
    costs=COSTS,
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_no_threshold_is_cheaper(samples, costs, dtype):
    is_positive = np.array([one for one, _ in samples], dtype=bool)
    scores = np.array([score for _, score in samples], dtype=dtype)
    fp, fn = costs
    found = threshold_for_cost(np.where(is_positive, "yes", "no"), scores, pos_label="yes", cost_fp=fp, cost_fn=fn)
    assert type(found) is float
    assert found == by_trying_all(is_positive, scores, fp, fn)
    for one in (scores, scores.astype(np.float64)):
        best = cost_of(found, is_positive, one, fp, fn)
        tried = [-1.0, 2.0, *scores.astype(np.float64), *np.nextafter(scores, dtype(2)).astype(np.float64)]
        assert best == min(cost_of(threshold, is_positive, one, fp, fn) for threshold in tried)
    shuffled = np.random.default_rng(0).permutation(len(scores))
    assert found == threshold_for_cost(is_positive[shuffled], scores[shuffled], pos_label=True, cost_fp=fp, cost_fn=fn)


def test_ties_between_places_go_to_the_one_nearest_to_theory():
    y, scores = [0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    # With costs of 1 each, 0.15, 0.35 and 0.55 cost 2.
    assert threshold_for_cost(y, scores, pos_label=1, cost_fp=1, cost_fn=1) == pytest.approx(0.55)
    assert threshold_for_cost(y, scores, pos_label=1, cost_fp=1, cost_fn=3) == pytest.approx(0.15)


def test_ends_leave_room_for_scores_that_were_rounded_to_single_precision():
    y, scores = np.array([1, 1, 0, 0]), np.array([0.1, 0.1, 0.7, 0.7])  # worse than useless
    low = threshold_for_cost([1] * 4, scores.astype(np.float32), pos_label=1, cost_fp=9, cost_fn=1)
    assert (scores >= low).all()
    high = threshold_for_cost([0] * 4, scores.astype(np.float32), pos_label=1, cost_fp=1, cost_fn=9)
    assert not (scores >= high).any()
    assert float(np.float32(0.1)) > 0.1
    assert float(np.float32(0.7)) < 0.7
    assert threshold_for_cost(y, scores.astype(np.float32), pos_label=1, cost_fp=1, cost_fn=1.5) < 0.1


def test_whole_numbers_lists_and_a_column_are_scores():
    y = ["a", "b", "b"]
    expected = threshold_for_cost(y, [1, 2, 3], pos_label="b", cost_fp=1, cost_fn=1)
    assert expected == 1.5
    assert threshold_for_cost(np.array(y), np.array([[1.0], [2.0], [3.0]]), pos_label="b", cost_fp=2, cost_fn=2) == 1.5
    assert threshold_for_cost([], [], pos_label="b", cost_fp=1, cost_fn=3) == 0.25


@pytest.mark.parametrize("costs", [(0, 0), (-1, 2), (1, float("inf")), (float("nan"), 1)])
def test_costs_that_are_none(costs):
    with pytest.raises(ValueError, match=r"cost_fp is .* and cost_fn is .*; expected numbers of at least 0"):
        threshold_for_cost([0, 1], [0.1, 0.2], pos_label=1, cost_fp=costs[0], cost_fn=costs[1])


def test_scores_that_are_none():
    with pytest.raises(ValueError, match="y_score contains NaN"):
        threshold_for_cost([0, 1], [0.1, np.nan], pos_label=1, cost_fp=1, cost_fn=1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        threshold_for_cost([0, 1], [0.1], pos_label=1, cost_fp=1, cost_fn=1)


@pytest.mark.parametrize(
    "model",
    [
        AdaptiveDecisionForestClassifier(5, random_state=0),
        AdaptiveDecisionForestClassifier(5, random_state=0, answer_for="everything"),
        PaperADFClassifier(5, random_state=0),
        PaperADFClassifier(5, random_state=0, voting="soft"),
    ],
    ids=["next batch", "everything", "paper", "paper, soft"],
)
def test_scikit_learn_answers_by_the_threshold(model):
    rng = np.random.default_rng(0)

    def batch(n=400):
        y = np.where(rng.random(n) < 0.1, "rare", "usual")
        return rng.normal(size=(n, 3)) + 1.2 * (y == "rare")[:, np.newaxis], y

    for _ in range(5):
        model.partial_fit(*batch())
    y_true, y_proba = model.prequential_
    column = list(model.classes_).index("rare")
    threshold = threshold_for_cost(y_true, y_proba[:, column], pos_label="rare", cost_fp=1, cost_fn=20)
    tuned = FixedThresholdClassifier(FrozenEstimator(model), threshold=threshold, pos_label="rare")
    X, y = batch(2_000)
    said = tuned.predict(X)
    np.testing.assert_array_equal(said == "rare", model.predict_proba(X)[:, column] >= threshold)
    costs = [cost_of(0.5, y == "rare", one == "rare", 1, 20) for one in (said, model.predict(X))]
    assert costs[0] < 0.7 * costs[1]
