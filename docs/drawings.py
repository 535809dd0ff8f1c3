"""The pictures in docs/images but those of the monitor: drawings of the guide, and those that examples draw.

`boxes` is drawn from a model: it learns the batches of an example, and takes boxes and splits from its trees.

Run ``python docs/drawings.py`` after a change; the files are part of the repository, so that pages can be read without
building them.
"""

from __future__ import annotations

import runpy
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from adforest import PaperADFClassifier
from adforest.forest.tree import BUILT, ROOT_ADDED, Tree
from adforest.monitor.style import FAINT, FOREST_COLOURS, INK

IMAGES = Path(__file__).parent / "images"
EXAMPLES = Path(__file__).parents[1] / "examples"
PERMANENT, ACTIVE, TEMPORARY, NEWEST = FOREST_COLOURS.values()
LINE, BAND = "#9A9A9A", "#F0F0EE"
BLUE, ORANGE = "#0072B2", "#E69F00"


def canvas(width: float, height: float, x: float, y: float) -> tuple[Any, Axes]:
    """Return a figure in inches with one empty panel of x by y units."""
    figure = plt.figure(figsize=(width, height), facecolor="white")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, x), ylim=(0, y))
    ax.set_axis_off()
    return figure, ax


def box(
    ax: Axes, x: float, y: float, width: float, height: float, text: str, colour: str = "white", size: float = 10
) -> None:
    """Draw a box with text in its middle."""
    ax.add_patch(
        FancyBboxPatch(
            (x, y), width, height, boxstyle="round,pad=0,rounding_size=0.12", facecolor=colour, edgecolor=LINE
        )
    )
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=size, color=INK, linespacing=1.35)


def arrow(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], bend: float = 0.0, colour: str = LINE
) -> None:
    """Draw an arrow."""
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 12, "color": colour, "linewidth": 1.2}
    ax.add_patch(FancyArrowPatch(start, end, connectionstyle=f"arc3,rad={bend}", shrinkA=2, shrinkB=2, **look))


