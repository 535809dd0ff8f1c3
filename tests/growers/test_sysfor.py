"""SysFor: which cuts are good, what trees they make, and that nothing is left to chance."""

import pickle
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import oracles
from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.forest import GrowthParams, Records, TreeEditor
from adforest.growers import SysForGrower
from adforest.growers.sysfor import GoodCut, good_cuts

NOTHING = 1e-9  # a gain ratio that is but rounding


def everyone(records):
    return np.arange(len(records), dtype=np.int32)


def good(b, known=None, *, min_leaf=1, goodness=0.3, separation=0.3):
    known = everyone(b.records) if known is None else np.asarray(known, dtype=np.int32)
    return good_cuts(b.records, known, min_leaf, goodness, separation)


def ratios(cuts):
    return [cut.gain_ratio for cut in cuts]


# --- good cuts, by hand

# Three of each class along one attribute, by cut:
#   1.5: gain 1 - 5/6 H(2/5) = 0.191, said in H(1/6) = 0.650: ratio 0.294
#   2.5: gain 1 - 4/6 H(1/4) = 0.459, said in H(1/3) = 0.918: ratio 0.5
#   3.5: gain 1, said in 1: ratio 1; the others mirror these
SIX = oracles.block([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("goodness", "separation", "values"),
    [
        (0.3, 0.3, {3.5: 1}),
        (0.6, 0.3, {3.5: 1}),  # 2.5 is good enough, but 1.0 from 3.5, and must be more than 0.3 of 5 = 1.5 away
        (0.8, 0.3, {3.5: 1, 1.5: 0.2937, 5.5: 0.2937}),
        (0.8, 0.2, {3.5: 1, 1.5: 0.2937, 5.5: 0.2937}),  # 1.0 is not more than 0.2 of 5
        (0.6, 0.1, {3.5: 1, 2.5: 0.5, 4.5: 0.5}),
        (0.8, 0.1, {3.5: 1, 2.5: 0.5, 4.5: 0.5, 1.5: 0.2937, 5.5: 0.2937}),
        (0.8, 0.5, {3.5: 1}),
    ],
)
def test_cuts_of_one_attribute_lie_apart(goodness, separation, values):
    cuts = good(SIX, goodness=goodness, separation=separation)
    assert {cut.value: cut.gain_ratio for cut in cuts} == pytest.approx(values, abs=1e-4)
    assert ratios(cuts) == sorted(ratios(cuts), reverse=True)
    assert {cut.feature for cut in cuts} == {0}


def test_both_sides_hold_the_minimum_leaf_size():
    assert {cut.value for cut in good(SIX, min_leaf=2, goodness=0.9, separation=0.1)} == {2.5, 3.5, 4.5}
    assert {cut.value for cut in good(SIX, min_leaf=3, goodness=0.9, separation=0.1)} == {3.5}
    assert good(SIX, min_leaf=4) == []


def test_only_the_records_known_are_looked_at():
    # Of 1, 2, 3, 6 the classes are a, a, a, b: the cut lies between 3 and 6.
    (cut,) = good(SIX, [0, 1, 2, 5])
    assert (cut.value, cut.gain_ratio) == (4.5, pytest.approx(1))


@pytest.mark.parametrize("klass", [0, 1])
def test_missing_values_take_the_side_of_the_higher_ratio(klass):
    # With the missing value on the side of its class both sides are pure. Everything known against it is a cut as well:
    # gain H(2/5) - 4/5 = 0.171, said in H(1/5) = 0.722: ratio 0.237.
    b = oracles.block([1, 1, 2, 2, np.nan], [0, 0, 1, 1, klass])
    (cut,) = good(b)
    assert cut[:4] == (0, 1.5, klass == 0, pytest.approx(1))
    best, known = good(b, goodness=0.8)
    assert best == cut
    assert known[:4] == (0, np.inf, False, pytest.approx(0.2368, abs=1e-4))
    assert known.gain == pytest.approx(5 * 0.171, abs=1e-2)
    assert known.left(b.X).tolist() == [True, True, True, True, False]


def test_where_none_is_missing_they_would_take_the_heavier_side():
    assert [cut.missing_left for cut in good(oracles.block([1, 1, 2], [0, 0, 1]))] == [True]
    assert [cut.missing_left for cut in good(oracles.block([1, 2, 2], [0, 1, 1]))] == [False]
    assert [cut.missing_left for cut in good(oracles.block([1, 2], [0, 1]))] == [True]


def test_one_value_is_cut_from_missing_values():
    for n_categories in (0, 1):
        b = oracles.block([0, 0, np.nan, np.nan], [0, 0, 1, 1], n_categories=[n_categories])
        (cut,) = good(b)
        assert cut.gain_ratio == pytest.approx(1)
        assert not cut.missing_left
        assert cut.left(b.X).tolist() == [True, True, False, False]


def test_categories_are_cut_once_along_their_share_of_the_most_frequent_class():
    # Category 0: a a; 1: b b; 2: a b b; 3 is not there. Shares of b: 0, 1, 2/3, so that the order is 0, 2, 1.
    #   {0} | {2, 1}: gain H(3/7) - 5/7 H(1/5) = 0.470, said in H(2/7) = 0.863: ratio 0.544
    #   {0, 2} | {1}: gain H(3/7) - 5/7 H(2/5) = 0.292, said in the same:       ratio 0.338
    b = oracles.block([0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 0, 1, 1], n_categories=[4])
    (cut,) = good(b)
    assert cut.gain_ratio == pytest.approx(0.5440, abs=1e-4)
    assert cut.value.tolist() == [True, False, False, False]
    assert not cut.missing_left
    assert good(b, min_leaf=3) == []
    # The numbers of the classes do not matter; three more records a of category 0 turn the order round: 1, 2, 0.
    (cut,) = good(oracles.block(b.X, 1 - b.y, n_categories=[4]))
    assert cut.value.tolist() == [True, False, False, False]
    (cut,) = good(oracles.block([*b.X[:, 0], 0, 0, 0], [*b.y, 0, 0, 0], n_categories=[4]))
    assert cut.value.tolist() == [False, True, True, True]  # what was not there follows missing values
    assert cut.missing_left  # and those the left one of equal sides


def test_good_attributes_come_in_descending_order_of_their_ratio():
    # Column 0: a b b b b | c: ratio 1. Column 1: a | the rest: 1 as well. Column 2: a b | b b b c: lower.
    y = [0, 1, 1, 1, 1, 2]
    X = np.array([[0, 0, 0, 0, 0, 1], [0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]]).T
    third = oracles.gain_ratio(np.array(y), np.ones(6), X[:, 2] == 0)
    cuts = good(oracles.block(X, y), goodness=1 - third + 1e-6)
    assert [cut.feature for cut in cuts] == [0, 1, 2]
    assert ratios(cuts) == pytest.approx([1, 1, third])
    assert [cut.feature for cut in good(oracles.block(X, y), goodness=1 - third - 1e-6)] == [0, 1]
    assert [cut.feature for cut in good(oracles.block(X[:, ::-1], y), goodness=1)] == [1, 2, 0]


def test_pure_records_have_no_good_cut():
    assert (
        good(oracles.block(np.c_[np.arange(9), np.arange(9) % 3], np.zeros(9), n_categories=[0, 3], n_classes=3)) == []
    )


def test_columns_that_say_nothing_have_no_good_cut():
    y = np.arange(8) % 2
    columns = {"missing": np.nan, "constant": 3.0}
    X = np.array([np.full(8, value) for value in columns.values() for _ in range(2)]).T
    assert good(oracles.block(X, y, n_categories=[0, 4, 0, 4])) == []
    cuts = good(oracles.block(np.c_[X, y], y, n_categories=[0, 4, 0, 4, 0]))
    assert [cut.feature for cut in cuts] == [4]


def test_no_records_have_no_good_cut():
    b = oracles.random_block(10, n_categories=(0, 3))
    assert good(b, []) == []
    assert good(b, [4]) == []


@given(
    shares=st.lists(st.integers(1, 6), min_size=2, max_size=4),
    times=st.lists(st.integers(1, 5), min_size=2, max_size=4),
    categorical=st.booleans(),
)
def test_rounding_is_not_gain(shares, times, categorical):
    # Every value of the attribute has the same class shares.
    values, y = np.divmod(np.arange(len(times) * len(shares)), len(shares))
    weights = np.outer(times, shares).ravel()
    b = oracles.block(np.repeat(values, weights), np.repeat(y, weights), n_categories=[len(times) * categorical])
    assert good(b) == []


@given(
    values=st.lists(st.integers(0, 4), min_size=12, max_size=12),
    y=st.lists(st.integers(0, 2), min_size=12, max_size=12),
)
def test_a_mirrored_attribute_is_as_good_by_any_goodness(values, y):
    b = oracles.block(np.c_[values, np.negative(values)], y)
    if oracles.bits(y, np.ones(12)) == 0 or len(set(values)) == 1:
        return
    found = {cut.feature for cut in good(b, goodness=0) if cut.gain_ratio > NOTHING}
    assert found in ({0, 1}, set())


def test_the_largest_numbers_there_are():
    b = oracles.block([-1.5e308, -1.5e308, 1.5e308, 1.5e308], [0, 0, 1, 1])
    (cut,) = good(b)
    assert cut[:4] == (0, 0.0, True, pytest.approx(1))


# --- good cuts, by brute force


def tame(b):
    """Return a block without infinite values, whose ranges are wide."""
    X = b.X.copy()
    numerical = b.n_categories == 0
    for wild, value in ((-np.inf, -4.0), (1e308, 5.0), (np.inf, 9.0)):
        X[(X == wild) & numerical] = value
    return b._replace(X=X, weights=np.ones_like(b.weights))


def check_good(b, known, min_leaf, goodness, separation):
    """Check the list of good cuts against all cuts; ties may be broken either way. Return how many there are."""
    cuts = [
        cut
        for cut in good(b, known, min_leaf=min_leaf, goodness=goodness, separation=separation)
        if cut.gain_ratio > NOTHING  # another test is about these
    ]
    X, y, ones = b.X[known], b.y[known], np.ones(len(known))
    there_are = [
        [cut for cut in oracles.all_cuts(X[:, j], y, ones, b.n_categories[j], min_leaf) if cut.ratio > NOTHING]
        for j in range(X.shape[1])
    ]
    best = max((cut.ratio for some in there_are for cut in some), default=0)
    assert ratios(cuts) == sorted(ratios(cuts), reverse=True)
    assert all(
        a.feature < b.feature for a, b in pairwise(cuts) if a.gain_ratio == b.gain_ratio and a.feature != b.feature
    )
    for cut in cuts:
        left, column = cut.left(X), X[:, cut.feature]
        assert min(left.sum(), (~left).sum()) >= min_leaf
        assert cut.gain_ratio == pytest.approx(oracles.gain_ratio(y, ones, left))
        assert cut.gain_ratio >= best - goodness - NOTHING
        same = [one for one in there_are[cut.feature] if (one.left == left).all()]
        if np.isnan(column).any():
            assert cut.missing_left in {one.missing_left for one in same}
            assert left[np.isnan(column)].tolist() == [cut.missing_left] * np.isnan(column).sum()
        else:
            assert len(same) == 1
            assert cut.missing_left == (2 * left.sum() >= len(left))
    for j, some in enumerate(there_are):
        mine = [cut for cut in cuts if cut.feature == j]
        # Every cut that is good enough is there, or one at least as good that lies too near.
        wanted = [cut for cut in some if cut.ratio >= best - goodness + NOTHING]
        if b.n_categories[j]:
            assert len(mine) <= 1
            assert not wanted or mine[0].gain_ratio == pytest.approx(max(cut.ratio for cut in wanted))
            seen = set(X[~np.isnan(X[:, j]), j].astype(int))
            for cut in mine:
                assert len(cut.value) == b.n_categories[j]
                assert {cut.value[k] for k in range(len(cut.value)) if k not in seen} <= {cut.missing_left}
            continue
        apart = separation * (np.nanmax(X[:, j]) - np.nanmin(X[:, j])) if some else 0
        assert {cut.value for cut in mine} <= {cut.value for cut in some}
        assert all(abs(a.value - b.value) > apart for a, b in combinations(mine, 2))
        for cut in wanted:
            assert any(
                one.gain_ratio >= cut.ratio - NOTHING
                and (one.value == cut.value or abs(one.value - cut.value) <= apart)
                for one in mine
            )
    return len(cuts)


@given(
    b=oracles.blocks().map(tame),
    min_leaf=st.integers(1, 5),
    goodness=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    separation=st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]),
    data=st.data(),
)
def test_the_list_is_that_of_brute_force(b, min_leaf, goodness, separation, data):
    known = data.draw(st.lists(st.integers(0, len(b.y) - 1), unique=True, min_size=1))
    check_good(b, np.sort(known), min_leaf, goodness, separation)


