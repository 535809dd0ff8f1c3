"""Samples that are collected one by one, to be learnt as one batch."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from typing import Any, Self

from adforest.encoding import LabelTable, dicts
from adforest.encoding.labels import distinct_labels
from adforest.encoding.tables import LARGEST_WEIGHT, SMALLEST_WEIGHT
from adforest.exceptions import InputError, InputTypeError


class WaitingSamples:
    """Samples with labels and weights; each is checked when it is added, so that they always make a valid batch.

    Parameters
    ----------
    categorical : tuple of names, or None
        The only features that may hold text; None: all.
    max_wait : float or None
        Seconds after which the first of them is due. The clock is not read if it is None.

    Attributes
    ----------
    kinds : dict
        Kind of each feature, learnt or collected.
    """

    def __init__(self, categorical: tuple[Hashable, ...] | None, max_wait: float | None) -> None:
        self.categorical = categorical
        self.max_wait = max_wait
        self.kinds: dict[Hashable, str] = {}
        self._classes: LabelTable | None = None  # of all samples so far
        self._seen: set[tuple[type, Any]] = set()  # labels in it, with their types: True is not 1
        self.clear()

    def clear(self) -> None:
        """Remove all samples."""
        self.samples: list[dict[Hashable, Any]] = []
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self._since: float | None = None

    def __len__(self) -> int:
        return len(self.samples)

    def copy(self) -> Self:
        """Return an independent copy."""
        other = type(self)(self.categorical, self.max_wait)
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, list | dict | set) else value)
        return other

    def take(self, x: Mapping[Hashable, Any], y: Any, weight: float = 1.0) -> None:
        """Add a sample, or raise if it is not consistent with those before; a sample of weight 0 is only checked."""
        new = dicts.new_kinds(x, self.kinds)
        for name, kind in new.items():
            if kind == dicts.TEXT and self.categorical is not None and name not in self.categorical:
                raise InputTypeError(
                    f"feature {name!r} of this sample holds text ({x[name]!r}) but is not among categorical_features. "
                    "Add it there, drop it, or convert it to a number."
                )
        if not 0 <= weight <= LARGEST_WEIGHT:
            raise InputError(
                f"the weight of this sample is {weight!r}; expected a number from 0 to {LARGEST_WEIGHT:g}."
            )
        self.take_label(y)
        if weight < SMALLEST_WEIGHT:
            return
        self.kinds.update(new)
        self.samples.append(dict(x))
        self.labels.append(y)
        self.weights.append(weight)
        if self.max_wait is not None and self._since is None:
            self._since = time.time()

    def take_label(self, y: Any) -> None:
        """Add a label, or raise if it is missing, or of another kind than those before."""
        try:
            if (type(y), y) in self._seen:
                return
        except TypeError:  # it cannot be hashed
            kind = type(y).__name__
            raise InputTypeError(f"the label is a {kind}; expected text, an integer or a boolean.") from None
        values, source = distinct_labels([y], dicts.SOURCE)[0], dicts.SOURCE
        self._classes = LabelTable.of(values) if self._classes is None else self._classes.with_values(values, source)
        self._seen.add((type(y), y))

    @property
    def is_time(self) -> bool:
        """Whether ``max_wait`` has passed since the first sample."""
        return self.max_wait is not None and self._since is not None and time.time() - self._since >= self.max_wait

    @property
    def n_classes(self) -> int:
        """Number of classes so far."""
        return 0 if self._classes is None else len(self._classes.by_arrival)

    def classes_besides(self, known: list[Any]) -> list[Any]:
        """Return the classes so far that are not among the known ones."""
        return [] if self._classes is None else [one for one in self._classes.by_arrival.tolist() if one not in known]

    def class_frequencies(self) -> dict[Any, float]:
        """Return the weighted class frequencies of the collected samples."""
        total, by_label = sum(self.weights), dict.fromkeys(self.labels, 0.0)
        for label, weight in zip(self.labels, self.weights, strict=True):
            by_label[label] += weight
        return {label: weight / total for label, weight in by_label.items()}
