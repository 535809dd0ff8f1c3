"""The first lines: the health of the model and why, and the main figures."""

from __future__ import annotations

from datetime import UTC, datetime

from adforest.adaptation.report import METRICS
from adforest.adaptation.scoring import VOTE
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import marked
from adforest.monitor.pages.markup import Markup, join, tag

NAMES = {"ok": "OK", "warning": "Warning", "critical": "Critical"}


def overview(view: ModelView, changed: float | None = None) -> Markup:
    """Return the health of a model, why, and its main figures.

    Parameters
    ----------
    view : ModelView
    changed : float or None
        When its file was written, in seconds since 1970; shown where the model has no time of its last batch.
    """
    health = view.health
    verdict = tag("h1", level_mark(health.level), " ", tag("span", health.reason, class_="reason"))
    others = health.findings[1:]  # the first one is the reason
    findings = tag("ul", [tag("li", level_mark(one.level), " ", one.sentence) for one in others], class_="findings")
    tiles = [
        tag("div", tag("dt", name), tag("dd", tag("b", value), tag("small", more) if more else None))
        for name, value, more in _figures(view, changed)
    ]
    parts = [verdict, findings if others else None, tag("dl", tiles, class_="tiles")]
    return marked("header", "overview", join(parts), class_=f"overview {health.level}")


def level_mark(level: str) -> Markup:
    """Return a level in a word, with its colour."""
    return tag("span", NAMES[level], class_=f"level {level}")


def _figures(view: ModelView, changed: float | None) -> list[tuple[str, str | Markup, str]]:
    """Return name, value and a few words for each main figure."""
    found = [_accuracy(view), *_metrics(view), _expected(view), _drift(view), _answering(view), _classes(view)]
    kept = f"{view.memory.n_samples:,} kept" if view.memory.is_complete else "none kept"
    found.append(("Samples", f"{view.n_samples:,}", kept))
    when: str | Markup = f"the last took {words.duration(view.timeline.seconds[-1])}"
    learnt_at = view.freshness.learnt_at
    if learnt_at is not None or changed is not None:
        at = changed if learnt_at is None else learnt_at
        moment = datetime.fromtimestamp(at or 0.0, UTC)
        when = join(
            [when, ", ", tag("time", f"{moment:%Y-%m-%d %H:%M} UTC", datetime=moment.isoformat(timespec="seconds"))]
        )
    found.append(("Batches", f"{view.n_batches:,}", when))
    return found


def _accuracy(view: ModelView) -> tuple[str, str, str]:
    """Return the accuracy of the vote on the last batch that was answered."""
    one = view.timeline.accuracy.get(VOTE)
    known = [index for index, mean in enumerate(one.mean) if mean is not None] if one else []
    if one is None or not known:
        return "Accuracy", words.NOTHING, "from the second batch on"
    index = known[-1]
    return (
        "Accuracy",
        words.percent(one.mean[index]),
        f"{words.span(one.low[index], one.high[index])}, batch {view.timeline.last[index]:,}",
    )


def _metrics(view: ModelView) -> list[tuple[str, str, str]]:
    """Return balanced accuracy on the last batch that was predicted, and the other metrics."""
    known = [report for report in view.batches if report.balanced_accuracy is not None]
    if not known:
        return []
    others = [(name, getattr(known[-1], name)) for name in METRICS[1:]]
    more = [f"{words.metric_name(name)} {words.metric(name, value)}" for name, value in others if value is not None]
    return [("Balanced accuracy", words.percent(known[-1].balanced_accuracy), ", ".join(more))]


def _expected(view: ModelView) -> tuple[str, str, str]:
    """Return the expected accuracy on the next batch."""
    one = view.expected
    if one.mean is None:
        return "Expected next", words.NOTHING, ""
    off = f"recent error {words.points(one.error)}"
    return "Expected next", words.percent(one.mean), f"{words.span(one.low, one.high)}, {off}"


def _drift(view: ModelView) -> tuple[str, str, str]:
    """Return whether the last batch drifts, and when one last did."""
    drifts = [event for event in view.events if event.kind.startswith("drift")]
    now = "sustained" if view.timeline.n_sustained[-1] else "temporary" if view.timeline.n_temporary[-1] else "none"
    if not drifts:
        return "Drift", now, "in no batch"
    kind = drifts[-1].kind.removeprefix("drift ")
    return "Drift", now, f"last {kind} in batch {drifts[-1].batch:,}"


def _answering(view: ModelView) -> tuple[str, str, str]:
    """Return the weights of the forests in the vote."""
    one = next(forest for forest in view.forests if forest.answers)
    rest = sorted((forest for forest in view.forests if forest is not one), key=lambda forest: -forest.vote)
    others = [f"{forest.name} {words.percent(forest.vote, 0)}" for forest in rest if forest.vote >= 0.005]
    return (
        "Most weight",
        one.name,
        f"{words.percent(one.vote, 0)} of the vote" + (f", {', '.join(others)}" if others else ""),
    )


def _classes(view: ModelView) -> tuple[str, str, str]:
    """Return how many classes there are, how many are new and how many are gone."""
    parts = []
    for status in ("new", "returned", "gone"):
        n = sum(one.status == status for one in view.classes)
        parts += [f"{n} {status}"] if n else []
    return "Classes", f"{view.n_classes:,}", ", ".join(parts) or "none new or gone"
