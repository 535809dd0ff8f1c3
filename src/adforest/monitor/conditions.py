"""Conditions of nodes as text: names of columns and categories, thresholds with as few digits as possible."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from adforest.encoding import TableEncoder
from adforest.encoding.rates import STEP
from adforest.encoding.rebuilding import DIGITS, FULL_DIGITS, write_column, write_number, write_value
from adforest.forest import Tree
from adforest.forest.tree import CATEGORICAL, MISSING_LEFT
from adforest.forest.types import AnyArray, Float64Array

MOST_CATEGORIES = 8  # named in one condition


class Condition(NamedTuple):
    """Conditions of the samples that go left, and of those that go right."""

    left: str
    right: str


class Conditions:
    """Puts the conditions of one tree into words.

    Parameters
    ----------
    tree : Tree
    encoder : TableEncoder
        Has the names of columns and categories.
    classes : ndarray
        Class values by code, for splits on class rates of categories.
    samples : float64 (n, m)
        Samples in memory. Thresholds are written so that they separate these as the tree does, and the side of missing
        values is given for columns in which one of them lacks its value.
    """

    def __init__(self, tree: Tree, encoder: TableEncoder, classes: AnyArray, samples: Float64Array) -> None:
        self._tree = tree
        self._encoder = encoder
        self._classes = classes
        self._samples = samples
        self._values = cache(self._sorted_values)
        self._thresholds = cache(self._sorted_thresholds)

    def condition(self, node: int) -> Condition:
        """Return the condition of an inner node."""
        threshold, _, split = self._tree.nodes[node].tolist()
        feature, missing_left = split >> 2, bool(split & MISSING_LEFT)
        read = self._by_categories if split & CATEGORICAL else self._by_threshold
        sides = read(threshold, feature, missing_left)
        if sides is None:
            sides = ("is missing", "is known") if missing_left else ("is known", "is missing")
        elif self._lacks_values(feature):
            left, right = sides
            sides = (f"{left} or missing", right) if missing_left else (left, f"{right} or missing")
        name = self._name(feature)
        return Condition(f"{name} {sides[0]}", f"{name} {sides[1]}")

    def _name(self, feature: int) -> str:
        """Return the name of a column: for a rate, its class and the column of its categories."""
        encoder, rate = self._encoder, feature - self._encoder.n_features
        if rate < 0:
            return write_column(encoder.feature_names, feature)
        position, number = encoder.rate_columns[rate]
        class_value = self._classes[encoder.rates[position].classes[number]]
        return f"odds of {write_value(class_value)} by {write_column(encoder.feature_names, position)}"

    def _lacks_values(self, feature: int) -> bool:
        """Return whether one of the samples has no value in a column."""
        return len(self._values(feature)) - 2 < len(self._samples)

    def _by_categories(self, first: float, feature: int, missing_left: bool) -> tuple[str, str] | None:
        """Return the two sides of a bit set, which may know fewer categories than the encoder."""
        values = self._encoder.category_values(feature)
        bits = self._tree.goes_left(int(first))[: len(values)]
        goes_left = np.append(bits, np.full(len(values) - len(bits), missing_left))
        # A code that was given back has no value now.
        sides = [(write_value(value), side) for value, side in zip(values, goes_left, strict=True) if value is not None]
        left, right = ([name for name, is_left in sides if is_left == side] for side in (True, False))
        return _in_sets(left, right, prefers_right=missing_left) if left and right else None

    def _by_threshold(self, threshold: float, feature: int, missing_left: bool) -> tuple[str, str] | None:
        """Return the two sides of a threshold."""
        if np.isinf(threshold):
            return None
        if feature >= self._encoder.n_features:
            number = write_number(float(f"{np.exp(STEP * threshold):.{DIGITS}g}"))
            return f"<= {number} times the overall odds", f"> {number} times the overall odds"
        above = float(np.nextafter(threshold, np.inf))
        if len(repr(above)) < FULL_DIGITS / 2 and len(repr(threshold)) > len(repr(above)) + DIGITS:
            number = write_value(above)  # the threshold is 99.99999999999999: a root that lets 100 go right
            return f"< {number}", f">= {number}"
        number = self._separating(threshold, feature)
        return f"<= {number}", f"> {number}"

    def _separating(self, threshold: float, feature: int) -> str:
        """Write a threshold so that it still separates samples, and differs from the tree's other ones."""
        values, others = self._values(feature), self._thresholds(feature)
        position, rank = np.searchsorted(values, threshold, side="right"), np.searchsorted(others, threshold)
        low = max(values[position - 1], (others[rank - 1] + threshold) / 2)
        high = min(values[position], (threshold + others[rank + 1]) / 2)
        return write_number(threshold, low, high)

    def _sorted_values(self, feature: int) -> Float64Array:
        """Return the values of the samples in memory in one column, between two infinities."""
        column = self._samples[:, feature]
        return np.sort(np.concatenate([[-np.inf], column[~np.isnan(column)], [np.inf]]))

    def _sorted_thresholds(self, feature: int) -> Float64Array:
        """Return all thresholds of the tree for one column, between two infinities."""
        split = self._tree.nodes["split"]
        asks = (split >= 0) & (split >> 2 == feature) & (split & CATEGORICAL == 0)
        return np.unique(np.concatenate([[-np.inf], self._tree.nodes["threshold"][asks], [np.inf]]))


def _in_sets(left: list[str], right: list[str], *, prefers_right: bool) -> tuple[str, str]:
    """Name the smaller of two sets of categories; of equal ones the one that missing values stay out of."""
    if len(right) < len(left) or (len(right) == len(left) and prefers_right):
        right_side, left_side = _in_sets(right, left, prefers_right=False)
        return left_side, right_side
    more = len(left) - MOST_CATEGORIES
    named = left if more <= 0 else [*left[:MOST_CATEGORIES], f"... {more} more"]
    listed = "{" + ", ".join(named) + "}"
    return f"in {listed}", f"not in {listed}"
