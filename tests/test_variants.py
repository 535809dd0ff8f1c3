"""Every base forest with every splitting strategy learns a small stream with a late class."""

from functools import partial

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier


def stream(number):
    """Return a batch: three clusters, and from the third batch on a fourth one beyond them.

    One attribute tells them apart: Hoeffding trees hesitate for thousands of samples where several are as good.
    """
    rng = np.random.default_rng(number)
    y = rng.integers(0, 4 if number >= 2 else 3, 400)
    return rng.normal(size=(400, 3)) + np.outer(y, [6, 0, 0]), y


@pytest.mark.parametrize("splitting", ["sat", "entropy", "isat"])
@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
def test_a_late_class_is_learnt(base_forest, splitting):
    model = AdaptiveDecisionForestClassifier(base_forest=base_forest, splitting=splitting, random_state=0)
    for number in range(5):
        model.partial_fit(*stream(number))
    assert model.history_[2].scenario == "MKUC"
    X, y = stream(9)
    assert model.score(X, y) > 0.95
    assert model.score(X[y == 3], y[y == 3]) > 0.9


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [(AdaptiveDecisionForestClassifier, 0.9), (partial(PaperADFClassifier, perturbation="predicted"), 0.5)],
)
def test_a_class_that_takes_the_place_of_another_is_learnt(base_forest, kind, expected):
    model = kind(base_forest=base_forest, random_state=0)
    for number in range(10):
        X, y = stream(number)
        model.partial_fit(X, np.where(number < 4, y, (y + 1) % 4))
    X, y = stream(99)
    assert model.score(X, (y + 1) % 4) > expected
    assert any(report.drift != "none" for report in model.history_[4:7])


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
def test_the_same_answers_for_any_number_of_threads(base_forest):
    one, four = (AdaptiveDecisionForestClassifier(base_forest=base_forest, n_jobs=n, random_state=0) for n in (1, 4))
    for number in range(3):
        one.partial_fit(*stream(number))
        four.partial_fit(*stream(number))
    X, _ = stream(9)
    np.testing.assert_array_equal(one.predict_proba(X), four.predict_proba(X))
