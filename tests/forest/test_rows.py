"""Rows moved in runs, and room behind them for more."""

import copy
import pickle
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.forest._kernels.rows import take
from adforest.forest.packed import MIN_SPARE, more_rows, taken


def appended(rows, more):
    """Return rows and others behind them."""
    joined = more_rows(rows, len(more))
    joined[len(rows) :] = more
    return joined


@given(kept=st.sets(st.integers(0, 999)), runs=st.lists(st.integers(0, 999), max_size=6))
def test_rows_are_those_that_numpy_takes(kept, runs):
    # Runs around 64 and 128 rows end where the search for their ends changes its step.
    positions = sorted(kept.union(*(range(first, min(1000, first + 63 + first % 4)) for first in runs)))
    positions = np.array(positions, dtype=np.int64)
    for values in (np.arange(1000, dtype=np.int32), np.arange(1000) % 3 == 0, np.arange(3000.0).reshape(1000, 3)):
        found = take(values, positions)
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values[positions])


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 129, 1000])
def test_all_rows_and_rows_of_a_part_of_an_array(n):
    values = np.arange(4000.0).reshape(2000, 2)[::2]
    np.testing.assert_array_equal(take(values, np.arange(n)), values[:n])
    assert take(values[:0], np.arange(0)).shape == (0, 2)


def test_rows_are_added_without_moving_those_that_are_there():
    first = appended(np.ones((3, 2)), np.zeros((1, 2)))
    second = appended(first, np.full((2, 2), 5.0))
    assert type(first) is type(second) is np.ndarray
    assert second.tolist() == [[1, 1]] * 3 + [[0, 0]] + [[5, 5]] * 2
    assert np.shares_memory(first, second)
    assert first.tolist() == second[:4].tolist()
    third = taken(second, np.array([0, 5]))
    assert third.tolist() == [[1, 1], [5, 5]]
    assert np.shares_memory(third, appended(third, np.zeros((1, 2))))


def others():
    """Name who may not add behind rows that are there, and gets rows of its own."""
    one = appended(np.ones((3, 2)), np.ones((0, 2)))
    yield "another one added before", one, np.full((1, 2), 7.0), lambda: appended(one, np.zeros((1, 2)))
    full = appended(np.ones((3, 2)), np.ones((0, 2)))
    yield "no room", full, np.zeros((MIN_SPARE + 1, 2)), lambda: None
    later = appended(np.ones((3, 2)), np.ones((0, 2)))
    yield "not the first rows", later[1:], np.zeros((1, 2)), lambda: None
    every = appended(np.ones((4, 2)), np.ones((0, 2)))
    yield "every other row", every[::2], np.zeros((1, 2)), lambda: None


@pytest.mark.parametrize(("rows", "more", "before"), [case[1:] for case in others()], ids=[c[0] for c in others()])
def test_who_does_not_own_all_rows_gets_rows_of_its_own(rows, more, before):
    kept = before()
    expected = None if kept is None else kept.copy()
    joined = appended(rows, more)
    np.testing.assert_array_equal(joined, np.concatenate([rows, more]))
    assert not np.shares_memory(joined, rows)
    if kept is not None:
        np.testing.assert_array_equal(kept, expected)


def test_of_several_threads_one_adds_rows_behind_those_that_are_there():
    rows, found = appended(np.ones((3, 2)), np.ones((0, 2))), {}
    threads = [Thread(target=lambda k=k: found.update({k: appended(rows, np.full((9, 2), k))})) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(np.shares_memory(rows, joined) for joined in found.values()) == 1
    for k, joined in found.items():
        assert joined.tolist() == [[1, 1]] * 3 + [[k, k]] * 9


def test_room_is_neither_saved_nor_copied():
    rows = appended(np.ones((3, 2)), np.ones((0, 2)))
    for twin in (pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)):
        assert type(twin) is np.ndarray
        assert not np.shares_memory(twin, appended(twin, np.ones((1, 2))))
    assert len(pickle.dumps(rows)) < 1_000