def online() -> Any:
    """Accuracy one sample at a time: by batch size, and with late labels, from the tables of docs/results.md."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from experiments.reporting.results_page import find_chapter

    chapter = find_chapter("One sample at a time")
    sizes, delays = (
        chapter.table(title) for title in ("ADF-R: accuracy by batch size", "Accuracy with late labels, elec2")
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.2), sharey=True, facecolor="white", layout="constrained")
    _draw_curves(left, sizes.heads[1:], {name: row[1:] for name, row in sizes.rows.items()}, "samples in a batch")
    by_method = {name: [row[k] for row in delays.rows.values()] for k, name in enumerate(delays.heads) if k}
    _draw_curves(right, list(delays.rows), by_method, "samples that labels come late, elec2")
    left.set_ylabel("accuracy", color=INK)
    return figure


def _draw_curves(ax: Axes, at: list[str], curves: dict[str, list[str]], label: str) -> None:
    """Draw a curve for each name, given the figures of a table and the label of the axis."""
    for (name, figures), colour in zip(curves.items(), (BLUE, ORANGE, "#009E73", FAINT), strict=False):
        values = [float(one.strip("*").split(" ± ")[0]) for one in figures]
        ax.plot(range(len(at)), values, "o-", color=colour, label=name)
    ax.set_xticks(range(len(at)), at)
    ax.set_xlabel(label, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, loc="center", bbox_to_anchor=(0.5, 0.27))


def forests() -> Any:
    """Which batches each forest has learnt."""
    figure, ax = canvas(6.4, 2.9, 12.8, 5.8)
    rows = (
        ("permanent", PERMANENT, 1, 12),
        ("active", ACTIVE, 7, 12),
        ("temporary", TEMPORARY, 10, 12),
        ("newest", NEWEST, 12, 12),
    )
    told = (
        "every batch",
        "since a sustained drift;\nbefore: the permanent one",
        "the last three",
        "the last one",
    )
    for number in range(1, 13):
        ax.text(1.9 + number * 0.52, 5.25, str(number), ha="center", fontsize=10, color=FAINT)
    ax.text(2.0, 5.25, "batch", ha="right", fontsize=10, color=FAINT)
    ax.plot([1.9 + 6.5 * 0.52] * 2, [0.65, 5.05], color=INK, linestyle=(0, (4, 3)), linewidth=1)
    ax.text(1.9 + 6.5 * 0.52, 0.15, "rules change", ha="center", fontsize=10, color=INK)
    for place, ((name, colour, first, last), what) in enumerate(zip(rows, told, strict=True)):
        y = 4.15 - place * 1.1
        ax.text(2.0, y + 0.4, name, ha="right", va="center", fontsize=11, color=INK)
        for number in range(1, 13):
            is_learnt = first <= number <= last
            ax.add_patch(Rectangle((1.67 + number * 0.52, y), 0.46, 0.8, facecolor=colour if is_learnt else BAND))
        ax.text(8.65, y + 0.4, what, va="center", fontsize=10, color=FAINT, linespacing=1.3)
    return figure


def steps() -> Any:
    """The five steps of learning a batch."""
    figure, ax = canvas(9.2, 2.8, 18.4, 5.6)
    box(ax, 0.1, 2.75, 1.35, 1.4, "batch\nX, y", "#FFFFFF", 11)
    parts = (
        ("1 assess", "which leaves of\npermanent and\nactive trees are\nperturbed?"),
        ("2 judge", "all forests predict;\nweights follow\ntheir accuracy"),
        ("3 grow, repair", "newest, temporary:\nregrown. permanent:\nsome trees regrown,\nothers repaired"),
        ("4 weigh", "weights of\nthe updated\nforests"),
        ("5 remember", "add samples to\nmemory, drop\nolder ones"),
    )
    for place, (title, text) in enumerate(parts):
        x = 1.85 + place * 3.3
        ax.add_patch(
            FancyBboxPatch(
                (x, 2.1), 3.05, 2.7, boxstyle="round,pad=0,rounding_size=0.12", facecolor=BAND, edgecolor=LINE
            )
        )
        ax.text(x + 1.525, 4.42, title, ha="center", va="center", fontsize=11, fontweight="bold", color=INK)
        ax.text(x + 1.525, 3.15, text, ha="center", va="center", fontsize=9.3, color=INK, linespacing=1.35)
        arrow(ax, (x - 0.25 if place else 1.45, 3.45), (x, 3.45))
    ax.text(5.03, 5.2, "before learning: unbiased accuracy, drift", ha="center", fontsize=10, color=FAINT)
    ax.plot([1.85, 8.2], [5.0, 5.0], color=LINE, linewidth=1)
    box(ax, 5.0, 0.2, 9.4, 1.1, "new state: forests, weights, memory, report; one assignment", "white", 10.5)
    arrow(ax, (16.6, 2.1), (14.4, 0.75), bend=-0.3)
    ax.text(4.7, 0.75, "if anything fails,\nthe old state stays", ha="right", va="center", fontsize=10, color=FAINT)
    return figure


def repair() -> Any:
    """A leaf that a batch contradicts is expanded."""
    figure, ax = canvas(6.4, 3.0, 12.8, 6.0)
    warning = "#B3400A"
    for root, low, high, title in ((2.6, 1.2, 4.0, "before"), (8.6, 6.9, 10.6, "after")):
        ax.text(root, 5.55, title, ha="center", fontsize=11, fontweight="bold", color=INK)
        for end in (low, high):
            ax.plot([root, end], [4.7, 3.6], color=LINE, linewidth=1.2, zorder=0)
        box(ax, root - 1.1, 4.35, 2.2, 0.8, "area ≤ 70 ?")
        box(ax, low - 0.9, 2.85, 1.8, 0.8, "low  40" if title == "before" else "low  51", "#CDE7F7")
    box(ax, 3.1, 2.85, 1.8, 0.8, "high  30", "#F7DDB0")
    ax.text(1.2, 2.55, "batch here:\n11 low", ha="center", va="top", fontsize=10, color=FAINT, linespacing=1.3)
    ax.text(4.0, 2.55, "batch here:\n4 high, 9 low", ha="center", va="top", fontsize=10, color=warning, linespacing=1.3)
    ax.text(4.0, 1.0, "perturbed", ha="center", fontsize=10.5, fontweight="bold", color=warning)
    arrow(ax, (5.05, 4.0), (6.35, 4.0), colour=INK)
    ax.text(6.9, 2.55, "counted,\nnot changed", ha="center", va="top", fontsize=10, color=FAINT, linespacing=1.3)
    for end in (9.5, 11.6):
        ax.plot([10.6, end], [3.0, 2.0], color=LINE, linewidth=1.2, zorder=0)
    box(ax, 8.95, 2.85, 3.3, 0.8, "district = centre ?")
    box(ax, 8.6, 1.35, 1.8, 0.8, "high  33", "#F7DDB0")
    box(ax, 10.75, 1.35, 1.7, 0.8, "low  10", "#CDE7F7")
    told = "grown from the leaf's\nsamples, old and new"
    ax.text(10.55, 1.1, told, ha="center", va="top", fontsize=10, color=FAINT, linespacing=1.3)
    return figure


def three_changes() -> Any:
    """Noise, changed class frequencies, other rules."""
    figure, axes = plt.subplots(1, 4, figsize=(6.6, 2.3), facecolor="white")
    titles = (
        "what was learnt",
        "noise: some\nlabels are wrong",
        "class frequencies:\none more often",
        "drift:\nother rules",
    )
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    for ax, title in zip(axes, titles, strict=True):
        line = 1.1 if title.startswith("drift") else 0.0
        is_above = X.sum(axis=1) > line
        rows = np.arange(160)
        if title.startswith("class"):
            rows = np.concatenate([np.flatnonzero(is_above)[:25], np.flatnonzero(~is_above)[:135]])
        shown = is_above[rows]
        if title.startswith("noise"):
            shown = shown ^ (rng.random(len(rows)) < 0.15)
        for value, colour in ((True, BLUE), (False, ORANGE)):
            ax.scatter(*X[rows][shown == value].T, s=6, color=colour)
        if line:
            ax.plot([-3, 3], [3, -3], color=LINE, linewidth=1, linestyle=(0, (4, 3)))
        ax.plot([-3, 3], [line + 3, line - 3], color=INK, linewidth=1.2)
        ax.set(xlim=(-3, 3), ylim=(-3, 3), xticks=[], yticks=[])
        ax.set_title(title, fontsize=10, color=INK)
        ax.spines[:].set_color("#CCCCCC")
    figure.tight_layout()
    return figure


def memory() -> Any:
    """Which samples are kept."""
    figure, ax = canvas(6.4, 2.9, 12.8, 5.8)
    ax.text(0.2, 5.3, "samples of the stream, by class", fontsize=10, color=FAINT)
    counts, colours = (0.66, 0.3, 0.04), (PERMANENT, ACTIVE, TEMPORARY)
    for place in range(12):
        y, x = 3.45, 0.2 + place * 0.58
        for share, colour in zip(counts, colours, strict=True):
            ax.add_patch(Rectangle((x, y), 0.5, 1.6 * share, facecolor=colour, alpha=1.0 if place > 8 else 0.45))
            y += 1.6 * share
    ax.text(2.7, 2.95, "older batches", ha="center", fontsize=10, color=FAINT)
    ax.text(6.25, 2.95, "window: last 3", ha="center", fontsize=10, color=INK)
    arrow(ax, (2.7, 2.85), (2.7, 2.05))
    arrow(ax, (6.25, 2.85), (6.25, 2.05))
    roots = np.sqrt(counts) / np.sqrt(counts).sum()
    x = 1.2
    for share, colour in zip(roots, colours, strict=True):
        ax.add_patch(Rectangle((x, 1.2), 3.0 * share, 0.8, facecolor=colour))
        x += 3.0 * share
    ax.add_patch(Rectangle((5.2, 1.2), 2.1, 0.8, facecolor=BAND, edgecolor=LINE))
    ax.text(6.25, 1.58, "all of it", ha="center", va="center", fontsize=10, color=INK)
    told = "memory_size samples, each class\nby the square root of its count"
    ax.text(0.2, 0.95, told, va="top", fontsize=10, color=INK, linespacing=1.3)
    for place, (name, share, colour) in enumerate(zip(("frequent", "another", "rare"), counts, colours, strict=True)):
        y = 4.6 - 1.15 * place
        ax.add_patch(Rectangle((7.75, y - 0.2), 0.4, 0.4, facecolor=colour))
        text = f"{name}: {share:.0%} of the stream,\n{roots[place]:.0%} of the memory"
        ax.text(8.35, y, text, va="center", fontsize=10, color=INK, linespacing=1.25)
    return figure


# Boxes and splits of the paper's toy example, as a model has them

AREA, BEDS = 0, 1
FEATURES = ("Area", "Beds")
RENTS = {"low": ("o", "#E69F00"), "medium": ("s", "#009E73"), "high": ("^", "#0072B2"), "luxury": ("D", "#CC79A7")}
PAGE = ((25.0, 445.0), (0.4, 4.75))  # areas and bedrooms that are shown


class Span(NamedTuple):
    """Range of some houses: the lowest and the highest value of both features."""

    low: tuple[float, float]
    high: tuple[float, float]

    @classmethod
    def of(cls, points: Any) -> Span:
        """Return the box of some points."""
        return cls(tuple(np.min(points, axis=0)), tuple(np.max(points, axis=0)))


class CutLine(NamedTuple):
    """A split of a tree: its threshold, the part of the plane that it divides, and its cause."""

    feature: int
    value: float
    within: Span
    cause: int
    batch: int

    @property
    def label(self) -> str:
        """The condition of the split."""
        return f"{FEATURES[self.feature]} ≤ {self.value:g}"


class Region(NamedTuple):
    """The part of the plane of a leaf, and its prediction."""

    within: Span
    rent: str


class Toy(NamedTuple):
    """What the paper's classifier made of the toy batches.

    Attributes
    ----------
    batches : list of (ndarray, list of str)
        Area and bedrooms of the houses, and their rents.
    learnt : list of Span
        The forest's own box after each batch.
    cuts : list of CutLine
        All splits of the tree after the last batch.
    regions : list of Region
        Its leaves.
    """

    batches: list[tuple[Any, list[str]]]
    learnt: list[Span]
    cuts: list[CutLine]
    regions: list[Region]

    def cuts_at(self, number: int, *, are_roots: bool) -> list[CutLine]:
        """Return the splits that a batch added, as roots or in leaves."""
        return [cut for cut in self.cuts if cut.batch == number and (cut.cause == ROOT_ADDED) == are_roots]


def learn_toy() -> Toy:
    """Run the example with iSAT, and return boxes, splits and leaves of its model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it shows a figure that nobody looks at here
        trail: list[PaperADFClassifier] = (example := runpy.run_path(str(EXAMPLES / "sat_and_isat.py")))["trails"][
            "isat"
        ]
    plt.close("all")
    batches = [
        (np.array([house[:2] for house in some], float), [house[2] for house in some]) for some in example["HOUSES"]
    ]
    spans = []
    for model in trail:
        box = model._checked().state.forests["permanent"].box
        spans.append(Span(tuple(box.low), tuple(box.high)))
    (tree,) = trail[-1].permanent_forest_.trees
    names = trail[-1]._checked().labels.by_arrival
    parts = list(_parts(tree, names, 0, Span(*zip(*PAGE, strict=True))))
    cuts, regions = ([part for part in parts if isinstance(part, kind)] for kind in (CutLine, Region))
    return Toy(batches, spans, cuts, regions)


