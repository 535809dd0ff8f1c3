"""The paper's algorithm as a classifier: its parameters, two readings, and how it answers."""

import inspect

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.estimator_settings import read_settings
from adforest.forest.tree import ROOT_ADDED
from small_forests import clusters, forest, swapped


def paper(**changes):
    return PaperADFClassifier(**{"random_state": 0, "min_samples_leaf": 1} | changes)


def settings_of(**changes):
    return read_settings(paper(**changes), n_features=2, seed=0)


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
    settings = settings_of(reading=reading)
    assert (settings.memory_size, settings.perturbation, settings.tree_repair) == expected
    assert (settings.algorithm, settings.renewal, settings.soft) == ("paper", 0, False)
    set_by_hand = {"memory_size": 7, "perturbation": "predicted", "tree_repair": "share"}
    settings = settings_of(reading=reading, **set_by_hand)
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


# --- where text, pseudo-code and program disagree, and what this class does (docs/paper.md)


def n_roots(model):
    """Return how many roots were put on the trees of the permanent forest."""
    return sum(int(((tree.cause == ROOT_ADDED) & (tree.nodes["split"] >= 0)).sum()) for tree in trees_of(model))


def trees_of(model):
    return model.permanent_forest_.trees


def spread(seed, n=200):
    """Return samples of two classes that overlap, so that batches perturb leaves."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, size=(n, 2))
    return X, (X[:, 0] + rng.normal(0, 2, n) > 5).astype(int)


def test_one_sample_beyond_a_bound_is_enough_for_a_root():
    # Algorithm 3 has no minimum; the other class asks for more than a stray sample.
    first, (X, y) = spread(0), spread(1)
    X = X.clip(first[0].min(axis=0), first[0].max(axis=0))
    X[0] = [11.0, 5.0]
    models = [
        model.partial_fit(*first).partial_fit(X, y)
        for model in (
            PaperADFClassifier(random_state=0),
            AdaptiveDecisionForestClassifier(10, splitting="isat", min_samples_leaf=20, renewal=0, random_state=0),
        )
    ]
    assert [n_roots(model) > 0 for model in models] == [True, False]


def test_an_unknown_class_alone_makes_no_tree_change_its_shape():
    # The program meant to force a repair. Here a batch that perturbs no leaf is only counted, whatever its classes.
    model = PaperADFClassifier(reading="text", random_state=0).partial_fit(*clusters(0, n=120))
    before = [tree.nodes.copy() for tree in trees_of(model)]
    model.partial_fit(*clusters(1, (4,), n=100))
    assert model.history_[-1].scenario == "SUC"
    for old, tree in zip(before, trees_of(model), strict=True):
        np.testing.assert_array_equal(tree.nodes, old)


def test_a_root_cuts_the_widest_gap_as_it_is():
    # Metres have the wider gap, millimetres the one that is wider relative to their range (Eq. 12).
    X, y = spread(0)
    first, second = X * [100, 0.1], X * [100, 0.1] + [1_200, 5]
    model = PaperADFClassifier(perturbation="predicted", random_state=0).partial_fit(first, y)
    model.partial_fit(second, 1 - y)
    roots = [tree.nodes[0] for tree in trees_of(model) if tree.cause[0] == ROOT_ADDED]
    assert roots
    assert {int(root["split"]) >> 2 for root in roots} == {0}
    middle = (first[:, 0].max() + second[:, 0].min()) / 2
    assert [float(root["threshold"]) for root in roots] == pytest.approx([middle] * len(roots)), "Eq. 13"


def test_a_forest_has_one_box_of_all_it_has_learnt():
    # A bootstrap sample may miss the largest values; roots are cut at the bounds of the whole forest all the same.
    X, y = spread(0)
    model = PaperADFClassifier(random_state=0).partial_fit(X, y)
    box = model._model.state.forests["permanent"].box
    np.testing.assert_array_equal([box.low, box.high], [X.min(axis=0), X.max(axis=0)])


def test_names_pay_for_their_number():
    # A cut by categories is charged the bits that name it, in this class too: 100 useless names cut nothing.
    rng = np.random.default_rng(0)
    names = np.char.add("name ", rng.integers(0, 100, size=(400, 1)).astype(str))
    model = PaperADFClassifier(min_samples_leaf=5, random_state=0).partial_fit(names, rng.integers(0, 2, 400))
    assert model.permanent_forest_.n_leaves == 10
