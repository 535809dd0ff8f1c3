"""What a classifier's parameters do, and which values are refused."""

import numpy as np
import pytest

from adforest.growers import count_features
from small_forests import clusters, forest, swapped


@pytest.mark.parametrize(
    ("max_features", "m", "expected"),
    [
        ("default", 1, 1),
        ("log2+1", 1, 1),
        ("default", 2, 2),
        ("log2+1", 2, 2),
        ("default", 6, 3),
        ("log2+1", 6, 3),
        ("default", 8, 4),
        ("log2+1", 8, 4),
        ("default", 25, 5),
        ("default", 1_000, 31),
        ("log2+1", 1_000, 10),
        ("sqrt", 1, 1),
        ("sqrt", 10, 3),
        ("log2", 1, 1),
        ("log2", 10, 3),
        (None, 10, 10),
        (4, 10, 4),
        (np.int64(4), 10, 4),
        (1, 10, 1),
        (40, 10, 10),
        (0.5, 10, 5),
        (0.01, 10, 1),
        (1.0, 10, 10),
    ],
)
def test_max_features_in_all_spellings(max_features, m, expected):
    assert count_features(max_features, m) == expected
    X = np.random.default_rng(0).normal(size=(30, m))
    model = forest(n_estimators=2, max_features=max_features).fit(X, np.arange(30) % 2)
    assert model.predict(X).shape == (30,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("n_estimators", 2.0),
        ("n_estimators", True),
        ("base_forest", "oak"),
        ("splitting", "gini"),
        ("drift_threshold", -1),
        ("window_size", 0),
        ("memory_size", -1),
        ("memory_size", 1.5),
        ("min_samples_leaf", 0),
        ("max_features", 0),
        ("max_features", 1.5),
        ("max_features", "half"),
        ("max_depth", 0),
        ("criterion", "squared_error"),
        ("criterion", None),
        ("renewal", -1),
        ("answer_for", "now"),
        ("categorical_features", "some"),
        ("n_jobs", "two"),
        ("random_state", "seed"),
        ("verbose", -1),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError) as error:
        forest(**{name: value}).fit(*clusters(0))
    assert str(error.value).startswith(f"{name} of AdaptiveDecisionForestClassifier is {value!r}; expected ")


def many_classes(n_classes, n=600):
    """Return samples of many classes, around points of their own."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n_classes, 6))[y] + 0.3 * rng.normal(size=(n, 6)), y


def answers(X, y, **parameters):
    model = forest(n_estimators=4, **parameters)
    for half in (slice(None, None, 2), slice(1, None, 2)):
        model.partial_fit(X[half], y[half])
    return model.predict_proba(X)


def test_criteria_differ_and_log_loss_is_entropy():
    X, y = many_classes(30)
    by_name = {name: answers(X, y, criterion=name) for name in ("auto", "gini", "entropy", "log_loss")}
    np.testing.assert_array_equal(by_name["entropy"], by_name["log_loss"])
    distinct = {by_name[name].tobytes() for name in ("auto", "gini", "entropy")}
    assert len(distinct) == 3
    np.testing.assert_array_equal(answers(X, y), by_name["auto"])


def test_ten_classes_are_cut_by_entropy():
    X, y = many_classes(10)
    np.testing.assert_array_equal(answers(X, y), answers(X, y, criterion="entropy"))
    assert (answers(X, y) != answers(X, y, criterion="gini")).any()


@pytest.mark.parametrize("base_forest", ["sysfor", "hoeffding"])
def test_other_base_forests_go_by_entropy(base_forest):
    X, y = many_classes(30)
    by_gini, by_entropy = (
        answers(X, y, base_forest=base_forest, criterion=criterion) for criterion in ("gini", "entropy")
    )
    np.testing.assert_array_equal(by_gini, by_entropy)


@pytest.mark.parametrize("renewal", [0, 1])
def test_max_depth_holds_through_expansions(renewal):
    model = forest(max_depth=3, splitting="entropy", renewal=renewal)
    for number in range(6):
        rng = np.random.default_rng(number)
        model.partial_fit(rng.uniform(size=(100, 3)), rng.integers(0, 3, 100))
    assert max(tree.depth for tree in model.permanent_forest_.trees) == 3


def test_a_single_tree():
    model = forest(n_estimators=1).fit(*clusters(0)).partial_fit(*clusters(1, (5,)))
    assert len(model.permanent_forest_) == 1
    assert model.score(*clusters(2, (0, 1, 5))) > 0.9


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_the_same_seed_gives_the_same_answers_for_any_number_of_threads(n_jobs):
    X, _ = clusters(99, n=9_000)
    expected = swapped(forest(n_jobs=1)).predict_proba(X)
    np.testing.assert_array_equal(swapped(forest(n_jobs=n_jobs)).predict_proba(X), expected)


def test_random_state():
    X, y = clusters(0)
    y[::3] = 1 - y[::3]
    one, two, other = (forest(random_state=seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()
    generator = forest(random_state=np.random.RandomState(1)).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(generator, one)
