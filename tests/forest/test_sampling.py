import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adforest.forest._kernels.sampling import are_drawn, hashes, poisson_weights, whole_weights

SERIALS = np.arange(100_000, dtype=np.int64)


@pytest.mark.parametrize("seed", [0, 1, 2**63 + 7, 2**64 - 1])
def test_poisson_weights_are_poisson_with_mean_one(seed):
    weights = poisson_weights(SERIALS, seed, 1.0)
    assert weights.dtype == np.uint16
    assert weights.mean() == pytest.approx(1, abs=0.02)
    proba = np.bincount(weights, minlength=5)[:5] / len(weights)
    np.testing.assert_allclose(proba, np.exp(-1) / np.array([1, 1, 2, 6, 24]), atol=0.006)


def test_a_sample_keeps_its_weight_wherever_it_stands():
    weights = poisson_weights(SERIALS, 5, 1.0)
    np.testing.assert_array_equal(weights, poisson_weights(SERIALS, 5, 1.0))
    order = np.random.default_rng(0).permutation(len(SERIALS))[:1000]
    np.testing.assert_array_equal(poisson_weights(SERIALS[order], 5, 1.0), weights[order])
    np.testing.assert_array_equal(poisson_weights(SERIALS[50_000:] + 0, 5, 1.0), weights[50_000:])


@pytest.mark.parametrize("other", [1, 2, 2**32, 2**63])
def test_other_seeds_draw_other_weights(other):
    both = np.corrcoef(poisson_weights(SERIALS, 0, 1.0), poisson_weights(SERIALS, other, 1.0))
    assert abs(both[0, 1]) < 0.015


def test_neighbouring_samples_draw_on_their_own():
    weights = poisson_weights(SERIALS, 3, 1.0)
    for lag in (1, 2, 64):
        assert abs(np.corrcoef(weights[lag:], weights[:-lag])[0, 1]) < 0.015


@pytest.mark.parametrize("seed", [0, 7])
def test_a_weight_of_one_draws_as_no_weight_does(seed):
    ones = np.ones(len(SERIALS))
    for mean in (1.0, 6.0):
        np.testing.assert_array_equal(poisson_weights(SERIALS, seed, mean, ones), poisson_weights(SERIALS, seed, mean))
    np.testing.assert_array_equal(whole_weights(SERIALS, seed, ones), whole_weights(SERIALS, seed))


@pytest.mark.parametrize("weight", [0.003, 0.4, 1.7, 2.0, 12.5, 90.0, 499.0])
def test_a_weighted_draw_is_poisson_with_the_weight_for_its_mean(weight):
    drawn = poisson_weights(SERIALS, 3, 1.0, np.full(len(SERIALS), weight))
    expected = stats.poisson(weight)
    assert drawn.mean() == pytest.approx(weight, abs=5 * np.sqrt(weight / len(SERIALS)))
    values = np.arange(drawn.max() + 1)
    proba = np.cumsum(np.bincount(drawn)) / len(SERIALS)
    np.testing.assert_allclose(proba, expected.cdf(values), atol=5 * 0.5 / np.sqrt(len(SERIALS)))


def test_each_sample_draws_by_its_own_weight():
    weight = np.random.default_rng(0).uniform(0, 5, len(SERIALS))
    drawn, whole = poisson_weights(SERIALS, 3, 1.0, weight), whole_weights(SERIALS, 3, weight)
    for i in range(0, len(SERIALS), 997):
        one = slice(i, i + 1)
        assert poisson_weights(SERIALS[one], 3, 1.0, weight[one]) == drawn[one]
        assert whole_weights(SERIALS[one], 3, weight[one]) == whole[one]


def test_weights_are_rounded_to_a_neighbour_and_are_right_in_the_mean():
    for weight in (0.0, 0.01, 0.5, 1.25, 3.0, 4094.5):
        whole = whole_weights(SERIALS, 11, np.full(len(SERIALS), weight))
        assert set(np.unique(whole)) <= {int(np.floor(weight)), int(np.ceil(weight))}
        assert whole.mean() == pytest.approx(weight, abs=0.01)


def test_what_is_in_the_bag_counts_outside_of_it():
    weight = np.random.default_rng(1).exponential(1.0, len(SERIALS))
    drawn, whole = poisson_weights(SERIALS, 5, 1.0, weight), whole_weights(SERIALS, 5, weight)
    assert (drawn > 0).sum() > 10_000
    assert (whole[drawn > 0] > 0).all()


def test_weights_beyond_what_a_tree_can_count_are_the_most_it_can():
    for weight in (4095.0, 1e6, 1e100):
        weights = np.full(10, weight)
        assert (whole_weights(SERIALS[:10], 0, weights) == 4095).all()
        assert (poisson_weights(SERIALS[:10], 0, 1.0, weights) == 4095).all()


def test_hashes_are_those_of_splitmix64():
    # The second member of the sequence from 0 is the hash of twice the step between states (Steele, Lea & Flood 2014).
    found = hashes(np.array([0, 1, 2, 2**40], dtype=np.int64))
    assert found.dtype == np.uint64
    assert found[:3].tolist() == [0, 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    assert len(np.unique(hashes(SERIALS))) == len(SERIALS)
    assert (hashes(SERIALS) / 2**64).mean() == pytest.approx(0.5, abs=0.005)


@given(serial=st.lists(st.integers(0, 2**40), max_size=50, unique=True), share=st.floats(0, 0.999))
def test_samples_are_drawn_by_the_smallest_hashes(serial, share):
    serial = np.array(serial, dtype=np.int64)
    drawn = are_drawn(serial, share)
    assert drawn.dtype == bool
    np.testing.assert_array_equal(drawn, hashes(serial) < np.uint64(share * 2**64))


def test_a_share_is_drawn_and_other_seeds_draw_others():
    serial = np.arange(100_000)
    first, second = (are_drawn(serial, 0.3, seed) for seed in (0, 7))
    assert first.mean() == pytest.approx(0.3, abs=0.01)
    assert second.mean() == pytest.approx(0.3, abs=0.01)
    assert (first & second).mean() == pytest.approx(0.09, abs=0.01)