@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 90)], ids=["numerical", "mixed"])
@pytest.mark.parametrize("distinct", [None, 2])
def test_longer_lists_are_those_of_brute_force(n_categories, distinct):
    b = oracles.random_block(200, n_categories=n_categories, distinct=distinct)
    b = b._replace(weights=np.ones_like(b.weights))
    assert check_good(b, np.arange(200), 3, 0.3, 0.1) > 3
    assert check_good(b, np.arange(50, 150), 1, 0.05, 0.3) > 0


def test_without_goodness_only_equals_of_the_best_are_kept():
    y = np.array([0, 0, 0, 1, 1, 2])
    X = np.c_[y == 0, y == 2, y == 0, [0, 0, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]]
    cuts = good(oracles.block(X, y), goodness=0)
    assert [cut.feature for cut in cuts] == [0, 1, 2]
    assert ratios(cuts) == pytest.approx([1, 1, 1])
    b = oracles.random_block(80, n_categories=(0, 4, 0))
    (cut,) = good(b, goodness=0)
    assert cut.gain_ratio == max(ratios(good(b, goodness=1)))


@given(b=oracles.blocks(categories=(0, 3)).map(tame))
def test_records_in_another_order_have_the_same_good_cuts(b):
    order = np.random.default_rng(0).permutation(len(b.y))
    mine, others = good(b), good(b, order)
    assert ratios(mine) == ratios(others)
    assert [cut.left(b.X).tolist() for cut in mine] == [cut.left(b.X).tolist() for cut in others]


