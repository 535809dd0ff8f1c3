"""River's learners: every one learns a class that comes late, by value, and is left alone by errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from experiments.rivals import RiverClassifier
from experiments.rivals.river import MODELS, NUMBERS_ONLY

river = pytest.importorskip("river", reason="River is not installed: pip install 'adforest[experiments]'")
every_model = pytest.mark.parametrize("name", MODELS)


# One tree, one ensemble and one that takes no categories stand for the rest, to save time.
CHECKED = ("hoeffding_tree", "adaptive_random_forest", "mondrian_forest")


@parametrize_with_checks([RiverClassifier(name, n_estimators=2) for name in CHECKED])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def clusters(seed, classes, n=150):
    """Return one tight cluster a class; class values are text in no order."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    centre = {"walk": 0.0, "sit": 6.0, "run": 12.0}
    return rng.normal(size=(n, 3)) + np.array([centre[value] for value in y])[:, None], y


def learnt(name, **changes):
    model = RiverClassifier(name, n_estimators=3, random_state=0, **changes)
    return model.partial_fit(*clusters(0, ["walk", "sit"])).partial_fit(*clusters(1, ["sit", "walk"]))


@every_model
def test_a_class_that_first_appears_in_the_third_batch_is_learnt(name):
    model = learnt(name)
    assert model.classes_.tolist() == ["sit", "walk"]
    for seed in range(2, 5):
        model.partial_fit(*clusters(seed, ["run", "walk", "sit"]))
    assert model.classes_.tolist() == ["run", "sit", "walk"]
    X, y = clusters(9, ["walk", "sit", "run"])
    assert model.score(X, y) > 0.8
    assert (model.predict(X)[y == "run"] == "run").mean() > 0.5
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_answers_are_rivers_own_by_value():
    model = RiverClassifier("hoeffding_tree")
    own = river.tree.HoeffdingTreeClassifier()
    for seed, classes in enumerate([["walk"], ["sit", "walk"], ["run", "sit"]]):
        X, y = clusters(seed, classes)
        model.partial_fit(X, y)
        for sample, value in zip(X.tolist(), y.tolist(), strict=True):
            own.learn_one(dict(enumerate(sample)), value)
    X, _ = clusters(9, ["walk", "sit", "run"])
    for sample, shares in zip(X.tolist(), model.predict_proba(X), strict=True):
        expected = own.predict_proba_one(dict(enumerate(sample)))
        np.testing.assert_allclose(shares, [expected.get(value, 0) for value in ["run", "sit", "walk"]])


@every_model
def test_errors_leave_the_model_as_it_was(name, monkeypatch):
    model = learnt(name)
    X, y = clusters(2, ["walk", "sit"])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit([[np.inf, 1, 2]], ["run"])

    def broken(samples, encoder):
        yield from [dict(enumerate(sample)) for sample in samples[:50].tolist()]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("experiments.rivals.river._as_dicts", broken)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, np.where(y == "sit", "run", y))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.classes_.tolist() == ["sit", "walk"]


@every_model
def test_missing_values_are_left_out(name):
    X, y = clusters(0, ["walk", "sit"])
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = RiverClassifier(name, n_estimators=3, random_state=0).partial_fit(X, y).partial_fit(X, y)
    assert model.score(*clusters(1, ["walk", "sit"])) > 0.8


@every_model
def test_categories_are_fed_as_text(name):
    colour = np.array(["red", "blue"] * 150)
    frame = pd.DataFrame({"colour": colour, "size": np.random.default_rng(0).normal(size=300)})
    model = RiverClassifier(name, n_estimators=3, random_state=0)
    if name in NUMBERS_ONLY:
        with pytest.raises(TypeError, match="learns numbers only, but column 'colour'"):
            model.fit(frame, colour)
        return
    model.partial_fit(frame, colour).partial_fit(frame, colour)
    assert model.score(frame, colour) == 1
    assert model.predict(frame.assign(colour="mauve")).shape == (300,)


def test_a_pickle_goes_on_learning_like_the_original():
    model = learnt("adaptive_random_forest")
    copy = pickle.loads(pickle.dumps(model))
    X, y = clusters(2, ["walk", "run"])
    np.testing.assert_array_equal(copy.partial_fit(X, y).predict_proba(X), model.partial_fit(X, y).predict_proba(X))
    assert not hasattr(clone(model), "river_model_")
    assert type(model.river_model_).__name__ == "ARFClassifier"


def test_the_number_of_trees_reaches_river():
    assert len(learnt("oza_bagging").river_model_) == 3
    assert len(learnt("streaming_random_patches").river_model_) == 3
    with pytest.raises(ValueError, match="model of RiverClassifier is 'forest'; expected 'adaptive_random_forest' or"):
        RiverClassifier("forest").fit([[0.0]], [0])
