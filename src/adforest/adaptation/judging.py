"""How forests are judged: by their answers to records that they had not learnt yet.

Each batch is answered before it is learnt. A *voice* is a forest, or two that average their shares: as they are,
corrected for the class mix of the last batch, or for that of its last records. By how many answers of each voice are
right, its weight is multiplied (fixed-share Hedge, Herbster & Warmuth 1998): the vote is then hardly worse than the best
voice, even if that changes a few times along the stream.

Weights are kept for each of four *contexts* of a record, so that voices are trusted where they have proved right:

- near: as far as records of the window are near; to begin with the permanent forest weighs as much as all others
  together;
- far: as far as they are not; to begin with the permanent forest is trusted;
- new: of what is near, as far as the temporary forest finds classes that are new within the window; to begin with it
  weighs as much as all others together;
- rare: as far as the permanent forest finds classes that are rare; it is trusted until rules change, since batches show
  too few records of such classes to judge by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from adforest.forest.types import Floats, Mask

STRENGTHS = (0.0, 3.0, 30.0)  # of shrinkage, in records: what a leaf's answer may be mixed from
FIRST_MIX = (0.6, 0.3, 0.1)  # of the strengths, to begin with
RATE = 0.1  # what a right answer adds to the logarithm of a weight
COUNTED = 300  # answers that a batch may count for: those of one batch err together
SWITCH = 0.01  # share of all weight that is spread over all voices at each batch, lest any falls silent for good
MIN_SWITCH = 30  # records of a batch that spreads that share; smaller ones spread less
TRUST = (0.5, 0.9, 0.5, 0.9)  # weight, to begin with, of the voice that is trusted in each context
CLEAR_GAP, CLEAR_DEVIATIONS = 0.05, 3.0  # when one forest has outdone another
LEAST_SHARE = 1e-2  # no share of a right class counts as less, so that one record cannot decide
N_MIXES = 3  # ways in which a voice answers: as it is, and corrected for two class mixes
MIN_OBSERVED = 3  # batches after which optimism is known
NEAR, FAR, NEW, RARE = range(4)
PERMANENT, ACTIVE, TEMPORARY, NEWEST = "permanent", "active", "temporary", "newest"

Voice: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Optimism:
    """By how much out-of-bag accuracy on a batch exceeded the accuracy on the next, for the last ten batches.

    Their median, and how far they are from it in the median, are not moved by the few batches with which rules change.
    """

    errors: tuple[float, ...] = ()

    def observed(self, error: float) -> Optimism:
        """Return what is known after one more batch."""
        return Optimism((*self.errors, error)[-10:])

    @property
    def median(self) -> float:
        """The middle one."""
        return float(np.median(self.errors))

    @property
    def deviation(self) -> float:
        """Median distance from the median, scaled to be the standard deviation of normal errors."""
        return float(1.4826 * np.median(np.abs(np.subtract(self.errors, self.median))))


@dataclass(frozen=True, slots=True)
class Scores:
    """Right answers since the last batch that was learnt, over the small ones that wait.

    Attributes
    ----------
    n : int
        Records answered.
    right : dict of str to int
        By forest, and "vote" for all of them together. Besides, "known" is how many records are of classes known
        before, "newest, known" and "informed" how many of these the newest forest gets right, and the vote if it had
        known the class mix of these very records.
    leads : dict of str to (int, int)
        By forest of the last batches: records that it gets right and the active one does not, and the reverse.
    """

    n: int = 0
    right: dict[str, int] = field(default_factory=dict)
    leads: dict[str, tuple[int, int]] = field(default_factory=dict)

    def share(self, name: str) -> float:
        """Return the share of right answers."""
        return self.right.get(name, 0) / max(self.n, 1)

    def added(self, other: Scores) -> Scores:
        """Return both together."""
        right = {name: self.right.get(name, 0) + count for name, count in other.right.items()}
        leads = {}
        for name, (won, lost) in other.leads.items():
            before = self.leads.get(name, (0, 0))
            leads[name] = (before[0] + won, before[1] + lost)
        return Scores(self.n + other.n, right, leads)

    @property
    def is_drift(self) -> bool:
        """Whether a forest of the last batches clearly outdoes the active one, and more than by chance (McNemar)."""
        return any(
            won - lost > CLEAR_GAP * self.n and won - lost > CLEAR_DEVIATIONS * math.sqrt(max(1, won + lost))
            for won, lost in self.leads.values()
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What batches, each answered before it was learnt, say of the forests.

    Attributes
    ----------
    weights : dict of tuple of str to float64 (4, 3)
        By voice, the forests that speak together: in each context, as they are, corrected for the class mix of the last
        batch, and for that of its last records. In each context all weights add up to 1.
    boldness : dict of str to float64 (3,)
        By forest: the share of each of `STRENGTHS` in its answers.
    optimism : Optimism
        Of the newest forest.
    claimed : float or None
        Out-of-bag accuracy of the newest forest on the batch that it was grown from.
    scores : Scores
        Since the last batch that was learnt.
    """

    weights: dict[Voice, Floats] = field(default_factory=dict)
    boldness: dict[str, Floats] = field(default_factory=dict)
    optimism: Optimism = Optimism()
    claimed: float | None = None
    scores: Scores = Scores()

    def votes(self) -> dict[str, float]:
        """Return the weight of each forest where records are near those of the window."""
        votes = dict.fromkeys(self.boldness, 0.0)
        for voice, weights in self.weights.items():
            for name in voice:
                votes[name] += float(weights[NEAR].sum()) / len(voice)
        return votes

    def with_forests(self, names: list[str]) -> Evidence:
        """Return the evidence for these forests.

        An active forest of its own, which begins as the temporary one, shares the weight of that; when it is gone, its
        weight goes to the permanent one. With other forests than before everything begins anew.
        """
        voices, first = voices_of(names), np.array(FIRST_MIX)
        if set(voices) == set(self.weights):
            return self
        if {*names, ACTIVE} != {*self.boldness, ACTIVE}:
            return replace(self, weights=_start(voices), boldness=dict.fromkeys(names, first))
        weights = {voice: self.weights.get(voice, np.zeros((4, N_MIXES))) for voice in voices}
        boldness = {name: self.boldness.get(name, self.boldness.get(TEMPORARY, first)) for name in names}
        if ACTIVE in names:
            third = weights[(TEMPORARY,)] / 3
            weights |= dict.fromkeys([(TEMPORARY,), (ACTIVE,), (ACTIVE, TEMPORARY)], third)
        else:
            for voice in ((ACTIVE,), (ACTIVE, TEMPORARY)):
                heir = (PERMANENT, *voice[1:])
                weights[heir] = weights[heir] + self.weights[voice]
        return replace(self, weights=weights, boldness=boldness)

    def trusting(self, names: list[str]) -> Evidence:
        """Return the evidence after an abrupt change: some forests have all the weight where rules have changed."""
        weights = {}
        for voice, before in self.weights.items():
            now = before.copy()
            now[[NEAR, RARE]] = float(len(voice) == 1 and voice[0] in names)
            weights[voice] = now
        return replace(self, weights=_spread(weights, SWITCH))

    def updated(self, right: dict[Voice, Mask], context: Floats, n: int) -> Evidence:
        """Return the evidence after the voices answered some records.

        Parameters
        ----------
        right : dict of tuple of str to bool (3, n_answered)
            By voice, as it is and corrected for each class mix.
        context : float64 (4, n_answered)
            How far each record is in each context.
        n : int
            Records of the batch; those answered may be a sample of them.
        """
        context = context * (min(n, COUNTED) / context.shape[1])
        gain = {voice: RATE * (context @ right[voice].T.astype(np.float64)) for voice in self.weights}
        for one in gain.values():
            one[RARE] = 0.0
        most = np.max([one.max(axis=1) for one in gain.values()], axis=0)[:, np.newaxis]
        weights = {voice: before * np.exp(gain[voice] - most) for voice, before in self.weights.items()}
        return replace(self, weights=_spread(weights, _switched(n)))

    def bolder(self, name: str, logs: Floats, n: int) -> Evidence:
        """Return the evidence after a forest answered some records, shrunk by each strength.

        Parameters
        ----------
        logs : float64 (3,)
            By strength: mean logarithm of the share given to the right class.
        """
        before = self.boldness[name] * np.exp(RATE * min(n, COUNTED) * (logs - logs.max()))
        spread = _switched(n)
        now = (1 - spread) * before / before.sum() + spread * np.array(FIRST_MIX)
        return replace(self, boldness=self.boldness | {name: now})

    def learnt(self, claimed: float | None) -> Evidence:
        """Return the evidence after a batch was learnt, with what the newest forest now claims."""
        optimism = self.optimism
        known = self.scores.right.get("known", 0)
        if self.claimed is not None and known:
            optimism = optimism.observed(self.claimed - self.scores.right["newest, known"] / known)
        return replace(self, optimism=optimism, claimed=claimed, scores=Scores())

    def is_abrupt(self, claimed: float) -> bool:
        """Return whether the newest forest clearly outdoes the vote, judged by out-of-bag records of its batch.

        In a stream such records resemble those in the bag, so what they promise is too much: it is taken off what it
        proved to be too much before, and must exceed by far how that varies.
        """
        known, scores = self.optimism, self.scores
        n = scores.right.get("known", 0)
        if len(known.errors) < MIN_OBSERVED or n < 1:
            return False
        hoped, seen = claimed - known.median, scores.right["informed"] / n
        chance = math.sqrt((hoped * max(0.0, 1 - hoped) + seen * (1 - seen)) / n) if hoped > 0 else 1.0
        gap = hoped - seen
        return gap > CLEAR_GAP and gap > CLEAR_DEVIATIONS * math.hypot(chance, known.deviation)