# --- trees

GROWTH = GrowthParams(max_features=1)
TREE_ARRAYS = ("nodes", "category_bits", "row_start", "row_class", "row_weight", "row_scale", "importance")


def same_tree(a, b, arrays=TREE_ARRAYS):
    return all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in arrays)


def build(b, n=10, *, n_jobs=1, places=None, known=None, seeds=None, **params):
    """Build a forest; params may have goodness and separation as well."""
    rules = {name: params.pop(name) for name in ("goodness", "separation") if name in params}
    grower = SysForGrower(GrowthParams(max_features=1, **params), **rules)
    records = b.records
    known = everyone(records) if known is None else np.asarray(known, dtype=np.int32)
    return grower.build(records, known, list(range(n)) if seeds is None else seeds, n_jobs, places)


def asks(tree, node, cut):
    """Return whether a node of a tree is the given cut."""
    split = int(tree.nodes["split"][node])
    if split < 0 or split >> 2 != cut.feature or bool(split & oracles.MISSING_LEFT) != cut.missing_left:
        return False
    if not isinstance(cut.value, np.ndarray):
        return not split & oracles.CATEGORICAL and tree.nodes["threshold"][node] == cut.value
    one = tree.nodes[node].item()
    sides = [oracles.goes_left(one, tree.category_bits, float(k)) for k in range(len(cut.value) + 70)]
    return bool(split & oracles.CATEGORICAL) and sides == cut.value.tolist() + [cut.missing_left] * 70


