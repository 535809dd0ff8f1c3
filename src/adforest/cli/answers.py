"""Answers of a model as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

FORMULA = r"^[=+\-@＝＋－＠\t\r\n]"  # what makes a spreadsheet run a text
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"  # which is none
LABEL, CONFIDENCE = "label", "confidence"


def columns_of_answers(model: Any, keep: Sequence[str], *, has_shares: bool) -> list[str]:
    """Return the names of the probabilities' columns, or raise if a column to be kept has one of the names."""
    names = [f"probability_{value}" for value in model.classes_.tolist()] if has_shares else []
    taken = [name for name in keep if name in (LABEL, CONFIDENCE, *names)]
    if taken:
        raise ValueError(
            f"--keep names {taken[0]!r}, which is what a column of answers is called. Rename the column in the file."
        )
    return names


def answered(model: Any, X: Any, kept: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Return the answers to some records as a table, and how often each class is the label.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier
    X, kept : pyarrow.Table
        The records, and columns to stand before the answers.
    names : sequence of str
        Names of the probabilities' columns, or none to leave them out.
    """
    import numpy as np
    import pyarrow as pa

    shares = model.predict_proba(X)
    best = shares.argmax(axis=1)
    values = pa.array(model.classes_.tolist())
    columns = dict(zip(kept.column_names, kept.columns, strict=True))
    columns[LABEL] = values.take(pa.array(best))
    by_class = np.ascontiguousarray(shares.T)
    columns |= {name: pa.array(by_class[place]) for place, name in enumerate(names)}
    columns[CONFIDENCE] = pa.array(shares[np.arange(len(best)), best])
    return pa.table(columns), np.bincount(best, minlength=len(values))


def without_formulas(table: Any) -> Any:
    """Return a table in which no text and no name of a column begins as a formula of a spreadsheet does.

    Such a text has an apostrophe before it, by which spreadsheets know that it is text. Numbers written as text stay.
    """
    import pyarrow as pa
    from pyarrow import compute

    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            is_run = compute.match_substring_regex(column, FORMULA)
            is_run = compute.and_not(is_run, compute.match_substring_regex(column, NUMBER))
            quoted = compute.binary_join_element_wise("'", column, pa.scalar("", column.type))
            column = compute.if_else(is_run, quoted, column)
        columns.append(column)
    is_run = [re.match(FORMULA, name) and not re.match(NUMBER, name) for name in table.column_names]
    names = [f"'{name}" if run else name for name, run in zip(table.column_names, is_run, strict=True)]
    return pa.table(columns, names=names)
