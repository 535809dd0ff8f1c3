"""The window after a batch that is far larger than what follows: a sample, and memory lets go of the rest."""

import numpy as np
import pytest

from adforest.adaptation.memory import Memory, WindowBound
from adforest.adaptation.tuning import TUNING
from adforest.forest import Samples
from oracles import learn, new_state, two_clusters


def memory_of(*sizes, proba=(0.7, 0.3)):
    """Return a memory of batches of some sizes."""
    memory, rng = Memory.empty(1), np.random.default_rng(0)
    for number, n in enumerate(sizes, start=1):
        serial = np.arange(memory.n_seen, memory.n_seen + n)
        y = rng.choice(len(proba), n, p=proba).astype(np.int32)
        samples = Samples(serial[:, np.newaxis].astype(float), y, serial, np.zeros(1, np.int32), len(proba))
        memory = memory.add(samples, number)
    return memory


def places(memory, start, growth=9):
    found = memory.window(start, WindowBound(growth))
    return np.arange(len(memory))[found]


@pytest.mark.parametrize("sizes", [(400, 400, 400), (5_000, 10, 90), (100,), (1, 1, 5_000)])
def test_a_window_that_the_last_batch_can_pay_for_is_whole(sizes):
    memory = memory_of(*sizes)
    for start in range(-1, len(sizes) + 1):
        assert memory.window(start, WindowBound(9)) == slice(memory.first_since(start), None)


def test_of_a_batch_that_is_too_much_a_sample_is_drawn_and_later_ones_are_whole():
    memory = memory_of(1_000, 40_000, 300, 100)
    room = 9 * (100 + TUNING.extra_samples)
    found = places(memory, 2)
    assert len(found) == pytest.approx(room, rel=0.05)
    assert (np.diff(found) > 0).all()
    assert set(range(41_000, 41_400)) <= set(found.tolist())
    assert memory.batch[found].min() == 2
    drawn = memory.serial[found[found < 41_000]]
    assert np.histogram(drawn, 4, (1_000, 41_000))[0] == pytest.approx(np.full(4, (room - 400) / 4), rel=0.1)
    assert set(places(memory, 1).tolist()) == set(found.tolist())  # batches before the one drawn from have no room


def test_the_sample_is_the_same_after_memory_let_go_of_others():
    # A class of one sample in a hundred is kept more often than others, but not drawn more often.
    memory = memory_of(200_000, 100, proba=(0.69, 0.3, 0.01))
    kept = memory.survivors(20_000, 2)
    fewer = memory.keep(kept)
    assert len(fewer) == pytest.approx(20_100, abs=3)  # room is shared out in whole samples
    assert (fewer.y == 2).mean() > 3 * (memory.y == 2).mean()
    one, other = memory.serial[places(memory, 1)], fewer.serial[places(fewer, 1)]
    assert len(one) == pytest.approx(9 * (100 + TUNING.extra_samples), rel=0.05)
    # How many samples came is told from the first that is left, a few less than there were.
    assert len(np.setxor1d(one, other)) <= 3
    assert set(one.tolist()) <= set(other.tolist())


@pytest.mark.parametrize("memory_size", [0, 1_000, 100_000, None])
def test_small_batches_after_a_large_one(memory_size):
    n = 20_000
    room = 3 * TUNING.window_growth * (100 + TUNING.extra_samples)
    state, _ = learn(new_state(memory_size=memory_size), *two_clusters(0, n=n))
    assert len(state.memory) == n
    for number in (1, 2, 3):
        state, _ = learn(state, *two_clusters(number, n=100))
        known = state.forest("temporary").known
        for one in state.forests.values():
            assert len(one.forest.known) == len(state.memory)
            assert all(len(leaf_of) == len(state.memory) for leaf_of in one.forest.leaf_of)
        if memory_size == 0:
            continue
        assert known[-100 * min(number, 2) :].all()  # what will still be in the window of the next batch
        if number == 1:
            at_hand = n if memory_size in (None, 100_000) else room
            assert len(state.memory) == pytest.approx(at_hand + 100, abs=1)  # room is shared out in whole samples
            assert known.sum() == pytest.approx(room, rel=0.05)
        if number == 3:
            assert known.sum() == 300 or (memory_size == 1_000 and 200 < known.sum() < 300)


def test_learning_from_a_state_twice_leaves_it_as_it_was():
    # Both add to the same room; the second has to find another.
    state, _ = learn(new_state(), *two_clusters(0, n=500))
    before = state.memory.matrix().copy()
    one, _ = learn(state, *two_clusters(1, n=200))
    other, _ = learn(state, *two_clusters(2, n=200))
    again, _ = learn(state, *two_clusters(1, n=200))
    np.testing.assert_array_equal(state.memory.matrix(), before)
    np.testing.assert_array_equal(one.memory.matrix(), again.memory.matrix())
    np.testing.assert_array_equal(one.memory.matrix()[500:], two_clusters(1, n=200)[0])
    np.testing.assert_array_equal(other.memory.matrix()[500:], two_clusters(2, n=200)[0])
