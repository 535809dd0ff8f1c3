"""What the last samples say of the next one: labels that follow each other, neighbours, and who is believed."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation import votes
from adforest.adaptation.class_mix import ratio_of
from adforest.adaptation.recent_samples import MAX_PAIRS, RecentSamples
from adforest.adaptation.tuning import TUNING
from adforest.adaptation.voting import forest_votes, with_calibration
from oracles import learn, new_state, two_clusters


def after(labels, sizes=(1,), delay=0):
    """Return what is known after some labels, which came in small batches of some sizes, round and round."""
    recent, at, turn = RecentSamples(), 0, 0
    labels = np.asarray(labels, dtype=np.int32)
    while at < len(labels):
        size = sizes[turn % len(sizes)]
        part = labels[at : at + size]
        recent, at, turn = recent.after(part, np.zeros((2, len(part)), np.int32), delay), at + size, turn + 1
    return recent


@given(
    labels=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=3),
)
def test_ratios_are_those_of_the_last_labels_and_of_what_followed_them(labels, sizes):
    seen = np.array([10, 20, 5, 0])
    found = after(labels, sizes).ratios(seen)
    followers = [b for a, b in itertools.pairwise(labels) if a == labels[-1]]
    for ratio, recent in zip(found[1:], (labels[-1:], labels[-TUNING.n_labels :], followers), strict=True):
        np.testing.assert_allclose(ratio, ratio_of(np.bincount(np.array(recent, int), minlength=4), seen))
    np.testing.assert_array_equal(found[0], 1)
    weighted = after(labels, sizes).ratios(seen, np.array([1.0, 3.0, 1.0, 1.0]))
    count = np.bincount(labels[-1:], minlength=4) * [1, 3, 1, 1]
    np.testing.assert_allclose(weighted[1], ratio_of(count, seen))


@given(
    labels=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=3),
    delay=st.integers(0, 9),
)
def test_with_late_labels_a_sample_is_judged_by_those_known_when_it_was_answered(labels, sizes, delay):
    seen = np.array([10, 20, 5, 1])
    known = after(labels, sizes, delay).before_last(delay)
    earlier = labels[: max(0, len(labels) - delay)]
    assert known.y.tolist() == earlier
    assert known.leaves.shape[1] == len(earlier)
    if earlier:
        followers = [b for a, b in zip(earlier, earlier[delay + 1 :], strict=False) if a == earlier[-1]]
        expected = ratio_of(np.bincount(np.array(followers, int), minlength=4), seen)
        np.testing.assert_allclose(known.ratios(seen)[3], expected)


def test_labels_that_come_very_late_say_nothing():
    rng = np.random.default_rng(0)
    recent = after(rng.integers(0, 3, 2 * TUNING.n_neighbours), sizes=(9,), delay=TUNING.max_delay)
    assert recent.is_used
    assert recent.before_last(TUNING.max_delay).is_used
    assert not after(rng.integers(0, 3, 2 * TUNING.n_neighbours), sizes=(9,), delay=TUNING.max_delay + 1).is_used


def runs(n, length, seed):
    """Return samples that say nothing of their classes, which come in runs."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), np.repeat(rng.integers(0, 4, -(-n // length)), length)[:n]


@pytest.mark.parametrize("label_delay", [0, 40])
def test_last_labels_count_by_what_they_say_of_samples_that_come_as_much_later(label_delay):
    X, y = runs(700, 20, seed=0)
    model = AdaptiveDecisionForestClassifier(5, label_delay=label_delay, random_state=0)
    for row in range(700):
        model.partial_fit(X[[row]], y[[row]])
    in_force = model._model.state.recent.weights
    by_last_labels = in_force[:, 1:].sum()
    assert by_last_labels < 0.5 if label_delay else by_last_labels > 0.9


def test_samples_and_pairs_are_bounded():
    rng = np.random.default_rng(0)
    recent = after(rng.integers(0, 1_000, 40_000), sizes=(99,))
    assert len(recent.y) == recent.leaves.shape[1] == TUNING.n_neighbours
    assert len(recent.pairs) == MAX_PAIRS
    assert (np.diff(recent.pairs) > 0).all()
    frequent = after([0, 1] * 500 + rng.integers(0, 1_000, 40_000).tolist(), sizes=(99,))
    assert {1, 1 << 32} <= set(frequent.pairs.tolist()), "the rarest are forgotten first"


