"""The vote as a graph: from the matrix that trees read to votes for classes, see `adforest.adaptation.voting`.

Everything that is fixed at export is computed here: the forests, predictions of leaves, weights and class ratios.
Columns are in the order of the sorted classes throughout, and numbers are doubles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adforest.adaptation import State
from adforest.adaptation.recent_samples import fading
from adforest.adaptation.report import PERMANENT, TEMPORARY
from adforest.adaptation.voting import (
    asked_forests,
    calibration_of,
    is_permanent_alone,
    label_counts,
    ratios_of,
    unmet_classes,
)
from adforest.base import FittedModel
from adforest.forest.types import AnyArray, Int64Array
from adforest.integrations._forests import LeafProba, leaf_probabilities
from adforest.integrations.onnx.graph import Graph
from adforest.integrations.onnx.tree_ensembles import add_forest


def forests_of(state: State) -> list[str]:
    """Return the forests in the graph."""
    if state.settings.algorithm == "paper":
        return [state.answering]
    return [PERMANENT] if is_permanent_alone(state) else sorted(asked_forests(state))


def add_votes(graph: Graph, matrix: str, model: FittedModel[State]) -> str:
    """Add the whole vote to a graph; return the votes, of shape (N, n_classes)."""
    state = model.state
    if state.settings.algorithm == "paper":
        return _add_proba(graph, matrix, model, state.answering)
    votes = _add_forest_votes(graph, matrix, model)
    votes = _add_recent_samples(graph, matrix, model, votes) if state.is_adjusted else votes
    return _add_calibration(graph, model, votes)


def _add_recent_samples(graph: Graph, matrix: str, model: FittedModel[State], votes: str) -> str:
    """Adjust votes by the last samples before the export, see `adforest.adaptation.recent_samples`."""
    state, n_classes = model.state, len(model.labels.by_arrival)
    recent, counts, tuning = state.recent, label_counts(state, n_classes), state.settings.tuning
    forests, is_empty = graph.divided(votes, graph.total(votes))
    forests = graph.add("Where", is_empty, graph.constant(np.full((1, n_classes), 1 / n_classes)), forests)
    frequencies = model.in_order((counts["seen"] / counts["seen"].sum())[np.newaxis])
    answers = [forests, _add_neighbours(graph, matrix, model, forests), graph.constant(frequencies)]
    ratios = model.in_order(recent.ratios(**counts, tuning=tuning))
    parts = [graph.add("Mul", forests, graph.constant(0.0))]
    for voter, weights in zip(answers, recent.weights, strict=True):
        for weight, ratio in zip(weights, ratios, strict=True):
            if weight >= tuning.min_weight:
                product = graph.add("Mul", voter, graph.constant(ratio[np.newaxis]))
                scaled = graph.add("Div", product, graph.total(product))
                parts.append(graph.add("Mul", scaled, graph.constant(float(weight))))
    return graph.add("Sum", *parts)


def _add_neighbours(graph: Graph, matrix: str, model: FittedModel[State], forests: str) -> str:
    """Add the vote of the last samples, by the fraction of the permanent forest's trees in which leaves agree."""
    recent, tuning = model.state.recent, model.state.settings.tuning
    trees, answers = model.state.forests[PERMANENT].forest.trees, leaf_probabilities(model, PERMANENT)
    numbers = [LeafProba(one.node, one.node[:, np.newaxis].astype(np.float64)) for one in answers]
    leaves = add_forest(graph, matrix, trees, numbers)  # (N, n_trees, 1)
    others = graph.constant(recent.leaves[np.newaxis].astype(np.float64))
    is_same = graph.add("Cast", graph.add("Equal", leaves, others), to=graph.onnx.TensorProto.DOUBLE)
    near = graph.add("Pow", graph.mean(is_same, axis=1), graph.constant(float(tuning.steepness)))
    fade = fading(tuning.fading, recent.leaves.shape[1])
    weight = fade[:, np.newaxis] * (recent.near_y[:, np.newaxis] == model.labels.order)
    own = graph.add("Mul", forests, graph.constant(tuning.own_weight))
    total = graph.add("Add", graph.add("MatMul", near, graph.constant(weight)), own)
    return graph.add("Div", total, graph.total(total))


def _add_forest_votes(graph: Graph, matrix: str, model: FittedModel[State]) -> str:
    """Add the weighted vote of the forests."""
    state = model.state
    if is_permanent_alone(state):
        return _add_proba(graph, matrix, model, PERMANENT)
    proba = {name: _add_proba(graph, matrix, model, name) for name in forests_of(state) if name != PERMANENT}
    proba[PERMANENT], near = _add_proba_and_recency(graph, matrix, model)
    contexts = _add_contexts(graph, model, proba, near)
    return _add_weighted_votes(graph, model, _add_unmet_classes(graph, model, proba), contexts)


def _add_calibration(graph: Graph, model: FittedModel[State], votes: str) -> str:
    """Sharpen or flatten votes, see `adforest.adaptation.calibration`; votes that are all 0 stay so."""
    sharp, plain, uniform = calibration_of(model.state).tolist()
    if plain == 1:
        return votes
    seen = model.state.class_mix.padded(len(model.labels.by_arrival)).seen > 0
    alike = model.in_order(seen[np.newaxis] / seen.sum())
    p, is_empty = graph.divided(votes, graph.total(votes))
    cubes = graph.add("Mul", graph.add("Mul", p, p), p)
    parts = (
        graph.add("Mul", graph.divided(cubes, graph.total(cubes))[0], graph.constant(sharp)),
        graph.add("Mul", p, graph.constant(plain)),
        graph.add("Where", is_empty, graph.constant(0.0), graph.constant(uniform * alike)),
    )
    return graph.add("Sum", *parts)


