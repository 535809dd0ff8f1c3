"""Report of a batch: results and updates of the members and their vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adforest.adaptation.report import Row
from adforest.wording import counted


@dataclass(frozen=True, slots=True)
class VotingReport(Row):
    """Report of one batch of a `NextBatchVotingClassifier`.

    Attributes
    ----------
    batch : int
        Number of the batch, from 1.
    n_samples : int
    new_classes : tuple
        Class values never seen before.
    n_tested : int
        Number of samples that the members were tested on before they learnt them: all of the batch, or 500 at random.
    accuracy : dict of str to float
        On these, by member, and "vote" for `predict`. Members that could not predict are not in it; it is empty for the
        first batch.
    log_loss : dict of str to float
        Likewise, by scikit-learn's definition; a class that was not known has a probability of 0, which counts as
        2.2e-16.
    weight : dict of str to float
        By member: its weight in the vote from now on.
    action : dict of str to str
        By member: "learnt" the batch, "refitted" with it, "kept" as it was, or "left out" of the vote.
    left_out : dict of str to str
        By member that is left out of the vote: the reason.
    seconds : dict of str to float
        By member: time of predicting and learning.

    Examples
    --------
    >>> print(VotingReport(2, 400, (), 400, {"adf": 0.9, "vote": 0.9}, {"adf": 0.31, "vote": 0.31},
    ...                    {"adf": 1.0, "svm": 0.0}, {"adf": "learnt", "svm": "left out"},
    ...                    {"svm": "ValueError: one class only"}, {"adf": 0.25, "svm": 0.01}))
    batch 2: 400 samples
      adf   learnt    weight 1.00  accuracy 0.900  log loss 0.310  0.250 s
      svm   left out  weight 0.00  0.010 s  ValueError: one class only
      vote            accuracy 0.900  log loss 0.310
    """

    batch: int
    n_samples: int
    new_classes: tuple[Any, ...]
    n_tested: int
    accuracy: dict[str, float]
    log_loss: dict[str, float]
    weight: dict[str, float]
    action: dict[str, str]
    left_out: dict[str, str]
    seconds: dict[str, float]

    def __str__(self) -> str:
        new = f", new classes {', '.join(map(str, self.new_classes))}" if self.new_classes else ""
        lines = [f"batch {self.batch}: {counted(self.n_samples, 'sample')}{new}"]
        width = max(map(len, (*self.action, "vote")))
        for name in (*self.action, "vote"):
            parts = [f"{name:<{width}}  {self.action.get(name, ''):<8}"]
            parts += [f"weight {self.weight[name]:.2f}"] if name in self.weight else []
            for title, values in (("accuracy", self.accuracy), ("log loss", self.log_loss)):
                parts += [f"{title} {values[name]:.3f}"] if name in values else []
            parts += [f"{self.seconds[name]:.3f} s"] if name in self.seconds else []
            parts += [self.left_out[name]] if name in self.left_out else []
            lines.append(("  " + "  ".join(parts)).rstrip())
        return "\n".join(lines)
