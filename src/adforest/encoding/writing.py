"""Numbers, names, categories and class values as they are shown, no longer than they need be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIGITS = 4  # significant digits of a number, if they tell it apart
FULL_DIGITS = 17  # tell any two floats apart
WHOLE = 1e15  # integers below are written without an exponent


def write_number(value: float, low: float = -np.inf, high: float = np.inf) -> str:
    """Return the shortest way to write a number, from four significant digits on, that is in [low, high)."""
    if value.is_integer() and abs(value) < WHOLE:
        return str(int(value))
    whole_digits = len(str(int(abs(value)))) if abs(value) < WHOLE else 0
    for digits in range(max(DIGITS, whole_digits), FULL_DIGITS):
        text = f"{value:.{digits}g}"
        if low <= float(text) < high:
            return text
    return repr(value)


def write_value(value: object) -> str:
    """Return a name, category, class value or weight in full: integers without a point, text in one line."""
    if isinstance(value, float):
        return write_number(value, value, float(np.nextafter(value, np.inf)))
    return " ".join(str(value).splitlines())


def write_column(names: Sequence[object] | NDArray[Any] | None, position: int) -> str:
    """Return what a column is called, by position where it has no name."""
    return f"x[{position}]" if names is None else write_value(names[position])
