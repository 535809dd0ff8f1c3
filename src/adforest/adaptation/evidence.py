"""Weights of the forests, from their predictions for batches before these were learnt.

A *voter* is a forest, or two whose class probabilities are averaged. It has three variants: probabilities as they are,
corrected for the class mix of the last batch, and for that of its last samples. Each variant has a weight, which a
batch multiplies by exp(learning_rate * gain) before all weights are scaled to a sum of 1, and a fraction of them is set
back to their first values (fixed-share Hedge, Herbster & Warmuth 1998). The gain is the number of correct predictions
plus log_gain times the sum of the logarithms of the probabilities of the true classes. The weighted vote is then hardly
worse than the best variant, even if that changes a few times along the stream.

Weights are kept for each of four *contexts* of a sample:

- near: by the recency of a sample, which is high where the window has samples; the first weight of the permanent forest
  is that of all others together;
- far: by one minus the recency; the first weight of the permanent forest is 0.9;
- new class: of the near part, by the temporary forest's probability of classes that are new within the window; its
  first weight is that of all others together;
- rare class: by the permanent forest's probability of rare classes; its weight is 0.9 until rules change, since batches
  have too few samples of such classes to learn weights from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeAlias

import numpy as np

from adforest.adaptation.calibration import no_calibration
from adforest.adaptation.class_mix import N_MIXES, MixChanges
from adforest.adaptation.report import ACTIVE, PERMANENT, TEMPORARY
from adforest.adaptation.tuning import TUNING, Tuning
from adforest.forest.types import Float64Array

N_VARIANTS = 1 + N_MIXES  # in which a voter answers: as it is, and corrected for each class mix
NEAR, FAR, NEW_CLASS, RARE_CLASS = range(4)
N_CONTEXTS = 4

Voter: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OobBias:
    """By how much out-of-bag accuracy on a batch exceeded the accuracy on the next, for the last ten batches.

    Their median, and how far they are from it in the median, are not moved by the few batches with which rules change.
    """

    errors: tuple[float, ...] = ()

    def observed(self, error: float, max_observed: int = TUNING.max_observed) -> OobBias:
        """Return the bias after one more batch."""
        return OobBias((*self.errors, error)[-max_observed:])

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
    """Correct predictions for a batch, before it was learnt.

    Attributes
    ----------
    n : float
        Samples predicted; with weights, the effective sample size.
    right : dict of str to float
        By forest, and "vote" for all of them together. Besides, "known" is how many samples are of classes known
        before, "newest, known" and "informed" how many of these the newest forest gets right, and the vote if it had
        known the class mix of these very samples.
    leads : dict of str to (float, float)
        By forest of the last batches: samples that it gets right and the active one does not, and the reverse.
    """

    n: float = 0
    right: dict[str, float] = field(default_factory=dict)
    leads: dict[str, tuple[float, float]] = field(default_factory=dict)

    def is_drift(self, tuning: Tuning = TUNING) -> bool:
        """Whether a forest of the last batches clearly outdoes the active one, and more than by chance (McNemar)."""
        return any(
            won - lost > tuning.clear_gap * self.n
            and won - lost > tuning.clear_deviations * math.sqrt(max(1, won + lost))
            for won, lost in self.leads.values()
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Weights of the forests in the vote, learnt from predictions for each batch before it was learnt.

    Attributes
    ----------
    voters : tuple of tuple of str
        The forests that each voter averages, in the order in which their votes are added up.
    weights : float64 (n_voters, 4, 3)
        By voter and context: as it is, corrected for the class mix of the last batch, and for that of its last samples.
        In each context all weights add up to 1.
    shrinkage : dict of str to float64 (3,)
        By forest: the fraction of each of `Tuning.shrinkage_strengths` in its predictions.
    oob_bias : OobBias
        Of the newest forest's out-of-bag accuracy.
    oob_accuracy : float or None
        Out-of-bag accuracy of the newest forest on the batch that it was grown from, where it could be measured.
    mix_changes : MixChanges
        How often recent class mixes changed.
    calibration : float64 (3,)
        How far the votes of the forests together are sharpened or flattened, see `adforest.adaptation.calibration`.
    """

    voters: tuple[Voter, ...] = ()
    weights: Float64Array = field(default_factory=lambda: np.zeros((0, N_CONTEXTS, N_VARIANTS)))
    shrinkage: dict[str, Float64Array] = field(default_factory=dict)
    oob_bias: OobBias = OobBias()
    oob_accuracy: float | None = None
    mix_changes: MixChanges = field(default_factory=MixChanges)
    calibration: Float64Array = field(default_factory=no_calibration)

    def votes(self) -> dict[str, float]:
        """Return the weight of each forest for recent samples."""
        votes = dict.fromkeys(self.shrinkage, 0.0)
        for voter, weight in zip(self.voters, self.weights[:, NEAR], strict=True):
            for name in voter:
                votes[name] += float(weight.sum()) / len(voter)
        return votes

    def with_forests(self, names: list[str], tuning: Tuning = TUNING) -> Evidence:
        """Return the evidence for these forests.

        An active forest of its own, which begins as the temporary one, takes two thirds of the weight of that; when it
        is gone, its weight goes to the permanent one. With other forests than before all weights restart.
        """
        voters, first = voters_of(names), np.array(tuning.first_shrinkage)
        if set(voters) == set(self.voters):
            return self
        if {*names, ACTIVE} != {*self.shrinkage, ACTIVE}:
            calibration = self.calibration if self.voters else np.array(tuning.first_calibration)
            shrinkage, weights = dict.fromkeys(names, first), _start(voters, tuning)
            return replace(self, voters=voters, weights=weights, shrinkage=shrinkage, calibration=calibration)
        before, index = dict(zip(self.voters, self.weights, strict=True)), voters.index
        weights = np.array([before.get(voter, np.zeros((N_CONTEXTS, N_VARIANTS))) for voter in voters])
        shrinkage = {name: self.shrinkage.get(name, self.shrinkage.get(TEMPORARY, first)) for name in names}
        if ACTIVE in names:
            heirs = [index(voter) for voter in ((TEMPORARY,), (ACTIVE,), (ACTIVE, TEMPORARY))]
            weights[heirs] = before[(TEMPORARY,)] / len(heirs)
        else:
            for voter in ((ACTIVE,), (ACTIVE, TEMPORARY)):
                weights[index((PERMANENT, *voter[1:]))] += before[voter]
        return replace(self, voters=voters, weights=weights, shrinkage=shrinkage)

    def after_abrupt_change(self, names: list[str], tuning: Tuning = TUNING) -> Evidence:
        """Return the evidence after an abrupt change: all weight on some forests, except what is spread."""
        is_trusted = np.array([len(voter) == 1 and voter[0] in names for voter in self.voters])
        weights = self.weights.copy()
        weights[:, [NEAR, RARE_CLASS]] = is_trusted[:, np.newaxis, np.newaxis]
        return replace(self, weights=self._spread(weights, tuning.switch_rate, tuning))

    def after_answers(
        self,
        gains: Float64Array,
        context: Float64Array,
        n: float,
        n_answered: float | None = None,
        tuning: Tuning = TUNING,
    ) -> Evidence:
        """Return the evidence after the voters answered some samples.

        Parameters
        ----------
        gains : float64 (n_voters, 3, n_answered)
            By voter, as it is and corrected for each class mix, see `adforest.forest._kernels.variants.gains`.
        context : float64 (4, n_answered)
            How far each sample is in each context, times how much it counts.
        n : float
            How much all samples of the batch count together; those answered may be a sample of them.
        n_answered : float, optional
            How much those answered count together, by default as many as they are.
        """
        context = context * (min(n, tuning.max_counted) / (n_answered or context.shape[1]))
        gain = tuning.learning_rate * (context @ gains.transpose(0, 2, 1))
        gain[:, RARE_CLASS] = 0.0
        weights = self.weights * np.exp(gain - gain.max(axis=(0, 2))[:, np.newaxis])
        return replace(self, weights=self._spread(weights, _switched(n, tuning), tuning))

    def _spread(self, weights: Float64Array, fraction: float, tuning: Tuning) -> Float64Array:
        """Scale weights to a sum of 1 in each context, and spread a fraction of them as they were to begin with."""
        total = weights.sum(axis=2).sum(axis=0)[:, np.newaxis]
        spread: Float64Array = (1 - fraction) * weights / total + fraction * _start(self.voters, tuning)
        return spread

    def after_shrinkage(self, name: str, logs: Float64Array, n: float, tuning: Tuning = TUNING) -> Evidence:
        """Return the evidence after a forest answered some samples with each strength of shrinkage.

        Parameters
        ----------
        logs : float64 (3,)
            By strength: mean logarithm of the probability given to the right class.
        n : float
            Samples of the batch.
        """
        now = hedge(self.shrinkage[name], np.array(tuning.first_shrinkage), logs, n, tuning)
        return replace(self, shrinkage=self.shrinkage | {name: now})

    def after_learning(self, oob_accuracy: float | None, scores: Scores, tuning: Tuning = TUNING) -> Evidence:
        """Return the evidence after a batch was learnt, given the out-of-bag accuracy of the newest forest on it."""
        oob_bias = self.oob_bias
        known = scores.right.get("known", 0)
        if self.oob_accuracy is not None and known:
            error = self.oob_accuracy - scores.right["newest, known"] / known
            oob_bias = oob_bias.observed(error, tuning.max_observed)
        return replace(self, oob_bias=oob_bias, oob_accuracy=oob_accuracy)

    def is_abrupt(self, oob_accuracy: float, scores: Scores, tuning: Tuning = TUNING) -> bool:
        """Return whether the newest forest clearly outdoes the vote on its batch, which is an abrupt change.

        In a stream out-of-bag samples resemble those in the bag, so their accuracy is too high: the median of how much
        too high it was before is taken off, and what remains must exceed by far how much that varied.
        """
        oob_bias = self.oob_bias
        n = scores.right.get("known", 0)
        if len(oob_bias.errors) < tuning.min_observed or n < tuning.min_tested:
            return False
        expected, seen = oob_accuracy - oob_bias.median, scores.right["informed"] / n
        if expected <= 0:
            return False
        chance = math.sqrt((expected * max(0.0, 1 - expected) + seen * (1 - seen)) / n)
        gap = expected - seen
        return gap > tuning.clear_gap and gap > tuning.clear_deviations * math.hypot(chance, oob_bias.deviation)


