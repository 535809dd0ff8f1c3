"""Building blocks of all sections: parts of the page, figures with their tables, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from adforest.monitor.pages.markup import Child, Markup, join, tag
from adforest.monitor.pages.plots import Plot, percent
from adforest.monitor.pages.thinning import Course


def part(name: str, title: str, *content: Child, lead: Child = None) -> Markup:
    """Return a section of the page with a digest of its content, so that only changed sections are replaced."""
    head = [tag("h2", title, id=f"{name}-title"), tag("p", lead, class_="lead") if lead else None]
    return marked("section", name, join([*head, *content]), class_="part", aria_labelledby=f"{name}-title")


def marked(element: str, name: str, content: Markup, **attributes: object) -> Markup:
    """Return an element of the page with a name and a digest of its content."""
    mark = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return tag(element, content, id=name, data_part=name, data_mark=mark, **attributes)


def figure(
    name: str,
    title: str,
    *plots: Markup,
    note: Child = None,
    key: Sequence[tuple[str, Child]] = (),
    table: Markup | None = None,
    class_: str = "",
) -> Markup:
    """Return plots with a title, a key and a table that can be opened.

    Parameters
    ----------
    name : str
        Of the element.
    title : str
    *plots : Markup
    note : text, optional
        A sentence about the figure.
    key : list of (class, text)
        Legend of the colours.
    table : Markup, optional
        The same as a table. With `positions` (see `table_of`), the reader can step through its rows.
    class_ : str
    """
    head = [tag("h3", title), tag("p", note, class_="note") if note else None, key_of(key) if key else None]
    drawn = tag("div", *plots, class_="plots")
    folded = None if table is None else fold(scroll(table, title), title)
    return tag("figure", tag("figcaption", head), drawn, folded, id=name, class_=f"figure {class_}".rstrip())


def over_time(
    name: str,
    title: str,
    course: Course,
    plot: Plot,
    shapes: Iterable[Markup],
    *,
    columns: Mapping[str, Iterable[Child]],
    label: str,
    y_ticks: Sequence[tuple[float, str]],
    above: Iterable[Markup] = (),
    below: Markup | None = None,
    note: Child = None,
    key: Sequence[tuple[str, Child]] = (),
    is_wide: bool = True,
    **table: Any,
) -> Markup:
    """Return a plot over batches with its table; see `figure`, `Plot.draw` and `table_of`.

    Parameters
    ----------
    columns : dict of str to cells
        The columns of the table besides the batches.
    below : Markup, optional
        A second plot.
    """
    drawn = plot.draw(shapes, label=label, above=above, x_ticks=course.ticks(8 if is_wide else 4), y_ticks=y_ticks)
    rows = zip(course.batches, *columns.values(), strict=True)
    return figure(
        *(name, title, drawn, below or Markup()),
        note=note,
        key=key,
        table=table_of(["batch", *columns], rows, positions=course.positions, **table),
        class_="wide steps" if is_wide else "steps",
    )


def fold(table: Markup, title: str) -> Markup:
    """Return a table that can be opened; its title is for screen readers."""
    return tag("details", tag("summary", "Table", tag("span", f": {title}", class_="unseen")), table)


def key_of(entries: Sequence[tuple[str, Child]]) -> Markup:
    """Return the legend of colours: a class of the style sheet and words for each."""
    return tag("ul", [_key_entry(kind, words) for kind, words in entries], class_="key")


def _key_entry(kind: str, words: Child) -> Markup:
    """Return an entry of the legend; pointing at that of a line shows its band if it has one."""
    is_line = kind.startswith("line ")
    return tag("li", swatch(kind), words, class_=kind if is_line else None, tabindex=0 if is_line else None)


def swatch(kind: str) -> Markup:
    """Return a patch of a colour, explained by the words beside it."""
    return tag("span", class_=f"swatch {kind}", aria_hidden="true")


def scroll(content: Markup, label: str) -> Markup:
    """Return content that may be wider than a phone in a frame that scrolls, also by keyboard."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=label)


def table_of(
    head: Sequence[str],
    rows: Iterable[Sequence[Child]],
    *,
    positions: Sequence[float] | None = None,
    n_quiet: int = 0,
    words: Iterable[int] = (0,),
    caption: str = "",
    class_: str = "",
) -> Markup:
    """Return a table; the first cell of a row is its head.

    Parameters
    ----------
    head : list of str
    rows : iterable of cells
    positions : list of float, optional
        Where each row is drawn, as a fraction of the width of its figure.
    n_quiet : int, default=0
        How many of the last columns are left out when the reader steps through the figure.
    words : iterable of int
        Columns of text; others are numbers, on the right.
    caption : str
        For screen readers.
    class_ : str
    """
    texts = set(words)
    kinds = [None if index in texts else "num" for index in range(len(head))]
    top = [
        tag("th", title, scope="col", class_=kind, data_quiet=index >= len(head) - n_quiet)
        for index, (title, kind) in enumerate(zip(head, kinds, strict=True))
    ]
    body = []
    for number, cells in enumerate(rows):
        written = [
            tag("td" if index else "th", cell, scope=None if index else "row", class_=kind)
            for index, (cell, kind) in enumerate(zip(cells, kinds, strict=True))
        ]
        body.append(tag("tr", written, data_x=None if positions is None else percent(positions[number]).rstrip("%")))
    return tag(
        "table",
        tag("caption", caption, class_="unseen") if caption else None,
        tag("thead", tag("tr", top)),
        tag("tbody", body),
        class_=class_ or None,
    )


def bar(value: float, most: float, words: str, class_: str = "") -> Markup:
    """Return a number with a bar behind it, as long as its fraction of the largest."""
    length = percent(0.0 if most <= 0 else min(1.0, max(0.0, value / most)))
    drawn = tag("svg", tag("rect", width=length, height=6, rx=1), width="100%", height=6, aria_hidden="true")
    return tag("span", tag("span", words, class_="figure-text"), drawn, class_=f"bar {class_}".rstrip())
