"""Two forests compared record by record, against counting on one's fingers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation.contest import (
    CLEAR_DEVIATIONS,
    CLEAR_GAP,
    DRIFTING_GAP,
    FEWEST,
    SUSPECT_DEVIATIONS,
    SUSPECT_GAP,
    Gap,
    gap_between,
    weight_of,
)

SIZES = st.floats(-1, 1)
OUTCOMES = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=150)


def gap_of(won, lost, both=0, neither=0, untested=0):
    """Return the gap where one forest alone is right so many times, the other alone, both, and neither."""
    ahead = [True] * won + [False] * lost + [True] * both + [False] * neither + [True] * untested
    behind = [False] * won + [True] * lost + [True] * both + [False] * neither + [False] * untested
    tested = np.arange(len(ahead)) < len(ahead) - untested
    return gap_between(np.array(ahead, dtype=bool), np.array(behind, dtype=bool), tested)


@given(OUTCOMES)
def test_a_gap_is_what_counting_record_by_record_gives(outcomes):
    n = won = lost = 0
    for ahead, behind, tested in outcomes:
        n += tested
        won += tested and ahead and not behind
        lost += tested and behind and not ahead
    found = gap_between(*np.array(outcomes, dtype=bool).T)
    if n < FEWEST:
        assert found is None
    else:
        assert found.size == pytest.approx((won - lost) / n)
        assert found.deviations == pytest.approx((won - lost) / math.sqrt(won + lost) if won + lost else 0.0)


@given(OUTCOMES)
def test_the_other_way_round_a_gap_is_its_negative(outcomes):
    ahead, behind, tested = np.array(outcomes, dtype=bool).T
    one, other = gap_between(ahead, behind, tested), gap_between(behind, ahead, tested)
    if tested.sum() < FEWEST:
        assert one is None
        assert other is None
    else:
        assert (one.size, one.deviations) == (-other.size, -other.deviations)


@given(OUTCOMES)
def test_a_gap_is_that_of_accuracies_and_the_order_of_records_is_nothing(outcomes):
    ahead, behind, tested = np.array(outcomes, dtype=bool).T
    found = gap_between(ahead, behind, tested)
    if tested.sum() >= FEWEST:
        assert found.size == pytest.approx(ahead[tested].mean() - behind[tested].mean())
    assert found == gap_between(ahead[::-1], behind[::-1], tested[::-1])


def test_records_that_are_not_tested_say_nothing():
    assert gap_of(20, 5, both=30) == gap_of(20, 5, both=30, untested=500)


def test_few_records_conclude_nothing():
    assert gap_of(FEWEST - 1, 0) is None
    assert gap_of(FEWEST - 1, 0, untested=100) is None
    assert gap_of(FEWEST, 0) == Gap(1.0, math.sqrt(FEWEST))


def test_forests_that_are_always_of_one_mind_have_no_gap():
    assert gap_of(0, 0, both=50, neither=50) == Gap(0.0, 0.0)


def test_records_both_get_right_make_a_gap_smaller_but_no_less_sure():
    few, many = gap_of(20, 2, both=20), gap_of(20, 2, both=2_000)
    assert many.size < few.size
    assert many.deviations == few.deviations
    assert few.is_clear
    assert not many.is_clear, "18 in 2,022 is sure, but nothing to act on"


def test_a_gap_may_be_large_and_yet_unclear():
    found = gap_of(9, 3, both=28)
    assert found.size > CLEAR_GAP
    assert not found.is_clear


@given(SIZES, st.floats(-20, 20))
def test_what_is_clear_is_suspect(size, deviations):
    found = Gap(size, deviations)
    assert found.is_clear == (size > CLEAR_GAP and deviations > CLEAR_DEVIATIONS)
    assert found.is_suspect == (size > SUSPECT_GAP and deviations > SUSPECT_DEVIATIONS)
    assert found.is_suspect or not found.is_clear


def test_the_thresholds_themselves_are_not_exceeded():
    assert not Gap(CLEAR_GAP, 100.0).is_clear
    assert not Gap(1.0, CLEAR_DEVIATIONS).is_clear
    assert not Gap(1.0, SUSPECT_DEVIATIONS).is_suspect
    assert not Gap(SUSPECT_GAP, 100.0).is_suspect


@given(SIZES, SIZES)
def test_the_more_a_forest_is_outdone_the_less_its_vote_is_worth(one, other):
    low, high = sorted((one, other))
    assert weight_of(Gap(low), DRIFTING_GAP) >= weight_of(Gap(high), DRIFTING_GAP)
    if high - low > 1e-3 and (low < 0 or high > 0.01):
        assert weight_of(Gap(low), DRIFTING_GAP) > weight_of(Gap(high), DRIFTING_GAP)


@given(SIZES)
def test_a_vote_is_worth_something_finite(size):
    assert 0 < weight_of(Gap(size), DRIFTING_GAP) < math.inf


def test_marks_on_the_scale_of_votes():
    assert weight_of(Gap(0.0), DRIFTING_GAP) == 1.0
    assert weight_of(Gap(DRIFTING_GAP), DRIFTING_GAP) == pytest.approx(1 / math.e)
    assert weight_of(Gap(-CLEAR_GAP), DRIFTING_GAP) == pytest.approx(math.e)
    assert weight_of(Gap(1e-9), DRIFTING_GAP) == pytest.approx(weight_of(Gap(-1e-9), DRIFTING_GAP))
    assert weight_of(Gap(0.02), DRIFTING_GAP) > 0.98, "a small gap costs next to nothing"
    assert weight_of(Gap(0.95), DRIFTING_GAP) < 1e-8, "a forest that a change left behind is silent"


@given(st.floats(0.001, 1))
def test_the_more_is_tolerated_the_more_an_outdone_forest_is_worth(size):
    assert weight_of(Gap(size), CLEAR_GAP) < weight_of(Gap(size), DRIFTING_GAP)
    assert weight_of(Gap(-size), CLEAR_GAP) == weight_of(Gap(-size), DRIFTING_GAP)
    assert weight_of(Gap(size), size) == pytest.approx(1 / math.e)


@given(SIZES, st.floats(-20, 20), st.floats(-20, 20))
def test_how_sure_a_gap_is_does_not_weigh(size, one, other):
    assert weight_of(Gap(size, one), DRIFTING_GAP) == weight_of(Gap(size, other), DRIFTING_GAP)
