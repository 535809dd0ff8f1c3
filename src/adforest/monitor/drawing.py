"""Trees as pictures, with matplotlib: from the top down while they are small, from left to right when they grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adforest.forest.tree import BUILT, LEAF_EXPANDED, ROOT_ADDED
from adforest.forest.types import Float64Array
from adforest.monitor.style import FAINT, INK, check_matplotlib
from adforest.monitor.tree_nodes import NodeView, leaf_positions, view_tree

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.offsetbox import AnnotationBbox

FEW_LEAVES = 14  # fit beside each other
LONGEST = 28  # characters of a line
MOST_CLASSES = 3  # in one leaf
LARGEST, SMALLEST = 10.0, 2.5  # font sizes in points
TAG = 0.72  # size of a mark against that of the rest
CHARACTER, LINE = 0.6, 1.35  # width of a character, height of a line, against the font size
GAP = 4.0  # characters between levels, from left to right
POINTS = 72  # an inch
EDGE = "#B5B5B5"
BORDERS: dict[int, dict[str, Any]] = {
    BUILT: {"edgecolor": "#8A8A8A", "linewidth": 0.8},
    ROOT_ADDED: {"edgecolor": INK, "linewidth": 1.8},
    LEAF_EXPANDED: {"edgecolor": INK, "linewidth": 1.0, "linestyle": (0, (3, 1.5))},
}


def draw_tree(
    model: Any, forest: str = "permanent", tree: int = 0, *, max_depth: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a tree with matplotlib.

    A true condition leads to the left, or upwards in trees of many leaves, whose root is on the left. Leaves have the
    colour of the class they predict and show the weight of each class. A tag names the batch that made a node, and the
    cause, where they differ from the node above; roots added later have a thick border, nodes of expanded leaves a
    dashed one.

    Parameters
    ----------
    model, forest, tree, max_depth
        See `tree_text`; up to about 60 leaves a drawing can be read.
    ax : matplotlib Axes, optional
        Axes to draw in; the font size is adapted. By default a new figure that is large enough.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    NotFittedError, ValueError, IndexError
        See `tree_text`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.monitor import draw_tree
    >>> model = AdaptiveDecisionForestClassifier(random_state=0).fit([[1], [2], [8]], ["low", "low", "high"])
    >>> draw_tree(model, tree=3).get_title(loc="left")
    'permanent forest, tree 3'
    """
    check_matplotlib("drawing a tree", instead="look at the tree with tree_text()")
    views = view_tree(model, forest, tree, max_depth)
    layout = _Layout.of(views)
    if ax is None:
        ax = _new_axes(layout)
    ax.set_xlim(*layout.x_limits)
    ax.set_ylim(*layout.y_limits)
    ax.axis("off")
    ax.set_title(f"{forest} forest, tree {tree}", loc="left", fontsize=LARGEST, color=FAINT)
    size = _font_size(ax, layout)
    _draw_edges(ax, views, layout, size)
    for view, x, y in zip(views, layout.x, layout.y, strict=True):
        ax.add_artist(_box(view, (x, y), size, sideways=layout.is_sideways))
    _add_legend(ax, views)
    return ax


class _Layout(NamedTuple):
    """Positions of the nodes, and the size of the drawing.

    From the top down, leaves are 1 apart along x and levels 1 apart along y. From left to right, leaves are 1 apart
    along y, and x counts characters.
    """

    x: Float64Array
    y: Float64Array
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    room: tuple[float, float]  # width and height of the drawing in font sizes
    is_sideways: bool

    @classmethod
    def of(cls, views: list[NodeView]) -> _Layout:
        """Space leaves evenly, and put every other node in the middle of its two children."""
        across, depth = np.array(leaf_positions(views)), np.array([view.depth for view in views], dtype=float)
        n_leaves, n_levels = (len(views) + 1) // 2, int(depth.max()) + 1
        sideways = n_leaves > FEW_LEAVES
        widths, heights = np.array([_extent(view, sideways=sideways) for view in views]).T
        is_leaf = np.array([view.condition is None for view in views])
        if sideways:
            level_widths = [widths[(depth == level) & ~is_leaf].max(initial=0) + GAP for level in range(n_levels - 1)]
            x = np.append(0, np.cumsum(level_widths))[depth.astype(int)]
            width = float((x + widths).max()) + 2
            room = width * CHARACTER, n_leaves * LINE * 1.4
            return cls(x, -across, (-1, width - 1), (0.5 - n_leaves, 0.5), room, sideways)
        leaf, split = widths[is_leaf].max(), widths[~is_leaf].max(initial=0)
        # Two leaves are 1 apart, a leaf and a split 1.5, two splits 2.
        widest = max(leaf, (leaf + split) / 3, split / 2)
        room = widest * n_leaves * CHARACTER, (heights.max() + 1.1) * n_levels * LINE
        return cls(across, -depth, (-0.5, n_leaves - 0.5), (0.5 - n_levels, 0.5), room, sideways)