def one_by_one(n=300, size=1, **changes):
    """Return the state after a batch of two classes in turns, and more samples of it in small batches."""
    state = new_state(**changes)
    X, y = two_clusters(0, n=400)
    state, _ = learn(state, X, y)
    rng = np.random.default_rng(1)
    for number in range(0, n, size):
        y = (np.arange(number, number + size) % 2).astype(np.int32)
        state, _ = learn(state, rng.normal(size=(size, 2)) + y[:, None], y)
    return state


def test_votes_are_what_the_formula_says():
    state = one_by_one(330)
    recent, X = state.recent, np.random.default_rng(3).normal(size=(40, 2))
    assert state.pending is not None
    assert recent.is_used
    p = forest_votes(state, X, 2)
    p = p / p.sum(axis=1, keepdims=True)
    forest = state.forest("permanent")
    near = np.zeros((40, 2))
    kept = np.vstack([state.memory.matrix(), state.pending.X])[-TUNING.n_neighbours :]
    y = np.concatenate([state.memory.y, state.pending.y])[-TUNING.n_neighbours :]
    own, others = np.array(forest.route(X)), np.array(forest.route(np.ascontiguousarray(kept)))
    for age in range(1, recent.leaves.shape[1] + 1):
        near[:, y[-age]] += TUNING.fading ** (age - 1) * (own == others[:, [-age]]).mean(axis=0) ** 4
    near += TUNING.own_weight * p
    seen = state.class_mix.seen
    voters = [p, near / near.sum(axis=1, keepdims=True), np.tile(seen / seen.sum(), (40, 1))]
    expected = np.zeros((40, 2))
    for said, weights in zip(voters, recent.weights, strict=True):
        for ratio, weight in zip(recent.ratios(seen), weights, strict=True):
            if weight >= TUNING.min_weight:
                expected += weight * said * ratio / (said * ratio).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(votes(state, X, 2), expected, atol=1e-12)
    for_everything = replace(state, settings=replace(state.settings, answer_for="everything"))
    np.testing.assert_array_equal(
        votes(for_everything, X, 2), votes(replace(for_everything, recent=RecentSamples()), X, 2)
    )


def test_after_a_large_batch_the_forests_answer_alone():
    state = one_by_one(30)
    assert state.recent.is_used
    X, y = two_clusters(5, n=TUNING.small_batch)
    state, _ = learn(state, X, y)
    assert not state.recent.is_used
    np.testing.assert_array_equal(votes(state, X, 2), with_calibration(state, forest_votes(state, X, 2)))
    state, _ = learn(state, X[:1], y[:1])
    assert state.recent.leaves.shape[1] == 1


def test_classes_in_turns_are_answered_by_what_follows_what():
    model = AdaptiveDecisionForestClassifier(5, random_state=0)
    rng, right = np.random.default_rng(0), []
    for number in range(900):
        x, label = rng.normal(size=(1, 2)), number * 7 % 5  # nothing but the last label tells the next
        if number > 600:
            right.append(model.predict(x)[0] == label)
        model.partial_fit(x, [label])
    assert np.mean(right) > 0.95


@pytest.mark.parametrize("size", [1, 10, 50])
def test_where_labels_do_not_follow_each_other_nothing_is_lost(size):
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(4, 3))
    y = rng.integers(0, 4, 2_000)
    X = centres[y] + rng.normal(size=(2_000, 3))
    model, right, forests = AdaptiveDecisionForestClassifier(10, random_state=0), [], []
    model.partial_fit(X[:500], y[:500])
    for start in range(500, 2_000, size):
        part = slice(start, start + size)
        state = model._model.state
        right.extend(model.predict(X[part]) == y[part])
        forests.extend(
            model.classes_[forest_votes(state, X[part], 4)[:, model._model.labels.order].argmax(axis=1)] == y[part]
        )
        model.partial_fit(X[part], y[part])
    assert np.mean(right) > np.mean(forests) - 0.006


def test_rare_classes_keep_what_class_weight_gives_them():
    rng = np.random.default_rng(0)
    y = (rng.random(1_200) < 0.1).astype(int)
    X = rng.normal(size=(1_200, 2)) + y[:, None]
    recall = {}
    for class_weight in (None, "balanced"):
        model, found = AdaptiveDecisionForestClassifier(10, class_weight=class_weight, random_state=0), []
        for number in range(1_200):
            if number > 300 and y[number]:
                found.append(model.predict(X[[number]])[0])
            model.partial_fit(X[[number]], y[[number]])
        recall[class_weight] = np.mean(found)
    assert recall["balanced"] > recall[None] + 0.15
