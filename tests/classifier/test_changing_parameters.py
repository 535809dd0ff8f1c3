"""Parameters changed between two batches: each takes effect, or is refused."""

from dataclasses import replace

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier, classifier
from adforest.adaptation import voting
from adforest.adaptation.voting import asked_forests
from adforest.base import get_fitted
from small_forests import clusters

# By parameter: a value to begin with, and another one that makes a difference on the stream below.
OURS = {
    "splitting": ("entropy", "isat"),
    "drift_threshold": (0, 9),
    "window_size": (1, 4),
    "memory_size": (None, 0),
    "max_samples": (None, 1000),
    "min_samples_leaf": (1, 25),
    "max_features": (1, None),
    "max_depth": (None, 1),
    "criterion": ("entropy", "gini"),
    "class_weight": (None, {0: 9.0}),
    "renewal": (1.0, 0),
    "answer_for": ("next_batch", "everything"),
}
PAPER = {
    "reading": ("program", "text"),
    "splitting": ("isat", "entropy"),
    "repair_threshold": (0.0, 1.0),
    "error_tolerance": (0.0, 1.0),
    "drift_threshold": (0, 9),
    "window_size": (1, 4),
    "memory_size": (None, 0),
    "perturbation": ("merged", "predicted"),
    "tree_repair": ("any", "share"),
    "voting": ("hard", "soft"),
    "min_samples_leaf": (1, 25),
    "max_features": (1, None),
    "max_depth": (None, 1),
    "class_weight": (None, {0: 9.0}),
}
FIXED = {
    "n_estimators": (3, 5),
    "base_forest": ("random_forest", "sysfor"),
    "categorical_features": (None, [0]),
    "random_state": (0, 1),
}
SAME = ("n_jobs", "verbose")  # for any value the same answers
SMALL_BATCHES = ("label_delay",)  # see tests/adaptation/test_recent_samples.py
ENCODING = ("column_changes", "max_categories", "min_frequency")  # see tests/encoding
CASES = [(AdaptiveDecisionForestClassifier, name, *values) for name, values in OURS.items()] + [
    (PaperADFClassifier, name, *values) for name, values in PAPER.items()
]


def batch(number, n=150):
    """Return samples of overlapping classes, whose labels are swapped from the eighth batch on, in a moving place."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, 2, n)
    return np.round(rng.normal(size=(n, 3)) + y[:, None] + 0.4 * number, 2), y if number < 8 else 1 - y


def learn(kind, first, then):
    """Return the answers of a model after some batches with some parameters, and some with others."""
    model = kind(**{"n_estimators": 3, "random_state": 0} | first)
    for number in range(14):
        if number == 6:
            model.set_params(**then)
        model.partial_fit(*batch(number))
    return model, model.predict_proba(batch(13, 400)[0])


def trail(model):
    """Return what a model has made of each batch."""
    return [(report.drift, report.perturbed, report.n_leaves) for report in model.history_]


def test_every_parameter_is_among_the_cases():
    assert {*OURS, *FIXED, *SAME, *SMALL_BATCHES, *ENCODING} == set(AdaptiveDecisionForestClassifier().get_params())
    assert {*PAPER, *FIXED, *SAME, *ENCODING} == set(PaperADFClassifier().get_params())


@pytest.mark.parametrize(("kind", "name", "before", "after"), CASES)
def test_a_change_takes_effect(kind, name, before, after):
    defaults = {"min_samples_leaf": 5, "repair_threshold": 0.1} if kind is PaperADFClassifier else {}
    changed, answers = learn(kind, defaults | {name: before}, {name: after})
    unchanged, as_before = learn(kind, defaults | {name: before}, {})
    assert (answers != as_before).any() or trail(changed) != trail(unchanged)


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
@pytest.mark.parametrize("name", FIXED)
def test_what_cannot_change_is_refused_and_the_model_stays_as_it_was(kind, name):
    before, after = FIXED[name]
    model = kind(**{"n_estimators": 3, "random_state": 0} | {name: before})
    model.partial_fit(*batch(0)).partial_fit(*batch(1))
    X = batch(2)[0]
    expected = model.predict_proba(X)
    model.set_params(**{name: after})
    with pytest.raises(ValueError) as error:
        model.partial_fit(*batch(2))
    assert str(error.value) == (
        f"{name} of {kind.__name__} was {before!r} when the model learnt its first batch and is {after!r} now, but it "
        "cannot change between batches. Set it back, or start a new model with fit()."
    )
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    model.set_params(**{name: before}).partial_fit(*batch(2))
    assert len(model.history_) == 3
    assert len(model.set_params(**{name: after}).fit(*batch(0)).history_) == 1


def test_equal_arrays_are_no_change_and_neither_is_a_generator_that_was_drawn_from():
    generator = np.random.RandomState(0)
    model = AdaptiveDecisionForestClassifier(3, categorical_features=np.array([False, True]), random_state=generator)
    X, y = clusters(0)
    model.partial_fit(np.round(X), y)
    generator.rand()
    model.set_params(categorical_features=np.array([False, True])).partial_fit(np.round(X), y)
    assert len(model.history_) == 2


@pytest.mark.parametrize(("name", "values"), [("n_jobs", (1, 2, None)), ("verbose", (0, 1))])
def test_threads_and_printing_change_nothing(name, values, capsys):
    answers = [learn(AdaptiveDecisionForestClassifier, {}, {name: value})[1] for value in values]
    assert all((one == answers[0]).all() for one in answers)
    assert ("batch 7:" in capsys.readouterr().out) is (name == "verbose")


def test_answers_after_a_change_are_made_ready_once(monkeypatch):
    model = AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0)
    for number in range(3):
        model.partial_fit(*clusters(number))
    X, made, planned = clusters(9)[0], [], []
    monkeypatch.setattr(classifier, "replace", lambda one, **changes: made.append(one) or replace(one, **changes))
    monkeypatch.setattr(voting, "asked_forests", lambda state: planned.append(state) or asked_forests(state))
    expected = model.predict_proba(X)
    assert (len(made), len(planned)) == (0, 1)
    model.set_params(n_jobs=1)
    for _ in range(5):
        np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert (len(made), len(planned)) == (2, 1), "one state with its settings, and the plan that was there"
    model.set_params(answer_for="everything").predict_proba(X)
    model.predict_proba(X)
    assert len(made) == 4


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
def test_boxes_are_found_where_earlier_batches_did_without(kind):
    """While memory has all samples, new roots are those of a model that has known its boxes all along."""
    model, other = (
        kind(splitting=one, n_estimators=3, min_samples_leaf=1, random_state=0) for one in ("isat", "entropy")
    )
    batches = [clusters(number) for number in range(4)]
    model.fit(*batches[0])
    other.fit(*batches[0])
    assert not get_fitted(model).state.forests["permanent"].box.is_empty
    assert get_fitted(other).state.forests["permanent"].box.is_empty, "nobody reads it"
    for X, y in batches[1:]:
        far = X + 100.0
        model.partial_fit(far, y)
        other.set_params(splitting="isat").partial_fit(far, y)
        boxes = [get_fitted(one).state.forests["permanent"].box for one in (model, other)]
        np.testing.assert_array_equal(boxes[0].low, boxes[1].low)
        np.testing.assert_array_equal(boxes[0].high, boxes[1].high)
        assert model.permanent_forest_.n_leaves == other.permanent_forest_.n_leaves
