"""What attributes add to probabilities, against every tree's every path walked by hand."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation.voting import calibration_of, shrinkage_of, unmet_classes, votes_in_parts
from adforest.base import as_proba
from adforest.explaining import attribution
from adforest.explaining.attribution import mean_inverses
from mixed_streams import BASES, MODELS, mixed_batch, mixed_model, probes


@pytest.fixture(scope="module", params=BASES)
def base(request):
    return request.param


@pytest.fixture(scope="module", params=MODELS)
def model(request, base):
    return mixed_model(request.param, base)


def learnt(model, X):
    """Return the state that answers, the samples as it reads them, and the order of its classes."""
    known = model._checked()
    return model._answering_state(known.state), known.encoder.translate(X), known.labels.order


class Walks:
    """Every path through a forest by hand; the weights of nodes are added up once a tree."""

    def __init__(self, forest):
        self.trees = [(tree, oracles.sums(tree)) for tree in forest.trees]

    def added_up(self, sample, answers_of):
        """Return what all trees say of a sample at their roots, and what each attribute adds."""
        roots, added = 0, 0
        for tree, weights in self.trees:
            path = oracles.path_to(tree, sample)
            answers = answers_of(weights, path)
            roots, added = roots + answers[0], added + oracles.credited(tree, path, answers, len(sample))
        return roots, added


def weighted_by_hand(state, X, n_classes):
    """Return bias and contributions of forests that vote together: every way of every voter, by quadrature."""
    _, proba, ways = votes_in_parts(state, X, n_classes)
    walks = {name: Walks(state.forests[name].forest) for name in proba}
    bias, added = np.zeros((len(X), n_classes)), np.zeros((*X.shape, n_classes))

    def mean_of(name, sample):
        strengths, mix = shrinkage_of(state.evidence, name)
        roots, steps = walks[name].added_up(
            sample, lambda weights, path: oracles.shrunk_on_the_way(weights, path, n_classes, strengths, mix)
        )
        return roots / len(walks[name].trees), steps / len(walks[name].trees)

    for i, sample in enumerate(X):
        forests = {name: mean_of(name, sample) for name in proba}
        for way in ways:
            start = np.mean([forests[name][0] for name in way.voter], axis=0)
            steps = np.mean([forests[name][1] for name in way.voter], axis=0)
            bias[i] += way.weight[i] * oracles.corrected(start, way.ratio)
            steps = oracles.aumann_shapley(start, steps, partial(oracles.corrected, ratio=way.ratio))
            added[i] += way.weight[i] * steps
        bias[i], added[i] = calibrated_by_hand(state, bias[i], added[i])
    return bias, added


def calibrated_by_hand(state, bias, added):
    """Return bias and contributions of a sample's calibrated votes, by quadrature."""
    total = (bias + added.sum(axis=0)).sum()
    start, steps = bias / total, added / total
    weights, seen = calibration_of(state), state.class_mix.seen
    found = oracles.aumann_shapley(start, steps, lambda p: oracles.calibrated(p, weights, seen))
    return oracles.calibrated(start[np.newaxis], weights, seen)[0], found


def voted_by_hand(state, X, n_classes):
    """Return bias and contributions of the forest that answers alone."""
    walks = Walks(state.forests[state.answering].forest)
    bias, added = np.zeros((len(X), n_classes)), np.zeros((*X.shape, n_classes))
    for i, sample in enumerate(X):
        bias[i], added[i] = walks.added_up(
            sample,
            lambda weights, path: oracles.voted_on_the_way(weights, path, n_classes, soft=state.settings.soft),
        )
    return bias, added


def test_contributions_are_those_of_all_paths(model):
    explanation = model.explain(probes())
    state, X, order = learnt(model, probes())
    by_hand = voted_by_hand if state.settings.algorithm == "paper" else weighted_by_hand
    bias, added = by_hand(state, X, len(order))
    total = (bias + added.sum(axis=1)).sum(axis=1)
    np.testing.assert_allclose(explanation.bias, bias[:, order] / total[:, None], atol=1e-6)
    np.testing.assert_allclose(explanation.contributions, added[:, :, order] / total[:, None, None], atol=1e-6)