def shape(b, tree, records, at=0):
    """Return a subtree as nested tuples, by the records that reach its leaves: to compare it wherever it stands."""
    split = int(tree.nodes["split"][at])
    if split < 0:
        return frozenset(records.tolist())
    one = tree.nodes[at].item()
    left = np.array(
        [oracles.goes_left(one, tree.category_bits, value) for value in b.X[records, split >> 2].tolist()], dtype=bool
    )
    return (split, shape(b, tree, records[left], one[1]), shape(b, tree, records[~left], one[1] + 1))


def check_c45_below(b, tree, node, part, **params):
    """Check that a pruned C4.5 tree of the part stands at a node."""
    lone, _ = oracles.grow_c45(b, part, prune_confidence=0.25, **params)
    assert shape(b, tree, part, node) == shape(b, lone, part)


def check_built(b, grown, known=None):
    """Check what is true of any tree: leaves hold the records that reach them, each once."""
    tree = grown.tree
    known = np.arange(len(b.y)) if known is None else known
    assert set(oracles.depths(tree.nodes)) == set(range(len(tree.nodes)))
    routed = oracles.route(tree.nodes, tree.category_bits, b.X)
    np.testing.assert_array_equal(grown.leaf_of[known], routed[known])
    assert (np.delete(grown.leaf_of, known) == -1).all()
    assert oracles.rows_of(tree) == oracles.tally(grown.leaf_of[known], b.y[known], np.ones(len(known)))


def check_forest(b, forest, known=None, *, goodness=0.3, separation=0.3, **params):
    """Check every tree against the plan of the forest; return how many have cuts at level two."""
    b = b._replace(weights=np.ones_like(b.weights))
    known = np.arange(len(b.y)) if known is None else known
    min_leaf = params.get("min_samples_leaf", 1)

    def list_good(part):
        return good(b, part, min_leaf=min_leaf, goodness=goodness, separation=separation)

    roots = list_good(known)
    plans = [(root,) for root in roots]
    for root in roots:
        parts = [known[root.left(b.X[known]) == side] for side in (True, False)]
        below = [list_good(part) for part in parts]
        mean = sum(len(part) * len(cuts) for part, cuts in zip(parts, below, strict=True)) / len(known)
        plans += [
            (root, *(cuts[x] if x < len(cuts) else next(iter(cuts), None) for cuts in below))
            for x in range(round(mean))
        ]
    for grown, (root, *below) in zip(forest, plans, strict=False):
        check_built(b, grown, known)
        assert asks(grown.tree, 0, root)
        first = int(grown.tree.nodes["left"][0])
        for side, cut in enumerate(below or (None, None)):
            part = known[root.left(b.X[known]) != bool(side)]
            if cut is None:
                check_c45_below(b, grown.tree, first + side, part, **params)
                continue
            assert asks(grown.tree, first + side, cut)
            second = int(grown.tree.nodes["left"][first + side])
            left = cut.left(b.X[part])
            check_c45_below(b, grown.tree, second, part[left], **params)
            check_c45_below(b, grown.tree, second + 1, part[~left], **params)
    assert len(forest) <= max(len(plans), 1)
    return len(plans), len(roots)


