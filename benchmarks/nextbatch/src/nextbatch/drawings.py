"""Pictures as inline SVG: accuracy over time, ranks with their critical difference, accuracy against cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from nextbatch.protocols import CURVE_STEP, Protocol
from nextbatch.ranks import Board, Line, critical_difference, find_front
from nextbatch.streams import Recipe

N_COLOURS, N_CURVES = 7, 4  # colours of the style; learners drawn besides those that always are
N_TICKS = 12
WIDTH = 860
ROW = 15  # pixels between two labels


def _svg(height: float, title: str, parts: Sequence[str]) -> str:
    """Return a picture that scrolls where it is wider than the page, so that its labels stay readable."""
    opening = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" role="img" aria-label="{escape(title)}">'
    return f'<div class="wide" tabindex="0">{opening}{"".join(parts)}</svg></div>'


def _line(x1: float, y1: float, x2: float, y2: float, more: str = 'stroke="var(--line)"') -> str:
    """Return a straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    """Return a text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def spread(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Return heights of labels near those that are wanted, `ROW` or more apart, from the top down to the bottom.

    Examples
    --------
    >>> spread([100.0, 101.0, 50.0], 0.0, 110.0)
    [95.0, 110.0, 50.0]
    """
    found = [0.0] * len(wanted)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    last = top - ROW
    for i in order:
        last = found[i] = max(wanted[i], last + ROW)
    last = bottom + ROW
    for i in reversed(order):
        last = found[i] = min(found[i], last - ROW)
    return found


def draw_curves(
    curves: dict[str, list[float]], lines: Sequence[Line], recipe: Recipe, protocol: Protocol, subject: str
) -> str:
    """Draw accuracy over time: the best learners, the best rule, adforest, and those handed in."""
    first_rule = next((line.name for line in lines if line.family == "trivial"), "")
    shown = [
        line
        for i, line in enumerate(lines)
        if i < N_CURVES or line.name in (subject, first_rule) or line.family not in ("trivial", "refit", "stream")
    ]
    if not shown:
        return "<p>No run went through.</p>"
    longest = max(len(curves[line.name]) for line in shown)
    values = [value for line in shown for value in curves[line.name]]
    low, high = math.floor(min(values) * 10) / 10, math.ceil(max(values) * 10) / 10
    high = max(high, low + 0.1)
    left, right, top, bottom = 40, WIDTH - 190, 10, 240

    def x(i: float) -> float:
        return left + (right - left) * i / max(1, longest - 1)

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    parts = []
    for k in range(round((high - low) * 10) + 1):
        level = low + k / 10
        parts += [_line(left, y(level), right, y(level)), _text(left - 6, y(level) + 4, f"{level:.1f}", "end")]
    first = protocol.delay + 1  # the first batch that is predicted; batches count from 0
    unit = CURVE_STEP if protocol.per_record else 1
    every = next(n for k in range(9) for n in (10**k, 2 * 10**k, 5 * 10**k) if longest / n <= N_TICKS)
    for j in range(longest):
        if (j + (0 if protocol.per_record else first)) % every == 0:
            number = (j if protocol.per_record else j + first) * unit
            parts += [_line(x(j), bottom, x(j), bottom + 4), _text(x(j), bottom + 16, f"{number:,}", "middle")]
    for batch in () if protocol.per_record else recipe.drift:
        if 0 <= batch - first < longest:
            where = x(batch - first)
            parts.append(_line(where, top, where, bottom, 'stroke="var(--dim)" stroke-dasharray="2 4"'))
    others = [line.name for line in shown if line.name != subject]  # adforest has its colour in every picture
    for i, line in enumerate(shown):
        colour = "var(--c0)" if line.name == subject else f"var(--c{1 + others.index(line.name) % (N_COLOURS - 1)})"
        style = f'stroke="{colour}" stroke-width="{2.4 if line.name == subject else 1.5}"'
        style += ' stroke-dasharray="5 3"' if line.family == "trivial" else ""
        points = " ".join(f"{x(j):.1f},{y(value):.1f}" for j, value in enumerate(curves[line.name]))
        parts.append(f'<polyline fill="none" {style} points="{points}"><title>{escape(line.name)}</title></polyline>')
        parts.append(_line(right + 12, 20 + 18 * i, right + 34, 20 + 18 * i, style))
        parts.append(_text(right + 40, 24 + 18 * i, line.name))
    said = f"{'sample' if protocol.per_record else 'batch'}; height: accuracy on it"
    parts.append(_text((left + right) / 2, bottom + 32, said, "middle"))
    return _svg(max(280, 30 + 18 * len(shown)), f"Accuracy over time on {recipe.name}", parts)


