"""The best cut of one attribute is worth what exhaustive search finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest._kernels.splitting import best_cut, xlogx_table


def cut_of(codes, classes, weights, n_codes, n_classes, min_leaf=1, gini=False):
    return best_cut(
        np.asarray(codes, dtype=np.uint16),
        np.asarray(classes, dtype=np.int32),
        np.asarray(weights, dtype=np.uint16),
        n_codes,
        n_classes,
        min_leaf,
        gini,
    )


def as_values(codes, n_codes):
    codes = np.asarray(codes, dtype=np.float64)
    return np.where(codes == n_codes, np.nan, codes)


def check_cut(codes, classes, weights, n_codes, n_classes, min_leaf=1, gini=False):
    codes = np.asarray(codes)
    values = as_values(codes, n_codes)
    found = cut_of(codes, classes, weights, n_codes, n_classes, min_leaf, gini)
    impurity = oracles.gini if gini else oracles.bits
    expected = oracles.best_gain(values, classes, weights, min_leaf, impurity)
    if expected is None:
        assert found is None
        return
    gain, low, high, missing_left = found
    assert gain == pytest.approx(expected, rel=1e-9, abs=1e-6)
    left = np.where(codes == n_codes, missing_left, codes <= low)
    assert gain == pytest.approx(oracles.gain(classes, weights, left, impurity), rel=1e-9, abs=1e-6)
    assert min(left.sum(), (~left).sum()) >= min_leaf
    assert low in codes
    assert high in codes
    assert not ((codes > low) & (codes < high)).any()


@st.composite
def coded_nodes(draw, samples, codes, classes, missing=True):
    n = draw(st.integers(*samples))
    n_codes = draw(st.integers(*codes))
    n_classes = draw(st.integers(*classes))
    drawn = st.lists(st.integers(0, n_codes if missing else n_codes - 1), min_size=n, max_size=n)
    return (
        draw(drawn),
        draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)),
        draw(st.lists(st.integers(1, 255), min_size=n, max_size=n)),
        n_codes,
        n_classes,
    )


# Counted by (code, class) where samples are at least twice as many as such pairs; else sorted.
WAYS = {
    "histogram": {"samples": (24, 70), "codes": (1, 3), "classes": (1, 3)},
    "few samples": {"samples": (1, 40), "codes": (1, 60), "classes": (2, 9)},
    "many codes": {"samples": (41, 70), "codes": (30, 300), "classes": (2, 40)},
}


BOTH = pytest.mark.parametrize("gini", [False, True], ids=["entropy", "gini"])


@BOTH
@pytest.mark.parametrize("missing", [True, False], ids=["missing", "complete"])
@pytest.mark.parametrize("way", WAYS)
def test_best_cut_is_worth_as_much_as_exhaustive_search(way, missing, gini):
    @given(node=coded_nodes(**WAYS[way], missing=missing), min_leaf=st.integers(1, 6))
    def check(node, min_leaf):
        check_cut(*node, min_leaf, gini)

    check()


@given(
    codes=st.lists(st.sampled_from([0, 1, 5, 9]), min_size=1, max_size=60),
    classes=st.lists(st.integers(0, 1), min_size=60, max_size=60),
)
def test_codes_that_nobody_has_lie_within_a_cut(codes, classes):
    check_cut(codes, classes[: len(codes)], [1] * len(codes), 9, 2)


@pytest.mark.parametrize(
    ("codes", "n_codes"),
    [([0], 1), ([1], 1), ([2, 2, 2], 4), ([4, 4, 4], 4), ([0] * 100, 1), ([7] * 100, 7), ([0] * 100, 300)],
)
def test_a_constant_attribute_has_no_cut(codes, n_codes):
    assert cut_of(codes, [k % 2 for k in range(len(codes))], [1] * len(codes), n_codes, 2) is None


@pytest.mark.parametrize("n", [2, 100])
def test_one_class_gains_nothing_however_it_is_cut(n):
    gain, low, high, _ = cut_of(np.arange(n) % 2, np.zeros(n), np.full(n, 3), 2, 1)
    assert gain == pytest.approx(0, abs=1e-9)
    assert (low, high) == (0, 1)


@pytest.mark.parametrize("n", [6, 60])
def test_known_values_part_from_missing_ones(n):
    missing = np.arange(n) % 3 == 0
    gain, low, high, missing_left = cut_of(np.where(missing, 1, 0), missing, np.ones(n), 1, 2)
    assert gain == pytest.approx(oracles.bits(missing, np.ones(n)))
    assert (low, high, missing_left) == (0, 1, False)


@pytest.mark.parametrize("n", [6, 60])
def test_missing_values_join_the_side_they_resemble(n):
    codes = np.arange(n) % 3
    assert cut_of(codes, codes >= 1, np.ones(n), 2, 2)[1:] == (0, 1, False)
    assert cut_of(codes, codes == 1, np.ones(n), 2, 2)[1:] == (0, 1, True)


@pytest.mark.parametrize("n", [10, 100])
def test_min_leaf_counts_samples_and_not_their_weight(n):
    codes = np.zeros(n, dtype=int)
    codes[0] = 1
    weights = np.ones(n)
    weights[0] = 255
    assert cut_of(codes, codes, weights, 2, 2, min_leaf=1) is not None
    assert cut_of(codes, codes, weights, 2, 2, min_leaf=2) is None
    assert cut_of(codes, codes, weights, 2, 2, min_leaf=n) is None


@BOTH
@pytest.mark.parametrize("n_codes", [4, 400])
@pytest.mark.parametrize("weight", [200, 255])
def test_weights_beyond_the_table_of_logarithms(weight, n_codes, gini):
    rng = np.random.default_rng(0)
    codes = rng.integers(n_codes + 1, size=1000)
    classes = (codes > n_codes // 2) ^ (rng.random(1000) < 0.2)
    weights = rng.integers(weight, 256, size=1000)
    assert weights.sum() > 2 * len(xlogx_table())
    check_cut(codes, classes, weights, n_codes, 2, min_leaf=5, gini=gini)


def test_the_table_holds_x_log_x():
    table = xlogx_table()
    x = np.arange(1, len(table), 97)
    assert len(table) == 65_536
    assert table[0] == 0
    np.testing.assert_allclose(table[x], x * np.log2(x), rtol=1e-12)


@BOTH
@pytest.mark.parametrize("min_leaf", [1, 3])
def test_a_thousand_classes(min_leaf, gini):
    rng = np.random.default_rng(0)
    codes, classes = rng.integers(30, size=3000), rng.integers(1000, size=3000)
    check_cut(codes, classes, rng.integers(1, 256, size=3000), 30, 1000, min_leaf, gini)
