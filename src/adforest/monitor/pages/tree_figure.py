"""Trees: one at a time, from any node on, to a chosen depth, with the nodes of the latest batch marked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from adforest.adaptation import State, find_forest
from adforest.adaptation.report import ACTIVE, FORESTS
from adforest.base import get_fitted
from adforest.forest.tree import BUILT, CAUSES, LEAF_EXPANDED, ROOT_ADDED
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import part
from adforest.monitor.pages.markup import Markup, tag
from adforest.monitor.tree_nodes import NodeView, leaf_positions, view_path, view_tree

ROW, GAP, CHARACTER, PAD = 30, 34, 6.7, 12  # pixels: of a leaf, between levels, width of a letter, around words
LONGEST, LONGEST_CLASS = 40, 16  # characters of a condition, and of the name of a class
MOST_CLASSES = 2  # named in a leaf
DEPTHS = (2, 3, 4, 5, 6, 8, 10)
BORDERS = {BUILT: "built", ROOT_ADDED: "added", LEAF_EXPANDED: "expanded"}


@dataclass(frozen=True)
class TreeChoice:
    """Which tree is shown, from which node on, and how deep.

    Attributes
    ----------
    forest : str
        Empty for the active one, whose trees are changed where a batch perturbs them; young ones are all new.
    tree : int
        -1 for the one that the latest batch changed most, of those that it did not regrow.
    node : int
    depth : int
    """

    forest: str = ""
    tree: int = -1
    node: int = 0
    depth: int = 4

    def fitting(self, state: State) -> TreeChoice:
        """Return the choice, corrected where the model does not have it: trees are replaced as batches are learnt."""
        forest = self.forest if self.forest in FORESTS and state.forest(self.forest) is not None else ACTIVE
        trees = find_forest(state, forest).trees
        if not 0 <= self.tree < len(trees) or self.forest not in ("", forest):
            n_new = [np.count_nonzero(tree.born == state.n_batches) for tree in trees]
            tree, node = int(np.argmax([n * (n < len(tree.nodes)) for n, tree in zip(n_new, trees, strict=True)])), 0
        else:
            tree, node = self.tree, self.node if self.node < len(trees[self.tree].nodes) else 0
        return TreeChoice(forest, tree, node, min(max(self.depth, 1), DEPTHS[-1]))

    def link(self, **changes: Any) -> str:
        """Return the address of this choice with some changes."""
        return f"?{urlencode(asdict(replace(self, **changes)))}#trees"


def trees_part(model: Any, choice: TreeChoice, *, is_live: bool = True) -> Markup:
    """Return one tree of a model, with a form to choose another one where there is a server to ask."""
    state = get_fitted(model).state
    shown = choice.fitting(state)
    views = view_tree(model, shown.forest, shown.tree, shown.depth, shown.node)
    n_trees, n_nodes = len(find_forest(state, shown.forest).trees), len(views) + sum(view.n_below for view in views)
    n_new = sum(view.is_new + view.n_new_below for view in views)
    where = f"Below node {shown.node} of tree" if shown.node else "Tree"
    lead = (
        f"{where} {shown.tree} of the {n_trees} of the {shown.forest} forest; yes leads up, no leads down. Batch "
        f"{state.n_batches:,}, the latest learnt, made {n_new:,} of {words.count(n_nodes, 'node')}: these are marked."
    )
    return part(
        "trees",
        "Trees",
        _form(shown, state) if is_live else None,
        _path(model, shown) if is_live else None,
        _drawing(views, shown, is_live=is_live),
        _key(views, state.n_batches),
        lead=lead,
    )


def _form(choice: TreeChoice, state: State) -> Markup:
    """Return the fields by which another tree is chosen."""
    there = [name for name in FORESTS if state.forest(name) is not None]
    n_trees = len(find_forest(state, choice.forest).trees)

    def field(name: str, title: str, options: list[Any], chosen: Any) -> Markup:
        listed = [tag("option", one, value=one, selected=one == chosen) for one in options]
        return tag("label", title, " ", tag("select", listed, name=name))

    fields = [
        field("forest", "Forest", there, choice.forest),
        field("tree", "Tree", list(range(n_trees)), choice.tree),
        field("depth", "Levels", list(DEPTHS), choice.depth if choice.depth in DEPTHS else 4),
        tag("button", "Show", type="submit"),
    ]
    zoom = [
        tag("button", sign, type="button", data_zoom=kind, aria_label=title)
        for sign, kind, title in (("−", "out", "Smaller"), ("+", "in", "Larger"), ("Fit", "fit", "Fit to the width"))
    ]
    return tag(
        "form",
        fields,
        tag("span", zoom, class_="zoom"),
        method="get",
        action="#trees",
        class_="choice",
        data_swap="trees",
    )


def _path(model: Any, choice: TreeChoice) -> Markup | None:
    """Return the path from the root to the first node of the drawing."""
    if not choice.node:
        return None
    steps = view_path(model, choice.forest, choice.tree, choice.node)
    *above, first = ["root", *(condition for _, condition in steps)]
    listed = [
        tag("li", tag("a", name, href=choice.link(node=number), data_swap="trees"))
        for name, (number, _) in zip(above, steps, strict=True)
    ]
    listed.append(tag("li", first, aria_current="true"))
    return tag("nav", tag("ol", listed), class_="path", aria_label="From the root to the node shown first")


def _drawing(views: list[NodeView], choice: TreeChoice, *, is_live: bool) -> Markup:
    """Return the tree as SVG, its root on the left."""
    positions = leaf_positions(views)
    texts = [_words(view) for view in views]
    widths = [
        len(text) * CHARACTER + 2 * PAD + (16 if view.condition is None else 0)
        for text, view in zip(texts, views, strict=True)
    ]
    depth = max(view.depth for view in views)
    starts = [0.0]
    for level in range(depth):
        widest = max(width for width, view in zip(widths, views, strict=True) if view.depth == level and view.condition)
        starts.append(starts[-1] + widest + GAP)
    height = (max(positions) + 1) * ROW
    width = max(starts[view.depth] + one for view, one in zip(views, widths, strict=True)) + 4
    edges, nodes = [], []
    for view, position, text, one in zip(views, positions, texts, widths, strict=True):
        x, y = starts[view.depth] + 2, (position + 0.5) * ROW
        if view.parent >= 0:
            start = starts[view.depth - 1] + 2 + widths[view.parent]
            above = (positions[view.parent] + 0.5) * ROW
            bend = starts[view.depth] - GAP / 2
            is_new = " new" if view.is_new or view.n_new_below else ""
            path = f"M{start:.0f} {above:.1f}H{bend - 8:.0f}C{bend:.0f} {above:.1f} {bend:.0f} {y:.1f} {x:.0f} {y:.1f}"
            edges.append(tag("path", d=path, class_=f"edge{is_new}"))
        nodes.append(_node(view, text, (x, y, one), choice, is_live=is_live))
    label = f"Tree {choice.tree} of the {choice.forest} forest, from node {choice.node}, {len(views)} nodes"
    drawn = tag(
        "svg",
        *(edges, nodes),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        data_width=f"{width:.0f}",
        data_height=f"{height:.0f}",
        role="group",
        aria_label=label,
        class_="tree",
    )
    return tag("div", drawn, class_="scroll canvas", tabindex=0, role="region", aria_label=f"{label}; scrolls")


def _node(view: NodeView, text: str, room: tuple[float, float, float], choice: TreeChoice, *, is_live: bool) -> Markup:
    """Return one node: its condition, or its classes."""
    x, y, width = room
    is_leaf = view.condition is None
    mark = "new" if view.is_new else "new-below" if view.n_new_below else ""
    classes = ["node", BORDERS[view.cause], "leaf" if is_leaf else "", mark]
    latest = " (the latest)" if view.is_new else ""
    title = f"{text}. Node {view.number}, batch {view.batch:,}: {CAUSES[view.cause]}{latest}"
    inside = [
        tag("title", title),
        tag("rect", x=x, y=y - 11, width=width, height=22, rx=4),
        tag("rect", x=x + 8, y=y - 5, width=10, height=10, rx=2, fill=view.colour, class_="class") if is_leaf else None,
        tag("text", text, x=x + PAD + (12 if is_leaf else 0), y=y + 4),
    ]
    drawn = tag("g", inside, class_=" ".join(filter(None, classes)))
    if view.n_below and is_live:
        return tag("a", drawn, href=choice.link(node=view.number), data_swap="trees", aria_label=f"Go on from: {title}")
    return drawn


def _words(view: NodeView) -> str:
    """Return the text of a node."""
    if view.condition is not None:
        return words.shortened(view.condition.left.replace("<=", "≤"), LONGEST) + "?"
    named = [
        f"{words.shortened(name, LONGEST_CLASS)} {words.number(weight)}" for name, weight in view.counts[:MOST_CLASSES]
    ]
    more = len(view.counts) - len(named)
    text = ", ".join(named) + (f" +{more}" if more else "") if named else "no samples"
    new = f", {view.n_new_below:,} new" if 0 < view.n_new_below < view.n_below else ""
    return text + (f" … {view.n_below:,} below{new}" if view.n_below else "")


def _key(views: list[NodeView], latest: int) -> Markup:
    """Return the legend of the borders that occur."""
    found = [(BORDERS[cause], CAUSES[cause]) for cause in sorted({view.cause for view in views})]
    if any(view.is_new for view in views):
        found.append(("new", f"made by batch {latest:,}"))
    if any(view.n_new_below and not view.is_new for view in views):
        found.append(("new-below", f"has nodes below that batch {latest:,} made"))
    listed = [tag("li", tag("span", class_=f"sample {kind}", aria_hidden="true"), text) for kind, text in found]
    return tag("ul", listed, class_="key")
