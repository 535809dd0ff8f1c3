"""Small streams, and what is learnt along them."""

import pickle
from dataclasses import replace

import numpy as np

from adforest import AdaptiveDecisionForestClassifier, adaptation
from adforest.adaptation import State
from adforest.estimator_settings import read_settings
from adforest.forest import GrowthParams, Samples
from adforest.growers import RandomForestGrower

FORESTS = ("permanent", "active", "temporary")
NUMERICAL = np.zeros(2, dtype=np.int32)  # two attributes, both of them numbers


def make_settings(**changes):
    """Return the estimator's own defaults as adaptation knows them, but 10 trees and two attributes tried."""
    model = AdaptiveDecisionForestClassifier(10)
    settings = read_settings(model, n_features=2, seed=0)
    params = GrowthParams(max_features=2, min_samples_leaf=changes.get("min_samples_leaf", 1))
    return replace(settings, **{"grower": RandomForestGrower(params)} | changes)


def new_state(n_features=2, **changes):
    """Return the state before the first batch."""
    return State.new(make_settings(**changes), n_features)


def n_given(state):
    """Return how many samples a state has been given, learnt or waiting."""
    return state.memory.n_seen + (0 if state.pending is None else len(state.pending))


def learn(state, X, y, n_categories=NUMERICAL, n_classes=2):
    """Return the state after one more batch and the report, by whichever way of learning its settings ask for."""
    serial = np.arange(n_given(state), n_given(state) + len(y))
    samples = Samples(np.ascontiguousarray(X, dtype=float), np.asarray(y, np.int32), serial, n_categories, n_classes)
    return adaptation.RECIPES[state.settings.algorithm](state, samples)[:2]


def two_clusters(seed, swapped=False, n=200):
    """Return two well separated clusters, one a class; swapped, the classes change places."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype(np.int32)
    X = rng.normal(size=(n, 2)) + np.column_stack([8 * y, np.zeros(n)])
    return X, (1 - y if swapped else y).astype(np.int32)


def swapping_stream(pattern, settings, n=200):
    """Return the states and reports along a stream; 's' swaps the labels of a batch, '.' does not."""
    state, states, reports = State.new(settings, 2), [], []
    for number, sign in enumerate(pattern):
        state, report = learn(state, *two_clusters(number, sign == "s", n))
        states.append(state)
        reports.append(report)
    return states, reports


def grid(rng, n, n_classes, noise, distance=4):
    """Return clusters side by side, one a class, some samples with a label by chance."""
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 2)) + distance * np.column_stack([y % 3, y // 3])
    return X, np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), y).astype(np.int32)


def accuracy(state, X, y, n_classes=2):
    """Return the share of right answers."""
    return float(np.mean(adaptation.votes(state, X, n_classes).argmax(axis=1) == y))


def same_trees(one, other):
    """Return whether two forests are of the same trees, not of equal ones."""
    return len(one) == len(other) and all(a is b for a, b in zip(one.trees, other.trees, strict=True))


def as_bytes(state):
    """Return every tree of every forest, and where samples are in them, as bytes."""
    return {
        name: [
            *(
                tuple(
                    array.tobytes()
                    for array in (tree.nodes, tree.category_bits, tree.row_start, tree.row_class, tree.row_weight)
                )
                for tree in one.forest.trees
            ),
            *(leaf_of.tobytes() for leaf_of in one.forest.leaf_of),
            one.forest.known.tobytes(),
        ]
        for name, one in state.forests.items()
    }


def check_left_alone_by_learning(state):
    """Assert that a state of two classes stays as it is, whatever is learnt from it, and whoever asks it."""
    X, _ = two_clusters(50)
    before, trees = pickle.dumps(state), as_bytes(state)
    answers = adaptation.votes(state, X, 2)
    assert pickle.dumps(state) == before, "answering does not change what is saved"
    for swapped in (False, True):
        learn(state, *two_clusters(60, swapped))
        learn(state, X * 50, np.full(len(X), 2), n_classes=3)
    assert pickle.dumps(state) == before
    assert as_bytes(state) == trees
    np.testing.assert_array_equal(adaptation.votes(state, X, 2), answers)
