"""What all rivals promise: scikit-learn's contract, new classes in any batch, errors that change nothing."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from adforest.libraries import require
from experiments import rivals
from experiments.rivals import (
    AddTreesForestClassifier,
    CIRFClassifier,
    NCMClassifier,
    NCMForestClassifier,
    RefitForestClassifier,
)

OWN = [
    RefitForestClassifier(random_state=0),
    RefitForestClassifier(window=None, random_state=0),
    AddTreesForestClassifier(random_state=0),
    CIRFClassifier(random_state=0),
    CIRFClassifier(base_forest="sysfor", random_state=0),
    NCMClassifier(),
    NCMForestClassifier(random_state=0),
]
FORESTS = OWN[:3]
NUMERICAL = OWN[3:7]


def named(models):
    return pytest.mark.parametrize("model", models, ids=[repr(model) for model in models])


def clusters(seed, classes=(0, 1), n=60):
    """Return one tight cluster a class, 10 apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 2)) + 10 * y[:, None], y


def answers(model, X):
    """Return all that can be told of a model from outside, and its pickle."""
    shares = model.predict_proba(X).tobytes() if hasattr(model, "predict_proba") else None
    return model.predict(X).tolist(), shares, model.classes_.tolist(), pickle.dumps(model)


@parametrize_with_checks([clone(model).set_params(random_state=None) for model in OWN])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@named(OWN)
def test_a_class_that_first_appears_in_the_third_batch_is_learnt(model):
    model = clone(model)
    model.partial_fit(*clusters(0)).partial_fit(*clusters(1))
    assert model.classes_.tolist() == [0, 1]
    model.partial_fit(*clusters(2, classes=[5]))
    assert model.classes_.tolist() == [0, 1, 5]
    X, y = clusters(3, classes=[5])
    if type(model) is AddTreesForestClassifier:  # two thirds of its trees never saw the class
        assert model.predict_proba(X)[:, 2].min() >= 0.3
    else:
        assert model.score(X, y) == 1


@named(OWN)
@pytest.mark.parametrize("values", [["rain", "sun", "fog"], [30, 10, 20], [True, False]])
def test_classes_are_sorted_whatever_their_order_of_arrival(model, values):
    model = clone(model)
    for place, value in enumerate(values):
        rng = np.random.default_rng(place)
        model.partial_fit(rng.normal(size=(30, 2)) + 20 * place, [value] * 30)
    assert model.classes_.tolist() == sorted(values)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(np.full((1, 2), 20.0 * (len(values) - 1)))
        assert shares[0, sorted(values).index(values[-1])] > 0
        np.testing.assert_allclose(shares.sum(axis=1), 1)


@named(OWN)
def test_declared_classes_are_there_before_their_first_sample(model):
    model = clone(model).partial_fit(*clusters(0), classes=[0, 1, 7])
    assert model.classes_.tolist() == [0, 1, 7]
    X, y = clusters(1)
    assert model.score(X, y) == 1
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X)[:, 2], 0)
    assert model.partial_fit(*clusters(2, [0, 1, 7])).classes_.tolist() == [0, 1, 7]


@named(OWN)
def test_fit_forgets_and_learns_the_same_as_a_first_partial_fit(model):
    one = clone(model).fit(*clusters(5, [2, 3])).fit(*clusters(0))
    two = clone(model).partial_fit(*clusters(0))
    assert answers(one, clusters(1)[0])[:3] == answers(two, clusters(1)[0])[:3]


BAD_BATCHES = {
    "an extra column": (np.ones((4, 3)), [0, 1, 0, 1], ValueError, "3 features, but .* expecting 2"),
    "infinity": ([[np.inf, 1], [1, 2]], [0, 1], ValueError, "infinity"),
    "text": ([["a", 1], ["b", 2]], [0, 1], TypeError, "column 0 of batch 3 holds text"),
    "too few labels": (np.ones((3, 2)), [0, 1], ValueError, "3 samples but 2 labels"),
    "no labels": (np.ones((3, 2)), None, ValueError, "Classifier requires y to be passed"),
    "a missing label": (np.ones((2, 2)), [0, np.nan], ValueError, "contains NaN"),
    "labels of another kind": (np.ones((2, 2)), ["a", "b"], TypeError, "the model learnt numbers"),
    "no samples": (np.ones((0, 2)), [], ValueError, "minimum of 1 is required"),
}


@named(OWN)
@pytest.mark.parametrize("case", BAD_BATCHES)
def test_a_bad_batch_is_refused_and_changes_nothing(model, case):
    model = clone(model).partial_fit(*clusters(0)).partial_fit(*clusters(1))
    before = answers(model, clusters(2)[0])
    X, y, error, text = BAD_BATCHES[case]
    with pytest.raises(error, match=text):
        model.partial_fit(X, y)
    assert answers(model, clusters(2)[0]) == before