def test_one_cut_that_says_everything_is_a_forest_of_one_tree():
    # No other attribute is good, and there is nothing to cut below.
    (grown,) = build(oracles.block([1, 2, 8, 9], [0, 0, 1, 1]), 10)
    assert grown.tree.nodes["threshold"][0] == 5
    assert oracles.rows_of(grown.tree) == {1: {0: 2}, 2: {1: 2}}
    assert grown.leaf_of.tolist() == [1, 1, 2, 2]
    assert grown.tree.depth == 1


@pytest.mark.parametrize("n", [1, 5])
def test_where_there_is_nothing_to_cut_one_tree_of_one_leaf(n):
    for b in (oracles.block(np.arange(n), np.zeros(n)), oracles.block(np.zeros(n), np.arange(n))):
        (grown,) = build(b, 10)
        assert len(grown.tree.nodes) == 1
        assert oracles.rows_of(grown.tree) == {0: oracles.tally(np.zeros(n), b.y, np.ones(n))[0]}
        assert (grown.leaf_of == 0).all()


def test_nothing_known_makes_one_empty_leaf():
    (grown,) = build(oracles.random_block(20, n_categories=(0, 3)), known=[])
    assert len(grown.tree.nodes) == 1
    assert oracles.rows_of(grown.tree) == {}
    assert (grown.leaf_of == -1).all()


def test_each_of_three_equal_attributes_has_a_tree():
    y = np.array([0, 0, 1, 1])
    b = oracles.block(np.c_[y, y, 1 - y], y)
    forest = build(b, 10)
    assert [grown.tree.nodes["split"][0] >> 2 for grown in forest] == [0, 1, 2]
    assert all(len(grown.tree.nodes) == 3 for grown in forest)
    assert len(build(b, 2)) == 2


def test_a_root_is_used_again_with_what_is_good_in_its_parts():
    # Class 0 or {1, 2} by column 0; of the latter, columns 1 and 2 both say which. Three roots would be no good:
    # column 0 alone has a ratio of 1, of the others H(1/4)-like 0.38.
    y = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    X = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 0, 1, 1], [1, 0, 1, 0, 0, 0, 1, 1]]).T
    b = oracles.block(X, y)
    assert [cut.feature for cut in good(b)] == [0]
    # The left part is pure: no good cut. The right one has two. 4 × 0 + 4 × 2 of 8 is a mean of 1 further tree.
    forest = build(b, 10)
    assert len(forest) == 2
    assert check_forest(b, forest) == (2, 1)
    level_two = forest[1].tree
    assert level_two.nodes["split"][1] < 0
    assert level_two.nodes["split"][2] >> 2 == 1
    assert sorted(oracles.rows_of(level_two).values(), key=min) == [{0: 4}, {1: 2}, {2: 2}]


@given(b=oracles.blocks(max_features=3, max_classes=3).map(tame), min_leaf=st.integers(1, 3), n=st.integers(1, 12))
def test_trees_are_planned_by_good_cuts_and_grown_by_c45(b, min_leaf, n):
    forest = build(b, n, min_samples_leaf=min_leaf)
    n_plans, _ = check_forest(b, forest, min_samples_leaf=min_leaf)
    assert len(forest) == min(n, max(n_plans, 1))


@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 90)], ids=["numerical", "mixed"])
@pytest.mark.parametrize("n", [60, 300, 700])
def test_larger_forests_go_by_the_same_plan(n, n_categories):
    # So few distinct values that it does not matter which records they are coded with.
    b = oracles.random_block(n, n_categories=n_categories, distinct=20)
    forest = build(b, 30, min_samples_leaf=3)
    n_plans, n_roots = check_forest(b, forest, min_samples_leaf=3)
    assert n_roots < len(forest) == min(30, n_plans)
    known = np.flatnonzero(np.arange(n) % 3 > 0)
    check_forest(b, build(b, 8, known=known, min_samples_leaf=3), known, min_samples_leaf=3)


