"""LightGBM continued: declared classes are learnt late, others make it start again."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from experiments.rivals import ContinuedLightGBMClassifier

pytest.importorskip("lightgbm", reason="LightGBM is not installed: pip install 'adforest[experiments]'")


@parametrize_with_checks([ContinuedLightGBMClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def clusters(seed, classes, n=300):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    centre = {"walk": 0.0, "sit": 6.0, "run": 12.0}
    return rng.normal(size=(n, 3)) + np.array([centre[value] for value in y])[:, None], y


def model_of_two(**first):
    model = ContinuedLightGBMClassifier(random_state=0).partial_fit(*clusters(0, ["walk", "sit"]), **first)
    return model.partial_fit(*clusters(1, ["sit", "walk"]))


def test_a_declared_class_that_first_appears_in_the_third_batch_is_learnt():
    model = model_of_two(classes=["run", "sit", "walk"])
    assert model.booster_.num_trees() == 2 * 10 * 3
    X, y = clusters(3, ["run", "sit", "walk"])
    known = y != "run"
    assert model.score(X[known], y[known]) > 0.98
    assert model.partial_fit(*clusters(2, ["walk", "run", "sit"])).score(X, y) > 0.95
    assert model.n_restarts_ == 0


def test_a_class_that_was_not_declared_makes_it_start_again():
    model = model_of_two()
    assert model.n_restarts_ == 0
    assert model.booster_.num_trees() == 2 * 10 * 2
    model.partial_fit(*clusters(2, ["run", "sit"]))
    assert model.n_restarts_ == 1
    assert model.booster_.num_trees() == 10 * 3
    X, y = clusters(3, ["run", "sit"])
    assert model.score(X, y) > 0.98
    assert "walk" in model.classes_


def test_one_class_leaves_room_for_a_second():
    model = ContinuedLightGBMClassifier(random_state=0).partial_fit(*clusters(0, ["walk"]))
    assert model.predict_proba([[0.0] * 3]).tolist() == [[1.0]]
    model.partial_fit(*clusters(1, ["sit", "walk"]))
    assert model.n_restarts_ == 0
    assert model.score(*clusters(2, ["sit", "walk"])) == 1


def test_a_batch_of_one_class_gives_it_nothing_to_boost():
    model, X = model_of_two(classes=["run", "sit", "walk"]), clusters(3, ["run", "sit", "walk"])[0]
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.partial_fit(*clusters(2, ["run"])).predict_proba(X), before)
    model = model_of_two().partial_fit(*clusters(2, ["run"]))
    assert set(model.predict(X)) == {"run"}
    assert model.n_restarts_ == 1
    X, y = clusters(4, ["run", "sit", "walk"])
    assert model.partial_fit(X, y).score(X, y) > 0.98
    assert model.n_restarts_ == 1


def test_errors_leave_the_model_as_it_was():
    model = model_of_two()
    X, _ = clusters(2, ["walk", "sit"])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit([[np.inf, 1, 2]], ["run"])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.classes_.tolist() == ["sit", "walk"]


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", "green"], 400)
    frame = pd.DataFrame({"size": np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400)), "colour": colour})
    is_cold = colour == "blue"
    model = ContinuedLightGBMClassifier(random_state=0).partial_fit(frame[:200], is_cold[:200])
    assert model.partial_fit(frame[200:], is_cold[200:]).score(frame, is_cold) == 1
    assert model.predict(frame.assign(colour="mauve")).shape == (400,)


def test_the_seed_fixes_the_model_and_a_pickle_goes_on_learning():
    model, X = model_of_two(), clusters(2, ["walk", "sit"])[0]
    np.testing.assert_array_equal(model.predict_proba(X), model_of_two().predict_proba(X))
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(*clusters(5, ["walk", "sit"]))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
