"""Everything learnt so far: three forests, a memory of records, and who votes."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from adforest.adaptation.boxes import Box
from adforest.adaptation.contest import Gap
from adforest.adaptation.memory import Memory
from adforest.forest import Forest
from adforest.forest.types import Floats, Longs, Singles
from adforest.growers import Grower

PERMANENT, ACTIVE, TEMPORARY = "permanent", "active", "temporary"
EXPECTED = 10  # records of the window about a place, for their number to say something
NEAR = 0.8  # share of the window's records about a place, over what is to be expected, that makes it wholly present
GIVING_WAY = 4  # how steeply a forest's say falls with the share that another gives to classes it knows better


@dataclass(frozen=True, slots=True)
class Settings:
    """What the learner goes by; the names are those of the estimator's parameters."""

    grower: Grower
    n_estimators: int
    splitting: str
    repair_threshold: float
    error_tolerance: float
    drift_threshold: int
    window_size: int
    memory_size: int | None
    perturbation: str
    tree_repair: str
    renewal: int
    soft: bool
    selection: str
    min_samples_leaf: int
    n_jobs: int | None
    seed: int

    def window_start(self, number: int) -> int:
        """Return the first batch of the reserve window [γ] that ends with a batch."""
        return number - self.window_size + 1

    @property
    def renews(self) -> bool:
        """Whether trees are grown anew from memory."""
        return self.renewal > 0 and self.memory_size != 0


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A forest, the box of what it has learnt, and how far its renewal is.

    Attributes
    ----------
    forest : Forest
    box : Box
    n_renewed : int
        Trees whose turn to be grown anew has come.
    n_waiting : int
        Records learnt since the last such turn.
    """

    forest: Forest
    box: Box
    n_renewed: int = 0
    n_waiting: int = 0

    def is_same(self, other: "Standing") -> bool:
        """Return whether both are of the same trees."""
        mine, others = self.forest.trees, other.forest.trees
        return len(mine) == len(others) and all(a is b for a, b in zip(mine, others, strict=True))


@dataclass(frozen=True, eq=False)
class Learner:
    """Everything learnt so far. It never changes: a lesson makes another one.

    Attributes
    ----------
    settings : Settings
    memory : Memory
    standings : dict of str to Standing
    votes : dict of str to float
        By forest that answers: what its vote is worth.
    n_batches : int
    n_unrepairable : int
        Consecutive batches on which the active forest was not repairable [cdf].
    since : int
        The batch since which the rules have been those of the last batch, as far as anyone could tell.
    gaps : dict of str to Gap
        By forest: how far the temporary one outdid it when last there was evidence.
    accuracy : dict of str to float
        By forest: on the last batch, see `BatchReport`.
    """

    settings: Settings
    memory: Memory
    standings: dict[str, Standing] = field(default_factory=dict)
    votes: dict[str, float] = field(default_factory=dict)
    n_batches: int = 0
    n_unrepairable: int = 0
    since: int = 1
    gaps: dict[str, Gap] = field(default_factory=dict)
    accuracy: dict[str, float] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be found again, so that answering does not change what is saved."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def new(cls, settings: Settings, n_features: int) -> "Learner":
        """Return a learner that knows nothing."""
        return cls(settings, Memory.empty(n_features))

    def forest(self, name: str) -> Forest | None:
        """Return the forest of that name, or None where there is none."""
        return self.standings[name].forest if name in self.standings else None

    @property
    def answering(self) -> str:
        """Name of the forest whose vote is worth most."""
        return max(self.votes, key=self.votes.__getitem__)

    def answer(self, X: Floats, n_classes: int) -> Floats:
        """Return class votes for some records.

        A record is of the present as far as the window's records are near it. So far the forests have the say they are
        worth; as far as it is of the past, the permanent forest, which has seen everything, speaks alone, and so it
        does on records outside the boxes of what the others have seen. Of classes that came within the window it has
        seen too little beside all the rest, so that its say shrinks where the temporary forest finds them. Of rare ones
        it has seen more than the others: where it finds those, the say of the others for any class but these shrinks.
        """
        said = {name: self._votes_of(name, X, n_classes) for name in self.votes if name != PERMANENT}
        for name, shares in said.items():
            shares[~self.standings[name].box.contains(X)] = 0.0
        total, heard = np.zeros((len(X), n_classes)), np.ones((len(X), 1))
        if PERMANENT in self.votes:
            total, present = self._hear_permanent(X, n_classes)
            heard = present
            if said and len(self.rare_classes):
                heard = np.repeat(present * _left_by(total, self.rare_classes), n_classes, axis=1)
                heard[:, self.rare_classes] = present
            total *= present * self.votes[PERMANENT] + (1 - present)
            if TEMPORARY in said:
                total *= _left_by(said[TEMPORARY], self.new_classes)
        for name, shares in said.items():
            total += heard * self.votes[name] * shares
        unanswered = ~total.any(axis=1)
        if unanswered.any():
            total[unanswered] = self._votes_of(PERMANENT, X[unanswered], n_classes)
        return total

    @property
    def first_of_window(self) -> int:
        """The first batch that the temporary forest is grown from."""
        return max(self.since, self.settings.window_start(self.n_batches))

    @cached_property
    def nearness(self) -> tuple[Singles, ...]:
        """By tree of the permanent forest and node: how near the records of the window are, see `counting.nearness`.

        Empty where the forests do not vote together, or no record is at hand. It is found when it is first asked for.
        """
        if not {PERMANENT, TEMPORARY} <= self.votes.keys() or self.settings.memory_size == 0:
            return ()
        weights = self.memory.stands_for(self.settings.window_start(self.n_batches + 1))
        first = self.memory.first_since(self.first_of_window)
        return self.standings[PERMANENT].forest.nearness(weights, first, EXPECTED, self.settings.n_jobs)

    def _hear_permanent(self, X: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """Return what `_votes_of` does for the permanent forest, and how far each record is of the present."""
        if not self.nearness:
            return self._votes_of(PERMANENT, X, n_classes), np.ones((len(X), 1))
        forest, settings = self.standings[PERMANENT].forest, self.settings
        votes, near = forest.answer_and_read(X, n_classes, self.nearness, soft=settings.soft, n_jobs=settings.n_jobs)
        return _shares(votes), np.minimum(near / NEAR, 1.0)[:, np.newaxis]

    @property
    def new_classes(self) -> Longs:
        """Classes that the first batch did not bring, nor any before the window."""
        return np.flatnonzero(self.memory.first_batch >= max(2, self.settings.window_start(self.n_batches)))

    @cached_property
    def rare_classes(self) -> Longs:
        """Classes that are rare among all records, and not new; none where rules are known to have changed."""
        if self.since > 1 or not self.standings[PERMANENT].is_same(self.standings[ACTIVE]):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.memory.rare_since(self.settings.window_start(self.n_batches)))

    def _votes_of(self, name: str, X: Floats, n_classes: int) -> Floats:
        """Return the shares of a forest's votes by class; they add up to 1 where any tree has an answer."""
        settings = self.settings
        return _shares(self.standings[name].forest.answer(X, n_classes, soft=settings.soft, n_jobs=settings.n_jobs))


def _left_by(shares: Floats, classes: Longs) -> Floats:
    """Return what is left of a forest's say where another, with these shares, finds classes that it knows better."""
    left: Floats = (1 - shares[:, classes].sum(axis=1, keepdims=True)) ** GIVING_WAY
    return left


def _shares(votes: Floats) -> Floats:
    """Scale the votes on each record to a sum of 1, in place; where there are none, there are none."""
    cast = votes.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(votes, cast, out=votes, where=cast > 0)
    return shares
