"""Bounding boxes of forests and batches, and where SAT and iSAT cut between them (the paper's Algorithm 3)."""

from dataclasses import dataclass

import numpy as np

from adforest.forest.types import BoolArray, Float64Array, Int32Array

NONE: BoolArray = np.zeros(0, dtype=bool)


@dataclass(frozen=True, slots=True)
class Box:
    """Bounding box of a set of samples [AABB]: an interval per numerical feature, a set per categorical one.

    Attributes
    ----------
    low, high : float64 (m,)
        NaN where a feature is categorical or was never seen.
    categories : dict of bool arrays
        By categorical feature: which category codes were seen.
    """

    low: Float64Array
    high: Float64Array
    categories: dict[int, BoolArray]

    @classmethod
    def empty(cls, n_features: int) -> "Box":
        """Return the box of no samples."""
        nothing = np.full(n_features, np.nan)
        return cls(nothing, nothing, {})

    @property
    def is_empty(self) -> bool:
        """Whether no value was seen of any feature."""
        return not self.categories and bool(np.isnan(self.low).all())

    @classmethod
    def of(cls, X: Float64Array, n_categories: Int32Array) -> "Box":
        """Return the box of some samples; missing values take no part."""
        categories = {}
        for j in np.flatnonzero(n_categories):
            seen = np.zeros(n_categories[j], dtype=bool)
            seen[X[~np.isnan(X[:, j]), j].astype(np.intp)] = True
            categories[int(j)] = seen
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        return cls(np.where(n_categories, np.nan, low), np.where(n_categories, np.nan, high), categories)

    def union(self, other: "Box") -> "Box":
        """Return the smallest box around both."""
        categories = dict(self.categories)
        for j, seen in other.categories.items():
            categories[j] = _either(categories.get(j, NONE), seen)
        return Box(np.fmin(self.low, other.low), np.fmax(self.high, other.high), categories)


@dataclass(frozen=True, slots=True)
class Cut:
    """A question for a new root: the tree keeps one side, the batch's samples on the other get a subtree.

    Attributes
    ----------
    feature : int
    value : float or bool array
        The largest value that goes left, or which categories go left.
    tree_left : bool
        Whether the tree keeps the left side.
    """

    feature: int
    value: float | BoolArray
    tree_left: bool

    def beyond(self, X: Float64Array) -> BoolArray:
        """Return which samples are not on the tree's side; missing values stay with the tree."""
        column = X[:, self.feature]
        known = ~np.isnan(column)
        if isinstance(self.value, np.ndarray):
            left = np.zeros(len(column), dtype=bool)
            left[known] = self.value[column[known].astype(np.intp)]
        else:
            left = column <= self.value
        beyond: BoolArray = known & (left != self.tree_left)
        return beyond


def cuts_between(tree: Box, batch: Box, *, is_relative: bool = True) -> list[Cut]:
    """Return cuts in the middle of the gaps between two boxes, the widest first; none where they overlap everywhere.

    Two categorical features without a category in common are as far apart as can be. (The paper's Eq. 12 and 13;
    the conditions of Eq. 13 are misprinted, its values are the middle of the gap.)

    Parameters
    ----------
    tree, batch : Box
    is_relative : bool
        Whether a gap is measured relative to the feature's joint range, so that metres do not outvote millimetres, or
        as it is (Eq. 12).
    """
    cuts = []
    for j, seen in batch.categories.items():
        known = tree.categories.get(j, NONE)
        if seen.any() and known.any() and not _both(seen, known).any():
            cuts.append(Cut(j, _padded(known, len(seen)), tree_left=True))
    above = _distances(tree.high, batch.low, tree, batch, is_relative)
    below = _distances(batch.high, tree.low, tree, batch, is_relative)
    for j in _widest_first(np.fmax(above, below)):
        if above[j] > 0:
            cuts.append(Cut(j, _middle(tree.high[j], batch.low[j]), tree_left=True))
        else:
            cuts.append(Cut(j, _middle(batch.high[j], tree.low[j]), tree_left=False))
    return cuts


