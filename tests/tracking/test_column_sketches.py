"""Sketches of columns along simulated streams: nothing where nothing changes, and what does change."""

from dataclasses import fields, replace

import numpy as np
import pytest

from adforest.forest import Samples
from adforest.forest._kernels.sampling import hashes
from adforest.tracking import ColumnSketches
from adforest.tracking.cells import MISSING, OTHER
from adforest.tracking.column_sketches import MAX_DRAWN, MAX_LAST, MIN_EARLY, drawn, sampled
from adforest.tracking.history import MAX_COLUMN_BLOCKS


def sketch(batches, n_categories=None, sketches=None, first_serial=0):
    """Return the sketches after some batches, all of them if asked for by `along`."""
    return along(batches, n_categories, sketches, first_serial)[-1]


def along(batches, n_categories=None, sketches=None, first_serial=0):
    found, serial = [], first_serial
    sketches = sketches or ColumnSketches.none(0)
    start = int(sketches.over_time.batches[-1, 1]) if len(sketches.over_time.batches) else 0
    for number, X in enumerate(batches, start=start + 1):
        X = np.ascontiguousarray(X, dtype=float)
        kinds = np.zeros(X.shape[1], np.int32) if n_categories is None else np.array(n_categories, np.int32)
        samples = Samples(X, np.zeros(len(X), np.int32), np.arange(serial, serial + len(X)), kinds, 1)
        sketches, serial = sketches.after(samples, number, {}), serial + len(X)
        found.append(sketches)
    return found


def noise(rng, n_batches, n, m=20):
    return (rng.normal(size=(n, m)) for _ in range(n_batches))


def arrays_of(sketches):
    flat = [getattr(sketches, one.name) for one in fields(sketches) if one.name != "over_time"]
    return [*flat, *(getattr(sketches.over_time, one.name) for one in fields(sketches.over_time))]