def test_goodness_and_separation_reach_the_list():
    b = oracles.random_block(150, distinct=20)
    rules = {"goodness": 0.9, "separation": 0.05, "min_samples_leaf": 5}
    forest = build(b, 60, **rules)
    _, many = check_forest(b, forest, **rules)
    rules = {"goodness": 0.05, "separation": 0.6, "min_samples_leaf": 5}
    _, few = check_forest(b, build(b, 60, **rules), **rules)
    assert few < many


def test_a_place_has_the_tree_of_a_full_build():
    b = oracles.random_block(200, n_categories=(0, 6, 0))
    forest = build(b, 40, min_samples_leaf=5)
    last = len(forest) - 1
    places = [last, 0, 1]
    assert last > 1
    chosen = build(b, places=places, seeds=[7, 8, 9], min_samples_leaf=5)
    for grown, place in zip(chosen, places, strict=True):
        assert same_tree(grown.tree, forest[place].tree)
        np.testing.assert_array_equal(grown.leaf_of, forest[place].leaf_of)
    assert [grown.tree.seed for grown in chosen] == [7, 8, 9]
    assert build(b, places=[], seeds=[]) == []


def test_a_place_the_data_do_not_offer_has_no_tree():
    b = oracles.block([1, 2, 8, 9], [0, 0, 1, 1])
    assert build(b, places=[1, 5], seeds=[1, 2]) == []
    assert len(build(b, places=[0, 5], seeds=[1, 2])) == 1


@pytest.mark.parametrize("n", [100, 900])
def test_neither_threads_nor_seeds_change_a_tree(n):
    b = oracles.random_block(n, n_categories=(0, 6, 0, 40), n_classes=5)
    alone, together = build(b, 12), build(b, 12, n_jobs=4)
    other = build(b, seeds=[2**64 - 1 - i for i in range(12)])
    assert len(alone) > 3
    for one, four, seeded in zip(alone, together, other, strict=True):
        assert same_tree(one.tree, four.tree)
        assert same_tree(one.tree, seeded.tree)
        np.testing.assert_array_equal(one.leaf_of, four.leaf_of)
        assert one.tree.seed == four.tree.seed


@pytest.mark.parametrize("share", [1, 3], ids=["a few known", "most known"])
def test_records_not_known_count_for_nothing(share):
    b = oracles.random_block(300, n_categories=(0, 6, 0), distinct=20)
    known = np.flatnonzero(np.arange(300) % 4 < share)
    alone = oracles.block(b.X[known], b.y[known], n_categories=b.n_categories, n_classes=b.n_classes)
    for some, lone in zip(build(b, 8, known=known), build(alone, 8), strict=True):
        check_built(b, some, known)
        assert shape(b, some.tree, known) == shape(b, lone.tree, known)
        np.testing.assert_array_equal(lone.leaf_of, oracles.route(lone.tree.nodes, lone.tree.category_bits, b.X[known]))


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_depth_and_leaf_size_reach_all_levels(max_depth):
    b = oracles.random_block(200, n_categories=(0, 6, 0))
    forest = build(b, 20, max_depth=max_depth, min_samples_leaf=6)
    assert max(grown.tree.depth for grown in forest) <= max_depth
    for grown in forest:
        assert np.unique(grown.leaf_of, return_counts=True)[1].min() >= 6


@pytest.mark.parametrize("n", [60, 400])
def test_importance_is_the_gain_of_all_cuts_the_planned_ones_too(n):
    b = oracles.random_block(n, n_categories=(0, 6, 0))
    for grown in build(b, 12, min_samples_leaf=4):
        tree = grown.tree
        passing = oracles.records_at(tree.nodes, tree.category_bits, b.X, range(n))
        gains = np.zeros(3)
        for node in np.flatnonzero(tree.nodes["split"] >= 0):
            here = np.array(passing[node])
            left = np.isin(here, passing[int(tree.nodes["left"][node])])
            gains[tree.nodes["split"][node] >> 2] += oracles.gain(b.y[here], np.ones(len(here)), left)
        np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


def test_a_repair_counts_every_record_once_and_leaves_none_out():
    grower = SysForGrower(GROWTH)
    (grown,) = build(oracles.block([1, 2], [0, 1]))
    assert grower.weights(np.arange(5), 3).tolist() == [1] * 5
    assert grower.out_of_bag(np.arange(5), grown.tree).tolist() == [False] * 5


