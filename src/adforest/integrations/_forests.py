"""Parts of a model for exports: the predictions of leaves, the splits of nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adforest.adaptation import State
from adforest.adaptation.voting import shrinkage_of
from adforest.base import FittedModel
from adforest.forest import Tree
from adforest.forest.tree import CATEGORICAL, MISSING_LEFT
from adforest.forest.types import BoolArray, Float64Array, Int32Array


class LeafProba(NamedTuple):
    """Predictions of the leaves of a tree.

    Attributes
    ----------
    node : int32 (n_leaves,)
        Indices of the leaves.
    proba : float64 (n_leaves, n_classes)
        Class probabilities, columns in the order of the sorted classes. Zeros where a leaf has no samples.
    """

    node: Int32Array
    proba: Float64Array


class Splits(NamedTuple):
    """Splits of the inner nodes of a tree; all arrays are by inner node.

    Attributes
    ----------
    node, feature : int32
    threshold : float64
        The largest number that goes left; unused by categorical splits.
    by_categories, missing_left : bool
    members : dict of int to int32 arrays
        By node with a categorical split: the codes on the other side than missing values. All others go where missing
        values go.
    left : int32
        Index of the left child; the right one follows it.
    """

    node: Int32Array
    feature: Int32Array
    threshold: Float64Array
    by_categories: BoolArray
    missing_left: BoolArray
    members: dict[int, Int32Array]
    left: Int32Array


def leaf_probabilities(model: FittedModel[State], name: str) -> list[LeafProba]:
    """Return the predictions of the leaves of a forest, tree by tree.

    These are the shrunk class probabilities of the forest alone or, with the paper's algorithm, the class frequencies
    of the leaf or one vote for its most frequent class.
    """
    state, n_classes = model.state, len(model.labels.by_arrival)
    strengths, mix = shrinkage_of(state.evidence, name, state.settings.tuning)
    found = []
    for tree in state.forests[name].forest.trees:
        leaves = np.flatnonzero(tree.nodes["split"] < 0).astype(np.int32)
        proba = np.zeros((len(leaves), n_classes))
        if state.settings.algorithm == "paper":
            tree.vote_from(leaves, proba, soft=state.settings.soft)
        else:
            tree.add_proba_of(leaves, proba, strengths, mix)
        found.append(LeafProba(leaves, model.in_order(proba)))
    return found


def splits_of(tree: Tree) -> Splits:
    """Return the splits of the inner nodes of a tree."""
    nodes = np.flatnonzero(tree.nodes["split"] >= 0).astype(np.int32)
    threshold, left, split = (tree.nodes[field][nodes] for field in ("threshold", "left", "split"))
    by_categories, missing_left = split & CATEGORICAL != 0, split & MISSING_LEFT != 0
    members = {
        int(nodes[index]): _members(tree, int(threshold[index]), bool(missing_left[index]))
        for index in np.flatnonzero(by_categories)
    }
    return Splits(nodes, split >> 2, threshold, by_categories, missing_left, members, left)


def _members(tree: Tree, first: int, missing_left: bool) -> Int32Array:
    """Return the categories in the bit set at an index that are on the other side than missing values."""
    return np.flatnonzero(tree.goes_left(first) != missing_left).astype(np.int32)
