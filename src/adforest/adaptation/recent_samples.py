"""Adjust the forests' vote by the last labels, where samples are learnt one by one or in small batches.

Labels often follow each other: the same class for a while, or classes in a cycle. And the next sample may resemble one
of the last, which no tree has learnt yet. A *voter* gives class probabilities:

- the forests together;
- neighbours: the last samples, each weighted by proximity ** `Tuning.steepness`, with proximity the fraction of the
  permanent forest's trees in which it reaches the same leaf, and by `Tuning.fading` ** (number of samples
  after it);
- the class frequencies, the same for all samples.

Each voter has four *variants*: as it is, and corrected for the class mix of the last sample, of the last ten, and of
those that followed earlier samples of the last one's class. Weights of voters and variants are learnt as those
of the forests are, see `adforest.adaptation.evidence`.

All samples of a batch are predicted, and tested, with the labels before the batch. With a ``label_delay``, samples are
tested with the labels that were known when they were predicted, and pairs of classes are counted that many samples
apart. After a batch that is large enough to be learnt by itself, and with a delay of more than `Tuning.max_delay`
samples, the forests predict alone: the last labels say little about the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from adforest.adaptation.evidence import hedge
from adforest.adaptation.tuning import TUNING, Tuning
from adforest.forest._kernels import recent, variants
from adforest.forest.types import AnyArray, Float64Array, Int32Array, Int64Array

FOREST_VOTE, NEIGHBOURS, FREQUENCIES = range(3)  # voters
N_VOTERS, N_VARIANTS = 3, 4
MAX_PAIRS = 20_000  # of classes that followed each other; beyond that the rarest are forgotten
SHIFT = 32  # bits by which the first class of a pair is moved


@cache
def first_weights(trust: float = TUNING.high_trust) -> Float64Array:
    """Return the weights by voter and variant, to begin with; they cannot be changed."""
    weights = np.full((N_VOTERS, N_VARIANTS), (1 - trust) / (N_VOTERS * N_VARIANTS - 1))
    weights[FOREST_VOTE, 0] = trust
    weights.setflags(write=False)
    return weights


@cache
def fading(rate: float, n: int) -> Float64Array:
    """Return the weight of each of the last n samples, the last one 1, read-only."""
    weights: Float64Array = rate ** np.arange(n - 1.0, -1.0, -1.0)
    weights.setflags(write=False)
    return weights


class RecentAnswers(NamedTuple):
    """Predictions of the voters for some samples, and the class ratios of each variant.

    Attributes
    ----------
    voters : list of (float64 (n, n_classes),)
        In the form that `adforest.forest._kernels.variants` takes.
    ratios : float64 (4, n_classes)
    """

    voters: list[tuple[Float64Array, ...]]
    ratios: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class RecentSamples:
    """The last labelled samples, and the weights of the voters that use them.

    Attributes
    ----------
    weights : float64 (3, 4)
        By voter and variant, adding up to 1.
    y : int32 (n,)
        Classes of the last samples, oldest first; at most `Tuning.n_neighbours`.
    leaves : int32 (n_trees, n_near)
        Leaves in the permanent forest of the last of them; of none after a large batch.
    pairs, counts : int64 (n_pairs,)
        Classes that followed each other, as first * 2 ** 32 + second, ascending, and how often they did. Labels
        that were not known yet when the last sample was predicted are not counted yet.
    """

    weights: Float64Array = field(default_factory=first_weights)
    y: Int32Array = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    leaves: Int32Array = field(default_factory=lambda: np.empty((0, 0), dtype=np.int32))
    pairs: Int64Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    counts: Int64Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def is_used(self) -> bool:
        """Whether anything but the forests' vote as it is counts."""
        return self.leaves.size > 0

    @property
    def near_y(self) -> Int32Array:
        """Classes of the samples whose leaves are known."""
        return self.y[len(self.y) - self.leaves.shape[1] :]

    def ratios(self, seen: AnyArray, class_weight: Float64Array | None = None, tuning: Tuning = TUNING) -> Float64Array:
        """Return the factors of class probabilities in each variant, float64 (4, n_classes).

        Parameters
        ----------
        seen : (n_classes,)
            Samples of each class that were learnt, by weight if there are weights.
        class_weight : float64 (n_classes,), optional
            Weight of a sample of each class.
        """
        counts = recent.count_labels(self.y, tuning.n_labels, self.pairs, self.counts, len(seen))
        if class_weight is not None:
            counts *= class_weight
        return variants.class_ratios(counts, seen.astype(np.float64), tuning.mix_prior)

    def answers(
        self,
        votes: Float64Array,
        leaves: Int32Array,
        seen: AnyArray,
        class_weight: Float64Array | None = None,
        tuning: Tuning = TUNING,
    ) -> RecentAnswers:
        """Return the voters' predictions, given the forests' votes and the leaves in the permanent one."""
        frequencies = seen / seen.sum()
        voters = recent.probabilities(
            votes,
            leaves,
            self.leaves,
            self.near_y,
            fading(tuning.fading, self.leaves.shape[1]),
            tuning.own_weight,
            frequencies,
            tuning.steepness,
        )
        return RecentAnswers([(one,) for one in voters], self.ratios(seen, class_weight, tuning))

    def adjusted(self, answers: RecentAnswers, tuning: Tuning = TUNING) -> Float64Array:
        """Return the weighted sum of the voters' predictions."""
        everywhere = np.ones((1, len(answers.voters[0][0])))
        return variants.weigh(
            answers.voters, self.weights[:, np.newaxis], everywhere, answers.ratios, tuning.min_weight
        )

    def judged(
        self, answers: RecentAnswers, y: Int32Array, weight: Float64Array, tuning: Tuning = TUNING
    ) -> RecentSamples:
        """Return the weights after predicted samples were labelled; weight is that of each sample."""
        gains, n = variants.gains(*answers, y, tuning.min_proba, tuning.log_gain), float(weight.sum())
        first = first_weights(tuning.high_trust)
        return replace(self, weights=hedge(self.weights, first, gains @ weight / n, n, tuning))

    def before_last(self, n: int) -> RecentSamples:
        """Return the samples before the last n, with the current weights."""
        if not n:
            return self
        return replace(self, y=self.y[:-n], leaves=np.ascontiguousarray(self.leaves[:, :-n]))

    def after(self, y: Int32Array, leaves: Int32Array | None, delay: int = 0, tuning: Tuning = TUNING) -> RecentSamples:
        """Return the samples after some more, given their leaves; none after a large batch.

        With a delay of labels, pairs are counted delay + 1 samples apart, and that much later.
        """
        y = y[-tuning.n_neighbours :]
        labels = np.concatenate([self.y, y])
        start, n = max(len(self.y), 2 * delay + 1), len(labels)
        first, second = labels[start - 2 * delay - 1 : n - 2 * delay - 1], labels[start - delay : n - delay]
        new = np.sort((first.astype(np.int64) << SHIFT) + second) if start < n else np.empty(0, dtype=np.int64)
        pairs, counts = recent.merge_pairs(self.pairs, self.counts, new)
        if len(pairs) > MAX_PAIRS:
            kept = np.sort(np.argsort(-counts, kind="stable")[:MAX_PAIRS])
            pairs, counts = pairs[kept], counts[kept]
        last = labels[-tuning.n_neighbours :]
        if leaves is None or delay > tuning.max_delay:
            leaves = np.empty((0, 0), dtype=np.int32)
        elif self.is_used:
            leaves = np.concatenate([self.leaves, leaves], axis=1)
        return RecentSamples(self.weights, last, np.ascontiguousarray(leaves[:, -len(last) :]), pairs, counts)
