"""Samples as dicts of features: each is checked when it arrives, and many become a table.

A feature that a sample lacks is missing in it. The type of a feature is fixed by its first value: numbers, text, dates
or durations; a sample that does not fit is refused before it is taken, so that those taken always make a table.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np

from adforest.encoding.columns import CATEGORIES, NUMBERS, UNDECIDED, Coded, Column, Moments, is_empty, object_column
from adforest.encoding.encoder import TableEncoder
from adforest.encoding.frames import Names
from adforest.encoding.tables import Table, source_of
from adforest.exceptions import InputError, InputTypeError
from adforest.forest.types import Float64Array

TEXT = "text"
PLAIN = {float: NUMBERS, int: NUMBERS, bool: NUMBERS, str: TEXT}
PLAIN_KINDS = frozenset((NUMBERS, CATEGORIES))
SOURCE = source_of(None)


def known_kinds(encoder: TableEncoder) -> dict[Hashable, str]:
    """Return the type of each feature learnt; those without a value so far are left out."""
    names = encoder.names or ()
    kinds: dict[Hashable, str] = {}
    for name, kind, known in zip(names, encoder.kinds, encoder.categories, strict=True):
        if kind == CATEGORIES and known is not None:
            if known.index_of:
                kinds[name] = TEXT if isinstance(next(iter(known.index_of)), str) else NUMBERS
        elif kind != UNDECIDED:
            kinds[name] = kind
    return kinds


def new_kinds(sample: Mapping[Hashable, Any], known: Mapping[Hashable, str]) -> dict[Hashable, str]:
    """Return the types of features that had no value before, or raise if a value or a name is invalid.

    Parameters
    ----------
    sample : mapping
        By feature its value.
    known : mapping
        Type by feature.
    """
    new: dict[Hashable, str] = {}
    for name, value in sample.items():
        kind = PLAIN.get(type(value)) or _kind_of(value, name)
        if kind is NUMBERS and not _is_finite(value, name):
            continue
        expected = known.get(name)
        if expected is None:
            if kind is not None:
                new[name] = kind
        elif kind is not None and kind != expected:
            raise InputTypeError(
                f"feature {name!r} of this sample holds {kind} ({value!r}) but {expected} in those before. Convert it "
                f"to {expected}."
            )
    check_names(new, known)
    return new


def _kind_of(value: Any, name: Hashable) -> str | None:
    """Return the type of an object other than a plain number or text, None if it is missing."""
    column = object_column([value], f"feature {name!r} of this sample")
    if is_empty(column):
        return None
    if isinstance(column, Moments):
        return column.kind
    return TEXT if isinstance(column, Coded) else NUMBERS


def _is_finite(value: Any, name: Hashable) -> bool:
    """Return whether a number is there; raise if it is infinite."""
    try:
        if isfinite(value):
            return True
    except OverflowError:  # an int that is too large for a float
        pass
    if value != value:
        return False
    raise InputError(
        f"feature {name!r} of this sample is infinite or too large for a float. Replace it with a finite number, or "
        "with None if it is not known."
    )


def check_names(new: Iterable[Hashable], known: Mapping[Hashable, str]) -> None:
    """Raise if some names of features are text and others are not."""
    names = [*new, *list(known)[:1]]
    texts = [name for name in names if isinstance(name, str)]
    if texts and len(texts) < len(names):
        other = next(name for name in names if not isinstance(name, str))
        raise InputTypeError(
            f"names of features are either all text or none is, but {texts[0]!r} is text and {other!r} is not. Rename "
            "them, for example with str()."
        )


def sorted_names(names: Iterable[Hashable]) -> list[Hashable]:
    """Return names in an order that does not depend on that of the samples."""
    return sorted(names, key=lambda name: name if isinstance(name, str) else repr(name))


def table_of_dicts(samples: Sequence[Mapping[Hashable, Any]], names: Names) -> Table:
    """Return samples as a table with some columns; features that a sample lacks are missing."""
    content = [
        object_column([sample.get(name, nan) for sample in samples], f"column {name!r} of {SOURCE}") for name in names
    ]
    return Table(len(samples), len(names), names, content, SOURCE)


def row_of_dict(sample: Mapping[Hashable, Any], encoder: TableEncoder) -> Float64Array:
    """Return one sample to be predicted as a matrix, in microseconds if its values are plain numbers and text."""
    row = _plain_row(sample, encoder)
    if row is not None and not np.isinf(row).any():
        return encoder.with_rates(row.reshape(1, -1))
    return encoder.translate(table_of_dicts([sample], encoder.names or ()))


def _plain_row(sample: Mapping[Hashable, Any], encoder: TableEncoder) -> Float64Array | None:
    """Return a sample's numbers and codes, or None if it holds anything else than plain numbers and known texts."""
    if not PLAIN_KINDS.issuperset(encoder.kinds):
        return None
    row = []
    for name, known in zip(encoder.names or (), encoder.categories, strict=True):
        value = sample.get(name, nan)
        if known is not None and name in sample:
            index = known.index_of.get(value) if type(value) is str else None
            if index is None:
                return None
            value = known.coded_as[index]
        row.append(value)
    try:  # refuses text, which NumPy would read as a number
        return np.frombuffer(array("d", row))
    except (TypeError, OverflowError):
        return None


def arrange(table: Table, names: Names) -> Table:
    """Return a table with some columns in a given order, those that it lacks missing, others left out."""
    where = {name: position for position, name in enumerate(table.names or ())}
    missing = np.full(table.n_samples, np.nan)
    content: list[Column] = [table.column(where[name]) if name in where else missing for name in names]
    return Table(table.n_samples, len(names), names, content, SOURCE)