def _lines(view: NodeView, *, sideways: bool) -> list[str]:
    """Return the text of a node, without its tag."""
    if view.condition is not None:
        lines = [view.condition.left.replace("<=", "≤") + "?"]
    else:
        counts = view.counted(MOST_CLASSES)
        lines = [", ".join(counts)] if sideways else counts
    lines += [view.below] if view.below else []
    longest = LONGEST if view.condition is not None or not sideways else MOST_CLASSES * LONGEST
    return [line if len(line) <= longest else line[: longest - 1] + "…" for line in lines]


def _extent(view: NodeView, *, sideways: bool) -> tuple[float, float]:
    """Return a node's width in characters and its height in lines, roughly."""
    lines = _lines(view, sideways=sideways)
    tag = len(view.mark) * TAG if view.is_news else 0.0
    width = max(map(len, lines))
    if sideways and view.condition is None:
        return sum(map(len, lines)) + tag + 2, 1.0
    return max(width, tag) + 1, len(lines) + TAG * view.is_news


def _font_size(ax: Axes, layout: _Layout) -> float:
    """Return the size at which words are as large as they can be without touching."""
    box, points = ax.get_window_extent(), POINTS / ax.figure.dpi
    fitting = min(box.width * points / layout.room[0], box.height * points / layout.room[1])
    return float(np.clip(fitting, SMALLEST, LARGEST))


def _new_axes(layout: _Layout) -> Axes:
    """Return axes in a new figure in which letters have a good size."""
    from matplotlib import pyplot

    width, height = (extent * LARGEST / POINTS for extent in layout.room)
    _, ax = pyplot.subplots(figsize=(max(width, 3.5), height + 0.8), layout="constrained")
    return ax


def _draw_edges(ax: Axes, views: list[NodeView], layout: _Layout, size: float) -> None:
    """Draw the lines between nodes, labelled yes and no at the root."""
    for index in range(1, len(views)):
        ends = [views[index].parent, index]
        (x_above, x), (y_above, y) = layout.x[ends], layout.y[ends]
        turn = x - GAP / 2
        path = (
            ([x_above, turn, turn, x], [y_above, y_above, y, y]) if layout.is_sideways else ([x_above, x], [y_above, y])
        )
        ax.plot(*path, color=EDGE, linewidth=1.0, zorder=1, solid_joinstyle="round")
        if views[index].parent == 0:
            middle = (turn, (y_above + y) / 2) if layout.is_sideways else ((x_above + x) / 2, (y_above + y) / 2)
            patch = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            word = "yes" if views[index].is_left else "no"
            ax.text(*middle, word, fontsize=size * 0.85, color=FAINT, ha="center", va="center", bbox=patch)


def _box(view: NodeView, centre: tuple[float, float], size: float, *, sideways: bool) -> AnnotationBbox:
    """Return a node: its words, a tag where it is news, and a border by cause."""
    from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea, VPacker

    is_leaf = view.condition is None
    lines = _lines(view, sideways=sideways)
    parts: list[Artist] = [
        TextArea(line, textprops={"size": size, "color": INK, "weight": "bold" if is_leaf and not number else "normal"})
        for number, line in enumerate(lines)
    ]
    if view.is_news:
        parts.append(TextArea(view.mark, textprops={"size": size * TAG, "color": FAINT, "style": "italic"}))
    in_a_row = sideways and is_leaf
    packer = HPacker if in_a_row else VPacker
    packed = packer(
        children=parts, align="baseline" if in_a_row else "center", pad=0, sep=size * (0.7 if in_a_row else 0.15)
    )
    border = {"boxstyle": "round,pad=0.35,rounding_size=0.3", "facecolor": view.colour if is_leaf else "white"}
    return AnnotationBbox(
        packed,
        centre,
        box_alignment=(0.0 if sideways else 0.5, 0.5),
        pad=0,
        fontsize=size,
        bboxprops=border | BORDERS[view.cause],
        annotation_clip=False,
    )


def _add_legend(ax: Axes, views: list[NodeView]) -> None:
    """Name the colours of the classes that leaves predict, in order of arrival."""
    from matplotlib.patches import Patch

    colours = {view.counts[0][0]: view.colour for view in sorted(views, key=lambda view: view.klass) if view.counts}
    handles = [Patch(facecolor=colour, edgecolor="#8A8A8A", label=name) for name, colour in colours.items()]
    look: dict[str, Any] = {"frameon": False, "fontsize": 9, "handlelength": 1.2, "handleheight": 1.0}
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=min(len(handles), 6) or 1, **look)
