"""Survey of some samples of a batch: names, types and categories of the columns.

A survey is small, can be made of any part of a batch, and those of several parts merge into that of all their samples.
Merging them one by one or in groups, in the order of the parts, gives the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from adforest.encoding.categories import Categories, Value
from adforest.encoding.columns import CATEGORIES, NUMBERS, UNDECIDED, Coded, Column, Moments, is_empty
from adforest.encoding.frames import Names
from adforest.encoding.odd_values import N_JUDGED
from adforest.encoding.tables import are_text, column_label
from adforest.exceptions import InputError, InputTypeError
from adforest.forest.types import Int64Array

if TYPE_CHECKING:
    from adforest.encoding.encoder import TableEncoder

TEXT, CODED_NUMBERS, NOTHING = "text", "categories that are numbers", "nothing"
MAX_MERGED = 5_000_000  # distinct values of a column in several partitions; a column of ids would fill a machine


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSurvey:
    """Survey of a column that is categorical, or whose type is not known yet.

    Attributes
    ----------
    holds : str
        "numbers", "dates", "dates with a time zone", "durations", "text", "categories that are numbers" or "nothing".
    shown : str
        One of its values, or their type, for errors.
    source : str
        Where it was found first: "batch 7", "partition 3 of batch 7".
    values, counts : sequence of text or of floats, int64
        Of categories: the distinct values in order of first appearance, and samples with each.
    is_categorical_type : bool
        Whether they are categories because of the type of the column.
    """

    holds: str
    shown: str
    source: str
    values: Sequence[Value] = ()
    counts: Int64Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    is_categorical_type: bool = False

    @classmethod
    def of(cls, column: Column, source: str) -> ColumnSurvey:
        """Return the survey of one column."""
        if isinstance(column, Coded) and column.values:
            counts = np.bincount(column.codes + 1, minlength=len(column.values) + 1)[1:]
            holds = TEXT if column.holds_text else CODED_NUMBERS
            return cls(holds, repr(column.values[0]), source, column.values, counts, column.is_categorical_type)
        if is_empty(column):
            return cls(NOTHING, "", source)
        if isinstance(column, Moments):
            return cls(column.kind, column.dtype, source)
        return cls(NUMBERS, "", source)

    @property
    def texts(self) -> Sequence[str]:
        """The distinct values of a text column; none if the user listed it as categorical."""
        return (
            () if self.holds != TEXT or self.is_categorical_type else [str(value) for value in self.values[:N_JUDGED]]
        )

    @property
    def kind(self) -> str:
        """Type of the column, if nothing else is known of it."""
        return {TEXT: CATEGORIES, CODED_NUMBERS: CATEGORIES, NOTHING: UNDECIDED}.get(self.holds, self.holds)


@dataclass(frozen=True, slots=True, eq=False)
class TableSurvey:
    """Survey of some samples of a batch.

    Attributes
    ----------
    source : str
        Their name in errors: "batch 7", "partition 3 of batch 7".
    n_samples : int
    names : tuple or None
        Of the columns: those learnt before, in their order, and behind them those that were added.
    columns : tuple of ColumnSurvey or None
        One per column, None for columns without anything new.
    start : TableEncoder or None
        Of a first batch: the encoder that knows names and listed columns only.
    warning : str or None
        Warnings.
    """

    source: str
    n_samples: int
    names: Names | None
    columns: tuple[ColumnSurvey | None, ...]
    start: TableEncoder | None = None
    warning: str | None = None


def merge_table_surveys(surveys: Sequence[TableSurvey], column_changes: str | None) -> TableSurvey:
    """Return the survey of the samples of several parts, given in their order."""
    if len(surveys) == 1:
        return surveys[0]
    first = surveys[0]
    names = _merged_names(surveys, column_changes)
    arranged = [_arranged(one, names) for one in surveys]
    merged = [_merge_columns(columns, names, position) for position, columns in enumerate(zip(*arranged, strict=True))]
    return replace(
        first,
        n_samples=sum(one.n_samples for one in surveys),
        names=names,
        columns=tuple(merged),
        start=None if first.start is None else _merged_start(surveys, names),
        warning=next((one.warning for one in surveys if one.warning), None),
    )


def _merged_names(surveys: Sequence[TableSurvey], column_changes: str | None) -> Names | None:
    """Return the names of the columns of all parts, or raise if they may not differ and do."""
    first = surveys[0]
    for other in surveys:
        if other.names == first.names and len(other.columns) == len(first.columns):
            continue
        if other.names is None or are_text(other.names) != are_text(first.names) or first.names is None:
            shown = [_shown_names(one) for one in (other, first)]
            raise InputError(
                f"{other.source} has {shown[0]}, but {first.source} has {shown[1]}. Give all partitions the same "
                "columns."
            )
        differing = sorted(set(first.names) ^ set(other.names), key=repr)
        if differing and column_changes != "allow":
            has, lacks = (other, first) if differing[0] in other.names else (first, other)
            raise InputError(
                f"{has.source} has the column {differing[0]!r}, but {lacks.source} has not. Give all partitions the "
                "same columns" + (", or set column_changes='allow'." if column_changes == "error" else ".")
            )
    if first.names is None:
        return None
    return tuple(dict.fromkeys(name for one in surveys for name in one.names or ()))


def _shown_names(survey: TableSurvey) -> str:
    """Return how an error calls the columns of a part."""
    n = len(survey.columns)
    if survey.names is None:
        return f"{n} columns without names"
    return f"{n} columns named {', '.join(map(repr, survey.names[:3]))}{', …' if n > 3 else ''}"


def _arranged(survey: TableSurvey, names: Names | None) -> Sequence[ColumnSurvey | None]:
    """Return the surveys of the columns in another order; None for those that a part lacks."""
    if survey.names == names:
        return survey.columns
    found = dict(zip(survey.names or (), survey.columns, strict=True))
    return [found.get(name) for name in names or ()]


def _merged_start(surveys: Sequence[TableSurvey], names: Names | None) -> TableEncoder:
    """Return the encoder that knows names and listed columns of a first batch, or raise if parts list others."""
    starts = [one.start for one in surveys if one.start is not None]
    if names is None:
        return starts[0]
    listed: dict[Hashable, tuple[str, Categories | None]] = {}
    for start, survey in zip(starts, surveys, strict=True):
        for name, kind, known in zip(start.names or (), start.kinds, start.categories, strict=True):
            if listed.setdefault(name, (kind, known))[0] != kind:
                raise InputError(
                    f"categorical_features lists column {name!r} by its position, which is another in {survey.source} "
                    f"than in {surveys[0].source}. List it by name, or give all partitions the same order of columns."
                )
    kinds, categories = zip(*(listed[name] for name in names), strict=True)
    return replace(starts[0], names=names, kinds=kinds, categories=categories)


def _merge_columns(columns: Sequence[ColumnSurvey | None], names: Names | None, position: int) -> ColumnSurvey | None:
    """Return the survey of a column over all parts, or raise if their types differ."""
    noted = [column for column in columns if column is not None]
    holding = [column for column in noted if column.holds != NOTHING]
    if len(holding) < 2:
        return next(iter(holding or noted), None)
    first = holding[0]
    for other in holding:
        if other.holds != first.holds:
            raise InputTypeError(
                f"{column_label(other.source, names, position)} holds {other.holds}"
                f"{other.shown and f' ({other.shown})'} but {first.holds}{first.shown and f' ({first.shown})'} in "
                f"{first.source}. Convert the whole column to one kind."
            )
    if not first.values:
        return first
    counts: dict[Value, int] = {}
    for column in holding:
        for value, count in zip(column.values, column.counts.tolist(), strict=True):
            counts[value] = counts.get(value, 0) + count
    if len(counts) > MAX_MERGED:
        raise InputError(
            f"{column_label(first.source, names, position)} and later partitions has more than {MAX_MERGED:,} distinct "
            f"values, such as {first.shown}. If it identifies samples, drop the column; if not, convert it to numbers."
        )
    return replace(first, values=list(counts), counts=np.array(list(counts.values()), dtype=np.int64))