def draw_critical_difference(board: Board, subject: str) -> str:
    """Draw mean ranks; bars join learners that Nemenyi's test does not tell apart."""
    lines = board.ranked
    n = len(lines)
    if n < 2 or len(board.streams) < 2:
        return "<p>Ranks need two learners and two streams.</p>"
    cd = critical_difference(n, len(board.streams))
    left, right, top = 180, WIDTH - 180, 40

    def x(rank: float) -> float:
        return left + (right - left) * (rank - 1) / (n - 1)

    ranks = [line.rank or 0.0 for line in lines]
    groups: list[tuple[int, int]] = []
    for i in range(n):
        j = max(k for k in range(i, n) if ranks[k] - ranks[i] < cd)
        if j > i and (not groups or j > groups[-1][1]):
            groups.append((i, j))
    parts = [_line(left, top, right, top, 'stroke="var(--fg)"')]
    for k in range(1, n + 1):
        parts += [_line(x(k), top - 5, x(k), top, 'stroke="var(--fg)"'), _text(x(k), top - 9, str(k), "middle")]
    parts.append(_line(x(1), 12, x(1) + (right - left) * cd / (n - 1), 12, 'stroke="var(--fg)" stroke-width="2"'))
    parts.append(_text(x(1) - 8, 16, f"CD {cd:.2f}", "end"))
    for k, (i, j) in enumerate(groups):
        height = top + 10 + 7 * k
        parts.append(_line(x(ranks[i]) - 3, height, x(ranks[j]) + 3, height, 'stroke="var(--fg)" stroke-width="3.5"'))
    below = top + 26 + 7 * len(groups)
    half = (n + 1) // 2
    for i, line in enumerate(lines):
        is_left = i < half
        row = below + 18 * (i if is_left else n - 1 - i)
        edge, style = (left - 8 if is_left else right + 8), 'stroke="var(--dim)"'
        parts += [_line(x(ranks[i]), top, x(ranks[i]), row, style), _line(x(ranks[i]), row, edge, row, style)]
        label = f"{line.name} {ranks[i]:.2f}"
        parts.append(
            _text(edge + (-4 if is_left else 4), row + 4, label, "end" if is_left else "start", _bold(line, subject))
        )
    return _svg(below + 18 * half, "Mean ranks with the critical difference", parts)


def _bold(line: Line, subject: str) -> str:
    """Return how a learner's name is written."""
    return ' style="font-weight:bold"' if line.name == subject else ""


def draw_pareto(points: Sequence[tuple[Line, float, float]], subject: str) -> str:
    """Draw accuracy against CPU seconds of a batch; a line joins those that no other learner beats in both.

    The rules cost next to nothing: the best one is a level.
    """
    rule = max((point for point in points if point[0].family == "trivial"), key=lambda one: one[2], default=None)
    points = [point for point in points if point[0].family != "trivial"]
    if not points:
        return "<p>No learner was run on all streams without a failure.</p>"
    costs = [math.log10(max(cost, 1e-5)) for _, cost, _ in points]
    low_x, high_x = min(costs) - 0.1, max(costs) + 0.1
    values = [value for *_, value in points]
    levels = [*values, *([rule[2]] if rule else [])]
    low, high = math.floor(min(levels) * 20) / 20, math.ceil(max(levels) * 20 + 0.01) / 20
    left, right, top = 44, WIDTH - 200, 10
    bottom = max(300, top + ROW * (len(points) + 2))

    def x(cost: float) -> float:
        return left + (right - left) * (cost - low_x) / (high_x - low_x)

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    parts = []
    ticks = [n * 10.0**k for k in range(math.floor(low_x), math.ceil(high_x) + 1) for n in (1, 2, 5)]
    for tick in ticks:
        where = math.log10(tick)
        if low_x <= where <= high_x:
            parts += [_line(x(where), top, x(where), bottom), _text(x(where), bottom + 16, f"{tick:g} s", "middle")]
    for k in range(round((high - low) * 20) + 1):
        level = low + k / 20
        parts += [_line(left, y(level), right, y(level)), _text(left - 6, y(level) + 4, f"{level:.2f}", "end")]
    front = find_front([(cost, value) for _, cost, value in points])
    joined = " ".join(f"{x(costs[i]):.1f},{y(values[i]):.1f}" for i in front)
    parts.append(f'<polyline fill="none" stroke="var(--c0)" stroke-dasharray="4 3" points="{joined}"/>')
    heights = spread([y(value) for value in levels], top + 4, bottom)
    for i, (line, cost, value) in enumerate(points):
        colour = "var(--c0)" if i in front else "var(--c6)"
        bend = right + 14
        parts.append(
            f'<polyline class="leader" fill="none" stroke="var(--dim)" stroke-opacity=".45" '
            f'points="{x(costs[i]):.1f},{y(value):.1f} {bend - 10},{y(value):.1f} {bend + 6},{heights[i]:.1f}"/>'
            f'<circle cx="{x(costs[i]):.1f}" cy="{y(value):.1f}" r="4.5" fill="{colour}">'
            f"<title>{escape(line.name)}: {value:.3f}, {cost:.3g} s</title></circle>"
        )
        parts.append(_text(bend + 10, heights[i] + 4, f"{line.name} {value:.3f}", more=_bold(line, subject)))
    if rule:
        parts.append(_line(left, y(rule[2]), right, y(rule[2]), 'stroke="var(--dim)" stroke-dasharray="5 3"'))
        parts.append(_text(right + 24, heights[-1] + 4, f"best rule: {rule[0].name} {rule[2]:.3f}"))
    parts.append(_text((left + right) / 2, bottom + 34, "CPU seconds per batch (log)", "middle"))
    return _svg(bottom + 44, "Accuracy against CPU seconds per batch", parts)
