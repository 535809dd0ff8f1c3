"""Cells of columns: where bounds are, and what happens to counts when they move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.tracking.cells import N_BOUNDS, cuts, first_bounds, split, with_frequent

NUMBERS, CATEGORIES = np.zeros(1, np.int32), np.array([60], np.int32)


def bounds_of(values, n_categories=NUMBERS):
    (bounds,) = first_bounds(np.array(values, dtype=float).reshape(-1, 1), n_categories)
    return bounds[np.isfinite(bounds)]


def cell_counts(bounds, values):
    return np.bincount(np.searchsorted(bounds, values), minlength=N_BOUNDS + 1)


def test_numbers_are_shared_out_evenly_and_none_is_outside():
    values = np.random.default_rng(0).normal(size=1400)
    bounds = bounds_of(values)
    assert len(bounds) == N_BOUNDS
    assert cell_counts(bounds, values).tolist() == [0, *[100] * 14, 0]
    assert not np.isin(bounds, values).any(), "bounds are no sample's value"


def test_frequent_values_have_cells_of_their_own():
    values = np.concatenate([np.zeros(600), np.random.default_rng(0).random(400) + 1, np.full(300, -5.0)])
    bounds = bounds_of(values)
    at_zero = np.searchsorted(bounds, 0.0)
    assert bounds[at_zero - 1 : at_zero + 1].tolist() == [np.nextafter(0, -1), np.nextafter(0, 1)]
    cells = cell_counts(bounds_of(np.repeat([0.0, 1.0], [30, 10])), [0.0, 0.5, 1.0, 2.0])
    assert cells[cells > 0].tolist() == [1, 1, 1, 1]


def test_missing_values_and_too_few():
    values = np.full(40, np.nan)
    values[:25] = np.arange(25)
    assert bounds_of(values)[0] < 0 < bounds_of(values)[1]
    assert not len(bounds_of(values[8:]))
    assert not len(bounds_of(np.full(40, np.nan)))


@pytest.mark.parametrize("pair", [(-1e308, 1e308), (0.0, 1e-300), (1.0, 1 + 1e-15)])
def test_extreme_numbers_are_told_apart(pair):
    values = pair * 20
    bounds = bounds_of(values)
    assert (bounds[1:] > bounds[:-1]).all()
    assert sorted(cell_counts(bounds, values))[-2:] == [20, 20]


def test_the_most_frequent_categories_have_cells():
    codes = np.repeat(np.arange(40), np.arange(1, 41))
    assert bounds_of(codes, CATEGORIES).tolist() == list(range(25, 40))
    assert bounds_of([3, 1, 1], CATEGORIES).tolist() == [1, 3]


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=60).filter(lambda values: len(set(values)) > 1), st.integers(1, 13)
)
def test_cuts_are_between_values(values, n_cuts):
    values = np.sort(np.array(values, dtype=float))
    found = cuts(values, n_cuts)
    assert 0 < len(found) <= n_cuts
    assert (np.diff(found) > 0).all()
    assert not np.isin(found, values).any()
    assert values[0] < found[0]
    assert found[-1] < values[-1]


@given(st.data())
def test_a_split_loses_nothing(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    old = np.sort(rng.normal(size=data.draw(st.integers(1, N_BOUNDS))))
    cell = data.draw(st.integers(0, len(old)))
    low, high = np.append(-9, old)[cell], np.append(old, 9)[cell]
    inside = np.sort(low + (high - low) * np.linspace(0.1, 0.9, data.draw(st.integers(2, 40))))
    counts = rng.integers(0, 100, N_BOUNDS + 1) * (np.arange(N_BOUNDS + 1) <= len(old))
    padded = np.append(old, np.full(N_BOUNDS - len(old), np.inf))
    bounds, shares = split(padded, cell, inside, np.append(counts, 0.0))
    finite = bounds[np.isfinite(bounds)]
    assert (np.diff(finite) > 0).all()
    assert (counts @ shares).sum() == pytest.approx(counts.sum())
    assert len(np.unique(np.searchsorted(finite, inside))) > 1
    # Cells that are not split are moved whole, to where their values would be counted now.
    middles = [old[0] - 1, *(old[:-1] + old[1:]) / 2, old[-1] + 100]
    for place, middle in enumerate(middles):
        if place != cell:
            assert shares[place, np.searchsorted(finite, middle)] == 1


def test_the_split_cell_is_shared_out_as_its_values():
    bounds = np.append([0.0, 1.0], np.full(13, np.inf))
    after, shares = split(bounds, 2, np.linspace(2, 3, 800), np.zeros(17))
    found = np.array([5.0, 7.0, 80.0, *[0] * 13]) @ shares
    assert after[:2].tolist() == [0, 1]
    assert found[:2].tolist() == [5, 7]
    assert found[2:10] == pytest.approx([10] * 8, rel=0.02)
    assert found[10] == 0, "beyond the greatest value"


def test_frequent_categories_take_the_cells_of_rare_ones():
    held = np.arange(15.0)
    shares = np.append(np.full(14, 0.07), 0.01)
    codes, counts = np.array([40.0, 41.0]), np.array([30, 3])
    assert with_frequent(held, codes, counts, 100, shares).tolist() == [*range(14), 40]
    assert with_frequent(held, codes[1:], counts[1:], 100, shares) is None, "3 % are too few"
    assert with_frequent(held, codes, np.array([13, 3]), 100, np.full(15, 0.066)) is None, "hardly more than the others"
    few = np.append([2.0], np.full(14, np.inf))
    assert with_frequent(few, codes, counts, 100, np.append(0.9, np.zeros(14)))[:4].tolist() == [2, 40, 41, np.inf]
