"""A model and its challenger, which learns the same batches with other parameters: which answers them better?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from adforest.adaptation import BatchReport
from adforest.monitor.model_parts import VOTE
from adforest.origins import origins_of

MIN_BATCHES = 5  # before one is said to be better
CLEAR = 2.0  # standard errors that the difference must exceed


def challenger_path(model: str | os.PathLike[str]) -> Path:
    """Return where the challenger of a model lies.

    Examples
    --------
    >>> challenger_path("models/m.adf").as_posix()
    'models/m.challenger.adf'
    """
    path = Path(model)
    return path.with_name(f"{path.stem}.challenger{path.suffix}")


class SharedBatch(NamedTuple):
    """A batch that both answered before they learnt it: its number in the champion, and the accuracy of each."""

    batch: int
    n_tested: float
    champion: float
    challenger: float


@dataclass(frozen=True, slots=True)
class Challenge:
    """How a challenger does beside the champion.

    Attributes
    ----------
    batches : tuple of SharedBatch
        Oldest first.
    champion, challenger : float
        Accuracy on the samples of these batches before they were learnt.
    error : float
        Standard error of the difference, by how much it varies between batches.
    """

    batches: tuple[SharedBatch, ...]
    champion: float
    challenger: float
    error: float

    @property
    def difference(self) -> float:
        """By how much the challenger is better."""
        return self.challenger - self.champion

    @property
    def verdict(self) -> str:
        """Whether the challenger is "better", "worse", or that is "open"."""
        if len(self.batches) < MIN_BATCHES or abs(self.difference) <= CLEAR * self.error:
            return "open"
        return "better" if self.difference > 0 else "worse"


def challenge_of(champion: Any, challenger: Any) -> Challenge | None:
    """Return how a challenger does on the batches that both answered, None where there are none.

    Parameters
    ----------
    champion, challenger : AdaptiveDecisionForestClassifier
        Models that learnt batches from files: these are known by what they hold.
    """
    ours, theirs = _answered(champion), _answered(challenger)
    shared = [
        SharedBatch(one.batch, one.n_tested, one.accuracy[VOTE], theirs[digest].accuracy[VOTE])
        for digest, one in ours.items()
        if digest in theirs
    ]
    total = sum(one.n_tested for one in shared)
    if not total:
        return None
    shares = [one.n_tested / total for one in shared]
    means = [sum(s * one[place] for s, one in zip(shares, shared, strict=True)) for place in (2, 3)]
    apart = means[1] - means[0]
    spread = sum((s * (one.challenger - one.champion - apart)) ** 2 for s, one in zip(shares, shared, strict=True))
    n = len(shared)
    error = sqrt(spread * n / (n - 1)) if n > 1 else float("inf")
    return Challenge(tuple(shared), means[0], means[1], error)


def _answered(model: Any) -> dict[bytes, BatchReport]:
    """Return the reports of batches that a model answered before it learnt them, by what stands for each."""
    digests, reports = origins_of(model).digests, model.history_
    n = min(len(digests), len(reports))
    pairs = zip(digests[len(digests) - n :], reports[len(reports) - n :], strict=True)
    return {digest: report for digest, report in pairs if VOTE in report.accuracy and report.n_tested > 0}
