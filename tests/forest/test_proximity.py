"""Neighbours by leaves that samples share, against counting by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adforest.forest._kernels.proximity import weigh_classes


@given(
    n=st.integers(0, 5),
    n_others=st.integers(0, 7),
    n_trees=st.integers(1, 4),
    n_classes=st.integers(1, 4),
    seed=st.integers(0, 999),
)
def test_classes_are_weighed_by_the_share_of_trees_with_the_same_leaf(n, n_others, n_trees, n_classes, seed):
    rng = np.random.default_rng(seed)
    leaves = [rng.integers(0, 3, n).astype(np.int32) for _ in range(n_trees)]
    others = rng.integers(0, 3, (n_trees, n_others)).astype(np.int32)
    y, weight = rng.integers(0, n_classes, n_others).astype(np.int32), rng.random(n_others)
    expected = np.zeros((n, n_classes))
    for i in range(n):
        for j in range(n_others):
            share = np.mean([leaves[tree][i] == others[tree, j] for tree in range(n_trees)])
            expected[i, y[j]] += weight[j] * share**4
    np.testing.assert_allclose(weigh_classes(leaves, others, y, weight, n_classes), expected, atol=1e-12)
