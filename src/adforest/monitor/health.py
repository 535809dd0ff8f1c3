"""Health of a model: ok, warning or critical, and the reason. docs/health.md has the rules as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, pairwise
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from adforest.adaptation import BatchReport
from adforest.monitor.column_drift import ColumnView
from adforest.monitor.expectation import Step

if TYPE_CHECKING:
    from adforest.monitor.model_view import ClassView

OK, WARNING, CRITICAL = LEVELS = ("ok", "warning", "critical")
LAST = 3  # steps of at least 100 tested samples that are compared with those before
FADING = 0.5 ** (1 / 32)  # of the past, a step
NOISE = 3.0  # standard errors that a change must exceed
WARNING_FALL, CRITICAL_FALL = 0.05, 0.10  # of accuracy
DRIFT_BATCHES = 5  # for which a sustained drift is reported
WARNING_DISTANCE = 0.1  # of a column that matters; unchanged ones have 0
UNUSUAL = 2.0  # times the usual distance of the column
WARNING_INCREASE, CRITICAL_INCREASE = 0.05, 0.20  # by which missing values or unseen categories increase
AGE = "age"
DAY = 86_400.0
PAUSES = 32  # between the last batches, of which the longest is usual
SHORTEST_PAUSE, FEWEST_PAUSES = 60.0, 3  # seconds: batches learnt in one go tell nothing of how often they come
USUAL_PAUSE = 10 * DAY  # where nothing is known
WARNING_PAUSE, CRITICAL_PAUSE = 3.0, 30.0  # times the usual
MAX_NAMED = 3  # columns or classes that are named in findings of one kind


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a model.

    Attributes
    ----------
    level : {"warning", "critical"}
    kind : {"accuracy", "chance", "drift", "class", "column", "missing", "unseen", "age"}
        Kind of the problem, see docs/health.md for the rule of each.
    sentence : str
    batch : int or None
        The last batch that shows it.
    column : str or None
        Name of the column concerned.
    """

    level: str
    kind: str
    sentence: str
    batch: int | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Health of a model.

    Attributes
    ----------
    level : {"ok", "warning", "critical"}
        The worst level of all findings.
    reason : str
        One sentence: that of the first finding, or the checks made if there is none.
    findings : tuple of Finding
        Worst first.
    """

    level: str
    reason: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Freshness:
    """When a model last learnt, and how long it may be without a batch.

    Attributes
    ----------
    learnt_at : float or None
        Seconds since 1970; None where that was not stored.
    warning_after, critical_after : float
        Seconds without a batch after which that is a finding.
    """

    learnt_at: float | None
    warning_after: float
    critical_after: float


class Trend(NamedTuple):
    """Accuracy of the vote on the last steps and on those before.

    Attributes
    ----------
    last, past : float
    error : float
        Standard error of last - past: chance of samples, and how much steps of the past differ beyond it.
    last_error : float
        Standard error of last by its samples.
    first_batch, last_batch : int
        Of the last steps.
    """

    last: float
    past: float
    error: float
    last_error: float
    first_batch: int
    last_batch: int

    @property
    def fall(self) -> float:
        """By how much accuracy fell, 0 where that may be chance."""
        fall = self.past - self.last
        return fall if fall > NOISE * self.error else 0.0


def health_of(
    reports: Sequence[BatchReport],
    steps: Sequence[Step],
    columns: Sequence[ColumnView],
    classes: Sequence[ClassView],
) -> Health:
    """Return the health of a model, regardless of when it last learnt; see `health_at`.

    Parameters
    ----------
    reports : sequence of BatchReport
        Those that are kept in full.
    steps : sequence of Step
        Their metrics of the vote.
    columns, classes
        As they are shown.
    """
    trend = trend_of(steps)
    found = [
        *_accuracy_findings(trend),
        *_chance_findings(trend, classes),
        *_drift_findings(reports, trend),
        *_class_findings(classes),
        *_column_findings(columns),
        *_fraction_findings(columns, "missing", "is missing"),
        *_fraction_findings(columns, "unseen", "is of categories never seen before"),
    ]
    return _judged(found, _calm(trend, len(reports)))


def freshness_of(reports: Sequence[BatchReport]) -> Freshness:
    """Return when a model last learnt, and how long a pause may be: by its longest of late, if there were any."""
    moments = [report.learnt_at for report in reports if report.learnt_at is not None][-PAUSES - 1 :]
    pauses = [later - before for before, later in pairwise(moments) if later - before > SHORTEST_PAUSE]
    usual = max(pauses) if len(pauses) >= FEWEST_PAUSES else USUAL_PAUSE
    is_known = bool(reports) and reports[-1].learnt_at is not None
    return Freshness(moments[-1] if is_known else None, WARNING_PAUSE * usual, CRITICAL_PAUSE * usual)


def health_at(health: Health, freshness: Freshness, now: float) -> Health:
    """Return the health of a model at a time in seconds since 1970, which includes the time since the last batch."""
    others = [one for one in health.findings if one.kind != AGE]
    calm = health.reason if health.level == OK else "No other problem found."
    if freshness.learnt_at is None:
        return _judged(others, calm)
    age = now - freshness.learnt_at
    level = CRITICAL if age > freshness.critical_after else WARNING if age > freshness.warning_after else OK
    if level == OK:
        return _judged(others, calm)
    since = datetime.fromtimestamp(freshness.learnt_at, UTC)
    sentence = f"It has learnt nothing for {_in_words(age)}, since {since:%Y-%m-%d %H:%M} UTC."
    return _judged([Finding(level, AGE, sentence), *others], calm)


def _in_words(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    return f"{seconds / DAY:.0f} days" if seconds >= 2 * DAY else f"{seconds / 3600:.0f} hours"


def _judged(found: Sequence[Finding], calm: str) -> Health:
    """Return the health by some findings, with another reason if there are none."""
    findings = tuple(sorted(found, key=lambda one: -LEVELS.index(one.level)))
    if findings:
        return Health(findings[0].level, findings[0].sentence, findings)
    return Health(OK, calm)


def trend_of(steps: Sequence[Step]) -> Trend | None:
    """Return how accuracy has changed, or None as long as there is too little to compare."""
    last, past = steps[-LAST:], steps[:-LAST]
    if len(past) < LAST:
        return None
    n_last = sum(step.n for step in last)
    accuracy = sum(step.accuracy * step.n for step in last) / n_last
    weights = [FADING**age * step.n for age, step in enumerate(reversed(past))][::-1]
    total = sum(weights)
    before = sum(weight * step.accuracy for weight, step in zip(weights, past, strict=True)) / total
    chance = before * (1 - before)
    fractions = [weight / total for weight in weights]
    beyond_chance = [(step.accuracy - before) ** 2 - chance / step.n for step in past]
    between = max(sum(fraction * one for fraction, one in zip(fractions, beyond_chance, strict=True)), 0.0)
    n_past = 1 / sum(fraction**2 / step.n for fraction, step in zip(fractions, past, strict=True))
    k_past = 1 / sum(fraction**2 for fraction in fractions)
    error = sqrt(between * (1 / len(last) + 1 / k_past) + max(chance, 0.01) * (1 / n_last + 1 / n_past))
    last_error = sqrt(max(accuracy * (1 - accuracy), 0.01) / n_last)
    return Trend(accuracy, before, error, last_error, last[0].first, last[-1].last)


def _accuracy_findings(trend: Trend | None) -> list[Finding]:
    """Return that accuracy fell."""
    if trend is None or trend.fall < WARNING_FALL:
        return []
    sentence = (
        f"Accuracy on new batches fell from {trend.past:.2f} to {trend.last:.2f} "
        f"(batches {trend.first_batch} to {trend.last_batch})."
    )
    return [Finding(CRITICAL if trend.fall >= CRITICAL_FALL else WARNING, "accuracy", sentence, trend.last_batch)]


def _chance_findings(trend: Trend | None, classes: Sequence[ClassView]) -> list[Finding]:
    """Return that predicting always the most frequent class would be as accurate."""
    total = sum(one.n_samples for one in classes)
    if trend is None or not total:
        return []
    most = max(classes, key=lambda one: one.n_samples)
    frequency = most.n_samples / total
    lead = trend.last - frequency
    if lead > NOISE * trend.last_error:
        return []
    worse = lead < -NOISE * trend.last_error
    sentence = (
        f"Accuracy on new batches is {trend.last:.2f}, {'worse than' if worse else 'no better than'} always "
        f"predicting the most frequent class, {most.value} ({frequency:.2f} of all samples)."
    )
    return [Finding(CRITICAL if lead < -max(CRITICAL_FALL, NOISE * trend.last_error) else WARNING, "chance", sentence)]


def _drift_findings(reports: Sequence[BatchReport], trend: Trend | None) -> list[Finding]:
    """Return the drift reported in the last batches that were learnt."""
    learnt = [report for report in reports if set(report.action.values()) != {"waiting"}][-DRIFT_BATCHES:]
    lasting = [report.batch for report in learnt if report.drift == "sustained"]
    if lasting:
        costs = trend is not None and trend.fall >= WARNING_FALL
        effect = "accuracy has not recovered" if costs else "the model has adapted to it"
        sentence = f"Sustained drift in batch {lasting[-1]}: the rules have changed, and {effect}."
        return [Finding(CRITICAL if costs else WARNING, "drift", sentence, lasting[-1])]
    if learnt and learnt[-1].drift == "temporary":
        sentence = f"Temporary drift: batch {learnt[-1].batch} follows other rules than those before."
        return [Finding(WARNING, "drift", sentence, learnt[-1].batch)]
    return []


def _class_findings(classes: Sequence[ClassView]) -> list[Finding]:
    """Return which classes are new or have returned for the first time; there are streams in which they often do."""
    found = []
    for status, said in (("new", "was never seen before"), ("returned", "has returned after it was gone")):
        named = [one for one in classes if one.status == status and one.n_returns <= 1]
        if named:
            listed = ", ".join(one.value for one in named[:MAX_NAMED])
            more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
            subject = f"Class {listed} {said}" if len(named) == 1 else f"Classes {listed}{more}: each {said}"
            found.append(Finding(WARNING, "class", f"{subject}.", max(one.last_batch or 0 for one in named)))
    return found


def _column_findings(columns: Sequence[ColumnView]) -> list[Finding]:
    """Return which columns have changed and are important."""
    moved = (
        one
        for one in columns
        if one.distance >= max(WARNING_DISTANCE, UNUSUAL * one.usual_distance) and _matters(one, columns)
    )
    return [
        Finding(
            WARNING,
            "column",
            f"The distribution of column {one.name} has changed (distance {one.distance:.2f}, usually "
            f"{one.usual_distance:.2f}), and predictions depend on it (importance {one.importance:.2f}).",
            column=one.name,
        )
        for one in islice(moved, MAX_NAMED)
    ]


def _fraction_findings(columns: Sequence[ColumnView], kind: str, said: str) -> list[Finding]:
    """Return where missing values or unseen categories have become more."""
    found = []
    for one in columns:
        fraction, before = getattr(one, kind), getattr(one, f"{kind}_before")
        if before is not None and fraction - before >= WARNING_INCREASE:
            level = CRITICAL if fraction - before >= CRITICAL_INCREASE and _matters(one, columns) else WARNING
            sentence = f"Column {one.name}: {fraction:.0%} {said}, before it was {before:.0%}."
            found.append((fraction - before, Finding(level, kind, sentence, column=one.name)))
    return [finding for _, finding in sorted(found, key=lambda pair: -pair[0])[:MAX_NAMED]]


def _matters(column: ColumnView, columns: Sequence[ColumnView]) -> bool:
    """Return whether a column has at least an even fraction of the importance of all."""
    return column.importance >= 1 / len(columns)


def _calm(trend: Trend | None, n_reports: int) -> str:
    """Return the reason for a model without findings."""
    if trend is None:
        batches = "1 batch" if n_reports == 1 else f"{n_reports} batches"
        return f"No problem found yet; {batches} are too few to compare accuracy with the past."
    return (
        f"Accuracy on new batches is {trend.last:.2f}, before it was {trend.past:.2f}; no drift, no new class, and no "
        "important column has changed more than usual."
    )
