"""SysFor (Islam & Giggins 2011): a forest without randomness, one tree for every feature that is good at the top."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from adforest.forest import Groups, GrowthParams, Samples, Tree, TreeEditor
from adforest.forest._kernels.binning import bin_columns
from adforest.forest._kernels.categories import price_of_subset
from adforest.forest.types import BoolArray, Float64Array, Int32Array
from adforest.growers.protocol import Grower, Grown, TreeRequest
from adforest.parallel import in_threads

PRUNE_CONFIDENCE = 0.25  # of C4.5


class GoodCut(NamedTuple):
    """A good split, for the root of a tree."""

    feature: int
    value: float | BoolArray  # the largest value that goes left, or which categories do
    missing_left: bool
    gain_ratio: float
    gain: float  # in bits times samples

    def left(self, X: Float64Array) -> BoolArray:
        """Return which samples go left."""
        column = X[:, self.feature]
        known = ~np.isnan(column)
        if isinstance(self.value, np.ndarray):
            left: BoolArray = self.value[np.where(known, column, 0).astype(np.intp)]
        else:
            left = column <= self.value
        return np.where(known, left, self.missing_left)


def good_cuts(samples: Samples, known: Int32Array, min_leaf: int, goodness: float, separation: float) -> list[GoodCut]:
    """List the good features of some samples with their splits, best first.

    For each feature the split of the highest gain ratio; a numerical one has further splits whose thresholds are more
    than `separation` of its range apart. Splits more than `goodness` below the best are left out.

    Parameters
    ----------
    samples : Samples
    known : int32
        Positions of the samples to look at.
    min_leaf : int
        Samples that both sides of a cut must hold.
    goodness, separation : float
    """
    X, y = samples.X[known], samples.y[known]
    weight = samples.weight_at(known)
    codes, edges, n_codes = bin_columns(X, samples.n_categories, 255)
    cuts: list[GoodCut] = []
    for j in range(X.shape[1]):
        shape = (int(n_codes[j]) + 1, samples.n_classes)
        cell = codes[j] * np.int64(shape[1]) + y
        counts = np.bincount(cell, weight, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
        if samples.n_categories[j]:
            cuts += _categorical_cut(j, counts, len(known), min_leaf)
        else:
            # Halves, since a range may be wider than a float can say.
            half = np.nanmax(X[:, j]) / 2 - np.nanmin(X[:, j]) / 2 if n_codes[j] > 1 else 0.0
            cuts += _numerical_cuts(j, counts, edges[j], min_leaf, separation * half)
    if not cuts:
        return []
    least = max(cut.gain_ratio for cut in cuts) - goodness
    return sorted((cut for cut in cuts if cut.gain_ratio >= least), key=lambda cut: (-cut.gain_ratio, cut.feature))


def _numerical_cuts(
    feature: int, counts: Float64Array, edges: Float64Array, min_leaf: int, half_apart: float
) -> list[GoodCut]:
    """Return the cuts of a numerical feature by descending gain ratio, each far enough from those before."""
    ratio, gain, missing_left = _gain_ratios(counts, min_leaf)
    values = np.append(edges[: len(ratio) - 1], np.inf)  # the last cut is everything known against everything missing
    cuts: list[GoodCut] = []
    for c in np.argsort(-ratio, kind="stable"):
        if ratio[c] <= 0:
            break
        if all(abs(values[c] / 2 - float(cut.value) / 2) > half_apart for cut in cuts):
            cuts.append(GoodCut(feature, float(values[c]), bool(missing_left[c]), float(ratio[c]), float(gain[c])))
    return cuts


def _categorical_cut(feature: int, counts: Float64Array, n: int, min_leaf: int) -> list[GoodCut]:
    """Return the best cut along categories ordered by their fraction of the most frequent class of n samples, if any.

    The bits of the choice of categories are subtracted from its gain, see `price_of_subset`.
    """
    known, missing = counts[:-1], counts[-1:]
    total = known.sum(axis=1)
    present = np.flatnonzero(total)
    fraction = known[present, known.sum(axis=0).argmax()] / total[present]
    order = present[np.argsort(fraction, kind="stable")]
    price = price_of_subset(len(order), n)
    ratio, gain, missing_left = _gain_ratios(np.vstack([known[order], missing]), min_leaf, price)
    if not len(ratio) or ratio.max() <= 0:
        return []
    best = int(ratio.argmax())
    left = np.full(len(known), missing_left[best])  # categories not seen here follow missing values
    left[order] = np.arange(len(order)) <= best
    return [GoodCut(feature, left, bool(missing_left[best]), float(ratio[best]), float(gain[best]))]


def _gain_ratios(
    counts: Float64Array, min_leaf: int, price: float = 0.0
) -> tuple[Float64Array, Float64Array, BoolArray]:
    """Return for the cut after each known code its gain ratio and gain, and whether missing values go left for it.

    counts has a line of class weights for each code and a last one for missing values. Cuts that leave fewer than
    min_leaf samples on a side have a ratio of -1. A price, in bits, is taken off each gain.
    """
    known, missing = counts[:-1], counts[-1]
    before = np.cumsum(known, axis=0)
    ratio, gain = _ratio(before, counts.sum(axis=0) - before, min_leaf, price)
    if not missing.any():
        return ratio, gain, before.sum(axis=1) * 2 >= counts.sum()
    other_ratio, other_gain = _ratio(before + missing, known.sum(axis=0) - before, min_leaf, price)
    left = other_ratio > ratio
    return np.where(left, other_ratio, ratio), np.where(left, other_gain, gain), left


def _ratio(left: Float64Array, right: Float64Array, min_leaf: int, price: float) -> tuple[Float64Array, Float64Array]:
    """Return gain ratio and gain of cuts with the given class weights on either side, less a price."""
    n_left, n_right = left.sum(axis=1), right.sum(axis=1)
    n = n_left + n_right
    gain = _bits(left + right) - _bits(left) - _bits(right) - price
    split = xlogx(n) - xlogx(n_left) - xlogx(n_right)
    ratio = np.divide(gain, split, out=np.full(len(n), -1.0), where=split > 0)
    # Rounded, so that what differs by rounding alone is equal, and nothing gained is nothing.
    return np.where((n_left >= min_leaf) & (n_right >= min_leaf), np.round(ratio, 10), -1.0), gain


def _bits(weights: Float64Array) -> Float64Array:
    """Return entropy times weight, by line."""
    bits: Float64Array = xlogx(weights.sum(axis=1)) - xlogx(weights).sum(axis=1)
    return bits


def xlogx(x: Float64Array) -> Float64Array:
    """Return x log2 x, 0 at 0."""
    return x * np.log2(np.where(x > 0, x, 1.0))


@dataclass(frozen=True)
class SysForGrower(Grower):
    """Grows the trees of ADF-S: the i-th tree has the i-th good cut at its root, and C4.5 trees below.

    If that gives fewer trees than asked for, roots are used again with the good cuts of their two parts at level two.

    Parameters
    ----------
    params : GrowthParams
        Limits of leaves and trees.
    goodness : float
        How far below the best gain ratio a good cut may be.
    separation : float
        Fraction of its range that separates the thresholds of one numerical feature.
    """

    goodness: float = 0.3
    separation: float = 0.3

    @cached_property
    def leaf_params(self) -> GrowthParams:
        """How pruned C4.5 trees grow within the same limits, below the planned cuts and where leaves are expanded."""
        params = self.params
        return GrowthParams(
            params.max_features,
            params.min_samples_leaf,
            params.max_bins,
            params.max_depth,
            by_ratio=True,
            prune_confidence=PRUNE_CONFIDENCE,
        )

    def build(self, request: TreeRequest) -> list[Grown]:
        """Build the trees at the given indices of the systematic forest; fewer where the data offer no more."""
        samples, known, seeds = request.samples, request.known, request.seeds
        wanted = range(len(seeds)) if request.tree_indices is None else request.tree_indices
        plans = dict(enumerate(islice(self._plans(samples, known), max(wanted, default=-1) + 1)))
        chosen = [
            (seed, plans[tree_index]) for seed, tree_index in zip(seeds, wanted, strict=True) if tree_index in plans
        ]
        samples = replace(samples, codes=bin_columns(samples.X, samples.n_categories, self.params.max_bins))
        return in_threads(lambda one: self._grow(samples, known, *one), chosen, request.n_jobs)

    def _plans(self, samples: Samples, known: Int32Array) -> Iterator["_Plan"]:
        """Yield the top of each tree: roots alone first, then roots with splits at level two."""
        roots = self._good(samples, known)
        if not roots:
            yield _Plan()  # nothing to cut: one tree of one leaf
        for root in roots:
            yield _Plan(root)
        if self.params.max_depth is not None and self.params.max_depth < 2:
            return
        for root in roots:
            left = root.left(samples.X[known])
            parts = [known[left], known[~left]]
            good = [self._good(samples, part) for part in parts]
            sizes = [len(part) if samples.weight is None else samples.weight[part].sum() for part in parts]
            mean = np.dot(sizes, [len(cuts) for cuts in good]) / sum(sizes)
            for x in range(round(mean)):
                below = [cuts[x] if x < len(cuts) else cuts[0] if cuts else None for cuts in good]
                yield _Plan(root, below[0], below[1])

    def _good(self, samples: Samples, known: Int32Array) -> list[GoodCut]:
        return good_cuts(samples, known, self.params.min_samples_leaf, self.goodness, self.separation)

    def _grow(self, samples: Samples, known: Int32Array, seed: int, plan: "_Plan") -> Grown:
        """Make the top of a tree as planned, and grow C4.5 trees below."""
        editor = TreeEditor(Tree.bare(samples.X.shape[1], seed))
        leaf_of = np.full(len(samples), -1, dtype=np.int32)
        groups = [(0, known)]
        if plan.root is not None:
            groups = _split(editor, samples, 0, known, plan.root)
            below = [plan.left, plan.right]
            groups = [
                group
                for (node, part), cut in zip(groups, below, strict=True)
                for group in (_split(editor, samples, node, part, cut) if cut is not None else [(node, part)])
            ]
        if samples.weight is not None:
            whole = self.weights(samples.serial, seed, samples.weight)
            groups = [(node, part[whole[part] > 0]) for node, part in groups]
        indices = np.concatenate([part for _, part in groups])
        starts = np.cumsum([0, *(len(part) for _, part in groups)])
        nodes = np.array([node for node, _ in groups], dtype=np.int32)
        weights = self.weights(samples.serial[indices], seed, samples.weight_at(indices))
        editor.grow(samples, Groups(indices, weights, starts, nodes), leaf_of, self.leaf_params, seed)
        return Grown(editor.finish(), leaf_of)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The top of a tree: its root, and the cuts of the two parts, where they are given."""

    root: GoodCut | None = field(default=None)
    left: GoodCut | None = field(default=None)
    right: GoodCut | None = field(default=None)


def _split(
    editor: TreeEditor, samples: Samples, node: int, part: Int32Array, cut: GoodCut
) -> list[tuple[int, Int32Array]]:
    """Cut a leaf; return its two children with their samples."""
    left = cut.left(samples.X[part])
    child = editor.split(node, cut.feature, cut.value, missing_left=cut.missing_left, gain=cut.gain)
    return [(child, part[left]), (child + 1, part[~left])]
