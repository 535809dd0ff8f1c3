"""LightGBM continued: declared classes are learnt late, others make it start again. LightGBM refitted on a window."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from experiments.rivals import ContinuedLightGBMClassifier, RefitLightGBMClassifier

pytest.importorskip("lightgbm", reason="LightGBM is not installed: pip install 'adforest[experiments]'")


@parametrize_with_checks([ContinuedLightGBMClassifier(), RefitLightGBMClassifier(5)])
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


# --- refitted


def refit(window, batches, **settings):
    model = RefitLightGBMClassifier(10, window=window, random_state=0, **settings)
    for batch in batches:
        model.partial_fit(*batch)
    return model


@pytest.mark.parametrize("window", [1, 2, None])
@pytest.mark.parametrize("classes", [["walk", "sit"], ["walk", "sit", "run"]])
def test_a_refit_is_a_fit_on_the_last_batches_together(window, classes):
    batches = [clusters(seed, classes) for seed in range(4)]
    kept = batches[-window:] if window else batches
    whole = [tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))]
    model, X = refit(window, batches), clusters(9, classes)[0]
    # Classes are coded by arrival, which need not be the same: answers are compared in the order of classes_.
    np.testing.assert_allclose(model.predict_proba(X), refit(None, whole).predict_proba(X), rtol=0.02, atol=0.01)
    assert model.booster_.num_trees() == 10 * (1 if len(classes) == 2 else 3)


def test_a_refit_is_lightgbm_s_own_classifier():
    from lightgbm import LGBMClassifier

    X, y = clusters(0, ["walk", "sit", "run"])
    codes = np.array([list(dict.fromkeys(y)).index(value) for value in y])
    own = LGBMClassifier(n_estimators=10, n_jobs=1, verbosity=-1, deterministic=True, force_col_wise=True)
    expected = own.fit(X, codes).booster_.predict(X)
    order = np.argsort(list(dict.fromkeys(y)))
    np.testing.assert_allclose(refit(None, [(X, y)], n_jobs=1).predict_proba(X), expected[:, order])


def test_a_refit_learns_classes_when_they_come_and_forgets_what_leaves_the_window():
    batches = [clusters(0, ["walk", "sit"]), clusters(1, ["walk", "sit"]), clusters(2, ["run"])]
    X, y = clusters(3, ["run", "sit", "walk"])
    assert refit(None, batches).score(X, y) > 0.98
    assert refit(3, batches).score(X, y) > 0.98
    model = refit(1, batches)
    assert model.booster_ is None
    assert model.classes_.tolist() == ["run", "sit", "walk"]
    assert model.predict_proba(X).tolist() == [[1.0, 0.0, 0.0]] * len(X)
    model.partial_fit(*clusters(4, ["sit", "walk"]))
    assert (model.predict_proba(X)[:, 0] == 0).all()
    assert model.score(X[y != "run"], y[y != "run"]) > 0.98


def test_a_refit_takes_categories_missing_values_and_a_caller_s_array():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", "green"], 400)
    frame = pd.DataFrame({"size": np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400)), "colour": colour})
    model = refit(None, [(frame[:200], colour[:200] == "blue"), (frame[200:], colour[200:] == "blue")])
    assert model.score(frame, colour == "blue") == 1
    assert model.predict(frame.assign(colour="mauve")).shape == (400,)
    X, y = clusters(0, ["walk", "sit"])
    kept, changed = refit(None, [(X.copy(), y)]), refit(None, [(X, y)])
    X[:] = 0
    for one in (kept, changed):
        one.partial_fit(*clusters(1, ["walk", "sit"]))
    new = clusters(2, ["walk", "sit"])[0]
    np.testing.assert_array_equal(kept.predict_proba(new), changed.predict_proba(new))
    copy = pickle.loads(pickle.dumps(kept))
    np.testing.assert_array_equal(copy.predict_proba(new), kept.predict_proba(new))
