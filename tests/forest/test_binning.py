"""Codes are ranks by a column's own edges; few distinct values keep apart, missing ones stand last."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adforest.forest._kernels.binning import bin_columns

FEW = st.sampled_from([-np.inf, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1e-310, 1.0, 2.0, 1e308, np.inf, np.nan])
COLUMNS = hnp.arrays(np.float64, st.integers(0, 300), elements=st.floats(width=64) | FEW)
SAMPLE = 8_192  # samples that place the edges; with more, not every value is looked at


def bin_column(values, max_bins=255):
    X = np.ascontiguousarray(np.asarray(values, dtype=np.float64)[:, None])
    codes, edges, n_codes = bin_columns(X, np.zeros(1, dtype=np.int32), max_bins)
    assert codes.shape == (1, len(X))
    assert codes.dtype == np.uint16
    return codes[0], edges[0], int(n_codes[0])


def check_codes(values, codes, edges, n_codes):
    missing = np.isnan(values)
    assert (codes[missing] == n_codes).all()
    assert (codes[~missing] < n_codes).all()
    assert (edges[: n_codes - 1] < edges[1:n_codes]).all()
    assert np.isposinf(edges[n_codes - 1 :]).all()
    lower = np.append(-np.inf, edges)[codes]
    assert (values <= edges[codes])[~missing].all()
    assert ((values > lower) | (codes == 0))[~missing].all()


@given(values=COLUMNS, max_bins=st.integers(1, 255))
def test_every_sample_lies_between_the_edges_of_its_code(values, max_bins):
    codes, edges, n_codes = bin_column(values, max_bins)
    assert 1 <= n_codes <= max_bins
    check_codes(values, codes, edges, n_codes)


@given(values=COLUMNS, max_bins=st.integers(1, 255))
def test_codes_rise_with_values(values, max_bins):
    codes, _, _ = bin_column(values, max_bins)
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    values, codes = values[known][order], codes[known][order]
    assert (codes[1:] >= codes[:-1]).all()
    assert (codes[1:] == codes[:-1])[values[1:] == values[:-1]].all()


@given(values=COLUMNS, max_bins=st.integers(1, 255))
def test_no_code_is_empty(values, max_bins):
    codes, _, n_codes = bin_column(values, max_bins)
    known = codes[~np.isnan(values)]
    assert set(known.tolist()) == (set(range(n_codes)) if len(known) else set())


@given(values=hnp.arrays(np.float64, st.integers(1, 100), elements=FEW))
def test_few_distinct_values_get_a_code_each(values):
    codes, edges, n_codes = bin_column(values, 12)
    distinct = np.unique(values[~np.isnan(values)])
    assert n_codes == max(1, len(distinct))
    for low, high, edge in zip(distinct, distinct[1:], edges, strict=False):
        assert low <= edge < high
    check_codes(values, codes, edges, n_codes)


@given(low=st.floats(-1e6, 1e6), step=st.floats(1e-3, 1e6))
def test_an_edge_is_the_middle_where_floating_point_has_one(low, step):
    _, edges, _ = bin_column([low, low + step])
    assert edges[0] == pytest.approx(low + step / 2, rel=1e-12, abs=1e-9)


@given(low=st.floats(allow_nan=False, allow_infinity=False, max_value=1.7e308))
def test_neighbours_in_floating_point_keep_apart(low):
    codes, edges, _ = bin_column([np.nextafter(low, np.inf), low])
    assert codes.tolist() == [1, 0]
    assert edges[0] == low


@pytest.mark.parametrize(
    ("values", "codes", "n_codes"),
    [
        ([], [], 1),
        ([3.0], [0], 1),
        ([np.nan], [1], 1),
        ([np.nan, np.nan], [1, 1], 1),
        ([2.0, 2.0, np.nan, 2.0], [0, 0, 1, 0], 1),
        ([0.0, -0.0], [0, 0], 1),
        ([np.inf, -np.inf, 0.0], [2, 0, 1], 3),
        ([np.inf, np.inf], [0, 0], 1),
        ([-np.inf, np.inf], [0, 1], 2),
        ([5e-324, 0.0, -5e-324], [2, 1, 0], 3),
        ([1.7e308, -1.7e308], [1, 0], 2),
    ],
)
def test_odd_columns(values, codes, n_codes):
    found, _, n_found = bin_column(values)
    assert found.tolist() == codes
    assert n_found == n_codes


@pytest.mark.parametrize("max_bins", [2, 10, 255])
@pytest.mark.parametrize("n", [256, 1000, SAMPLE])
def test_bins_of_distinct_values_are_about_as_full_as_each_other(n, max_bins):
    values = np.random.default_rng(0).normal(size=n)
    codes, _, n_codes = bin_column(values, max_bins)
    assert n_codes == min(max_bins, n)
    assert np.bincount(codes).max() <= n / max_bins + 1


def test_a_sample_places_the_edges_of_many_samples():
    values = np.random.default_rng(0).normal(size=3 * SAMPLE + 5)
    values[::7] = np.nan
    codes, edges, n_codes = bin_column(values)
    assert n_codes == 255
    check_codes(values, codes, edges, n_codes)
    counts = np.bincount(codes[~np.isnan(values)])
    assert counts.min() > 0.3 * counts.mean()
    assert counts.max() < 2 * counts.mean()


@pytest.mark.parametrize("period", [2, 3, 4, 7])
def test_samples_that_take_turns_keep_their_codes_apart(period):
    # A sample taken at regular steps sees one side of such data only.
    values = np.arange(SAMPLE * period) % period
    codes, _, n_codes = bin_column(values)
    assert n_codes == period
    assert (codes == values).all()


def test_a_column_does_not_depend_on_its_neighbours():
    X = np.random.default_rng(0).normal(size=(500, 4)).round(1)
    X[::5, 2] = np.nan
    codes, edges, n_codes = bin_columns(X, np.array([0, 0, 0, 0], dtype=np.int32), 20)
    for j in range(4):
        alone = bin_column(X[:, j], 20)
        np.testing.assert_array_equal(codes[j], alone[0])
        np.testing.assert_array_equal(edges[j], alone[1])
        assert n_codes[j] == alone[2]


@given(data=st.data(), n_categories=st.sampled_from([1, 2, 300, 65_534]))
def test_categories_keep_their_codes(data, n_categories):
    values = data.draw(st.lists(st.integers(0, n_categories - 1) | st.just(np.nan), max_size=50))
    X = np.array([values, values], dtype=np.float64).T.copy()
    codes, _, n_codes = bin_columns(X, np.array([n_categories, 0], dtype=np.int32), 255)
    assert codes[0].tolist() == [n_categories if np.isnan(v) else v for v in values]
    assert n_codes[0] == n_categories


def test_samples_and_columns_may_be_none_at_all():
    codes, edges, n_codes = bin_columns(np.empty((0, 2)), np.zeros(2, dtype=np.int32), 255)
    assert codes.shape == (2, 0)
    assert np.isposinf(edges).all()
    assert n_codes.tolist() == [1, 1]
    codes, _, _ = bin_columns(np.empty((3, 0)), np.empty(0, dtype=np.int32), 255)
    assert codes.shape == (0, 3)