def test_contributions_add_up_to_what_predict_proba_returns(model):
    X = probes() + mixed_batch(5)[0] + mixed_batch(6)[0]
    explanation, expected = model.explain(X), model.predict_proba(X)
    np.testing.assert_array_equal(explanation.probabilities, expected)
    np.testing.assert_array_equal(explanation.predictions, model.predict(X))
    np.testing.assert_allclose(explanation.bias + explanation.contributions.sum(axis=1), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(explanation.bias.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(explanation.contributions.sum(axis=2), 0, atol=1e-9)
    assert not explanation.contributions[:, 3].any(), "nobody asks about a constant"
    assert np.abs(explanation.contributions[:, :3]).max(axis=(0, 2)).min() > 0.01, "and about everything else"


def test_leaves_and_batches_are_those_of_the_trees(model):
    explanation, forests = model.explain(probes()), learnt(model, probes())[0].forests
    np.testing.assert_allclose(sum(one.weights for one in explanation.forests.values()), 1)
    for name, answers in explanation.forests.items():
        trees, position = forests[name].forest.trees, {value: i for i, value in enumerate(model.classes_)}
        np.testing.assert_array_equal(answers.leaves, model.apply(probes(), forest=name))
        names = model._checked().labels.by_arrival
        for k, tree in enumerate(trees):
            leaves, rows = answers.leaves[:, k], oracles.rows_of(tree)
            np.testing.assert_array_equal(answers.batches[:, k], tree.born[leaves])
            np.testing.assert_array_equal(answers.causes[:, k], tree.cause[leaves])
            for leaf, klass, weight in zip(leaves, answers.leaf_classes[:, k], answers.leaf_samples[:, k], strict=True):
                row = rows.get(int(leaf), {})
                assert weight == sum(row.values())
                first = min((c for c in row if row[c] == max(row.values())), default=None)
                assert klass == (-1 if first is None else position[names[first]])


def test_models_show_all_there_is_to_explain():
    adaptive, soft = mixed_model("adaptive", "random_forest"), mixed_model("paper, soft", "random_forest")
    state, X, _ = learnt(adaptive, probes())
    _, _, ways = votes_in_parts(state, X, 3)
    assert {len(way.voter) for way in ways} == {1, 2}
    assert max(np.abs(way.ratio - 1).max() for way in ways) > 0.2
    assert {"active", "newest", "permanent", "temporary"} == set(adaptive.explain(probes()).forests)
    assert state.pending is not None
    weights = {name: one.weights for name, one in soft.explain(probes()).forests.items()}
    assert set(weights) == {soft.answering_forest_} != {"permanent"}
    assert all(one.max() == pytest.approx(1) for one in weights.values())


def test_forests_say_what_they_say_alone():
    model = mixed_model("adaptive", "random_forest")
    state, X, order = learnt(model, probes())
    for name, answers in model.explain(probes()).forests.items():
        proba = state.forests[name].forest.proba(X, len(order), *shrinkage_of(state.evidence, name))
        np.testing.assert_array_equal(answers.probabilities, proba[:, order])
    paper = mixed_model("paper, hard", "random_forest")
    parts = paper.explain(probes()).forests.values()
    mixed = sum(one.weights[:, None] * one.probabilities for one in parts)
    np.testing.assert_allclose(mixed, paper.predict_proba(probes()))


def test_samples_are_explained_alike_alone_together_and_in_threads(monkeypatch):
    model, X = mixed_model("adaptive", "random_forest"), probes()
    together = model.explain(X)
    for place in (0, len(X) - 1):
        alone = model.explain(X[place : place + 1])
        np.testing.assert_allclose(alone.contributions[0], together.contributions[place], atol=1e-14)
    monkeypatch.setattr(attribution, "MAX_PART", 5)
    in_threads = model.set_params(n_jobs=2).explain(X)
    np.testing.assert_allclose(in_threads.contributions, together.contributions, atol=1e-14)
    for name, answers in in_threads.forests.items():
        np.testing.assert_array_equal(answers.leaves, together.forests[name].leaves)


def test_where_nothing_speaks_for_any_class_all_are_alike():
    model = AdaptiveDecisionForestClassifier(2, random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    state = model._checked().state
    bare = [oracles.with_rows(tree, {}) for tree in state.forests["permanent"].forest.trees]
    object.__setattr__(state.forests["permanent"].forest, "trees", tuple(bare))
    explanation = model.explain([[0.0]])
    assert explanation.probabilities.tolist() == model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    assert explanation.bias.tolist() == [[0.5, 0.5]]
    assert not explanation.contributions.any()
    assert explanation.batches() == {}


# --- the correction


POSITIVE = st.floats(0.01, 50)


@given(data=st.data(), n_classes=st.integers(1, 4), n_features=st.integers(1, 4))
def test_corrected_steps_are_the_integral_along_the_way(data, n_classes, n_features):
    def draw(*shape):
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(POSITIVE, min_size=size, max_size=size))).reshape(shape)

    start, end, ratio = as_proba(draw(1, n_classes))[0], as_proba(draw(1, n_classes)), draw(n_classes)
    steps = as_proba(draw(n_features, n_classes)) - as_proba(draw(n_features, n_classes))
    steps[-1] += (end[0] - start) - steps.sum(axis=0)
    first, second = mean_inverses(start, end, ratio)
    found = ratio * (steps * first[0] - (steps @ ratio)[:, None] * second[0])
    np.testing.assert_allclose(
        found,
        oracles.aumann_shapley(start, steps, lambda p: oracles.corrected(p, ratio)),
        atol=1e-7 * np.abs(found).max(),
    )
    expected = oracles.corrected(end[0], ratio) - oracles.corrected(start, ratio)
    np.testing.assert_allclose(found.sum(axis=0), expected, atol=1e-10)


@pytest.mark.parametrize("change", [0.0, 1e-15, 1e-9, 1e-6, 0.999e-3, 1.001e-3, 1e-2])
def test_small_changes_lose_no_digits(change):
    start, ratio = np.array([0.5, 0.5]), np.array([1.0, 3.0])
    step = np.array([-change, change])
    first, second = mean_inverses(start, (start + step)[None], ratio)
    found = ratio * (step * first[0] - step @ ratio * second[0])
    expected = oracles.corrected(start + step, ratio) - oracles.corrected(start, ratio)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=3e-16)


