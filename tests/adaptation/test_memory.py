"""The sample memory: bounded, class-aware, fair to old samples, and the same every time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation.memory import Memory, WindowBound, _quotas
from adforest.forest import Samples


def batch_of(memory, X, y, n_classes):
    """Return samples as the memory is given them next."""
    serial = np.arange(memory.n_seen, memory.n_seen + len(y))
    return Samples(np.asarray(X, float), np.asarray(y, np.int32), serial, np.zeros(1, np.int32), n_classes)


def run(batches, size, window, n_classes):
    """Return the memory after each batch, forgetting as the learner does: the next window stays."""
    memory, trail = Memory.empty(1), []
    for number, y in enumerate(batches, start=1):
        X = np.arange(memory.n_seen, memory.n_seen + len(y), dtype=float)[:, None]
        memory = memory.add(batch_of(memory, X, y, n_classes), number)
        kept = memory.survivors(size, number - window + 2)
        memory = memory if kept is None else memory.keep(kept)
        trail.append(memory)
    return trail


def test_an_empty_memory():
    memory = Memory.empty(4)
    assert len(memory) == memory.n_seen == 0
    assert memory.matrix().shape == (0, 4)
    assert memory.survivors(0, 1) is None


def test_adding_copies_and_keeps_the_old_memory_as_it_was():
    X, y = np.ones((2, 1)), np.zeros(2, dtype=np.int32)
    first = Memory.empty(1).add(batch_of(Memory.empty(1), X, y, 1), 1)
    X[:], y[:] = 7, 1
    second = first.add(batch_of(first, X, y, 2), 2)
    assert first.matrix().tolist() == [[1], [1]]
    assert first.y.tolist() == [0, 0]
    assert first.seen_by_class.tolist() == [2]
    assert second.seen_by_class.tolist() == [2, 2]
    assert second.serial.tolist() == [0, 1, 2, 3]
    assert second.batch.tolist() == [1, 1, 2, 2]


def test_the_batch_that_brought_a_class_is_known_for_ever():
    batches = [[0, 0], [0, 2], [2], [1, 0, 2], [1]]
    trail = run(batches, size=0, window=1, n_classes=4)
    assert [memory.first_batch.tolist() for memory in trail] == [
        [1, 0, 0, 0],
        [1, 0, 2, 0],
        [1, 0, 2, 0],
        [1, 4, 2, 0],
        [1, 4, 2, 0],
    ]
    later = trail[1].add(batch_of(trail[1], np.ones((1, 1)), [5], 6), 3)
    assert later.first_batch.tolist() == [1, 0, 2, 0, 0, 3], "more classes than it had room for"


@given(
    batches=st.lists(st.lists(st.sampled_from([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]), min_size=1, max_size=60), max_size=8),
    window=st.integers(1, 4),
)
def test_rare_classes_have_less_than_a_fifth_of_an_even_share_ever_and_lately_and_are_not_new(batches, window):
    for number, memory in enumerate(run(batches, size=None, window=window, n_classes=5), start=1):
        seen = [value for y in batches[:number] for value in y]
        lately = [value for y in batches[max(0, number - window) : number] for value in y]
        classes, start = set(seen), number - window + 1
        expected = [
            value in classes
            and (value in batches[0] or any(value in y for y in batches[: max(start - 1, 0)]))
            and seen.count(value) < len(seen) / len(classes) / 5
            and lately.count(value) < len(lately) / len(classes) / 5
            for value in range(5)
        ]
        assert memory.rare_since(start, WindowBound(3)).tolist() == expected


def test_serial_numbers_are_never_given_twice():
    last = run([[0] * 10] * 50, size=20, window=1, n_classes=1)[-1]
    assert last.n_seen == 500
    assert len(set(last.serial.tolist())) == len(last)
    # The value stored with each sample is its serial number: all columns were kept in step.
    assert last.matrix()[:, 0].tolist() == last.serial.tolist()


def test_none_keeps_everything():
    assert len(run([[0, 1]] * 40, size=None, window=3, n_classes=2)[-1]) == 80


@pytest.mark.parametrize("window", [1, 2, 3, 5])
def test_zero_keeps_what_the_next_window_needs_and_nothing_else(window):
    last = run([[0] * 4] * 10, size=0, window=window, n_classes=1)[-1]
    assert sorted(set(last.batch.tolist())) == list(range(10 - window + 2, 11))
    assert len(last) == 4 * (window - 1)


@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=12),
    size=st.integers(0, 60),
    window=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_bounds_and_the_window_hold_after_every_batch(sizes, size, window, seed):
    rng = np.random.default_rng(seed)
    batches = [rng.integers(0, 4, n) for n in sizes]
    for number, memory in enumerate(run(batches, size, window, 4), start=1):
        in_window = sum(sizes[max(0, number - window + 1) : number])
        assert len(memory) <= size + in_window
        assert (memory.batch >= number - window + 2).sum() == in_window
        assert (np.diff(memory.serial) > 0).all()
        assert memory.seen_by_class.sum() == memory.n_seen == sum(sizes[:number])


def test_memory_fills_up_before_anything_is_dropped():
    for number, memory in enumerate(run([[0, 1, 2]] * 30, size=60, window=1, n_classes=3), start=1):
        assert min(60 - 3, 3 * number) <= len(memory) <= min(60, 3 * number)  # a sample a class may go by rounding


def test_room_is_shared_by_the_square_root_of_frequency():
    # 10,000 : 100 seen is 10 : 1 in memory, not 100 : 1.
    assert _quotas(np.array([10_000, 100]), np.array([10_000, 100]), 110).tolist() == [100, 10]


def test_what_a_class_cannot_fill_goes_to_the_others():
    quota = _quotas(np.array([5, 1_000, 1_000]), np.array([1_000, 1_000, 1_000]), 305)
    assert quota.tolist() == [5, 150, 150]


@given(
    counts=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=8),
    room=st.integers(0, 1_500),
)
def test_quotas_fit_the_room_and_what_is_held(counts, room):
    held = np.array([h for h, _ in counts])
    seen = held + np.array([extra for _, extra in counts])
    quota = _quotas(held, seen, room)
    assert (quota >= 0).all()
    assert (quota <= held).all()
    assert quota.sum() <= room
    if held.sum() <= room:
        assert quota.tolist() == held.tolist()
    # Little room is wasted: at most one sample a class is lost to rounding.
    assert quota.sum() >= min(room, held.sum()) - (held > 0).sum()


def test_a_class_keeps_its_place_when_it_is_rare():
    rng = np.random.default_rng(0)
    batches = [rng.choice(3, 200, p=[0.8, 0.19, 0.01]) for _ in range(50)]
    last = run(batches, size=1_000, window=1, n_classes=3)[-1]
    seen, held = np.bincount(np.concatenate(batches)), np.bincount(last.y)
    expected = 1_000 * np.sqrt(seen) / np.sqrt(seen).sum()
    np.testing.assert_allclose(held, expected, atol=2)


def test_within_a_class_old_and_new_samples_stay_alike():
    last = run([[0] * 200] * 60, size=1_000, window=1, n_classes=1)[-1]
    assert len(last) == 1_000
    by_age = np.bincount(last.batch, minlength=61)[1:].reshape(6, 10).sum(axis=1)
    # A uniform sample puts 167 of 1,000 in each sixth of history, give or take 4 standard deviations.
    assert (abs(by_age - 1_000 / 6) < 4 * np.sqrt(1_000 * (1 / 6) * (5 / 6))).all()


def test_within_each_of_several_classes_too():
    rng = np.random.default_rng(1)
    last = run([rng.choice(2, 200, p=[0.9, 0.1]) for _ in range(60)], size=800, window=1, n_classes=2)[-1]
    for klass in (0, 1):
        batch = last.batch[last.y == klass]
        n = len(batch)
        assert abs(batch.mean() - 30.5) < 4 * 60 / np.sqrt(12 * n)


def test_a_vanished_rare_class_survives_1000_batches():
    batches = [[2] * 5 + [0] * 15, *[[0, 1] * 10] * 1_000]
    trail = run(batches, size=1_000, window=3, n_classes=3)
    assert [int((memory.y == 2).sum()) for memory in trail[::100]] == [5] * 11
    assert len(trail[-1]) <= 1_000 + 2 * 20


def test_the_same_stream_is_remembered_the_same_way():
    rng = np.random.default_rng(2)
    batches = [rng.integers(0, 3, 50) for _ in range(30)]
    one, two = run(batches, 200, 3, 3)[-1], run(batches, 200, 3, 3)[-1]
    assert one.serial.tolist() == two.serial.tolist()


def test_a_samples_fate_does_not_depend_on_how_the_stream_is_cut():
    y = np.zeros(6_000, dtype=np.int32)
    coarse = run(np.split(y, 10), 500, 1, 1)[-1]
    fine = run(np.split(y, 60), 500, 1, 1)[-1]
    assert coarse.serial.tolist() == fine.serial.tolist()


@pytest.mark.parametrize(
    ("seen", "room"),
    [
        ([1] + [40_000] * 10, 1_000),  # a class seen once, share 0.5
        ([10] * 100, 50),  # more classes than room: all of them are dropped
    ],
)
def test_rounding_washes_no_class_out(seen, room):
    seen = np.array(seen)
    quota = _quotas(seen, seen, room)
    assert (quota > 0).sum() >= min(len(seen), room)


def test_a_large_batch_does_not_wipe_out_history():
    batches = [[2] * 50, *[[0, 1] * 25] * 5, [0, 1] * 500]
    last = run(batches, size=500, window=3, n_classes=3)[-1]
    assert (last.y == 2).any()
