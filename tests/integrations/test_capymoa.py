"""ADF in CapyMOA: its prequential evaluation, nominal attributes, saving, and what an instance may hold."""

import inspect
import shutil
from io import BytesIO

import numpy as np
import pytest

if shutil.which("java") is None:
    pytest.skip("there is no Java, which CapyMOA needs; make test-capymoa says more", allow_module_level=True)
pytest.importorskip("capymoa", reason="CapyMOA is not installed: run make test-capymoa")

from capymoa.base import learner_from_params
from capymoa.core import Instance, LabeledInstance
from capymoa.core.io import load_model, save_model
from capymoa.evaluation import prequential_evaluation
from capymoa.stream import NumpyStream, Schema

from adforest import AdaptiveDecisionForestClassifier
from adforest.integrations.capymoa import AdaptiveDecisionForest
from documents import run_section

MIXED = Schema.from_custom(["size", "colour", "kind"], "kind", categories={"colour": ["red", "blue"], "kind": "abc"})


def clusters(n=600, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 3)) + 4 * y[:, None], y


def mixed(n=300):
    """Yield instances whose class is that of their colour, the last but the size's sign; some lack the size."""
    rng = np.random.default_rng(0)
    for _ in range(n):
        colour, size = int(rng.integers(2)), rng.normal()
        x = np.array([np.nan if rng.random() < 0.1 else size, colour])
        yield LabeledInstance.from_array(MIXED, x, colour if size > -1 else 2)


def test_prequential_evaluation_answers_as_the_classifier_does_batch_by_batch():
    X, y = clusters()
    stream = NumpyStream(X, y)
    learner = AdaptiveDecisionForest(stream.get_schema(), batch_size=50, n_estimators=5)
    results = prequential_evaluation(stream, learner, store_predictions=True, store_y=True)
    assert results.cumulative.accuracy() > 90
    assert list(results.ground_truth_y()) == y.tolist()
    model = AdaptiveDecisionForestClassifier(5, random_state=1)
    for start in range(0, 600, 50):
        piece = slice(start, start + 50)
        if start:
            assert list(results.predictions()[piece]) == model.predict(X[piece]).tolist()
        model.partial_fit(X[piece], y[piece])
    assert [report.batch for report in learner.classifier.history_] == list(range(1, 13))


def test_classes_that_come_late_are_learnt_and_have_no_share_before():
    X, y = clusters()
    schema = NumpyStream(X, y).get_schema()
    learner = AdaptiveDecisionForest(schema, batch_size=100, n_estimators=5)
    sample = Instance.from_array(schema, X[0])
    assert learner.predict_proba(sample) is None
    assert learner.predict(sample) is None
    for wanted in ([0], [0, 1], [1, 2], [0, 1, 2]):
        for x, label in zip(X, y, strict=True):
            if label in wanted:
                learner.train(LabeledInstance.from_array(schema, x, int(label)))
        learner.learn_waiting()
        assert learner.n_waiting == 0
        shares = learner.predict_proba(sample)
        assert shares.shape == (3,)
        assert shares.sum() == pytest.approx(1)
        assert (shares[max(wanted) + 1 :] == 0).all()
    assert np.mean([learner.predict(Instance.from_array(schema, x)) for x in X[:100]] == y[:100]) > 0.9


def test_before_the_first_batch_the_answer_is_how_frequent_classes_are():
    learner = AdaptiveDecisionForest(MIXED, batch_size=10)
    for label in (2, 2, 0):
        learner.train(LabeledInstance.from_array(MIXED, np.zeros(2), label))
    assert learner.predict_proba(Instance.from_array(MIXED, np.zeros(2))).tolist() == [1 / 3, 0, 2 / 3]
    assert learner.n_waiting == 3


