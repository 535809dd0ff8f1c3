"""When classes are said to have come, gone and returned."""

import numpy as np

from adforest.tracking import ClassLives
from adforest.tracking.track import MAX_RETURNS


def lives_of(*batches, n_classes=3):
    lives = ClassLives.none()
    for number, y in enumerate(batches, start=1):
        lives = lives.after(np.bincount(y, minlength=n_classes), number)
    return lives


def test_first_and_last_batch_and_samples():
    lives = lives_of([0, 0, 1], [1], [0, 2])
    assert lives.first_batch.tolist() == [1, 1, 3]
    assert lives.last_batch.tolist() == [3, 2, 3]
    assert lives.n_samples.tolist() == [3, 2, 1]
    assert lives.n_total == 6


def test_a_class_is_gone_once_seven_of_it_would_have_been_expected():
    lives = lives_of([0, 1] * 10, [0] * 13)
    assert lives.is_gone.tolist() == [False, False, False], "6.5 were expected, and a class never seen cannot go"
    lives = lives.after(np.array([1, 0, 0]), 3)
    assert lives.is_gone.tolist() == [False, True, False]
    assert not len(lives.returns)
    lives = lives.after(np.array([0, 1, 0]), 4)
    assert lives.is_gone.tolist() == [False, False, False]
    assert lives.returns.tolist() == [[1, 1, 4]]
    assert lives.n_returns.tolist() == [0, 1, 0]


def test_a_rare_class_is_missed_later_than_a_frequent_one():
    lives = lives_of([0] * 99 + [1] * 100 + [2], [0] * 100)
    assert lives.is_gone.tolist() == [False, True, False]


def test_new_classes_in_later_batches():
    lives = lives_of([0], n_classes=1).after(np.array([0, 0, 0, 2]), 2)
    assert lives.first_batch.tolist() == [1, 0, 0, 2]


def test_returns_are_bounded():
    lives = ClassLives.none()
    for number in range(1, 2 * MAX_RETURNS + 10):
        lives = lives.after(np.array([20, 0] if number % 2 else [0, 20]), number)
    assert len(lives.returns) == MAX_RETURNS
    assert lives.n_returns.sum() > MAX_RETURNS
    assert (np.diff(lives.returns[:, 2]) >= 0).all()
