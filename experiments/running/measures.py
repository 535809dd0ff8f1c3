"""What is measured of a model on a batch, whatever the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adforest.adaptation import FORESTS
from adforest.classifier import BaseADFClassifier
from adforest.forest import Tree
from adforest.forest.tree import ROOT_ADDED
from adforest.forest.types import AnyArray, Float64Array
from adforest.simulation import Batch
from nextbatch.measures import MIN_PROBABILITY

Row = dict[str, Any]  # the columns of one batch
Encode = Callable[[Any], Any]  # from a batch's records to those a model is given


def start_row(batch: Batch) -> Row:
    """Return what is known of a batch before it is learnt."""
    return {
        "batch": batch.number,
        "stage": batch.scenario,
        "n_train": len(batch.y_train),
        "large_leaf_share": batch.large_leaf_share,
    }


def accuracy(model: Any, X: Any, y: AnyArray) -> float:
    """Return the share of records whose class a model predicts."""
    return float(np.mean(model.predict(X) == y))


def log_loss(shares: Float64Array, classes: AnyArray, y: AnyArray) -> float:
    """Return the mean of -log(share of the right class), shares counting at least one in a thousand.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
    classes : ndarray of shape (n_classes,)
        What the columns stand for, sorted.
    y : ndarray of shape (n_samples,)
        The right classes; one that is not among the classes has no share.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> round(log_loss(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array(["a", "b"]), np.array(["b", "c"])), 3)
    3.8
    """
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    right = np.where(classes[places] == y, shares[np.arange(len(y)), places], 0.0)
    return float(-np.log(np.clip(right, MIN_PROBABILITY, 1.0)).mean())


def describe_forests(model: BaseADFClassifier) -> Row:
    """Return ADF's verdicts on the last batch, and the size of its forests.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier or PaperADFClassifier

    Returns
    -------
    dict
        ``scenario``, ``drift``, ``answering``; and for each forest ``perturbed_<name>``, ``action_<name>``,
        ``leaves_<name>``, ``nodes_<name>``, None where there is no such forest; ``roots_permanent``, the roots that
        were put on the trees of the permanent forest.
    """
    report, state = model.history_[-1], model._checked().state
    row: Row = {"scenario": report.scenario, "drift": report.drift, "answering": report.answering}
    for name in FORESTS:
        forest = state.forest(name)
        row[f"perturbed_{name}"] = report.perturbed.get(name)
        row[f"action_{name}"] = report.action.get(name)
        row[f"leaves_{name}"] = None if forest is None else forest.n_leaves
        row[f"nodes_{name}"] = None if forest is None else forest.n_nodes
    row["roots_permanent"] = sum(map(_count_roots, model.permanent_forest_.trees))
    return row


def _count_roots(tree: Tree) -> int:
    """Return how many questions of a tree were put above it as new roots."""
    return int(np.sum((tree.cause == ROOT_ADDED) & (tree.nodes["split"] >= 0)))


def accuracy_by_forest(model: BaseADFClassifier, X: Any, y: AnyArray) -> Row:
    """Return how accurate each of ADF's forests would be if it answered alone.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier or PaperADFClassifier
    X, y : table and array
        Test records and their class values.

    Returns
    -------
    dict
        ``accuracy_<name>`` for each forest, None where there is no such forest.
    """
    known = model._checked()
    matrix, values = known.encoder.translate(X), known.labels.by_arrival
    row: Row = {}
    for name in FORESTS:
        forest = known.state.forest(name)
        row[f"accuracy_{name}"] = None
        if forest is not None:
            votes = forest.answer(matrix, len(values), soft=known.state.settings.soft, n_jobs=1)
            row[f"accuracy_{name}"] = float(np.mean(values[votes.argmax(axis=1)] == y))
    return row


def make_encoder(n_categories: tuple[int, ...], *, one_hot: bool) -> Encode:
    """Return the function that turns a batch's records into those a model is given.

    Parameters
    ----------
    n_categories : tuple of int
        Per column, its number of categories; 0 where it is numerical.
    one_hot : bool
        Whether each category becomes one 0/1 column; otherwise records stay as they are.

    Returns
    -------
    callable
    """

    def encode(X: Float64Array) -> Float64Array:
        columns = [
            X[:, [j]] if n == 0 else (X[:, [j]] == np.arange(n)).astype(np.float64) for j, n in enumerate(n_categories)
        ]
        return np.concatenate(columns, axis=1)

    return encode if one_hot and any(n_categories) else lambda X: X
