"""Hoeffding trees (Domingos & Hulten 2000): records one by one, a leaf splits once they surely prefer an attribute."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from adforest.forest import Growth, Records, Rows, Tree, TreeEditor, in_threads
from adforest.forest._kernels import counting
from adforest.forest._kernels.streaming import stream
from adforest.forest.types import Bytes, Ints, Longs, Mask
from adforest.growers.protocol import Grown

RECORD_WEIGHT = 6.0  # mean of the Poisson weight of a record in a tree, as in leveraging bagging
LEAST_GRACE = 20  # a leaf of one record is too eager to split


@dataclass(frozen=True, slots=True)
class HoeffdingGrower:
    """Grows the trees of ADF-H: every record has a Poisson(6) weight in each tree, leaves hold the majority.

    Parameters
    ----------
    how : Growth
        ``min_samples_leaf`` is the grace period, at least 20: the weight a leaf receives between two attempts to split.
    delta : float
        One minus the confidence that the attribute chosen is the best.
    tie_threshold : float
        Hoeffding bound below which attributes count as equally good.
    """

    draws_lots: ClassVar[bool] = False

    how: Growth
    delta: float = 1e-7
    tie_threshold: float = 0.05

    def build(
        self,
        records: Records,
        known: Ints,
        seeds: list[int],
        n_jobs: int | None,
        places: Sequence[int] | None = None,
        whole: Mask | None = None,
        placed_from: int = 0,
    ) -> list[Grown]:
        """Build one tree for each seed from the known records, in the order they are in; all places are alike."""
        return in_threads(lambda seed: self._build_one(records, known, seed), seeds, n_jobs)

    def _build_one(self, records: Records, known: Ints, seed: int) -> Grown:
        """Stream all known records through one new tree."""
        editor = TreeEditor(Tree.bare(records.X.shape[1], seed))
        leaf_of = np.full(len(records), -1, dtype=np.int32)
        weights = self.weights(records.serial[known], seed)
        groups, root = np.array([0, len(known)]), np.zeros(1, dtype=np.int32)
        self.expand(editor, records, weights, known, groups, root, leaf_of, seed)
        return Grown(editor.finish(), leaf_of)

    def coded(self, records: Records) -> Records:
        """Return the records as they are."""
        return records

    def weights(self, serial: Longs, seed: int) -> Bytes:
        """Return how often each record counts in the tree of that seed."""
        return counting.poisson_weights(serial, seed, RECORD_WEIGHT)

    def left_out(self, serial: Longs, tree: Tree) -> Mask:
        """Return which records a tree was built without: hardly any."""
        out: Mask = self.weights(serial, tree.seed) == 0
        return out

    def expand(
        self,
        editor: TreeEditor,
        records: Records,
        weights: Bytes,
        samples: Ints,
        group_start: Longs,
        group_node: Ints,
        leaf_of: Ints,
        seed: int,
    ) -> None:
        """Grow a Hoeffding tree at each given leaf from its group of records, in the order they are in."""
        group_nodes, nodes, words, importance = stream(
            records.X,
            records.y,
            weights,
            records.n_categories,
            samples,
            group_start,
            editor.depths_of(group_node),
            n_classes=records.n_classes,
            grace=max(self.how.min_samples_leaf, LEAST_GRACE),
            log_inverse_delta=log(1 / self.delta),
            tie=self.tie_threshold,
            max_depth=-1 if self.how.max_depth is None else self.how.max_depth,
            base=len(editor.nodes),
            words_base=editor.n_words,
        )
        editor.attach(group_node, group_nodes, nodes, words, importance)
        leaf = editor.route(records.X[samples])
        leaf_of[samples] = leaf
        editor.add(Rows(*counting.tally(leaf, records.y[samples], weights, len(editor.nodes))))
