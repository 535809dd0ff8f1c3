"""A grown tree puts every record where its cuts say, cuts where it pays, and stops only where it must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import Forest, GrowthParams
from adforest.growers import RandomForestGrower, count_features

SHARED = pytest.mark.parametrize("binned", [False, True], ids=["own codes", "shared codes"])


def offers_no_cut(b, here):
    """Return whether records are equal, or differ by categories only of which no two sides are worth their price."""
    for column, n_categories in zip(b.X[here].T, b.n_categories, strict=True):
        price = oracles.subset_price(column) if n_categories else 0.0
        if len(np.unique(column)) > 1 and price == 0:
            return False
        # The search is exact where there are two classes; subsets of more than eight categories are too many to try.
        if 0 < price < 10 and len(set(b.y[here])) == 2:
            best = oracles.best_subset_gain(column, b.y[here], b.weights[here])
            if best > price + 1e-6:
                return False
    return True


def check_tree(b, tree, samples=None, *, start=0, min_leaf=1, max_depth=-1, room_left=True, depth=0):
    """Check all that is true of any subtree; return by attribute what its cuts gain, less the price of categories."""
    samples = np.arange(len(b.y)) if samples is None else np.asarray(samples)
    passing = oracles.records_at(tree.nodes, tree.category_bits, b.X, samples, start)
    gains = np.zeros(b.X.shape[1])
    for node, level in oracles.depths(tree.nodes, start, depth).items():
        here = np.array(passing[node])
        y, weights = b.y[here], b.weights[here]
        if tree.nodes["split"][node] >= 0:
            assert max_depth < 0 or level < max_depth
            assert node not in tree.rows
            left = np.isin(here, passing[int(tree.nodes["left"][node])])
            assert min(left.sum(), (~left).sum()) >= min_leaf
            feature = tree.nodes["split"][node] >> 2
            price = oracles.subset_price(b.X[here, feature]) if b.n_categories[feature] else 0.0
            worth = oracles.gain(y, weights, left) - price
            assert worth > 0 or price == 0, "a cut by categories gains more than its price"
            gains[feature] += worth
            continue
        assert (tree.leaf_of[here] == node).all()
        assert tree.rows[node] == oracles.tally([node] * len(here), y, weights)[node]
        stops = len(set(y)) == 1 or len(here) < 2 * min_leaf or level == max_depth or not room_left
        # A larger minimum may rule out all the cuts that are tried, which is for other tests to know.
        assert stops or min_leaf > 1 or offers_no_cut(b, here)
    return gains


def root_gain(b, tree):
    """Return what the cut at the root is worth."""
    left = oracles.records_at(tree.nodes, tree.category_bits, b.X, range(len(b.y))).get(int(tree.nodes["left"][0]), [])
    return oracles.gain(b.y, b.weights, np.isin(np.arange(len(b.y)), left))


@SHARED
def test_records_are_where_the_cuts_send_them_and_leaves_are_pure_or_uniform(binned):
    @given(b=oracles.blocks(), seed=st.integers(0, 2**64 - 1), max_features=st.integers(1, 4))
    def check(b, seed, max_features):
        tree = oracles.grow_tree(b, seed=seed, max_features=max_features, binned=binned)
        gains = check_tree(b, tree)
        np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)

    check()


@SHARED
@given(b=oracles.blocks(max_records=60), min_leaf=st.integers(1, 8), max_depth=st.integers(-1, 4))
def test_limits_on_leaves_and_depth_are_kept(binned, b, min_leaf, max_depth):
    tree = oracles.grow_tree(b, min_leaf=min_leaf, max_depth=max_depth, binned=binned)
    gains = check_tree(b, tree, min_leaf=min_leaf, max_depth=max_depth)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


@given(b=oracles.blocks(categories=(0,)), room=st.integers(0, 9))
def test_the_limit_on_new_nodes_is_kept_and_used(b, room):
    full = oracles.grow_tree(b)
    tree = oracles.grow_tree(b, max_new_nodes=room)
    assert len(tree.nodes) - 1 == min(room // 2 * 2, len(full.nodes) - 1)
    check_tree(b, tree, room_left=len(tree.nodes) - 1 + 2 <= room)


@SHARED
def test_the_limit_on_new_nodes_stops_large_branches_at_about_one_depth(binned):
    b = oracles.random_block(4000, missing=0)
    tree = oracles.grow_tree(b, max_new_nodes=14, binned=binned)
    assert len(tree.nodes) == 15
    assert max(oracles.depths(tree.nodes).values()) <= 5
    check_tree(b, tree, room_left=False)


@given(b=oracles.blocks(), data=st.data())
def test_only_samples_count_and_weights_go_with_them(b, data):
    samples = data.draw(st.lists(st.integers(0, len(b.y) - 1), unique=True, min_size=1))
    tree = oracles.grow_tree(b, samples=samples)
    check_tree(b, tree, samples)
    others = np.setdiff1d(np.arange(len(b.y)), samples)
    assert (tree.leaf_of[others] == -7).all()
    assert sum(sum(row.values()) for row in tree.rows.values()) == b.weights[samples].sum()


@given(b=oracles.blocks(categories=(0,), max_records=128), min_leaf=st.integers(1, 5))
def test_a_cut_is_worth_as_much_as_the_best_over_all_attributes(b, min_leaf):
    tree = oracles.grow_tree(b, max_depth=1, min_leaf=min_leaf)
    gains = [oracles.best_gain(column, b.y, b.weights, min_leaf) for column in b.X.T]
    best = max((gain for gain in gains if gain is not None), default=None)
    if best is None or len(set(b.y)) == 1:
        assert len(tree.nodes) == 1
    else:
        assert root_gain(b, tree) == pytest.approx(best, abs=1e-6)
        assert tree.importance.sum() == pytest.approx(best, abs=1e-6)


@SHARED
@pytest.mark.parametrize("distinct", [2, 20])
def test_few_distinct_values_are_cut_exactly_in_large_nodes_too(binned, distinct):
    b = oracles.random_block(3000, distinct=distinct)
    tree = oracles.grow_tree(b, max_depth=1, binned=binned)
    best = max(oracles.best_gain(column, b.y, b.weights) for column in b.X.T)
    assert tree.importance.sum() == pytest.approx(best)


@SHARED
def test_quantiles_lose_little_of_a_cut_in_large_nodes(binned):
    b = oracles.random_block(1500, n_categories=(0, 0), missing=0)
    tree = oracles.grow_tree(b, max_depth=1, binned=binned)
    best = max(oracles.best_gain(column, b.y, b.weights) for column in b.X.T)
    assert 0.95 * best < tree.importance.sum() < best + 1e-6


@SHARED
@pytest.mark.parametrize("n", [64, 65, 300, 3000])
@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 200, 0)], ids=["numerical", "mixed"])
def test_large_nodes_obey_the_same_rules(binned, n, n_categories):
    b = oracles.random_block(n, n_categories=n_categories)
    for limits in ({}, {"max_features": 1, "seed": 5}):
        tree = oracles.grow_tree(b, binned=binned, **limits)
        gains = check_tree(b, tree)
        np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)
    tree = oracles.grow_tree(b, min_leaf=9, max_depth=6, binned=binned)
    check_tree(b, tree, min_leaf=9, max_depth=6)


@SHARED
def test_records_that_share_a_bin_are_still_cut(binned):
    # 255 bins of some 80,000 records hold about 300 each, more than are coded exactly at once.
    values = np.random.default_rng(0).random(80_000)
    b = oracles.block(values, values * 1000 % 2)
    tree = oracles.grow_tree(b, binned=binned)
    assert len(tree.rows) == len(tree.nodes) // 2 + 1
    assert all(len(row) == 1 for row in tree.rows.values())


@SHARED
@pytest.mark.parametrize("n", [5000, 20_000, 40_000])
def test_records_that_take_turns_are_cut(binned, n):
    # A sample taken at regular steps sees one side of such data only.
    b = oracles.block(np.arange(n) % 2, np.arange(n) % 2)
    tree = oracles.grow_tree(b, binned=binned)
    assert tree.rows == {1: {0: n // 2}, 2: {1: n // 2}}


@pytest.mark.parametrize("max_bins", [2, 4, 16])
@SHARED
def test_few_bins_do_not_hide_an_attribute(binned, max_bins):
    # The largest value holds most of the records, so that no quantile lies below it.
    values = np.minimum(np.arange(600), 20)
    b = oracles.block(values, values % 2)
    tree = oracles.grow_tree(b, max_bins=max_bins, binned=binned)
    check_tree(b, tree)


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
    # The categories part the classes without fault; of numbers one cut is as good, but for a few records.
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
    # Records drawn repeatedly make names look better than they are.
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


def test_gain_ratio_has_its_own_price():
    X, y = named(400, 40, seed=2)
    b = oracles.block(X[:, 4:], y, n_categories=[40])
    assert len(oracles.grow_tree(b).nodes) == 1
    tree, _ = oracles.grow_c45(b)
    assert tree.n_leaves > 1
    assert tree.importance[0] >= root_gain(b, tree) - 1e-6, "nothing is taken off"


def forest_accuracy(columns, n_names, useful=0.0):
    """Return the accuracy on 3,000 new records of 15 trees that learnt 1,500 with some columns."""
    (X, y), (X_new, y_new) = (named(n, n_names, seed, useful) for n, seed in ((1_500, 3), (3_000, 4)))
    kinds = np.array([0, 0, 0, 0, n_names], dtype=np.int32)[columns]
    records = oracles.block(X[:, columns], y, n_categories=kinds).records
    grower = RandomForestGrower(GrowthParams(max_features=count_features("default", len(columns))))
    grown = grower.build(records, np.arange(1_500, dtype=np.int32), list(range(15)), 1)
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


def inner_nodes(b, tree):
    """Yield each inner node with its records, which of them go left, and whether missing values do."""
    passing = oracles.records_at(tree.nodes, tree.category_bits, b.X, range(len(b.y)))
    for node in np.flatnonzero(tree.nodes["split"] >= 0):
        here = np.array(passing[node])
        left = np.isin(here, passing[int(tree.nodes["left"][node])])
        yield tree.nodes[node], here, left, bool(tree.nodes["split"][node] & oracles.MISSING_LEFT)


@SHARED
@given(b=oracles.blocks(categories=(3, 64, 65, 130)))
def test_categories_a_node_has_not_seen_follow_missing_values(binned, b):
    tree = oracles.grow_tree(b, binned=binned)
    for node, here, _, missing_left in inner_nodes(b, tree):
        f = node["split"] >> 2
        unseen = set(range(b.n_categories[f] + 70)) - set(b.X[here, f])
        sides = {oracles.goes_left(node.item(), tree.category_bits, float(category)) for category in unseen}
        assert sides == {missing_left}


@SHARED
@given(b=oracles.blocks())
def test_missing_values_go_where_they_gain_more_or_else_to_the_heavier_side(binned, b):
    tree = oracles.grow_tree(b, binned=binned)
    for node, here, left, missing_left in inner_nodes(b, tree):
        y, weights = b.y[here], b.weights[here]
        missing = np.isnan(b.X[here, node["split"] >> 2])
        if missing.any():
            other = np.where(missing, not missing_left, left)
            assert oracles.gain(y, weights, left) >= oracles.gain(y, weights, other) - 1e-6
        else:
            heavier_left = int(weights[left].sum()) >= int(weights[~left].sum())
            assert missing_left == heavier_left


@SHARED
@pytest.mark.parametrize("n", [20, 700])
@pytest.mark.parametrize("n_categories", [(0, 0), (4, 0)], ids=["numerical", "categorical"])
def test_a_column_that_is_all_missing_is_never_asked(binned, n, n_categories):
    b = oracles.random_block(n, n_categories=n_categories, missing=0)
    b.X[:, 0] = np.nan
    tree = oracles.grow_tree(b, max_features=1, binned=binned)
    check_tree(b, tree)
    assert tree.importance[0] == 0
    assert tree.importance[1] > 0


@SHARED
@pytest.mark.parametrize("n", [60, 900])
def test_several_groups_grow_at_several_leaves_in_one_call(binned, n):
    b = oracles.random_block(n, n_categories=(0, 6, 0))
    order = np.random.default_rng(1).permutation(n)[: n - 5]
    starts = [0, n // 3, n // 3, n // 3 + 1, n - 5]  # the second group is empty, the third has one record
    leaves, depth = [3, 0, 5, 6], [2, 1, 4, 3]
    tree = oracles.grow_groups(b, order, starts, leaves, base=7, depth=depth, max_depth=7, binned=binned)
    gains = np.zeros(3)
    for leaf, level, start, stop in zip(leaves, depth, starts, starts[1:], strict=False):
        if start == stop:
            assert tree.nodes["split"][leaf] == -1
            assert leaf not in tree.rows
            continue
        gains += check_tree(b, tree, order[start:stop], start=leaf, max_depth=7, depth=level)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)
    reachable = set().union(*(oracles.depths(tree.nodes, leaf) for leaf in leaves))
    assert reachable == {0, 3, 5, 6, *range(7, len(tree.nodes))}


def test_no_records_leave_leaves_as_they_are():
    b = oracles.random_block(10)
    tree = oracles.grow_groups(b, [], [0, 0, 0], [0, 1], base=2)
    assert tree.nodes["split"].tolist() == tree.nodes["left"].tolist() == [-1, -1]
    assert tree.rows == {}
    assert not tree.importance.any()


@SHARED
@pytest.mark.parametrize("n", [90, 2000])
def test_same_seed_same_tree_and_another_seed_another(binned, n):
    b = oracles.random_block(n, n_categories=(0, 9, 0, 0))
    first, again, other = (
        oracles.grow_tree(b, seed=seed, max_features=2, binned=binned) for seed in (2**63 + 1, 2**63 + 1, 4)
    )
    assert first.nodes.tobytes() == again.nodes.tobytes()
    assert first.category_bits.tobytes() == again.category_bits.tobytes()
    assert first.rows == again.rows
    np.testing.assert_array_equal(first.leaf_of, again.leaf_of)
    assert first.nodes.tobytes() != other.nodes.tobytes()


@pytest.mark.parametrize("n", [40, 400])
def test_with_one_attribute_drawn_each_gets_its_turn_at_the_root(n):
    b = oracles.random_block(n, n_categories=(0, 0, 5, 0), missing=0)
    roots = [oracles.grow_tree(b, max_features=1, max_depth=1, seed=s).nodes["split"][0] >> 2 for s in range(400)]
    counts = np.bincount(roots, minlength=4)
    assert counts.min() > 65
    assert counts.max() < 135


def test_attributes_that_do_not_vary_are_not_counted_as_drawn():
    rng = np.random.default_rng(0)
    X = np.zeros((80, 50))
    X[:, 30] = rng.normal(size=80)
    b = oracles.block(X, X[:, 30] > 0)
    assert [len(oracles.grow_tree(b, max_features=1, seed=seed).nodes) for seed in range(10)] == [3] * 10


@SHARED
@pytest.mark.parametrize("n_classes", [1000, 5000])
def test_thousands_of_classes(binned, n_classes):
    b = oracles.random_block(2500, n_categories=(0, 0, 20), n_classes=n_classes)
    tree = oracles.grow_tree(b, binned=binned)
    gains = check_tree(b, tree)
    np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


@SHARED
@pytest.mark.parametrize("n", [50, 200])
def test_thousands_of_columns(binned, n):
    rng = np.random.default_rng(0)
    b = oracles.block(rng.normal(size=(n, 5000)), rng.integers(3, size=n))
    tree = oracles.grow_tree(b, max_features=70, binned=binned)
    check_tree(b, tree)
    assert all(len(row) == 1 for row in tree.rows.values())


@SHARED
def test_a_million_identical_records_are_one_leaf(binned):
    n = 1_000_000
    b = oracles.block(np.full((n, 3), 2.5), np.arange(n) % 3)
    tree = oracles.grow_tree(b, binned=binned)
    assert tree.rows == {0: {0: 333_334, 1: 333_333, 2: 333_333}}
    assert (tree.leaf_of == 0).all()


@SHARED
def test_weights_beyond_the_table_of_logarithms(binned):
    b = oracles.random_block(3000, n_categories=(0, 8))
    b = b._replace(weights=np.full(3000, 255, dtype=np.uint8))
    tree = oracles.grow_tree(b, max_depth=3, binned=binned)
    np.testing.assert_allclose(tree.importance, check_tree(b, tree, max_depth=3), rtol=1e-9)


@given(values=st.lists(st.floats(allow_nan=False), min_size=2, max_size=2, unique=True))
def test_a_threshold_lies_between_the_values_it_parts(values):
    tree = oracles.grow_tree(oracles.block(values, [0, 1]))
    assert min(values) <= tree.nodes["threshold"][0] < max(values)


def test_a_chain_of_cuts_as_deep_as_a_block_is_large():
    values = np.arange(64)
    b = oracles.block(values, values % 2)
    tree = oracles.grow_tree(b)
    assert len(tree.nodes) == 127
    check_tree(b, tree)
