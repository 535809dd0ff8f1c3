"""How far two samples are apart: about 0 if they are of one distribution, and what it should be if they are not."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from adforest.tracking.cells import distances


def samples(rng, shares, n, m):
    return rng.multinomial(n, shares, m).astype(float)


@pytest.mark.parametrize(("n_one", "n_other"), [(750, 750), (750, 100_000), (6_000, 40_000), (100, 2_000)])
@pytest.mark.parametrize("shares", [np.full(17, 1 / 17), 0.5 ** np.arange(1, 18), np.array([0.9, 0.1])], ids=len)
def test_samples_of_one_distribution_are_hardly_ever_apart(n_one, n_other, shares):
    rng = np.random.default_rng(0)
    shares = shares / shares.sum()
    one, other = samples(rng, shares, n_one, 2_000), samples(rng, shares, n_other, 2_000)
    found = distances(one, other, np.full(2_000, n_one), np.full(2_000, n_other))
    assert (found > 0).mean() < 0.03
    assert found.mean() < 0.01


@pytest.mark.parametrize("amount", [0.1, 0.3, 1.0])
def test_a_change_is_as_large_as_without_sampling(amount):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(17))
    q = (1 - amount) * p + amount * rng.dirichlet(np.ones(17))
    expected = jensenshannon(p, q, base=2)
    found = distances(samples(rng, p, 6_000, 500), samples(rng, q, 6_000, 500), np.full(500, 6e3), np.full(500, 6e3))
    assert found.mean() == pytest.approx(expected, rel=0.1)


def test_the_ends_of_the_scale():
    one = np.array([[1000.0, 0.0], [500.0, 500.0], [0.0, 0.0]])
    other = np.array([[0.0, 1000.0], [500.0, 500.0], [1.0, 1.0]])
    found = distances(one, other, np.array([1000.0, 1000.0, 0.0]), np.array([1000.0, 1000.0, 2.0]))
    assert found[0] == pytest.approx(1, abs=0.01)
    assert found[1] == 0
    assert np.isnan(found[2])


def test_a_few_samples_say_nothing():
    assert distances(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), np.ones(1), np.ones(1)).tolist() == [0.0]
