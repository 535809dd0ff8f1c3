"""Bounding boxes of forests and batches, and where SAT and iSAT cut between them (the paper's Algorithm 3)."""

from dataclasses import dataclass

import numpy as np

from adforest.forest.types import Floats, Ints, Mask

NONE: Mask = np.zeros(0, dtype=bool)


@dataclass(frozen=True, slots=True)
class Box:
    """What a set of records spans [AABB]: an interval per numerical attribute, a set per categorical one.

    Attributes
    ----------
    low, high : float64 (m,)
        NaN where an attribute is categorical or was never seen.
    categories : dict of bool arrays
        By categorical attribute: which category codes were seen.
    """

    low: Floats
    high: Floats
    categories: dict[int, Mask]

    @classmethod
    def of(cls, X: Floats, n_categories: Ints) -> "Box":
        """Return the box of some records; missing values take no part."""
        known = ~np.isnan(X)
        low = np.where(known, X, np.inf).min(axis=0)
        high = np.where(known, X, -np.inf).max(axis=0)
        numerical = (n_categories == 0) & known.any(axis=0)
        categories = {}
        for j in np.flatnonzero(n_categories):
            seen = np.zeros(n_categories[j], dtype=bool)
            seen[X[known[:, j], j].astype(np.intp)] = True
            categories[int(j)] = seen
        return cls(np.where(numerical, low, np.nan), np.where(numerical, high, np.nan), categories)

    def union(self, other: "Box") -> "Box":
        """Return the smallest box around both."""
        categories = dict(self.categories)
        for j, seen in other.categories.items():
            categories[j] = _either(categories.get(j, NONE), seen)
        return Box(np.fmin(self.low, other.low), np.fmax(self.high, other.high), categories)


@dataclass(frozen=True, slots=True)
class Cut:
    """A question for a new root: the tree keeps one side, the batch's records on the other get a subtree.

    Attributes
    ----------
    feature : int
    value : float or bool array
        The largest value that goes left, or which categories go left.
    tree_left : bool
        Whether the tree keeps the left side.
    """

    feature: int
    value: float | Mask
    tree_left: bool

    def beyond(self, X: Floats) -> Mask:
        """Return which records are not on the tree's side; missing values stay with the tree."""
        column = X[:, self.feature]
        known = ~np.isnan(column)
        if isinstance(self.value, np.ndarray):
            left = np.zeros(len(column), dtype=bool)
            left[known] = self.value[column[known].astype(np.intp)]
        else:
            left = column <= self.value
        beyond: Mask = known & (left != self.tree_left)
        return beyond


def cut_between(tree: Box, batch: Box) -> Cut | None:
    """Return a cut in the widest gap between two boxes, or None where they overlap on every attribute.

    A gap is relative to the attribute's joint range, so that metres do not outvote millimetres; two categorical
    attributes without a category in common are as far apart as can be.
    """
    span = np.fmax(tree.high, batch.high) - np.fmin(tree.low, batch.low)
    above, below = batch.low - tree.high, tree.low - batch.high
    for j, seen in batch.categories.items():
        known = tree.categories.get(j, NONE)
        if seen.any() and known.any() and not _both(seen, known).any():
            return Cut(j, _padded(known, len(seen)), tree_left=True)
    gap = np.fmax(above, below)
    if not (gap > 0).any():
        return None
    j = int(np.nanargmax(_relative(gap, span)))
    if above[j] > 0:
        return Cut(j, _middle(tree.high[j], batch.low[j]), tree_left=True)
    return Cut(j, _middle(batch.high[j], tree.low[j]), tree_left=False)


def cuts_beyond(tree: Box, batch: Box) -> list[Cut]:
    """Return cuts at the tree's bounds where an overlapping batch reaches beyond them: at most one a direction.

    New categories need no root: leaves can tell them apart.
    """
    span = np.fmax(tree.high, batch.high) - np.fmin(tree.low, batch.low)
    cuts = []
    over, under = batch.high - tree.high, tree.low - batch.low
    if (over > 0).any():
        j = int(np.nanargmax(_relative(over, span)))
        cuts.append(Cut(j, float(tree.high[j]), tree_left=True))
    if (under > 0).any():
        j = int(np.nanargmax(_relative(under, span)))
        cuts.append(Cut(j, float(np.nextafter(tree.low[j], -np.inf)), tree_left=False))
    return cuts


def root_cuts(tree: Box, batch: Box, X: Floats, splitting: str, at_least: int) -> list[tuple[Cut, Mask]]:
    """Return the cuts for new roots, in the order they are put on, each with the batch's records beyond it.

    Parameters
    ----------
    splitting : {"sat", "entropy", "isat"}
        SAT cuts only between separate boxes, iSAT at the bounds of overlapping ones too, entropy never.
    at_least : int
        How many records must lie beyond a cut, lest every stray record adds a root.
    """
    if splitting == "entropy":
        return []
    gap = cut_between(tree, batch)
    cuts = [gap] if gap is not None else cuts_beyond(tree, batch) if splitting == "isat" else []
    chosen: list[tuple[Cut, Mask]] = []
    for cut in cuts:
        beyond = cut.beyond(X)
        if beyond.sum() >= at_least:
            # A later root stands above the earlier ones: what is beyond it never reaches them.
            chosen = [(earlier, mask & ~beyond) for earlier, mask in chosen]
            chosen.append((cut, beyond))
    return chosen


def _relative(length: Floats, span: Floats) -> Floats:
    """Return lengths as shares of the spans; an attribute with no length counts as nothing."""
    share = np.divide(length, span, out=np.full_like(length, -np.inf), where=span > 0)
    return np.where(length > 0, np.where(np.isnan(share), 1.0, share), -np.inf)


def _middle(low: float, high: float) -> float:
    """Return the middle of a gap, never the upper end itself."""
    middle = low / 2 + high / 2
    return float(middle if low <= middle < high else low)


def _padded(mask: Mask, length: int) -> Mask:
    """Return the mask made at least as long as length; what is added is False."""
    return np.pad(mask, (0, max(0, length - len(mask))))


def _either(a: Mask, b: Mask) -> Mask:
    """Return the union of two category sets, of which one may know more categories."""
    return _padded(a, len(b)) | _padded(b, len(a))


def _both(a: Mask, b: Mask) -> Mask:
    """Return the categories two sets share."""
    return _padded(a, len(b)) & _padded(b, len(a))
