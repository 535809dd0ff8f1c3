"""MOA's learners through CapyMOA: every one learns a class that comes late, by value."""

import pickle
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from experiments.rivals import CapyMOAClassifier
from experiments.rivals.capymoa import MODELS, ROOM, Learner
from experiments.running.protocols import evaluate_holdout
from experiments.specs.methods import is_installed
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec

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
    tight, wide = (Learner(name, {3: room}, 0, n_estimators=3) for room in (3, ROOM))
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
    assert model.moa_model_.moa_learner.getClass().getName() == f"moa.classifiers.{MODELS[name].java_class}"


def options(moa_learner):
    """Return the options that differ from MOA's defaults, those of a base learner among them."""
    return str(moa_learner.getOptions().getAsCLIString())


@every_model
def test_all_but_the_number_of_trees_is_as_in_moa_by_default(name):
    # Before the first sample: ARF and SRP set options of their own by the number of features.
    learner = Learner(name, {3: ROOM}, 0, n_estimators=7).capy.moa_learner
    default = type(learner)()
    if name not in ("HT", "HAT"):
        default.getOptions().setViaCLIString("-s 7")
    default.prepareForUse()
    assert options(learner) == options(default)


@every_model
def test_the_grace_period_reaches_the_trees(name):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 2))
    y = X[:, 0] > 0.5

    def learnt_with(grace_period):
        model = CapyMOAClassifier(name, 5, grace_period=grace_period, random_state=0)
        return model.partial_fit(X, y).partial_fit(X, y)

    often, never = learnt_with(10), learnt_with(100_000)
    assert "-g 10" in options(often.moa_model_.moa_learner)
    assert "-g 100000" in options(never.moa_model_.moa_learner)
    assert (often.predict_proba(X) != never.predict_proba(X)).any()


def test_the_grace_period_survives_copies_and_pickles():
    model = CapyMOAClassifier("OzaBag", 3, grace_period=30, random_state=0)
    for seed in range(2):
        model.partial_fit(*clusters(seed, ["walk", "sit"]))
    model = pickle.loads(pickle.dumps(model))
    assert "-g 30" in options(model.moa_model_.moa_learner)
    assert "-g 30" in model.moa_model_.CLI


@pytest.mark.parametrize("grace_period", [0, 2.5, "20"])
def test_a_grace_period_that_is_no_number_of_samples_is_refused(grace_period):
    with pytest.raises(ValueError, match="grace_period of "):
        CapyMOAClassifier(grace_period=grace_period).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", ["HT", "HAT", "OzaBag", "LeveragingBag", "ARF"])
def test_a_method_of_the_experiments_runs_with_the_paper_s_settings(name):
    run = RunSpec(StreamSpec.of("house", "34", n_samples=1200), MethodSpec(f"{name} (MOA)"), 0)
    assert is_installed(run.method)
    evaluation = evaluate_holdout(run, None)
    assert len(evaluation.rows) == 34
    told = options(evaluation.model.moa_model_.moa_learner)
    assert "-g 20" in told
    assert np.mean([row["accuracy"] for row in evaluation.rows]) > 1 / 7
