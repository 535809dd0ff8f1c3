"""Views of the nodes of a tree: the condition or the class counts of each, and the batch that made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from adforest.adaptation import find_forest
from adforest.base import get_fitted
from adforest.classifier import BaseADFClassifier
from adforest.encoding.rebuilding import write_value
from adforest.exceptions import InputTypeError, ParameterError
from adforest.forest import Tree
from adforest.forest._kernels import routing
from adforest.forest.tree import CAUSES
from adforest.forest.types import AnyArray, Int64Array
from adforest.monitor.conditions import Condition, Conditions
from adforest.snapshot import FittedForests

# Okabe and Ito's colours, which colour-blind people can tell apart; those that carry black text best come first.
COLOURS = ("56B4E9", "E69F00", "009E73", "CC79A7", "F0E442", "D55E00", "0072B2", "999999")
PALER = 0.3  # fraction of white in the first round of colours
NOBODY = "#FFFFFF"  # the colour of a leaf without samples


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node as it is shown.

    Attributes
    ----------
    number : int
        Its index among the tree's nodes.
    parent : int
        Index of the node above in the list of views, -1 for the root.
    is_left : bool
        Whether the condition of its parent is true for its samples.
    depth : int
    condition : Condition or None
        Its condition; None for a leaf and where the view ends.
    counts : tuple of (str, float)
        Weight by class, largest first: of a leaf, or of all leaves below where the view ends.
    klass : int
        Code of the class it predicts, -1 for none.
    n_below : int
        How many nodes the view leaves out below this one.
    n_new_below : int
        How many of these the latest batch made.
    batch : int
        The batch that made it.
    cause : int
        Why, see `adforest.forest.tree.CAUSES`.
    is_news : bool
        Whether another batch made the node above, or for another reason.
    is_new : bool
        Whether the latest batch made it.
    """

    number: int
    parent: int
    is_left: bool
    depth: int
    condition: Condition | None
    counts: tuple[tuple[str, float], ...]
    klass: int
    n_below: int
    n_new_below: int
    batch: int
    cause: int
    is_news: bool
    is_new: bool

    @property
    def mark(self) -> str:
        """Which batch made the node, and why."""
        return f"batch {self.batch}: {CAUSES[self.cause]}"

    @property
    def colour(self) -> str:
        """Colour of the class it predicts, as ``#RRGGBB``."""
        return _colour_of_class(self.klass)

    @property
    def below(self) -> str:
        """Note on the nodes left out below the node."""
        return f"... {self.n_below:,} nodes below" if self.n_below else ""

    def counted(self, most: int | None = None) -> list[str]:
        """Return a few words for each class, largest first, and for the rest of them if there are more than most."""
        words = [f"{name} {write_value(weight)}" for name, weight in self.counts[:most]]
        more = len(self.counts) - len(words)
        return [*words, f"... {more} more"] if more else words or ["no samples"]


def view_tree(model: Any, forest: str, tree: int, max_depth: int | None, root: int = 0) -> list[NodeView]:
    """Return the nodes of a model's tree as they are shown, each before those below it, the left ones first.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier
    forest : {"permanent", "active", "temporary", "newest"}
    tree : int
        Index of the tree in the forest.
    max_depth : int or None
        Where the view ends.
    root : int, default=0
        The root of the view.
    """
    if max_depth is not None and (not isinstance(max_depth, (int, np.integer)) or max_depth < 0):
        raise ParameterError(f"max_depth is {max_depth!r}; expected an integer from 0 on, or None for the whole tree")
    learnt, found = _open_tree(model, forest, tree)
    classes, samples = learnt.labels.by_arrival, learnt.state.memory.matrix()
    conditions = Conditions(found, learnt.encoder, classes, samples)
    shown_by = _shown_by(found, max_depth, _checked_node(found, root))
    is_new = found.born == learnt.state.n_batches
    n_below = np.bincount(shown_by, minlength=len(found.nodes)) - 1
    n_new_below = np.bincount(shown_by, is_new, len(found.nodes)) - is_new
    counts = _Counts(found, shown_by, learnt.labels.by_arrival)
    views: list[NodeView] = []
    for number, parent, is_left in _walk(found, n_below, root):
        above = views[parent] if parent >= 0 else None
        batch, cause = int(found.born[number]), int(found.cause[number])
        asks = found.nodes["split"][number] >= 0 and not n_below[number]
        views.append(
            NodeView(
                number=number,
                parent=parent,
                is_left=is_left,
                depth=0 if above is None else above.depth + 1,
                condition=conditions.condition(number) if asks else None,
                counts=counts.of(number),
                klass=counts.first_of(number),
                n_below=int(n_below[number]),
                n_new_below=int(n_new_below[number]),
                batch=batch,
                cause=cause,
                is_news=above is None or (above.batch, above.cause) != (batch, cause),
                is_new=bool(is_new[number]),
            )
        )
    return views


def leaf_positions(views: Sequence[NodeView]) -> list[float]:
    """Return where each node is drawn across a tree, in leaves: leaves in order, others between their two children."""
    found, n_leaves = [0.0] * len(views), 0
    for number, view in enumerate(views):
        if view.condition is None:
            found[number], n_leaves = float(n_leaves), n_leaves + 1
    for number in range(len(views) - 1, 0, -1):  # children come after their parents
        found[views[number].parent] += found[number] / 2
    return found


