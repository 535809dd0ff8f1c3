"""MOA's learners through CapyMOA: every one learns a class that comes late, with MOA's defaults."""

import pickle
import shutil

import numpy as np
import pandas as pd
import pytest

from experiments.rivals import CapyMOAClassifier
from experiments.running.protocols import evaluate_holdout
from experiments.specs.methods import is_installed
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from nextbatch.learners.streaming import MOA, ROOM, CapyMOA

if shutil.which("java") is None:
    pytest.skip("there is no Java, which CapyMOA needs", allow_module_level=True)
pytest.importorskip("jpype", reason="CapyMOA is not installed: pip install 'adforest[capymoa]'")
pytest.importorskip("capymoa", reason="CapyMOA is not installed: pip install 'adforest[capymoa]'")
every_model = pytest.mark.parametrize("name", MOA)


def clusters(seed, classes, n=150):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    centre = {"walk": 0.0, "sit": 6.0, "run": 12.0}
    return rng.normal(size=(n, 3)) + np.array([centre[value] for value in y])[:, None], y


def learner(name, room=None, **changes):
    made = CapyMOA(name, n_models=3, **changes)
    made.reset()
    made.start(3, room or {})
    return made


def options(moa_learner):
    """Return the options that differ from MOA's defaults, those of a base learner among them."""
    return str(moa_learner.getOptions().getAsCLIString())


@every_model
def test_a_class_that_first_appears_in_the_third_batch_is_learnt(name):
    model = CapyMOAClassifier(name, n_estimators=3, random_state=0)
    model.partial_fit(*clusters(0, ["walk", "sit"])).partial_fit(*clusters(1, ["sit", "walk"]))
    assert model.classes_.tolist() == ["sit", "walk"]
    for seed in range(2, 5):
        model.partial_fit(*clusters(seed, ["run", "walk", "sit"]))
    X, y = clusters(9, ["walk", "sit", "run"])
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@every_model
def test_room_to_spare_changes_no_prediction(name, monkeypatch):
    X, y = clusters(0, ["walk", "sit", "run"])
    X[:, 0] = X[:, 0].round() % 3
    wide = learner(name, {0: ROOM})
    monkeypatch.setattr("nextbatch.learners.streaming.ROOM", 3)
    tight = learner(name, {0: 3})
    for one in (tight, wide):
        one.train(X, y.tolist())
    np.testing.assert_array_equal(tight.votes(X), wide.votes(X)[:, :3])


def test_more_classes_than_there_is_room_for_are_an_error():
    with pytest.raises(ValueError, match="more than 100 classes"):
        learner("ht").train(np.zeros((101, 3)), list(range(101)))


@every_model
def test_categories_and_missing_values(name):
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue"] * 150)
    frame = pd.DataFrame({"colour": colour, "size": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))})
    frame["colour"] = pd.Series(colour.tolist(), dtype=object)
    made = CapyMOA(name, n_models=3)
    made.reset()
    for _ in range(2):
        made.partial_fit(frame, colour.astype(object))
    found = made.predict_proba(frame)
    assert np.mean(found.columns.to_numpy()[found.to_numpy().argmax(axis=1)] == colour) > 0.9
    assert made.predict_proba(frame.assign(colour=pd.Series(["mauve"] * 300, dtype=object))).shape == (300, 2)
    assert made.learner.moa_learner.getClass().getName() == f"moa.classifiers.{MOA[name][0]}"


@every_model
@pytest.mark.parametrize("n_models", [7, None])
def test_all_but_the_number_of_trees_is_as_in_moa_by_default(name, n_models):
    # Before the first sample: ARF and SRP set options of their own by the number of features.
    made = CapyMOA(name, n_models=n_models)
    made.reset()
    made.start(3, {})
    default = type(made.learner.moa_learner)()
    if n_models and name not in ("ht", "hat"):
        default.getOptions().setViaCLIString(f"-s {n_models}")
    default.prepareForUse()
    assert options(made.learner.moa_learner) == options(default)


@every_model
def test_the_grace_period_reaches_the_trees(name):
    X = np.random.default_rng(0).uniform(size=(150, 3))
    often, never = (learner(name, grace_period=grace_period) for grace_period in (10, 100_000))
    for one in (often, never):
        one.train(np.concatenate([X, X]), [*(X[:, 0] > 0.5), *(X[:, 0] > 0.5)])
    assert "-g 10" in options(often.learner.moa_learner)
    assert "-g 100000" in options(never.learner.moa_learner)
    assert (often.votes(X) != never.votes(X)).any()


@pytest.mark.parametrize("name", ["HT", "HAT", "OzaBag", "LeveragingBag", "ARF"])
def test_a_method_of_the_experiments_runs_with_the_paper_s_settings(name):
    run = RunSpec(StreamSpec.of("house", "34", n_samples=1200), MethodSpec(f"{name} (MOA)"), 0)
    assert is_installed(run.method)
    evaluation = evaluate_holdout(run, None)
    assert len(evaluation.rows) == 34
    made = evaluation.model.learner_
    assert "-g 20" in options(made.learner.moa_learner)
    assert np.mean([row["accuracy"] for row in evaluation.rows]) > 1 / 7
    assert evaluation.rows[-1]["bytes"] == len(pickle.dumps(evaluation.model)) > 1_000