def paused_model():
    """Return a model of which a class has paused for longer than its window, and samples of both classes."""
    rng, model = np.random.default_rng(0), AdaptiveDecisionForestClassifier(10, random_state=0)
    for share in [0.4] * 6 + [0.0] * 6:
        y = (rng.random(300) < share).astype(int)
        model.partial_fit(np.column_stack([rng.normal(size=(300, 2)), 2 * y + rng.normal(size=300)]), y)
    return model, np.column_stack([rng.normal(size=(50, 2)), rng.normal(1, 2, size=50)])


def test_contributions_add_up_where_the_permanent_forest_answers_for_a_class_that_pauses():
    model, X = paused_model()
    state = learnt(model, X)[0]
    assert {"temporary", "newest"} <= set(unmet_classes(state, state.voting, 2))
    explanation = model.explain(X)
    assert explanation.probabilities[:, 1].max() > 0.5, "it is answered"
    np.testing.assert_array_equal(explanation.probabilities, model.predict_proba(X))
    total = explanation.bias + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, explanation.probabilities, rtol=0, atol=1e-9)
    assert np.abs(explanation.contributions[:, 2, 1]).mean() > 5 * np.abs(explanation.contributions[:, :2, 1]).mean()


@given(data=st.data(), n_classes=st.integers(2, 4), n_features=st.integers(1, 4))
def test_steps_of_filled_probabilities_are_the_integral_along_the_way(data, n_classes, n_features):
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    unmet = np.arange(n_classes) >= data.draw(st.integers(1, n_classes - 1))
    (root, permanent_root), steps = rng.random((2, n_classes)), rng.normal(size=(1, n_features, n_classes)) / 9
    permanent = rng.normal(size=(1, n_features, n_classes)) / 9
    root[unmet], steps[..., unmet] = 0, 0
    expected, (points, weights) = np.zeros((n_features, n_classes)), np.polynomial.legendre.leggauss(3)
    for s, weight in zip((points + 1) / 2, weights / 2, strict=True):  # exact, since the integrand is of degree 2 in s
        p, q = root + s * steps[0].sum(axis=0), (permanent_root + s * permanent[0].sum(axis=0)) * unmet
        t, taken = q.sum(), permanent[0] * unmet
        change = taken.sum(axis=1, keepdims=True)
        expected += weight * (steps[0] * (1 - t * t) - p * 2 * t * change + taken * t + q * change)
    attribution._fill_steps(steps, permanent, root, permanent_root, unmet)
    np.testing.assert_allclose(steps[0], expected, atol=1e-12)


def test_contributions_add_up_where_the_last_samples_adjust_the_votes():
    rng, model = np.random.default_rng(0), AdaptiveDecisionForestClassifier(10, random_state=0)
    y = np.repeat(np.arange(40) % 3, 10)
    X = np.column_stack([rng.normal(size=(400, 2)), y + rng.normal(size=400)])
    for number in range(400):
        model.partial_fit(X[[number]], y[[number]])
    state = learnt(model, X)[0]
    assert state.recent.is_used
    assert state.recent.weights[0].sum() > 0.01, "the forests answer"
    assert state.recent.weights[1:].sum() > 0.01, "and others do"
    explanation = model.explain(X[:60])
    np.testing.assert_array_equal(explanation.probabilities, model.predict_proba(X[:60]))
    total = explanation.bias + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, explanation.probabilities, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sum(one.weights for one in explanation.forests.values()), 1)
    everything = model.set_params(answer_for="everything").explain(X[:60])
    np.testing.assert_array_equal(everything.probabilities, model.predict_proba(X[:60]))
