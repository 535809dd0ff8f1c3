"""Views of columns: the distributions of the past and of the last batches, their distance, and the importance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from adforest.encoding import TableEncoder
from adforest.encoding.columns import DATES, DURATIONS, ZONED_DATES
from adforest.encoding.rebuilding import DIGITS, write_column, write_number, write_value
from adforest.forest.types import AnyArray, Float64Array
from adforest.tracking import ColumnSketches
from adforest.tracking.cells import MISSING, OTHER


@dataclass(frozen=True, slots=True)
class BinView:
    """One bin of a column, or one category.

    Attributes
    ----------
    label : str
        Text: "12.5 to 20", "above 20", a category, "other categories", "missing".
    kind : {"range", "category", "other", "missing"}
    low, high : float or None
        Bounds of a range of numbers, the upper one included; None where it is open, and for other kinds.
    past, last : float
        Fraction of the samples before, and of those of the last batches.
    """

    label: str
    kind: str
    low: float | None
    high: float | None
    past: float
    last: float


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column: distance of its last batches from the past, and its importance.

    Attributes
    ----------
    name : str
    position : int
    kind : str
        "numbers", "dates", "dates with a time zone", "durations", "categories" or "undecided".
    n_categories : int or None
        Distinct values of a categorical column.
    distance : float
        Jensen-Shannon distance (0 to 1) of the last batches from the past, corrected for chance.
    usual_distance : float
        Mean of that distance over the earlier blocks.
    importance : float
        See `feature_importances_`; all columns sum to 1.
    impact : float
        distance * importance.
    bins : tuple of BinView
        Both distributions; the first bins are in order, then "other categories" and "missing".
    outside : float
        Fraction of the last batches outside the range of the past when bins were made.
    missing, unseen : float
        Fraction of the last batches without a value, and with a category that had never been learnt.
    missing_before, unseen_before : float or None
        The same of the past; None where there is none.
    missing_by_block, unseen_by_block, distance_by_block : tuple of float or None
        The same over time, by entry of `ModelView.column_blocks`; None before the column was known.
    """

    name: str
    position: int
    kind: str
    n_categories: int | None
    distance: float
    usual_distance: float
    importance: float
    impact: float
    bins: tuple[BinView, ...]
    outside: float
    missing: float
    unseen: float
    missing_before: float | None
    unseen_before: float | None
    missing_by_block: tuple[float | None, ...]
    unseen_by_block: tuple[float | None, ...]
    distance_by_block: tuple[float | None, ...]


def column_views(encoder: TableEncoder, sketches: ColumnSketches, importance: Float64Array) -> tuple[ColumnView, ...]:
    """Return the columns, worst first."""
    sketches = sketches.with_early_counted(encoder.n_categories[: len(sketches.bounds)]).with_columns(
        encoder.n_features
    )
    last = sketches.last.sum(axis=0)
    past, now = _fractions(sketches.past), _fractions(last)
    over_time = sketches.over_time
    distance = np.nan_to_num(sketches.distances)
    usual = _mean_known(over_time.distance[:-1])
    unseen = sketches.last_unseen.sum(axis=0) / np.maximum(last.sum(axis=1), 1)
    unseen_before = sketches.past_unseen / np.maximum(sketches.past.sum(axis=1), 1)
    impact = distance * importance
    has_past = sketches.past.sum(axis=1) > 0
    views = []
    for column in np.lexsort((-distance, -impact)).tolist():
        bins, outside = _bins(encoder, sketches, column, past[column].tolist(), now[column].tolist())
        views.append(
            ColumnView(
                name=write_column(encoder.names, column),
                position=column,
                kind=encoder.kinds[column],
                n_categories=len(encoder.category_values(column)) or None,
                distance=float(distance[column]),
                usual_distance=float(usual[column]),
                importance=float(importance[column]),
                impact=float(impact[column]),
                bins=bins,
                outside=outside,
                missing=float(now[column, MISSING]),
                unseen=float(unseen[column]),
                missing_before=float(past[column, MISSING]) if has_past[column] else None,
                unseen_before=float(unseen_before[column]) if has_past[column] else None,
                missing_by_block=none_where_unknown(over_time.missing[:, column]),
                unseen_by_block=none_where_unknown(over_time.unseen[:, column]),
                distance_by_block=none_where_unknown(over_time.distance[:, column]),
            )
        )
    return tuple(views)


