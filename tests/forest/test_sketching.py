"""Counting values in cells, against counting them one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adforest.forest._kernels.sketching import count_cells
from oracles import sketching

VALUES = st.sampled_from([np.nan, -1e300, -2.0, -0.0, 0.0, 1.0, 2.0, 3.0, 4.5, 7.0, 1e300])


@st.composite
def sketched(draw):
    n, m = draw(st.integers(0, 12)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, m), elements=VALUES))
    n_categories = draw(arrays(np.int32, m, elements=st.sampled_from([0, 0, 8])))
    X[:, n_categories > 0] = np.abs(np.floor(X[:, n_categories > 0])) % 8
    bounds = np.full((m, 15), np.inf)
    for row in bounds:
        found = sorted(draw(st.sets(st.sampled_from([-3.0, -2.0, 0.0, 1.0, 2.0, 3.0, 5.0, 7.0]))))
        row[: len(found)] = found
    rows = np.array(draw(st.lists(st.integers(0, n - 1), max_size=20)) if n else [], dtype=np.int64)
    n_known = draw(arrays(np.int32, m, elements=st.integers(0, 8)))
    return X, rows, bounds, n_categories, n_known


@given(sketched())
def test_counts_are_those_of_one_value_after_the_other(given_samples):
    counts, unseen, is_mixed = count_cells(*given_samples)
    expected, expected_unseen, expected_mixed = sketching.count_cells(*given_samples)
    np.testing.assert_array_equal(counts, expected)
    np.testing.assert_array_equal(unseen, expected_unseen)
    np.testing.assert_array_equal(is_mixed[:, :-1], expected_mixed[:, :-1])


def test_all_fifteen_bounds_are_searched():
    X = np.arange(-1, 32).reshape(-1, 1) / 2
    counts, _, _ = count_cells(
        X, np.arange(33), np.arange(15.0).reshape(1, -1), np.zeros(1, np.int32), np.zeros(1, np.int32)
    )
    assert counts[0].tolist() == [2, *[2] * 14, 3, 0]


def test_bounds_of_other_columns_are_refused():
    none = np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="those of 2 columns"):
        count_cells(np.zeros((1, 2)), np.arange(1), np.zeros((1, 15)), none, none)
