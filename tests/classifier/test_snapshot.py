"""Threads that learn at the same time, and models as they were at one moment."""

import copy
import pickle
import threading
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier, Snapshot
from adforest.base import lock_of
from adforest.exceptions import AdforestError
from experiments.rivals import RefitForestClassifier
from small_forests import clusters, forest, swapped

MODELS = {
    "ours": lambda: swapped(forest(), 6),
    "everything": lambda: swapped(forest(answer_for="everything"), 6),
    "something waits": lambda: swapped(forest(), 6).partial_fit(*clusters(99, n=3)),
    "a new class": lambda: swapped(forest(), 6).partial_fit(*clusters(99, (0, 1, 4))),
    "no memory": lambda: swapped(forest(memory_size=0), 6),
    "Hoeffding trees": lambda: swapped(forest(base_forest="hoeffding"), 6),
    "paper": lambda: swapped(PaperADFClassifier(random_state=0, min_samples_leaf=1), 6),
    "soft paper": lambda: swapped(PaperADFClassifier(random_state=0, min_samples_leaf=1, voting="soft"), 6),
}
PROBES = np.vstack([clusters(7, (0, 1, 4), 200)[0], [[1e6, -1e6], [np.nan, np.nan]]])


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier, RefitForestClassifier])
def test_no_batch_is_lost_when_threads_learn_at_the_same_time(kind):
    model, errors = kind(n_estimators=2, random_state=0).fit(*clusters(0)), []
    start = threading.Barrier(4)

    def work(seed):
        start.wait()
        try:
            for number in range(5):
                model.partial_fit(*clusters(10 * seed + number))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert model._model.n_batches == 21
    assert model._model.n_samples == 21 * 60
    if hasattr(model, "history_"):
        assert [report.batch for report in model.history_] == list(range(1, 22))


def test_a_lock_is_of_one_model_and_does_not_hinder_copies():
    model = forest().fit(*clusters(0))
    copies = [copy.copy(model), copy.deepcopy(model), clone(model), pickle.loads(pickle.dumps(model))]
    assert lock_of(model) is lock_of(model)
    assert len({id(lock_of(one)) for one in [model, *copies]}) == 5
    with lock_of(model):
        copies[1].partial_fit(*clusters(1))  # another thread would hang here if the lock were shared


def test_a_copy_and_the_model_learn_apart():
    model = forest().fit(*clusters(0))
    other = copy.copy(model)
    model.partial_fit(*clusters(1, (0, 1, 4)))
    other.partial_fit(*clusters(2)).partial_fit(*clusters(3))
    assert [report.batch for report in model.history_] == [1, 2]
    assert [report.batch for report in other.history_] == [1, 2, 3]
    assert model.history_[1].new_classes == (4,)
    assert other.history_[1].new_classes == ()


@pytest.mark.parametrize("samples", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_a_snapshot_answers_as_the_model_did(name, samples):
    model = MODELS[name]()
    expected, history = model.predict_proba(PROBES), model.history_
    counts = model.n_batches_, model.n_samples_seen_
    snapshot = model.snapshot(samples=samples)
    twin = pickle.loads(pickle.dumps(snapshot))
    model.partial_fit(*clusters(500, (0, 1, 8)))
    model.fit(*clusters(501, (3, 5)))
    for one in (snapshot, twin):
        assert isinstance(one, Snapshot)
        np.testing.assert_array_equal(one.predict_proba(PROBES), expected)
        np.testing.assert_array_equal(one.predict(PROBES), one.classes_[expected.argmax(axis=1)])
        assert one.history_ == history
        assert counts == (len(history), sum(report.n_samples for report in history))
        assert (one.n_features_in_, one.has_samples) == (2, samples)
        assert (one.n_batches_, one.n_samples_seen_) == counts
        assert not hasattr(one, "feature_names_in_"), "as the estimator, which learnt an array"
        assert one.score(*clusters(9)) == pytest.approx(np.mean(one.predict(clusters(9)[0]) == clusters(9)[1]))


def test_no_sample_is_in_a_snapshot_unless_asked_for():
    rng = np.random.default_rng(0)
    X, model = rng.normal(size=(3_000, 8)), forest(n_estimators=3, max_depth=3)
    for batch in range(6):
        model.partial_fit(X[500 * batch : 500 * (batch + 1)], X[500 * batch : 500 * (batch + 1), 0] > 0)
    model.partial_fit(X[:20], X[:20, 0] > 0)  # waits
    small, large = (len(pickle.dumps(model.snapshot(samples=samples))) for samples in (False, True))
    assert large > X.nbytes
    assert small < X.nbytes / 3
    assert X[2_345].tobytes() in pickle.dumps(model.snapshot(samples=True))
    assert X[2_345].tobytes() not in pickle.dumps(model.snapshot())
    assert X[3].tobytes() not in pickle.dumps(model.snapshot())


def test_scikit_learn_takes_a_snapshot_for_a_fitted_classifier():
    model, (X, y) = forest().fit(*clusters(0)), clusters(9)
    snapshot = model.snapshot()
    assert is_classifier(snapshot)
    check_is_fitted(snapshot)
    ours, theirs = (get_tags(one) for one in (snapshot, model))
    assert (ours.input_tags, ours.target_tags) == (theirs.input_tags, theirs.target_tags)
    expected, found = (permutation_importance(one, X, y, random_state=0) for one in (model, snapshot))
    np.testing.assert_array_equal(found.importances, expected.importances)
    one, other = (FixedThresholdClassifier(FrozenEstimator(it), threshold=0.8) for it in (model, snapshot))
    np.testing.assert_array_equal(other.predict(PROBES), one.predict(PROBES))
    with pytest.raises(AdforestError, match="a snapshot can only predict"):
        snapshot.fit(X, y)


def test_a_snapshot_never_changes():
    snapshot = forest().fit(*clusters(0)).snapshot()
    with pytest.raises(FrozenInstanceError):
        snapshot.has_samples = True
    snapshot.history_.clear()
    assert len(snapshot.history_) == 1
    assert repr(snapshot) == "Snapshot after 1 batches, 2 classes (0, 1)"
    assert not hasattr(snapshot, "partial_fit")


def test_parameters_of_answers_are_those_of_the_moment():
    model = MODELS["ours"]()
    snapshot, expected = model.snapshot(), model.predict_proba(PROBES)
    model.set_params(answer_for="everything")
    np.testing.assert_array_equal(snapshot.predict_proba(PROBES), expected)
    assert (model.snapshot().predict_proba(PROBES) != expected).any()