def _bins(
    encoder: TableEncoder, sketches: ColumnSketches, column: int, past: list[float], last: list[float]
) -> tuple[tuple[BinView, ...], float]:
    """Return the bins of a column, and the fraction of the last batches outside of its range."""
    bounds = sketches.bounds[column][np.isfinite(sketches.bounds[column])].tolist()
    found: list[BinView] = []
    outside = 0.0
    if encoder.is_categorical[column]:
        values = encoder.category_values(column)
        for index, code in enumerate(bounds):
            value = values[int(code)] if int(code) < len(values) else None
            label = write_value(value) if value is not None else "(infrequent)"
            found.append(BinView(label, "category", None, None, past[index], last[index]))
        if past[OTHER] or last[OTHER]:
            found.append(BinView("other categories", "other", None, None, past[OTHER], last[OTHER]))
    elif bounds:
        ends = [None, *bounds, None]
        texts = _texts(bounds, encoder.kinds[column])
        for index, (low, high) in enumerate(pairwise(ends)):
            found.append(BinView(_range_label(index, texts), "range", low, high, past[index], last[index]))
        outside = last[0] + last[len(bounds)]
    if past[MISSING] or last[MISSING]:
        found.append(BinView("missing", "missing", None, None, past[MISSING], last[MISSING]))
    return tuple(found), outside


def _range_label(index: int, texts: list[str]) -> str:
    """Return how a range between bounds is written."""
    if index == 0:
        return f"below {texts[0]}"
    if index == len(texts):
        return f"above {texts[-1]}"
    low, high = texts[index - 1 : index + 1]
    return high if low == high else f"{low} to {high}"


def _texts(bounds: list[float], kind: str) -> list[str]:
    """Return bounds as text, with enough digits to distinguish neighbours."""
    if kind in (DATES, ZONED_DATES) and abs(bounds[0]) < 2**40 and abs(bounds[-1]) < 2**40:
        moments = np.round(bounds).astype(np.int64).astype("M8[s]")
        by_day = (np.diff(bounds) >= 86_400).all()
        return [str(moment.astype("M8[D]") if by_day else moment).replace("T", " ") for moment in moments]
    texts = []
    for index, bound in enumerate(bounds):
        low = (bounds[index - 1] + bound) / 2 if index else -np.inf
        high = (bounds[index + 1] + bound) / 2 if index + 1 < len(bounds) else np.inf
        value = _value_beside(bound)
        text = write_number(bound, low, high) if value is None else write_number(value)
        texts.append(text + (" s" if kind == DURATIONS else ""))
    return texts


def _value_beside(bound: float) -> float | None:
    """Return the value that a bound is just below or above, such as 1 for 0.9999999999999999, if there is one."""
    for value in (float(np.nextafter(bound, -np.inf)), float(np.nextafter(bound, np.inf))):
        if not value or len(repr(value)) < len(repr(bound)) - DIGITS:
            return value
    return None


def _fractions(counts: Float64Array) -> Float64Array:
    """Return each row scaled to a sum of 1, or 0 where it is empty."""
    fractions: Float64Array = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    return fractions


def _mean_known(figures: AnyArray) -> Float64Array:
    """Return the mean by column of those figures that are known, 0 where none is."""
    is_known = ~np.isnan(figures)
    mean: Float64Array = np.where(is_known, figures, 0.0).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)
    return mean


def none_where_unknown(figures: AnyArray) -> tuple[float | None, ...]:
    """Return figures with None for those that are NaN."""
    return tuple(None if value != value else value for value in figures.tolist())
