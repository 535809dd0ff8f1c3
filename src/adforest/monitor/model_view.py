"""All that is to see of a model at one moment: plain figures, ready to be drawn or written as JSON.

`ModelView.from_estimator` makes it in one pass from a model, a snapshot or a loaded file; nothing here holds records or
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
    """All that is to see of a model at one moment.

    Attributes
    ----------
    kind : str
        Name of the class of the model.
    n_batches, n_samples, n_classes, n_columns : int
        Given to it so far, classes and columns known.
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
        First and last batch of each place of what columns have over time.
    last_batches : tuple of (int, int) or None
        First and last batch of what is called "the last batches" of columns; None before there are any.
    past_batches : tuple of (int, int) or None
        The same of the past that they are compared with.
    forests : tuple of ForestView
    memory : MemoryView
    expected : ExpectedAccuracy
        Of the next batch, if it is answered with the confidence of the last ones and is as large as the last.
    batches : tuple of BatchReport
        The table of batches that are kept whole, oldest first.
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
        """Return what is to see of a model now.

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
        """Return the view with the verdict at a moment, in seconds since 1970: time passes without batches, too."""
        from adforest.monitor.health import health_at

        return replace(self, health=health_at(self.health, self.freshness, now))

    def as_dict(self) -> dict[str, Any]:
        """Return it as dictionaries, lists, text, finite numbers and None: what JSON can hold."""
        plain: dict[str, Any] = _plain(self)
        return plain


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
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
