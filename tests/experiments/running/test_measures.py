import numpy as np
import pytest

from experiments.running.measures import log_loss


def test_log_loss_is_that_of_the_right_class_where_it_is_known():
    classes, shares = np.array(["b", "d"]), np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 1.0]])
    y = np.array(["d", "d", "a", "z", "c"])
    assert log_loss(shares, classes, y) == pytest.approx((-np.log(0.75) - 4 * np.log(1e-3)) / 5)
    assert log_loss(shares[1:2], classes, np.array(["b"])) == 0
