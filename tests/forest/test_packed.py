"""Matrices in little room: every value comes back as it was, in the narrowest type that holds its column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adforest.forest.packed import WIDTHS, PackedRows

WORDS = st.one_of(st.integers(0, 65_534).map(float), st.just(np.nan))
SINGLES = st.floats(width=32, allow_infinity=False)
DOUBLES = st.floats(allow_infinity=False)


def narrowest(values):
    """Return the narrowest type that holds some numbers, one by one."""
    known = [value for value in values if not np.isnan(value)]
    if all(value in range(65_535) and not np.signbit(value) for value in known):
        return 0
    with np.errstate(over="ignore"):
        return 1 if all(float(np.float32(value)) == value for value in known) else 2


KINDS, SIZES = (
    st.lists(st.sampled_from([WORDS, SINGLES, DOUBLES]), max_size=5),
    st.lists(st.integers(0, 70), max_size=4),
)


@given(st.data(), KINDS, SIZES)
def test_all_values_come_back_and_take_no_more_room_than_they_need(data, kinds, sizes):
    rows = PackedRows.empty(len(kinds))
    batches = []
    for n in sizes:
        columns = [data.draw(arrays(np.float64, n, elements=kind)) for kind in kinds]
        batches.append(np.column_stack([np.empty((n, 0)), *columns]))
    for X in batches:
        before = rows.matrix()
        rows, old = rows.with_rows(X), rows
        np.testing.assert_array_equal(old.matrix(), before)
    everything = np.concatenate([np.empty((0, len(kinds))), *batches])
    np.testing.assert_array_equal(rows.matrix(), everything)
    assert rows.types.tolist() == [narrowest(column) for column in everything.T]
    assert rows.row_bytes == sum(WIDTHS[kind] for kind in rows.types)
    assert rows.uint16.nbytes + rows.float32.nbytes + rows.float64.nbytes == len(everything) * rows.row_bytes
    kept = np.flatnonzero(np.arange(len(everything)) % 3)
    np.testing.assert_array_equal(rows.taken(kept).matrix(), everything[kept])


@pytest.mark.parametrize(
    ("values", "width"),
    [
        ([0, 65_534, np.nan], 2),
        ([65_535], 4),
        ([-1], 4),
        ([0.5], 4),
        ([np.nan], 2),
        ([2**24], 4),
        ([2**24 + 1], 8),
        ([0.1], 8),
        ([1e39], 8),
        ([1e-46], 8),
    ],
)
def test_what_a_column_takes(values, width):
    X = np.array(values, dtype=float)[:, None]
    rows = PackedRows.of(X)
    assert rows.row_bytes == width
    np.testing.assert_array_equal(rows.matrix(), X)


def test_rows_are_added_without_copying_those_that_are_there_until_a_column_needs_more():
    first = PackedRows.of(np.array([[1.0, 0.5], [2.0, np.nan]]))
    second = first.with_rows(np.array([[3.0, 1.5]]))
    assert np.shares_memory(first.uint16, second.uint16)
    assert np.shares_memory(first.float32, second.float32)
    third = second.with_rows(np.array([[0.1, 2.0]]))
    assert third.types.tolist() == [2, 1]
    assert third.matrix().tolist()[2:] == [[3.0, 1.5], [0.1, 2.0]]
    assert second.matrix()[:, 0].tolist() == [1, 2, 3]


def test_a_column_is_never_made_narrower_and_slices_of_matrices_are_packed_too():
    rows = PackedRows.of(np.full((2, 1), 0.1)).with_rows(np.ones((1, 1)))
    assert rows.types.tolist() == [2]
    assert PackedRows.of(np.ones((2, 1)), rows.types).types.tolist() == [2]
    X = np.arange(40.0).reshape(10, 4)
    np.testing.assert_array_equal(PackedRows.of(X[::2, 1::2]).matrix(), X[::2, 1::2])
