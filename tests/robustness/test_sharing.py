"""A model keeps nothing that is its caller's but the parameters, which count as they are."""

import pickle

import numpy as np
import pytest

from small_forests import forest
from whole_models import FRAME, RENT, clusters


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_changing_the_batch_after_learning_it_does_not_change_the_model(dtype):
    X, y = clusters(0)
    mine, labels = X.astype(dtype), y.copy()
    model, twin = forest(), forest()
    for _ in range(3):
        model.partial_fit(mine, labels)
        twin.partial_fit(mine.copy(), labels.copy())
        before = model.predict_proba(X)
        mine[:], labels[:] = -99, 0
        np.testing.assert_array_equal(model.predict_proba(X), before)
        mine, labels = X.astype(dtype), y.copy()
    for one in (model, twin):
        one.partial_fit(X, 1 - y)  # repairs read the memory
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_changing_a_data_frame_after_learning_it_does_not_change_the_model():
    frame, numbers = FRAME.copy(), FRAME[["area", "beds"]].astype(float)
    model, other = forest().partial_fit(frame, RENT), forest().partial_fit(numbers, RENT)
    before, before_other = pickle.dumps(model), pickle.dumps(other)
    frame.loc[:, "area"] = 0.0
    numbers.iloc[:, :] = 0.0
    assert pickle.dumps(model) == before
    assert pickle.dumps(other) == before_other


def test_predicting_changes_neither_model_nor_records():
    X, y = clusters(0)
    model, mine = forest().fit(X, y), X.copy()
    state = pickle.dumps(model)
    answers = model.predict_proba(mine)
    answers[:] = 0
    np.testing.assert_array_equal(mine, X)
    assert pickle.dumps(model) == state


def test_what_matters_to_answers_alone_goes_by_the_parameters_as_they_are():
    model = forest()
    for seed in range(8):
        X, y = clusters(seed)
        model.partial_fit(X, y if seed < 4 else 1 - y)
    before = model.predict_proba(X)
    permanent = model.set_params(answer_for="everything").predict_proba(X)
    assert (permanent != before).any()
    np.testing.assert_array_equal(model.set_params(answer_for="next_batch").predict_proba(X), before)
    report = model.set_params(answer_for="everything").partial_fit(X, 1 - y).history_[-1]
    assert (report.answering, report.votes) == ("permanent", {"permanent": 1.0})
    assert model.answering_forest_ == "permanent"
