"""The cut at a root is worth what exhaustive search finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest._kernels.growing import xlogx_table
from grown_trees import SHARED


def cut_of(values, classes, weights, n_classes=None, *, binned=False, **limits):
    """Return which samples a tree of one cut sends left, or None where it has no cut."""
    b = oracles.block(values, classes, weights=weights, n_classes=n_classes)
    tree = oracles.grow_tree(b, max_depth=1, binned=binned, **limits)
    return tree.leaf_of == tree.nodes["left"][0] if len(tree.nodes) > 1 else None


def check_cut(values, classes, weights, n_classes=None, *, min_leaf=1, gini=False, binned=False):
    criterion, impurity = ("gini", oracles.gini) if gini else ("entropy", oracles.bits)
    left = cut_of(values, classes, weights, n_classes, min_leaf=min_leaf, criterion=criterion, binned=binned)
    expected = oracles.best_gain(values, classes, weights, min_leaf, impurity)
    if expected is None or len(set(classes)) == 1:
        assert left is None
        return
    assert oracles.gain(classes, weights, left, impurity) == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert min(left.sum(), (~left).sum()) >= min_leaf
    is_missing = np.isnan(values)
    assert len(set(left[is_missing])) <= 1
    assert max(values[left & ~is_missing], default=-1) < min(values[~left & ~is_missing], default=np.inf)


@st.composite
def nodes(draw, samples, values, classes, missing=True):
    """Draw the values, classes, weights and number of classes of a node's samples."""
    n, n_values, n_classes = (draw(st.integers(*limits)) for limits in (samples, values, classes))
    drawn = draw(st.lists(st.integers(0, n_values if missing else n_values - 1), min_size=n, max_size=n))
    return (
        np.where(np.array(drawn) == n_values, np.nan, drawn),
        draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)),
        draw(st.lists(st.integers(1, 255), min_size=n, max_size=n)),
        n_classes,
    )


# Counted by (code, class) where samples are at least twice as many as such pairs; else sorted.
SEARCHES = {
    "histogram": {"samples": (24, 70), "values": (1, 3), "classes": (1, 3)},
    "few samples": {"samples": (1, 40), "values": (1, 60), "classes": (2, 9)},
    "many codes": {"samples": (41, 70), "values": (30, 300), "classes": (2, 40)},
}


BOTH = pytest.mark.parametrize("gini", [False, True], ids=["entropy", "gini"])


@SHARED
@BOTH
@pytest.mark.parametrize("missing", [True, False], ids=["missing", "complete"])
@pytest.mark.parametrize("search", SEARCHES)
def test_the_cut_is_worth_as_much_as_exhaustive_search(search, missing, gini, binned):
    @given(node=nodes(**SEARCHES[search], missing=missing), min_leaf=st.integers(1, 6))
    def check(node, min_leaf):
        check_cut(*node, min_leaf=min_leaf, gini=gini, binned=binned)

    check()


@SHARED
@pytest.mark.parametrize("value", [0.0, 7.0, np.nan])
@pytest.mark.parametrize("n", [1, 3, 100])
def test_a_constant_attribute_has_no_cut(value, n, binned):
    assert cut_of([value] * n, [k % 2 for k in range(n)], [1] * n, 2, binned=binned) is None


@pytest.mark.parametrize("n", [6, 60])
def test_known_values_part_from_missing_ones(n):
    missing = np.arange(n) % 3 == 0
    left = cut_of(np.where(missing, np.nan, 0.0), missing, np.ones(n))
    np.testing.assert_array_equal(left, ~missing)


@pytest.mark.parametrize("n", [6, 60])
def test_missing_values_join_the_side_they_resemble(n):
    codes = np.arange(n) % 3
    values = np.where(codes == 2, np.nan, codes)
    np.testing.assert_array_equal(cut_of(values, codes >= 1, np.ones(n)), codes == 0)
    np.testing.assert_array_equal(cut_of(values, codes == 1, np.ones(n)), codes != 1)


@pytest.mark.parametrize("n", [10, 100])
def test_min_leaf_counts_samples_and_not_their_weight(n):
    codes = np.zeros(n, dtype=int)
    codes[0] = 1
    weights = np.ones(n)
    weights[0] = 255
    assert cut_of(codes, codes, weights, min_leaf=1) is not None
    assert cut_of(codes, codes, weights, min_leaf=2) is None
    assert cut_of(codes, codes, weights, min_leaf=n) is None


@SHARED
@BOTH
@pytest.mark.parametrize("n_values", [4, 250])
@pytest.mark.parametrize("weight", [200, 255])
def test_weights_beyond_the_table_of_logarithms(weight, n_values, gini, binned):
    rng = np.random.default_rng(0)
    codes = rng.integers(n_values + 1, size=1000)
    classes = (codes > n_values // 2) ^ (rng.random(1000) < 0.2)
    weights = rng.integers(weight, 256, size=1000)
    assert weights.sum() > 2 * len(xlogx_table())
    values = np.where(codes == n_values, np.nan, codes)
    check_cut(values, classes, weights, min_leaf=5, gini=gini, binned=binned)


def test_the_table_holds_x_log_x():
    table = xlogx_table()
    x = np.arange(1, len(table), 97)
    assert len(table) == 65_536
    assert table[0] == 0
    np.testing.assert_allclose(table[x], x * np.log2(x), rtol=1e-12)


@SHARED
@BOTH
@pytest.mark.parametrize("min_leaf", [1, 3])
def test_a_thousand_classes(min_leaf, gini, binned):
    rng = np.random.default_rng(0)
    values, classes = rng.integers(30, size=3000).astype(float), rng.integers(1000, size=3000)
    check_cut(values, classes, rng.integers(1, 256, size=3000), 1000, min_leaf=min_leaf, gini=gini, binned=binned)
