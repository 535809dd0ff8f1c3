"""ONNX Runtime is the referee: a graph answers every sample as its model does, whatever the model has learnt."""

import functools

import numpy as np
import onnx
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation.voting import asked_forests, is_permanent_alone, unmet_classes
from adforest.integrations.onnx import to_onnx
from exported_models import FORESTS, assert_same_answers, feed, random_model, run

SEEDS = range(30)
cached_model = functools.cache(random_model)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_graph_answers_as_its_model_does(seed):
    model, X = cached_model(seed)
    assert_same_answers(model, X, *run(to_onnx(model), feed(X)))


def test_these_models_have_all_that_a_graph_must_carry():
    found = set()
    for seed in SEEDS:
        model, X = cached_model(seed)
        state, codes = model._model.state, model._model.encoder.translate(X)
        if isinstance(model, PaperADFClassifier):
            found.add(("paper", model.voting, state.answering != "permanent"))
        elif is_permanent_alone(state):
            found.add("permanent alone")
        else:
            found.add(("asked", len(asked_forests(state))))
            found |= {("new", len(state.class_mix.new) > 0), ("rare", len(state.class_mix.rare) > 0)}
            found.add(("recency", len(state.recency) > 0))
        if state.pending is not None:
            found.add("samples that wait")
        found.add(("forest", model.base_forest))
        found.add(("unseen", bool(np.isnan(codes[X["kind"].notna(), 2]).any())))
    expected = {("paper", voting, other) for voting in ("hard", "soft") for other in (True, False)}
    expected |= {"permanent alone", "samples that wait", ("unseen", True)}
    expected |= {(part, is_there) for part in ("new", "rare", "recency") for is_there in (True, False)}
    expected |= {("asked", n) for n in (3, 4)} | {("forest", name) for name in FORESTS}
    assert expected - found == set()


def numbers(seed, n=200, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 3)) + 2 * y[:, None], y


def test_one_matrix_goes_in_where_arrays_of_numbers_were_learnt():
    X, y = numbers(0)
    graph = to_onnx(AdaptiveDecisionForestClassifier(3, random_state=0).fit(X, y))
    (given,) = graph.graph.input
    assert given.name == "X"
    assert given.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    assert [place.dim_value or place.dim_param for place in given.type.tensor_type.shape.dim] == ["N", 3]
    assert [one.name for one in graph.graph.output] == ["label", "probabilities"]


def test_thresholds_are_compared_as_doubles():
    X = np.array([[0.1], [np.nextafter(0.1, 1)]] * 50)
    model = AdaptiveDecisionForestClassifier(3, random_state=0).fit(X, [0, 1] * 50)
    label, _ = run(to_onnx(model), {"X": X})
    assert label.tolist() == [0, 1] * 50  # as float32 both are the same number


@pytest.mark.parametrize("n", [0, 1, 5_000])
def test_any_number_of_samples_goes_in(n):
    model = AdaptiveDecisionForestClassifier(3, random_state=0)
    for seed in range(3):
        model.partial_fit(*numbers(seed))
    X = numbers(9, n)[0]
    label, probabilities = run(to_onnx(model), {"X": X})
    assert label.shape == (n,)
    assert probabilities.shape == (n, 3)
    if n:
        assert_same_answers(model, X, label, probabilities)


@pytest.mark.parametrize("answer_for", ["next_batch", "everything"])
def test_parameters_count_as_they_are_at_export(answer_for):
    model = AdaptiveDecisionForestClassifier(4, random_state=0)
    for seed in range(5):
        X, y = numbers(seed)
        model.partial_fit(X, (y + (seed > 2)) % 3)
    model.set_params(answer_for=answer_for)
    X = numbers(9)[0]
    assert_same_answers(model, X, *run(to_onnx(model), {"X": X}))


def test_a_graph_is_of_one_moment():
    model = AdaptiveDecisionForestClassifier(4, random_state=0).fit(*numbers(0))
    X = numbers(9)[0]
    graph, before = to_onnx(model), model.predict_proba(X)
    model.partial_fit(*numbers(1, n_classes=4))
    np.testing.assert_allclose(run(graph, {"X": X})[1], before, atol=1e-6)
    assert_same_answers(model, X, *run(to_onnx(model), {"X": X}))


@pytest.mark.parametrize("samples", [True, False])
def test_a_snapshot_is_exported_as_a_model_is(samples):
    model, X = cached_model(0)
    graph = to_onnx(model.snapshot(samples=samples))
    assert graph == to_onnx(model)
    assert_same_answers(model, X, *run(graph, feed(X)))


def test_the_permanent_forest_answers_for_classes_that_pause():
    model = AdaptiveDecisionForestClassifier(5, random_state=0)
    for number in range(11):
        X, y = numbers(number, n_classes=2 if number > 5 else 3)
        model.partial_fit(X, np.array(["c", "b", "a"])[y])
    state = model._model.state
    assert unmet_classes(state, state.voting, 3)
    X, _ = numbers(99)
    answers = run(to_onnx(model), {"X": X})
    assert_same_answers(model, X, *answers)
    assert (model.predict(X) == "a").mean() > 0.2


def test_the_last_samples_before_the_export_count_as_they_do_for_the_model():
    model = AdaptiveDecisionForestClassifier(5, random_state=0)
    X, y = numbers(0, n=330)
    order = np.argsort(y, kind="stable")  # classes in runs
    X, y = X[order], np.array(["c", "b", "a"])[y[order]]
    model.partial_fit(X[::3], y[::3])
    for number in range(0, 330, 2):
        model.partial_fit(X[number : number + 2], y[number : number + 2])
    state = model._model.state
    assert state.recent.is_used
    assert (state.recent.weights >= 0.01).any(axis=1).sum() > 1, "more than the forests answer"
    probes, _ = numbers(99)
    assert_same_answers(model, probes, *run(to_onnx(model), {"X": probes}))


def test_a_class_that_was_only_declared_has_its_column():
    model = AdaptiveDecisionForestClassifier(3, random_state=0)
    X, y = numbers(0)
    model.partial_fit(X, y, classes=[0, 1, 2, 5]).partial_fit(X, y)
    label, probabilities = run(to_onnx(model), {"X": X})
    assert probabilities.shape == (200, 4)
    assert_same_answers(model, X, label, probabilities)


def test_a_model_of_one_class():
    model = AdaptiveDecisionForestClassifier(3).fit([[1.0], [2.0]], ["only", "only"])
    label, probabilities = run(to_onnx(model), {"X": np.array([[5.0], [np.nan]])})
    assert label.tolist() == ["only", "only"]
    assert probabilities.tolist() == [[1.0], [1.0]]


def test_the_model_learns_on_as_if_nothing_had_been_exported():
    exported, other = (AdaptiveDecisionForestClassifier(3, random_state=0).fit(*numbers(0)) for _ in range(2))
    to_onnx(exported)
    X = numbers(9)[0]
    for model in (exported, other):
        model.partial_fit(*numbers(1))
    np.testing.assert_array_equal(exported.predict_proba(X), other.predict_proba(X))
