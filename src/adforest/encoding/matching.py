"""Columns that arrive, set beside those learnt: matched by name where both have names, by position otherwise.

Integers and the tuples of a pandas MultiIndex are names as text is; a model that learnt arrays expects the names
0, 1, 2, ... Where one side has text and the other has not, columns go by position, with scikit-learn's warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adforest.encoding.columns import Column, FloatArray
from adforest.encoding.frames import Names
from adforest.encoding.tables import Table, are_text
from adforest.exceptions import InputError


def match_columns(
    table: Table, learnt: Names | None, n_learnt: int, estimator_name: str, changes: str | None, *, adds: bool
) -> tuple[Table, str | None]:
    """Return a table with its columns in the order learnt, and what to warn of, if anything.

    Raises an error if they are not the columns learnt.

    Parameters
    ----------
    table : Table
    learnt : tuple or None
        Names of the columns learnt, if they have any.
    n_learnt : int
        How many they are.
    estimator_name : str
    changes : {"error", "allow"} or None
        Whether columns may be added or dropped: those that the table lacks are missing in its samples.
    adds : bool
        Whether columns not learnt yet then follow behind the others, or are left out.
    """
    expected: Names = tuple(range(n_learnt)) if learnt is None else learnt
    arrived = table.names
    if arrived is None or are_text(arrived) != are_text(learnt):
        _check_number(table, n_learnt, estimator_name)
        return replace(table, names=learnt), _unmatched_names(arrived, expected, estimator_name)
    if arrived == expected:
        return replace(table, names=learnt), None
    _check_same_names(expected, arrived, table.source, changes)
    where = {name: position for position, name in enumerate(arrived)}
    known = set(expected)
    names = (*expected, *(name for name in arrived if adds and name not in known))
    content = _arranged(table, [where.get(name) for name in names])
    return replace(table, names=names, content=content, n_columns=len(names)), None


def _arranged(table: Table, order: Sequence[int | None]) -> FloatArray | list[Column]:
    """Return the content with its columns in another order; None is a column of missing values."""
    missing = np.full(table.n_samples, np.nan)
    if isinstance(table.content, np.ndarray):
        if None not in order:
            return table.content[:, np.array(order, dtype=np.intp)]
        return np.column_stack([missing if position is None else table.content[:, position] for position in order])
    return [missing if position is None else table.content[position] for position in order]


def _unmatched_names(arrived: Names | None, expected: Names, estimator_name: str) -> str | None:
    """Return a warning, in scikit-learn's words, if only one side has names that could be matched with the other's."""
    if are_text(arrived):
        return f"X has feature names, but {estimator_name} was fitted without feature names"
    if expected == tuple(range(len(expected))):
        return None
    return f"X does not have valid feature names, but {estimator_name} was fitted with feature names"


def _check_number(table: Table, n_learnt: int, estimator_name: str) -> None:
    """Raise if columns that go by position are too many or too few."""
    if table.n_columns != n_learnt:
        raise InputError(
            f"X has {table.n_columns} features, but {estimator_name} is expecting {n_learnt} features "
            f"as input. Give {table.source} the columns the model learnt, in the same order, or start a new model "
            "with fit()."
        )


def _check_same_names(learnt: Names, arrived: Names, source: str, changes: str | None) -> None:
    """Raise if columns are missing or in excess and may not be; their order does not matter."""
    extra = [name for name in arrived if name not in set(learnt)]
    missing = [name for name in learnt if name not in set(arrived)]
    if not extra and not missing:
        return
    if changes == "allow" and len(missing) < len(learnt):
        return
    parts, advice = [], []
    for names, one, remedy in ((extra, "extra", "Drop"), (missing, "missing", "Add")):
        if names:
            shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
            parts.append(f"the {one} one is {shown}" if len(names) == 1 else f"the {one} ones are {shown}")
            advice.append(f"{remedy} {'it' if len(names) == 1 else 'them'}")
    has = "have" if source == "these samples" else "has"
    if extra and missing:
        advice = ["Rename the columns"]
    allow = "set column_changes='allow', " if changes == "error" else ""
    raise InputError(
        "The feature names should match those that were passed during fit.\n"
        f"{source} {has} {len(arrived)} columns but the model learnt {len(learnt)}; {' and '.join(parts)}. "
        f"{advice[0]}, {allow}or start a new model with fit()."
    )
