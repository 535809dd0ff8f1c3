"""What a tree owes to each feature."""

import numpy as np

from adforest.forest._kernels.sums import entropies
from adforest.forest.tree import Tree
from adforest.forest.types import Float64Array, Int32Array


def importances(tree: Tree, n_categories: Int32Array, n_tried: int, sample_weight: float) -> Float64Array:
    """Return by feature what its cuts gain beyond chance, in bits times samples, by what nodes hold now.

    The best of many cuts gains something even where a feature says nothing, the more the more there are to choose
    from: a plain sum of gains favours identifiers and noise over features of few values. So a cut counts only as far
    as its gain exceeds the bits that say which one it is: log2(n - 1) for n samples and a number, k - 1 for k
    categories, and log2 of how many features were tried.

    Parameters
    ----------
    tree : Tree
    n_categories : int32 (m,)
        Categories known per feature, 0 for numerical ones.
    n_tried : int
        Attributes tried at each node.
    sample_weight : float
        What a sample weighs in the tree, in the mean.
    """
    sums = tree.sums
    entropy = entropies(sums)
    inner = np.flatnonzero(tree.nodes["split"] >= 0)
    feature, left = tree.nodes["split"][inner] >> 2, tree.nodes["left"][inner]
    gain = (entropy[inner] - entropy[left] - entropy[left + 1]) / sample_weight
    n, k = sums.total[inner] / sample_weight, n_categories[feature]
    price = np.where(k > 0, np.minimum(np.maximum(n, 1), k) - 1, np.log2(np.maximum(n - 1, 1))) + np.log2(n_tried)
    worth = np.bincount(feature, np.maximum(gain - price, 0.0), minlength=len(n_categories))
    return worth.astype(np.float64)


def xlogx(x: Float64Array) -> Float64Array:
    """Return x log2 x, 0 at 0."""
    return x * np.log2(np.where(x > 0, x, 1.0))
