"""The style of figures: colours, axes and text of every Plotly figure, for light pages and dark ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

INK, FAINT, GRID, BAND = "#222222", "#5F6368", "#E3E5E8", "#F4F5F6"
CLEAR = "rgba(0,0,0,0)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"

# Okabe and Ito's colours, which colour-blind people can tell apart, for ours. Rivals have the same tones muted, one
# for each family, whose members differ by dash, symbol and pattern.
ADF_COLOURS = {"ADF-R": "#0072B2", "ADF-S": "#009E73", "ADF-H": "#D55E00", "ADF": "#0072B2"}
FOREST_COLOURS = {"permanent": "#3E8FC4", "active": "#D98E04", "temporary": "#B85C8E", "newest": "#3A9B7A"}
RIVAL_COLOURS = {
    "#7D7D7D": ("RF batch", "RF last 3", "RF all", "RF"),
    "#A8894A": ("SysFor batch", "SysFor last 3", "SysFor all", "SysFor"),
    "#A9779B": ("CIRF", "NCMC", "NCMF", "Add trees"),
    "#6F9FB8": ("HT", "HAT", "OzaBag", "LeveragingBag", "ARF", "SRP", "AMF"),
    "#4A4A4A": ("LightGBM", "LightGBM last 3", "LightGBM all"),
}
OTHER_COLOURS = ("#3E8FC4", "#D98E04", "#3A9B7A", "#B85C8E", "#7D7D7D", "#8A6FB0", "#A8894A")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "8px 2px 2px 2px")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")
PATTERNS = ("", "/", ".", "x", "-", "|", "+")
HEATMAP_COLOURS = ("#F3F7FA", "#D5E6F1", "#B0D0E5", "#86B8D8", "#5A9FCB")

# What a colour becomes on a dark page; the others are seen well enough on both.
DARK_COLOURS = {
    INK: "#E6E8EB",
    FAINT: "#A3A9B1",
    GRID: "#2E343C",
    BAND: "#1C2127",
    "#0072B2": "#4DB2F0",
    "#009E73": "#2FCB9C",
    "#D55E00": "#FF8C42",
    "#4A4A4A": "#C9CDD2",
    "#7D7D7D": "#9A9FA6",
}


@dataclass(frozen=True)
class MethodStyle:
    """How one method is drawn wherever it appears."""

    colour: str
    dash: str
    symbol: str
    pattern: str
    is_adf: bool


def method_style(name: str, position: int = 0) -> MethodStyle:
    """Return the style of a method.

    Parameters
    ----------
    name : str
        A method's name, or one that begins with it, such as ``"ADF-R paper"`` for a variant.
    position : int
        Place among its figure's names, which chooses the style of a name that is no method's.

    Returns
    -------
    MethodStyle

    Examples
    --------
    >>> method_style("ADF-R").colour == method_style("ADF-R paper").colour
    True
    """
    for ours, colour in ADF_COLOURS.items():
        if name == ours:
            return MethodStyle(colour, "solid", "circle", "", True)
        if name.startswith(ours):
            return MethodStyle(colour, "dot", "circle-open", "/", True)
    for colour, members in RIVAL_COLOURS.items():
        for place, member in enumerate(members):
            if name == member:
                return MethodStyle(colour, DASHES[place], SYMBOLS[place], PATTERNS[place], False)
            if name not in members and name.startswith((f"{member} ", f"{member},")):
                return MethodStyle(colour, DASHES[place], f"{SYMBOLS[place]}-open", PATTERNS[place], False)
    colour = FOREST_COLOURS.get(name, OTHER_COLOURS[position % len(OTHER_COLOURS)])
    turn = position // len(OTHER_COLOURS) % len(DASHES)
    return MethodStyle(colour, DASHES[turn], SYMBOLS[position % len(SYMBOLS)], PATTERNS[turn], False)


def trace(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    """Return a trace of Plotly's of some kind, such as ``"scatter"``."""
    return {"type": kind, "name": escape_markup(name), **fields}


def marker(style: MethodStyle, *, large: bool = False) -> dict[str, Any]:
    """Return the marker of a method; ours are larger and opaque."""
    size = (12 if style.is_adf else 8) if large else (7 if style.is_adf else 4)
    return {"color": style.colour, "symbol": style.symbol, "size": size, "opacity": 1 if style.is_adf else 0.8}


def axis(title: str, *, log: bool = False, **more: Any) -> dict[str, Any]:
    """Return an axis with a thin grid."""
    said = {"text": escape_markup(title), "font": {"size": 13, "color": FAINT}, "standoff": 10}
    frame: dict[str, Any] = {"title": said, "gridcolor": GRID, "linecolor": GRID, "showline": True, "zeroline": False}
    frame |= {"tickfont": {"size": 12, "color": FAINT}, "automargin": True, "fixedrange": False}
    if log:
        frame |= {"type": "log", "dtick": "D2", "tickformat": ",~r"}
    return frame | more


def layout(x: dict[str, Any], y: dict[str, Any], height: int) -> dict[str, Any]:
    """Return a layout in the house frame, see-through, with its legend at the right."""
    return {
        "xaxis": x,
        "yaxis": y,
        "height": height,
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "margin": {"l": 56, "r": 16, "t": 28, "b": 48},
        "legend": {"x": 1.01, "y": 1, "xanchor": "left", "yanchor": "top", "font": {"size": 12}},
        "modebar": {"bgcolor": CLEAR, "color": FAINT, "activecolor": INK},
        "hovermode": "closest",
        "hoverlabel": {"font": {"family": FONT, "size": 13}},
    }


def figure(data: list[dict[str, Any]], frame: dict[str, Any]) -> dict[str, Any]:
    """Return traces and a layout as one figure of plain data."""
    return {"data": to_json_data(data), "layout": to_json_data(frame)}


def escape_markup(text: str) -> str:
    """Return text that Plotly, which reads some HTML tags, shows as it stands."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def to_json_data(value: Any) -> Any:
    """Return data as JSON knows them: NumPy's become Python's, tuples lists, and NaN and infinities None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_json_data(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_data(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
