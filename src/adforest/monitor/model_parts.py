"""The parts of a `ModelView`: plain figures. Those over time are columns of equal length, oldest first."""

from __future__ import annotations

from dataclasses import dataclass

GOOD, WATCH, ACT = LEVELS = ("good", "watch", "act")
VOTE = "vote"  # all forests together, among figures by forest


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a model.

    Attributes
    ----------
    level : {"watch", "act"}
    kind : {"accuracy", "chance", "drift", "class", "column", "missing", "unseen", "age"}
        Kind of the problem, see docs/health.md for the rule of each.
    sentence : str
    batch : int or None
        The last batch that shows it.
    column : str or None
        Name of the column concerned.
    """

    level: str
    kind: str
    sentence: str
    batch: int | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Health of a model.

    Attributes
    ----------
    level : {"good", "watch", "act"}
        The worst level of all findings.
    reason : str
        One sentence: that of the first finding, or what was checked if there is none.
    findings : tuple of Finding
        Worst first.
    """

    level: str
    reason: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Freshness:
    """When a model last learnt, and how long it may be without a batch.

    Attributes
    ----------
    learnt_at : float or None
        Seconds since 1970; None where that was not stored.
    watch_after, act_after : float
        Seconds without a batch after which that is a finding.
    """

    learnt_at: float | None
    watch_after: float
    act_after: float


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
        "balanced_accuracy", "log_loss", "roc_auc" and "average_precision" of the vote before learning, see
        `BatchReport` (mean over a block).
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
    """A class: since when it is known, whether it still comes, and how much memory keeps of it.

    Attributes
    ----------
    value : str
        As it is written.
    status : {"present", "new", "gone", "returned", "declared"}
        "new": first seen in the last batches, and not in the first one. "gone": by its share until then, seven or more
        of the samples since would have been of it. "returned": was gone and has come again in the last batches.
        "declared": announced, but not seen yet.
    first_batch, last_batch : int or None
    n_samples : int
        Samples ever seen.
    n_returns : int
        How often it came again after it was gone.
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
class BinView:
    """One bin of a column, or one category.

    Attributes
    ----------
    label : str
        Text: "12.5 to 20", "above 20", a category, "other categories", "missing".
    kind : {"range", "category", "other", "missing"}
    low, high : float or None
        Bounds of a range of numbers, the upper one included; None where it is open, and for other kinds.
    past, last : float
        Share of the samples before and of the last batches.
    """

    label: str
    kind: str
    low: float | None
    high: float | None
    past: float
    last: float


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column: distance of its last batches from the past, and its importance.

    Attributes
    ----------
    name : str
    position : int
    kind : str
        "numbers", "dates", "dates with a time zone", "durations", "categories" or "undecided".
    distance : float
        Jensen-Shannon distance (0 to 1) of the last batches from the past, corrected for chance.
    usual_distance : float
        Mean of that distance over the earlier blocks.
    importance : float
        See `feature_importances_`; all columns sum to 1.
    impact : float
        distance * importance.
    bins : tuple of BinView
        Both distributions; the first bins are in order, then "other categories" and "missing".
    outside : float
        Fraction of the last batches outside the range of the past when bins were made.
    missing, unseen : float
        Fraction of the last batches without a value, and with a category that had never been learnt.
    missing_before, unseen_before : float or None
        The same of the past; None where there is none.
    missing_by_block, unseen_by_block, distance_by_block : tuple of float or None
        The same over time, by entry of `ModelView.column_blocks`; None before the column was known.
    """

    name: str
    position: int
    kind: str
    distance: float
    usual_distance: float
    importance: float
    impact: float
    bins: tuple[BinView, ...]
    outside: float
    missing: float
    unseen: float
    missing_before: float | None
    unseen_before: float | None
    missing_by_block: tuple[float | None, ...]
    unseen_by_block: tuple[float | None, ...]
    distance_by_block: tuple[float | None, ...]


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
class ExpectedAccuracy:
    """Accuracy estimated from the confidence of the vote, with the error of earlier estimates.

    Attributes
    ----------
    mean : float or None
        Confidence, corrected by its recent bias. None where no batch was predicted before it was learnt.
    low, high : float or None
        Interval for the accuracy of about nine of ten batches of this size, see docs/health.md.
    confidence : float or None
        Mean probability of the predicted class.
    n_samples : int
        Number of samples of the estimate.
    bias : float or None
        Mean of accuracy minus confidence over recent batches.
    error : float or None
        Mean absolute error of estimates, over recent batches.
    n_batches : int
        Number of recent batches that this is computed from.
    hits : float or None
        Fraction of those whose accuracy was within the interval estimated before they were learnt.
    """

    mean: float | None
    low: float | None
    high: float | None
    confidence: float | None
    n_samples: int
    bias: float | None
    error: float | None
    n_batches: int
    hits: float | None
