"""Trees as indented text and as Graphviz source."""

from __future__ import annotations

from typing import Any

from adforest.forest.tree import BUILT, LEAF_EXPANDED, ROOT_ADDED
from adforest.monitor.tree_nodes import NodeView, view_tree

INDENT, BRANCH = "|   ", "|--- "
MOST_CLASSES = 5  # in one node of a graph
BORDERS = {
    BUILT: 'color="#8A8A8A"',
    ROOT_ADDED: 'color="#222222", penwidth=2.5',
    LEAF_EXPANDED: 'color="#222222", style="rounded,filled,dashed"',
}


def tree_text(model: Any, forest: str = "permanent", tree: int = 0, *, max_depth: int | None = None) -> str:
    """Return a tree as indented text.

    Leaves show the class they predict and the weight of each class, with bootstrap weights. A mark in brackets names
    the batch that made a node, and the cause: the tree was built, a root was added above it, or a leaf was expanded. It
    is left out where the node above has the same one.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier
        A fitted one.
    forest : {"permanent", "active", "temporary", "newest"}, default="permanent"
    tree : int, default=0
        Index of the tree in the forest.
    max_depth : int or None, default=None
        Depth at which the text ends; nodes there show the classes of all leaves below.

    Returns
    -------
    str

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError, IndexError
        If there is no such forest or tree.

    Notes
    -----
    Thresholds have four significant digits, or as many as it takes to separate the samples in memory as the tree does.
    The side of missing values is given for columns in which a sample in memory lacks its value. Categories never learnt
    go to that side too.

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.monitor import tree_text
    >>> model = AdaptiveDecisionForestClassifier(1, base_forest="sysfor", splitting="isat", renewal=0)
    >>> model = model.partial_fit([[1, 5], [2, 5], [8, 5], [9, 5]], ["low", "low", "high", "high"])
    >>> model = model.partial_fit([[50, 5], [60, 5]], ["huge", "huge"])
    >>> print(tree_text(model))
    |--- x[0] <= 29.5  [batch 2: root added]
    |   |--- x[0] <= 5  [batch 1: tree built]
    |   |   |--- class: low (low 2)
    |   |--- x[0] > 5
    |   |   |--- class: high (high 2)
    |--- x[0] > 29.5
    |   |--- class: huge (huge 2)
    """
    views = view_tree(model, forest, tree, max_depth)
    lines = []
    for view in views:
        above = views[view.parent]
        if view.parent >= 0 and above.condition is not None:
            condition, mark = (above.condition.left, _mark(above)) if view.is_left else (above.condition.right, "")
            lines.append(f"{INDENT * above.depth}{BRANCH}{condition}{mark}")
        if view.condition is None:
            lines.append(f"{INDENT * view.depth}{BRANCH}{_leaf_words(view)}{_mark(view)}")
    return "\n".join(lines)


def tree_dot(model: Any, forest: str = "permanent", tree: int = 0, *, max_depth: int | None = None) -> str:
    """Return a tree as Graphviz source, to be drawn by ``dot -Tsvg`` or any viewer of such files.

    Leaves have the colour of the class they predict. Every node names the batch that made it, and the cause; roots
    added later have a thick border, nodes of expanded leaves a dashed one. For parameters and errors see `tree_text`.

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.monitor import tree_dot
    >>> model = AdaptiveDecisionForestClassifier(1, base_forest="sysfor")
    >>> model = model.fit([[1, 5], [2, 5], [8, 5], [9, 5]], ["low", "low", "high", "high"])
    >>> print(tree_dot(model).splitlines()[-2])
      n0 -> n2 [label="no"];
    """
    views = view_tree(model, forest, tree, max_depth)
    lines = [
        "digraph tree {",
        f"  label={_quoted(f'{forest} forest, tree {tree}')}; labelloc=t; fontname={_quoted('Helvetica')};",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica"]; edge [fontname="Helvetica", fontsize=10];',
    ]
    lines += [f"  n{view.number} [{_attributes(view)}];" for view in views]
    for view in views[1:]:
        answer = "yes" if view.is_left else "no"
        lines.append(f'  n{views[view.parent].number} -> n{view.number} [label="{answer}"];')
    return "\n".join([*lines, "}"])


def _mark(view: NodeView) -> str:
    """Return a node's mark where it differs from that of the node above."""
    return f"  [{view.mark}]" if view.is_news else ""


def _leaf_words(view: NodeView) -> str:
    """Return the prediction and the class weights of a leaf."""
    counts = ", ".join(view.counted())
    words = f"class: {view.counts[0][0]} ({counts})" if view.counts else f"no class ({counts})"
    return f"{words} {view.below}".rstrip()


def _attributes(view: NodeView) -> str:
    """Return label, colour and border of a node."""
    if view.condition is not None:
        words, colour = [view.condition.left + "?"], "#FFFFFF"
    else:
        words, colour = view.counted(MOST_CLASSES), view.colour
    label = _quoted("\n".join(filter(None, [*words, view.below, view.mark])))
    return f'label={label}, fillcolor="{colour}", {BORDERS[view.cause]}'


def _quoted(text: str) -> str:
    """Return text as a Graphviz string; line breaks become the escape that centres each line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "\\n".join(escaped.splitlines()) + '"'
