"""What a state has to do when its columns change: more of them, or codes of categories that mean something else now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from adforest.adaptation.boxes import Box
from adforest.adaptation.state import ForestState, State
from adforest.forest import Tree
from adforest.forest.packed import PackedRows
from adforest.forest.types import Float64Array, Int32Array, Int64Array


def with_columns(
    state: State, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]
) -> State:
    """Return a state with more columns, missing in all it knows, that has forgotten what some codes meant.

    Parameters
    ----------
    state : State
    column_index : int64
        The index that each column of the state has now, ascending.
    n_features : int
        How many columns there are now.
    recycled_codes : dict of int to int32 arrays
        By column: codes of categories to be treated as never seen, since other values may have them from now on.
    """
    if len(state.memory.values.types) == n_features and not recycled_codes:
        return state
    trees: dict[int, Tree] = {}  # by id: forests share trees, and still do so afterwards

    def changed(one: ForestState) -> ForestState:
        for tree in one.forest.trees:
            if id(tree) not in trees:
                trees[id(tree)] = _changed_tree(tree, column_index, n_features, recycled_codes)
        box = _changed_box(one.box, column_index, n_features, recycled_codes)
        return replace(one, forest=one.forest.with_trees(trees), box=box)

    states = {id(one): changed(one) for one in set(state.forests.values())}  # the active one may be the permanent one
    memory, pending = state.memory, state.pending
    values = _changed_samples(memory.matrix(), column_index, n_features, recycled_codes)
    types = np.zeros(n_features, dtype=np.uint8)
    types[column_index] = memory.values.types
    if pending is not None:
        pending = replace(pending, X=_changed_samples(pending.X, column_index, n_features, recycled_codes))
    return replace(
        state,
        memory=replace(memory, values=PackedRows.of(values, types)),
        forests={name: states[id(one)] for name, one in state.forests.items()},
        pending=pending,
    )


def _changed_tree(
    tree: Tree, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]
) -> Tree:
    """Return a tree that can gain from new columns, and sends some categories where it sends missing values."""
    if n_features > len(column_index):
        importance = np.zeros(n_features)
        importance[column_index] = tree.importance
        tree = replace(tree.with_features(column_index), importance=importance)
    for feature, codes in recycled_codes.items():
        tree = tree.without_categories(feature, codes)
    return tree


def _changed_box(box: Box, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]) -> Box:
    """Return a box in which new columns and some categories were never seen."""
    low, high = np.full((2, n_features), np.nan)
    low[column_index], high[column_index] = box.low, box.high
    categories = dict(box.categories)
    for feature in recycled_codes.keys() & categories.keys():
        seen = categories[feature].copy()
        seen[recycled_codes[feature][recycled_codes[feature] < len(seen)]] = False
        categories[feature] = seen
    return Box(low, high, categories)


def _changed_samples(
    X: Float64Array, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]
) -> Float64Array:
    """Return a copy of samples in which new columns and some categories are missing."""
    wide = np.full((len(X), n_features), np.nan)
    wide[:, column_index] = X
    for feature, codes in recycled_codes.items():
        wide[np.isin(wide[:, feature], codes), feature] = np.nan
    return wide
