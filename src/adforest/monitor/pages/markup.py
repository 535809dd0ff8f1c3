"""HTML and SVG elements as text; content and attributes are escaped unless they are elements."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Self

Child = object  # text, a number, an element, None, or an iterable of these
VOID = frozenset(("br", "hr", "img", "input", "link", "meta"))


class Markup(str):
    """Text that is HTML or SVG; `tag` escapes all other text."""

    __slots__ = ()

    def __add__(self, other: str) -> Self:
        return type(self)(str.__add__(self, other if isinstance(other, Markup) else escape(other)))


def tag(name: str, /, *children: Child, **attributes: object) -> Markup:
    """Return one element.

    Parameters
    ----------
    name : str
        Such as "div".
    *children : str, int, Markup, None, or iterables of them
        Text is escaped, None is left out.
    **attributes : object
        A trailing underscore is dropped (``class_``), others become hyphens. None and False leave an attribute out,
        True writes it without a value.

    Examples
    --------
    >>> tag("p", "a < b", tag("br"), class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b<br></p>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    opening = f"<{name}{written}>"
    return Markup(opening if name in VOID else f"{opening}{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Markup:
    """Return some elements and texts one after the other."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, str):
            parts.append(child if isinstance(child, Markup) else escape(child))
        elif isinstance(child, Iterable):
            parts.append(join(child))
        elif child is not None:
            parts.append(escape(str(child)))
    return Markup("".join(parts))


def _attribute(key: str, value: object) -> str:
    """Return an attribute with a space before it, or nothing."""
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'
