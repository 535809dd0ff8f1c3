"""The samples that a model keeps, and how much each of them counts.

Memory is one bounded, class-aware store for all trees of all forests. The last few batches [the reserve window, γ] are
there, unless they are far larger than the last one. Of older samples a number is kept that the user sets, each class by
the square root of how often it was seen, so that a rare or vanished class is not washed out, and within a class as a
uniform sample of its whole history: a sample's fate is a hash of its serial number, which never changes.

A sample counts the weight it was given, times that of its class, on a scale that suits trees. Trees draw integers by
weights. Where weights are small a tree would draw next to nothing, and where all are large every sample would be in
every bag. So all are multiplied by a number that brings their mean to between 1 and 4; a mean that is there already
stays, and then a sample of weight 2 counts as the sample twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from adforest.adaptation.tuning import TUNING, Tuning
from adforest.forest import Samples
from adforest.forest._kernels.rows import take
from adforest.forest._kernels.sampling import are_drawn, hashes
from adforest.forest.packed import PackedRows
from adforest.forest.samples import joined_weights
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int32Array, Int64Array

ClassWeight: TypeAlias = tuple[float, ...] | str | None


@dataclass(frozen=True, slots=True, eq=False)
class SampleWeights:
    """Factors of sample weights.

    Attributes
    ----------
    by_class : float64 (n_classes,) or None
        By class: its weight times what brings the mean to where it should be. None where all classes are 1 and no
        weight was ever given, so that every sample counts once.
    """

    by_class: Float64Array | None

    @classmethod
    def of(
        cls,
        class_weight: ClassWeight,
        seen: Int64Array,
        given: Float64Array,
        n_classes: int,
        tuning: Tuning = TUNING,
    ) -> SampleWeights:
        """Return the sample weights after some samples.

        Parameters
        ----------
        class_weight : tuple of float, "balanced" or None
            By class code; "balanced" makes all classes seen so far count the same.
        seen : int64
            Samples ever seen, by class.
        given : float64
            Sum of the weights that these were given, by class.
        n_classes : int
            Classes known, of some of which no sample may have been seen.
        """
        if class_weight is None and np.array_equal(seen, given):
            return cls(None)
        by_class = np.ones(n_classes)
        if class_weight == "balanced":
            known = seen > 0
            by_class[: len(seen)][known] = seen.sum() / (np.count_nonzero(known) * seen[known])
        elif class_weight is not None:
            by_class[: len(class_weight)] = class_weight
        total = float(by_class[: len(given)] @ given)
        return cls(by_class * _factor(total / seen.sum(), tuning) if total > 0 else by_class)

    def of_samples(self, y: Int32Array, given: Float64Array | None) -> Float64Array | None:
        """Return how much samples count, by their classes and given weights; None: all count once."""
        if self.by_class is None:
            return given
        by_sample: Float64Array = self.by_class[y]
        return by_sample if given is None else by_sample * given

    def applied_to(self, samples: Samples) -> Samples:
        """Return samples with what each counts for its weight."""
        return samples if self.by_class is None else replace(samples, weight=self.of_samples(samples.y, samples.weight))

    def totals(self, y: Int32Array, given: Float64Array | None, n_classes: int) -> AnyArray:
        """Return how much the samples of each class count together."""
        return np.bincount(y, self.of_samples(y, given), minlength=n_classes)


def rescaled(samples: Samples, tuning: Tuning = TUNING) -> Samples:
    """Return samples that are to be grown from alone, with the mean of their weights where it should be."""
    if samples.weight is None or not len(samples):
        return samples
    return replace(samples, weight=samples.weight * _factor(float(samples.weight.mean()), tuning))


def _factor(mean: float, tuning: Tuning) -> float:
    """Return the factor for weights of some mean."""
    return min(max(mean, tuning.min_mean_weight), tuning.max_mean_weight) / mean


class WindowBound(NamedTuple):
    """How many samples a window may hold.

    Attributes
    ----------
    growth : int
        Times the samples of the last batch and extra_samples: what a batch costs goes by its own samples.
    max_samples : int or None
        Samples that a tree is grown from at most.
    extra_samples : int
        See `Tuning`.
    """

    growth: int
    max_samples: int | None = None
    extra_samples: int = TUNING.extra_samples

    def room(self, n: int) -> int:
        """Return how many samples a window may hold that ends with a batch of n samples."""
        room = self.growth * (n + self.extra_samples)
        return room if self.max_samples is None else min(room, max(n, self.max_samples))


@dataclass(frozen=True, slots=True)
class Memory:
    """Samples that are kept, oldest first.

    Attributes
    ----------
    values : PackedRows
        Values, see `matrix`.
    y, serial, weight
        See `adforest.forest.Samples`; weights are those given with the samples.
    batch : int32 (n,)
        Number of each sample's batch.
    n_seen : int
        Samples ever added.
    seen_by_class : int64
        Samples ever added, by class.
    weight_by_class : float64
        Sum of their given weights, by class.
    first_batch : int32
        By class, the first batch that had it; 0 if none has.
    """

    values: PackedRows
    y: Int32Array
    serial: Int64Array
    batch: Int32Array
    n_seen: int
    seen_by_class: Int64Array
    weight_by_class: Float64Array
    first_batch: Int32Array
    weight: Float64Array | None = None

    @classmethod
    def empty(cls, n_features: int) -> Memory:
        """Return a memory without samples."""
        ints, longs = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        return cls(PackedRows.empty(n_features), ints, longs, ints, 0, longs, np.empty(0), ints)

    def __len__(self) -> int:
        return len(self.y)

    def matrix(self) -> Float64Array:
        """Return the values of all samples; not to be written to."""
        return self.values.matrix()

    def add(self, samples: Samples, batch: int) -> Memory:
        """Return the memory with one more batch."""
        y, totals = samples.y, samples.batch_totals
        seen, weight_by_class = totals.by_class.copy(), totals.weight_by_class.copy()
        first = np.where(seen > 0, np.int32(batch), np.int32(0))
        known = len(self.seen_by_class)
        first[:known] = np.where(self.first_batch > 0, self.first_batch, first[:known])
        seen[:known] += self.seen_by_class
        weight_by_class[:known] += self.weight_by_class
        return Memory(
            values=self.values.with_rows(samples.X),
            y=np.concatenate([self.y, y]),
            serial=np.concatenate([self.serial, samples.serial]),
            batch=np.concatenate([self.batch, np.full(len(y), batch, dtype=np.int32)]),
            n_seen=self.n_seen + totals.n,
            seen_by_class=seen,
            weight_by_class=weight_by_class,
            first_batch=first,
            weight=joined_weights(self.weight, len(self), samples.weight, len(samples)),
        )

    def keep(self, kept: Int64Array) -> Memory:
        """Return the memory with only the samples at the given positions, ascending."""
        y, serial, batch = take(self.y, kept), take(self.serial, kept), take(self.batch, kept)
        weight = None if self.weight is None else take(self.weight, kept)
        return replace(self, values=self.values.taken(kept), y=y, serial=serial, batch=batch, weight=weight)

    def weight_at(self, indices: slice | Int64Array) -> Float64Array | None:
        """Return the weights of the samples at some indices, None where all are 1."""
        return None if self.weight is None else self.weight[indices]

    def first_since(self, batch: int) -> int:
        """Return the index of the first sample of a batch or a later one."""
        return int(np.searchsorted(self.batch, np.int32(batch)))

    def window(self, start: int, bound: WindowBound) -> slice | Int64Array:
        """Return the indices of the window's samples: those since a batch, but no more than the last batch can pay for.

        Where there are more, those of the last batches come first, and of the batch that would be too much a sample is
        drawn by the hash of serial numbers; the same one after memory, which uses that hash too, has dropped others.
        """
        if not len(self):
            return slice(0, None)
        numbers = np.arange(start, self.batch[-1] + 1, dtype=np.int32)
        firsts = np.searchsorted(self.batch, numbers)
        index, stop = int(firsts[-1]), int(self.serial[-1]) + 1
        room = bound.room(len(self) - index)
        for first in firsts[::-1]:
            n = stop - int(self.serial[first]) if first < len(self) else 0
            if n > room:
                drawn = first + np.flatnonzero(are_drawn(self.serial[first:index], room / n))
                return np.append(drawn, np.arange(index, len(self)))
            index, stop, room = int(first), int(self.serial[first]), room - n
        return slice(index, None)

    def rare_since(self, window_start: int, bound: WindowBound, tuning: Tuning = TUNING) -> BoolArray:
        """Return which classes are rare, both over all samples and in the window, of those known before it."""
        n_classes = np.count_nonzero(self.seen_by_class)
        is_older = (self.first_batch > 0) & (self.first_batch < max(2, window_start))
        lately = np.bincount(self.y[self.window(window_start, bound)], minlength=len(self.seen_by_class))
        rare: BoolArray = is_older
        for seen in (self.seen_by_class, lately):
            rare = rare & (tuning.rare_factor * n_classes * seen < seen.sum())
        return rare

    def samples(self, n_categories: Int32Array, n_classes: int) -> Samples:
        """Return all samples as a block to grow from."""
        return Samples(self.matrix(), self.y, self.serial, n_categories, n_classes, weight=self.weight)

    def survivors(self, size: int | None, window_start: int, tuning: Tuning = TUNING) -> Int64Array | None:
        """Return the positions of the samples to keep, or None where all may stay.

        Parameters
        ----------
        size : int or None
            How many samples to keep from before batch window_start.
        """
        n_older = self.first_since(window_start)
        if size is None or n_older <= size:
            return None
        y = self.y[:n_older]
        kept = np.bincount(y, minlength=len(self.seen_by_class))
        quota = _quotas(kept, self.seen_by_class, size, tuning.memory_exponent)
        # Ordered by class, then by hash, a sample stays if it comes before the first that is beyond its class's quota.
        key = (y.astype(np.uint64) << np.uint64(40)) | (hashes(self.serial[:n_older]) >> np.uint64(24))
        over = quota < kept
        index = (np.cumsum(kept) - kept + quota)[over]
        bound = np.full(len(kept), np.uint64(2**64 - 1))
        bound[over] = np.partition(key, index)[index]  # all that is needed of their order
        return np.append(np.flatnonzero(key < bound[y]), np.arange(n_older, len(self)))


def sample_bytes(value_bytes: int, n_trees: int) -> int:
    """Return the bytes that a sample in memory takes: its values, class, number and batch, and a leaf in each tree."""
    klass, serial, batch, weight, known, leaf = 4, 8, 4, 8, 1, 4 * n_trees
    return value_bytes + klass + serial + batch + weight + known + leaf


def _quotas(kept: Int64Array, seen: Int64Array, room: int, exponent: float = TUNING.memory_exponent) -> Int64Array:
    """Divide the size of memory among classes by a power of their counts, none more than it has samples.

    No class is left without a sample while another has two.
    """
    quota = np.zeros_like(kept)
    while room > 0 and (quota < kept).any():
        part = seen.astype(np.float64) ** exponent * (quota < kept)
        offer = np.floor(room * part / part.sum() + 1e-9).astype(np.int64)
        given = np.minimum(offer, kept - quota)
        quota += given
        room -= int(given.sum())
        if (given == offer).all():
            break
    empty = np.flatnonzero((quota == 0) & (kept > 0))
    for k in empty[np.argsort(seen[empty], kind="stable")]:
        richest = quota.argmax()
        if room > 0:
            room -= 1
        elif quota[richest] > 1:
            quota[richest] -= 1
        else:
            break
        quota[k] = 1
    return quota
