"""Samples that came one at a time and wait to be learnt as one batch."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from typing import Any, Self

from adforest.encoding import LabelTable, dicts
from adforest.encoding.weights import LARGEST, SMALLEST


class WaitingSamples:
    """Samples with labels and weights; each is checked when it comes, so that together they always make a batch.

    Parameters
    ----------
    categorical : tuple of names, or None
        The only features that may hold text; None lets all of them.
    max_wait : float or None
        Seconds that the first of them may wait. The clock is not looked at if it is None.

    Attributes
    ----------
    kinds : dict
        What each feature holds that was learnt or waits.
    """

    def __init__(self, categorical: tuple[Hashable, ...] | None, max_wait: float | None) -> None:
        self.categorical = categorical
        self.max_wait = max_wait
        self.kinds: dict[Hashable, str] = {}
        self._classes: LabelTable | None = None  # of all samples ever taken
        self._seen: set[tuple[type, Any]] = set()  # labels that are in it, with their types: True is not 1
        self.clear()

    def clear(self) -> None:
        """Let no sample wait any more."""
        self.samples: list[dict[Hashable, Any]] = []
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self._since: float | None = None

    def __len__(self) -> int:
        return len(self.samples)

    def copy(self) -> Self:
        """Return a copy that takes samples of its own."""
        other = type(self)(self.categorical, self.max_wait)
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, list | dict | set) else value)
        return other

    def take(self, x: Mapping[Hashable, Any], y: Any, weight: float = 1.0) -> None:
        """Let a sample wait, or raise if it does not fit those before; one without weight is checked only."""
        new = dicts.new_kinds(x, self.kinds)
        for name, kind in new.items():
            if kind == dicts.TEXT and self.categorical is not None and name not in self.categorical:
                raise TypeError(
                    f"feature {name!r} of this sample holds text ({x[name]!r}) but is not among categorical_features. "
                    "Add it there, drop it, or convert it to a number."
                )
        if not 0 <= weight <= LARGEST:
            raise ValueError(f"the weight of this sample is {weight!r}; expected a number from 0 to {LARGEST:g}.")
        self.take_label(y)
        if weight < SMALLEST:
            return
        self.kinds.update(new)
        self.samples.append(dict(x))
        self.labels.append(y)
        self.weights.append(weight)
        if self.max_wait is not None and self._since is None:
            self._since = time.time()

    def take_label(self, y: Any) -> None:
        """Note a label, or raise if it is none, or of another kind than those before."""
        try:
            if (type(y), y) in self._seen:
                return
        except TypeError:  # it cannot be hashed
            kind = type(y).__name__
            raise TypeError(f"the label is a {kind}; expected text, a whole number or a boolean.") from None
        self._classes = (LabelTable.learn([y], None) if self._classes is None else self._classes.extend([y]))[0]
        self._seen.add((type(y), y))

    @property
    def is_time(self) -> bool:
        """Whether the first sample has waited long enough."""
        return self.max_wait is not None and self._since is not None and time.time() - self._since >= self.max_wait

    @property
    def n_classes(self) -> int:
        """Number of classes ever taken."""
        return 0 if self._classes is None else len(self._classes.by_arrival)

    def classes_besides(self, known: list[Any]) -> list[Any]:
        """Return the classes ever taken that are not known."""
        return [] if self._classes is None else [one for one in self._classes.by_arrival.tolist() if one not in known]

    def shares(self) -> dict[Any, float]:
        """Return how frequent each class is among those that wait, by weight."""
        total, by_label = sum(self.weights), dict.fromkeys(self.labels, 0.0)
        for label, weight in zip(self.labels, self.weights, strict=True):
            by_label[label] += weight
        return {label: weight / total for label, weight in by_label.items()}
