"""What a state has to do when its columns change: more of them, or codes of categories that mean something else now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from adforest.adaptation.boxes import Box
from adforest.adaptation.state import ForestState, State
from adforest.forest import Tree
from adforest.forest.packed import PackedRows
from adforest.forest.types import Floats, Ints


def with_columns(state: State, n_features: int, given_back: Mapping[int, Ints]) -> State:
    """Return a state with more columns, missing in all it knows, that has forgotten what some codes meant.

    Parameters
    ----------
    state : State
    n_features : int
        How many columns there are now; new ones are the last.
    given_back : dict of int to int32 arrays
        By column: codes of categories to be treated as never seen, since other values may have them from now on.
    """
    if len(state.memory.values.types) == n_features and not given_back:
        return state
    trees: dict[int, Tree] = {}  # by id: forests share trees, and still do so afterwards

    def changed(one: ForestState) -> ForestState:
        for tree in one.forest.trees:
            if id(tree) not in trees:
                trees[id(tree)] = _changed_tree(tree, n_features, given_back)
        return replace(one, forest=one.forest.with_trees(trees), box=_changed_box(one.box, n_features, given_back))

    states = {id(one): changed(one) for one in set(state.forests.values())}  # the active one may be the permanent one
    memory, pending = state.memory, state.pending
    values = _changed_records(memory.matrix(), n_features, given_back)
    types = np.append(memory.values.types, np.zeros(n_features - len(memory.values.types), dtype=np.uint8))
    return replace(
        state,
        memory=replace(memory, values=PackedRows.of(values, types)),
        forests={name: states[id(one)] for name, one in state.forests.items()},
        pending=None if pending is None else replace(pending, X=_changed_records(pending.X, n_features, given_back)),
    )


def _changed_tree(tree: Tree, n_features: int, given_back: Mapping[int, Ints]) -> Tree:
    """Return a tree that can gain from new columns, and sends some categories where it sends missing values."""
    more = n_features - len(tree.importance)
    tree = replace(tree, importance=np.append(tree.importance, np.zeros(more))) if more else tree
    for feature, codes in given_back.items():
        tree = tree.without_categories(feature, codes)
    return tree


def _changed_box(box: Box, n_features: int, given_back: Mapping[int, Ints]) -> Box:
    """Return a box in which new columns and some categories were never seen."""
    never = np.full(n_features - len(box.low), np.nan)
    categories = dict(box.categories)
    for feature in given_back.keys() & categories.keys():
        seen = categories[feature].copy()
        seen[given_back[feature][given_back[feature] < len(seen)]] = False
        categories[feature] = seen
    return Box(np.append(box.low, never), np.append(box.high, never), categories)


def _changed_records(X: Floats, n_features: int, given_back: Mapping[int, Ints]) -> Floats:
    """Return a copy of records in which new columns and some categories are missing."""
    wide = np.full((len(X), n_features), np.nan)
    wide[:, : X.shape[1]] = X
    for feature, codes in given_back.items():
        wide[np.isin(wide[:, feature], codes), feature] = np.nan
    return wide
