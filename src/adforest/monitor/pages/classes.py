"""Classes: when each was present, and the samples of it in memory."""

from __future__ import annotations

from collections.abc import Iterable

from adforest.monitor.model_view import ClassView, EventView, ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import bar, part, scroll, table_of
from adforest.monitor.pages.markup import Child, Markup, join, tag
from adforest.monitor.pages.plots import Plot, Scale

MOST = 100  # rows
STRIP = 14  # pixels
STATUS = {
    "present": "present",
    "new": "new",
    "gone": "gone",
    "returned": "returned",
    "declared": "not seen yet",
}
ORDER = ("new", "returned", "gone", "present", "declared")


def classes_part(view: ModelView) -> Markup:
    """Return a row per class: when it was present, its status, and the samples in memory."""
    ordered = sorted(view.classes, key=lambda one: (ORDER.index(one.status), -one.n_samples))
    shown, rest = ordered[:MOST], ordered[MOST:]
    events = _by_class(view.events)
    most_kept = max((one.n_in_memory for one in view.classes), default=0)
    rows = [_row(one, events.get(one.value, []), view, most_kept) for one in shown]
    head = ["class", "now", f"batches 1 to {view.n_batches:,}", "first seen", "last seen", "samples seen", "in memory"]
    table = table_of(head, rows, words=(0, 1, 2, 6), class_="classes")
    left_out = f"{words.count(len(rest), 'more class', 'more classes')}, less frequent, not listed."
    more = tag("p", left_out, class_="note") if rest else None
    return part("classes", "Classes", scroll(table, "Classes"), more, lead=_lead(view))


def _lead(view: ModelView) -> str:
    """Return the numbers of classes by status and of samples in memory."""
    by_status = {status: [one.value for one in view.classes if one.status == status] for status in STATUS}
    parts = [words.count(view.n_classes, "class", "classes") + " known"]
    for status in ("new", "returned", "gone", "declared"):
        names = by_status[status]
        if names:
            listed = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
            parts.append(f"{STATUS[status]}: {listed}")
    memory = view.memory
    if not memory.is_complete:
        kept = "The file holds no samples: the model can predict, but not learn."
    else:
        limit = "all of them" if memory.limit is None else f"up to {memory.limit:,} besides those of the last batches"
        kept = f"Memory keeps {words.count(memory.n_samples, 'sample')} ({words.size(memory.bytes)}), {limit}."
    return "; ".join(parts) + ". " + kept


def _by_class(events: Iterable[EventView]) -> dict[str, list[EventView]]:
    """Return the events of each class, oldest first."""
    found: dict[str, list[EventView]] = {}
    for event in events:
        if event.klass is not None:
            found.setdefault(event.klass, []).append(event)
    return found


def _row(one: ClassView, events: list[EventView], view: ModelView, most_kept: int) -> list[Child]:
    """Return the cells of a class."""
    status = tag("span", STATUS[one.status], class_=f"chip {one.status}")
    returns = f", returned {words.count(one.n_returns, 'time')}" if one.n_returns else ""
    kept = bar(one.n_in_memory, most_kept, f"{one.n_in_memory:,} · {words.size(one.bytes_in_memory)}")
    return [
        tag("span", words.shortened(one.value, 40), title=one.value if len(one.value) > 40 else None),
        status,
        _strip(one, events, view.n_batches) + (tag("span", returns, class_="unseen") if returns else Markup()),
        words.number(one.first_batch),
        words.number(one.last_batch),
        f"{one.n_samples:,}",
        kept if view.memory.is_complete else words.NOTHING,
    ]


def _strip(one: ClassView, events: list[EventView], n_batches: int) -> Markup:
    """Return the batches in which a class was present, as bars."""
    plot = Plot(Scale(0.5, max(n_batches, 1) + 0.5), Scale(0, 1), STRIP)
    shapes = []
    for first, last in _stays(one, events):
        shapes.append(plot.steps([first - 0.5, last + 0.5], [0.2], [0.8], f"stay {one.status}"))
    return plot.draw([plot.line([0.5, n_batches + 0.5], [0.5, 0.5], "grid"), join(shapes)], label="", class_="stays")


def _stays(one: ClassView, events: list[EventView]) -> list[tuple[int, int]]:
    """Return the runs of batches in which a class was present.

    Returns before the first stored event are not known: the class counts as present from its first batch.
    """
    if one.first_batch is None or one.last_batch is None:
        return []
    found, start = [], one.first_batch
    for event in events:
        if event.kind == "class gone" and event.batch >= start:
            found.append((start, event.batch))
        elif event.kind == "class returned":
            start = event.batch
    if not found or start > found[-1][1]:
        found.append((start, one.last_batch))
    return found
