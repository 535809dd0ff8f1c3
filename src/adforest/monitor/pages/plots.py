"""Figures as SVG that stretches with the page, while text and markers keep their size.

Horizontal positions are fractions of the width, so that one drawing fits a wide screen and a phone; vertical ones are
pixels. Colours are those of the style sheet, by class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adforest.forest.types import Float64Array
from adforest.monitor.pages import words
from adforest.monitor.pages.markup import Markup, join, tag

WIDTH = 1000  # of the coordinates in which lines are drawn
STEPS = (1, 2, 2.5, 5, 10)  # what ticks are multiples of
AXIS, LINE = 22, 14  # pixels below a plot, for its ticks, and for each line of them after the first


@dataclass(frozen=True)
class Scale:
    """A linear scale between two ends."""

    low: float
    high: float

    @classmethod
    def around(cls, values: ArrayLike, *, margin: float = 0.08, least: float = 0.0) -> Scale:
        """Return a scale that holds all known values, at least some units long."""
        known = np.asarray(values, dtype=float).ravel()
        known = known[np.isfinite(known)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        room = max((high - low) * margin, (least - (high - low)) / 2, 1e-9 * max(abs(low), abs(high), 1e-9))
        return cls(low - room, high + room)

    @classmethod
    def of_fractions(cls, values: Iterable[ArrayLike]) -> Scale:
        """Return a scale that holds fractions of several lines, at least 0.05 long and within 0 and 1."""
        known = np.concatenate([np.asarray(one, dtype=float) for one in values])
        return cls.around(known, least=0.05).clipped(-0.005, 1.005)

    def clipped(self, low: float, high: float) -> Scale:
        """Return the part between two limits."""
        return Scale(max(self.low, low), min(self.high, high))

    def fraction(self, values: ArrayLike) -> Float64Array:
        """Return the positions of values as fractions of the scale."""
        return (np.asarray(values, dtype=float) - self.low) / (self.high - self.low)

    def ticks(self, n: int, *, whole: bool = False) -> list[float]:
        """Return about n round numbers between the ends."""
        wanted = (self.high - self.low) / max(n, 1)
        power = 10.0 ** floor(log10(wanted))
        step = next(step * power for step in STEPS if step * power >= wanted * 0.999)
        if whole:
            step = max(1.0, float(ceil(step)))
        return [round(multiple * step, 12) for multiple in range(ceil(self.low / step), floor(self.high / step) + 1)]

    def percent_ticks(self, n: int) -> list[tuple[float, str]]:
        """Return about n fractions between the ends as percentages, with enough digits to distinguish them."""
        ticks = self.ticks(n)
        digits = 0 if len(ticks) < 2 or ticks[1] - ticks[0] > 0.0099 else 1
        return [(tick, words.percent(tick, digits)) for tick in ticks]


def batch_scale(numbers: Sequence[float] | NDArray[Any]) -> Scale:
    """Return the scale of batches, with a margin of half a batch on either side."""
    if not len(numbers):
        return Scale(0.5, 1.5)
    return Scale(float(min(numbers)) - 0.5, float(max(numbers)) + 0.5)


@dataclass(frozen=True)
class Plot:
    """The plotting area of a figure.

    Attributes
    ----------
    x, y : Scale
    height : int
        In pixels, without the ticks below.
    """

    x: Scale
    y: Scale
    height: int

    def across(self, values: ArrayLike) -> Float64Array:
        """Return places across, in the coordinates of lines."""
        return np.clip(self.x.fraction(values), -1, 2) * WIDTH

    def down(self, values: ArrayLike) -> Float64Array:
        """Return places down, in pixels."""
        return (1 - np.clip(self.y.fraction(values), -1, 2)) * self.height

    def line(self, x: ArrayLike, y: ArrayLike, class_: str) -> Markup:
        """Return a line through points, with gaps where a value is not known; points by themselves are dots."""
        pairs = np.column_stack([self.across(x), self.down(y)])
        runs = _runs(np.isfinite(pairs.sum(axis=1)))
        path = "".join(_path(pairs[start:stop]) for start, stop in runs)
        return tag("path", d=path, class_=f"line {class_}") if path else Markup()

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, class_: str) -> Markup:
        """Return the area between two lines."""
        lower, upper = (np.column_stack([self.across(x), self.down(y)]) for y in (low, high))
        runs = _runs(np.isfinite((lower + upper).sum(axis=1)))
        path = "".join(f"{_path(np.concatenate([upper[a:b], lower[a:b][::-1]]))}Z" for a, b in runs if b - a > 1)
        return tag("path", d=path, class_=f"band {class_}") if path else Markup()

    def steps(self, edges: ArrayLike, low: ArrayLike, high: ArrayLike, class_: str) -> Markup:
        """Return an area of bars without gaps: bar i is between edges i and i + 1."""
        positions = np.repeat(self.across(edges), 2)[1:-1]
        lower, upper = (np.repeat(self.down(y), 2) for y in (low, high))
        path = _path(np.concatenate([np.column_stack([positions, upper]), np.column_stack([positions, lower])[::-1]]))
        return tag("path", d=f"{path}Z", class_=f"band {class_}")

    def bars(self, edges: ArrayLike, heights: ArrayLike, class_: str) -> Markup:
        """Return bars from zero."""
        heights = np.asarray(heights, dtype=float)
        return self.steps(edges, np.zeros(len(heights)), np.nan_to_num(heights), class_)

    def outline(self, edges: ArrayLike, heights: ArrayLike, class_: str) -> Markup:
        """Return the upper side of bars as a line."""
        positions = np.repeat(self.across(edges), 2)[1:-1]
        return tag(
            "path", d=_path(np.column_stack([positions, np.repeat(self.down(heights), 2)])), class_=f"line {class_}"
        )

    def rule(self, x: float, class_: str) -> Markup:
        """Return a line down the whole plot."""
        position = percent(self.x.fraction(x))
        return tag("line", x1=position, x2=position, y1=0, y2=self.height, class_=f"rule {class_}")

    def level(self, y: float, class_: str) -> Markup:
        """Return a line across the whole plot."""
        position = float(self.down(y))
        return tag("line", x1="0%", x2="100%", y1=position, y2=position, class_=f"rule {class_}")

    def triangle(self, x: float, y: float, class_: str) -> Markup:
        """Return a small triangle at a horizontal position, some pixels down."""
        shape = tag("path", d="M-5 9L0 0L5 9Z", class_=f"mark {class_}")
        return tag("svg", shape, x=percent(self.x.fraction(x)), y=y, class_="place")

    def dot(self, x: float, y: float, radius: float, class_: str) -> Markup:
        """Return a dot."""
        return tag("circle", cx=percent(self.x.fraction(x)), cy=float(self.down(y)), r=radius, class_=class_)

    def text_beside(self, x: float, y: float, text: str, class_: str, *, is_left: bool) -> Markup:
        """Return words to the left or the right of a dot, some pixels down."""
        anchor, away = ("end", -9) if is_left else ("start", 9)
        return tag("text", text, x=percent(self.x.fraction(x)), dx=away, y=y, text_anchor=anchor, class_=class_)

    def draw(
        self,
        shapes: Iterable[Markup],
        *,
        label: str,
        above: Iterable[Markup] = (),
        x_ticks: Sequence[tuple[float, str]] = (),
        y_ticks: Sequence[tuple[float, str]] = (),
        class_: str = "",
    ) -> Markup:
        """Return the figure.

        Parameters
        ----------
        shapes : lines and bands
            The parts that are scaled with the page.
        label : str
            Description for screen readers; empty for a picture whose figures are beside it.
        above : marks, dots, rules and texts
            The parts of fixed size, drawn above the lines.
        x_ticks, y_ticks : list of (float, str)
        class_ : str
        """
        stretched = tag(
            "svg",
            *shapes,
            viewBox=f"0 0 {WIDTH} {self.height}",
            preserveAspectRatio="none",
            width="100%",
            height=self.height,
            class_="stretched",
        )
        grid = [self.level(value, "grid") for value, _ in y_ticks]
        texts = [
            tag("text", text, x=0, dx=-8, y=float(self.down(value)), dy="0.35em", text_anchor="end", class_="tick")
            for value, text in y_ticks
        ]
        seen = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
        n_lines = 1 + max((text.count("\n") for _, text in x_ticks), default=-1)
        height = self.height + (AXIS + LINE * (n_lines - 1) if n_lines else 0)
        return tag(
            "svg",
            *(grid, stretched, texts, self._x_axis(x_ticks), above),
            width="100%",
            height=height,
            class_=f"plot {class_}".rstrip(),
            **seen,
        )

    def _x_axis(self, ticks: Sequence[tuple[float, str]]) -> Markup:
        """Return the words below the plot; of many, every other one is left out on a phone."""
        found = []
        for index, (value, text) in enumerate(ticks):
            fraction = float(self.x.fraction(value))
            anchor = "start" if fraction < 0.03 else "end" if fraction > 0.97 else "middle"
            at = "0%" if anchor == "start" else "100%" if anchor == "end" else percent(fraction)
            extra = " extra" if len(ticks) > 5 and (len(ticks) - 1 - index) % 2 else ""
            for line, part in enumerate(text.split("\n")):
                down = self.height + 16 + LINE * line
                found.append(tag("text", part, x=at, y=down, text_anchor=anchor, class_=f"tick{extra}"))
        return join(found)


def percent(fraction: ArrayLike) -> str:
    """Return a fraction of the width as an attribute."""
    return f"{100 * float(np.asarray(fraction)):.2f}%"


def _runs(known: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where values are known without a gap, as starts and stops."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _path(pairs: Float64Array) -> str:
    """Return a path through points; a single one is a line of no length, which round ends make a dot."""
    written = [f"{x:.1f} {y:.1f}" for x, y in pairs.tolist()]
    return "M" + ("L".join(written) if len(written) > 1 else f"{written[0]}h0")
