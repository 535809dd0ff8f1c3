"""Parts of graphs by themselves against the kernels and boxes they stand for, and what is refused at export."""

import sys
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation.voting import ratios_of
from adforest.classifier import read_model
from adforest.forest import Tree, TreeEditor
from adforest.forest.tree import LeafCounts
from adforest.integrations._forests import LeafProba, leaf_probabilities
from adforest.integrations.onnx import to_onnx
from adforest.integrations.onnx.export import _add_outputs
from adforest.integrations.onnx.graph import Graph
from adforest.integrations.onnx.tree_ensembles import add_forest
from experiments.rivals import RefitForestClassifier


def run(graph, value, dtype, X, *width):
    graph.output(value, "found", dtype, *width)
    session = onnxruntime.InferenceSession(graph.finish("part", "").SerializeToString())
    return session.run(None, {"X": X})[0]


@st.composite
def trees(draw):
    """Return a tree that asks about two numbers and a category of up to 300 codes, at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_codes, editor, leaves = draw(st.sampled_from([1, 3, 64, 65, 300])), TreeEditor(Tree.bare(3, 0)), [0]
    for _ in range(draw(st.integers(0, 25))):
        node, missing_left = leaves.pop(rng.integers(len(leaves))), bool(rng.integers(2))
        if rng.integers(2):
            left = editor.split(node, int(rng.integers(2)), float(rng.integers(-3, 4)) / 2, missing_left=missing_left)
        else:
            share = rng.choice([0.0, 0.02, 0.5, 1.0])
            cut = rng.random(rng.integers(1, n_codes + 1)) < share  # a node need not know all codes
            left = editor.split(node, 2, cut, missing_left=missing_left)
        leaves += [left, left + 1]
    nodes = np.sort(np.array(leaves, dtype=np.int32))
    editor.add(LeafCounts(nodes, np.zeros(len(nodes), dtype=np.int32), np.ones(len(nodes))))
    X = np.column_stack([rng.integers(-4, 5, (100, 2)) / 2, rng.integers(0, n_codes, 100)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return editor.finish(), X


@given(st.lists(trees(), min_size=1, max_size=3))
def test_samples_reach_the_leaves_of_a_graph_that_they_reach_in_the_trees(drawn):
    forest, X = [tree for tree, _ in drawn], np.concatenate([X for _, X in drawn])
    answers = []
    for tree in forest:
        node = np.flatnonzero(tree.nodes["split"] < 0).astype(np.int32)
        answers.append(LeafProba(node, node.astype(np.float64)[:, np.newaxis]))
    graph = Graph(("X", "found"))
    found = add_forest(graph, graph.input("X", "DOUBLE", 3), tuple(forest), answers)
    reached = run(graph, found, "DOUBLE", X, len(forest), 1)[:, :, 0]
    np.testing.assert_array_equal(reached, np.column_stack([tree.route(X) for tree in forest]))


def numbers(seed, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 3)) + y[:, None], y


@pytest.fixture
def model():
    model = AdaptiveDecisionForestClassifier(4, random_state=0)
    for seed in range(4):
        X, y = numbers(seed)
        model.partial_fit(X, (y + (seed > 2)) % 3)
    return model


@pytest.mark.parametrize("name", ["permanent", "temporary", "newest"])
def test_leaves_answer_what_their_forest_answers(model, name):
    known, X = read_model(model, "test"), numbers(9)[0]
    state, forest = known.state, known.state.forests[name].forest
    strengths, mix = np.array([0.0, 3.0, 30.0]), np.array([0.2, 0.3, 0.5])
    state = replace(state, evidence=replace(state.evidence, shrinkage={name: mix}))
    shares = np.zeros((len(X), 3))
    for tree, one in zip(forest.trees, leaf_probabilities(replace(known, state=state), name), strict=True):
        shares += one.proba[np.searchsorted(one.node, tree.route(X))]
    np.testing.assert_allclose(shares / len(forest), forest.proba(X, 3, strengths, mix), rtol=1e-12)


def wrong_ratios(state, n_classes):
    """Return class ratios, those of the first classes far too large."""
    return ratios_of(state, n_classes) * np.linspace(30, 1, n_classes)


def test_a_graph_that_is_not_the_model_is_not_returned(model, monkeypatch):
    to_onnx(model)
    monkeypatch.setattr("adforest.integrations.onnx.votes.ratios_of", wrong_ratios)
    with pytest.raises(
        RuntimeError, match=r"ONNX Runtime answers \d+ of \d+ samples otherwise than the model.* No graph"
    ):
        to_onnx(model)


def test_probabilities_that_are_not_the_models_are_found_whatever_the_labels(model, monkeypatch):
    monkeypatch.setattr("adforest.integrations.onnx.comparing.is_tie", lambda shares: np.ones(len(shares), dtype=bool))
    to_onnx(model)
    monkeypatch.setattr("adforest.integrations.onnx.votes.ratios_of", wrong_ratios)
    with pytest.raises(RuntimeError, match="samples otherwise than the model"):
        to_onnx(model)


def test_where_nothing_speaks_for_any_class_all_are_alike():
    graph = Graph(("X", "label", "probabilities"))
    _add_outputs(graph, graph.input("X", "DOUBLE", 4), np.array([3, 5, 7, 9]), ("label", "probabilities"))
    session = onnxruntime.InferenceSession(graph.finish("part", "").SerializeToString())
    label, probabilities = session.run(None, {"X": np.array([[0.0, 0, 0, 0], [0, 3, 1, 0]])})
    assert label.tolist() == [3, 5]
    assert probabilities.tolist() == [[0.25] * 4, [0, 0.75, 0.25, 0]]


@pytest.mark.parametrize("samples", [True, False])
def test_a_label_that_is_not_the_models_is_found(model, samples, monkeypatch):
    def swapped(known):
        return known.labels.classes[::-1]

    monkeypatch.setattr("adforest.integrations.onnx.export._labels", swapped)
    with pytest.raises(RuntimeError, match="samples otherwise than the model"):
        to_onnx(model.snapshot(samples=samples))


def test_a_graph_that_no_file_could_hold_is_refused(model, monkeypatch):
    monkeypatch.setattr("adforest.integrations.onnx.export.MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"would take about 0\.0 GB for [\d,]+ leaves of \d forests and 3 classes"):
        to_onnx(model)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match=r"to_onnx was given RefitForestClassifier; expected an AdaptiveDecisionForest"):
        to_onnx(RefitForestClassifier().fit(*numbers(0)))
    with pytest.raises(ValueError, match="is not fitted yet"):
        to_onnx(AdaptiveDecisionForestClassifier())


@pytest.mark.parametrize("library", ["onnx", "onnxruntime"])
def test_a_missing_library_is_named_with_what_to_install(model, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"to_onnx needs {library}, which .* pip install 'adforest\[onnx\]'\."):
        to_onnx(model)


def test_a_forest_of_one_tree_of_one_leaf():
    X = np.array([[0.0], [np.nan]])
    bare = Tree.bare(1, 0)
    graph = Graph(("X", "found"))
    value = add_forest(
        graph, graph.input("X", "DOUBLE", 1), (bare,), [LeafProba(np.zeros(1, np.int32), np.ones((1, 2)))]
    )
    assert run(graph, value, "DOUBLE", X, 1, 2).tolist() == [[[1.0, 1.0]], [[1.0, 1.0]]]
