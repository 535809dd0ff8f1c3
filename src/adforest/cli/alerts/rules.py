"""Rules of alerts: what they look at in a batch, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MISSING, UNSEEN = "missing above", "unseen categories above"
LOG_LOSS = "log loss above"


@dataclass(frozen=True)
class Finding:
    """Something that a rule is about.

    Attributes
    ----------
    about : str
        What it was found in: a column, a class, or nothing for the batch as a whole.
    value : object
        A figure, or what was found.
    message : str
        A sentence without its full stop.
    """

    about: str
    value: Any
    message: str


@dataclass(frozen=True)
class Rule:
    """A rule of the file.

    Attributes
    ----------
    when : str
        One of `KINDS`.
    limit : float or None
        The figure that a value must be below or above.
    columns : tuple of str
        Columns that it looks at, none for all.
    batches : int
        Batches in a row in which it must be found.
    repeat : bool
        Whether it is told at every batch in which it is found, and not only at the first of several in a row.
    """

    when: str
    limit: float | None = None
    columns: tuple[str, ...] = ()
    batches: int = 1
    repeat: bool = False

    def __str__(self) -> str:
        limit = "" if self.limit is None else f" {self.limit:g}"
        columns = f" in {', '.join(self.columns)}" if self.columns else ""
        row = f", {self.batches} batches in a row" if self.batches > 1 else ""
        return f"{self.when}{limit}{columns}{row}{', told at every batch' if self.repeat else ''}"

    def find(self, report: Any, shares: Mapping[str, Mapping[str, float]]) -> list[Finding]:
        """Return what there is in a batch.

        Parameters
        ----------
        report : BatchReport
        shares : dict of str to dict of str to float
            By kind of rule and column: the share of records, as far as it was counted.
        """
        found = KINDS[self.when](self, report, shares.get(self.when, {}))
        return [one for one in found if not self.columns or one.about in self.columns]


def _drift(rule: Rule, report: Any, _: Mapping[str, float]) -> list[Finding]:
    is_found = report.drift == rule.when.removeprefix("drift ")
    return [Finding("", report.drift, f"drift is {report.drift} in batch {report.batch}")] * is_found


def _below(rule: Rule, report: Any, _: Mapping[str, float]) -> list[Finding]:
    name = rule.when.removesuffix(" below")
    value = _metric(report, name)
    is_found = value is not None and rule.limit is not None and value < rule.limit
    return [_metric_finding(name, value, report, f"below {rule.limit:g}")] if is_found else []


def _above(rule: Rule, report: Any, _: Mapping[str, float]) -> list[Finding]:
    name = rule.when.removesuffix(" above")
    value = _metric(report, name)
    is_found = value is not None and rule.limit is not None and value > rule.limit
    return [_metric_finding(name, value, report, f"above {rule.limit:g}")] if is_found else []


def _metric(report: Any, name: str) -> float | None:
    """Return a metric of the answers to a batch before it was learnt, None where it has none."""
    value: float | None = report.accuracy.get("vote") if name == "accuracy" else getattr(report, name.replace(" ", "_"))
    return value


def _metric_finding(name: str, value: float | None, report: Any, limit: str) -> Finding:
    shown = name.replace("roc auc", "ROC AUC")
    return Finding("", value, f"{shown} on batch {report.batch} before learning it is {value:.3f}, {limit}")


def _new_class(_: Rule, report: Any, __: Mapping[str, float]) -> list[Finding]:
    values = report.new_classes if report.batch > 1 else ()
    return [Finding(str(value), value, f"batch {report.batch} brings the new class {value}") for value in values]


def _share_above(rule: Rule, report: Any, shares: Mapping[str, float]) -> list[Finding]:
    what = "are missing" if rule.when == MISSING else "were never seen before"
    limit = rule.limit or 0.0
    return [
        Finding(
            name, share, f"{share:.1%} of values {what} in column {name} of batch {report.batch}, above {limit:.1%}"
        )
        for name, share in shares.items()
        if share > limit
    ]


KINDS: dict[str, Callable[[Rule, Any, Mapping[str, float]], list[Finding]]] = {
    "drift sustained": _drift,
    "drift temporary": _drift,
    "accuracy below": _below,
    "balanced accuracy below": _below,
    "roc auc below": _below,
    "average precision below": _below,
    LOG_LOSS: _above,
    "new class": _new_class,
    UNSEEN: _share_above,
    MISSING: _share_above,
}
WITH_LIMIT = tuple(name for name in KINDS if name.endswith((" below", " above")))
WITH_COLUMNS = (UNSEEN, MISSING)


def missing_shares(X: Any) -> dict[str, float]:
    """Return the share of missing values by column of a table."""
    from pyarrow import compute

    n_records = max(X.num_rows, 1)
    counts = {name: compute.sum(compute.is_null(X.column(name), nan_is_null=True)).as_py() for name in X.column_names}
    return {name: (count or 0) / n_records for name, count in counts.items()}


def unseen_shares(X: Any, model: Any) -> dict[str, float]:
    """Return the share of values that a model has not learnt by categorical column of a table."""
    import pyarrow as pa
    from pyarrow import compute

    encoder = model._model.encoder
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