def _parts(tree: Tree, names: Any, node: int, within: Span) -> Iterator[CutLine | Region]:
    """Yield the splits and leaves below a node, each with its part of the plane."""
    one = tree.nodes[node]
    if one["split"] < 0:
        rows = slice(tree.row_start[node], tree.row_start[node + 1])
        yield Region(within, str(names[tree.row_class[rows][tree.row_weight[rows].argmax()]]))
        return
    feature, value = int(one["split"]) >> 2, float(one["threshold"])
    yield CutLine(feature, value, within, int(tree.cause[node]), int(tree.born[node]))
    ends = [list(within.high), list(within.low)]
    ends[0][feature] = ends[1][feature] = value
    yield from _parts(tree, names, one["left"], Span(within.low, tuple(ends[0])))
    yield from _parts(tree, names, one["left"] + 1, Span(tuple(ends[1]), within.high))


def boxes() -> Any:
    """Boxes of the toy batches, and the splits of iSAT."""
    return draw_boxes(learn_toy())


def draw_boxes(toy: Toy) -> Any:
    """Draw the paper's figures of boxes and hyperplanes from what a model did."""
    figure, axes = plt.subplots(2, 3, figsize=(11.4, 6.5), facecolor="white")
    (_, B1, B2), (_, tree, _) = (Span.of(X) for X, _ in toy.batches), toy.learnt
    for ax, number, title in zip(
        axes.flat,
        "abcdef",
        (
            "The box of B0",
            "B1 overlaps it: a root at the bound",
            "Sub-boxes: beyond, and in a leaf",
            "B2 lies apart: a root in the gap",
            "B2 has several classes: a subtree",
            "Predictions of the tree after B2",
        ),
        strict=True,
    ):
        ax.set_title(f"{number}  {title}", fontsize=10.5, color=INK, loc="left", pad=9)
        ax.set(xlim=PAGE[AREA], ylim=PAGE[BEDS], yticks=[1, 2, 3, 4])
        ax.tick_params(colors=FAINT, labelsize=8.5, length=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color("#CCCCCC")
    a, b, c, d, e, f = axes.flat
    for ax in (a, b, c):
        ax.set_xlim(25, 225)
    e.set_xlim(285, 435)

    _span(a, toy.learnt[0], BLUE, "B0")
    _houses(a, toy.batches[0])
    for feature, side in ((AREA, "x"), (BEDS, "y")):
        _bounds(a, toy.learnt[0], feature, side)

    _span(b, toy.learnt[0], BLUE, "B0")
    _span(b, B1, ORANGE, "B1", below=True)
    _houses(b, toy.batches[0], faint=True)
    _houses(b, toy.batches[1])
    (bound,) = toy.cuts_at(2, are_roots=True)
    _cut(b, bound, "root")

    X1, _ = toy.batches[1]
    (leaf,) = [cut for cut in toy.cuts_at(2, are_roots=False) if cut.within.high[AREA] <= bound.value]
    inside = (X1[:, AREA] > leaf.within.low[AREA]) & (X1[:, AREA] <= bound.value)
    beyond = X1[:, AREA] > bound.value
    for rows, name in ((inside, "in a leaf"), (beyond, "beyond")):
        _span(c, Span.of(X1[rows]), ORANGE, name, dashed=True, below=True)
    _houses(c, toy.batches[0], faint=True)
    _houses(c, toy.batches[1])
    _cut(c, bound, "root")
    for cut in toy.cuts_at(2, are_roots=False):
        _cut(c, cut, "leaf")

    _span(d, tree, BLUE, "B0 and B1")
    _span(d, B2, ORANGE, "B2")
    _houses(d, toy.batches[0], faint=True)
    _houses(d, toy.batches[1], faint=True)
    _houses(d, toy.batches[2])
    (gap,) = toy.cuts_at(3, are_roots=True)
    _cut(d, gap, "root")
    arrows: dict[str, Any] = {"arrowstyle": "<|-|>", "mutation_scale": 9, "color": INK, "linewidth": 1, "shrinkA": 0}
    d.add_patch(FancyArrowPatch((tree.high[AREA], 1.45), (B2.low[AREA], 1.45), shrinkB=0, **arrows))
    d.text(gap.value + 7, 1.56, f"{B2.low[AREA] - tree.high[AREA]:g}", fontsize=8.5, color=INK)

    _span(e, B2, ORANGE, "B2")
    _houses(e, toy.batches[2])
    for cut in toy.cuts_at(3, are_roots=False):
        _cut(e, cut, "leaf")

    for region in toy.regions:
        corner, width, height = region.within.low, *np.subtract(region.within.high, region.within.low)
        f.add_patch(Rectangle(corner, width, height, facecolor=RENTS[region.rent][1], alpha=0.22, linewidth=0))
    for cut in toy.cuts:
        _cut(f, cut, {ROOT_ADDED: "root", BUILT: "built"}.get(cut.cause, "leaf"), named=False)
    for batch in toy.batches:
        _houses(f, batch)

    for ax in (a, d):
        ax.set_ylabel(FEATURES[BEDS], fontsize=9, color=FAINT)
    for ax in axes[1]:
        ax.set_xlabel(FEATURES[AREA], fontsize=9, color=FAINT)
    handles = [
        plt.Line2D([], [], marker=mark, color=colour, linestyle="", label=rent)
        for rent, (mark, colour) in RENTS.items()
    ]
    styles = {"new root": "root", "leaf expanded": "leaf", "tree of B0": "built"}
    handles += [plt.Line2D([], [], label=label, **CUT_STYLES[style]) for label, style in styles.items()]
    figure.legend(handles=handles, loc="lower center", ncols=7, frameon=False, fontsize=9, handlelength=2.2)
    figure.tight_layout(rect=(0, 0.055, 1, 1), w_pad=2.2, h_pad=1.6)
    return figure


CUT_STYLES: dict[str, dict[str, Any]] = {
    "root": {"color": INK, "linewidth": 2.2, "linestyle": "-"},
    "leaf": {"color": INK, "linewidth": 1.2, "linestyle": (0, (4, 2.5))},
    "built": {"color": FAINT, "linewidth": 1.0, "linestyle": "-"},
}


def _span(ax: Axes, span: Span, colour: str, name: str, *, dashed: bool = False, below: bool = False) -> None:
    """Draw a box, its name above its left end or below its right one."""
    (left, bottom), (right, top) = span
    size = right - left, top - bottom
    ax.add_patch(Rectangle(span.low, *size, facecolor=colour, alpha=0.09, linewidth=0))
    line = (0, (3, 2)) if dashed else "-"
    ax.add_patch(Rectangle(span.low, *size, facecolor="none", edgecolor=colour, linewidth=1.6, linestyle=line))
    at, side = (bottom - 0.18, "top") if below else (top + 0.13, "bottom")
    ends: dict[str, Any] = {"va": side, "ha": "right" if below else "left"}
    _write(ax, right if below else left, at, name, fontsize=9, **ends)


def _write(ax: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write on a white ground, so that lines do not cross the words."""
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    ax.text(x, y, text, bbox=ground, zorder=4, **{"color": INK, "fontsize": 8.5, **look})


def _houses(ax: Axes, batch: tuple[Any, list[str]], *, faint: bool = False) -> None:
    """Draw houses, with a marker and a colour for each rent."""
    X, rents = batch
    for rent, (mark, colour) in RENTS.items():
        shown = X[np.array(rents) == rent]
        ax.scatter(*shown.T, s=26, marker=mark, color=colour, alpha=0.3 if faint else 1.0, linewidths=0, zorder=3)


def _bounds(ax: Axes, span: Span, feature: int, side: str) -> None:
    """Write the bounds of a box beside it."""
    for value in (span.low[feature], span.high[feature]):
        if side == "x":
            ax.text(value, span.low[BEDS] - 0.13, f"{value:g}", ha="center", va="top", fontsize=8.5, color=BLUE)
        else:
            ax.text(span.high[AREA] + 5, value, f"{value:g}", ha="left", va="center", fontsize=8.5, color=BLUE)


def _cut(ax: Axes, cut: CutLine, style: str, *, named: bool = True) -> None:
    """Draw a split within its node's region, labelled with its condition: roots on the left, others on the right."""
    low, high = cut.within.low[1 - cut.feature], cut.within.high[1 - cut.feature]
    ends = ([cut.value] * 2, [low, high]) if cut.feature == AREA else ([low, high], [cut.value] * 2)
    ax.plot(*ends, **CUT_STYLES[style], solid_capstyle="butt", zorder=2)
    if not named:
        return
    gap = 0.012 * (ax.get_xlim()[1] - ax.get_xlim()[0])
    if cut.feature == BEDS:
        _write(ax, low - gap, cut.value, cut.label, ha="right", va="center")
    else:
        is_root = style == "root"
        _write(ax, cut.value + (-gap if is_root else gap), 0.52, cut.label, ha="right" if is_root else "left")


def main(wanted: Sequence[str], folder: Path = IMAGES) -> None:
    """Write all pictures, or those that are named."""
    matplotlib.use("agg")
    look = {"svg.fonttype": "none", "svg.hashsalt": "adforest", "font.family": "sans-serif"}
    with matplotlib.rc_context(look):
        for draw in (forests, steps, repair, three_changes, memory, boxes, online):
            name = draw.__name__.replace("_", "-")
            if wanted and name not in wanted:
                continue
            draw().savefig(folder / f"{name}.svg", metadata={"Date": None})
    if wanted:
        return
    shown = runpy.run_path(str(EXAMPLES / "explaining_predictions.py"))
    for name in ("history", "explanation"):
        shown[name].figure_.savefig(folder / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main(sys.argv[1:])
