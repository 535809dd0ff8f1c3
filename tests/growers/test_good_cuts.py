"""SysFor's good cuts: which they are, and in which order they come."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.growers.sysfor import GoodCut
from sysfor_oracles import good, tame

NOTHING = 1e-9  # a gain ratio that is but rounding


def ratios(cuts):
    return [cut.gain_ratio for cut in cuts]


# --- by hand


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


def test_only_the_samples_known_are_looked_at():
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
    # Their price is (1 + 3/7) log2(3 / 2) = 0.836 bits, 0.119 a sample.
    #   {0} | {2, 1}: gain H(3/7) - 5/7 H(1/5) = 0.470, said in H(2/7) = 0.863: ratio (0.470 - 0.119) / 0.863 = 0.406
    #   {0, 2} | {1}: gain H(3/7) - 5/7 H(2/5) = 0.292, said in the same:       ratio (0.292 - 0.119) / 0.863 = 0.199
    b = oracles.block([0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 0, 1, 1], n_categories=[4])
    (cut,) = good(b)
    assert cut.gain_ratio == pytest.approx(0.4057, abs=1e-4)
    assert cut.value.tolist() == [True, False, False, False]
    assert not cut.missing_left
    assert good(b, min_leaf=3) == []
    # The numbers of the classes do not matter; three more samples a of category 0 turn the order round: 1, 2, 0.
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


def test_pure_samples_have_no_good_cut():
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


def test_no_samples_have_no_good_cut():
    b = oracles.random_block(10, n_categories=(0, 3))
    assert good(b, []) == []
    assert good(b, [4]) == []


@given(
    proba=st.lists(st.integers(1, 6), min_size=2, max_size=4),
    times=st.lists(st.integers(1, 5), min_size=2, max_size=4),
    categorical=st.booleans(),
)
def test_rounding_is_not_gain(proba, times, categorical):
    # Every value of the attribute has the same class proba.
    values, y = np.divmod(np.arange(len(times) * len(proba)), len(proba))
    weights = np.outer(times, proba).ravel()
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


def test_a_good_cut_sends_samples_where_it_says():
    X = np.array([[1.0, 2.0], [5.0, np.nan], [np.nan, 0.0]])
    assert GoodCut(0, 1.0, False, 1.0, 1.0).left(X).tolist() == [True, False, False]
    assert GoodCut(0, 1.0, True, 1.0, 1.0).left(X).tolist() == [True, False, True]
    assert GoodCut(1, np.array([False, True, True]), False, 1.0, 1.0).left(X).tolist() == [True, False, False]
    assert GoodCut(1, np.array([True, True, False]), True, 1.0, 1.0).left(X).tolist() == [False, True, True]


# --- by brute force


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
        price = oracles.subset_price(column) if b.n_categories[cut.feature] else 0.0
        assert cut.gain_ratio == pytest.approx(oracles.gain_ratio(y, ones, left, price))
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
def test_samples_in_another_order_have_the_same_good_cuts(b):
    order = np.random.default_rng(0).permutation(len(b.y))
    mine, others = good(b), good(b, order)
    assert ratios(mine) == ratios(others)
    assert [cut.left(b.X).tolist() for cut in mine] == [cut.left(b.X).tolist() for cut in others]
