"""Forests refitted on a window, and forests that trees are added to."""

import numpy as np
import pytest

from experiments.rivals import AddTreesForestClassifier, RefitForestClassifier


def noisy(seed, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


BATCHES = [noisy(seed) for seed in range(4)]
X_NEW = noisy(9)[0]


@pytest.mark.parametrize("window", [1, 2, 3, 10, None])
def test_a_refit_is_a_fit_on_the_last_batches_together(window):
    model = RefitForestClassifier(window=window, random_state=0)
    for number, batch in enumerate(BATCHES, start=1):
        model.partial_fit(*batch)
        kept = BATCHES[:number][-window:] if window else BATCHES[:number]
        X, y = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        whole = RefitForestClassifier(random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X_NEW), whole.predict_proba(X_NEW))
        assert len(model.forest_) == 10


def test_what_falls_out_of_the_window_is_forgotten():
    model = RefitForestClassifier(window=1, random_state=0).partial_fit([[0.0], [1.0]], ["a", "b"])
    model.partial_fit([[0.0], [1.0]], ["c", "d"])
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(model.predict_proba([[0.0], [1.0]])[:, :2], 0)


def test_trees_are_added_by_every_batch_and_none_is_dropped():
    model = AddTreesForestClassifier(trees_per_batch=3, random_state=0)
    trees = ()
    for number, batch in enumerate(BATCHES, start=1):
        model.partial_fit(*batch)
        assert len(model.forest_) == 3 * number
        assert model.forest_.trees[: len(trees)] == trees
        trees = model.forest_.trees
    assert len({tree.seed for tree in trees}) == len(trees)


def test_all_trees_vote_alike_by_their_shares():
    model = AddTreesForestClassifier(trees_per_batch=4, random_state=0)
    alone = []
    for batch in BATCHES[:3]:
        model.partial_fit(*batch)
        votes = np.zeros((len(X_NEW), 2))
        for tree in model.forest_.trees[-4:]:
            tree.vote(X_NEW, votes, soft=True)
        alone.append(votes / 4)
    np.testing.assert_allclose(model.predict_proba(X_NEW), np.mean(alone, axis=0))


@pytest.mark.parametrize(
    ("estimator", "wrong"),
    [
        (RefitForestClassifier, {"window": 0}),
        (RefitForestClassifier, {"n_estimators": 0}),
        (AddTreesForestClassifier, {"trees_per_batch": 0}),
        (AddTreesForestClassifier, {"max_features": "some"}),
    ],
)
def test_parameters_are_checked_when_learning(estimator, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of "):
        estimator(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_leaf_size_and_attributes_reach_the_trees():
    X, y = BATCHES[0]
    large = RefitForestClassifier(min_samples_leaf=20, random_state=0).fit(X, y)
    small = RefitForestClassifier(random_state=0).fit(X, y)
    assert large.forest_.n_leaves < small.forest_.n_leaves / 3
    every = RefitForestClassifier(max_features=None, random_state=0).fit(X, y)
    assert all(tree.nodes["split"][0] >> 2 == 0 for tree in every.forest_.trees), "the first attribute is the only one"
