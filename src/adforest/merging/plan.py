"""Survey of a batch and plan of its encoding.

A survey is the first pass over a batch; the plan fixes codes, serial numbers, and which samples are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np
from sklearn.utils import check_array

from adforest.encoding import EncodingRules, LabelTable, TableEncoder
from adforest.encoding.categories import Categories
from adforest.encoding.labels import merge_values, warn_of_many_classes
from adforest.encoding.surveys import TableSurvey, merge_table_surveys
from adforest.encoding.tables import check_any_weight, source_of
from adforest.forest._kernels.sampling import are_drawn
from adforest.forest.types import AnyArray, BoolArray, Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class BatchRules:
    """Input of the survey of a part of a batch.

    Attributes
    ----------
    number : int
        Number of the batch, counted from 1.
    encoder : TableEncoder or None
        The encoder of earlier batches; None for a first batch.
    categorical_features
        As the user listed them.
    estimator_name : str
        Name of the model in errors.
    encoding : EncodingRules
        Rules of the encoder.
    """

    number: int
    encoder: TableEncoder | None
    categorical_features: Any
    estimator_name: str
    encoding: EncodingRules

    def to_send(self) -> BatchRules:
        """Return the same without the categories that were learnt: surveys need their kind only."""
        return self if self.encoder is None else replace(self, encoder=self.encoder.for_surveys)


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """Merged survey of some parts of a batch.

    Attributes
    ----------
    table : TableSurvey or None
        Names, kinds and categories of their columns; None where no part has a sample.
    classes : ndarray or None
        Their class values, sorted.
    n_by_part : tuple of int
        Samples of each part that have a weight above 0.
    has_weights : bool
        Whether any weight is not 1.
    """

    table: TableSurvey | None
    classes: AnyArray | None
    n_by_part: tuple[int, ...]
    has_weights: bool


def merge_surveys(surveys: Sequence[Survey], rules: BatchRules) -> Survey:
    """Return the survey of several parts, or groups of parts, given in their order.

    Parameters
    ----------
    surveys : sequence of Survey
        One at least.
    rules : BatchRules
        Those that they were made by.

    Raises
    ------
    TypeError, ValueError
        If a column or the labels hold different kinds in different parts; the error names the parts.
    """
    filled = [(one.table, one.classes) for one in surveys if one.table is not None and one.classes is not None]
    tables = [table for table, _ in filled]
    return Survey(
        merge_table_surveys(tables, rules.encoding.column_changes) if tables else None,
        merge_values([(classes, table.source) for table, classes in filled], source_of(rules.number))
        if tables
        else None,
        tuple(n for one in surveys for n in one.n_by_part),
        any(one.has_weights for one in surveys),
    )


@dataclass(frozen=True, slots=True, eq=False)
class BatchPlan:
    """Input of encoding a part of a batch and of drawing samples from it.

    Attributes
    ----------
    number : int
        Number of the batch, counted from 1.
    encoder, labels : TableEncoder, LabelTable
        They know this batch.
    column_changes : str or None
        Whether parts may lack columns.
    first_serial : tuple of int
        By part the serial number of its first sample.
    n_samples : int
        Samples of the batch that have a weight above 0.
    has_weights : bool
        Whether any weight is not 1.
    max_samples : int or None
        Where the batch has more samples, about so many are drawn by the hash of their serial numbers; None draws all.
    regrouped : dict of int to Categories
        See `TableEncoder.regrouped_since`: codes of some columns before the batch. Parts have
        these as columns more until they are joined.
    """

    number: int
    encoder: TableEncoder
    labels: LabelTable
    column_changes: str | None
    first_serial: tuple[int, ...]
    n_samples: int
    has_weights: bool
    max_samples: int | None
    regrouped: dict[int, Categories] = field(default_factory=dict)

    def n_in(self, part: int) -> int:
        """Return how many samples a part had when it was surveyed, but those of weight 0."""
        ends = (*self.first_serial[1:], self.first_serial[0] + self.n_samples)
        return ends[part] - self.first_serial[part]

    @property
    def draws_all(self) -> bool:
        """Whether all samples are learnt from."""
        return self.max_samples is None or self.n_samples <= self.max_samples

    def are_drawn(self, serial: Int64Array) -> BoolArray:
        """Return which samples are learnt from, a decision for each by itself."""
        if self.max_samples is None or self.draws_all:
            return np.ones(len(serial), dtype=bool)
        return are_drawn(serial, self.max_samples / self.n_samples)


def plan_batch(
    rules: BatchRules,
    survey: Survey,
    labels: LabelTable | None,
    n_before: int = 0,
    classes: Any = None,
    max_samples: int | None = None,
) -> BatchPlan:
    """Return the plan for a batch from its complete survey.

    Parameters
    ----------
    rules : BatchRules
        With the encoder of earlier batches.
    survey : Survey
        Of all parts.
    labels : LabelTable or None
        The class values of earlier batches; None for a first batch.
    n_before : int
        Samples learnt before.
    classes : array-like, optional
        Class values that were declared.
    max_samples : int or None
        How many samples are learnt from.
    """
    source, table, values = source_of(rules.number), survey.table, survey.classes
    if table is None or values is None:
        check_array(np.empty((0, 1)), estimator=rules.estimator_name)  # raises, in scikit-learn's words
        raise AssertionError
    start = rules.encoder if rules.encoder is not None else table.start
    assert start is not None
    encoder = start.grown(table, rules.number, rules.encoding)
    *firsts, end = accumulate(survey.n_by_part, initial=n_before)
    check_any_weight(end - n_before, source)
    if labels is None:
        warn_of_many_classes(values, end - n_before, source)
    labels = LabelTable.of(values) if labels is None else labels.with_values(values, source)
    return BatchPlan(
        number=rules.number,
        encoder=encoder,
        labels=labels if classes is None else labels.declare(classes),
        column_changes=rules.encoding.column_changes,
        first_serial=tuple(firsts),
        n_samples=end - n_before,
        has_weights=survey.has_weights,
        max_samples=max_samples,
        regrouped={} if rules.encoder is None else encoder.regrouped_since(rules.encoder, table),
    )
