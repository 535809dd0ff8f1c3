"""All figures of a model that the monitor shows, ready to be drawn or written as JSON.

`ModelView.from_estimator` makes it in one pass from a model, a snapshot or a loaded file; nothing here holds samples or
trees. Figures over time are columns of equal length, oldest first, so that a chart takes them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from adforest.adaptation import BatchReport
from adforest.monitor.model_parts import (
    ClassView,
    ColumnView,
    EventView,
    ExpectedAccuracy,
    ForestView,
    Freshness,
    Health,
    MemoryView,
    Timeline,
)


@dataclass(frozen=True, slots=True)
class ModelView:
    """All figures of a model that the monitor shows.

    Attributes
    ----------
    kind : str
        Name of the class of the model.
    n_batches, n_samples, n_classes, n_columns : int
        Batches and samples so far, known classes and columns.
    health : Health
        As it was when the view was made, see `at`.
    freshness : Freshness
        When it last learnt.
    timeline : Timeline
        All batches, older ones in blocks.
    events : tuple of EventView
        Oldest first.
    classes : tuple of ClassView
        In the order of ``classes_``.
    columns : tuple of ColumnView
        Worst first: by impact, then by distance.
    column_blocks : tuple of (int, int)
        First and last batch of each entry of the columns' series over time.
    last_batches : tuple of (int, int) or None
        First and last batch of "the last batches" of columns; None before there are any.
    past_batches : tuple of (int, int) or None
        First and last batch of the past that they are compared with.
    forests : tuple of ForestView
    memory : MemoryView
    expected : ExpectedAccuracy
        Of the next batch, if it is predicted with the confidence of the last ones and is as large as the last.
    batches : tuple of BatchReport
        Reports that are kept in full, oldest first.
    """

    kind: str
    n_batches: int
    n_samples: int
    n_classes: int
    n_columns: int
    health: Health
    freshness: Freshness
    timeline: Timeline
    events: tuple[EventView, ...]
    classes: tuple[ClassView, ...]
    columns: tuple[ColumnView, ...]
    column_blocks: tuple[tuple[int, int], ...]
    last_batches: tuple[int, int] | None
    past_batches: tuple[int, int] | None
    forests: tuple[ForestView, ...]
    memory: MemoryView
    expected: ExpectedAccuracy
    batches: tuple[BatchReport, ...]

    @classmethod
    def from_estimator(cls, estimator: Any) -> ModelView:
        """Return the view of a model.

        Parameters
        ----------
        estimator : AdaptiveDecisionForestClassifier, PaperADFClassifier or Snapshot
            A fitted or loaded one.

        Returns
        -------
        ModelView
        """
        from adforest.monitor.viewing import view_of

        return view_of(estimator)

    def at(self, now: float) -> ModelView:
        """Return the view with the health at a time in seconds since 1970: age counts from the last batch."""
        from adforest.monitor.health import health_at

        return replace(self, health=health_at(self.health, self.freshness, now))

    def as_dict(self) -> dict[str, Any]:
        """Return it as dictionaries, lists, text, finite numbers and None, for JSON."""
        plain: dict[str, Any] = _plain(self)
        return plain


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    kind = type(value)
    if kind is float:
        return value if isfinite(value) else None
    if value is None or kind in (str, int, bool):
        return value
    if kind in (tuple, list):
        return [_plain(one) for one in value]
    if kind is dict:
        return {str(key): _plain(one) for key, one in value.items()}
    if hasattr(kind, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in kind.__dataclass_fields__}
    return _plain(value.item()) if hasattr(value, "item") else str(value)
