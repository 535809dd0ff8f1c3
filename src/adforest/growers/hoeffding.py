"""Hoeffding trees (Domingos & Hulten 2000): samples one by one, a leaf splits once they surely prefer a feature."""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from adforest.forest import Groups, LeafCounts, Samples, Tree, TreeEditor
from adforest.forest._kernels import counting, sampling
from adforest.forest._kernels.streaming import stream
from adforest.forest.types import Float64Array, Int32Array, Int64Array, UInt16Array
from adforest.growers.protocol import Grower, Grown, TreeRequest
from adforest.parallel import in_threads

LEAST_GRACE = 20  # a leaf of one sample is too eager to split


@dataclass(frozen=True, slots=True)
class HoeffdingGrower(Grower):
    """Grows the trees of ADF-H: every sample has a Poisson(6) weight in each tree, leaves hold the majority.

    Parameters
    ----------
    params : GrowthParams
        ``min_samples_leaf`` is the grace period, at least 20: the weight a leaf receives between two attempts to split
        while a tree is built. Later, leaves are expanded as in a random forest: the bound is for samples that arrive
        one by one, and of a leaf that a batch perturbs all samples are known.
    delta : float
        One minus the confidence that the feature chosen is the best.
    tie_threshold : float
        Hoeffding bound below which features count as equally good.
    """

    sample_weight: ClassVar[float] = 6.0  # a Poisson draw of that mean, as in leveraging bagging

    delta: float = 1e-7
    tie_threshold: float = 0.05

    def build(self, request: TreeRequest) -> list[Grown]:
        """Build one tree for each seed from the known samples, in the order they are in; all trees are alike."""
        samples, known = request.samples, request.known
        return in_threads(lambda seed: self._build_one(samples, known, seed), request.seeds, request.n_jobs)

    def _build_one(self, samples: Samples, known: Int32Array, seed: int) -> Grown:
        """Stream all known samples through one new tree."""
        editor = TreeEditor(Tree.bare(samples.X.shape[1], seed))
        leaf_of = np.zeros(len(samples), dtype=np.int32)
        weights = self.weights(samples.serial[known], seed, samples.weight_at(known))
        groups = Groups(known, weights, np.array([0, len(known)]), np.zeros(1, dtype=np.int32))
        editor.add(LeafCounts(*counting.tally(leaf_of[known], samples.y[known], weights, 1)))
        self.stream(editor, samples, groups, leaf_of)
        placed = np.full(len(samples), -1, dtype=np.int32)
        counted = known if samples.weight is None else known[weights > 0]
        placed[counted] = leaf_of[counted]
        if self.params.min_samples_leaf < LEAST_GRACE:  # smaller leaves than the bound could make are asked for
            leaves = np.flatnonzero(editor.nodes["split"] < 0).astype(np.int32)
            indices, starts, nodes = counting.gather(placed, samples.y, leaves, len(editor.nodes))
            if len(indices):
                drawn = np.maximum(self.weights(samples.serial[indices], seed, samples.weight_at(indices)), 1)
                editor.grow(samples, Groups(indices, drawn, starts, nodes), placed, self.leaf_params, seed)
        return Grown(editor.finish(), placed)

    def stream(self, editor: TreeEditor, samples: Samples, groups: Groups, leaf_of: Int32Array) -> None:
        """Split each leaf where its samples, one by one, satisfy the bound; the others stay as they are."""
        group_nodes, nodes, category_bits, importance = stream(
            samples,
            editor.with_depths(groups, self.params.max_depth),
            grace=max(self.params.min_samples_leaf, LEAST_GRACE),
            log_inverse_delta=log(1 / self.delta),
            tie=self.tie_threshold,
            max_depth=self.params.max_depth,
            n_nodes=len(editor.nodes),
            n_words=editor.n_words,
        )
        splits = group_nodes["split"] >= 0
        if not splits.any():
            return
        editor.attach(groups.node[splits], group_nodes[splits], nodes, category_bits, importance)
        moved = np.repeat(splits, np.diff(groups.start))
        indices, weights = groups.indices[moved], groups.weights[moved]
        leaf = editor.route(samples.X[indices])
        leaf_of[indices] = leaf
        editor.add(LeafCounts(*counting.tally(leaf, samples.y[indices], weights, len(editor.nodes))))

    def weights(self, serial: Int64Array, seed: int, weight: Float64Array | None = None) -> UInt16Array:
        """Return how often each sample counts in the tree of that seed."""
        return sampling.poisson_weights(serial, seed, self.sample_weight, weight)