def _switched(n: int) -> float:
    """Return the share of all weight that a batch of n records spreads over all voices."""
    return SWITCH * min(1.0, n / MIN_SWITCH)


def voices_of(names: list[str]) -> list[Voice]:
    """Return the voices of some forests: each alone, and the temporary one together with each that learns for long."""
    lasting = [name for name in names if name in (PERMANENT, ACTIVE)]
    together = [(name, TEMPORARY) for name in lasting] if TEMPORARY in names else []
    return [*((name,) for name in names), *together]


def _start(voices: list[Voice]) -> dict[Voice, Floats]:
    """Return the first weights, see above."""
    n = N_MIXES * len(voices)
    weights = {voice: np.tile((1 - np.array(TRUST)[:, np.newaxis]) / (n - 1), N_MIXES) for voice in voices}
    for context, trust in enumerate(TRUST):
        trusted = (TEMPORARY,) if context == NEW and (TEMPORARY,) in weights else (PERMANENT,)
        weights[trusted][context, 0] = trust
    return weights


def _spread(weights: dict[Voice, Floats], share: float) -> dict[Voice, Floats]:
    """Scale weights to a sum of 1 in each context, and spread a share of them as they were to begin with."""
    total = np.sum([one.sum(axis=1) for one in weights.values()], axis=0)[:, np.newaxis]
    start = _start(list(weights))
    return {voice: (1 - share) * one / total + share * start[voice] for voice, one in weights.items()}
