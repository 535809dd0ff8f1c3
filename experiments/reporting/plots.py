"""Figures as plain Plotly data, in one style: ADF stands out, and a method has one colour everywhere."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

from experiments.reporting.style import (
    ADF_COLOURS,
    BAND,
    FAINT,
    HEATMAP_COLOURS,
    INK,
    axis,
    escape_markup,
    figure,
    layout,
    marker,
    method_style,
    trace,
)

__all__ = ["bars", "dots", "heatmap", "lines", "scatter"]

Series = Mapping[str, Sequence[float | None]]
LEGEND_LINE = 20  # pixels


def lines(
    series: Series,
    x: Sequence[float],
    *,
    x_title: str = "batch",
    y_title: str = "",
    stages: Sequence[str] = (),
    marks: Mapping[str, Sequence[float]] | None = None,
    hidden: Collection[str] = (),
    log_y: bool = False,
) -> dict[str, Any]:
    """Return one line for each name, such as accuracy along the batches.

    Parameters
    ----------
    series : mapping of str to sequence
        Values at each of `x`; None and NaN leave a gap.
    x : sequence of float
    x_title, y_title : str
    stages : sequence of str
        The stage that each of `x` belongs to; runs of one stage are shaded in turn and named above.
    marks : mapping of str to sequence, optional
        Where on the x axis something happened, such as drift; the first kind is hollow, later ones are filled.
    hidden : collection of str
        Names whose lines only show once the reader clicks them in the legend.
    log_y : bool
        Whether the values' axis is logarithmic.

    Returns
    -------
    dict
        A Plotly figure as plain data.
    """
    data = []
    for position, (name, values) in enumerate(series.items()):
        style = method_style(name, position)
        line = trace("scatter", name, mode="lines+markers", x=x, y=values, marker=marker(style))
        line["line"] = {"color": style.colour, "dash": style.dash, "width": 3 if style.is_adf else 1.5}
        line |= {"zorder": 2 if style.is_adf else 1, "visible": "legendonly" if name in hidden else True}
        line["hovertemplate"] = f"%{{fullData.name}}<br>{_template(x_title)} %{{x}}: %{{y:.4~g}}<extra></extra>"
        data.append(line)
    frame = layout(axis(x_title, showgrid=False), axis(y_title, log=log_y), _height(430, len(data) + len(marks or ())))
    _shade_stages(frame, stages, x)
    _add_marks(data, frame, marks or {})
    return figure(data, frame)


def bars(
    series: Series,
    groups: Sequence[str],
    *,
    title: str = "",
    errors: Series | None = None,
    log: bool = False,
    digits: int = 3,
) -> dict[str, Any]:
    """Return bars: side by side in each group, or lying, for the groups to be read, where there is one series.

    Parameters
    ----------
    series : mapping of str to sequence
        One value for each group.
    groups : sequence of str
    title : str
        Of the values' axis.
    errors : mapping of str to sequence, optional
        By series, how far the error bars reach to each side.
    log : bool
        Whether the values' axis is logarithmic.
    digits : int
        Decimals of the values.

    Returns
    -------
    dict
        A Plotly figure as plain data.
    """
    names = [escape_markup(group) for group in groups]
    if len(series) == 1:
        return _horizontal_bars(series, names, axis(title, log=log), errors or {}, digits)
    data = []
    for position, (name, values) in enumerate(series.items()):
        style = method_style(name, position)
        bar = trace("bar", name, x=names, y=values, error_y=_error((errors or {}).get(name)))
        bar["marker"] = {
            "color": style.colour,
            "pattern": {"shape": style.pattern, "fillmode": "overlay", "size": 6, "solidity": 0.2},
        }
        bar["hovertemplate"] = f"%{{fullData.name}}<br>%{{x}}: %{{y:.{digits}f}}<extra></extra>"
        data.append(bar)
    frame = layout(axis("", showgrid=False, type="category"), axis(title, log=log), _height(400, len(data)))
    return figure(data, frame | {"bargap": 0.28})


def dots(series: Series, rows: Sequence[str], *, title: str = "", log: bool = False) -> dict[str, Any]:
    """Return a row of dots for each data set, a dot for each method: how far apart many methods lie.

    Parameters
    ----------
    series : mapping of str to sequence
        By method, one value for each row.
    rows : sequence of str
    title : str
        Of the values' axis.
    log : bool
        Whether the values' axis is logarithmic.

    Returns
    -------
    dict
        A Plotly figure as plain data.
    """
    data = []
    names = [escape_markup(row) for row in rows]
    for position, (name, values) in enumerate(series.items()):
        style = method_style(name, position)
        dot = trace("scatter", name, mode="markers", x=values, y=names, marker=marker(style, large=True))
        dot |= {"zorder": 2 if style.is_adf else 1, "cliponaxis": False}
        dot["hovertemplate"] = "%{fullData.name}<br>%{y}: %{x:.4~g}<extra></extra>"
        data.append(dot)
    kinds = axis("", type="category", autorange="reversed", showline=False)
    return figure(data, layout(axis(title, log=log, showgrid=False), kinds, _height(130 + 44 * len(rows), len(data))))


def heatmap(
    values: Sequence[Sequence[float | None]],
    x: Sequence[object],
    y: Sequence[object],
    *,
    x_title: str = "",
    y_title: str = "",
    digits: int = 3,
    chosen: tuple[object, object] | None = None,
) -> dict[str, Any]:
    """Return coloured cells with their values in them, such as accuracy over two thresholds.

    Parameters
    ----------
    values : sequence of sequences
        A row for each of `y`, in it a value for each of `x`.
    x, y : sequence
        What the columns and the rows stand for.
    x_title, y_title : str
    digits : int
        Decimals of the values.
    chosen : tuple of x and y, optional
        The cell to frame, such as the default setting.

    Returns
    -------
    dict
        A Plotly figure as plain data.
    """
    columns, rows = [escape_markup(str(one)) for one in x], [escape_markup(str(one)) for one in y]
    field = trace("heatmap", "", z=values, x=columns, y=rows, xgap=2, ygap=2, showscale=False, hoverongaps=False)
    field["colorscale"] = [[place / (len(HEATMAP_COLOURS) - 1), colour] for place, colour in enumerate(HEATMAP_COLOURS)]
    field |= {"texttemplate": f"%{{z:.{digits}f}}", "textfont": {"color": "#15181B"}}  # read on light and dark pages
    said = f"{_template(x_title)} %{{x}}<br>{_template(y_title)} %{{y}}<br>%{{z:.{digits + 1}f}}"
    field["hovertemplate"] = f"{said}<extra></extra>"
    bare: dict[str, Any] = {"type": "category", "showgrid": False, "showline": False, "ticks": ""}
    frame = layout(axis(x_title, **bare), axis(y_title, **bare, autorange="reversed"), 110 + 46 * len(rows))
    if chosen is not None:
        column, row = list(x).index(chosen[0]), list(y).index(chosen[1])
        corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        frame["shapes"] = [{"type": "rect", **corners, "line": {"color": ADF_COLOURS["ADF-H"], "width": 3}}]
    return figure([field], frame | {"meta": {"min_width": 70 + 44 * len(columns)}})


def scatter(
    points: Mapping[str, tuple[float, float]],
    *,
    x_title: str,
    y_title: str,
    log_x: bool = False,
    diagonal: bool = False,
) -> dict[str, Any]:
    """Return a labelled point for each name, such as what a method costs against what it gets right.

    Parameters
    ----------
    points : mapping of str to pair of float
    x_title, y_title : str
    log_x : bool
        Whether the x axis is logarithmic.
    diagonal : bool
        Whether to draw the line on which both measures are equal.

    Returns
    -------
    dict
        A Plotly figure as plain data.
    """
    known = {name: point for name, point in points.items() if all(map(math.isfinite, point))}
    places = _place_labels(known, log_x=log_x)
    data = []
    for position, (name, (x, y)) in enumerate(known.items()):
        style = method_style(name, position)
        point = trace("scatter", name, mode="markers+text", x=[x], y=[y], marker=marker(style, large=True))
        point["text"] = [f"<b>{escape_markup(name)}</b>" if style.is_adf else escape_markup(name)]
        point |= {"textposition": places[name], "textfont": {"size": 12, "color": INK if style.is_adf else FAINT}}
        point |= {"zorder": 2 if style.is_adf else 1, "cliponaxis": False}
        point["hovertemplate"] = "%{fullData.name}<br>%{x:.4~g}, %{y:.4~g}<extra></extra>"
        data.append(point)
    frame = layout(axis(x_title, log=log_x), axis(y_title), 480) | {"showlegend": False, "meta": {"min_width": 560}}
    if diagonal and known:
        low, high = min(map(min, known.values())), max(map(max, known.values()))
        ends = {"x0": low, "y0": low, "x1": high, "y1": high}
        frame["shapes"] = [{"type": "line", **ends, "line": {"color": FAINT, "width": 1, "dash": "dot"}}]
    return figure(data, frame)


# Their parts


def _horizontal_bars(
    series: Series, names: list[str], measure: dict[str, Any], errors: Series, digits: int
) -> dict[str, Any]:
    """Return the bars of one series one below the other, with their values beside them."""
    ((name, values),) = series.items()
    bar = trace("bar", name, x=values, y=names, orientation="h", error_x=_error(errors.get(name)))
    bar["marker"] = {"color": [method_style(group).colour for group in names]}
    bar |= {"texttemplate": f"%{{x:.{digits}f}}", "textposition": "outside", "cliponaxis": False}
    bar["hovertemplate"] = f"%{{y}}: %{{x:.{digits}f}}<extra></extra>"
    kinds = axis("", showgrid=False, type="category", autorange="reversed")
    frame = layout(measure, kinds, 90 + 26 * len(names)) | {"bargap": 0.28, "showlegend": False}
    frame["margin"]["r"] = 64  # for the value beside the longest bar
    return figure([bar], frame)


def _error(reach: Sequence[float | None] | None) -> dict[str, Any]:
    """Return error bars that reach this far to each side, or none."""
    return {"visible": False} if reach is None else {"array": reach, "thickness": 1.2, "width": 3, "color": INK}


def _height(least: int, n_names: int) -> int:
    """Return how high a figure must be for its legend to fit beside it."""
    return max(least, 110 + LEGEND_LINE * n_names)


def _template(text: str) -> str:
    """Return text that can stand in a hover template, where a percent sign with a brace means something."""
    return escape_markup(text).replace("%{", "% {")


def _shade_stages(frame: dict[str, Any], stages: Sequence[str], x: Sequence[float]) -> None:
    """Shade every other run of one stage, and name each above; the page turns these names where it is narrow."""
    frame["shapes"], frame["annotations"] = [], []
    for place, (stage, run) in enumerate(groupby(zip(stages, x, strict=bool(stages)), key=lambda pair: pair[0])):
        positions = [position for _, position in run]
        left, right = min(positions) - 0.5, max(positions) + 0.5
        if place % 2 == 0:
            over = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "x0": left, "x1": right, "layer": "below"}
            frame["shapes"].append({**over, "fillcolor": BAND, "line": {"width": 0}})
        above = {"x": (left + right) / 2, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
        font = {"size": 11, "color": FAINT}
        frame["annotations"].append({"name": "stage", "text": escape_markup(stage), **above, "font": font})
    if stages:
        frame["xaxis"] |= {"range": [min(x) - 0.5, max(x) + 0.5]}


def _add_marks(data: list[dict[str, Any]], frame: dict[str, Any], marks: Mapping[str, Sequence[float]]) -> None:
    """Add a triangle at the foot of the figure for each thing that happened."""
    for kind, (name, x) in enumerate(marks.items()):
        symbol = "triangle-up" if kind else "triangle-up-open"
        shape = {"symbol": symbol, "size": 10, "color": INK, "line": {"width": 1.5, "color": INK}}
        mark = trace("scatter", name, mode="markers", x=x, y=[0.025] * len(x), marker=shape, yaxis="y2")
        data.append(mark | {"cliponaxis": False, "hovertemplate": "%{fullData.name}: %{x}<extra></extra>"})
    if marks:
        frame["yaxis2"] = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}


def _place_labels(points: Mapping[str, tuple[float, float]], *, log_x: bool) -> dict[str, str]:
    """Return on which side of its point each label stands, greedily where it hides the least."""
    sides = {"top center": (0, 15), "bottom center": (0, -15), "middle right": (1, 0), "middle left": (-1, 0)}
    x = [math.log(max(x, 1e-300)) if log_x else x for x, _ in points.values()]
    y = [y for _, y in points.values()]
    at = [
        (850 * (one - min(x)) / ((max(x) - min(x)) or 1), 380 * (other - min(y)) / ((max(y) - min(y)) or 1))
        for one, other in zip(x, y, strict=True)
    ]
    taken = [(across, up, 14.0) for across, up in at]  # middle, height and width of what is drawn, in pixels
    chosen = {}
    for name, (across, up) in zip(points, at, strict=True):
        width = 7.0 * len(name)
        spots = {side: (across + to * (width / 2 + 9), up + rise, width) for side, (to, rise) in sides.items()}
        side = min(spots, key=lambda one: sum(_overlap(spots[one], other) for other in taken))
        chosen[name] = side
        taken.append(spots[side])
    return chosen


def _overlap(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return how much of the width of two lines of text lies on one another."""
    shared = (one[2] + other[2]) / 2 - abs(one[0] - other[0])
    return max(shared, 0.0) if abs(one[1] - other[1]) < 14 else 0.0