def test_nominal_attributes_are_categories_by_name_and_missing_values_are_missing():
    learner = AdaptiveDecisionForest(MIXED, batch_size=50, n_estimators=5)
    for instance in mixed():
        learner.train(instance)
    encoder = learner.classifier._model.encoder
    assert learner.classifier.feature_names_in_.tolist() == ["size", "colour"]
    assert encoder.is_categorical.tolist() == [False, True]
    assert set(encoder.category_values(1)) == {"red", "blue"}
    sizes = np.array([np.nan, 1.0])
    answers = [
        [learner.predict(Instance.from_array(MIXED, np.array([size, colour]))) for colour in (0, 1)] for size in sizes
    ]
    assert answers == [[0, 1], [0, 1]]
    assert learner.predict(Instance.from_array(MIXED, np.array([1.0, np.nan]))) in (0, 1)


def test_a_saved_learner_answers_and_goes_on_learning_like_the_original():
    learner = AdaptiveDecisionForest(MIXED, batch_size=50, n_estimators=5)
    instances = list(mixed())
    for instance in instances[:120]:
        learner.train(instance)
    file = BytesIO()
    save_model(learner, file)
    file.seek(0)
    copy = load_model(file)
    assert copy.n_waiting == learner.n_waiting == 20
    for instance in instances[120:]:
        np.testing.assert_array_equal(copy.predict_proba(instance), learner.predict_proba(instance))
        copy.train(instance)
        learner.train(instance)


def test_a_learner_can_be_made_from_its_parameters():
    learner = AdaptiveDecisionForest(MIXED, random_seed=7, batch_size=30, max_depth=4)
    spec = {"learner": "adforest.integrations.capymoa.AdaptiveDecisionForest", "params": learner.get_params()}
    copy = learner_from_params(spec, MIXED, random_seed=7)
    assert copy.get_params() == learner.get_params()
    assert copy.classifier.get_params() == learner.classifier.get_params()
    assert copy.classifier.random_state == 7
    assert str(copy) == "AdaptiveDecisionForest"


def test_the_parameters_are_those_of_the_classifier():
    ours = inspect.signature(AdaptiveDecisionForest.__init__).parameters
    theirs = inspect.signature(AdaptiveDecisionForestClassifier.__init__).parameters
    assert set(ours) - set(theirs) == {"schema", "random_seed", "batch_size"}
    assert set(theirs) - set(ours) == {"random_state", "categorical_features", "column_changes"}
    assert all(ours[name].default == theirs[name].default for name in set(ours) & set(theirs))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_size": 0}, "batch_size of AdaptiveDecisionForest is 0; expected an int of at least 1"),
        ({"n_estimators": 0}, "n_estimators of .* is 0; expected an int of at least 1"),
        ({"schema": Schema.from_custom(["a", "b"], "b")}, "has a numeric target; expected classes"),
    ],
)
def test_wrong_parameters_are_refused_at_once(changes, message):
    with pytest.raises(ValueError, match=message):
        AdaptiveDecisionForest(**{"schema": MIXED, **changes})


def test_an_instance_that_cannot_be_learnt_is_refused_when_it_comes():
    learner = AdaptiveDecisionForest(MIXED, batch_size=2)
    with pytest.raises(ValueError, match="attribute 'size' of this instance is infinite"):
        learner.train(LabeledInstance.from_array(MIXED, np.array([np.inf, 0]), 0))
    with pytest.raises(ValueError, match="class index of this instance is -1; expected one of the schema's, 0 to 2"):
        learner.train(LabeledInstance.from_array(MIXED, np.zeros(2), -1))
    assert learner.n_waiting == 0


def test_the_example_of_the_documentation_runs():
    assert run_section("CapyMOA")["results"].cumulative.accuracy() > 80


def test_each_instance_is_learnt_at_once_by_default():
    learner = AdaptiveDecisionForest(MIXED, n_estimators=3)
    for number, instance in enumerate(mixed(30), start=1):
        learner.train(instance)
        assert learner.n_waiting == 0
        assert len(learner.classifier.history_) == number
