"""Class means against the means of all samples seen, distances against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.neighbors import NearestCentroid

from experiments.rivals import NCMClassifier
from experiments.rivals.means import ClassSums, squared_distances

WHOLE = st.integers(-1000, 1000).map(float)
GAPPY = st.one_of(WHOLE, st.just(np.nan))


@st.composite
def streams(draw, values=WHOLE):
    """Return a few batches of three columns."""
    batches = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 8))
        X = draw(hnp.arrays(np.float64, (n, 3), elements=values))
        batches.append((X, draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))))
    return batches


def learnt(batches):
    model = NCMClassifier()
    for X, y in batches:
        model.partial_fit(X, y)
    return model


@given(batches=streams())
def test_means_are_exactly_those_of_all_samples_seen(batches):
    model = learnt(batches)
    X, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    assert model.classes_.tolist() == np.unique(y).tolist()
    np.testing.assert_array_equal(
        model.means_, [X[y == value].sum(axis=0) / (y == value).sum() for value in np.unique(y)]
    )


@given(batches=streams(GAPPY))
def test_missing_values_take_no_part_in_means(batches):
    model = learnt(batches)
    X, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    for value, mean in zip(model.classes_, model.means_, strict=True):
        for j in range(3):
            known = [x for x in X[y == value, j] if not np.isnan(x)]
            np.testing.assert_array_equal(mean[j], sum(known) / len(known) if known else np.nan)


@given(
    X=hnp.arrays(np.float64, (5, 3), elements=GAPPY),
    means=hnp.arrays(np.float64, (4, 3), elements=GAPPY),
)
def test_distances_are_scikit_learns(X, means):
    expected = nan_euclidean_distances(X, means, squared=True)
    found = squared_distances(X, means)
    np.testing.assert_allclose(found, np.where(np.isnan(expected), np.inf, expected), atol=1e-6)


def test_distances_come_in_parts_without_a_seam(monkeypatch):
    rng = np.random.default_rng(0)
    X, means = rng.normal(size=(50, 3)), rng.normal(size=(4, 3))
    whole = squared_distances(X, means)
    monkeypatch.setattr("experiments.rivals.means.AT_ONCE", 40)
    np.testing.assert_array_equal(squared_distances(X, means), whole)


def test_the_nearest_mean_answers_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 400)
    X = rng.normal(size=(400, 3)) + y[:, None]
    model = NCMClassifier()
    for part in np.array_split(np.arange(400), 5):
        model.partial_fit(X[part], y[part])
    referee = NearestCentroid().fit(X, y)
    np.testing.assert_allclose(model.means_, referee.centroids_)
    np.testing.assert_array_equal(model.predict(X), referee.predict(X))


def test_an_offset_costs_no_digits():
    X = np.array([[0.0, 0.0], [1.0, 0.0]]) + 2.0**40
    assert NCMClassifier().fit(X, [0, 1]).predict(X + np.array([[0.25, 0], [-0.25, 0]])).tolist() == [0, 1]


def test_very_large_numbers():
    model = NCMClassifier().fit([[1e200, 0], [-1e200, 0], [1e200, 1e200]], [0, 1, 2])
    assert model.predict([[9e199, np.nan], [-1e199, 0], [1e200, 9e199], [1e-3, 1e155]]).tolist() == [0, 1, 2, 0]
    with pytest.raises(ValueError, match="column 1 adds up to more than a float can hold"):
        model.partial_fit([[0, 1.5e308], [0, 1.5e308]], [0, 0])
    assert model.means_[0].tolist() == [1e200, 0]


def test_sums_make_room_for_classes():
    one = ClassSums.of(np.array([[1.0]]), np.array([0], dtype=np.int32), 1)
    two = ClassSums.of(np.array([[5.0], [7.0]]), np.array([2, 2], dtype=np.int32), 3)
    np.testing.assert_array_equal(one.plus(two).means, [[1.0], [np.nan], [6.0]])
