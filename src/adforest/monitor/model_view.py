"""All figures of a model that the monitor shows, ready to be drawn or written as JSON.

`ModelView.from_estimator` makes it in one pass from a model, a snapshot or a loaded file; nothing here holds samples or
trees. Figures over time are columns of equal length, oldest first, so that a chart takes them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from adforest.adaptation import BatchReport
from adforest.monitor.column_drift import ColumnView
from adforest.monitor.expectation import ExpectedAccuracy
from adforest.monitor.health import Freshness, Health, health_at


@dataclass(frozen=True, slots=True)
class Series:
    """An accuracy over time with its band.

    Attributes
    ----------
    mean : tuple of float or None
        None where a batch has no such value.
    low, high : tuple of float or None
        Bounds of the 95 % interval (Wilson 1927) by the number of samples that were tested.
    """

    mean: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Series over time, oldest first: an entry is a batch, or a block of older batches.

    All tuples have the same length.

    Attributes
    ----------
    first, last : tuple of int
        First and last batch of each entry; the same for a single batch.
    n_samples : tuple of int
    accuracy : dict of str to Series
        By forest alone, and "vote" for `predict`: before learning. `PaperADFClassifier`: the vote before learning,
        forests after it.
    metrics : dict of str to tuple of float or None
        "balanced_accuracy", "log_loss", "brier_score", "roc_auc" and "average_precision" of the vote before learning,
        see `BatchReport` (mean over a block).
    confidence : tuple of float or None
        Mean probability of the predicted class, before learning.
    expected : tuple of float or None
        Accuracy of the vote, estimated from its confidence and earlier batches.
    votes : dict of str to tuple of float
        By forest: its weight in the vote after the batch (mean over a block).
    answering : tuple of str
        The forest with the most weight after the entry.
    n_temporary, n_sustained : tuple of int
        Number of batches of the entry with temporary and with sustained drift.
    n_new_classes : tuple of int
    n_leaves : dict of str to tuple of int or None
        By forest, after the entry.
    seconds : tuple of float
        Time of learning per batch (mean over a block).
    learnt_at : tuple of float or None
        When its last batch was learnt, in seconds since 1970.
    """

    first: tuple[int, ...]
    last: tuple[int, ...]
    n_samples: tuple[int, ...]
    accuracy: dict[str, Series]
    metrics: dict[str, tuple[float | None, ...]]
    confidence: tuple[float | None, ...]
    expected: tuple[float | None, ...]
    votes: dict[str, tuple[float, ...]]
    answering: tuple[str, ...]
    n_temporary: tuple[int, ...]
    n_sustained: tuple[int, ...]
    n_new_classes: tuple[int, ...]
    n_leaves: dict[str, tuple[int | None, ...]]
    seconds: tuple[float, ...]
    learnt_at: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class EventView:
    """A rare event.

    Attributes
    ----------
    batch : int
    kind : {"drift temporary", "drift sustained", "class born", "class gone", "class returned"}
        Temporary drifts are listed for batches whose reports are kept in full, sustained ones also before.
        "class gone": batch is the last one that had it.
    klass : str or None
        The class, as text.
    """

    batch: int
    kind: str
    klass: str | None = None


@dataclass(frozen=True, slots=True)
class ClassView:
    """A class: since when it is known, whether it is still seen, and its samples in memory.

    Attributes
    ----------
    value : str
        As it is written.
    status : {"present", "new", "gone", "returned", "declared"}
        "new": first seen in the last batches, and not in the first one. "gone": by its frequency until then, seven or
        more of the samples since would have been of it. "returned": was gone and was seen again in the last batches.
        "declared": announced, but not seen yet.
    first_batch, last_batch : int or None
    n_samples : int
        Samples ever seen.
    n_returns : int
        How often it returned after it was gone.
    n_in_memory : int
        Samples kept.
    bytes_in_memory : int
    """

    value: str
    status: str
    first_batch: int | None
    last_batch: int | None
    n_samples: int
    n_returns: int
    n_in_memory: int
    bytes_in_memory: int


@dataclass(frozen=True, slots=True)
class ForestView:
    """A forest.

    Attributes
    ----------
    name : {"permanent", "active", "temporary", "newest"}
    same_as : str or None
        The forest whose trees it has, as the active one mostly has those of the permanent one.
    vote : float
        Its weight in the vote, where samples of the last batches are near.
    answers : bool
        Whether it has the most weight in the vote.
    n_trees, n_leaves, n_nodes : int
    max_depth : int
        Of its deepest leaf.
    mean_depth : float
        Mean over leaves.
    bytes : int
        Size of its trees.
    """

    name: str
    same_as: str | None
    vote: float
    answers: bool
    n_trees: int
    n_leaves: int
    n_nodes: int
    max_depth: int
    mean_depth: float
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryView:
    """The samples in memory; by class see `ClassView`.

    Attributes
    ----------
    n_samples : int
    n_waiting : int
        Number of pending samples of small batches.
    limit : int or None
        ``memory_size``: maximum number of samples besides those of the last batches; None for all.
    bytes : int
    is_complete : bool
        False where the model was saved, or the snapshot taken, without samples: all are 0 then.
    """

    n_samples: int
    n_waiting: int
    limit: int | None
    bytes: int
    is_complete: bool


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
        Worst first: by impact, which is distance times importance, then by distance.
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
        from adforest.monitor.view_builder import view_of

        return view_of(estimator)

    def at(self, now: float) -> ModelView:
        """Return the view with the health at a time in seconds since 1970: age counts from the last batch."""
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
