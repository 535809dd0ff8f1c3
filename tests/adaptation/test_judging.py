"""Judging a batch before it is learnt: accuracy and evidence against the forests' own answers."""

import numpy as np
import pytest

from adforest.adaptation.evidence import NEAR
from adforest.adaptation.judging import MAX_JUDGED, judge
from adforest.forest import Records
from oracles import FORESTS, NUMERICAL, accuracy
from vote_oracles import crowded, shares_by_hand, with_new_class


def test_accuracy_is_that_of_each_forest_and_of_the_vote_before_learning():
    state = with_new_class(8)
    X, y = crowded(60, 3)
    records = Records(X, y, np.arange(len(y)), NUMERICAL, 3)
    evidence, found = judge(state, records, {})
    assert set(found) == {*FORESTS, "newest", "vote"}
    assert found["active"] == found["permanent"], "they are one forest"
    assert found["vote"] == pytest.approx(accuracy(state, X, y, 3), abs=0.01)
    ratios = state.class_mix.padded(3).ratios()
    for name, shares in shares_by_hand(state, X, 3).items():
        corrected = [shares * ratio / (shares * ratio).sum(axis=1, keepdims=True) for ratio in ratios]
        said = sum(w * one for w, one in zip(state.evidence.weights[(name,)][NEAR], corrected, strict=True))
        expected = np.mean(said.argmax(axis=1) == y)
        assert found[name] == pytest.approx(expected, abs=0.01)
    assert evidence.scores.n == 400
    assert evidence.scores.right["vote"] == round(400 * found["vote"])
    reached = {name: [tree.route(X) for tree in forest.trees] for name, forest in state.voting.items()}
    again = judge(state, records, reached)
    assert again.accuracy == found, "leaves that are known already are the same leaves"
    assert again.evidence.scores == evidence.scores


def test_of_a_large_batch_a_sample_is_judged():
    state = with_new_class(8)
    X, y = crowded(60, 3, n=3_000)
    evidence, found = judge(state, Records(X, y, np.arange(len(y)), NUMERICAL, 3), {})
    assert evidence.scores.n == MAX_JUDGED
    assert found["vote"] == pytest.approx(accuracy(state, X, y, 3), abs=0.06)
