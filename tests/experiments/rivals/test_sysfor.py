"""SysFor on its own: systematic, refitted on its window, answered by the majority."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from experiments.rivals import SysForClassifier


def clusters(seed, classes=(0, 1, 2), n=90):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 3)) + 5 * y[:, None], y


def test_nothing_is_drawn_by_lot():
    X, y = clusters(0)
    first, second = (SysForClassifier(n_jobs=n).fit(X, y) for n in (1, 4))
    for one, other in zip(first.forest_.trees, second.forest_.trees, strict=True):
        np.testing.assert_array_equal(one.nodes, other.nodes)


def test_fewer_trees_where_the_data_offer_no_more():
    assert len(SysForClassifier(n_estimators=50).fit([[0], [1]], ["a", "b"]).forest_) == 1
    X, y = clusters(0)
    assert 3 <= len(SysForClassifier(n_estimators=500).fit(X, y).forest_) < 500


@pytest.mark.parametrize(("window", "start"), [(1, 3), (2, 2), (None, 0)])
def test_a_refit_is_a_fit_on_the_window(window, start):
    batches = [clusters(seed) for seed in range(4)]
    model = SysForClassifier(window=window)
    for X, y in batches:
        model.partial_fit(X, y)
    X, y = (np.concatenate(parts) for parts in zip(*batches[start:], strict=True))
    alone = SysForClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_shares_are_shares_of_votes():
    X, y = clusters(1)
    model = SysForClassifier(n_estimators=4).fit(X, y)
    votes = model.predict_proba(X) * len(model.forest_)
    np.testing.assert_allclose(votes, np.round(votes))


def test_a_class_that_first_appears_in_the_third_batch():
    model = SysForClassifier(window=3)
    for number in range(3):
        model.partial_fit(*clusters(number, (0, 1) if number < 2 else (0, 1, 2)))
    X, y = clusters(9, (2,))
    assert model.score(X, y) > 0.9


@parametrize_with_checks([SysForClassifier()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)
