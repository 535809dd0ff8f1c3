"""Learners of other libraries are those libraries' own, batch by batch; rules look at labels alone."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from experiments.rivals import RefitLightGBMClassifier, RiverClassifier, TrivialClassifier
from experiments.rivals.outside import as_frame


def clusters(seed, classes, n=150):
    """Return one cluster a class, that overlap a little; class values are text in no order."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    centre = {"walk": 0.0, "sit": 3.0, "run": 6.0}
    return rng.normal(size=(n, 3)) + np.array([centre[value] for value in y])[:, None], y


BATCHES = [clusters(seed, classes) for seed, classes in enumerate([["walk", "sit"], ["sit", "run"], ["walk", "run"]])]
X_NEW = clusters(9, ["walk", "sit", "run"])[0]


def learnt(model, batches=BATCHES):
    for X, y in batches:
        model.partial_fit(X, y)
    return model


def together(batches):
    return tuple(np.concatenate(parts) for parts in zip(*batches, strict=True))


def test_classes_may_be_numbers_and_are_sorted_as_such():
    pytest.importorskip("river", reason="River is not installed: pip install 'adforest[experiments]'")
    y = np.array([2, 10] * 200)
    model = RiverClassifier(random_state=0).partial_fit(y[:, None].astype(float), y)
    assert model.classes_.tolist() == [2, 10]
    assert model.predict(np.array([[10.0]])).tolist() == [10]


@pytest.mark.parametrize("classes", [["walk", "sit"], ["walk", "sit", "run"]])
def test_a_refit_is_lightgbm_s_own_classifier(classes):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed: pip install 'adforest[experiments]'")
    batches = [clusters(seed, classes) for seed in range(3)]
    model = learnt(RefitLightGBMClassifier(window=2, random_state=0), batches)
    X, y = together(batches[-2:])
    own = lightgbm.LGBMClassifier(
        n_jobs=1, verbosity=-1, deterministic=True, force_col_wise=True, random_state=model.learner_.random_state
    )
    found = own.fit(X, y).booster_.predict(X_NEW)
    np.testing.assert_allclose(model.predict_proba(X_NEW)[:, -1], found if found.ndim == 1 else found[:, -1])
    assert pickle.loads(pickle.dumps(model)).predict_proba(X_NEW).tolist() == model.predict_proba(X_NEW).tolist()


def test_a_window_of_one_class_predicts_it():
    model = learnt(RefitLightGBMClassifier(window=1, random_state=0), [BATCHES[0], clusters(3, ["run"])])
    assert model.predict_proba(X_NEW).tolist() == [[1.0, 0.0, 0.0]] * len(X_NEW)


MODELS = ("amf", "arf", "hat", "ht", "knn", "leveraging", "oza", "srp")


@pytest.mark.parametrize("name", MODELS)
def test_river_learns_a_class_that_first_appears_in_the_third_batch(name):
    pytest.importorskip("river", reason="River is not installed: pip install 'adforest[experiments]'")
    model = learnt(RiverClassifier(name, n_estimators=3, random_state=0), [clusters(0, ["walk", "sit"])] * 2)
    assert model.classes_.tolist() == ["sit", "walk"]
    for seed in range(2, 5):
        model.partial_fit(*clusters(seed, ["run", "walk", "sit"]))
    X, y = clusters(9, ["walk", "sit", "run"])
    assert model.score(X, y) > 0.7
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert not hasattr(clone(model), "learner_")


def test_predictions_are_river_s_own_with_categories_as_text_and_without_what_is_missing():
    tree = pytest.importorskip("river.tree", reason="River is not installed: pip install 'adforest[experiments]'")
    model, own = RiverClassifier("ht", categorical_features=[True, False, False]), tree.HoeffdingTreeClassifier()

    def rows(X):
        for a, b, c in X.tolist():
            yield {j: value for j, value in enumerate((str(a), b, c)) if value == value}

    for seed in range(4):
        X, y = clusters(seed, ["walk", "sit", "run"])
        X[:, 0], X[::7, 1] = X[:, 0].round(), np.nan
        if seed:
            for x, shares in zip(rows(X), model.predict_proba(X), strict=True):
                expected = own.predict_proba_one(x)
                np.testing.assert_allclose(shares, [expected.get(value, 0) for value in model.classes_])
        model.partial_fit(X, y)
        for x, label in zip(rows(X), y.tolist(), strict=True):
            own.learn_one(x, label)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("prior-all", [3 / 7, 3 / 7, 1 / 7]), ("no-change", [0, 1, 0]), ("successor", [0.5, 0, 0.5])],
)
def test_rules_look_at_labels_alone(rule, expected):
    y = np.array(list("abcabab"))
    one, two = (TrivialClassifier(rule) for _ in range(2))
    one.partial_fit(np.zeros((7, 1)), y)
    for label in y:
        two.partial_fit(np.zeros((1, 1)), np.array([label]))
    for model in (one, two):
        np.testing.assert_allclose(model.predict_proba(np.zeros((2, 1))), [expected] * 2)
        assert model.classes_.tolist() == ["a", "b", "c"]


def test_categories_are_text_and_numbers_stay_numbers():
    frame = as_frame(np.array([[1.0, 2.5], [np.nan, np.nan]]), [True, False])
    assert [frame[j].dtype.kind for j in frame] == ["O", "f"]
    assert frame[0].tolist() == ["1.0", None]
