"""The paper's algorithm as a classifier: its parameters, two readings, and how it answers."""

import inspect

import numpy as np
import pytest

from adforest import PaperADFClassifier
from small_forests import clusters, forest, swapped


def paper(**changes):
    return PaperADFClassifier(**{"random_state": 0, "min_samples_leaf": 1} | changes)


def test_defaults_are_those_of_the_published_experiments():
    promised = {
        "n_estimators": 10,
        "base_forest": "random_forest",
        "reading": "program",
        "splitting": "isat",
        "repair_threshold": 0.4,
        "error_tolerance": 0.02,
        "drift_threshold": 3,
        "window_size": 3,
        "memory_size": "reading",
        "perturbation": "reading",
        "tree_repair": "reading",
        "voting": "hard",
        "min_samples_leaf": 20,
        "max_features": "log2+1",
        "max_depth": None,
        "class_weight": None,
        "categorical_features": "from_dtype",
        "max_categories": None,
        "min_frequency": None,
        "column_changes": "error",
        "n_jobs": None,
        "random_state": None,
        "verbose": 0,
    }
    signature = inspect.signature(PaperADFClassifier).parameters
    assert {name: parameter.default for name, parameter in signature.items()} == promised


@pytest.mark.parametrize(
    ("reading", "expected"), [("program", (None, "merged", "any")), ("text", (0, "batch", "share"))]
)
def test_a_reading_decides_what_is_left_to_it(reading, expected):
    settings = paper(reading=reading)._settings(2, 0)
    assert (settings.memory_size, settings.perturbation, settings.tree_repair) == expected
    assert (settings.algorithm, settings.renewal, settings.soft) == ("paper", 0, False)
    set_by_hand = {"memory_size": 7, "perturbation": "predicted", "tree_repair": "share"}
    settings = paper(reading=reading, **set_by_hand)._settings(2, 0)
    assert {name: getattr(settings, name) for name in set_by_hand} == set_by_hand


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reading", "figure"),
        ("repair_threshold", 1.5),
        ("error_tolerance", -0.1),
        ("memory_size", "all"),
        ("perturbation", "leaf"),
        ("tree_repair", "turn"),
        ("voting", "majority"),
        ("splitting", "gini"),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError) as error:
        paper(**{name: value}).fit(*clusters(0))
    assert str(error.value).startswith(f"{name} of PaperADFClassifier is {value!r}; expected ")


@pytest.mark.parametrize("reading", ["program", "text"])
def test_both_readings_learn_a_stream(reading):
    model = PaperADFClassifier(reading=reading, random_state=0)
    for number in range(5):
        model.partial_fit(*clusters(number, (0, 1), n=120))
    assert {report.drift for report in model.history_} == {"none"}
    assert model.score(*clusters(10)) > 0.95


def test_the_text_does_not_see_a_class_that_comes_alone():
    # A pure batch is all confidence, whatever its class: the hole in the text's reading. The program sees it.
    program, text = (PaperADFClassifier(reading=reading, random_state=0) for reading in ("program", "text"))
    for model in (program, text):
        model.partial_fit(*clusters(0, n=120)).partial_fit(*clusters(1, (4,), n=100))
    assert text.history_[-1].perturbed == {"permanent": 0, "active": 0}
    assert program.history_[-1].perturbed["permanent"] > 0
    assert program.score(*clusters(2, (4,))) > 0.9


def test_with_a_repair_threshold_of_one_nothing_is_a_drift():
    X, y = clusters(0)
    models = [paper(perturbation="predicted", repair_threshold=threshold).fit(X, y) for threshold in (0.4, 1.0)]
    assert [model.partial_fit(X, 1 - y).history_[-1].drift for model in models] == ["temporary", "none"]


def test_a_hard_vote_counts_trees():
    X, y = clusters(0)
    y[:20] = 1 - y[:20]
    shares = paper(voting="hard").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares * 10, np.round(shares * 10), atol=1e-9)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_a_soft_vote_adds_up_class_shares():
    # One leaf a tree: its shares are those of its bootstrap sample.
    X, y = np.zeros((100, 1)), np.array([0] * 70 + [1] * 30)
    soft = paper(voting="soft").fit(X, y).predict_proba(X[:1])[0]
    hard = paper(voting="hard").fit(X, y).predict_proba(X[:1])[0]
    assert soft == pytest.approx([0.7, 0.3], abs=0.1)
    assert hard.tolist() == [1, 0]


def test_accuracy_is_that_after_learning_the_other_class_tells_that_before():
    before, after = swapped(forest()), swapped(paper())
    assert before.history_[0].accuracy == {}
    assert after.history_[0].accuracy["permanent"] > 0.95
    assert before.history_[2].accuracy["active"] < 0.05
    assert after.history_[2].accuracy["temporary"] > before.history_[2].accuracy["active"]
