"""C4.5 by brute force: all the cuts it looks at, and the errors that leaves must expect."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from adforest.forest import Groups, GrowthParams, Tree, TreeEditor
from oracles.splitting import bits, gain, subset_price


class AnyCut(NamedTuple):
    """A cut of one attribute: where, which samples go left, and what that is worth."""

    value: object  # the largest value that goes left, or the set of categories
    missing_left: bool
    left: np.ndarray
    gain: float
    ratio: float


def gain_ratio(y, weights, left, price=0.0):
    """Return the bits a cut saves, less a price, for each bit it takes to say which side a sample is on."""
    return (gain(y, weights, left) - price) / bits(left, weights)


def middle(low, high):
    """Return the middle of two values, or the lower one where floating point has nothing between them."""
    half = low / 2 + high / 2
    return half if low <= half < high else low


def by_share(column, y, weights, *, by_arrival):
    """Return the categories in order of their share of the most frequent class.

    Equal categories come by number. By arrival, that class is the node's, with or without a value, and of equal classes
    the first to arrive; otherwise it is that of the samples with a value, and of equal classes the lowest number.
    """
    known = ~np.isnan(column)
    counts = Counter()
    for k, weight in zip(y if by_arrival else y[known], weights if by_arrival else weights[known], strict=True):
        counts[int(k)] += int(weight)
    classes = counts if by_arrival else sorted(counts)
    top = max(classes, key=counts.__getitem__, default=None)
    kinds = sorted(set(column[known].tolist()))
    here = {kind: column == kind for kind in kinds}
    return sorted(kinds, key=lambda kind: weights[here[kind] & (y == top)].sum() / weights[here[kind]].sum())


def all_cuts(column, y, weights, n_categories=0, min_leaf=1, *, by_arrival=False):
    """List all cuts of an attribute that C4.5 looks at, with missing values on either side.

    The price of categories is taken off what they gain; a cut that gains less is none.
    """
    weights = weights.astype(np.float64)
    missing = np.isnan(column)
    if n_categories:
        order = by_share(column, y, weights, by_arrival=by_arrival)
        values = [frozenset(order[: i + 1]) for i in range(len(order))]
    else:
        order = sorted(set(column[~missing].tolist()))
        values = [*(middle(low, high) for low, high in pairwise(order)), np.inf]
    cuts, price = [], subset_price(column) if n_categories else 0.0
    for i, missing_left in product(range(len(order)), (False, True) if missing.any() else (False,)):
        left = np.isin(column, order[: i + 1]) | (missing & missing_left)
        if min(left.sum(), (~left).sum()) >= max(min_leaf, 1):
            worth = gain(y, weights, left) - price
            if price == 0 or worth > 0:
                cuts.append(AnyCut(values[i], missing_left, left, worth, gain_ratio(y, weights, left, price)))
    return cuts


def grow_c45(b, indices=None, *, seed=0, binned=None, **params):
    """Return a finished C4.5 tree, pruned if prune_confidence says so, and the leaf of every sample."""
    editor = TreeEditor(Tree.bare(b.X.shape[1], seed))
    leaf_of = np.full(len(b.y), -1, dtype=np.int32)
    indices = np.arange(len(b.y), dtype=np.int32) if indices is None else np.asarray(indices, dtype=np.int32)
    groups = Groups(indices, b.weights[indices], np.array([0, len(indices)]), np.zeros(1, dtype=np.int32))
    params = GrowthParams(max_features=1, by_ratio=True, **params)
    editor.grow(replace(b.samples, codes=binned), groups, leaf_of, params, seed)
    return editor.finish(), leaf_of


def expected_errors(n, errors, confidence):
    """Return how many errors a leaf of weight n expects, by bisection instead of C4.5's closed form.

    The upper limit of the error share p is the one at which as few errors as were seen, plus a half for continuity,
    have just the probability of the confidence; by the normal law, but exact where none was seen.
    """
    if n == 0 or errors + 0.5 >= n:
        return float(n if errors else n * (1 - confidence ** (1 / n)) if n else 0)
    deviate = NormalDist().inv_cdf(1 - confidence)

    def too_high(p):
        if errors == 0:
            return (1 - p) ** n < confidence
        return (p - (errors + 0.5) / n) * n > deviate * (p * (1 - p) * n) ** 0.5

    low, high = 0.0, 1.0
    for _ in range(100):
        half = (low + high) / 2
        low, high = (low, half) if too_high(half) else (half, high)
    return n * low


def kept_cuts(nodes, weights_at, confidence, at=0):
    """Return the errors expected below a node, and the inner nodes that pruning keeps; weights_at: class weights."""
    weights = weights_at[at].values()
    as_leaf = expected_errors(sum(weights), sum(weights) - max(weights, default=0), confidence)
    if nodes["split"][at] < 0:
        return as_leaf, set()
    sides = [kept_cuts(nodes, weights_at, confidence, int(nodes["left"][at]) + side) for side in (0, 1)]
    below = sum(errors for errors, _ in sides)
    # A tenth of an error is Quinlan's allowance for the simpler tree.
    return (as_leaf, set()) if as_leaf <= below + 0.1 else (below, {at}.union(*(kept for _, kept in sides)))
