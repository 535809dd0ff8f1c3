"""The passes over the parts of a batch, as functions of one part each: retried or run twice, they return the same.

A batch on one machine is a batch of one part, which is read once, encoded once, and never sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from adforest.encoding import TableEncoder, check_same_length
from adforest.encoding.labels import distinct_labels
from adforest.encoding.tables import Table, read_weights, source_of
from adforest.exceptions import InputError
from adforest.forest import LeafCounts, Samples, Totals
from adforest.forest._kernels.counting import put_in_order
from adforest.forest.packed import PackedRows
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int32Array, Int64Array
from adforest.merging.plan import BatchPlan, BatchRules, Survey
from adforest.merging.sums import as_floats, exact_sums

CHUNK = 1_000_000  # samples that are counted at a time


class Counter(Protocol):
    """Counts samples in the leaves of some trees."""

    def count(self, samples: Samples, index: Int32Array, /, n_jobs: int | None = None) -> list[LeafCounts]:
        """Return the class counts of some samples, given by index, in the leaves of each tree."""
        ...


class BatchSource(Protocol):
    """The passes over a batch; an engine has one of these."""

    def survey(self, rules: BatchRules) -> Survey:
        """Return the survey of all parts: `survey_part` of each, merged by `merge_surveys` in their order."""
        ...

    def draw(self, plan: BatchPlan) -> Samples:
        """Return the samples drawn: `draw_part` of each part, joined by `join_parts` in their order."""
        ...

    def count(self, plan: BatchPlan, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
        """Return the samples not drawn, counted by leaf: `count_part` of each part, merged by `merge_counts`.

        Needed only where some are not drawn.
        """
        ...


class ReadPart(NamedTuple):
    """A part of a batch as it was read; sample i is of class ``classes[codes[i]]``, weights None are all 1."""

    table: Table | Float64Array
    classes: AnyArray
    codes: Int32Array
    weight: Float64Array | None


class ClassCounts(NamedTuple):
    """Samples of a part by class, and the sums of their weights, see `exact_sums`; None where all weights are 1."""

    n: Int64Array
    weight: tuple[int, ...] | None

    @classmethod
    def of(cls, samples: Samples) -> ClassCounts:
        """Return how many of some samples are of each class."""
        weight = None if samples.weight is None else exact_sums(samples.y, samples.weight, samples.n_classes)
        return cls(np.bincount(samples.y, minlength=samples.n_classes), weight)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPart:
    """Samples drawn from a part of a batch as they are sent: encoded, in arrays as narrow as their values allow.

    Attributes
    ----------
    X, y, serial, weight
        See `Samples`; the columns of `BatchPlan.regrouped` are the last ones of X.
    counts : ClassCounts or None
        Of all samples of the part; None where all are drawn.
    """

    X: PackedRows
    y: AnyArray
    serial: Int64Array
    weight: Float64Array | None
    counts: ClassCounts | None


def survey_part(rules: BatchRules, X: Any, y: Any, sample_weight: Any, part: int) -> Survey:
    """Survey a part of a batch; the first pass.

    Parameters
    ----------
    rules : BatchRules
    X : array-like or data frame of shape (n_samples, n_features)
        The samples of the part; there may be none.
    y : array-like of shape (n_samples,)
        Labels.
    sample_weight : array-like of shape (n_samples,), float or None
        Weights.
    part : int
        Its index among the parts, counted from 0.

    Raises
    ------
    TypeError, ValueError
        As `partial_fit` does, with the part named.
    """
    if not _n_rows(X) and not len(y):
        return Survey(None, None, (0,), has_weights=False)
    return read_part(rules, X, y, sample_weight, source_of(rules.number, part))[1]


def read_part(rules: BatchRules, X: Any, y: Any, sample_weight: Any, source: str) -> tuple[ReadPart, Survey]:
    """Return a part of a batch, or a whole one, as it was read, with its survey."""
    encoder, warning = rules.encoder, None
    table: Table | Float64Array
    if encoder is None:
        encoder, table = TableEncoder.open(X, rules.categorical_features, source, rules.estimator_name)
        table, survey = encoder.survey(table, source)
        survey = replace(survey, start=encoder)
    else:
        table, warning = encoder.read(X, source, rules.encoding.column_changes)
        table, survey = encoder.survey(table, source)
        survey = survey if warning is None else replace(survey, warning=warning)
    classes, codes = distinct_labels(y, source)
    check_same_length(survey.n_samples, len(codes), source)
    weight = read_weights(sample_weight, survey.n_samples, source)
    n = survey.n_samples if weight is None else int(np.count_nonzero(weight))
    return ReadPart(table, classes, codes, weight), Survey(survey, classes, (n,), has_weights=weight is not None)


def draw_part(plan: BatchPlan, X: Any, y: Any, sample_weight: Any, part: int) -> DrawnPart | None:
    """Return the samples drawn from a part of a batch, ready to be sent; the second pass. None where it has none.

    Parameters
    ----------
    plan : BatchPlan
    X, y, sample_weight, part
        As given to `survey_part`.
    """
    if not _n_rows(X) and not plan.n_in(part):
        return None
    samples = _encoded_part(plan, X, y, sample_weight, part)
    drawn = samples if plan.draws_all else take(samples, np.flatnonzero(plan.are_drawn(samples.serial)))
    matrix = drawn.X if drawn.regrouped is None else np.column_stack([drawn.X, drawn.regrouped[1]])
    return DrawnPart(
        X=PackedRows.bit_by_bit(matrix),
        y=drawn.y.astype(np.min_scalar_type(len(plan.labels.by_arrival))),
        serial=drawn.serial,
        weight=drawn.weight,
        counts=None if plan.draws_all else ClassCounts.of(samples),
    )


def count_part(
    plan: BatchPlan, counter: Counter, X: Any, y: Any, sample_weight: Any, part: int
) -> list[LeafCounts] | None:
    """Return by tree the samples of a part that are not drawn, counted by leaf; the third pass. None: it has none.

    Parameters
    ----------
    plan : BatchPlan
    counter : Counter
        Of the trees that have learnt the samples drawn.
    X, y, sample_weight, part
        As given to `survey_part`.
    """
    if not _n_rows(X) and not plan.n_in(part):
        return None
    samples = _encoded_part(plan, X, y, sample_weight, part)
    return narrow_counts(count(samples, ~plan.are_drawn(samples.serial), counter, 1))


def merge_counts(counts: Sequence[list[LeafCounts] | None]) -> list[LeafCounts]:
    """Return by tree the counts of several parts added up; in any order, and in any groups."""
    by_tree = zip(*(one for one in counts if one is not None), strict=True)
    return [_added(parts) for parts in by_tree]


def _encoded_part(plan: BatchPlan, X: Any, y: Any, sample_weight: Any, part: int) -> Samples:
    """Return all samples of a part, given again after it was surveyed, or raise if it plainly has changed since."""
    source, n = source_of(plan.number, part), _n_rows(X)
    samples = None
    if n and n == len(y):
        table, _ = plan.encoder.read(X, source, plan.column_changes)
        classes, codes = distinct_labels(y, source)
        if plan.labels.knows(classes):
            weight = read_weights(sample_weight, n, source)
            samples = encode(plan, ReadPart(table, classes, codes, weight), part)
    if samples is None or len(samples) != plan.n_in(part):
        raise InputError(
            f"{source} has changed since it was surveyed: it has other samples or labels now. A batch is read more "
            "than once, and must be the same each time. Persist it, or read it from a source that does not change."
        )
    return samples


def encode(plan: BatchPlan, read: ReadPart, part: int) -> Samples:
    """Return all samples of a part that was read, but those of weight 0."""
    table, regrouped = read.table, None
    matrix = table if isinstance(table, np.ndarray) else plan.encoder.matrix_of(table)
    if plan.regrouped and not isinstance(table, np.ndarray):
        before = [known.translate(table.column(j), table.column_label(j)) for j, known in plan.regrouped.items()]
        regrouped = np.array(list(plan.regrouped)), np.column_stack(before)
    y, weight = plan.labels.codes_of(read.classes)[read.codes], read.weight
    if weight is None and plan.has_weights:
        weight = np.ones(len(y))
    first = plan.first_serial[part]
    serial = np.arange(first, first + len(y), dtype=np.int64)
    n_classes = len(plan.labels.by_arrival)
    samples = Samples(matrix, y, serial, plan.encoder.n_categories, n_classes, weight=weight, regrouped=regrouped)
    if weight is None or weight.all():
        return samples
    kept = take(samples, np.flatnonzero(weight))
    return replace(kept, serial=serial[: len(kept)])


def take(samples: Samples, index: Int64Array) -> Samples:
    """Return some samples of a part."""
    taken = samples.part(index)
    if samples.regrouped is None:
        return taken
    columns, values = samples.regrouped
    return replace(taken, regrouped=(columns, values[index]))


def count(samples: Samples, is_counted: BoolArray, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
    """Return by tree some samples of a part, counted by leaf, so many at a time."""
    others = np.flatnonzero(is_counted).astype(np.int32)
    chunks = [others[start : start + CHUNK] for start in range(0, max(1, len(others)), CHUNK)]
    return merge_counts([counter.count(samples, chunk, n_jobs) for chunk in chunks])


def narrow_counts(counts: list[LeafCounts]) -> list[LeafCounts]:
    """Return counts by tree as they are sent: classes and integers in the narrowest types that hold them."""
    types = [[np.min_scalar_type(int(column.max(initial=0))) for column in rows[1:]] for rows in counts]
    return [
        LeafCounts(rows.node, rows.klass.astype(klass), rows.weight.astype(weight))
        for rows, (klass, weight) in zip(counts, types, strict=True)
    ]


def _added(parts: Sequence[LeafCounts]) -> LeafCounts:
    """Return counts added up, in order of leaves and classes."""
    node, klass, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LeafCounts(
        *put_in_order(node, klass.astype(np.int32), weight.astype(np.float64), int(node.max(initial=-1)) + 1)
    )


def join_parts(plan: BatchPlan, parts: Sequence[DrawnPart | None]) -> Samples:
    """Return the samples drawn from all parts of a batch, given in their order."""
    filled = [part for part in parts if part is not None]
    X = np.concatenate([part.X.matrix() for part in filled])
    y, serial = (np.concatenate(column) for column in zip(*((part.y, part.serial) for part in filled), strict=True))
    regrouped = None
    if plan.regrouped:
        columns = np.array(list(plan.regrouped))
        X, regrouped = np.ascontiguousarray(X[:, : -len(columns)]), (columns, X[:, -len(columns) :])
    weights = [part.weight for part in filled if part.weight is not None]
    n_classes = len(plan.labels.by_arrival)
    return Samples(
        X,
        y.astype(np.int32, copy=False),
        serial,
        plan.encoder.n_categories,
        n_classes,
        weight=np.concatenate(weights) if weights else None,
        totals=totals_of(plan, [part.counts for part in filled if part.counts is not None]),
        regrouped=regrouped,
    )


def totals_of(plan: BatchPlan, counts: Sequence[ClassCounts]) -> Totals | None:
    """Return counts over all samples of a batch, given those of its parts; None where all are drawn."""
    if plan.draws_all:
        return None
    by_class = np.sum([one.n for one in counts], axis=0)
    sums = [one.weight for one in counts if one.weight is not None]
    weight_by_class = as_floats([sum(column) for column in zip(*sums, strict=True)]) if sums else by_class.astype(float)
    return Totals(plan.n_samples, by_class, weight_by_class)


def _n_rows(X: Any) -> int:
    """Return how many samples a table has."""
    return int(X.shape[0]) if hasattr(X, "shape") and len(X.shape) else len(X)


class LocalBatch:
    """A table, labels and weights as the user passed them."""

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self._given = (X, y, sample_weight)
        self._read: ReadPart | None = None
        self._undrawn: tuple[Samples, BoolArray] | None = None  # all samples, and which of them are not drawn

    def survey(self, rules: BatchRules) -> Survey:
        """Read the table, and return its survey."""
        if self._given[1] is None:
            name = rules.estimator_name
            raise InputError(f"{name} requires y to be passed, but the target y is None. Pass the labels.")
        self._read, survey = read_part(rules, *self._given, source_of(rules.number))
        return survey

    @property
    def table(self) -> Table | Float64Array:
        """The table as it was read, without rows of weight 0."""
        assert self._read is not None
        table, weight = self._read.table, self._read.weight
        if weight is None or weight.all():
            return table
        kept = weight > 0
        return table[kept] if isinstance(table, np.ndarray) else table.rows(kept)

    def draw(self, plan: BatchPlan) -> Samples:
        """Return the samples drawn from the table."""
        assert self._read is not None
        samples = encode(plan, self._read, 0)
        if plan.draws_all:
            return samples
        is_drawn = plan.are_drawn(samples.serial)
        self._undrawn = samples, ~is_drawn
        drawn = take(samples, np.flatnonzero(is_drawn))
        return replace(drawn, totals=totals_of(plan, [ClassCounts.of(samples)]))

    def count(self, plan: BatchPlan, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
        """Return the samples of the table that were not drawn, counted by leaf."""
        assert self._undrawn is not None
        return count(*self._undrawn, counter, n_jobs)
