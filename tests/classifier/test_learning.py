"""The scikit-learn face: batches in, new classes welcome, answers and what was learnt out."""

import inspect

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from small_forests import clusters, forest


def test_the_signature_is_the_one_promised():
    promised = {
        "n_estimators": 20,
        "base_forest": "random_forest",
        "splitting": "entropy",
        "drift_threshold": 3,
        "window_size": 3,
        "memory_size": 100_000,
        "max_samples": 1_000_000,
        "min_samples_leaf": 1,
        "max_features": "default",
        "max_depth": None,
        "criterion": "auto",
        "renewal": 1.0,
        "answer_for": "next_batch",
        "label_delay": 0,
        "class_weight": None,
        "categorical_features": "from_dtype",
        "max_categories": None,
        "min_frequency": None,
        "column_changes": "error",
        "n_jobs": None,
        "random_state": None,
        "verbose": 0,
    }
    signature = inspect.signature(AdaptiveDecisionForestClassifier).parameters
    assert {name: parameter.default for name, parameter in signature.items()} == promised
    positional = [p.name for p in signature.values() if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional == ["n_estimators"]


def test_learnt_attributes():
    model = forest().fit(*clusters(0))
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.feature_importances_.shape == (2,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert len(model.permanent_forest_) == len(model.active_forest_) == 20
    assert model.temporary_forest_ is None
    assert model.answering_forest_ == "permanent"
    assert len(model.history_) == 1


def test_there_is_nothing_learnt_before_learning():
    model = forest()
    for name in ("classes_", "n_features_in_", "feature_importances_", "permanent_forest_", "history_"):
        assert not hasattr(model, name)


def test_the_attribute_that_decides_is_the_important_one():
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = forest(max_features=None).fit(X, X[:, 2] > 0)
    assert model.feature_importances_[2] > 0.95


def test_fit_forgets_and_partial_fit_does_not():
    near, far = clusters(0, (0, 1)), clusters(1, (5, 6))
    model = forest().fit(*near).partial_fit(*far)
    assert model.classes_.tolist() == [0, 1, 5, 6]
    assert model.score(*near) > 0.95
    assert model.score(*far) > 0.95
    model.fit(*far)
    assert model.classes_.tolist() == [5, 6]
    assert len(model.history_) == 1


def test_fit_is_the_first_partial_fit():
    X, y = clusters(0)
    np.testing.assert_array_equal(forest().fit(X, y).predict_proba(X), forest().partial_fit(X, y).predict_proba(X))


def test_learning_returns_the_model():
    model = forest()
    assert model.fit(*clusters(0)) is model
    assert model.partial_fit(*clusters(1)) is model


def test_a_class_a_batch_and_all_of_them_known_in_the_end():
    model = forest()
    for klass in range(8):
        model.partial_fit(*clusters(klass, (klass,)))
    assert model.score(*clusters(99, tuple(range(8)), 400)) > 0.9


def test_new_classes_in_any_batch():
    model = forest()
    for number, classes in enumerate([(3,), (1, 3), (0,), (2, 4), (0, 1, 2, 3, 4)]):
        model.partial_fit(*clusters(number, classes))
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.score(*clusters(9, (0, 1, 2, 3, 4))) > 0.9
    assert [report.scenario for report in model.history_] == ["SUC", "MKUC", "SUC", "MUC", "MKC"]


def test_columns_of_predict_proba_follow_the_sorted_classes():
    # They arrive in the order 7, 3, 5.
    model = forest()
    for klass in (7, 3, 5):
        model.partial_fit(*clusters(klass, (klass,)))
    assert model.classes_.tolist() == [3, 5, 7]
    for column, klass in enumerate(model.classes_):
        shares = model.predict_proba(clusters(50 + klass, (klass,))[0])
        assert shares.shape == (60, 3)
        assert (shares.argmax(axis=1) == column).mean() > 0.9
        np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_predict_is_the_largest_share():
    model = forest().fit(*clusters(0, (2, 0, 1))).partial_fit(*clusters(1, (4, 3)))
    X, _ = clusters(2, (0, 1, 2, 3, 4), 300)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize(
    "labels", [["b", "a"], [True, False], [10, -3], [2.0, 1.0], np.array(["longer", "x"], dtype=object)]
)
def test_labels_come_back_as_they_went_in(labels):
    X, y = clusters(0)
    y = np.asarray(labels)[y]
    model = forest().fit(X, y)
    assert model.classes_.dtype == y.dtype
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.95


def test_declared_classes_have_a_column_before_their_first_sample():
    X, y = clusters(0)
    model = forest().partial_fit(X, y, classes=[0, 1, 9])
    assert model.classes_.tolist() == [0, 1, 9]
    assert (model.predict_proba(X)[:, 2] == 0).all()
    assert model.history_[0].new_classes == (0, 1)
    model.partial_fit(*clusters(1, (9,)))
    assert model.score(*clusters(2, (9,))) > 0.9


def test_classes_are_welcome_that_were_not_declared():
    model = forest().partial_fit(*clusters(0), classes=[0, 1]).partial_fit(*clusters(1, (4,)), classes=[0, 1])
    assert model.classes_.tolist() == [0, 1, 4]


@pytest.mark.parametrize(
    "model", [forest(n_estimators=3, memory_size=400), PaperADFClassifier(n_estimators=3, random_state=0)], ids=repr
)
def test_a_class_that_vanished_for_1000_batches_is_still_known(model):
    model.partial_fit(*clusters(0, (0, 1, 4), 90))
    for number in range(1_000):
        model.partial_fit(*clusters(number + 1, n=4))
    assert model.classes_.tolist() == [0, 1, 4]
    X, y = clusters(5_000, (4,))
    assert model.score(X, y) > 0.9, "it is answered right away when it comes back"
    model.partial_fit(X, y)
    assert model.history_[-1].scenario == "SKC"
    assert model.history_[-1].new_classes == ()
    assert model.score(*clusters(5_001, (0, 1, 4))) > 0.9


@pytest.mark.parametrize("memory_size", [1, 100])
def test_a_class_that_vanished_is_known_with_batches_larger_than_the_memory(memory_size):
    model = forest(memory_size=memory_size)
    model.partial_fit(*clusters(0, (0, 1, 4), 90))
    for number in range(20):
        model.partial_fit(*clusters(number + 1, n=60))
    assert model.score(*clusters(50, (4,))) > 0.9


def test_set_params_between_batches_takes_effect():
    models = [forest(), forest()]
    for model in models:
        for number in range(6):
            model.partial_fit(*clusters(number))
    models[1].set_params(drift_threshold=0)
    for model in models:
        X, y = clusters(6)
        model.partial_fit(X, 1 - y)
    assert [model.history_[-1].drift for model in models] == ["temporary", "sustained"]


@pytest.mark.parametrize("memory_size", [None, 0, 100])
def test_memory_size(memory_size):
    model = forest(memory_size=memory_size)
    for number in range(8):
        model.partial_fit(*clusters(number, n=30))
    kept = len(model.permanent_forest_.known)
    # Two batches of 30 are the window that the next batch will complete.
    assert kept in {None: [240], 0: [60], 100: range(158, 161)}[memory_size]
    assert model.permanent_forest_.known.sum() == (0 if memory_size == 0 else kept)
    assert model.score(*clusters(99)) > 0.95


def test_a_stray_sample_in_a_small_batch_grows_no_root():
    X, y = clusters(0)
    model = forest(renewal=0).fit(X, y)
    roots = [tree.nodes[0] for tree in model.permanent_forest_.trees]
    stray = X[:50].copy()
    stray[0, 0] = X[:, 0].max() + 1
    model.partial_fit(stray, np.r_[1 - y[0], y[1:50]])
    assert [tree.nodes[0] for tree in model.permanent_forest_.trees] == roots
