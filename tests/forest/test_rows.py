"""Rows moved in runs, and room behind them for more."""

import copy
import pickle
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.forest._kernels.rows import take
from adforest.forest.room import MIN_SPARE, Room


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
    room = Room.of(np.ones((3, 2)), np.zeros((1, 2)))
    first = room.rows
    second = room.appended(4, np.full((2, 2), 5.0))
    assert second.tolist() == [[1, 1]] * 3 + [[0, 0]] + [[5, 5]] * 2
    assert np.shares_memory(first, second)
    assert first.tolist() == second[:4].tolist()
    assert Room.taken(second, np.array([0, 5])).rows.tolist() == [[1, 1], [5, 5]]


def test_who_does_not_own_all_rows_adds_none():
    room = Room.of(np.ones((3, 2)), np.ones((0, 2)))
    room.appended(3, np.zeros((1, 2)))
    assert room.appended(3, np.full((1, 2), 7.0)) is None  # another one added to the same rows before
    assert room.appended(4, np.zeros((MIN_SPARE, 2))) is None  # no room
    assert room.appended(4, np.zeros((1, 3))) is None  # columns were added
    assert room.rows.tolist() == [[1, 1]] * 3 + [[0, 0]]


def test_of_several_threads_one_adds_rows():
    room, found = Room.of(np.ones((3, 2)), np.ones((0, 2))), []
    threads = [Thread(target=lambda k=k: found.append(room.appended(3, np.full((9, 2), k)))) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (added,) = [rows for rows in found if rows is not None]
    assert len(np.unique(added[3:])) == 1


def test_room_is_neither_saved_nor_copied():
    room = Room.of(np.ones((3, 2)), np.ones((0, 2)))
    assert pickle.loads(pickle.dumps(room)) is None
    assert copy.deepcopy(room) is None
