"""What is settled once a whole batch was surveyed: codes, serial numbers, and which samples are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from sklearn.utils import check_array

from adforest.encoding import LabelTable, TableEncoder
from adforest.encoding.categories import Categories
from adforest.encoding.labels import warn_of_many_classes
from adforest.encoding.tables import source_of
from adforest.encoding.weights import check_any_weight
from adforest.forest._kernels.sampling import are_drawn
from adforest.forest.types import BoolArray, Int64Array
from adforest.merging.survey import BatchRules, Survey


@dataclass(frozen=True, slots=True, eq=False)
class BatchPlan:
    """What must be known to encode a part of a batch and to draw from it.

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
        See `TableEncoder.regrouped_since`: what the model would have read in some columns before the batch. Parts have
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
    """Return what is settled by the survey of a whole batch.

    Parameters
    ----------
    rules : BatchRules
        With all that the encoder learnt before.
    survey : Survey
        Of all parts.
    labels : LabelTable or None
        What was learnt before; None for a first batch.
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