def view_path(model: Any, forest: str, tree: int, node: int) -> list[tuple[int, str]]:
    """Return the nodes above one of a tree, the root first: the number of each, and the condition that leads on."""
    learnt, found = _open_tree(model, forest, tree)
    classes, samples = learnt.labels.by_arrival, learnt.state.memory.matrix()
    conditions = Conditions(found, learnt.encoder, classes, samples)
    left, parent = found.nodes["left"], found.sums.parent
    path, below = [], _checked_node(found, node)
    while (above := int(parent[below])) >= 0:
        condition = conditions.condition(above)
        path.append((above, condition.left if below == left[above] else condition.right))
        below = above
    return path[::-1]


def _open_tree(model: Any, forest: str, tree: int) -> tuple[FittedForests, Tree]:
    """Return the fitted model, read once since another thread may replace it, and one of its trees."""
    if not isinstance(model, BaseADFClassifier):
        kinds = "AdaptiveDecisionForestClassifier or PaperADFClassifier"
        raise InputTypeError(f"got {type(model).__name__}; expected a fitted {kinds}")
    learnt = get_fitted(model)
    found = find_forest(learnt.state, forest)
    try:
        is_there = 0 <= index(tree) < len(found)
    except TypeError:
        raise InputTypeError(f"tree is {tree!r}; expected an integer from 0 to {len(found) - 1}") from None
    if not is_there:
        trees = f"trees 0 to {len(found) - 1}" if len(found) > 1 else "one tree, number 0"
        raise IndexError(f"tree is {tree}, but the {forest} forest has {trees}. Choose one of them.")
    return learnt, found.trees[tree]


def _checked_node(tree: Tree, node: int) -> int:
    """Return the number of a node, or raise an error with the range."""
    if not 0 <= node < len(tree.nodes):
        raise IndexError(f"node is {node}, but the tree has nodes 0 to {len(tree.nodes) - 1}. Choose one of them.")
    return node


def _shown_by(tree: Tree, max_depth: int | None, root: int) -> Int64Array:
    """Return for every node the one that shows it: itself, or the one above it at which the view ends.

    The view ends some depth below its root; nodes that are not below it are not shown at all.
    """
    shown_by = np.arange(len(tree.nodes))
    if max_depth is None:
        return shown_by
    left, split = tree.nodes["left"].tolist(), tree.nodes["split"].tolist()
    depths = routing.depths(tree.nodes)
    stack = np.flatnonzero(depths == depths[root] + max_depth).tolist()
    while stack:
        number = stack.pop()
        if split[number] >= 0:
            child = left[number]
            shown_by[child] = shown_by[child + 1] = shown_by[number]
            stack += [child, child + 1]
    return shown_by


def _walk(tree: Tree, n_below: Int64Array, root: int) -> Iterator[tuple[int, int, bool]]:
    """Visit the nodes to be shown: number, index of the one above among those visited, and whether it is left of it.

    A stack of our own, since trees may be deeper than Python's.
    """
    left, split = tree.nodes["left"].tolist(), tree.nodes["split"].tolist()
    stack, index = [(root, -1, False)], 0
    while stack:
        number, parent, is_left = stack.pop()
        yield number, parent, is_left
        if split[number] >= 0 and not n_below[number]:
            child = left[number]
            stack += [(child + 1, index, False), (child, index, True)]
        index += 1


class _Counts:
    """The class weights of the nodes to be shown, largest first."""

    def __init__(self, tree: Tree, shown_by: Int64Array, names: AnyArray) -> None:
        node = shown_by[np.repeat(np.arange(len(tree.nodes)), np.diff(tree.row_start))]
        pair, inverse = np.unique(node * len(names) + tree.row_class, return_inverse=True)
        weight = np.bincount(inverse, weights=tree.row_weight, minlength=len(pair))
        node, klass = np.divmod(pair, len(names))
        order = np.lexsort((klass, -weight, node))
        self._names = names
        self._class = klass[order]
        self._weight = weight[order]
        self._start = np.searchsorted(node, np.arange(len(tree.nodes) + 1))

    def of(self, node: int) -> tuple[tuple[str, float], ...]:
        """Return names and weights of a node's classes."""
        rows = slice(*self._start[node : node + 2])
        pairs = zip(self._class[rows], self._weight[rows].tolist(), strict=True)
        return tuple((write_value(self._names[klass]), weight) for klass, weight in pairs)

    def first_of(self, node: int) -> int:
        """Return the code of the class that a node predicts."""
        start, stop = self._start[node : node + 2]
        return int(self._class[start]) if start < stop else -1


def _colour_of_class(code: int) -> str:
    """Return a class's colour by order of arrival; colours return paler when there are more classes than colours."""
    if code < 0:
        return NOBODY
    rounds, index = divmod(code, len(COLOURS))
    white = 1 - (1 - PALER) / (1 + rounds)
    channels = bytes.fromhex(COLOURS[index])
    return "#" + bytes(round(255 * white + channel * (1 - white)) for channel in channels).hex().upper()
