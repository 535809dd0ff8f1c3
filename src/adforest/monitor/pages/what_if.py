"""What if: the prediction for a sample that is typed in, and its explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from adforest.adaptation.memory import Memory
from adforest.base import get_fitted
from adforest.encoding import TableEncoder
from adforest.encoding.columns import DATES, DURATIONS, NUMBERS, ZONED_DATES, Column, Moments, object_column
from adforest.encoding.rebuilding import write_column, write_value
from adforest.encoding.tables import Table, source_of
from adforest.exceptions import InputError
from adforest.explaining import Explanation
from adforest.explaining.explanation import Summary
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import bar, figure, part, table_of
from adforest.monitor.pages.markup import Markup, join, tag
from adforest.monitor.pages.plots import Plot, Scale

SHOWN = 12  # columns with a field at once; others are folded
MOST = 500  # columns with a field; others are as in the sample shown first
CHOICES = 200  # categories that are suggested
BARS = 10  # columns with a bar of their own
CLASSES = 6  # whose probability is listed
ROW = 26  # pixels
MOMENTS = (DATES, ZONED_DATES)


def what_if_part(model: Any, view: ModelView, given: Mapping[str, str] | None) -> Markup:
    """Return fields for a sample, and the model's prediction.

    Parameters
    ----------
    model : BaseADFClassifier
    view : ModelView
    given : dict of str to str or None
        By field ``c0``, ``c1`` and so on: its input. None for the last sample in memory.
    """
    learnt = get_fitted(model)
    encoder: TableEncoder = learnt.encoder
    values = last_sample(encoder, learnt.state.memory)
    if given is not None:
        values = [given.get(f"c{column}", value).strip() for column, value in enumerate(values)]
    by_importance = [column.position for column in sorted(view.columns, key=lambda one: -one.importance)]
    shown, rest = sorted(by_importance[:SHOWN]), sorted(by_importance[SHOWN:MOST])
    folded = None
    if rest:
        fields = [_field(encoder, column, values[column]) for column in rest]
        folded = tag(
            "details", tag("summary", words.count(len(rest), "more column")), tag("div", fields, class_="fields")
        )
    form = tag(
        *("form", tag("div", [_field(encoder, column, values[column]) for column in shown], class_="fields"), folded),
        tag("button", "Classify", type="submit", class_="main"),
        method="post",
        action="#what-if",
        data_swap="what-if",
    )
    source = (
        "what you typed" if given is not None else "the last sample in memory" if any(values) else "an empty record"
    )
    lead = f"Shown is {source}. Change it and classify: an empty field is a missing value."
    try:
        answer = _answer(model.explain(read_sample(encoder, values)))
    except (TypeError, ValueError) as error:
        answer = tag("p", str(error), class_="error", role="alert")
    return part("what-if", "What if", tag("div", form, tag("div", answer, class_="answer"), class_="pair"), lead=lead)


def read_sample(encoder: TableEncoder, values: Sequence[str]) -> Table:
    """Return the input as a table of one sample, or raise an error that names the column.

    Parameters
    ----------
    encoder : TableEncoder
        Has the types of the columns.
    values : list of str
        One a column; empty where the value is missing.
    """
    content = [_column(encoder, column, text) for column, text in enumerate(values)]
    return Table(1, len(content), encoder.names, content, source_of(None))


def _column(encoder: TableEncoder, column: int, text: str) -> Column:
    """Return one value as a column."""
    name, kind, known = write_column(encoder.names, column), encoder.kinds[column], encoder.categories[column]
    if not text:
        return np.array([np.nan])
    if known is not None:
        written = {write_value(value): value for value in known.by_code() if value is not None}
        numbers = not any(isinstance(value, str) for value in written.values()) and written
        value = written.get(text, _number(text, name) if numbers else text)
        return object_column([value], f"column {name!r}")
    if kind in MOMENTS:
        return Moments(np.array([_seconds(text, name)]), kind, "text")
    if kind == DURATIONS:
        return Moments(np.array([_number(text, name)]), kind, "text")
    return np.array([_number(text, name)])


def _number(text: str, name: str) -> float:
    """Return a number that was typed."""
    try:
        value = float(text.replace(" ", ""))
    except ValueError:
        value = np.inf
    if not np.isfinite(value):
        raise InputError(f"{name} is {words.shortened(text, 40)!r}; expected a number, such as 12.5, or nothing")
    return value


def _seconds(text: str, name: str) -> float:
    """Return a date in seconds since 1970; without a time zone it is taken as UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"{name} is {words.shortened(text, 40)!r}; expected a date, such as 2026-01-31 or 2026-01-31 12:00"
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def last_sample(encoder: TableEncoder, memory: Memory) -> list[str]:
    """Return the values of the last sample in memory as they are typed; empty ones where there is none."""
    if not len(memory):
        return [""] * encoder.n_features
    (row,) = memory.values.taken(np.array([len(memory) - 1])).matrix().tolist()
    return [_typed(encoder, column, value) for column, value in enumerate(row[: encoder.n_features])]


