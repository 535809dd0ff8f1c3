"""Comparison of a model with its challenger, which learns the same batches with other parameters."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from adforest.adaptation import BatchReport
from adforest.adaptation.scoring import VOTE
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
    """A batch that both predicted before learning it: its number in the champion, and the accuracy of each."""

    batch: int
    n_tested: float
    champion: float
    challenger: float


@dataclass(frozen=True, slots=True)
class Challenge:
    """Accuracy of a challenger and of the champion on the same batches.

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
    """Compare a challenger with the champion on the batches that both predicted, None where there are none.

    Parameters
    ----------
    champion, challenger : AdaptiveDecisionForestClassifier
        Models that learnt batches from files, which are matched by the digests of their content.
    """
    theirs = _predicted(challenger)
    # A batch may have two digests, of its samples and of the file that ends with it; of a file that went on, one model
    # may have learnt the rest and another the whole.
    pairs = {
        one.batch: (one, theirs[digest])
        for digest, one in _predicted(champion).items()
        if digest in theirs and one.n_samples == theirs[digest].n_samples
    }
    shared = [
        SharedBatch(batch, one.n_tested, one.accuracy[VOTE], other.accuracy[VOTE])
        for batch, (one, other) in pairs.items()
    ]
    total = sum(one.n_tested for one in shared)
    if not total:
        return None
    fractions = [one.n_tested / total for one in shared]
    means = [sum(s * one[column] for s, one in zip(fractions, shared, strict=True)) for column in (2, 3)]
    apart = means[1] - means[0]
    spread = sum((s * (one.challenger - one.champion - apart)) ** 2 for s, one in zip(fractions, shared, strict=True))
    n = len(shared)
    error = sqrt(spread * n / (n - 1)) if n > 1 else float("inf")
    return Challenge(tuple(shared), means[0], means[1], error)


def _predicted(model: Any) -> dict[bytes, BatchReport]:
    """Return the reports of batches that a model predicted before learning them, by digest."""
    reports = {one.batch: one for one in model.history_ if VOTE in one.accuracy and one.n_tested > 0}
    numbers = origins_of(model).batch_numbers()
    return {digest: reports[number] for digest, number in numbers.items() if number in reports}
