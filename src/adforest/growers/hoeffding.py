"""Hoeffding trees (Domingos & Hulten 2000): records one by one, a leaf splits once they surely prefer an attribute."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from adforest.forest import Groups, GrowthParams, LeafCounts, Records, Tree, TreeEditor, in_threads
from adforest.forest._kernels import counting, lots
from adforest.forest._kernels.streaming import stream
from adforest.forest.types import Floats, Ints, Longs, Mask, Words16
from adforest.growers.protocol import Grown

LEAST_GRACE = 20  # a leaf of one record is too eager to split


@dataclass(frozen=True, slots=True)
class HoeffdingGrower:
    """Grows the trees of ADF-H: every record has a Poisson(6) weight in each tree, leaves hold the majority.

    Parameters
    ----------
    params : GrowthParams
        ``min_samples_leaf`` is the grace period, at least 20: the weight a leaf receives between two attempts to split
        while a tree is built. Later, leaves are expanded as in a random forest.
    delta : float
        One minus the confidence that the attribute chosen is the best.
    tie_threshold : float
        Hoeffding bound below which attributes count as equally good.
    """

    uses_bootstrap: ClassVar[bool] = False
    record_weight: ClassVar[float] = 6.0  # a Poisson draw of that mean, as in leveraging bagging

    params: GrowthParams
    delta: float = 1e-7
    tie_threshold: float = 0.05

    def build(
        self,
        records: Records,
        known: Ints,
        seeds: list[int],
        n_jobs: int | None,
        places: Sequence[int] | None = None,
        always_in_bag: Mask | None = None,
        route_oob_from: int = 0,
    ) -> list[Grown]:
        """Build one tree for each seed from the known records, in the order they are in; all places are alike."""
        return in_threads(lambda seed: self._build_one(records, known, seed), seeds, n_jobs)

    def _build_one(self, records: Records, known: Ints, seed: int) -> Grown:
        """Stream all known records through one new tree."""
        editor = TreeEditor(Tree.bare(records.X.shape[1], seed))
        leaf_of = np.zeros(len(records), dtype=np.int32)
        weights = self.weights(records.serial[known], seed, records.weight_at(known))
        groups, root = np.array([0, len(known)]), np.zeros(1, dtype=np.int32)
        editor.add(LeafCounts(*counting.tally(leaf_of[known], records.y[known], weights, 1)))
        self.stream(editor, records, weights, known, groups, root, leaf_of)
        placed = np.full(len(records), -1, dtype=np.int32)
        counted = known if records.weight is None else known[weights > 0]
        placed[counted] = leaf_of[counted]
        if self.params.min_samples_leaf < LEAST_GRACE:  # smaller leaves than the bound could make are asked for
            leaves = np.flatnonzero(editor.nodes["split"] < 0).astype(np.int32)
            samples, starts, nodes = counting.gather(placed, records.y, leaves, len(editor.nodes))
            if len(samples):
                drawn = np.maximum(self.weights(records.serial[samples], seed, records.weight_at(samples)), 1)
                self.expand(editor, records, drawn, samples, starts, nodes, placed, seed)
        return Grown(editor.finish(), placed)

    def stream(
        self,
        editor: TreeEditor,
        records: Records,
        weights: Words16,
        samples: Ints,
        group_start: Longs,
        group_node: Ints,
        leaf_of: Ints,
    ) -> None:
        """Split each given leaf where its records, one by one, satisfy the bound; the others stay as they are."""
        group_nodes, nodes, category_bits, importance = stream(
            records,
            Groups(samples, weights, group_start, group_node, editor.depths_of(group_node)),
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
        editor.attach(group_node[splits], group_nodes[splits], nodes, category_bits, importance)
        moved = np.repeat(splits, np.diff(group_start))
        samples, weights = samples[moved], weights[moved]
        leaf = editor.route(records.X[samples])
        leaf_of[samples] = leaf
        editor.add(LeafCounts(*counting.tally(leaf, records.y[samples], weights, len(editor.nodes))))

    def coded(self, records: Records) -> Records:
        """Return the records as they are."""
        return records

    def weights(self, serial: Longs, seed: int, weight: Floats | None = None) -> Words16:
        """Return how often each record counts in the tree of that seed."""
        return lots.poisson_weights(serial, seed, self.record_weight, weight)

    def out_of_bag(self, records: Records, tree: Tree) -> Mask:
        """Return which records a tree was built without: hardly any."""
        out: Mask = self.weights(records.serial, tree.seed, records.weight) == 0
        return out

    def expand(
        self,
        editor: TreeEditor,
        records: Records,
        weights: Words16,
        samples: Ints,
        group_start: Longs,
        group_node: Ints,
        leaf_of: Ints,
        seed: int,
    ) -> None:
        """Grow a subtree at each given leaf by entropy from its group of records, which are all at hand.

        The bound is for records that come one by one; a leaf that a batch perturbs knows its records.
        """
        editor.grow(records, weights, samples, group_start, group_node, leaf_of, self.params, seed)