def cuts_beyond(tree: Box, batch: Box, *, is_relative: bool = True) -> tuple[list[Cut], list[Cut]]:
    """Return cuts at the tree's upper and at its lower bounds where a batch reaches beyond them, the farthest first.

    New categories need no root: leaves can separate them.
    """
    over = _distances(tree.high, batch.high, tree, batch, is_relative)
    under = _distances(batch.low, tree.low, tree, batch, is_relative)
    upper = [Cut(j, float(tree.high[j]), tree_left=True) for j in _widest_first(over)]
    lower = [Cut(j, float(np.nextafter(tree.low[j], -np.inf)), tree_left=False) for j in _widest_first(under)]
    return upper, lower


def root_cuts(
    tree: Box, batch: Box, X: Float64Array, splitting: str, at_least: int, *, is_relative: bool = True
) -> list[tuple[Cut, BoolArray]]:
    """Return the cuts for new roots, in the order they are put on, each with the batch's samples beyond it.

    Parameters
    ----------
    splitting : {"sat", "entropy", "isat"}
        SAT cuts only between separate boxes, iSAT at the bounds of overlapping ones too, entropy never.
    at_least : int
        How many samples must lie beyond a cut: 1 in the paper's algorithm, more where a stray sample shall not add a
        root. Where the widest cut has fewer, the next one is tried.
    is_relative : bool
        See `cuts_between`.
    """
    if splitting == "entropy":
        return []
    between = cuts_between(tree, batch, is_relative=is_relative)
    has_gap = bool(between) or splitting == "sat"
    wishes = [between] if has_gap else list(cuts_beyond(tree, batch, is_relative=is_relative))
    chosen: list[tuple[Cut, BoolArray]] = []
    free = np.ones(len(X), dtype=bool)
    # The last root added is above the others and takes its samples first.
    for cuts in reversed(wishes):
        for cut in cuts:
            beyond = cut.beyond(X) & free
            if beyond.sum() >= at_least:
                chosen.insert(0, (cut, beyond))
                free &= ~beyond
                break
    return chosen


def _distances(start: Float64Array, stop: Float64Array, tree: Box, batch: Box, is_relative: bool) -> Float64Array:
    """Return half of how far stop lies above start, or that as a fraction of the joint range; 0 where it does not.

    Halves, since a range may be wider than a float can say; the smallest of gaps still is one.
    """
    length = stop / 2 - start / 2
    if is_relative:
        span = np.fmax(tree.high, batch.high) / 2 - np.fmin(tree.low, batch.low) / 2
        length = np.divide(length, span, out=np.zeros_like(length), where=(length > 0) & (span > 0))
    return np.where(stop > start, np.fmax(length, np.finfo(np.float64).tiny), 0.0)


def _widest_first(distances: Float64Array) -> list[int]:
    """Return the features that have a distance, the largest first."""
    return [int(j) for j in np.argsort(-distances, kind="stable") if distances[j] > 0]


def _middle(low: float, high: float) -> float:
    """Return the middle of a gap, never the upper end itself."""
    middle = low / 2 + high / 2
    return float(middle if low <= middle < high else low)


def _padded(mask: BoolArray, length: int) -> BoolArray:
    """Return the mask made at least as long as length; what is added is False."""
    more = length - len(mask)
    return mask if more <= 0 else np.concatenate([mask, np.zeros(more, dtype=bool)])


def _either(a: BoolArray, b: BoolArray) -> BoolArray:
    """Return the union of two category sets, of which one may know more categories."""
    return _padded(a, len(b)) | _padded(b, len(a))


def _both(a: BoolArray, b: BoolArray) -> BoolArray:
    """Return the categories two sets share."""
    return _padded(a, len(b)) & _padded(b, len(a))
