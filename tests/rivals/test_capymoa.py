"""MOA's learners through CapyMOA: every one learns a class that comes late, by value."""

import pickle
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from adforest.rivals import CapyMOAClassifier
from adforest.rivals.capymoa import MODELS, ROOM, Learner

if shutil.which("java") is None:
    pytest.skip("there is no Java, which CapyMOA needs", allow_module_level=True)
pytest.importorskip("jpype", reason="CapyMOA is not installed: pip install 'adforest[capymoa]'")
pytest.importorskip("capymoa", reason="CapyMOA is not installed: pip install 'adforest[capymoa]'")
every_model = pytest.mark.parametrize("name", MODELS)


def unfit(estimator):
    """Return the checks an estimator cannot pass, and why."""
    if estimator.model != "SRP":
        return {}
    reason = "MOA cannot save StreamingRandomPatches"
    return {"check_estimators_pickle": reason}


# All six pass but for SRP's pickle; one tree, one ensemble and SRP stand for the rest, to save time.
@parametrize_with_checks(
    [CapyMOAClassifier(name, n_estimators=2) for name in ("HT", "ARF", "SRP")],
    expected_failed_checks=unfit,
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def clusters(seed, classes, n=150):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    centre = {"walk": 0.0, "sit": 6.0, "run": 12.0}
    return rng.normal(size=(n, 3)) + np.array([centre[value] for value in y])[:, None], y


def learnt(name):
    model = CapyMOAClassifier(name, n_estimators=3, random_state=0)
    return model.partial_fit(*clusters(0, ["walk", "sit"])).partial_fit(*clusters(1, ["sit", "walk"]))


@every_model
def test_a_class_that_first_appears_in_the_third_batch_is_learnt(name):
    model = learnt(name)
    assert model.classes_.tolist() == ["sit", "walk"]
    for seed in range(2, 5):
        model.partial_fit(*clusters(seed, ["run", "walk", "sit"]))
    assert model.classes_.tolist() == ["run", "sit", "walk"]
    X, y = clusters(9, ["walk", "sit", "run"])
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@every_model
def test_room_to_spare_changes_no_answer(name):
    options = {} if name in ("HT", "HAT") else {"ensemble_size": 3}
    tight, wide = (Learner(MODELS[name], {3: room}, 0, options) for room in (3, ROOM))
    for seed, classes in enumerate([["walk", "sit"], ["walk", "sit"], ["walk", "sit", "run"]]):
        X, y = clusters(seed, classes)
        codes = [["walk", "sit", "run"].index(value) for value in y]
        tight.train(X, codes)
        wide.train(X, codes)
    X, _ = clusters(9, ["walk", "sit", "run"])
    np.testing.assert_array_equal(tight.votes(X, 3), wide.votes(X, 3))


def test_more_classes_or_categories_than_there_is_room_for_are_refused():
    model = CapyMOAClassifier("HT").partial_fit([[0.0, "a"], [1.0, "b"]], [0, 1])
    before = model.predict_proba([[0.0, "a"]])
    with pytest.raises(ValueError, match=r"batch 2 brings the number of classes to 101, .* room for 100.* fit"):
        model.partial_fit([[0.0, "a"]] * 101, list(range(101)))
    with pytest.raises(ValueError, match=r"number of categories of column 1 to 102, .* room for 100"):
        model.partial_fit([[0.0, f"new {i}"] for i in range(100)] * 3, [0, 1] * 150)
    np.testing.assert_array_equal(model.predict_proba([[0.0, "a"]]), before)
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "SRP"])
def test_errors_leave_the_model_as_it_was_and_pickles_go_on_learning(name, monkeypatch):
    model = learnt(name)
    X, y = clusters(2, ["walk", "sit", "run"])
    before = model.predict_proba(X)
    train = Learner.train

    def broken(self, X, y):
        train(self, X[:50], y[:50])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Learner, "train", broken)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), before)
    np.testing.assert_array_equal(copy.partial_fit(X, y).predict_proba(X), model.partial_fit(X, y).predict_proba(X))


def test_srp_says_that_it_cannot_be_pickled():
    with pytest.raises(TypeError, match="cannot be pickled, because MOA cannot save it"):
        pickle.dumps(learnt("SRP"))


@every_model
def test_categories_and_missing_values(name):
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue"] * 150)
    frame = pd.DataFrame({"colour": colour, "size": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))})
    model = CapyMOAClassifier(name, n_estimators=3, random_state=0)
    model.partial_fit(frame, colour).partial_fit(frame, colour)
    assert model.score(frame, colour) > 0.9
    assert model.predict(frame.assign(colour="mauve")).shape == (300,)
    assert type(model.moa_model_).__name__ == MODELS[name]
