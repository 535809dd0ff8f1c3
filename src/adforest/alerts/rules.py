"""Rules of alerts: their findings in a batch, and the messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

MISSING, UNSEEN, NEW_CLASS, HEALTH = "missing above", "unseen categories above", "new class", "health"
NO_BATCH, REJECTED, NOT_DELIVERED = "no batch for", "files rejected", "alerts not delivered"
HEALTH_LEVELS = ("warning", "critical")
FORMER_LEVELS = {"watch": "warning", "act": "critical"}
MAX_NAMED = 5  # matches of one batch named in the message; the values of the alert list more
MAX_VALUES = 1_000


@dataclass(frozen=True)
class Match:
    """Something that a rule has found.

    Attributes
    ----------
    about : str
        The column or class; empty for the batch as a whole.
    value : object
        The figure or class that was found.
    message : str
        A sentence without its full stop.
    """

    about: str
    value: Any
    message: str


class Looked(NamedTuple):
    """Input of rules besides the report of a batch.

    Attributes
    ----------
    fractions : dict of str to dict of str to float
        By kind of rule and column: the fraction of records, as far as it was counted.
    health : Health or None
        Health of the model after the batch, where a rule needs it.
    """

    fractions: Mapping[str, Mapping[str, float]]
    health: Any = None


@dataclass(frozen=True)
class AlertRule:
    """A rule of the file.

    Attributes
    ----------
    when : str
        One of `KINDS`.
    limit : float or None
        The limit that a value must be below or above.
    columns : tuple of str
        Columns that it looks at, none for all.
    batches : int
        Batches in a row in which it must be found.
    repeat : bool
        Whether there is an alert at every batch in which it is found, not only at the first of several in a row.
    level : str or None
        The level of health from which on there is an alert.
    """

    when: str
    limit: float | None = None
    columns: tuple[str, ...] = ()
    batches: int = 1
    repeat: bool = False
    level: str | None = None

    def __str__(self) -> str:
        unit = KINDS[self.when].unit
        limit = "" if self.limit is None else f" {self.limit:g}{unit and f' {unit}'}"
        level = f" {self.level}" if self.level else ""
        columns = f" in {', '.join(self.columns)}" if self.columns else ""
        row = f", {self.batches} batches in a row" if self.batches > 1 else ""
        return f"{self.when}{limit}{level}{columns}{row}{', told at every batch' if self.repeat else ''}"

    def find(self, report: Any, looked: Looked) -> list[Match]:
        """Return the findings of the rule in a batch; none for a rule that is not about batches.

        Parameters
        ----------
        report : BatchReport
        looked : Looked
        """
        find = KINDS[self.when].find
        found = [] if find is None else find(self, report, looked)
        return [one for one in found if not self.columns or one.about in self.columns]

    def is_due(self, n_in_a_row: int) -> bool:
        """Return whether there is an alert of something that was found in so many batches in a row."""
        return n_in_a_row == self.batches or (self.repeat and n_in_a_row > self.batches)


def message_of(rule: AlertRule, report: Any, found: Sequence[Match]) -> str:
    """Return one message for everything that a rule found in a batch."""
    if len(found) == 1:
        return found[0].message
    more = ", …" if len(found) > MAX_NAMED else ""
    if rule.when == NEW_CLASS:
        named = ", ".join(one.about for one in found[:MAX_NAMED])
        return f"batch {report.batch} brings {len(found):,} new classes: {named}{more}"
    named = ", ".join(f"{one.about} {one.value:.1%}" for one in found[:MAX_NAMED])
    what = f"{_of_values(rule)} in {len(found):,} columns of batch {report.batch}"
    return f"more than {rule.limit:.1%} of values {what}: {named}{more}"


def _drift(rule: AlertRule, report: Any, _: Looked) -> list[Match]:
    is_found = report.drift == rule.when.removeprefix("drift ")
    return [Match("", report.drift, f"drift is {report.drift} in batch {report.batch}")] * is_found


def _beyond(rule: AlertRule, report: Any, _: Looked) -> list[Match]:
    name, side = rule.when.rsplit(maxsplit=1)
    value = report.accuracy.get("vote") if name == "accuracy" else getattr(report, name.replace(" ", "_"))
    if value is None or rule.limit is None or not (value < rule.limit if side == "below" else value > rule.limit):
        return []
    shown = name.replace("roc auc", "ROC AUC")
    message = f"{shown} on batch {report.batch} before learning it is {value:.3f}, {side} {rule.limit:g}"
    return [Match("", value, message)]


def _new_class(_: AlertRule, report: Any, __: Looked) -> list[Match]:
    values = report.new_classes if report.batch > 1 else ()
    return [Match(str(value), value, f"batch {report.batch} brings the new class {value}") for value in values]


def _fraction_above(rule: AlertRule, report: Any, looked: Looked) -> list[Match]:
    limit, what = rule.limit or 0.0, _of_values(rule)
    of_batch = f"of batch {report.batch}, above {limit:.1%}"
    return [
        Match(name, fraction, f"{fraction:.1%} of values {what} in column {name} {of_batch}")
        for name, fraction in looked.fractions.get(rule.when, {}).items()
        if fraction > limit
    ]


def _of_values(rule: AlertRule) -> str:
    """Return the condition that a rule counts values by."""
    return "are missing" if rule.when == MISSING else "were never seen before"


def _health(rule: AlertRule, report: Any, looked: Looked) -> list[Match]:
    if looked.health is None or looked.health.level not in HEALTH_LEVELS[HEALTH_LEVELS.index(str(rule.level)) :]:
        return []
    verdict = f"after batch {report.batch} the model's health is {looked.health.level}"
    return [Match("", looked.health.level, f"{verdict}: {looked.health.reason.rstrip('.')}")]


class RuleKind(NamedTuple):
    """A kind of rules.

    Attributes
    ----------
    find : callable or None
        Finds it in a batch; None where it is not about batches.
    most : float or None
        The greatest limit that it may have, from 0 on; None where it has no limit.
    unit : str
        Of the limit.
    """

    find: Callable[[AlertRule, Any, Looked], list[Match]] | None
    most: float | None = None
    unit: str = ""


KINDS = {
    "drift sustained": RuleKind(_drift),
    "drift temporary": RuleKind(_drift),
    "accuracy below": RuleKind(_beyond, 1),
    "balanced accuracy below": RuleKind(_beyond, 1),
    "roc auc below": RuleKind(_beyond, 1),
    "average precision below": RuleKind(_beyond, 1),
    "log loss above": RuleKind(_beyond, math.inf),
    NEW_CLASS: RuleKind(_new_class),
    UNSEEN: RuleKind(_fraction_above, 1),
    MISSING: RuleKind(_fraction_above, 1),
    HEALTH: RuleKind(_health),
    NO_BATCH: RuleKind(None, math.inf, "hours"),
    REJECTED: RuleKind(None),
    NOT_DELIVERED: RuleKind(None, math.inf, "times"),
}
WITH_COLUMNS = (UNSEEN, MISSING)


def missing_fractions(X: Any) -> dict[str, float]:
    """Return the fraction of missing values by column of a table."""
    from pyarrow import compute

    n_samples = max(X.num_rows, 1)
    counts = {name: compute.sum(compute.is_null(X.column(name), nan_is_null=True)).as_py() for name in X.column_names}
    return {name: (count or 0) / n_samples for name, count in counts.items()}


def unseen_fractions(X: Any, model: Any) -> dict[str, float]:
    """Return the fraction of values that a model has not learnt by categorical column of a table."""
    import pyarrow as pa
    from pyarrow import compute

    from adforest.base import get_fitted

    encoder = get_fitted(model).encoder
    found = {}
    for position, name in enumerate(encoder.names or ()):
        if not encoder.is_categorical[position] or name not in X.column_names:
            continue
        known = [value for value in encoder.category_values(position) if value is not None]
        column = X.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        column = column.drop_null()
        is_known = compute.is_in(column, value_set=pa.array(known, column.type))
        found[name] = 1 - (compute.sum(is_known).as_py() or 0) / len(column) if len(column) else 0.0
    return found
