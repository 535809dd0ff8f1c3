"""Cuts by Gini impurity are the best by it; where classes are many, half of the trees make them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from grown_trees import SHARED, inner_nodes

SAME = ("nodes", "category_bits", "importance", "leaf_of")


def many_classes(n, n_classes, seed=0):
    """Return samples of classes around points of their own, some classes more frequent than others."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(n_classes, size=n), rng.integers(2 * n_classes, size=n))
    return oracles.block(np.round(rng.normal(size=(n_classes, 3))[y] + 0.2 * rng.normal(size=(n, 3)), 1), y)


def worth(b, tree):
    """Return the criterion by which each inner node of a tree that tries all features is cut, and how many classes."""
    for node, here, left, _ in inner_nodes(b, tree):
        y, weights = b.y[here], b.weights[here]
        counts = np.bincount(y, weights)
        found = {}
        for name, impurity in (("gini", oracles.gini), ("entropy", oracles.bits)):
            best = max(oracles.best_gain(column, y, weights, impurity=impurity) or 0.0 for column in b.X[here].T)
            found[name] = oracles.gain(y, weights, left, impurity) == pytest.approx(best, abs=1e-6)
        assert node["split"] >= 0
        yield found, counts.sum() ** 2 / (counts**2).sum()


@given(b=oracles.blocks(categories=(0,), max_samples=128), min_leaf=st.integers(1, 5))
def test_a_cut_by_gini_is_worth_as_much_as_the_best_over_all_features(b, min_leaf):
    tree = oracles.grow_tree(b, max_depth=1, min_leaf=min_leaf, criterion="gini")
    gains = [oracles.best_gain(column, b.y, b.weights, min_leaf, oracles.gini) for column in b.X.T]
    best = max((gain for gain in gains if gain is not None), default=None)
    if best is None or len(set(b.y)) == 1:
        assert len(tree.nodes) == 1
    else:
        assert tree.importance.sum() == pytest.approx(best, abs=1e-6)


@SHARED
@given(b=oracles.blocks(categories=(0,)), seed=st.integers(0, 99), max_features=st.integers(1, 4))
def test_importance_is_what_cuts_by_gini_gain(binned, b, seed, max_features):
    tree = oracles.grow_tree(b, seed=seed, max_features=max_features, binned=binned, criterion="gini")
    gains = np.zeros(b.X.shape[1])
    for node, here, left, _ in inner_nodes(b, tree):
        gains[node["split"] >> 2] += oracles.gain(b.y[here], b.weights[here], left, oracles.gini)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


@given(b=oracles.blocks(categories=(3, 5, 6), max_features=1, max_classes=2))
def test_categories_pay_in_gini_what_chance_makes_as_likely_as_their_bits(b):
    tree = oracles.grow_tree(b, max_depth=1, criterion="gini")
    best = oracles.best_subset_gain(b.X[:, 0], b.y, b.weights, oracles.gini)
    p = b.weights[b.y == 1].sum() / b.weights.sum()
    price = oracles.subset_price(b.X[:, 0]) * 2 * np.log(2) * 2 * p * (1 - p)
    if best is None or len(set(b.y)) == 1 or (price > 0 and best < price + 1e-9):
        assert len(tree.nodes) == 1
    else:
        assert tree.importance[0] == pytest.approx(best - price, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 6, 12])
def test_names_that_say_nothing_are_left_alone_by_gini(n_classes):
    rng = np.random.default_rng(0)
    weights = rng.poisson(1, 3000)
    drawn = np.flatnonzero(weights)
    names, y = rng.integers(200, size=3000), rng.integers(n_classes, size=3000)
    b = oracles.block(names[drawn], y[drawn], weights=weights[drawn], n_categories=[200])
    for seed in range(5):
        assert len(oracles.grow_tree(b, seed=seed, criterion="gini").nodes) == 1


def test_auto_cuts_nodes_of_more_than_ten_classes_by_gini_in_every_other_tree():
    b = many_classes(1200, 60)
    by_entropy, gini, auto = (
        [oracles.grow_tree(b, seed=seed, criterion=criterion) for seed in (2, 3)]
        for criterion in ("entropy", "gini", "auto")
    )
    assert all(np.array_equal(getattr(by_entropy[0], name), getattr(auto[0], name)) for name in SAME)
    assert all(found["gini"] for found, _ in worth(b, gini[1]))
    assert not all(found["entropy"] for found, _ in worth(b, gini[1]))
    told = list(worth(b, auto[1]))
    assert all(found["gini" if effective > 10 else "entropy"] for found, effective in told)
    assert sum(effective > 10 and not found["entropy"] for found, effective in told) >= 3
    assert sum(effective < 10 and not found["gini"] for found, effective in told) >= 3


@pytest.mark.parametrize("seed", [2, 3])
def test_ten_classes_are_not_many(seed):
    b = many_classes(600, 10)
    one, other = (oracles.grow_tree(b, seed=seed, criterion=criterion) for criterion in ("entropy", "auto"))
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in SAME)
    even = oracles.block(np.arange(100) // 2 % 10, np.arange(100) % 10)  # ten effective classes to the last bit
    one, other = (oracles.grow_tree(even, seed=seed, criterion=criterion) for criterion in ("entropy", "auto"))
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in SAME)