def test_leaves_expand_by_pruned_c45():
    b = oracles.random_block(200)
    b = b._replace(weights=np.ones_like(b.weights))
    grower = SysForGrower(GrowthParams(max_features=1, min_samples_leaf=2))
    stump = TreeEditor(oracles.tree_of(b, max_depth=1)[0])
    leaf_of = oracles.route(stump.nodes, stump.finish().category_bits, b.X)
    group = np.flatnonzero(leaf_of == 2).astype(np.int32)
    ones = np.ones(len(group), dtype=np.uint8)
    starts, node = np.array([0, len(group)]), np.array([2], dtype=np.int32)
    grower.expand(stump, b.records, ones, group, starts, node, leaf_of, 9)
    tree = stump.finish()
    np.testing.assert_array_equal(tree.route(b.X), leaf_of)
    check_c45_below(b, tree, 2, group, min_samples_leaf=2)
    assert len(tree.nodes) > 3


def test_a_grower_that_has_built_can_be_pickled():
    grower = SysForGrower(GROWTH, goodness=0.1)
    b = oracles.random_block(50)
    before = grower.build(b.records, everyone(b.records), [1, 2], 1)
    copy = pickle.loads(pickle.dumps(grower))
    assert copy == grower
    after = copy.build(b.records, everyone(b.records), [1, 2], 1)
    assert all(same_tree(x.tree, y.tree) for x, y in zip(before, after, strict=True))


def test_a_good_cut_sends_records_where_it_says():
    X = np.array([[1.0, 2.0], [5.0, np.nan], [np.nan, 0.0]])
    assert GoodCut(0, 1.0, False, 1.0, 1.0).left(X).tolist() == [True, False, False]
    assert GoodCut(0, 1.0, True, 1.0, 1.0).left(X).tolist() == [True, False, True]
    assert GoodCut(1, np.array([False, True, True]), False, 1.0, 1.0).left(X).tolist() == [True, False, False]
    assert GoodCut(1, np.array([True, True, False]), True, 1.0, 1.0).left(X).tolist() == [False, True, True]


# --- the classifier


