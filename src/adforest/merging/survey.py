"""The first pass over a batch: what must be known of all its samples before any of them can be encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from adforest.encoding import EncodingRules, TableEncoder
from adforest.encoding.labels import merge_values
from adforest.encoding.surveys import TableSurvey, merge_table_surveys
from adforest.encoding.tables import source_of
from adforest.forest.types import AnyArray


@dataclass(frozen=True, slots=True, eq=False)
class BatchRules:
    """What must be known to survey a part of a batch.

    Attributes
    ----------
    number : int
        Number of the batch, counted from 1.
    encoder : TableEncoder or None
        What was learnt before; None for a first batch.
    categorical_features
        As the user listed them.
    estimator_name : str
        What errors call the model.
    encoding : EncodingRules
        What the encoder may do.
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
    """What some parts of a batch hold.

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
