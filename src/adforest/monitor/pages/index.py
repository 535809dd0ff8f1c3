"""The page of a folder of models, and error pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from adforest.adaptation.scoring import VOTE
from adforest.monitor.health import CRITICAL, LEVELS, OK, Freshness, Health, health_at
from adforest.monitor.metrics import Figures, figures_of
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import marked
from adforest.monitor.pages.frame import first_line, page
from adforest.monitor.pages.markup import Markup, join, tag
from adforest.monitor.pages.overview import NAMES, level_mark
from adforest.monitor.pages.plots import Plot, Scale
from adforest.monitor.pages.thinning import Course, thin

MAX_POSITIONS = 60  # of the small figure


@dataclass(frozen=True)
class ModelSummary:
    """Summary of a model in a list.

    Attributes
    ----------
    health : Health
    freshness : Freshness
    course : Course
    figures : dict of str to float or None
        Those of /metrics.
    """

    health: Health
    freshness: Freshness
    course: Course
    figures: Figures

    @classmethod
    def of(cls, view: ModelView) -> ModelSummary:
        """Return the summary of a model."""
        return cls(view.health, view.freshness, thin(view.timeline, most=MAX_POSITIONS), figures_of(view))

    def at(self, now: float) -> ModelSummary:
        """Return it with the health at a time in seconds since 1970."""
        health = health_at(self.health, self.freshness, now)
        return replace(self, health=health, figures={**self.figures, "health": LEVELS.index(health.level)})


def index_page(title: str, models: Sequence[tuple[str, ModelSummary | str | None]], *, version: str) -> Markup:
    """Return the page of a folder, models with problems first.

    Parameters
    ----------
    title : str
        Of the folder.
    models : list of (name, ModelSummary, str or None)
        A text is the reason why a file could not be read; None if it is not read yet.
    version : str
        Of all files together.
    """
    order = LEVELS[::-1]
    known = sorted(
        ((name, one) for name, one in models if isinstance(one, ModelSummary)),
        key=lambda pair: (order.index(pair[1].health.level), pair[0]),
    )
    damaged = [(name, one) for name, one in models if isinstance(one, str)]
    counts = [(level, sum(one.health.level == level for _, one in known)) for level in order]
    parts = [f"{n} {level}" for level, n in counts if n] + ([f"{len(damaged)} unreadable"] if damaged else [])
    unread = [name for name, one in models if one is None]
    parts += [f"{len(unread)} being read"] if unread else []
    worst = CRITICAL if damaged else known[0][1].health.level if known else OK
    verdict = f"{words.count(len(models), 'model')}: {', '.join(parts)}." if models else "There are no models yet."
    rows = [_damaged(name, why) for name, why in damaged] + [_row(name, one) for name, one in known]
    rows += [_unread(name) for name in unread]
    head = tag("h1", level_mark(worst) if known or damaged else None, " ", verdict)
    content = [head, tag("ul", rows, class_="models")]
    body = marked("div", "models", join(content), class_=f"overview {worst}")
    live = {"data_version": version, "data_events": "events"}
    return page(f"{NAMES[worst]} · {title}", worst, first_line(tag("b", title)), body, live=live)


def error_page(sentence: str, root: str) -> Markup:
    """Return an error page; root is the relative address of the start page."""
    content = [tag("h1", sentence), tag("p", tag("a", "Start page", href=root), class_="findings")]
    return page(sentence, CRITICAL, tag("div", content, class_=f"overview {CRITICAL} alone"), root=root)


def address_of(root: str, name: str) -> str:
    """Return the address of a model's page from where root leads to the start page."""
    return f"{root}models/{quote(name, safe='')}"


def _row(name: str, one: ModelSummary) -> Markup:
    """Return one model: its name, its health and why, its main figures, its accuracy over time."""
    figures = [("Accuracy", words.percent(one.figures["accuracy"]))]
    for title, metric in (("Batches", "batches_total"), ("Samples", "records_total"), ("Classes", "classes")):
        figures.append((title, f"{one.figures[metric]:,}"))
    listed = tag("dl", [tag("div", tag("dt", title), tag("dd", value)) for title, value in figures])
    why = tag("p", level_mark(one.health.level), " ", one.health.reason)
    said = tag("div", tag("h2", tag("a", name, href=address_of("./", name))), why)
    return tag("li", said, tag("div", _spark(one.course), class_="course"), listed, class_=one.health.level)


def _damaged(name: str, why: str) -> Markup:
    """Return a file that could not be read."""
    return tag("li", tag("div", tag("h2", name), tag("p", why)), class_="unreadable")


def _unread(name: str) -> Markup:
    """Return a file that is still to be read."""
    return tag("li", tag("div", tag("h2", tag("a", name, href=address_of("./", name))), tag("p", "Being read.")))


def _spark(course: Course) -> Markup | None:
    """Return a small plot of the vote's accuracy over time."""
    if VOTE not in course.accuracy:
        return None
    mean = course.accuracy[VOTE][0]
    plot = Plot(course.scale, Scale.around(mean, least=0.2), 34)
    return plot.draw([plot.line(course.middle, mean, VOTE)], label="", class_="spark")
