"""NCM forests: rules, gains by brute force, counts that add up, leaves that grow."""

import itertools

import numpy as np
import pytest

from experiments.rivals import NCMClassifier, NCMForestClassifier
from experiments.rivals.ncm_tree import NCMParams, NCMTree, _assignments, _best_rule, _gains


def blobs(seed, classes, n=120):
    """Return a cluster a class, at the corners of a square so that no single mean parts them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    corner = np.array([[0, 0], [6, 6], [0, 6], [6, 0], [20, 20]])[y]
    return rng.normal(size=(n, 2)) + corner, y


def check(model, X, y):
    """Every sample seen is counted once, in the leaf it reaches."""
    state = model._model.state
    codes = {value: code for code, value in enumerate(model._model.labels.by_arrival.tolist())}
    for tree, leaf_of in zip(state.trees, state.leaf_of, strict=True):
        np.testing.assert_array_equal(tree.route(X), leaf_of)
        expected = np.zeros_like(tree.counts)
        for leaf, value in zip(leaf_of, y.tolist(), strict=True):
            expected[leaf, codes[value]] += 1
        np.testing.assert_array_equal(tree.counts, expected)
        assert not tree.counts[list(tree.rules)].any()
        children = [child for rule in tree.rules.values() for child in (rule.left, rule.left + 1)]
        assert sorted(children) == list(range(1, len(tree.counts)))


def test_counts_are_those_of_all_samples_after_every_batch():
    model = NCMForestClassifier(n_estimators=3, min_samples_leaf=3, random_state=0)
    seen = []
    for seed, classes in enumerate([[0, 1], [0, 1], [0, 2], [1, 3], [4]]):
        seen.append(blobs(seed, classes))
        model.partial_fit(*seen[-1])
        check(model, *(np.concatenate(parts) for parts in zip(*seen, strict=True)))
    assert model.score(*blobs(9, [0, 1, 2, 3, 4])) > 0.95


def test_it_tells_apart_what_means_alone_do_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 1))
    y = (np.abs(X[:, 0]) > 0.5).astype(int)
    assert NCMClassifier().fit(X, y).score(X, y) < 0.8
    assert NCMForestClassifier(random_state=0).fit(X, y).score(X, y) > 0.9


def test_a_leaf_grows_only_when_it_meets_a_class_new_to_it():
    model = NCMForestClassifier(random_state=0).partial_fit(*blobs(0, [0, 1]))
    before = model.trees_
    model.partial_fit(*blobs(0, [0, 1]))
    # The samples of the first batch again: no leaf meets a class that is new to it.
    assert [tree.rules.keys() for tree in model.trees_] == [tree.rules.keys() for tree in before]
    np.testing.assert_array_equal([tree.counts.sum() for tree in model.trees_], 2 * 120)
    n_leaves = sum(tree.n_leaves for tree in model.trees_)
    model.partial_fit(*blobs(1, [2]))
    assert sum(tree.n_leaves for tree in model.trees_) > n_leaves
    for old, new in zip(before, model.trees_, strict=True):
        assert all(new.rules[node].left == rule.left for node, rule in old.rules.items()), "old rules stay"


@pytest.mark.parametrize("min_leaf", [1, 5, 30])
def test_leaves_keep_at_least_so_many_of_the_samples_they_were_grown_from(min_leaf):
    X, y = blobs(0, [0, 1, 2, 3], n=300)
    tree = NCMTree.bare(4).grown({0: np.arange(300)}, X, y, NCMParams(10, min_leaf), np.random.default_rng(0))
    leaves = [node for node in range(len(tree.counts)) if node not in tree.rules]
    assert len(leaves) == tree.n_leaves > 1
    assert tree.counts[leaves].sum(axis=1).min() >= min_leaf
    assert tree.counts.sum() == 300


@pytest.mark.parametrize("k", [2, 3, 6])
def test_assignments_have_both_signs(k):
    positive = _assignments(k, 200, np.random.default_rng(0))
    assert positive.any(axis=1).all()
    assert not positive.all(axis=1).any()
    assert len(np.unique(positive, axis=0)) == 2 ** (k - 1) - 1


def test_gains_are_those_of_brute_force():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 9, (2, 50, 4))
    gains = _gains(left, right, 1)
    for a, b, gain in zip(left, right, gains, strict=True):
        sides = [np.repeat(np.arange(4), counts) for counts in (a, b)]
        whole = np.concatenate(sides)
        bits = [entropy(side) * len(side) for side in (whole, *sides)]
        assert gain == pytest.approx(bits[0] - bits[1] - bits[2], abs=1e-8)


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(shares * np.log2(shares)).sum())


def test_the_best_of_all_assignments_is_kept():
    X, y = blobs(0, [0, 1, 2, 3])
    rule, left = _best_rule(X, y, 1, NCMParams(500, 1), np.random.default_rng(0))
    np.testing.assert_array_equal(rule.sends_left(X), left)
    means = np.array([X[y == value].mean(axis=0) for value in range(4)])
    np.testing.assert_allclose(rule.means, means)
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)

    def gain(side):
        return entropy(y) * len(y) - sum(entropy(y[part]) * part.sum() for part in (side, ~side) if part.any())

    every = [np.array(signs)[nearest] for signs in itertools.product([True, False], repeat=4)]
    assert gain(left) == pytest.approx(max(map(gain, every)))


def test_a_leaf_that_no_rule_improves_stays_a_leaf():
    model = NCMForestClassifier(min_samples_leaf=1, random_state=0).fit([[1.0]] * 6, [0, 1] * 3)
    assert [tree.n_leaves for tree in model.trees_] == [1] * 10
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.5, 0.5]])


@pytest.mark.parametrize("wrong", [{"n_estimators": 0}, {"n_assignments": 0}, {"min_samples_leaf": 0}])
def test_parameters_are_checked_when_learning(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of "):
        NCMForestClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])
