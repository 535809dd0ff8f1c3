"""The pictures in docs/images but those of the monitor: drawings of the guide, and two that an example draws.

Run ``python docs/drawings.py`` after a change; the files are part of the repository, so that pages can be read without
building them.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from adforest.monitor.style import FAINT, FORESTS, INK

IMAGES = Path(__file__).parent / "images"
EXAMPLES = Path(__file__).parents[1] / "examples"
PERMANENT, ACTIVE, TEMPORARY, NEWEST = FORESTS.values()
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


def forests() -> Any:
    """Which batches each forest has learnt."""
    figure, ax = canvas(8.6, 3.1, 17.2, 6.2)
    rows = (
        ("permanent", PERMANENT, 1, 12),
        ("active", ACTIVE, 7, 12),
        ("temporary", TEMPORARY, 10, 12),
        ("newest", NEWEST, 12, 12),
    )
    told = (
        "every batch",
        "since rules changed for good;\nbefore, it is the permanent one",
        "the last three",
        "the last one",
    )
    for number in range(1, 13):
        ax.text(3.2 + number * 0.72, 5.6, str(number), ha="center", fontsize=9.5, color=FAINT)
    ax.text(2.9, 5.6, "batch", ha="right", fontsize=9.5, color=FAINT)
    ax.plot([3.2 + 6.5 * 0.72] * 2, [0.5, 5.35], color=INK, linestyle=(0, (4, 3)), linewidth=1)
    ax.text(3.2 + 6.5 * 0.72, 0.15, "rules change", ha="center", fontsize=9, color=INK)
    for place, ((name, colour, first, last), what) in enumerate(zip(rows, told, strict=True)):
        y = 4.45 - place * 1.15
        ax.text(2.9, y + 0.4, name, ha="right", va="center", fontsize=11, color=INK)
        for number in range(1, 13):
            is_learnt = first <= number <= last
            ax.add_patch(Rectangle((2.88 + number * 0.72, y), 0.64, 0.8, facecolor=colour if is_learnt else BAND))
        ax.text(12.7, y + 0.4, what, va="center", fontsize=9.5, color=FAINT, linespacing=1.3)
    return figure


def steps() -> Any:
    """A batch on its way."""
    figure, ax = canvas(9.2, 3.3, 18.4, 6.6)
    box(ax, 0.2, 3.6, 1.9, 1.5, "batch\nX, y", "#FFFFFF", 11)
    parts = (
        ("1 assess", "which leaves\nof the lasting\ntrees are wrong?"),
        ("2 judge", "all forests answer;\nwho is right\ngains weight"),
        ("3 grow, repair", "newest, temporary:\ngrown anew.\npermanent: some anew,\nothers repaired"),
        ("4 weigh", "weights of\nthe forests\nthat now stand"),
        ("5 remember", "records to\nmemory, old ones\nmake room"),
    )
    for place, (title, text) in enumerate(parts):
        x = 2.9 + place * 3.1
        ax.add_patch(
            FancyBboxPatch(
                (x, 2.9), 2.65, 2.9, boxstyle="round,pad=0,rounding_size=0.12", facecolor=BAND, edgecolor=LINE
            )
        )
        ax.text(x + 1.325, 5.35, title, ha="center", va="center", fontsize=10.5, fontweight="bold", color=INK)
        ax.text(x + 1.325, 4.05, text, ha="center", va="center", fontsize=8.1, color=INK, linespacing=1.4)
        arrow(ax, (x - 0.45 if place else 2.1, 4.35), (x, 4.35))
    ax.text(5.75, 6.2, "before learning: honest accuracy, drift", ha="center", fontsize=9.5, color=FAINT)
    ax.plot([3.0, 11.6 - 3.1], [5.95, 5.95], color=LINE, linewidth=1)
    box(ax, 5.6, 0.4, 9.2, 1.3, "new state: forests, weights, memory, report; swapped in at once", "white", 10)
    arrow(ax, (16.6, 2.9), (14.8, 1.05), bend=-0.3)
    ax.text(5.3, 1.05, "if anything fails,\nthe old state stays", ha="right", va="center", fontsize=9, color=FAINT)
    return figure


def repair() -> Any:
    """A leaf that a batch contradicts is expanded."""
    figure, ax = canvas(8.8, 3.4, 17.6, 6.8)
    for left, title in ((0.3, "before"), (9.3, "after")):
        ax.text(left + 3.6, 6.4, title, ha="center", fontsize=11, fontweight="bold", color=INK)
        for start, end in (((left + 3.6, 5.2), (left + 1.7, 3.9)), ((left + 3.6, 5.2), (left + 5.6, 3.9))):
            ax.plot(*zip(start, end, strict=True), color=LINE, linewidth=1.2, zorder=0)
        box(ax, left + 2.5, 5.0, 2.2, 0.85, "area ≤ 70 ?")
        box(ax, left + 0.7, 3.1, 2.0, 0.85, "low  40" if title == "before" else "low  51", "#CDE7F7")
    box(ax, 4.9, 3.1, 2.1, 0.85, "high  30", "#F7DDB0")
    ax.text(
        5.95, 2.45, "batch here:\n4 high, 9 low", ha="center", va="top", fontsize=9.5, color="#B3400A", linespacing=1.35
    )
    ax.text(5.95, 0.95, "perturbed", ha="center", fontsize=10, fontweight="bold", color="#B3400A")
    arrow(ax, (7.6, 4.2), (9.3, 4.2), colour=INK)
    for end in ((13.4, 2.0), (16.2, 2.0)):
        ax.plot([14.9, end[0]], [3.3, end[1]], color=LINE, linewidth=1.2, zorder=0)
    box(ax, 13.35, 3.1, 3.1, 0.85, "district = centre ?", "#FFFFFF")
    box(ax, 12.4, 1.15, 2.0, 0.85, "high  33", "#F7DDB0")
    box(ax, 15.2, 1.15, 2.0, 0.85, "low  10", "#CDE7F7")
    ax.text(13.9, 0.5, "grown from the leaf's records, old and new", ha="center", fontsize=9.5, color=FAINT)
    ax.text(2.0, 2.45, "batch here:\n11 low", ha="center", va="top", fontsize=9.5, color=FAINT, linespacing=1.35)
    ax.text(11.0, 2.75, "counted,\nnot changed", ha="center", va="top", fontsize=9.5, color=FAINT, linespacing=1.35)
    return figure


def three_changes() -> Any:
    """Noise, another mixture, other rules."""
    figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.9), facecolor="white")
    titles = (
        "what was learnt",
        "noise:\nsome labels are wrong",
        "mixture: one class\nis more frequent",
        "drift:\nother rules",
    )
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    for ax, title in zip(axes, titles, strict=True):
        line = 1.1 if title.startswith("drift") else 0.0
        is_above = X.sum(axis=1) > line
        rows = np.arange(160)
        if title.startswith("mixture"):
            rows = np.concatenate([np.flatnonzero(is_above)[:25], np.flatnonzero(~is_above)[:135]])
        shown = is_above[rows]
        if title.startswith("noise"):
            shown = shown ^ (rng.random(len(rows)) < 0.15)
        for value, colour in ((True, BLUE), (False, ORANGE)):
            ax.scatter(*X[rows][shown == value].T, s=9, color=colour)
        if line:
            ax.plot([-3, 3], [3, -3], color=LINE, linewidth=1, linestyle=(0, (4, 3)))
        ax.plot([-3, 3], [line + 3, line - 3], color=INK, linewidth=1.2)
        ax.set(xlim=(-3, 3), ylim=(-3, 3), xticks=[], yticks=[])
        ax.set_title(title, fontsize=10, color=INK)
        ax.spines[:].set_color("#CCCCCC")
    figure.tight_layout()
    return figure


def memory() -> Any:
    """What is kept of the records that came."""
    figure, ax = canvas(8.8, 2.9, 17.6, 5.8)
    ax.text(0.3, 5.0, "records that came, by class", fontsize=10, color=FAINT)
    counts, colours = (0.66, 0.3, 0.04), (PERMANENT, ACTIVE, TEMPORARY)
    for place in range(12):
        y, x = 2.9, 0.3 + place * 0.9
        for share, colour in zip(counts, colours, strict=True):
            ax.add_patch(Rectangle((x, y), 0.8, 1.8 * share, facecolor=colour, alpha=1.0 if place > 8 else 0.45))
            y += 1.8 * share
    ax.text(0.3, 2.35, "older batches", fontsize=9.5, color=FAINT)
    ax.text(8.4, 2.35, "window: last 3", fontsize=9.5, color=INK)
    arrow(ax, (4.0, 2.2), (5.2, 1.2), bend=0.2)
    arrow(ax, (9.7, 2.2), (9.7, 1.2))
    roots = np.sqrt(counts) / np.sqrt(counts).sum()
    x = 5.3
    for share, colour in zip(roots, colours, strict=True):
        ax.add_patch(Rectangle((x, 0.3), 3.0 * share, 0.85, facecolor=colour))
        x += 3.0 * share
    ax.add_patch(Rectangle((8.4, 0.3), 2.6, 0.85, facecolor=BAND, edgecolor=LINE))
    ax.text(9.7, 0.72, "all of it", ha="center", va="center", fontsize=9.5, color=INK)
    ax.text(
        5.1,
        0.72,
        "memory_size records,\neach class by the square root\nof how often it came",
        ha="right",
        va="center",
        fontsize=9.5,
        color=INK,
        linespacing=1.35,
    )
    for place, (name, share, colour) in enumerate(
        zip(("frequent class", "another", "rare class"), counts, colours, strict=True)
    ):
        y = 4.4 - 0.75 * place
        ax.add_patch(Rectangle((11.9, y - 0.2), 0.4, 0.4, facecolor=colour))
        ax.text(
            12.5,
            y,
            f"{name}: {share:.0%} of what came,\n{roots[place]:.0%} of the memory",
            va="center",
            fontsize=9,
            color=INK,
            linespacing=1.2,
        )
    return figure


def main() -> None:
    """Write all pictures."""
    matplotlib.use("agg")
    look = {"svg.fonttype": "none", "svg.hashsalt": "adforest", "font.family": "sans-serif"}
    with matplotlib.rc_context(look):
        for draw in (forests, steps, repair, three_changes, memory):
            name = draw.__name__.replace("_", "-")
            draw().savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    shown = runpy.run_path(str(EXAMPLES / "explaining_an_answer.py"))
    for name in ("history", "explanation"):
        shown[name].figure_.savefig(IMAGES / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
