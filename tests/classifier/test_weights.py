"""Weights of samples and of classes: what they mean, on any scale, with every base forest."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from small_forests import forest

KINDS = [
    (AdaptiveDecisionForestClassifier, {}),
    (AdaptiveDecisionForestClassifier, {"base_forest": "sysfor"}),
    (AdaptiveDecisionForestClassifier, {"base_forest": "hoeffding"}),
    (AdaptiveDecisionForestClassifier, {"memory_size": 0}),
    (PaperADFClassifier, {"min_samples_leaf": 1}),
    (PaperADFClassifier, {"min_samples_leaf": 1, "reading": "text"}),
]
kinds = pytest.mark.parametrize(("kind", "parameters"), KINDS)


def overlapping(number, n=150, rare=0.5):
    """Return samples of two classes that overlap."""
    rng = np.random.default_rng([number, 77])
    y = (rng.random(n) < rare).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def learnt(kind, parameters, batches, **fixed):
    """Return a model of a few trees after some batches of samples, labels and weights."""
    model = kind(**{"n_estimators": 4, "random_state": 0} | parameters | fixed)
    for X, y, weight in batches:
        model.partial_fit(X, y, sample_weight=weight)
    return model


def assert_same(one, other):
    X, _ = overlapping(1000)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    accuracy = [[report.accuracy for report in model.history_] for model in (one, other)]
    assert accuracy[0] == accuracy[1]


@kinds
def test_a_sample_of_weight_zero_is_no_sample(kind, parameters):
    rng = np.random.default_rng(0)
    batches, without = [], []
    for number in range(4):
        X, y = overlapping(number)
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], len(y))
        batches.append((X, y, weight))
        without.append((X[weight > 0], y[weight > 0], weight[weight > 0]))
    assert_same(learnt(kind, parameters, batches), learnt(kind, parameters, without))


@kinds
def test_weights_of_one_are_no_weights(kind, parameters):
    batches = [overlapping(number) for number in range(4)]
    none = learnt(kind, parameters, [(X, y, None) for X, y in batches])
    for one in (1, np.ones(150), [True] * 150, np.ones(150, dtype=np.float32)):
        assert_same(learnt(kind, parameters, [(X, y, one) for X, y in batches]), none)


@kinds
def test_weights_below_a_mean_of_one_only_compare_with_each_other(kind, parameters):
    weights = [np.random.default_rng(number).choice([0.25, 1.0], 150) for number in range(4)]
    small, smaller = (
        learnt(kind, parameters, [(*overlapping(number), weights[number] * scale) for number in range(4)])
        for scale in (2.0**-2, 2.0**-40)
    )
    assert_same(small, smaller)


@kinds
def test_weights_above_a_mean_of_four_only_compare_with_each_other(kind, parameters):
    weights = [np.random.default_rng(number).choice([1.0, 5.0], 150) for number in range(4)]
    large, larger = (
        learnt(kind, parameters, [(*overlapping(number), weights[number] * scale) for number in range(4)])
        for scale in (2.0**3, 2.0**100)
    )
    assert_same(large, larger)


def mean_and_error(kind, parameters, batches, X, n_seeds=40):
    """Return the mean over seeds of the share of class 1, and its standard error."""
    shares = [learnt(kind, parameters, batches, random_state=seed).predict_proba(X)[:, 1] for seed in range(n_seeds)]
    return np.mean(shares, axis=0), np.std(shares, axis=0) / np.sqrt(n_seeds)


@kinds
def test_a_sample_of_weight_two_is_the_sample_twice(kind, parameters):
    """One batch: the shares that forests give are the same in the mean, and others than without weights."""
    rng = np.random.default_rng(5)
    X, y = overlapping(0, n=100)
    weight = np.where(y == 1, rng.integers(1, 6, len(y)), 1)
    asked, _ = overlapping(1000, n=40)
    twice = np.repeat(X, weight, axis=0), np.repeat(y, weight), None
    by_weight, error = mean_and_error(kind, parameters, [(X, y, weight)], asked)
    by_samples, other_error = mean_and_error(kind, parameters, [twice], asked)
    without, _ = mean_and_error(kind, parameters, [(X, y, None)], asked)
    tolerance = 5 * np.hypot(error, other_error) + 0.02
    assert (np.abs(by_weight - by_samples) <= tolerance).all()
    assert (by_weight - without).mean() > 0.03


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
def test_along_a_stream_weights_count_as_repeated_samples_do(base_forest):
    rng = np.random.default_rng(3)
    weighted, repeated, plain = [], [], []
    for number in range(5):
        X, y = overlapping(number, n=120)
        weight = np.where(y == 1, 3, rng.integers(1, 3, len(y)))
        weighted.append((X, y, weight))
        order = rng.permutation(weight.sum())
        repeated.append((np.repeat(X, weight, axis=0)[order], np.repeat(y, weight)[order], None))
        plain.append((X, y, None))
    asked, _ = overlapping(1000, n=200)
    kind, parameters = (
        AdaptiveDecisionForestClassifier,
        {"base_forest": base_forest, "n_estimators": 8, "min_samples_leaf": 15},
    )
    shares = [
        mean_and_error(kind, parameters, batches, asked, n_seeds=6)[0].mean() for batches in (weighted, repeated, plain)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.035)
    assert shares[0] > shares[2] + 0.06


@kinds
def test_weights_of_classes_are_those_of_their_samples(kind, parameters):
    batches = [overlapping(number) for number in range(4)]
    by_class = learnt(kind, parameters, [(X, y, None) for X, y in batches], class_weight={1: 2.0})
    by_sample = learnt(kind, parameters, [(X, y, np.where(y == 1, 2.0, 1.0)) for X, y in batches])
    X, _ = overlapping(1000)
    np.testing.assert_allclose(by_class.predict_proba(X), by_sample.predict_proba(X), atol=1e-9)


def test_balanced_classes_of_one_batch_count_the_same():
    X, y = overlapping(0, rare=0.1)
    by_class = learnt(AdaptiveDecisionForestClassifier, {"class_weight": "balanced"}, [(X, y, None)])
    weight = len(y) / (2 * np.bincount(y))[y]
    by_sample = learnt(AdaptiveDecisionForestClassifier, {}, [(X, y, weight)])
    asked, _ = overlapping(1000)
    np.testing.assert_allclose(by_class.predict_proba(asked), by_sample.predict_proba(asked), atol=1e-9)


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
def test_balanced_classes_are_recalled_alike_along_a_stream(base_forest):
    def recalls(class_weight):
        model = forest(base_forest=base_forest, class_weight=class_weight, min_samples_leaf=5)
        for number in range(8):
            model.partial_fit(*overlapping(number, n=400, rare=0.08))
        X, y = overlapping(1000, n=4000)
        return [np.mean(model.predict(X)[y == klass] == klass) for klass in (0, 1)]

    plain, balanced = recalls(None), recalls("balanced")
    assert plain[1] < 0.5
    assert balanced[1] > plain[1] + 0.2
    assert np.mean(balanced) > np.mean(plain) + 0.05


def test_balanced_goes_by_all_that_was_seen():
    """A class that is rare at first and frequent later is not weighted for ever as it was at first."""
    model = forest(class_weight="balanced")
    model.partial_fit(*overlapping(0, n=300, rare=0.03))
    model.partial_fit(*overlapping(1, n=3000, rare=0.5))
    sample_weights = model._model.state.settings.sample_weights(model._model.state.memory, 2)
    seen = model._model.state.memory.seen_by_class
    np.testing.assert_allclose(sample_weights.by_class * seen / seen.sum(), 0.5)


def test_a_batch_of_small_weights_changes_little():
    X, y = overlapping(0, n=1000)
    wrong = overlapping(1, n=300)
    asked, right = overlapping(1000, n=1000)

    def accuracy(weight):
        model = forest().partial_fit(X + y[:, None] * 3, y)
        model.partial_fit(wrong[0] + wrong[1][:, None] * 3, 1 - wrong[1], sample_weight=np.full(300, weight))
        return np.mean(model.permanent_forest_.answer(asked + right[:, None] * 3, 2, soft=True).argmax(axis=1) == right)

    assert accuracy(0.01) > 0.97
    assert accuracy(0.01) > accuracy(1.0) + 0.01


def test_one_heavy_sample_is_no_drift():
    model = forest()
    for number in range(12):
        X, y = overlapping(number, n=200)
        weight = np.ones(200)
        weight[number] = 1e6
        model.partial_fit(X, y, sample_weight=weight)
    assert {report.drift for report in model.history_} == {"none"}


def test_accuracy_before_learning_counts_samples_and_weighted_accuracy_goes_by_weights():
    model = forest().fit(*overlapping(0, n=400))
    X, y = overlapping(1, n=200)
    right = model.predict(X) == y
    model.partial_fit(X, y, sample_weight=np.where(right, 3.0, 1.0))
    report = model.history_[-1]
    assert report.accuracy["vote"] == right.mean()
    assert report.weighted_accuracy["vote"] == pytest.approx(3 * right.sum() / (3 * right.sum() + (~right).sum()))
    assert model.score(X, y, sample_weight=np.where(model.predict(X) == y, 1.0, 0.0)) == 1.0


def test_small_batches_with_and_without_weights_wait_together():
    model = forest().fit(*overlapping(0, n=3000))
    X, y = overlapping(1, n=40)
    model.partial_fit(X, y).partial_fit(X, y, sample_weight=np.full(40, 3.0))
    waiting = model._model.state.pending
    assert waiting.weight.tolist() == [1.0] * 40 + [3.0] * 40
    model.partial_fit(*overlapping(2, n=400))
    memory = pickle.loads(pickle.dumps(model))._model.state.memory
    assert memory.weight[-480:].tolist() == waiting.weight.tolist() + [1.0] * 400
    assert memory.weight_by_class.sum() == 3000 + 40 + 120 + 400


def test_any_finite_weights_can_be_learnt():
    rng = np.random.default_rng(0)
    for weight in (10 ** rng.uniform(-100, 100, 150), np.full(150, 1e100), np.full(150, 1e-100)):
        model = forest().fit(*overlapping(0), sample_weight=weight).partial_fit(*overlapping(1), sample_weight=weight)
        assert np.isfinite(model.predict_proba(overlapping(2)[0])).all()


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(149), r"expected \(150,\).*batch 2"),
        (np.ones((150, 1)), "1D"),
        (np.where(np.arange(150) == 7, -1.0, 1.0), "is -1.0 for sample 7"),
        (np.where(np.arange(150) == 7, np.nan, 1.0), "is nan for sample 7"),
        (np.full(150, np.inf), "is inf for sample 0"),
        (np.zeros(150), "zero for all samples"),
        (["much"] * 150, "is not numbers"),
    ],
)
def test_bad_weights_are_refused_and_leave_the_model_as_it_was(weight, message):
    model = forest().fit(*overlapping(0))
    before = pickle.dumps(model._model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*overlapping(1), sample_weight=weight)
    assert pickle.dumps(model._model) == before


@pytest.mark.parametrize("weight", ["even", {0: 0.0}, {0: -1}, {0: np.nan}, {0: "2"}, [1, 2], 2.0])
def test_bad_weights_of_classes_are_refused(weight):
    with pytest.raises(ValueError, match="class_weight of AdaptiveDecisionForestClassifier is"):
        forest(class_weight=weight).fit(*overlapping(0))


def test_weights_of_no_class_that_there_is_are_warned_of_at_the_caller():
    X, y = overlapping(0)
    with pytest.warns(UserWarning, match="class_weight names '1', but the classes seen so far are") as caught:
        forest(class_weight={"1": 2.0}).fit(X, y)
    assert caught[0].filename == __file__


def test_boosting_over_forests():
    """AdaBoost gives weights that add up to 1: a ring that single cuts cannot learn, many of them can."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = ((X**2).sum(axis=1) > 3.4).astype(int)
    stump = forest(n_estimators=3, max_depth=1, max_features=None)
    boosted = AdaBoostClassifier(estimator=stump, n_estimators=40, random_state=0).fit(X[:400], y[:400])
    assert len(boosted.estimators_) > 5
    assert boosted.score(X[400:], y[400:]) > stump.fit(X[:400], y[:400]).score(X[400:], y[400:]) + 0.1


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"), reason="pipelines route score from 1.8 on"
)
def test_metadata_routing_passes_weights_on():
    X, y = overlapping(0, n=300)
    # Half of the samples say the opposite, and weigh nothing: learnt without weights, answers are guesses.
    X, y, weight = np.vstack([X, X]), np.append(y, 1 - y), np.repeat([1.0, 1e-9], 300)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = forest(n_estimators=5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        found = cross_validate(pipeline, X, y, params={"sample_weight": weight}, return_train_score=True)
        assert found["train_score"].min() > 0.95
        requests = asked.set_partial_fit_request(sample_weight=True, classes=False).get_metadata_routing()
        assert requests.partial_fit.requests == {"sample_weight": True, "classes": False}
