import math

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiments.comparison.published import PUBLISHED_METHODS, read_published
from experiments.comparison.significance import critical_difference, rank_test, sign_test

OVERALL = read_published("overall_accuracy").figures


def test_sign_test_by_hand():
    # 8 of 10 by a coin: (45 + 10 + 1) of 1024; the textbook's z is (8 - 0.5 - 5) / (sqrt(10) / 2).
    ours, theirs = [1.0] * 8 + [0.0] * 2 + [0.5], [0.5] * 11
    test = sign_test(ours, theirs)
    assert (test.wins, test.losses, test.ties) == (8, 2, 1)
    assert test.p == pytest.approx(56 / 1024)
    assert test.z == pytest.approx(2.5 / (math.sqrt(10) / 2))
    assert not test.is_significant


def test_sign_test_of_the_paper_s_own_batches():
    figures = read_published("ldpa_34_batches_accuracy").figures
    found = {name: sign_test(figures["ADF-S"], figures[name]) for name in PUBLISHED_METHODS if name != "ADF-S"}
    assert all(test.is_significant and test.z > 1.96 for test in found.values())
    assert (found["SysFor"].wins, found["SysFor"].losses, found["SysFor"].ties) == (25, 8, 1)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_sign_test_turns_round(pairs):
    ours, theirs = zip(*pairs, strict=True)
    one, other = sign_test(ours, theirs), sign_test(theirs, ours)
    assert one.z == -other.z
    assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)
    assert one.wins + one.losses + one.ties == len(pairs)
    assert 0 < one.p <= 1


def test_average_ranks_of_the_paper_s_table_by_hand():
    # LDPA ranks ADF-S first, ADF-R second, UIFWA, EB and AReM the other way round, Avila and House as LDPA.
    ranks = rank_test(OVERALL).ranks
    assert ranks["ADF-R"] == ranks["ADF-S"] == pytest.approx((2 + 1 + 1 + 1 + 2 + 2) / 6)
    assert ranks["RF"] == pytest.approx((4 + 3 + 6 + 3 + 3 + 4) / 6)
    assert ranks["LeveragingBag"] == pytest.approx((11 + 8 + 10 + 11 + 11 + 9) / 6)
    assert sum(ranks.values()) == pytest.approx(11 * 12 / 2)
    assert list(ranks.values()) == sorted(ranks.values())


def test_friedman_and_nemenyi_agree_with_the_libraries():
    test = rank_test(OVERALL)
    matrix = np.column_stack(list(OVERALL.values()))
    expected = stats.friedmanchisquare(*matrix.T)
    assert (test.statistic, test.p) == pytest.approx((expected.statistic, expected.pvalue))
    pairs = scikit_posthocs.posthoc_nemenyi_friedman(matrix).to_numpy()
    names = list(OVERALL)
    assert test.pairs["ADF-S", "HT"] == pytest.approx(pairs[names.index("ADF-S"), names.index("HT")])
    assert ("HT", "HT") not in test.pairs


def test_six_data_sets_do_not_tell_adf_from_the_refitted_forests():
    # The paper says they do; its own table, ranked over data sets, does not.
    test = rank_test(OVERALL)
    assert test.pairs["ADF-S", "RF"] > 0.9
    assert abs(test.ranks["ADF-S"] - test.ranks["RF"]) < test.difference
    assert abs(test.ranks["ADF-S"] - test.ranks["HAT"]) > test.difference


# Demšar (2006), table 5(a): q at 5 % for 2, 5 and 10 methods.
@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_difference_is_demsar_s(n_methods, q):
    expected = q * math.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert critical_difference(n_methods, 14) == pytest.approx(expected, abs=2e-3)


def test_pairs_beyond_the_critical_difference_are_those_below_five_percent():
    test = rank_test(OVERALL)
    for (one, other), p in test.pairs.items():
        assert (abs(test.ranks[one] - test.ranks[other]) > test.difference) == (p < 0.05)
