"""Judging a batch before it is learnt: evidence against the forests' own answers."""

import numpy as np
import pytest

from adforest.adaptation.evidence import NEAR
from adforest.adaptation.judging import judge
from adforest.adaptation.scoring import leaves_by_forest, score_batch
from adforest.adaptation.tuning import TUNING
from adforest.adaptation.voting import ratios_of, votes
from adforest.forest import Samples
from oracles import FORESTS, NUMERICAL, accuracy
from vote_oracles import crowded, shares_by_hand, with_new_class


def test_accuracy_is_that_of_each_forest_and_of_the_vote_before_learning():
    state = with_new_class(8)
    X, y = crowded(60, 3)
    samples = Samples(X, y, np.arange(len(y)), NUMERICAL, 3)
    leaves = leaves_by_forest(state, samples, {})
    scores, (_, judged) = score_batch(state, samples, leaves)[0], judge(state, samples, leaves)
    found = scores.accuracy
    assert set(found) == {*FORESTS, "newest", "vote"}
    assert found["active"] == found["permanent"], "they are one forest"
    assert found["vote"] == pytest.approx(accuracy(state, X, y, 3))
    ratios = ratios_of(state, 3)
    for name, proba in shares_by_hand(state, X, 3).items():
        corrected = [proba * ratio / (proba * ratio).sum(axis=1, keepdims=True) for ratio in ratios]
        weights = state.evidence.weights[state.evidence.voters.index((name,)), NEAR]
        said = sum(w * one for w, one in zip(weights, corrected, strict=True))
        expected = np.mean(said.argmax(axis=1) == y)
        assert found[name] == pytest.approx(expected, abs=0.01)
        assert judged.right[name] == pytest.approx(400 * expected, abs=4)
    proba = votes(state, X, 3)
    assert scores.confidence == pytest.approx(np.mean(proba.max(axis=1) / proba.sum(axis=1)))
    assert judged.n == scores.n_tested == 400
    assert judged.right["vote"] == pytest.approx(400 * found["vote"], abs=4)
    reached = {name: np.array([tree.route(X) for tree in forest.trees]) for name, forest in state.voting.items()}
    assert score_batch(state, samples, reached)[0] == scores, "leaves that are known already are the same leaves"
    for known in (reached, {}):
        assert judge(state, samples, known)[1] == judged


def test_of_a_large_batch_a_sample_is_judged_and_all_of_it_is_scored():
    state = with_new_class(8)
    X, y = crowded(60, 3, n=3_000)
    samples = Samples(X, y, np.arange(len(y)), NUMERICAL, 3)
    leaves = leaves_by_forest(state, samples, {})
    judged, scores = judge(state, samples, leaves)[1], score_batch(state, samples, leaves)[0]
    assert (judged.n, scores.n_tested) == (TUNING.max_judged, 3_000)
    assert scores.accuracy["vote"] == accuracy(state, X, y, 3)
    assert judged.right["vote"] / judged.n == pytest.approx(scores.accuracy["vote"], abs=0.06)
