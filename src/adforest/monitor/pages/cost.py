"""Forests and cost: leaves and depth of each forest, seconds per batch."""

from __future__ import annotations

import numpy as np

from adforest.adaptation.report import FORESTS
from adforest.monitor.model_view import ForestView, ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import over_time, part, scroll, swatch, table_of
from adforest.monitor.pages.markup import Child, Markup, join, tag
from adforest.monitor.pages.plots import Plot, Scale
from adforest.monitor.pages.thinning import Course, without_twins

HEIGHT = 130  # pixels


def cost_part(view: ModelView, course: Course) -> Markup:
    """Return the current forests, leaves and seconds over time."""
    head = ["forest", "weight in the vote", "trees", "leaves", "deepest leaf", "mean depth", "size"]
    rows = [_row(forest) for forest in view.forests]
    standing = scroll(table_of(head, rows, class_="forests"), "Forests as they stand")
    over_time = tag("div", _leaves(course), _seconds(course), class_="pair")
    return part("forests", "Forests and cost", standing, over_time)


def _row(forest: ForestView) -> list[Child]:
    """Return the cells of a forest."""
    name = join([swatch(f"line {forest.name}"), forest.name, tag("small", " most weight") if forest.answers else None])
    if forest.same_as:
        shared = tag("small", f" has the trees of the {forest.same_as} one")
        return [join([name, shared]), words.percent(forest.vote, 0), *[words.NOTHING] * 5]
    return [
        name,
        words.percent(forest.vote, 0),
        f"{forest.n_trees:,}",
        f"{forest.n_leaves:,}",
        f"{forest.max_depth:,}",
        words.number(forest.mean_depth),
        words.size(forest.bytes),
    ]


def _leaves(course: Course) -> Markup:
    """Return leaves by forest over time."""
    found = without_twins({name: course.n_leaves[name] for name in FORESTS if name in course.n_leaves})
    if not found:
        return Markup()
    plot = Plot(course.scale, Scale(0, _most(np.concatenate(list(found.values())))), HEIGHT)
    now = {name: words.number(float(values[np.isfinite(values)][-1]), 1) for name, values in found.items()}
    return over_time(
        *("leaves", "Leaves", course, plot),
        [plot.line(course.middle, values, name) for name, values in found.items()],
        label="Leaves by forest over time; last: " + ", ".join(f"{name} {n}" for name, n in now.items()) + ".",
        y_ticks=[(tick, _thousands(tick)) for tick in plot.y.ticks(3, whole=True)],
        key=[(f"line {name}", join([name, " ", tag("b", n)])) for name, n in now.items()],
        columns={name: [words.number(value, 1) for value in values] for name, values in found.items()},
        is_wide=False,
    )


def _seconds(course: Course) -> Markup:
    """Return how long learning took."""
    plot = Plot(course.scale, Scale(0, _most(course.seconds)), HEIGHT)
    last, mean = float(course.seconds[-1]), float(np.nanmean(course.seconds))
    note = f"Last {words.duration(last)}, mean {words.duration(mean)}."
    return over_time(
        *("seconds", "Time to learn a batch", course, plot),
        [plot.bars(course.edges, course.seconds, "seconds")],
        label=f"Time to learn a batch. {note}",
        y_ticks=[(tick, words.duration(tick) if tick else "0") for tick in plot.y.ticks(3)],
        note=note,
        columns={
            "samples": [words.number(n, 1) for n in course.n_samples],
            "time": [words.duration(float(took)) for took in course.seconds],
        },
        is_wide=False,
    )


def _most(values: object) -> float:
    """Return the upper end of a scale that begins at zero."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return float(known.max(initial=0)) * 1.08 or 1.0


def _thousands(value: float) -> str:
    """Return a count in few characters."""
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
