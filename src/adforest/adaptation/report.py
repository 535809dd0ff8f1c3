"""Report of a batch: what learning it changed, and how well it was predicted before."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field, fields
from typing import Any

from adforest.wording import counted

PERMANENT, ACTIVE, TEMPORARY, NEWEST = FORESTS = ("permanent", "active", "temporary", "newest")
# Of the vote, besides accuracy.
METRICS = ("balanced_accuracy", "log_loss", "brier_score", "roc_auc", "average_precision")


class Row:
    """Base class of reports that can be rows of a table."""

    __slots__ = ()

    def as_row(self) -> dict[str, Any]:
        """Return a flat dictionary: what is by forest or member has a key for each, such as ``accuracy_vote``."""
        row: dict[str, Any] = {}
        for one in fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            is_by_name = isinstance(value, dict)
            row |= {f"{one.name}_{key}": figure for key, figure in value.items()} if is_by_name else {one.name: value}
        return row


@dataclass(frozen=True, slots=True)
class BatchReport(Row):
    """Report of one learnt batch.

    Attributes
    ----------
    batch : int
        Number of the batch, from 1.
    n_samples : int
        Number of samples in the batch.
    scenario : {"SKC", "MKC", "SUC", "MUC", "MKUC"}
        The paper's name of its classes: S or M for a single one or multiple ones; K, U or KU for known, unknown or
        both; C.
    new_classes : tuple
        Class values never seen before.
    drift : {"none", "temporary", "sustained"}
        Whether a forest of the last batches was clearly better than the active one, or the batch has an abrupt change
        (`PaperADFClassifier`: whether the active forest could not be repaired); "sustained" where that is so in more
        than ``drift_threshold`` batches in a row.
    perturbed : dict of str to float
        By forest: fraction of its leaves that the batch perturbs [ϑ], see `adforest.adaptation.repair`.
    action : dict of str to str
        By forest: "built", "repaired", "rebuilt", "kept" as it was, "replaced" by a forest of the last batches,
        "rejoined" (the active forest is the permanent one again), "dropped", or "waiting" for more samples.
    accuracy : dict of str to float
        Accuracy on the batch before it was learnt. "vote" is that of `predict` with the parameters set at that time
        (``answer_for`` among them), so that it is what `score` would have returned; by forest, its accuracy alone.
        Samples count once whatever their weight; those of weight 0, and those that ``max_samples`` left out, are not in
        it. Empty for the first batch. `PaperADFClassifier`: forests after the batch was learnt, the vote before.
    n_leaves : dict of str to int
        By forest: number of leaves after the batch.
    answering : {"permanent", "active", "temporary", "newest"}
        The forest that predicts from now on, or has the most weight in the vote.
    votes : dict of str to float
        By forest in the vote: its weight for samples near those of the last batches.
    seconds : float
        Time of learning the batch.
    confidence : float or None
        Mean probability of the predicted class, on the same samples as the accuracy; None for the first batch.
    n_tested : float
        Number of these samples.
    weighted_accuracy : dict of str to float
        As accuracy, weighted by ``sample_weight`` and ``class_weight``; empty where there are no weights.
    balanced_accuracy : float or None
        Mean recall over the batch's classes. This and the next four are scikit-learn's metrics,
        of what `predict` and `predict_proba` would have returned before the batch was learnt; None for the first batch.
    log_loss : float or None
        A class that was not known has a probability of 0, which counts as 2.2e-16.
    brier_score : float or None
        Mean squared distance between the class probabilities and the true class, by ``brier_score_loss`` with its
        default ``scale_by_half="auto"``: from 0 to 1 where there are two classes, from 0 to 2 where there are more.
    roc_auc, average_precision : float or None
        Of the second of two sorted classes; None where there are more than two, and where the batch has only one.
    learnt_at : float or None
        Time at which it was learnt, in seconds since 1970 (UTC); None in models of versions that did not store it.
    source : tuple of str
        Its files, if it was learnt by the command line.
    rows : tuple of (int, int) or None
        Its first and last sample among those of these files that have a class, counted from 1.

    Examples
    --------
    >>> print(BatchReport(2, 400, "MKC", (), "none", {"permanent": 0.1, "active": 0.1},
    ...                   {"permanent": "repaired", "active": "repaired"}, {"permanent": 0.9, "active": 0.88},
    ...                   {"permanent": 120, "active": 110}, "permanent", {"permanent": 1.0}, 0.25))
    batch 2: 400 samples, MKC, drift none, most weight: permanent (0.250 s)
      permanent   repaired   perturbed 0.100  accuracy 0.900  leaves 120
      active      repaired   perturbed 0.100  accuracy 0.880  leaves 110
    """

    batch: int
    n_samples: int
    scenario: str
    new_classes: tuple[Any, ...]
    drift: str
    perturbed: dict[str, float]
    action: dict[str, str]
    accuracy: dict[str, float]
    n_leaves: dict[str, int]
    answering: str
    votes: dict[str, float]
    seconds: float
    confidence: float | None = None
    n_tested: float = 0.0
    weighted_accuracy: dict[str, float] = field(default_factory=dict)
    balanced_accuracy: float | None = None
    log_loss: float | None = None
    brier_score: float | None = None
    roc_auc: float | None = None
    average_precision: float | None = None
    learnt_at: float | None = None
    source: tuple[str, ...] = ()
    rows: tuple[int, int] | None = None

    def __str__(self) -> str:
        new = f", new classes {', '.join(map(str, self.new_classes))}" if self.new_classes else ""
        lines = [
            f"batch {self.batch}: {counted(self.n_samples, 'sample')}, {self.scenario}{new}, drift {self.drift}, "
            f"most weight: {self.answering} ({self.seconds:.3f} s)"
        ]
        for name, action in self.action.items():
            line = f"  {name:<10}  {action:<9}"
            for title, values in (("perturbed", self.perturbed), ("accuracy", self.accuracy)):
                line += f"  {title} {values[name]:.3f}" if name in values else ""
            line += f"  leaves {self.n_leaves[name]}" if name in self.n_leaves else ""
            lines.append(line.rstrip())
        return "\n".join(lines)


def scenario_of(batch_classes: Collection[Hashable], known_classes: Collection[Hashable]) -> str:
    """Return the scenario of a batch from its class values and those known before it (the paper's Eq. 4).

    ======  =========================  ================
    name    classes in the batch       of them known
    ======  =========================  ================
    SKC     one                        all
    MKC     several                    all
    SUC     one                        none
    MUC     several                    none
    MKUC    several                    some
    ======  =========================  ================

    Examples
    --------
    >>> scenario_of({"a", "b"}, known_classes={"b", "c"})
    'MKUC'
    """
    batch, known = set(batch_classes), set(known_classes)
    amount = "S" if len(batch) == 1 else "M"
    if batch <= known:
        return amount + "KC"
    if batch & known:
        return "MKUC"
    return amount + "UC"
