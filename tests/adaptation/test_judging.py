"""Judging a batch before it is learnt: accuracy and evidence against the forests' own answers."""

import numpy as np
import pytest

from adforest.adaptation.evidence import NEAR
from adforest.adaptation.judging import MAX_JUDGED, judge, mean_confidence
from adforest.adaptation.voting import votes
from adforest.forest import Records
from oracles import FORESTS, NUMERICAL, accuracy
from vote_oracles import crowded, shares_by_hand, with_new_class


def test_accuracy_is_that_of_each_forest_and_of_the_vote_before_learning():
    state = with_new_class(8)
    X, y = crowded(60, 3)
    records = Records(X, y, np.arange(len(y)), NUMERICAL, 3)
    evidence, found, confidence, n = judge(state, records, {})
    assert set(found) == {*FORESTS, "newest", "vote"}
    assert found["active"] == found["permanent"], "they are one forest"
    assert found["vote"] == pytest.approx(accuracy(state, X, y, 3), abs=0.01)
    ratios = state.class_mix.padded(3).ratios()
    for name, shares in shares_by_hand(state, X, 3).items():
        corrected = [shares * ratio / (shares * ratio).sum(axis=1, keepdims=True) for ratio in ratios]
        said = sum(w * one for w, one in zip(state.evidence.weights[(name,)][NEAR], corrected, strict=True))
        expected = np.mean(said.argmax(axis=1) == y)
        assert found[name] == pytest.approx(expected, abs=0.01)
    shares = votes(state, X, 3)
    assert confidence == pytest.approx(np.mean(shares.max(axis=1) / shares.sum(axis=1)), abs=0.01)
    assert evidence.scores.n == n == 400
    assert evidence.scores.right["vote"] == round(400 * found["vote"])
    reached = {name: [tree.route(X) for tree in forest.trees] for name, forest in state.voting.items()}
    again = judge(state, records, reached)
    assert again.accuracy == found, "leaves that are known already are the same leaves"
    assert again.evidence.scores == evidence.scores


def test_of_a_large_batch_a_sample_is_judged():
    state = with_new_class(8)
    X, y = crowded(60, 3, n=3_000)
    judged = judge(state, Records(X, y, np.arange(len(y)), NUMERICAL, 3), {})
    assert judged.evidence.scores.n == judged.n == MAX_JUDGED
    assert judged.accuracy["vote"] == pytest.approx(accuracy(state, X, y, 3), abs=0.06)


def test_confidence_counts_records_by_weight_and_is_even_where_nothing_speaks_for_any_class():
    shares = np.array([[0.9, 0.1], [1.2, 0.8], [0.0, 0.0]])
    assert mean_confidence(shares, np.array([1.0, 2.0, 1.0])) == pytest.approx((0.9 + 2 * 0.6 + 0.5) / 4)