def _typed(encoder: TableEncoder, column: int, value: float) -> str:
    """Return a value of the matrix as it is typed."""
    if np.isnan(value):
        return ""
    known = encoder.categories[column]
    if known is not None:
        found = known.by_code()[int(value)]
        return "" if found is None else write_value(found)
    if encoder.kinds[column] in MOMENTS:
        try:
            return datetime.fromtimestamp(value, UTC).replace(tzinfo=None).isoformat(" ", "seconds")
        except (OverflowError, ValueError, OSError):  # beyond the year 9999
            return ""
    return write_value(value)


def _field(encoder: TableEncoder, column: int, value: str) -> Markup:
    """Return a column's name and where its value is typed; categories are suggested."""
    name, known = write_column(encoder.names, column), encoder.categories[column]
    suggested, listed = None, None
    if known is not None:
        listed = f"choices-{column}"
        choices = [write_value(one) for one in known.by_code() if one is not None][:CHOICES]
        suggested = tag("datalist", [tag("option", value=one) for one in choices], id=listed)
    kind = encoder.kinds[column]
    mode = "decimal" if kind in (NUMBERS, DURATIONS) else None
    unit = {DURATIONS: " (seconds)", ZONED_DATES: " (UTC)"}.get(kind, "")
    shown = tag("span", words.shortened(name, 28) + unit, title=name if len(name) > 28 else None)
    typed = tag(
        "input", name=f"c{column}", value=value, list=listed, inputmode=mode, autocomplete="off", spellcheck="false"
    )
    return tag("label", shown, typed, suggested)


def _answer(explanation: Explanation) -> Markup:
    """Return the predicted class, the probabilities, and the contributions of the columns."""
    summary = explanation.summary(0, max_features=BARS)
    chances, values = explanation.probabilities[0], explanation.classes.tolist()
    order = np.argsort(-chances, kind="stable")[:CLASSES].tolist()
    rows = [
        [
            write_value(values[index]),
            bar(chances[index], 1.0, words.percent(chances[index])),
        ]
        for index in order
    ]
    more = len(chances) - len(order)
    head = tag(
        "p", tag("b", summary.class_name), f" with probability {words.percent(summary.probability)}", class_="verdict"
    )
    others = table_of(["class", "probability"], rows, words=(0, 1), caption="Probability by class", class_="chances")
    rest = (
        tag("p", f"{words.count(more, 'less likely class', 'less likely classes')} not listed.", class_="note")
        if more
        else None
    )
    asked = tag(
        "p",
        f"Forests by weight: {summary.forests}. Batches that made the leaves: {summary.batches.removesuffix(', ...')}.",
        class_="note",
    )
    return join([head, others, rest, _why(summary), asked])


def _why(summary: Summary) -> Markup:
    """Return bars that lead from the probability at the roots to that of the class."""
    ends = summary.bias + np.cumsum([0.0, *summary.added])
    x = Scale.around([*ends, 0.0], margin=0.02).clipped(min(0.0, float(ends.min())), float("inf"))
    rows = []
    plot = Plot(x, Scale(0, 1), ROW - 10)
    for name, added, *ways in zip(summary.names, summary.added, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        kind = "more" if added >= 0 else "less"
        drawn = plot.draw([plot.steps(sorted(ways), [0.0], [1.0], kind)], label="", class_="step")
        rows.append([words.shortened(name, 40), drawn, tag("span", f"{100 * added:+.1f}", class_=kind)])

    def end(name: str, value: float) -> list[Any]:
        drawn = plot.draw([plot.steps([0.0, value], [0.0], [1.0], "end")], label="", class_="step")
        return [tag("b", name), drawn, tag("b", words.percent(value))]

    rows = [end("at the roots", summary.bias), *rows, end(words.shortened(summary.class_name, 40), summary.probability)]
    table = table_of(["column and value", "from the roots to the class", "points"], rows, words=(0, 1), class_="why")
    return figure("why", f"Why {words.shortened(summary.class_name, 40)}", table)