@named(OWN)
def test_an_error_while_learning_changes_nothing(model, monkeypatch):
    model = clone(model).partial_fit(*clusters(0))
    before = answers(model, clusters(2)[0])
    learn = type(model)._learnt_from

    def interrupted(self, before, encoded):
        learn(self, before, encoded)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model), "_learnt_from", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(*clusters(1, [0, 1, 2]))
    monkeypatch.undo()
    assert answers(model, clusters(2)[0]) == before


@named(OWN)
def test_the_caller_may_reuse_its_array(model):
    X, y = clusters(0)
    kept, changed = clone(model).partial_fit(X.copy(), y), clone(model).partial_fit(X, y)
    X[:] = 0
    for one in (kept, changed):
        one.partial_fit(*clusters(1, [0, 1, 2]))
    assert answers(kept, clusters(2)[0])[:3] == answers(changed, clusters(2)[0])[:3]


@named(OWN)
def test_a_pickle_goes_on_learning_like_the_original(model):
    model = clone(model).partial_fit(*clusters(0))
    copy = pickle.loads(pickle.dumps(model))
    for one in (copy, model):
        one.partial_fit(*clusters(1, [0, 1, 2]))
    assert answers(copy, clusters(2)[0])[:3] == answers(model, clusters(2)[0])[:3]


@named(OWN)
def test_the_seed_fixes_the_model_on_any_number_of_threads(model):
    threads = [{"n_jobs": 1}, {"n_jobs": 3}] if "n_jobs" in model.get_params() else [{}, {}]
    # Classes that overlap, so that another forest would answer otherwise.
    X, y = np.random.default_rng(0).normal(size=(3, 80, 2)), np.random.default_rng(1).integers(0, 3, (2, 80))

    def learn(**change):
        one = clone(model).set_params(**change).partial_fit(X[0], y[0] % 2).partial_fit(X[1], y[1])
        return answers(one, X[2])[:3]

    first, second = (learn(**change) for change in threads)
    assert first == second
    draws_nothing = isinstance(model, NCMClassifier) or getattr(model, "base_forest", "") == "sysfor"
    if not draws_nothing:
        assert learn(random_state=1) != first


@named(OWN)
def test_missing_values_are_welcome(model):
    X, y = clusters(0, n=200)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 5.0
    model = clone(model).partial_fit(X, y).partial_fit(X, y)
    assert model.score(*clusters(1)) > 0.95
    model.predict([[np.nan, np.nan]])


@named(OWN)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_are_matched_by_name(model, frame):
    X, y = clusters(0)
    X[:, 1] = 0
    model = clone(model).partial_fit(frame({"size": X[:, 0], "none": X[:, 1]}), y)
    assert model.feature_names_in_.tolist() == ["size", "none"]
    turned = frame({"none": X[:, 1], "size": X[:, 0]})
    assert (model.partial_fit(turned, y).predict(turned) == y).all()
    with pytest.raises(ValueError, match="the missing one is 'none'"):
        model.predict(turned.drop("none", axis=1) if frame is pd.DataFrame else turned.drop("none"))


@named(FORESTS)
def test_forests_learn_categories(model):
    X, y = [["red", 1.0], ["blue", 2.0], ["red", 3.0], ["blue", 4.0]] * 5, ["warm", "cold"] * 10
    model = clone(model).set_params(max_features=None).partial_fit(X, y)
    model.partial_fit([["green", 1.0], ["blue", 1.0]] * 5, ["fresh", "cold"] * 5)
    assert model.predict([["blue", 1.5], ["mauve", None]])[0] == "cold"
    codes = clone(model).set_params(categorical_features=[0], max_features=None)
    assert codes.fit([[3, 1.0], [5, 1.0], [4, 1.0]] * 5, ["odd", "odd", "even"] * 5).predict([[4, 1.0]]) == ["even"]


@named(NUMERICAL)
def test_the_rest_learns_numbers_only_and_says_so(model):
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "kind": ["flat", "house", "flat"]})
    with pytest.raises(TypeError, match=r"numbers only, but column 'kind' of batch 1 .*'flat', 'house'.*Drop it, or"):
        clone(model).fit(frame, [0, 1, 0])
    with pytest.raises(TypeError, match="column 1 of batch 1"):
        clone(model).fit(frame.to_numpy(), [0, 1, 0])


@pytest.mark.parametrize("name", rivals.__all__)
def test_there_is_nothing_learnt_before_learning(name):
    model = getattr(rivals, name)()
    for attribute in ("classes_", "n_features_in_", "feature_names_in_"):
        assert not hasattr(model, attribute)
    assert {"partial_fit", "predict"} <= set(dir(model))
    assert hasattr(model, "predict_proba") == (name != "NCMClassifier")


def test_a_missing_library_is_named_with_what_to_install():
    with pytest.raises(
        ImportError, match=r"Some needs nowhere, .*No module.* pip install 'adforest\[extra\]' and tea\."
    ):
        require("nowhere.at_all", "Some", "extra", " and tea")


def test_the_import_brings_no_other_library_along():
    code = "import experiments.rivals, sys; print(*{'river', 'capymoa', 'jpype', 'lightgbm'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
