"""Random forest: a bootstrap sample per tree, a random subset of features per node, gain of entropy or of Gini.

The number of features tried at a node is given as in scikit-learn or the paper; of many, those of more worth are drawn
more often.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import ClassVar

import numpy as np

from adforest.forest import Samples, Tree, importances
from adforest.forest._kernels import growing
from adforest.forest._kernels.binning import bin_columns
from adforest.forest._kernels.sampling import poisson_weights, whole_weights
from adforest.forest.types import BoolArray, Float64Array, Int32Array
from adforest.growers.protocol import Grower, Grown, TreeRequest
from adforest.parallel import in_threads

PATH_LENGTH = 12  # nodes on a path; where a feature is tried on each path, all are drawn alike
MIN_UNIFORM_FRACTION = 0.2  # of the entries that are uniform draws, so that every feature is tried
N_ENTRIES = 4096  # entries of the list, so that probabilities are exact to 0.02 %
WORTH_BINNING = 512  # with fewer samples the grower codes nodes by their own values anyway


def count_features(max_features: str | float | None, m: int) -> int:
    """Return how many features to try at each node."""
    if max_features is None:
        return m
    if max_features == "default":
        return min(m, max(int(math.log2(m)) + 1, int(math.sqrt(m))))
    if max_features == "log2+1":
        return min(m, int(math.log2(m)) + 1)
    if max_features == "sqrt":
        return max(1, int(math.sqrt(m)))
    if max_features == "log2":
        return max(1, int(math.log2(m)))
    if isinstance(max_features, Integral):
        return min(m, int(max_features))
    return max(1, int(float(max_features) * m))


def uniform_fraction(n_tried: int, m: int) -> float:
    """Return the fraction of entries for uniform draws: 1 where nodes try so many that each feature is tried often."""
    return min(1.0, max(MIN_UNIFORM_FRACTION, PATH_LENGTH * n_tried / m))


def sampling_by_worth(worth: Float64Array, n_tried: int) -> Int32Array | None:
    """Return the list from which nodes draw features: each in proportion to its worth, and -1 for a uniform draw.

    Of a thousand features a node tries some thirty; where ten of them matter, most nodes would try none of these.

    Parameters
    ----------
    worth : float64 (m,)
        Importance of each feature so far, at least 0.
    n_tried : int
        Features that a node tries.

    Returns
    -------
    int32 (n,) or None
        None where all features are alike: few enough for each to be tried, or none worth anything.
    """
    m = len(worth)
    uniform = uniform_fraction(n_tried, m)
    if uniform == 1 or not worth.any():
        return None
    times = np.rint(N_ENTRIES * (1 - uniform) * worth / worth.sum()).astype(np.int64)
    draws = np.full(N_ENTRIES, -1, dtype=np.int32)
    favoured = np.repeat(np.arange(m, dtype=np.int32), times)[:N_ENTRIES]
    draws[: len(favoured)] = favoured
    return draws


@dataclass(frozen=True, slots=True)
class RandomForestGrower(Grower):
    """Grows the trees of ADF-R by ``params``: features drawn at each node, limits of a leaf and of a tree."""

    uses_bootstrap: ClassVar[bool] = True

    def favouring(self, trees: Iterable[Tree], n_categories: Int32Array) -> "RandomForestGrower":
        """Return the grower that draws features by their importance in some trees.

        Each tree counts the same. The grower is as it was where nodes try enough features for each to have its turn.
        """
        n_tried = self.params.max_features
        if uniform_fraction(n_tried, len(n_categories)) == 1:
            return self
        found = [importances(tree, n_categories, n_tried, self.sample_weight) for tree in trees]
        worth = np.sum([one / one.sum() for one in found if one.any()], axis=0)
        draws = sampling_by_worth(np.broadcast_to(worth, len(n_categories)), n_tried)
        return replace(self, params=replace(self.params, draws=draws))

    def build(self, request: TreeRequest) -> list[Grown]:
        """Build one tree for each seed from the known samples; all trees are alike."""
        request = replace(request, samples=self.coded(request.samples))
        return in_threads(lambda seed: self._build_one(request, seed), request.seeds, request.n_jobs)

    def coded(self, samples: Samples) -> Samples:
        """Return the samples with codes of all features, unless they have them or are few."""
        if samples.codes is not None or len(samples) <= WORTH_BINNING:
            return samples
        return replace(samples, codes=bin_columns(samples.X, samples.n_categories, self.params.max_bins))

    def _build_one(self, request: TreeRequest, seed: int) -> Grown:
        """Build one tree from scratch."""
        samples, known, always_in_bag = request.samples, request.known, request.always_in_bag
        serial, weight = samples.serial[known], samples.weight_at(known)
        weights = poisson_weights(serial, seed, 1.0, weight)
        if always_in_bag is not None and always_in_bag.any():
            weights[always_in_bag[samples.y[known]] & (weights == 0)] = 1
        if not weights.any():  # a handful of samples, none of which was drawn
            weights = np.ones_like(weights)
        # The bootstrap is over once a tree stands: repairs count every sample once, those not drawn too. But some trees
        # know nothing of a sample that counts less than once.
        counted = None if weight is None else whole_weights(serial, seed, weight)
        nodes, bits, rows, importance, leaf_of = growing.grow_tree(
            samples, known, weights, self.params, counted=counted, route_from=request.route_oob_from, seed=seed
        )
        return Grown(Tree.built(nodes, bits, rows, importance, seed), leaf_of)

    def out_of_bag(self, samples: Samples, tree: Tree) -> BoolArray:
        """Return which samples are out of the tree's bag."""
        out_of_bag: BoolArray = poisson_weights(samples.serial, tree.seed, 1.0, samples.weight) == 0
        return out_of_bag
