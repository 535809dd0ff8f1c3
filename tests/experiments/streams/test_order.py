import numpy as np
import pytest

from experiments.streams.order import cut_in_order


def cut(n, size):
    return cut_in_order(np.arange(n, dtype=float)[:, np.newaxis], np.arange(n) // 5, size)


@pytest.mark.parametrize(
    ("n", "size", "sizes"),
    [(12, 4, [4, 4, 4]), (14, 4, [4, 4, 4, 2]), (13, 4, [4, 4, 4]), (7, 5, [5]), (8, 5, [5, 3]), (2, 4, [2])],
)
def test_what_is_left_is_a_batch_if_it_is_half_as_large(n, size, sizes):
    batches = cut(n, size)
    assert [len(batch.y_train) for batch in batches] == sizes
    assert [batch.number for batch in batches] == list(range(1, len(sizes) + 1))
    assert np.concatenate([batch.X_train[:, 0] for batch in batches]).tolist() == list(range(sum(sizes)))


def test_batches_have_no_test_and_know_their_classes():
    batches = cut(20, 5)
    assert [batch.scenario for batch in batches] == ["SUC"] * 4
    assert [batch.scenario for batch in cut(20, 4)] == ["SUC", "MKUC", "MKUC", "MKUC", "SKC"]
    assert {(len(batch.y_test), len(batch.X_test), len(batch.y_held), len(batch.X_held)) for batch in batches} == {
        (0, 0, 0, 0)
    }
    assert batches[0].X_test.shape == (0, 1)


@pytest.mark.parametrize(("size", "error"), [(0, ValueError), (2.5, TypeError)])
def test_a_batch_size_is_a_positive_whole_number(size, error):
    with pytest.raises(error, match="batch_size"):
        cut(10, size)
