"""Demšar's diagram of average ranks, in which bars join the methods that no test tells apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.reporting.style import FAINT, INK, axis, escape_markup, figure, layout, method_style, trace

ROW, BAR = 24, 0.42  # pixels for a name, and the share of them for a bar
SIDE, ABOVE = 150, 72  # pixels for the names at each side, and for the scale


def rank_diagram(ranks: Mapping[str, float], distance: float) -> dict[str, Any]:
    """Return average ranks on a scale, names at both sides, and thick bars over methods that no test tells apart.

    Parameters
    ----------
    ranks : mapping of str to float
        Average rank by method, 1 being the best.
    distance : float
        The critical difference: ranks at most this far apart are joined.

    Returns
    -------
    dict
        A Plotly figure as plain data.
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    ends = (0.7, len(order) + 0.3)
    joined = find_groups([ranks[name] for name in order], distance)
    data, annotations = [], []
    n_left = (len(order) + 1) // 2
    for place, name in enumerate(order):
        # Outer ranks come first on either side: so no line from a name to its rank crosses another.
        is_left = place < n_left
        row = place if is_left else len(order) - 1 - place
        height = -(len(joined) + 1) * BAR - 0.6 - row
        data.append(_leader(name, ranks[name], ends[0 if is_left else 1], height))
        annotations.append(_name(name, ranks[name], height, is_left=is_left))
    for place, (first, last) in enumerate(joined):
        over, height = [ranks[order[first]] - 0.06, ranks[order[last]] + 0.06], -(place + 1) * BAR
        thick = {"color": INK, "width": 5}
        data.append(trace("scatter", "", mode="lines", x=over, y=[height, height], line=thick, hoverinfo="skip"))
    bottom = -(len(joined) + 1) * BAR - 0.2 - max(n_left, 1)
    return figure(data, _scale(ends, bottom, distance, annotations))


def find_groups(ranks: list[float], distance: float) -> list[tuple[int, int]]:
    """Return the longest runs of ranks, in rising order, whose ends are at most a distance apart.

    Parameters
    ----------
    ranks : list of float
        In rising order.
    distance : float

    Returns
    -------
    list of pairs of int
        First and last of each run of two or more; no run lies in another.

    Examples
    --------
    >>> find_groups([1.0, 1.5, 2.5, 4.0], 1.5)
    [(0, 2), (2, 3)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place in range(first, len(ranks)) if ranks[place] - rank <= distance)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def _leader(name: str, rank: float, end: float, height: float) -> dict[str, Any]:
    """Return the line from a method's rank on the scale to its name."""
    style = method_style(name)
    line = {"color": style.colour if style.is_adf else FAINT, "width": 2.5 if style.is_adf else 1}
    said = f"%{{fullData.name}}: {rank:.2f}<extra></extra>"
    leader = trace("scatter", name, mode="lines", x=[rank, rank, end], y=[0, height, height], line=line)
    return leader | {"zorder": 2 if style.is_adf else 1, "hovertemplate": said}


def _name(name: str, rank: float, height: float, *, is_left: bool) -> dict[str, Any]:
    """Return a method's name and rank as text beside the diagram."""
    said = f"<b>{escape_markup(name)}</b>" if method_style(name).is_adf else escape_markup(name)
    text = f"{said}  {rank:.2f}" if is_left else f"{rank:.2f}  {said}"
    at = {"x": 0 if is_left else 1, "xref": "paper", "xanchor": "right" if is_left else "left", "y": height}
    return {"text": text, "showarrow": False, "font": {"size": 12, "color": INK}, **at}


def _scale(
    ends: tuple[float, float], bottom: float, distance: float, annotations: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a layout with the scale of ranks on top and, above it, a ruler as long as the critical difference."""
    top = axis("", side="top", range=list(ends), showgrid=False, showline=False, fixedrange=True)
    top |= {"ticks": "outside", "tickcolor": FAINT, "tick0": 1, "dtick": 1 if ends[1] < 13 else 2}
    hidden = {"visible": False, "range": [bottom, 0], "fixedrange": True}
    frame = layout(top, hidden, ABOVE + round(-bottom * ROW) + 8)
    rule = {"type": "line", "x0": 1, "x1": ends[1] - 0.3, "y0": 0, "y1": 0, "line": {"color": FAINT, "width": 1.5}}
    ruler = {"type": "line", "x0": 1, "x1": 1 + distance, "yref": "paper", "ysizemode": "pixel", "yanchor": 1}
    frame["shapes"] = [rule, ruler | {"y0": 42, "y1": 42, "line": {"color": INK, "width": 2}}]
    said = {"text": f"critical difference {distance:.2f}", "x": 1, "xanchor": "left", "y": 1, "yref": "paper"}
    said |= {"yanchor": "bottom", "yshift": 44, "showarrow": False, "font": {"size": 12, "color": FAINT}}
    frame |= {"annotations": [*annotations, said], "showlegend": False, "meta": {"min_width": 620}}
    return frame | {"margin": {"l": SIDE, "r": SIDE, "t": ABOVE, "b": 8}}