@parametrize_with_checks(
    [
        AdaptiveDecisionForestClassifier(base_forest="sysfor"),
        PaperADFClassifier(base_forest="sysfor", reading="text"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def sysfor(**changes):
    return AdaptiveDecisionForestClassifier(**{"base_forest": "sysfor", "random_state": 0} | changes)


def clusters(seed, classes=(0, 1), n=60):
    """Return one tight cluster a class, 10 apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 2)) + 10 * y[:, None], y


def batches():
    """Return batches of a stream in which classes appear, and turn round for some time."""
    kinds = [(0, 1), (0, 1, 2), (2, 3), (0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3), (0, 3)]
    stream = [clusters(number, classes, 90) for number, classes in enumerate(kinds)]
    rng = np.random.default_rng(0)
    return [
        (np.where(rng.random(X.shape) < 0.05, np.nan, X), 3 - y if 3 <= i <= 5 else y)
        for i, (X, y) in enumerate(stream)
    ]


def learnt(**changes):
    model = sysfor(**changes)
    for X, y in batches():
        model.partial_fit(X, y)
    return model


def test_new_classes_in_any_batch():
    model = sysfor()
    for number, classes in enumerate([(3,), (1, 3), (0,), (2, 4), (0, 1, 2, 3, 4)]):
        model.partial_fit(*clusters(number, classes))
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.score(*clusters(9, (0, 1, 2, 3, 4))) > 0.9


def test_a_class_a_batch_and_all_of_them_known_in_the_end():
    model = sysfor()
    for klass in range(8):
        model.partial_fit(*clusters(klass, (klass,)))
    assert model.score(*clusters(99, tuple(range(8)), 400)) > 0.9


def test_new_categories_and_missing_values_in_any_batch():
    colours = ["red", "green", "blue", "white", "black"]
    model = sysfor()
    rng = np.random.default_rng(0)
    for number in range(4):
        y = rng.integers(0, number + 2, 80)
        frame = pd.DataFrame({"colour": np.array(colours, dtype=object)[y], "size": rng.normal(size=80)})
        frame.loc[rng.random(80) < 0.1, "size"] = np.nan
        frame.loc[5, "colour"] = None
        model.partial_fit(frame, y)
    asked = pd.DataFrame({"colour": [*colours, "pink", None], "size": 0.0})
    assert model.predict(asked)[:5].tolist() == [0, 1, 2, 3, 4]
    assert model.predict_proba(asked).sum(axis=1) == pytest.approx(np.ones(7))


def test_columns_that_say_nothing_do_no_harm():
    X, y = clusters(0)
    X = np.c_[X, np.full(60, np.nan), np.ones(60)]
    model = sysfor().fit(X, y).partial_fit(X, y)
    assert model.score(X, y) == 1
    assert model.predict(np.full((1, 4), np.nan)).shape == (1,)


def test_a_forest_has_fewer_trees_where_the_data_offer_no_more():
    model = sysfor(n_estimators=10).fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    assert len(model.permanent_forest_) == 1
    model.partial_fit([[1.5], [8.5]], ["a", "b"])
    assert model.predict([[0.0], [10.0]]).tolist() == ["a", "b"]
    pure = sysfor().fit([[1.0], [2.0]], ["a", "a"]).partial_fit([[50.0], [51.0]], ["b", "b"])
    assert pure.predict([[1.0], [50.0]]).tolist() == ["a", "b"]


def test_drift_builds_temporary_forests_and_one_takes_over_where_it_lasts():
    model = learnt()
    assert {report.drift for report in model.history_} > {"none"}
    assert any("built" in report.action.get("temporary", "") for report in model.history_)
    model = sysfor()
    for number in range(8):
        X, y = clusters(number)
        model.partial_fit(X, 1 - y if number > 1 else y)
    assert "sustained" in {report.drift for report in model.history_}
    X, y = clusters(50)
    assert model.score(X, 1 - y) > 0.9


@pytest.mark.parametrize("renewal", [0, 2])
def test_random_state_has_no_influence(renewal):
    X = np.concatenate([X for X, _ in batches()])
    answers = [learnt(random_state=seed, renewal=renewal).predict_proba(X) for seed in (0, 1, None)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_threads_have_no_influence():
    X = np.concatenate([X for X, _ in batches()])
    one, four = (learnt(n_jobs=n_jobs, renewal=2) for n_jobs in (1, 4))
    np.testing.assert_array_equal(one.predict_proba(X), four.predict_proba(X))
    trees = zip(one.permanent_forest_.trees, four.permanent_forest_.trees, strict=True)
    assert all(same_tree(a, b) for a, b in trees)


@pytest.mark.parametrize(
    "changes", [{}, {"memory_size": 0}, {"memory_size": 30}, {"splitting": "sat"}, {"max_depth": 2}]
)
def test_after_every_batch_records_are_in_the_leaves_they_reach(changes):
    model = sysfor(**changes)
    for X, y in batches():
        model.partial_fit(X, y)
        memory = model._model.state.state.memory
        for forest in (model.permanent_forest_, model.active_forest_, model.temporary_forest_):
            for tree in forest.trees if forest else ():
                assert tree.n_leaves == (tree.nodes["split"] < 0).sum()
            is_repaired = forest is not model.temporary_forest_
            for tree, leaf_of in zip(forest.trees, forest.leaf_of, strict=True) if forest and is_repaired else ():
                placed = leaf_of >= 0
                np.testing.assert_array_equal(leaf_of[placed], tree.route(memory.X[placed]))


def test_a_place_is_renewed_by_its_own_tree_or_not_at_all():
    # At first three attributes are the class itself; from the second batch on the third is noise, and the data offer
    # two trees. With three trees and two renewed a batch, it is the turn of places 2 and 0 at the fourth.
    rng = np.random.default_rng(0)
    model = sysfor(n_estimators=3, renewal=2)
    for number in range(4):
        y = np.arange(60) % 2
        X = np.c_[y, y, y if number == 0 else rng.integers(0, 2, 60)].astype(float)
        model.partial_fit(X, y)
    assert [tree.nodes["split"][0] >> 2 for tree in model.permanent_forest_.trees] == [0, 1, 2]


def test_the_attribute_that_decides_is_the_important_one():
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = sysfor(n_estimators=1).fit(X, X[:, 2] > 0)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[2] > 0.95


def test_a_pickle_answers_and_goes_on_learning_like_the_original():
    model = learnt()
    copy = pickle.loads(pickle.dumps(model))
    X, y = clusters(77, (0, 1, 2))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    for one in (copy, model):
        one.partial_fit(X, y)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("load", [load_iris, load_wine], ids=lambda load: load.__name__)
def test_a_forest_is_as_accurate_as_a_tree_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    ours, theirs = [], []
    for split in range(4):
        X_old, X_new, y_old, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=split)
        ours.append(sysfor().fit(X_old, y_old).score(X_new, y_new))
        tree = DecisionTreeClassifier(criterion="entropy", random_state=split)
        theirs.append(tree.fit(X_old, y_old).score(X_new, y_new))
    assert np.mean(ours) > np.mean(theirs) - 0.02


def test_records_are_taken_as_growers_take_them():
    b = oracles.random_block(40)
    records = Records(b.X, b.y, np.arange(40) + 10**12, b.n_categories, b.n_classes)
    grown = SysForGrower(GROWTH).build(records, everyone(records), [1, 2], None)
    assert all(same_tree(one.tree, other.tree) for one, other in zip(grown, build(b, 2), strict=True))
