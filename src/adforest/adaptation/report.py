"""What happened in a batch, and why."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What learning one batch did to the model.

    Attributes
    ----------
    batch : int
        Its number, from 1.
    n_records : int
    scenario : {"SKC", "MKC", "SUC", "MUC", "MKUC"}
        Its classes against those known before, see `adforest.adaptation.scenario`.
    new_classes : tuple
        Class values never seen before.
    drift : {"none", "temporary", "sustained"}
        Whether the active forest was outdone by one of the last batches (`PaperADFClassifier`: could not be repaired),
        and if so, whether that has lasted.
    perturbed : dict of str to float
        By forest: how much of it the batch perturbs [ϑ], see `adforest.adaptation.perturbation`.
    action : dict of str to str
        By forest: "built", "repaired", "rebuilt", "kept" as it was, "replaced" by the temporary forest, "rejoined" to
        the permanent one, "dropped", or "waiting" for more records.
    accuracy : dict of str to float
        By forest, if it answered alone: on the batch, or a sample of it, before it was learnt; "vote" is all of them
        together. `PaperADFClassifier`: forests after it was learnt, the vote before.
    n_leaves : dict of str to int
        By forest that stands after the batch.
    answering : {"permanent", "active", "temporary", "newest"}
        The forest that answers from now on, or whose vote is worth most.
    votes : dict of str to float
        By forest that answers: its weight where records of the last batches are near.
    seconds : float
        What learning the batch took.
    confidence : float or None
        Mean share of the class that the vote named, on the same records as accuracy, before they were learnt; None for
        the first batch.
    n_tested : float
        How many records accuracy was measured on; of records with weights, as many of equal weight as say as much.

    Examples
    --------
    >>> print(BatchReport(2, 400, "MKC", (), "none", {"permanent": 0.1, "active": 0.1},
    ...                   {"permanent": "repaired", "active": "repaired"}, {"permanent": 0.9, "active": 0.88},
    ...                   {"permanent": 120, "active": 110}, "permanent", {"permanent": 1.0}, 0.25))
    batch 2: 400 records, MKC, drift none, permanent answers (0.250 s)
      permanent   repaired   perturbed 0.100  accuracy 0.900  leaves 120
      active      repaired   perturbed 0.100  accuracy 0.880  leaves 110
    """

    batch: int
    n_records: int
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

    def as_row(self) -> dict[str, Any]:
        """Return a flat dictionary: what is by forest has a key for each, such as ``accuracy_vote``."""
        return flat_row(self)

    def __str__(self) -> str:
        plural = "" if self.n_records == 1 else "s"
        new = f", new classes {', '.join(map(str, self.new_classes))}" if self.new_classes else ""
        lines = [
            f"batch {self.batch}: {self.n_records} record{plural}, {self.scenario}{new}, drift {self.drift}, "
            f"{self.answering} answers ({self.seconds:.3f} s)"
        ]
        for name, action in self.action.items():
            line = f"  {name:<10}  {action:<9}"
            for title, values in (("perturbed", self.perturbed), ("accuracy", self.accuracy)):
                line += f"  {title} {values[name]:.3f}" if name in values else ""
            line += f"  leaves {self.n_leaves[name]}" if name in self.n_leaves else ""
            lines.append(line.rstrip())
        return "\n".join(lines)


def flat_row(owner: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; a dictionary has a key for each of its own, such as ``accuracy_vote``."""
    row: dict[str, Any] = {}
    for one in fields(owner):
        value = getattr(owner, one.name)
        if isinstance(value, dict):
            row |= {f"{one.name}_{name}": figure for name, figure in value.items()}
        else:
            row[one.name] = value
    return row
