"""Frame of every page: head, first line, style and script, footer."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from adforest.monitor.pages.markup import Child, Markup, join, tag

HERE = Path(__file__).parent
COLOURS = {"ok": "#1a7f4b", "warning": "#b26a00", "critical": "#c62828"}


def page(
    title: str,
    level: str,
    *body: Child,
    live: Mapping[str, str] | None = None,
    skip_to: str | None = None,
    is_alone: bool = False,
    root: str = "./",
) -> Markup:
    """Return a whole page.

    Parameters
    ----------
    title : str
    level : {"ok", "warning", "critical"}
        Determines the colour of the icon.
    *body : elements
    live : dict of str to str, optional
        The version that is shown, and the address of events.
    skip_to : str, optional
        Where the first link leads to.
    is_alone : bool, default=False
        Whether it is self-contained: with its style, and without a script.
    root : str, default="./"
        Leads from the page to the start page: links are relative, so that they hold behind any proxy.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href=_icon(level)),
        _own_style() if is_alone else _linked(root),
    )
    skip = tag("a", "Skip to the sections", class_="skip", href=f"#{skip_to}") if skip_to else None
    said = None if is_alone else tag("p", id="said", class_="unseen", role="status")
    foot = tag("footer", tag("p", f"adforest {version('adforest')}"))
    whole = tag("body", skip, tag("main", *body, **dict(live or {})), foot, said)
    return Markup(f"<!doctype html>\n{tag('html', head, whole, lang='en')}\n")


def first_line(*names: Child, tools: Child = None) -> Markup:
    """Return the first line: names, whether the page is live, and the switch between dark and light."""
    live = tag("span", "live", class_="live", id="live", data_state="waiting")
    switch = tag("button", "Dark", type="button", id="theme", aria_label="Dark or light")
    return tag("div", tag("p", *names), tag("p", live, tools, switch), class_="top")


def root_from(path: str) -> str:
    """Return the relative URL of the start page from a path.

    Examples
    --------
    >>> root_from("/"), root_from("/models/m.adf"), root_from("/models/m.adf/report.html")
    ('./', '../', '../../')
    """
    return "../" * (path.count("/") - 1) or "./"


@cache
def asset(name: str) -> str:
    """Return the style sheet or the script."""
    return (HERE / name).read_text(encoding="utf-8")


def _icon(level: str) -> str:
    """Return a dot in the colour of a level as an address."""
    dot = tag("circle", cx=8, cy=8, r=7, fill=COLOURS[level])
    return f"data:image/svg+xml,{quote(tag('svg', dot, xmlns='http://www.w3.org/2000/svg', viewBox='0 0 16 16'))}"


def _own_style() -> Markup:
    """Return the style sheet itself, and a policy by which nothing else is fetched or run."""
    style = asset("page.css")
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; img-src data:"
    return join([tag("meta", http_equiv="Content-Security-Policy", content=policy), tag("style", Markup(style))])


def _linked(root: str) -> Markup:
    """Return where the style sheet and the script are."""
    style, script = f"{root}static/page.css", f"{root}static/page.js"
    return join([tag("link", rel="stylesheet", href=style), tag("script", src=script)])
