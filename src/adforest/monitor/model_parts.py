"""The parts of a `ModelView`: plain figures. Those over time are columns of equal length, oldest first."""

from __future__ import annotations

from dataclasses import dataclass

GOOD, WATCH, ACT = LEVELS = ("good", "watch", "act")
VOTE = "vote"  # all forests together, among figures by forest


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that speaks against a model being well.

    Attributes
    ----------
    level : {"watch", "act"}
    kind : {"accuracy", "chance", "drift", "class", "column", "missing", "unseen", "age"}
        What it is about, see docs/health.md for the rule of each.
    sentence : str
    batch : int or None
        The last batch that shows it.
    column : str or None
        Name of the column it is about.
    """

    level: str
    kind: str
    sentence: str
    batch: int | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a model is well.

    Attributes
    ----------
    level : {"good", "watch", "act"}
        The worst level of all findings.
    reason : str
        One sentence: that of the first finding, or what was looked at where there is none.
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
        Seconds since 1970; None where that was not kept.
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
        None where a batch has no such figure.
    low, high : tuple of float or None
        Bounds of the 95 % interval (Wilson 1927) by the number of samples that were tested.
    """

    mean: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened, oldest first: a place is a batch, or a block of older batches that were summarised.

    All tuples have the same length.

    Attributes
    ----------
    first, last : tuple of int
        First and last batch of each place; the same for a batch that is kept whole.
    n_samples : tuple of int
    accuracy : dict of str to Series
        By forest, if it answered alone, and "vote" for what `predict` answers: before learning. `PaperADFClassifier`:
        the vote before learning, forests after it.
    metrics : dict of str to tuple of float or None
        "balanced_accuracy", "log_loss", "brier_score", "roc_auc" and "average_precision" of the vote before learning,
        see `BatchReport` (mean over a block).
    confidence : tuple of float or None
        Mean share that the vote gave to the class it named, before learning.
    expected : tuple of float or None
        Accuracy of the vote as it was to be expected from its confidence by what batches before had shown.
    votes : dict of str to tuple of float
        By forest: its weight in the vote after the batch (mean over a block).
    answering : tuple of str
        The forest whose vote is worth most after the place.
    n_temporary, n_sustained : tuple of int
        How many batches of the place were called temporary and sustained drift.
    n_new_classes : tuple of int
    n_leaves : dict of str to tuple of int or None
        By forest after the place.
    seconds : tuple of float
        What learning took a batch (mean over a block).
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
    """Something rare that happened.

    Attributes
    ----------
    batch : int
    kind : {"drift temporary", "drift sustained", "class born", "class gone", "class returned"}
        Temporary drifts are listed for batches that are kept whole, sustained ones also before.
        "class gone": batch is the last one that had it.
    klass : str or None
        The class, as it is written.
    """

    batch: int
    kind: str
    klass: str | None = None


@dataclass(frozen=True, slots=True)
class ClassView:
    """A class: since when it is known, whether it still comes, and what memory keeps of it.

    Attributes
    ----------
    value : str
        As it is written.
    status : {"present", "new", "gone", "returned", "declared"}
        "new": first seen in the last batches, and not in the first one. "gone": by its share until then, seven or more
        of the records since would have been of it. "returned": was gone and has come again in the last batches.
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
        As it is written: "12.5 to 20", "above 20", a category, "other categories", "missing".
    kind : {"range", "category", "other", "missing"}
    low, high : float or None
        Bounds of a range of numbers, the upper one included; None where it is open, and for other kinds.
    past, last : float
        Share of the records before and of the last batches.
    """

    label: str
    kind: str
    low: float | None
    high: float | None
    past: float
    last: float


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column: how far its last batches are from the past, and whether it matters.

    Attributes
    ----------
    name : str
    position : int
    kind : str
        "numbers", "dates", "dates with a time zone", "durations", "categories" or "undecided".
    distance : float
        Jensen-Shannon distance (0 to 1) of the last batches from the past, beyond what chance gives unchanged columns.
    usual_distance : float
        Mean of that distance over the earlier blocks.
    importance : float
        See `feature_importances_`; all columns sum to 1.
    impact : float
        distance * importance: what drifts and matters.
    bins : tuple of BinView
        Both distributions; the first bins are in order, then "other categories" and "missing".
    outside : float
        Share of the last batches beyond the range that the past had when bins were made.
    missing, unseen : float
        Share of the last batches without a value, and with a category that had never been learnt.
    missing_before, unseen_before : float or None
        The same of the past; None where there is none.
    missing_by_block, unseen_by_block, distance_by_block : tuple of float or None
        The same over time, by place of `ModelView.column_blocks`; None before the column was known.
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
    """A forest as it stands.

    Attributes
    ----------
    name : {"permanent", "active", "temporary", "newest"}
    same_as : str or None
        The forest whose trees it has, as the active one mostly has those of the permanent one.
    vote : float
        Its weight in the vote, where records of the last batches are near.
    answers : bool
        Whether its vote is worth most.
    n_trees, n_leaves, n_nodes : int
    max_depth : int
        Of its deepest leaf.
    mean_depth : float
        Mean over leaves.
    bytes : int
        What its trees take.
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
    """The records at hand; by class see `ClassView`.

    Attributes
    ----------
    n_samples : int
    n_waiting : int
        Samples of small batches that wait to be learnt.
    limit : int or None
        ``memory_size``: how many may be kept besides those of the last batches; None for all.
    bytes : int
    is_complete : bool
        False where the model was saved, or the snapshot taken, without records: all are 0 then.
    """

    n_samples: int
    n_waiting: int
    limit: int | None
    bytes: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class ExpectedAccuracy:
    """What accuracy is to be expected from the confidence of the vote, and how well that did so far.

    Attributes
    ----------
    mean : float or None
        Confidence, corrected by how far it was off lately. None where no batch was answered before it was learnt.
    low, high : float or None
        Band that held the accuracy of about nine of ten recent batches of such a size, see docs/health.md.
    confidence : float or None
        Mean share that the vote gave to the class it named.
    n_samples : int
        Samples that it is said of.
    bias : float or None
        Mean of accuracy minus confidence over recent batches.
    error : float or None
        Mean distance of accuracy from what had been expected, over recent batches.
    n_batches : int
        Recent batches that this is known from.
    hits : float or None
        Share of those whose accuracy was within the band said before they were learnt.
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
