"""What the last labelled samples say of the next one, on top of the forests' vote, where labels come soon.

Labels often follow each other: the same class for a while, or classes in a cycle. And the next sample may resemble one
that came a moment ago, before any tree has learnt it. A *voter* gives class probabilities:

- the forests together;
- neighbours: the last samples, each weighted by proximity ** 4, with proximity the share of the permanent forest's
  trees in which it reaches the same leaf, and by `FADING` ** (number of samples that came after it);
- how frequent classes are, whatever the sample.

Each voter answers in four *variants*: as it is, and corrected for the class mix of the last sample, of the last ten,
and of those that came after earlier samples of the last one's class. Weights of voters and variants are learnt as those
of the forests are, see `adforest.adaptation.evidence`.

All samples of a batch are answered, and judged, with the labels before the batch. Where labels come some samples late,
``label_delay``, samples are judged with the labels that were known when they were answered, and classes follow each
other so many samples later. After a batch that is large enough to be learnt by itself, and where labels come more than
`MAX_DELAY` samples late, the forests answer alone: the last labels say little of the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from adforest.adaptation.evidence import LOG_GAIN, MIN_SHARE, MIN_WEIGHT, hedge
from adforest.forest._kernels import recent, variants
from adforest.forest.types import AnyArray, Float64Array, Int32Array, Int64Array

FOREST_VOTE, NEIGHBOURS, FREQUENCIES = range(3)  # voters
N_VOTERS, N_VARIANTS = 3, 4
FIRST_WEIGHT = 0.9  # of the forests' vote as it is, to begin with
N_LABELS = 10  # whose class mix answers are corrected for
N_SAMPLES = 500  # last samples that neighbours are looked for among
FADING = 0.99  # what a sample counts among the neighbours, of the one that came after it
OWN_WEIGHT = 0.05  # what the forests' vote counts among them, of a last sample that shares all leaves
FADED = FADING ** np.arange(N_SAMPLES - 1.0, -1.0, -1.0)  # what each of them counts, the last one 1
MAX_DELAY = N_SAMPLES // 2 - 1  # samples; to count what follows a label so many later takes twice as many labels
MAX_PAIRS = 20_000  # of classes that followed each other; beyond that the rarest are forgotten
SHIFT = 32  # bits by which the first class of a pair is moved


@cache
def first_weights() -> Float64Array:
    """Return the weights by voter and variant, to begin with; they cannot be changed."""
    weights = np.full((N_VOTERS, N_VARIANTS), (1 - FIRST_WEIGHT) / (N_VOTERS * N_VARIANTS - 1))
    weights[FOREST_VOTE, 0] = FIRST_WEIGHT
    weights.setflags(write=False)
    return weights


class RecentAnswers(NamedTuple):
    """What the voters answer some samples, and what their probabilities are multiplied by in each variant.

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
    """The last labelled samples, and how much they said of the next ones.

    Attributes
    ----------
    weights : float64 (3, 4)
        By voter and variant, adding up to 1.
    y : int32 (n,)
        Classes of the last samples, oldest first; at most `N_SAMPLES`.
    leaves : int32 (n_trees, n_near)
        Leaves in the permanent forest of the last of them; of none after a large batch.
    pairs, counts : int64 (n_pairs,)
        Classes that followed each other, as first * 2 ** 32 + second, ascending, and how often they did. Labels
        that were not known yet when the last sample was answered are not counted yet.
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

    @property
    def fading(self) -> Float64Array:
        """What each of these counts, the last one 1."""
        return FADED[N_SAMPLES - self.leaves.shape[1] :]

    def ratios(self, seen: AnyArray, class_weight: Float64Array | None = None) -> Float64Array:
        """Return what class probabilities are multiplied by in each variant, float64 (4, n_classes).

        Parameters
        ----------
        seen : (n_classes,)
            Samples of each class that were learnt, by weight if there are weights.
        class_weight : float64 (n_classes,), optional
            What a sample of each class counts.
        """
        counts = recent.count_labels(self.y, N_LABELS, self.pairs, self.counts, len(seen))
        if class_weight is not None:
            counts *= class_weight
        return variants.class_ratios(counts, seen.astype(np.float64))

    def answers(
        self, votes: Float64Array, leaves: Int32Array, seen: AnyArray, class_weight: Float64Array | None = None
    ) -> RecentAnswers:
        """Return what the voters answer some samples, given the forests' votes and the permanent one's leaves."""
        frequencies = seen / seen.sum()
        voters = recent.probabilities(votes, leaves, self.leaves, self.near_y, self.fading, OWN_WEIGHT, frequencies)
        return RecentAnswers([(one,) for one in voters], self.ratios(seen, class_weight))

    def adjusted(self, answers: RecentAnswers) -> Float64Array:
        """Return the votes that answers add up to."""
        everywhere = np.ones((1, len(answers.voters[0][0])))
        return variants.weigh(answers.voters, self.weights[:, np.newaxis], everywhere, answers.ratios, MIN_WEIGHT)

    def judged(self, answers: RecentAnswers, y: Int32Array, weight: Float64Array) -> RecentSamples:
        """Return what is known after the classes of samples that were answered came; weight is what each counts."""
        gains, n = variants.gains(*answers, y, MIN_SHARE, LOG_GAIN), float(weight.sum())
        return replace(self, weights=hedge(self.weights, first_weights(), gains @ weight / n, n))

    def before_last(self, n: int) -> RecentSamples:
        """Return what was known before the last n samples, but for weights."""
        if not n:
            return self
        return replace(self, y=self.y[:-n], leaves=np.ascontiguousarray(self.leaves[:, :-n]))

    def after(self, y: Int32Array, leaves: Int32Array | None, delay: int = 0) -> RecentSamples:
        """Return what is known after some more samples, given their leaves; none after a large batch.

        Delay is how many samples late labels come: pairs are counted delay + 1 samples apart, and so much later.
        """
        y = y[-N_SAMPLES:]
        labels = np.concatenate([self.y, y])
        start, n = max(len(self.y), 2 * delay + 1), len(labels)
        first, second = labels[start - 2 * delay - 1 : n - 2 * delay - 1], labels[start - delay : n - delay]
        new = np.sort((first.astype(np.int64) << SHIFT) + second) if start < n else np.empty(0, dtype=np.int64)
        pairs, counts = recent.merge_pairs(self.pairs, self.counts, new)
        if len(pairs) > MAX_PAIRS:
            kept = np.sort(np.argsort(-counts, kind="stable")[:MAX_PAIRS])
            pairs, counts = pairs[kept], counts[kept]
        leaves = leaves if delay <= MAX_DELAY else None
        return RecentSamples(self.weights, labels[-N_SAMPLES:], self._leaves_after(leaves), pairs, counts)

    def _leaves_after(self, leaves: Int32Array | None) -> Int32Array:
        """Return the leaves of the last samples after some more; none after a large batch."""
        if leaves is None:
            return np.empty((0, 0), dtype=np.int32)
        joined = np.concatenate([self.leaves, leaves], axis=1) if self.is_used else leaves
        return np.ascontiguousarray(joined[:, -N_SAMPLES:])

    def rerouted(self, y: Int32Array, leaves: Int32Array) -> RecentSamples:
        """Return what is known once the permanent forest has changed, given the last samples' new leaves."""
        return replace(self, y=y, leaves=leaves)
