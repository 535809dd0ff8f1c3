"""How many features a node tries."""

import numpy as np

from adforest import AdaptiveDecisionForestClassifier
from adforest.growers import count_features


def test_the_papers_count_and_the_default_by_hand():
    by_hand = {
        1: (1, 1),
        2: (2, 2),
        3: (2, 2),
        4: (3, 3),
        16: (5, 5),
        36: (6, 6),
        49: (6, 7),
        784: (10, 28),
    }
    for m, expected in by_hand.items():
        assert (count_features("log2+1", m), count_features("default", m)) == expected


def test_at_least_one_and_never_more_than_there_are():
    for max_features in ("default", "log2+1", "log2", "sqrt", None, 1, 3, 0.01, 0.5, 1.0, np.int64(7)):
        counts = [count_features(max_features, m) for m in range(1, 500)]
        assert all(1 <= count <= m for m, count in enumerate(counts, start=1)), max_features
        assert (np.diff(counts) >= 0).all(), max_features


def test_as_in_scikit_learn():
    assert [count_features(one, 100) for one in ("sqrt", "log2", None, 12, 0.25)] == [10, 6, 100, 12, 25]
    assert AdaptiveDecisionForestClassifier().max_features == "default"
