"""How many attributes a node tries."""

import math

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.growers import count_features


@pytest.mark.parametrize(
    ("m", "log2_and_one", "default"),
    [(1, 1, 1), (2, 2, 2), (3, 2, 2), (4, 3, 3), (16, 5, 5), (36, 6, 6), (49, 6, 7), (64, 7, 8), (784, 10, 28)],
)
def test_the_papers_count_and_the_default_by_hand(m, log2_and_one, default):
    assert count_features("log2+1", m) == log2_and_one
    assert count_features("default", m) == default


@pytest.mark.parametrize("max_features", ["default", "log2+1", "log2", "sqrt", None, 1, 3, 0.01, 0.5, 1.0, np.int64(7)])
def test_at_least_one_and_never_more_than_there_are(max_features):
    counts = [count_features(max_features, m) for m in range(1, 500)]
    assert all(1 <= count <= m for m, count in enumerate(counts, start=1))
    assert (np.diff(counts) >= 0).all()


@pytest.mark.parametrize("m", range(1, 300))
def test_the_default_is_the_larger_of_the_papers_and_scikit_learns(m):
    expected = min(m, max(int(math.log2(m)) + 1, int(math.sqrt(m))))
    assert count_features("default", m) == expected
    assert count_features("default", m) >= max(count_features("sqrt", m), count_features("log2+1", m))


def test_as_in_scikit_learn():
    assert [count_features(one, 100) for one in ("sqrt", "log2", None, 12, 0.25)] == [10, 6, 100, 12, 25]
    assert AdaptiveDecisionForestClassifier().max_features == "default"
