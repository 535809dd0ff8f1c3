"""Cuts by categories: as good as any set of them, and taken where they gain more than their price."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import Forest, GrowthParams
from adforest.growers import RandomForestGrower, TreeRequest, count_features
from grown_trees import SHARED, check_tree, inner_nodes, root_gain


@pytest.mark.parametrize("categories", [(2,), (3, 5, 6)], ids=["no price", "priced"])
@given(data=st.data())
def test_with_two_classes_categories_are_cut_as_well_as_by_any_subset_that_is_worth_its_price(categories, data):
    b = data.draw(oracles.blocks(categories=categories, max_features=1, max_classes=2))
    tree = oracles.grow_tree(b, max_depth=1)
    best, price = oracles.best_subset_gain(b.X[:, 0], b.y, b.weights), oracles.subset_price(b.X[:, 0])
    assert price == 0 or categories != (2,)
    if best is None or len(set(b.y)) == 1 or (price > 0 and best < price + 1e-9):
        assert len(tree.nodes) == 1
    else:
        assert tree.importance[0] == pytest.approx(best - price, abs=1e-6)
        assert root_gain(b, tree) == pytest.approx(best, abs=1e-6)


@given(b=oracles.blocks(categories=(2, 7, 70, 200), max_features=1, max_classes=9), seed=st.integers(0, 99))
def test_with_more_classes_the_cut_kept_is_worth_what_importance_says(b, seed):
    tree = oracles.grow_tree(b, max_depth=1, seed=seed)
    if len(tree.nodes) > 1:
        worth = root_gain(b, tree) - oracles.subset_price(b.X[:, 0])
        assert tree.importance[0] == pytest.approx(worth, abs=1e-6)
        assert worth > -1e-9


@pytest.mark.parametrize(
    ("values", "price"),
    [
        ([0, 1], 0.0),
        ([0, 1, np.nan], 0.0),  # without a value on either side: no category
        ([0, 1, 2] * 20, 1.05 * np.log2(3 / 2)),  # 3 sets of two sides, 2 orders
        ([0, 1, 2, 3] * 5, 1.2 * np.log2(7 / 3)),
        (range(40), 2 * (39 - np.log2(39))),  # each its own: twice as many
        (list(range(100)) * 100, 1.01 * (99 - np.log2(99))),
    ],
)
def test_prices_of_categories_by_hand(values, price):
    assert oracles.subset_price(values) == pytest.approx(price, rel=1e-6)


@given(
    k=st.integers(3, 40),
    extra=st.integers(0, 200),
    shift=st.sampled_from([-0.02, 0.02]),
    binned=st.booleans(),
    seed=st.integers(0, 9),
)
def test_a_numerical_cut_is_taken_unless_categories_gain_more_by_their_price(k, extra, shift, binned, seed):
    # The categories part the classes without fault; of numbers one cut is as good, but for a few samples.
    rng = np.random.default_rng(seed)
    categories = np.concatenate([np.arange(k), rng.integers(0, k, extra)]).astype(float)
    y = (categories % 2).astype(int)
    price, n = oracles.subset_price(categories), len(y)
    assert price < oracles.bits(y, np.ones(n)) or k > n / 2
    wrong = rng.permutation(n)
    for n_wrong in range(n):
        numbers = y.astype(float)
        numbers[wrong[:n_wrong]] = 1 - y[wrong[:n_wrong]]
        b = oracles.block(np.column_stack([categories, numbers]), y, n_categories=[k, 0])
        by_number = oracles.best_gain(numbers, y, b.weights) or 0.0
        worth = oracles.bits(y, b.weights) - price
        if abs(by_number - worth) < abs(shift):
            continue
        root = oracles.grow_tree(b, max_depth=1, binned=binned).nodes["split"][0]
        assert root >> 2 == (0 if worth > by_number else 1)
        if worth > by_number:
            break


def named(n, n_names, seed, useful=0.0):
    """Return a column of names beside four numbers that tell two classes; useful: share of names that tell them too."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4)) + 0.8 * y[:, None]
    own = np.random.default_rng(99).integers(0, 2, n_names)  # each name's class, for all seeds
    names = np.arange(n) % n_names if n_names <= n else rng.permutation(n_names)[:n]
    names = rng.permutation(names)
    if useful:
        by_class = [np.flatnonzero(own == k) for k in (0, 1)]
        drawn = np.array([rng.choice(by_class[k]) for k in y])
        names = np.where(rng.random(n) < useful, drawn, names)
    return np.column_stack([X, names]), y