def hedge(
    weights: Float64Array, first: Float64Array, gain: Float64Array, n: float, tuning: Tuning = TUNING
) -> Float64Array:
    """Return weights after a batch of n samples, given the mean gain of a sample: a step of fixed-share Hedge.

    Weights of any shape add up to 1, and first are those to begin with.
    """
    grown = weights * np.exp(tuning.learning_rate * min(n, tuning.max_counted) * (gain - gain.max()))
    spread = _switched(n, tuning)
    now: Float64Array = (1 - spread) * grown / grown.sum() + spread * first
    return now


def _switched(n: float, tuning: Tuning) -> float:
    """Return the fraction of all weight that a batch of n samples spreads over all voters."""
    return tuning.switch_rate * min(1.0, n / tuning.full_switch)


def voters_of(names: list[str]) -> tuple[Voter, ...]:
    """Return the voters of some forests: each alone, and the temporary one together with each that learns for long."""
    lasting = [name for name in names if name in (PERMANENT, ACTIVE)]
    together = [(name, TEMPORARY) for name in lasting] if TEMPORARY in names else []
    return (*((name,) for name in names), *together)


@cache
def _start(voters: tuple[Voter, ...], tuning: Tuning) -> Float64Array:
    """Return the first weights, see above; they cannot be changed."""
    n = N_VARIANTS * len(voters)
    trusts = np.array([tuning.even_trust, tuning.high_trust, tuning.even_trust, tuning.high_trust])
    weights = np.tile((1 - trusts[:, np.newaxis]) / (n - 1), (len(voters), 1, N_VARIANTS))
    for context, trust in enumerate(trusts):
        trusted = (TEMPORARY,) if context == NEW_CLASS and (TEMPORARY,) in voters else (PERMANENT,)
        weights[voters.index(trusted), context, 0] = trust
    weights.setflags(write=False)
    return weights
