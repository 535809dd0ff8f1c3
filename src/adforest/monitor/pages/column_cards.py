"""Columns, by distance of the last batches from the past times importance, largest first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adforest.monitor.column_drift import BinView, ColumnView
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import bar, figure, fold, key_of, part, scroll, table_of
from adforest.monitor.pages.markup import Child, Markup, tag
from adforest.monitor.pages.plots import LINE, Plot, Scale, batch_scale
from adforest.monitor.pages.thinning import as_floats

CARDS = 6  # columns drawn large
MOST = 200  # rows of the table
NAMED = 6  # dots with a name
HEIGHT, SPARK, SMALL, TINY = 96, 34, 30, 10  # pixels


def columns_part(view: ModelView) -> Markup:
    """Return a map of distance and importance, the first columns with both distributions, and a table of all."""
    if view.last_batches is None or view.past_batches is None or not view.columns:
        empty = tag("p", "There is no past to compare the last batches with yet.")
        return part("columns", "Columns", empty)
    last, past = words.batches(*view.last_batches), words.batches(*view.past_batches)
    lead = (
        f"Distance of batches {last} from batches {past}: 0 is no change beyond chance, 1 is no overlap. Sorted by "
        "distance times importance."
    )
    key = key_of([("past", f"batches {past}"), ("last", f"batches {last}")])
    columns = sorted(view.columns, key=lambda one: (-one.impact, -one.distance, -one.importance))
    cards = tag("div", [_card(column, view) for column in columns[:CARDS]], class_="cards")
    return part("columns", "Columns", _map(columns), key, cards, _table(columns, view.column_blocks), lead=lead)


def _map(columns: Sequence[ColumnView]) -> Markup:
    """Return columns as dots by importance (to the right) and distance (upwards)."""
    x = Scale(0, max(0.02, max(one.importance for one in columns) * 1.12))
    y = Scale(0, max(0.1, max(one.distance for one in columns) * 1.15))
    plot = Plot(x, y, 190)
    named = [one for one in columns if one.impact > 0][:NAMED]
    above = [
        plot.dot(one.importance, one.distance, 4, "dot named" if index < len(named) else "dot")
        for index, one in enumerate(columns[:MOST])
    ]
    taken: list[tuple[float, float]] = []
    for one in named:
        across, height = float(x.fraction(one.importance)), float(plot.down(one.distance))
        height = _free_height(across, height, taken, plot.height)
        taken.append((across, height))
        above.append(
            plot.text_beside(
                one.importance, height + 4, words.shortened(one.name, 22), "dot-name", is_left=across > 0.6
            )
        )
    summary = "; ".join(
        f"{one.name}: distance {one.distance:.2f}, importance {words.percent(one.importance)}" for one in named
    )
    drawn = plot.draw(
        [],
        label=f"Columns by importance and distance from the past. {summary or 'No important column has changed'}.",
        above=above,
        x_ticks=[(tick, words.percent(tick, 0)) for tick in x.ticks(4)],
        y_ticks=[(tick, f"{tick:g}") for tick in y.ticks(4)],
    )
    note = "Upwards: distance from the past. To the right: importance to the predictions."
    return figure("columns-map", "Distance and importance", drawn, note=note)


def _free_height(across: float, height: float, taken: Sequence[tuple[float, float]], most: float) -> float:
    """Return where a name does not lie on others, as near to its dot as may be, and within the plot."""
    steps = sorted(range(-NAMED, NAMED + 1), key=lambda step: (abs(step), -step))
    for one in (height + LINE * step for step in steps):
        is_free = all(abs(one - other) >= LINE or abs(across - other_across) >= 0.25 for other_across, other in taken)
        if is_free and LINE / 2 <= one <= most - LINE / 2:
            return one
    return min(height, most - LINE / 2)


def _card(column: ColumnView, view: ModelView) -> Markup:
    """Return one column with both distributions and its course."""
    facts = [
        ("distance", f"{column.distance:.2f}", f"usually {column.usual_distance:.2f}"),
        ("importance", words.percent(column.importance), ""),
    ]
    listed = tag(
        "dl",
        [
            tag("div", tag("dt", name), tag("dd", value, tag("small", f" {more}") if more else None))
            for name, value, more in facts
        ],
    )
    head = tag("h3", tag("span", words.shortened(column.name, 32), title=column.name), tag("small", f" {column.kind}"))
    sparks = [
        _spark("missing", column.missing, column.missing_by_block, view.column_blocks),
        _spark("unseen", column.unseen, column.unseen_by_block, view.column_blocks)
        if column.kind == "categories"
        else _spark("distance", column.distance, column.distance_by_block, view.column_blocks, is_fraction=False),
    ]
    drawn = tag("div", _distributions(column.bins, HEIGHT, _bins_in_words(column)), class_="plots")
    rows = [[one.label, words.percent(one.past), words.percent(one.last)] for one in column.bins]
    table = scroll(table_of(["value", "past", "last"], rows), f"Distributions of {column.name}")
    below = [_ends(column.bins), tag("div", sparks, class_="sparks"), fold(table, column.name)]
    return tag("article", head, listed, drawn, below, class_="card")


def _distributions(bins: Sequence[BinView], height: int, label: str) -> Markup:
    """Return the past as bars and the last batches as a line above them."""
    past, last = (np.array([getattr(one, name) for one in bins]) for name in ("past", "last"))
    plot = Plot(
        Scale(0, max(len(bins), 1)), Scale(0, float(max(past.max(initial=0), last.max(initial=0))) * 1.06 or 1), height
    )
    n_ranges, shapes = sum(one.kind == "range" for one in bins), []  # they come first, side by side
    if n_ranges:
        edges = np.arange(n_ranges + 1)
        shapes += [plot.bars(edges, past[:n_ranges], "past"), plot.outline(edges, last[:n_ranges], "last")]
    for index in range(n_ranges, len(bins)):
        edges = np.array([index + 0.12, index + 0.88])
        shapes += [
            plot.bars(edges, past[index : index + 1], "past"),
            plot.outline(edges, last[index : index + 1], "last"),
        ]
    return plot.draw(shapes, label=label, class_="histogram")


def _ends(bins: Sequence[BinView]) -> Markup | None:
    """Return the caption of a pair of distributions: its first and its last bin in words."""
    ordered = [one for one in bins if one.kind in ("range", "category")]
    if not ordered:
        return None
    ends = [ordered[0].label, ordered[-1].label] if len(ordered) > 1 else [ordered[0].label]
    others = [one.label for one in bins if one.kind not in ("range", "category")]
    written = [*ends, *others[-1:]]
    return tag("p", [tag("span", one) for one in written], class_="ends", aria_hidden="true")


def _bins_in_words(column: ColumnView) -> str:
    """Return how two distributions differ, for those who do not see them."""
    changed = sorted(column.bins, key=lambda one: -abs(one.last - one.past))[:3]
    summary = "; ".join(
        f"{one.label}: {words.percent(one.past)} before, {words.percent(one.last)} now" for one in changed
    )
    return f"Distributions of {column.name}, most changed: {summary}."


def _spark(
    name: str,
    now: float,
    values: Sequence[float | None],
    blocks: Sequence[tuple[int, int]],
    *,
    is_fraction: bool = True,
) -> Markup:
    """Return a small plot of a column over time."""
    most = float(np.nanmax(as_floats(values), initial=0.0))
    written, highest = (words.percent(now), words.percent(most)) if is_fraction else (f"{now:.2f}", f"{most:.2f}")
    label = f"{name.capitalize()} over time: {written} now, {highest} at most."
    drawn = _course(values, blocks, SPARK, label)
    return tag("div", tag("span", f"{name} ", tag("b", written), class_="spark-title"), drawn)


def _course(values: Sequence[float | None], blocks: Sequence[tuple[int, int]], height: int, label: str) -> Markup:
    """Return a figure over time, from zero on."""
    known = as_floats(values)
    most = float(np.nanmax(known, initial=0.0))
    plot = Plot(batch_scale([batch for block in blocks for batch in block]), Scale(0, max(most * 1.1, 0.02)), height)
    middle, ground = [(first + last) / 2 for first, last in blocks], np.where(np.isfinite(known), 0, np.nan)
    shapes = [plot.band(middle, ground, known, "spark"), plot.line(middle, known, "spark")]
    return plot.draw(shapes, label=label, class_="spark")


def _table(columns: Sequence[ColumnView], blocks: Sequence[tuple[int, int]]) -> Markup:
    """Return all columns, one a row; of the first ones with pictures."""
    far, weighty = max(one.distance for one in columns), max(one.importance for one in columns)
    rows: list[list[Child]] = []
    for index, one in enumerate(columns[:MOST]):
        is_drawn = index < MOST // 4
        missing, unseen = (
            _course(values, blocks, TINY, "") if is_drawn else None
            for values in (one.missing_by_block, one.unseen_by_block)
        )
        rows.append(
            [
                tag("span", words.shortened(one.name, 32), title=one.name if len(one.name) > 32 else None),
                bar(one.distance, max(far, 0.1), f"{one.distance:.2f}", "distance"),
                bar(one.importance, weighty, words.percent(one.importance), "importance"),
                tag("span", _distributions(one.bins, SMALL, "") if is_drawn else None, class_="thumb"),
                _change(one.missing, one.missing_before, missing),
                _change(one.unseen, one.unseen_before, unseen) if one.kind == "categories" else words.NOTHING,
                words.percent(one.outside) if one.kind not in ("categories", "undecided") else words.NOTHING,
            ]
        )
    head = ["column", "distance", "importance", "past and last", "missing", "unseen", "beyond the range"]
    table = scroll(table_of(head, rows, words=(0, 1, 2, 3, 4, 5), class_="columns"), "All columns")
    left_out = f" The first {MOST:,} are shown." if len(columns) > MOST else ""
    summary = tag("summary", f"All {words.count(len(columns), 'column')}.{left_out}")
    return tag("details", summary, table, open=len(columns) <= 40, class_="all-columns")


def _change(now: float, before: float | None, course: Markup | None) -> Markup:
    """Return a fraction, with that of the past where it differs, and below it a plot over time."""
    written, past = words.percent(now), words.percent(before)
    text = written if before is None or written == past else f"{written} (was {past})"
    return tag("span", tag("span", text, class_="figure-text"), course, class_="bar")
