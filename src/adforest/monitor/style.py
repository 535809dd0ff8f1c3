"""Style of plots: colours, markers, labels at the ends of lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adforest.libraries import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind people can tell apart.
FOREST_COLOURS = {"permanent": "#56B4E9", "active": "#E69F00", "temporary": "#CC79A7", "newest": "#5DB790"}
MORE, LESS = "#0072B2", "#D55E00"  # positive and negative contributions
INK, FAINT, BAND, GRID = "#222222", "#6B6B6B", "#F3F3F1", "#DDDDDD"
LINE_OF_TEXT = 0.19  # inches
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": "#B5B5B5",
    "axes.labelcolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "svg.hashsalt": "adforest",
}


def check_matplotlib(purpose: str, *, instead: str = "", extra: str = "plot") -> None:
    """Raise with advice if matplotlib is not installed."""
    require("matplotlib", purpose, extra, f", or {instead}" if instead else "")


def drift_mark(drift: str) -> dict[str, Any]:
    """Return the marker of a drift: hollow for a temporary one, filled for a sustained one."""
    face = INK if drift == "sustained" else "white"
    return {"marker": "^", "markersize": 7.5, "markeredgecolor": INK, "markerfacecolor": face, "markeredgewidth": 1.1}


def label_ends(
    axes: Axes,
    ends: Mapping[str, tuple[float, float]],
    labels: Mapping[str, str],
    colours: Mapping[str, str],
    means: Mapping[str, float],
    *,
    bold: str,
    height: float,
) -> None:
    """Write a label beside the end of each line, a line of text apart; by mean where the lines end as one.

    Parameters
    ----------
    ends : dict of str to (float, float)
        Where lines end, in data coordinates.
    labels, colours, means : dict
        By line.
    bold : str
        The line whose label is bold.
    height : float
        Of the axes, in inches.
    """
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = {name: float(to_axes.transform(end)[1]) for name, end in ends.items()}
    gap = LINE_OF_TEXT / height
    end_as_one = max(heights.values()) - min(heights.values()) < gap * (len(heights) - 1)
    order = sorted(heights, key=lambda name: means[name] if end_as_one else heights[name])
    for name, position in zip(order, spread(list(heights.values()), gap), strict=True):
        look: dict[str, Any] = {"color": colours[name], "transform": axes.transAxes}
        axes.plot([1.001, 1.016], [heights[name], position], linewidth=0.8, clip_on=False, **look)
        axes.text(1.02, position, labels[name], va="center", fontweight="bold" if name == bold else "normal", **look)


def spread(heights: list[float], gap: float) -> list[float]:
    """Return heights in rising order, at least a gap apart and about where they were."""
    wanted = np.sort(heights)
    steps = gap * np.arange(len(wanted))
    placed = np.maximum.accumulate(wanted - steps) + steps
    found: list[float] = np.clip(placed - np.mean(placed - wanted), steps, 1 - steps[::-1]).tolist()
    return found