@pytest.mark.parametrize("n", [40, 300, 1_000, 5_000])
def test_columns_without_change_are_at_distance_0(n):
    rng = np.random.default_rng(n)

    # Continuous, whole, half zeros, skewed, categorical, with gaps: each of them five times.
    def batch():
        X = rng.normal(size=(n, 30))
        X[:, 5:10] = rng.poisson(2, size=(n, 5))
        X[:, 10:15] *= rng.random((n, 5)) < 0.5
        X[:, 15:20] = np.exp(2 * X[:, 15:20])
        X[:, 20:25] = rng.geometric(0.08, size=(n, 5)) - 1
        X[:, 25:30] = np.where(rng.random((n, 5)) < 0.3, np.nan, X[:, 25:30])
        return X

    kinds = [0] * 20 + [2_000] * 5 + [0] * 5
    found = [one.distances for one in along((batch() for _ in range(max(40, 20_000 // n))), kinds)]
    known = np.array([one for one in found if not np.isnan(one).any()])
    assert len(known) > 20
    assert (known > 0).mean() < 0.04
    assert known.max() < 0.15


def test_a_shift_shows_at_once_in_its_column_alone_and_passes_with_the_past():
    rng = np.random.default_rng(0)
    sketches = sketch(noise(rng, 20, 1_000))
    shifted = [X + 2 * (np.arange(20) == 7) for X in noise(rng, 150, 1_000)]
    found = [one.distances for one in along(shifted, sketches=sketches, first_serial=20_000)]
    assert found[0][7] > 0.15
    assert found[2][7] > 0.5
    assert (np.delete(found[2], 7) < 0.1).all()
    assert found[140][7] < 0.1, "the past is like that by now"


@pytest.mark.parametrize("change", ["range", "spread", "shape", "missing"])
def test_other_changes_of_numbers(change):
    rng = np.random.default_rng(1)
    sketches = sketch(noise(rng, 12, 800, 2))
    later = list(noise(rng, 3, 800, 2))
    for X in later:
        if change == "range":
            X[:, 0] *= 1_000
        elif change == "spread":
            X[:, 0] *= 0.5
        elif change == "shape":
            X[:, 0] = np.abs(X[:, 0])
        else:
            X[rng.random(800) < 0.2, 0] = np.nan
    found = sketch(later, sketches=sketches, first_serial=9_600).distances
    assert found[0] > 0.15
    assert found[1] < 0.1


def test_bounds_follow_numbers_that_leave_their_range():
    rng = np.random.default_rng(2)
    sketches = sketch(noise(rng, 6, 500, 1))
    sketches = sketch((X + 100 for X in noise(rng, 120, 500, 1)), sketches=sketches, first_serial=3_000)
    assert sketches.distances[0] < 0.1
    inside = sketches.last.sum(axis=0)[0, :OTHER]
    assert (inside > 0).sum() >= 8, "one cell beyond the old range would not tell what happens there"
    again = sketch((X + 101 for X in noise(rng, 3, 500, 1)), sketches=sketches, first_serial=63_000)
    assert again.distances[0] > 0.2


def test_a_frequent_value_is_no_cell_to_be_split():
    rng = np.random.default_rng(3)
    X = [np.where(rng.random((500, 2)) < 0.8, 0.0, rng.normal(size=(500, 2))) for _ in range(8)]
    found = along(X)
    assert (found[0].bounds == found[-1].bounds).all()


def test_categories():
    rng = np.random.default_rng(4)
    early = [rng.integers(0, 5, size=(600, 1)) for _ in range(6)]
    sketches = sketch(early, [5])
    assert sketches.bounds[0, :6].tolist() == [0, 1, 2, 3, 4, np.inf]
    assert sketches.distances[0] < 0.1
    assert not sketches.last_unseen.any()
    more = sketch([np.where(rng.random((600, 1)) < 0.5, 7, 1)], [8], sketches, 3_600)
    assert more.bounds[0, :7].tolist() == [0, 1, 2, 3, 4, 7, np.inf]
    assert more.last_unseen[-1, 0] == more.last[-1, 0, 5] == pytest.approx(300, abs=40)
    assert more.over_time.unseen[-1, 0] == pytest.approx(0.5, abs=0.06)
    assert more.distances[0] > 0.3
    assert not sketch([np.full((600, 1), 7)], [8], more, 4_200).last_unseen[-1].any(), "it was learnt meanwhile"


def test_codes_that_are_given_back_are_forgotten():
    rng = np.random.default_rng(5)
    sketches = sketch([rng.integers(0, 4, size=(600, 2)) for _ in range(6)], [4, 4])
    X = np.full((600, 2), 2.0)
    samples = Samples(X, np.zeros(600, np.int32), np.arange(3_600, 4_200), np.array([4, 4], np.int32), 1)
    after = sketches.after(samples, 7, {0: np.array([2, 3], np.int32)})
    assert after.last_unseen[-1].tolist() == [600, 0], "another value has that code now"
    assert after.past[0].sum() == pytest.approx(after.past[1].sum())
    assert after.bounds[0, :3].tolist() == [0, 1, 2]
    assert after.past[0, 2] == 0
    assert after.past[0, OTHER] == pytest.approx(after.past[1, 2:4].sum(), rel=0.2)


def test_columns_may_come_later_and_begin_with_missing_values():
    rng = np.random.default_rng(6)
    sketches = sketch(noise(rng, 6, 500, 1))
    empty = sketch((np.column_stack([X, np.full(500, np.nan)]) for X in noise(rng, 4, 500, 1)), None, sketches, 3_000)
    assert np.isnan(empty.over_time.missing[0]).tolist() == [False, True]
    assert empty.over_time.missing[-1].tolist() == [0, 1]
    assert np.isinf(empty.bounds[1]).all()
    filled = sketch(noise(rng, 5, 500, 2), None, empty, 5_000)
    assert np.isfinite(filled.bounds[1]).all()
    assert filled.distances[1] > 0.5, "until lately it had no values"
    assert filled.distances[0] < 0.1


def test_columns_may_come_while_bounds_wait():
    rng = np.random.default_rng(11)
    found = along([*noise(rng, 3, 100, 1), *noise(rng, 3, 100, 2)])
    assert len(found[3].early) == 400
    assert np.isnan(found[3].early[:300, 1]).all()
    assert found[4].last[0].sum(axis=1).tolist() == [500, 500]
    assert found[4].last[0, :, MISSING].tolist() == [0, 300]
    assert all(np.isfinite(array).all() for array in (found[-1].last, found[-1].last_unseen, found[-1].past))


def test_small_batches_are_put_together_and_wait_for_bounds():
    rng = np.random.default_rng(7)
    found = along(noise(rng, 3_000, 1, 2))
    assert len(found[MIN_EARLY - 2].early) == MIN_EARLY - 1
    assert not len(found[MIN_EARLY - 1].early)
    assert found[MIN_EARLY - 1].last_batches.tolist() == [[1, MIN_EARLY]]
    last = found[-1]
    assert (np.diff(last.last_batches[:-1], axis=1) == 249).all()
    assert last.past_batches[1] + 1 == last.last_batches[0, 0]
    assert last.last.sum(axis=(0, 2)).tolist() == [3_000 - last.past_batches[1]] * 2
    shown = found[100].with_early_counted(np.zeros(2, np.int32))
    assert shown.last.sum() == 2 * 101
    assert not len(found[100].without_samples().early)


def test_the_same_samples_make_the_same_sketch_whichever_way_they_are_ordered():
    rng = np.random.default_rng(8)
    X, y, serial = rng.normal(size=(30_000, 3)), np.zeros(30_000, np.int32), np.arange(30_000)
    order = rng.permutation(30_000)
    one, other = (
        ColumnSketches.none(3).after(
            Samples(np.ascontiguousarray(X[way]), y, serial[way], np.zeros(3, np.int32), 1), 1, {}
        )
        for way in (np.arange(30_000), order)
    )
    for mine, others in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(mine, others)


@pytest.mark.parametrize(
    ("n", "m", "expected"), [(100, 3, 100), (100_000, 3, 2_000), (100_000, 1_000, 1_000), (10_000, 9_999, 500)]
)
def test_how_many_samples_are_drawn(n, m, expected):
    X = np.broadcast_to(np.zeros(1), (n, m))
    found = drawn(Samples(X, np.zeros(n, np.int32), np.arange(n), np.zeros(m, np.int32), 1))
    assert len(found) == pytest.approx(expected, rel=0.15)
    assert len(found) <= 1.15 * MAX_DRAWN


def test_of_samples_that_were_drawn_those_are_counted_that_would_be_drawn_of_all():
    whole = Samples(np.zeros((50_000, 3)), np.zeros(50_000, np.int32), np.arange(50_000), np.zeros(3, np.int32), 1)
    few = np.flatnonzero(hashes(whole.serial) < np.uint64(0.3 * 2**64))
    part = replace(whole.part(few), totals=whole.batch_totals)
    np.testing.assert_array_equal(part.serial[drawn(part)], whole.serial[drawn(whole)])
    waiting, later = whole.part(slice(0, 60)), whole.part(slice(60, None))
    joined = waiting.joined(sampled(later))
    np.testing.assert_array_equal(joined.serial[drawn(joined)], whole.serial[drawn(whole)])
    assert sampled(waiting) is waiting


def test_space_does_not_grow_with_batches():
    rng = np.random.default_rng(9)
    found = along(noise(rng, 700, 20, 3))
    sizes = [sum(array.nbytes for array in arrays_of(one)) for one in found]
    assert max(sizes[200:]) <= max(sizes[:200])
    last = found[-1]
    assert len(last.last) == MAX_LAST
    assert MAX_COLUMN_BLOCKS / 2 <= len(last.over_time.batches) <= MAX_COLUMN_BLOCKS
    batches = last.over_time.batches
    assert batches[0, 0] == 1
    assert batches[-1, 1] == batches[:, 2].sum() == 700
    assert (batches[1:, 0] == batches[:-1, 1] + 1).all()
    assert last.over_time.n_samples.sum() == 14_000


def test_shares_over_time_are_means_of_their_batches():
    rng = np.random.default_rng(10)
    shares = rng.random(200)
    batches = [np.where(np.arange(100).reshape(-1, 1) < round(100 * share), np.nan, 1.0) for share in shares]
    sketches = sketch(batches)
    over_time = sketches.over_time
    for (first, last, n), missing in zip(over_time.batches, over_time.missing[:, 0], strict=True):
        assert n == last - first + 1
        assert missing == pytest.approx(np.mean(shares[first - 1 : last]), abs=0.01)
    n_last = int(sketches.last.sum()) // 100
    assert sketches.last[:, 0, MISSING].sum() == sum(round(100 * share) for share in shares[-n_last:])