def _add_unmet_classes(graph: Graph, model: FittedModel[State], proba: dict[str, str]) -> dict[str, str]:
    """Return class probabilities by forest, with the permanent one's for classes that a forest has not seen."""
    filled, one = dict(proba), graph.constant(1.0)
    for name, unmet in unmet_classes(model.state, proba, len(model.labels.by_arrival)).items():
        classes = model.in_order(unmet[np.newaxis].astype(np.float64))
        mass = graph.add("Min", graph.add("MatMul", proba[PERMANENT], graph.constant(classes.T)), one)
        taken = graph.add("Mul", graph.add("Mul", proba[PERMANENT], graph.constant(classes)), mass)
        rest = graph.add("Sub", one, graph.add("Mul", mass, mass))
        filled[name] = graph.add("Add", graph.add("Mul", proba[name], rest), taken)
    return filled


def _add_weighted_votes(graph: Graph, model: FittedModel[State], proba: dict[str, str], contexts: str) -> str:
    """Add up the voters' probabilities, corrected for each class mix and weighted by the contexts of each sample.

    With r_m(c) the class ratios and w_m(x) the weights of a voter v, its votes are written as

        v(x) * sum over m of (w_m(x) / (v(x) . r_m)) r_m,

    which are two products of matrices.
    """
    ratios = model.in_order(ratios_of(model.state, len(model.labels.by_arrival)))
    votes = []
    evidence = model.state.evidence
    for voter, weights in zip(evidence.voters, evidence.weights, strict=True):
        kept = np.flatnonzero(weights.max(axis=0) >= model.state.settings.tuning.min_weight)
        if not len(kept) or not proba.keys() >= set(voter):
            continue
        mean = proba[voter[0]]
        if len(voter) > 1:
            total = graph.add("Sum", *(proba[name] for name in voter))
            mean = graph.add("Mul", total, graph.constant(1 / len(voter)))
        total = graph.add("MatMul", mean, graph.constant(ratios[kept].T))
        weight = graph.add("MatMul", contexts, graph.constant(weights[:, kept]))
        scale, _ = graph.divided(weight, total)
        votes.append(graph.add("Mul", mean, graph.add("MatMul", scale, graph.constant(ratios[kept]))))
    return graph.add("Sum", *votes)


def _add_contexts(graph: Graph, model: FittedModel[State], proba: dict[str, str], near: str) -> str:
    """Return the membership of each sample in each context, adding up to 1, of shape (N, 4)."""
    mix, one = model.state.class_mix, graph.constant(1.0)

    def found_by(name: str, classes: Int64Array) -> str | None:
        if name not in proba or not len(classes):
            return None
        is_asked = np.isin(model.labels.order, classes).astype(np.float64)[:, np.newaxis]
        others = graph.add("Sub", one, graph.add("MatMul", proba[name], graph.constant(is_asked)))
        return graph.add(
            "Sub", one, graph.add("Pow", others, graph.constant(float(model.state.settings.tuning.steepness)))
        )

    none = graph.add("Sub", near, near)
    found = found_by(TEMPORARY, mix.new)
    new = none if found is None else graph.add("Mul", near, found)
    rare = found_by(PERMANENT, mix.rare) or none
    not_rare, not_new = graph.add("Sub", one, rare), graph.add("Sub", one, new)
    parts = [
        graph.add("Mul", graph.add("Sub", near, new), not_rare),
        graph.add("Mul", graph.add("Sub", one, near), not_rare),
        new,
        graph.add("Mul", not_new, rare),
    ]
    return graph.add("Concat", *parts, axis=1)


def _add_proba(graph: Graph, matrix: str, model: FittedModel[State], name: str) -> str:
    """Add a forest; return its class probabilities, the mean over trees."""
    trees = model.state.forests[name].forest.trees
    return graph.mean(add_forest(graph, matrix, trees, leaf_probabilities(model, name)), axis=1)


def _add_proba_and_recency(graph: Graph, matrix: str, model: FittedModel[State]) -> tuple[str, str]:
    """Add the permanent forest; return its class probabilities, and the recency of samples, of shape (N, 1)."""
    state, n_classes = model.state, len(model.labels.by_arrival)
    trees, answers = state.forests[PERMANENT].forest.trees, leaf_probabilities(model, PERMANENT)
    recency: Sequence[AnyArray] = state.recency or [np.ones(len(tree.nodes)) for tree in trees]
    near = np.concatenate([by_node[one.node] for by_node, one in zip(recency, answers, strict=True)])
    both = graph.mean(add_forest(graph, matrix, trees, answers, near.astype(np.float64)), axis=1)
    proba, mean = graph.columns(both, 0, n_classes), graph.columns(both, n_classes, n_classes + 1)
    full = graph.constant(state.settings.tuning.full_recency)
    return proba, graph.add("Min", graph.add("Div", mean, full), graph.constant(1.0))
