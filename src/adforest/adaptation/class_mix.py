"""How frequent classes are, over all samples and lately, and how long such a class mix lasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adforest.adaptation.memory import ClassWeight, Memory, SampleWeights, WindowBound
from adforest.adaptation.tuning import TUNING, Tuning
from adforest.forest._kernels import variants
from adforest.forest.types import AnyArray, Float64Array, Int64Array

N_MIXES = 2  # that answers are corrected for: of the last batch, and of the last samples


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ClassMix:
    """Samples by class, and which classes are new or rare.

    Attributes
    ----------
    seen, last, latest : int64 or float64 (n_classes,)
        Samples of each class, by weight if there are weights: ever learnt; in the last batch; among the last of these.
    new : int64
        Classes that the first batch did not bring, nor any before the window.
    rare : int64
        Classes that are rare among all samples, and not new.
    """

    seen: AnyArray
    last: AnyArray
    latest: AnyArray
    new: Int64Array
    rare: Int64Array

    @classmethod
    def empty(cls) -> ClassMix:
        """Return the mix of no samples."""
        return cls(*(np.empty(0, dtype=np.int64) for _ in range(5)))

    @classmethod
    def of(
        cls,
        memory: Memory,
        n_batches: int,
        window_start: int,
        window_bound: WindowBound,
        class_weight: ClassWeight = None,
        tuning: Tuning = TUNING,
    ) -> ClassMix:
        """Return the mix after some batches, of which the window begins with one."""
        n_classes = len(memory.seen_by_class)
        sample_weights = SampleWeights.of(class_weight, memory.seen_by_class, memory.weight_by_class, n_classes, tuning)
        first = memory.first_since(n_batches)
        last, given = memory.y[first:], memory.weight_at(slice(first, None))
        seen: AnyArray = memory.seen_by_class
        if sample_weights.by_class is not None:
            seen = memory.weight_by_class * sample_weights.by_class
        latest = slice(-tuning.small_batch, None)
        return cls(
            seen,
            sample_weights.totals(last, given, n_classes),
            sample_weights.totals(last[latest], None if given is None else given[latest], n_classes),
            np.flatnonzero(memory.first_batch >= max(2, window_start)),
            np.flatnonzero(memory.rare_since(window_start, window_bound, tuning)),
        )

    def padded(self, n_classes: int) -> ClassMix:
        """Return the mix of more classes, of which no sample was seen yet."""
        if n_classes == len(self.seen):
            return self
        seen, last, latest = (np.pad(one, (0, n_classes - len(one))) for one in (self.seen, self.last, self.latest))
        return ClassMix(seen, last, latest, self.new, self.rare)

    def ratios(self, changes: MixChanges, tuning: Tuning = TUNING) -> Float64Array:
        """Return how much more frequent each class is to be expected in the next batch than over all samples.

        Parameters
        ----------
        changes : MixChanges
            How often recent class mixes changed: they are expected to change again as often, but for new classes.

        Returns
        -------
        float64 (3, n_classes)
            1 throughout; for the class frequencies of the last batch; for those of its last samples.
        """
        if not tuning.corrects_class_mix:
            return np.ones((1 + N_MIXES, len(self.seen)))
        recent = ratio_of(np.stack([self.last, self.latest]), self.seen, tuning)
        chance = np.repeat(changes.chance(tuning)[:, np.newaxis], len(self.seen), axis=1)
        chance[:, self.new] = 0.0  # samples from before there was the class say nothing of how often it comes
        return np.vstack([np.ones(len(self.seen)), (1 - chance) * recent + chance])


@dataclass(frozen=True, slots=True)
class MixChanges:
    """How many batches had the class mix of the batch before, and how many had the overall one instead.

    A batch counts as one or the other by the likelihood ratio of its classes under both mixes. Of batches in a row that
    keep a mix the k-th counts 1 / k: a class that stays away for long is one observation of a pause, not many. A batch
    that neither mix made clearly more likely counts as a change by 1 - (fraction of the most frequent class overall).

    Attributes
    ----------
    changed, kept : tuple of float
        Batches, for the mix of the last batch and that of the last samples.
    in_a_row : tuple of int
        Batches that kept the mix since the last one that did not.
    """

    changed: tuple[float, ...] = (0.0,) * N_MIXES
    kept: tuple[float, ...] = (0.0,) * N_MIXES
    in_a_row: tuple[int, ...] = (0,) * N_MIXES

    def chance(self, tuning: Tuning = TUNING) -> Float64Array:
        """Return the estimated probability that a mix changes with the next batch."""
        changed = np.array(self.changed)
        chance: Float64Array = changed / (changed + np.array(self.kept) + tuning.first_kept)
        return chance

    def after(self, mix: ClassMix, totals: Float64Array, tuning: Tuning = TUNING) -> MixChanges:
        """Return the counts after a batch with some samples of each class, given the class mix before it."""
        mix = mix.padded(len(totals))
        is_known = mix.seen > 0
        most_frequent = float(mix.seen.max() / mix.seen.sum())
        changed, kept, in_a_row = list(self.changed), list(self.kept), list(self.in_a_row)
        for one, recent in enumerate((mix.last, mix.latest)):
            against = -float(totals[is_known] @ np.log(ratio_of(recent, mix.seen, tuning)[is_known]))
            in_a_row[one] = in_a_row[one] + 1 if against < -tuning.clear_log_ratio else 0
            if in_a_row[one]:
                kept[one] += 1 / in_a_row[one]
            else:
                changed[one] += 1.0 if against > tuning.clear_log_ratio else 1 - most_frequent
        return MixChanges(tuple(changed), tuple(kept), tuple(in_a_row))


def ratio_of(recent: AnyArray, seen: AnyArray, tuning: Tuning = TUNING) -> Float64Array:
    """Return how much more frequent each class is among recent samples, and a few of the overall mix, than overall.

    Recent may be of several mixes, one a row.
    """
    rows = np.ascontiguousarray(np.atleast_2d(recent), dtype=np.float64)
    return variants.class_ratios(rows, seen.astype(np.float64), tuning.mix_prior).reshape(recent.shape)
