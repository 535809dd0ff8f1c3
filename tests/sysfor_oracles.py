"""Good cuts and trees of blocks, as tests of SysFor ask for them and compare them."""

import numpy as np

from adforest.growers.sysfor import good_cuts

TREE_ARRAYS = ("nodes", "category_bits", "row_start", "row_class", "row_weight", "row_scale", "importance")


def everyone(samples):
    return np.arange(len(samples), dtype=np.int32)


def good(b, known=None, *, min_leaf=1, goodness=0.3, separation=0.3):
    known = everyone(b.samples) if known is None else np.asarray(known, dtype=np.int32)
    return good_cuts(b.samples, known, min_leaf, goodness, separation)


def tame(b):
    """Return a block without infinite values, whose ranges are wide."""
    X = b.X.copy()
    numerical = b.n_categories == 0
    for wild, value in ((-np.inf, -4.0), (1e308, 5.0), (np.inf, 9.0)):
        X[(X == wild) & numerical] = value
    return b._replace(X=X, weights=np.ones_like(b.weights))


def same_tree(a, b, arrays=TREE_ARRAYS):
    return all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in arrays)
