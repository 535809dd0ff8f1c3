"""Weights of experts: members and mixtures of two of them, learnt from batches predicted before they were learnt.

An *expert* is a member, or two of them mixed 3 : 1, 1 : 1 or 1 : 3. Weights are learnt as those of the forests are, by
`adforest.adaptation.evidence.hedge`: a batch multiplies the weight of an expert by exp(learning_rate * gain), where the
gain is its number of correct predictions plus log_gain times the sum of the log probabilities of the true classes, and
a fraction of all weight is redistributed as at the start. For any sequence of experts, one per batch, that changes S
times within T batches of at least full_switch samples, the gain by weight is at least that of the sequence minus

    ln(1/first) / rate + S * ln(1 / (switch_rate * first)) / rate + T * ln(1 / (1 - switch_rate)) / rate
                       + rate / 8 * sum of (range of the experts' gains in a batch) ** 2

with rate = learning_rate and first the smallest first weight of an expert of the sequence (Herbster &
Warmuth 1998; `tests/next_batch/test_experts.py` searches all sequences). An expert with a member that cannot predict
keeps its weight until it can.

The first weight of a mixture is lower the more of it is refitted members: these were fitted a while ago, on a sample,
and a drift makes them worse than members that learn every batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from adforest.adaptation.evidence import hedge
from adforest.adaptation.tuning import TUNING
from adforest.forest._kernels import variants
from adforest.forest.types import BoolArray, Float64Array, Int32Array

MIXTURES = (0.75, 0.5, 0.25)  # weight of the first of two members
REFIT_TRUST = 0.1  # first weight of a refitted member, relative to one that learns every batch


@dataclass(frozen=True, slots=True, eq=False)
class ExpertWeights:
    """Weights of members and mixtures, learnt from batches that they predicted before learning them.

    Attributes
    ----------
    mixtures : float64 (n_experts, n_members)
        Weight of each member in each expert; rows add up to 1.
    first : float64 (n_experts,)
        First weights.
    weights : float64 (n_experts,)
        Current weights.
    """

    mixtures: Float64Array
    first: Float64Array
    weights: Float64Array

    @classmethod
    def begin(cls, are_refitted: Sequence[bool]) -> ExpertWeights:
        """Return the first weights, given which members are refitted."""
        n = len(are_refitted)
        alone = np.eye(n)
        together = [a * alone[i] + (1 - a) * alone[j] for i, j in combinations(range(n), 2) for a in MIXTURES]
        mixtures = np.array([*alone, *together])
        first = REFIT_TRUST ** (mixtures @ np.asarray(are_refitted, dtype=np.float64))
        first /= first.sum()
        return cls(mixtures, first, first)

    def of_members(self, can_answer: BoolArray) -> Float64Array:
        """Return the weight of each member in the vote of those that can predict, at least one."""
        weights = np.where(self._can_answer(can_answer), self.weights, 0.0)
        of_members: Float64Array = weights / weights.sum() @ self.mixtures
        return of_members

    def after_answers(
        self, answers: Mapping[int, Float64Array], y: Int32Array, weight: Float64Array, n: float
    ) -> ExpertWeights:
        """Return the weights after some members predicted a batch, or a sample of it.

        Parameters
        ----------
        answers : dict of int to float64 (n_answered, n_classes)
            Class probabilities by index of the member.
        y : int32 (n_answered,)
            Classes.
        weight : float64 (n_answered,)
            Sample weights.
        n : float
            Total weight of the batch.
        """
        can_answer = np.isin(np.arange(self.mixtures.shape[1]), list(answers))
        asked = self._can_answer(can_answer)
        proba = np.array(list(answers.values()))
        mixed: list[tuple[Float64Array, ...]] = [
            (np.tensordot(parts, proba, 1),) for parts in self.mixtures[asked][:, list(answers)]
        ]
        as_they_are = np.ones((1, proba.shape[2]))
        gain = variants.gains(mixed, as_they_are, y, TUNING.min_proba, TUNING.log_gain)[:, 0] @ weight / weight.sum()
        before, first = self.weights[asked], self.first[asked]
        weights = self.weights.copy()
        weights[asked] = before.sum() * hedge(before / before.sum(), first / first.sum(), gain, n)
        return replace(self, weights=weights)

    def _can_answer(self, members: BoolArray) -> BoolArray:
        """Return which experts can predict if some members can."""
        can: BoolArray = np.logical_not((self.mixtures[:, ~members] > 0).any(axis=1))
        return can
