"""Figures as they are written on the page."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite

from adforest import wording

NOTHING = "–"
count, size = wording.counted, wording.size


def percent(value: float | None, digits: int = 1) -> str:
    """Return a fraction as a percentage.

    Examples
    --------
    >>> percent(0.8125), percent(None), percent(1.0), percent(0.0), percent(0.00012)
    ('81.2%', '–', '100%', '0%', '<0.1%')
    """
    if value is None or not isfinite(value):
        return NOTHING
    least = 10**-digits
    if 0 < value * 100 < least / 2:
        return f"<{least:g}%"
    written = f"{100 * value:.{digits}f}"
    return f"{float(written):g}%" if float(written) in (0, 100) else f"{written}%"


def moment(seconds: float | None) -> str:
    """Return a moment, in seconds since 1970, to the minute; UTC.

    Examples
    --------
    >>> moment(1.7e9), moment(None)
    ('2023-11-14 22:13', '–')
    """
    if seconds is None or not isfinite(seconds):
        return NOTHING
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


def moments(found: list[float], length: float) -> list[str]:
    """Return moments below a figure, as short as its length in seconds allows; a day is named where it begins.

    Examples
    --------
    >>> moments([1.7e9, 1.7e9 + 3600], 3600), moments([1.7e9, float("nan")], 1e7)
    (['2023-11-14 22:13', '23:13'], ['2023-11-14', ''])
    """
    written, day = [], ""
    for one in found:
        date, _, clock = moment(one).partition(" ")
        if not clock:
            written.append("")
        elif length >= 3 * 86_400:
            written.append(date)
        else:
            written.append(clock if date == day else f"{date} {clock}")
            day = date
    return written


def metric_name(name: str) -> str:
    """Return how a metric of a report is called.

    Examples
    --------
    >>> metric_name("roc_auc"), metric_name("log_loss"), metric_name("brier_score")
    ('ROC AUC', 'log loss', 'Brier score')
    """
    return name.replace("roc_auc", "ROC AUC").replace("brier", "Brier").replace("_", " ")


def metric(name: str, value: float | None) -> str:
    """Return a metric of a report: log loss and Brier score are numbers, the others are fractions.

    Examples
    --------
    >>> metric("log_loss", 0.31234), metric("roc_auc", 0.875), metric("roc_auc", None)
    ('0.312', '87.5%', '–')
    """
    if name not in ("log_loss", "brier_score"):
        return percent(value)
    return NOTHING if value is None or not isfinite(value) else f"{value:.3f}"


def span(low: float | None, high: float | None) -> str:
    """Return an interval of fractions.

    Examples
    --------
    >>> span(0.7949, 0.83), span(None, None)
    ('79.5 to 83.0%', '–')
    """
    if low is None or high is None or not isfinite(low + high):
        return NOTHING
    return f"{100 * low:.1f} to {100 * high:.1f}%"


def points(value: float | None) -> str:
    """Return a difference of fractions.

    Examples
    --------
    >>> points(0.0125), points(0.01)
    ('1.2 points', '1.0 points')
    """
    return NOTHING if value is None else f"{100 * value:.1f} points"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with some significant digits, whole ones in full.

    Examples
    --------
    >>> number(1234567), number(0.012345), number(12.0), number(0.0)
    ('1,234,567', '0.0123', '12', '0')
    """
    if value is None or not isfinite(value):
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) or value == int(value) else f"{value:.{digits}g}"


def duration(seconds: float | None) -> str:
    """Return how long something took.

    Examples
    --------
    >>> duration(0.0123), duration(3.21), duration(250), duration(9000)
    ('12 ms', '3.2 s', '4.2 min', '2.5 h')
    """
    if seconds is None or not isfinite(seconds):
        return NOTHING
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    for limit, unit in ((60, "s"), (3600, "min")):
        if seconds < limit:
            return f"{seconds * 60 / limit:.1f} {unit}"
    return f"{seconds / 3600:.1f} h"


def batches(first: int, last: int) -> str:
    """Return which batches.

    Examples
    --------
    >>> batches(3, 3), batches(1, 1500)
    ('3', '1 to 1,500')
    """
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def shortened(text: str, longest: int) -> str:
    """Return a text that is no longer than some characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