@SHARED
@pytest.mark.parametrize(("n_names", "is_drawn"), [(50, False), (300, True), (2_000, True)])
def test_names_that_say_nothing_are_left_alone_in_large_nodes(binned, n_names, is_drawn):
    X, y = named(2_000, n_names, seed=1)
    # Samples drawn repeatedly make names look better than they are.
    weights = np.random.default_rng(0).poisson(1, 2_000) if is_drawn else np.ones(2_000, dtype=int)
    drawn = np.flatnonzero(weights)
    b = oracles.block(X[drawn, 4:], y[drawn], weights=weights[drawn], n_categories=[n_names])
    for seed in range(5):
        assert len(oracles.grow_tree(b, seed=seed, binned=binned).nodes) == 1
    beside = oracles.block(X[drawn], y[drawn], weights=weights[drawn], n_categories=[0, 0, 0, 0, n_names])
    for seed in range(3):
        tree = oracles.grow_tree(beside, seed=seed, max_features=3, binned=binned)
        for node, here, _, _ in inner_nodes(beside, tree):
            assert node["split"] >> 2 < 4 or len(here) < 100


def test_c45_pays_the_price_before_it_takes_the_ratio():
    X, y = named(400, 40, seed=2)
    b = oracles.block(X[:, 4:], y, n_categories=[40])
    tree, _ = oracles.grow_c45(b)
    assert tree.n_leaves == 1
    useful = oracles.block(np.arange(400) % 4, np.arange(400) % 2, n_categories=[4])
    tree, _ = oracles.grow_c45(useful)
    assert tree.n_leaves == 2
    assert tree.importance[0] == pytest.approx(400 - oracles.subset_price(useful.X[:, 0]))


def forest_accuracy(columns, n_names, useful=0.0):
    """Return the accuracy on 3,000 new samples of 15 trees that learnt 1,500 with some columns."""
    (X, y), (X_new, y_new) = (named(n, n_names, seed, useful) for n, seed in ((1_500, 3), (3_000, 4)))
    kinds = np.array([0, 0, 0, 0, n_names], dtype=np.int32)[columns]
    samples = oracles.block(X[:, columns], y, n_categories=kinds).samples
    grower = RandomForestGrower(GrowthParams(max_features=count_features("default", len(columns))))
    grown = grower.build(TreeRequest(samples, np.arange(1_500, dtype=np.int32), list(range(15)), 1))
    forest = Forest(tuple(g.tree for g in grown), tuple(g.leaf_of for g in grown), np.ones(1_500, dtype=bool))
    answers = forest.answer(np.ascontiguousarray(X_new[:, columns]), 2, soft=True)
    return float(np.mean(answers.argmax(axis=1) == y_new))


@pytest.mark.parametrize("n_names", [300, 5_000, 1_500], ids=["300 names", "5,000 names", "all different"])
def test_a_useless_column_of_names_costs_next_to_nothing(n_names):
    assert forest_accuracy([0, 1, 2, 3, 4], n_names) > forest_accuracy([0, 1, 2, 3], n_names) - 0.01


def test_a_useful_column_of_names_keeps_its_worth():
    without, with_names = (forest_accuracy(columns, 400, useful=1.0) for columns in ([0, 1, 2, 3], [0, 1, 2, 3, 4]))
    assert with_names > without + 0.05


def test_with_more_classes_other_seeds_find_other_sets_of_categories():
    b = oracles.random_block(100, n_categories=(12,), n_classes=5, missing=0)
    cuts = {tuple(oracles.grow_tree(b, max_depth=1, seed=seed).category_bits.tolist()) for seed in range(20)}
    assert len(cuts) > 3


def test_one_category_is_cut_from_missing_values_alone():
    b = oracles.block([0, 0, np.nan, 0], [0, 0, 1, 0], n_categories=[1])
    tree = oracles.grow_tree(b)
    assert sorted(tree.rows.values(), key=min) == [{0: 3}, {1: 1}]
    b = oracles.block([0, 0, 0], [0, 1, 0], n_categories=[1])
    assert len(oracles.grow_tree(b).nodes) == 1


@SHARED
@pytest.mark.parametrize("n", [100, 6000])
def test_three_thousand_categories(binned, n):
    b = oracles.random_block(n, n_categories=(3000,), n_classes=4)
    tree = oracles.grow_tree(b, binned=binned)
    gains = check_tree(b, tree)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


@SHARED
@given(b=oracles.blocks(categories=(3, 64, 65, 130)))
def test_categories_a_node_has_not_seen_follow_missing_values(binned, b):
    tree = oracles.grow_tree(b, binned=binned)
    for node, here, _, missing_left in inner_nodes(b, tree):
        f = node["split"] >> 2
        unseen = set(range(b.n_categories[f] + 70)) - set(b.X[here, f])
        sides = {oracles.goes_left(node.item(), tree.category_bits, float(category)) for category in unseen}
        assert sides == {missing_left}
