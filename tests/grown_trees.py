"""What is true of any grown tree."""

import numpy as np
import pytest

import oracles
from adforest.forest._kernels.binning import bin_columns

SHARED = pytest.mark.parametrize("binned", [False, True], ids=["own codes", "shared codes"])
CONFIDENCE = 0.25  # that C4.5 prunes with


def offers_no_cut(b, here):
    """Return whether samples are equal, or differ by categories only of which no two sides are worth their price."""
    for column, n_categories in zip(b.X[here].T, b.n_categories, strict=True):
        price = oracles.subset_price(column) if n_categories else 0.0
        if len(np.unique(column)) > 1 and price == 0:
            return False
        # The search is exact where there are two classes; subsets of more than eight categories are too many to try.
        if 0 < price < 10 and len(set(b.y[here])) == 2:
            best = oracles.best_subset_gain(column, b.y[here], b.weights[here])
            if best > price + 1e-6:
                return False
    return True


def check_tree(b, tree, samples=None, *, start=0, min_leaf=1, max_depth=-1, depth=0):
    """Check all that is true of any subtree; return by attribute what its cuts gain, less the price of categories."""
    samples = np.arange(len(b.y)) if samples is None else np.asarray(samples)
    passing = oracles.samples_at(tree.nodes, tree.category_bits, b.X, samples, start)
    gains = np.zeros(b.X.shape[1])
    for node, level in oracles.depths(tree.nodes, start, depth).items():
        here = np.array(passing[node])
        y, weights = b.y[here], b.weights[here]
        if tree.nodes["split"][node] >= 0:
            assert max_depth < 0 or level < max_depth
            assert node not in tree.rows
            left = np.isin(here, passing[int(tree.nodes["left"][node])])
            assert min(left.sum(), (~left).sum()) >= min_leaf
            feature = tree.nodes["split"][node] >> 2
            price = oracles.subset_price(b.X[here, feature]) if b.n_categories[feature] else 0.0
            worth = oracles.gain(y, weights, left) - price
            assert worth > 0 or price == 0, "a cut by categories gains more than its price"
            gains[feature] += worth
            continue
        assert (tree.leaf_of[here] == node).all()
        assert tree.rows[node] == oracles.tally([node] * len(here), y, weights)[node]
        stops = len(set(y)) == 1 or len(here) < 2 * min_leaf or level == max_depth
        # A larger minimum may rule out all the cuts that are tried, which is for other tests to know.
        assert stops or min_leaf > 1 or offers_no_cut(b, here)
    return gains


def root_gain(b, tree):
    """Return what the cut at the root is worth."""
    left = oracles.samples_at(tree.nodes, tree.category_bits, b.X, range(len(b.y))).get(int(tree.nodes["left"][0]), [])
    return oracles.gain(b.y, b.weights, np.isin(np.arange(len(b.y)), left))


def inner_nodes(b, tree):
    """Yield each inner node with its samples, which of them go left, and whether missing values do."""
    passing = oracles.samples_at(tree.nodes, tree.category_bits, b.X, range(len(b.y)))
    for node in np.flatnonzero(tree.nodes["split"] >= 0):
        here = np.array(passing[node])
        left = np.isin(here, passing[int(tree.nodes["left"][node])])
        yield tree.nodes[node], here, left, bool(tree.nodes["split"][node] & oracles.MISSING_LEFT)


def shared_codes(b, binned):
    return bin_columns(b.X, b.n_categories, 255) if binned else None


def sides(tree, passing, node):
    """Return a node's samples, in the order they arrived, and which of them go left."""
    here = np.array(passing.get(node, []), dtype=np.intp)
    return here, np.isin(here, passing.get(int(tree.nodes["left"][node]), []))


def check_whole(b, tree, leaf_of, samples, start=0):
    """Check that leaves hold the samples that the cuts send there, and importance the gains; nothing is left over."""
    passing = oracles.samples_at(tree.nodes, tree.category_bits, b.X, samples, start)
    reached = oracles.depths(tree.nodes, start)
    gains = np.zeros(b.X.shape[1])
    rows = oracles.rows_of(tree)
    for node in reached:
        here, left = sides(tree, passing, node)
        if tree.nodes["split"][node] >= 0:
            feature = tree.nodes["split"][node] >> 2
            price = oracles.subset_price(b.X[here, feature]) if b.n_categories[feature] else 0.0
            gains[feature] += oracles.gain(b.y[here], b.weights[here], left) - price
            assert node not in rows
        else:
            assert tree.nodes["left"][node] == -1
            assert (leaf_of[here] == node).all()
            assert rows.get(node, {}) == oracles.tally([node] * len(here), b.y[here], b.weights[here]).get(node, {})
    if start == 0:
        assert set(reached) == set(range(len(tree.nodes)))
        np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)
    return gains
