"""Kernels on the last labelled samples: neighbours by shared leaves, counts of labels and of pairs, all by hand."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adforest.forest._kernels.recent import count_labels, merge_pairs, probabilities


@given(
    n=st.integers(0, 5),
    n_near=st.integers(0, 7),
    n_trees=st.integers(1, 4),
    n_classes=st.integers(1, 4),
    seed=st.integers(0, 999),
)
def test_neighbours_count_by_the_share_of_trees_with_the_same_leaf(n, n_near, n_trees, n_classes, seed):
    rng = np.random.default_rng(seed)
    leaves, others = (rng.integers(0, 3, (n_trees, one)).astype(np.int32) for one in (n, n_near))
    y, weight = rng.integers(0, n_classes, n_near).astype(np.int32), rng.random(n_near)
    votes, frequencies = rng.integers(0, 3, (n, n_classes)).astype(float), rng.random(n_classes)
    found = probabilities(votes, leaves, others, y, weight, 0.05, frequencies, 4)
    for i in range(n):
        own = votes[i] / votes[i].sum() if votes[i].any() else np.full(n_classes, 1 / n_classes)
        near = 0.05 * own
        for j in range(n_near):
            near[y[j]] += weight[j] * np.mean(leaves[:, i] == others[:, j]) ** 4
        np.testing.assert_allclose(found[:, i], [own, near / near.sum(), frequencies], atol=1e-12)
    assert found.shape == (3, n, n_classes)


labels = st.lists(st.integers(0, 4), min_size=1, max_size=30)


def packed(labels):
    return np.sort(np.array([(a << 32) + b for a, b in pairwise(labels)], dtype=np.int64))


@given(first=labels, then=labels)
def test_pairs_are_counted(first, then):
    nothing = np.empty(0, dtype=np.int64)
    pairs, counts = merge_pairs(*merge_pairs(nothing, nothing, packed(first)), packed(then))
    assert dict(zip(pairs.tolist(), counts.tolist(), strict=True)) == Counter([*packed(first), *packed(then)])
    assert (np.diff(pairs) > 0).all()
    y = np.array(then, dtype=np.int32)
    none, last, lately, followers = count_labels(y, 3, pairs, counts, 6)
    assert not none.any()
    assert last.tolist() == np.bincount(y[-1:], minlength=6).tolist()
    assert lately.tolist() == np.bincount(y[-3:], minlength=6).tolist()
    expected = Counter(b for one in (first, then) for a, b in pairwise(one) if a == then[-1])
    assert followers.tolist() == [expected[k] for k in range(6)]
