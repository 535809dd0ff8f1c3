"""Find the leaves of a forest that a batch perturbs (three readings of the paper's Eq. 14), and repair it there.

A leaf's confidence is the fraction of its most frequent class. It is *perturbed* if its confidence before the batch
exceeds its confidence after it by more than the error tolerance [ε]. The three readings differ in what 'after' means.
Repairs are those of the paper's Algorithm 2.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adforest.adaptation.boxes import Cut
from adforest.forest import Forest, Groups, LeafCounts, Samples, Tree, TreeEditor
from adforest.forest._kernels import counting
from adforest.forest.types import BoolArray, Float64Array, Int32Array, UInt16Array
from adforest.growers import Grower, Grown, StreamingGrower
from adforest.parallel import in_threads


class LeafStatistics(NamedTuple):
    """Class weights of leaves before a batch and of the batch, one entry a leaf that the batch reached."""

    leaf: Int32Array
    n_before: Float64Array
    max_before: Float64Array
    n_batch: Float64Array
    max_batch: Float64Array
    max_merged: Float64Array
    n_batch_predicted: Float64Array
    n_classes: Float64Array

    @property
    def confidence(self) -> Float64Array:
        """Confidence before the batch; a leaf without samples had none to lose."""
        confidence: Float64Array = self.max_before / np.maximum(self.n_before, 1)  # counts are integers
        return confidence


def merged_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = the previous samples of the leaf and those of the batch, together (the author's program)."""
    return leaves.max_merged / (leaves.n_before + leaves.n_batch)


def batch_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = those of the batch alone (the paper's text)."""
    return leaves.max_batch / leaves.n_batch


def predicted_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = the fraction of those of the batch that is of the class the leaf predicts.

    The other two miss a leaf whose samples were of class A with 0.9 and are of class B with 0.9 now: its confidence
    is the same.
    """
    return leaves.n_batch_predicted / leaves.n_batch


READINGS: dict[str, Callable[[LeafStatistics], Float64Array]] = {
    "batch": batch_confidence,
    "merged": merged_confidence,
    "predicted": predicted_confidence,
}


def is_perturbed(leaves: LeafStatistics, reading: str, tolerance: float) -> BoolArray:
    """Return which leaves a batch perturbed."""
    return leaves.confidence > READINGS[reading](leaves) + tolerance


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """Statistics of the leaves of one tree that a batch reaches.

    Attributes
    ----------
    leaf : int32
        The leaf that each sample of the batch reaches.
    weights : uint16
        How often each sample counts in this tree. Leaf counts are compared with the batch, and grow by it, in this one
        unit: Hoeffding trees count every sample about six times.
    batch_counts : LeafCounts
        The batch by leaf and class, in that unit.
    leaves : LeafStatistics
    perturbed : bool
        By leaf that the batch reaches.
    """

    leaf: Int32Array
    weights: UInt16Array
    batch_counts: LeafCounts
    leaves: LeafStatistics
    perturbed: BoolArray

    @property
    def n_perturbed(self) -> int:
        """How many leaves are perturbed."""
        return int(self.perturbed.sum())


def assess(tree: Tree, batch: Samples, grower: Grower, reading: str, tolerance: float) -> Assessment:
    """Send a batch down a tree, without changing it, and see which leaves it perturbs."""
    leaf = tree.route(batch.X)
    weights = grower.weights(batch.serial, tree.seed, batch.weight)
    batch_counts = _tally(leaf, batch, weights, len(tree.nodes))
    reached, statistics = tree.compare(batch_counts)
    leaves = LeafStatistics(reached, *statistics)
    return Assessment(leaf, weights, batch_counts, leaves, is_perturbed(leaves, reading, tolerance))


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """How the trees of a forest are repaired, and from which samples.

    Attributes
    ----------
    number : int
        Of the batch that is learnt.
    batch : Samples
        The batch.
    samples : Samples
        All samples in memory; the batch is their last part.
    roots : list of (Cut, bool array)
        Cuts for new roots, each with the batch's samples beyond it.
    grower : Grower
    tree_threshold : float
        A tree changes its shape if more than this fraction of its leaves is perturbed.
    expanding : list of int
        Indices of the trees whose perturbed leaves are expanded (entropy, iSAT); others are only given roots (SAT).
    min_samples_leaf : int
    knows_batch_only : bool
        Whether leaves know no samples but those of the batch. Then only these count when a leaf is tested for being
        large enough, and a leaf that is expanded in vain keeps its counts.
    """

    number: int
    batch: Samples
    samples: Samples
    roots: list[tuple[Cut, BoolArray]]
    grower: Grower
    tree_threshold: float
    expanding: list[int]
    min_samples_leaf: int
    knows_batch_only: bool

    def repair_forest(
        self,
        forest: Forest,
        assessments: Iterable[Assessment],
        seeds: list[int],
        skipped: Sequence[int],
        n_jobs: int | None,
    ) -> Forest:
        """Return the forest after it learnt the batch; trees at skipped indices, to be replaced, stay as they are."""
        # Found once: to ask for a protocol takes as long as a tree that is only added to.
        streaming = self.grower if isinstance(self.grower, StreamingGrower) else None

        def repair(work: tuple[int, Tree, Int32Array, Assessment, int]) -> Grown:
            tree_index, tree, leaf_of, assessment, seed = work
            if tree_index in skipped:
                return Grown(tree, leaf_of)
            expands = tree_index in self.expanding
            return self._repair_tree(tree, leaf_of, assessment, seed, streaming, expands=expands)

        work = zip(range(len(forest)), forest.trees, forest.leaf_of, assessments, seeds, strict=True)
        repaired = in_threads(repair, work, n_jobs)
        known = np.concatenate([forest.known, np.ones(len(self.batch), dtype=bool)])
        return Forest(tuple(g.tree for g in repaired), tuple(g.leaf_of for g in repaired), known)

    def _repair_tree(
        self,
        tree: Tree,
        leaf_of: Int32Array,
        assessment: Assessment,
        seed: int,
        streaming: StreamingGrower | None,
        *,
        expands: bool,
    ) -> Grown:
        """Change a tree's shape where the batch perturbs it, and add the batch to its counts."""
        weights = assessment.weights.copy()
        leaf_of = np.concatenate([leaf_of, np.where(weights > 0, assessment.leaf, np.int32(-1))])
        in_batch = slice(len(leaf_of) - len(self.batch), None)
        if not expands and not self.roots:
            return Grown(tree.added_to(assessment.batch_counts), leaf_of)
        editor = TreeEditor(tree, self.number, keeps_unsplit=self.knows_batch_only)
        targets = np.empty(0, dtype=np.int32)
        if assessment.n_perturbed > self.tree_threshold * tree.n_leaves:
            if expands:
                targets = self._targets(assessment)
            targets = self._add_roots(editor, leaf_of, targets, weights)
        if len(targets):
            indices = self._expand(editor, tree, targets, leaf_of, seed)
            weights[indices[indices >= in_batch.start] - in_batch.start] = 0  # counted in their new leaves already
        if editor.nodes is tree.nodes and not len(targets):
            editor.add(assessment.batch_counts)
        else:
            editor.add(_tally(leaf_of[in_batch], self.batch, weights, len(editor.nodes)))
        if streaming is not None and expands:  # leaves that the batch reached are split where their samples ask for it
            reached = np.unique(leaf_of[in_batch])
            groups = self._groups(leaf_of, reached[reached >= 0], len(editor.nodes), tree)
            if len(groups.indices):
                streaming.stream(editor, self.samples, groups, leaf_of)
        return Grown(editor.finish(), leaf_of)

    def _targets(self, assessment: Assessment) -> Int32Array:
        """Return the leaves to expand: perturbed, impure, and larger than a leaf must be."""
        leaves = assessment.leaves
        size = leaves.n_batch if self.knows_batch_only else leaves.n_before + leaves.n_batch
        return leaves.leaf[assessment.perturbed & (leaves.n_classes > 1) & (size > self.min_samples_leaf)]

    def _add_roots(
        self, editor: TreeEditor, leaf_of: Int32Array, targets: Int32Array, weights: UInt16Array
    ) -> Int32Array:
        """Put new roots on a tree; return the leaves to expand, those beyond the new roots among them."""
        of_batch = leaf_of[len(leaf_of) - len(self.batch) :]
        for cut, beyond in self.roots:
            old_root_is_leaf = editor.nodes["split"][0] < 0
            new, moved = editor.add_root(cut.feature, cut.value, tree_left=cut.tree_left)
            if old_root_is_leaf:
                leaf_of[leaf_of == 0] = moved
                targets[targets == 0] = moved
            of_batch[beyond & (weights > 0)] = new
            targets = np.append(targets, np.int32(new))
        return targets

    def _expand(
        self, editor: TreeEditor, tree: Tree, targets: Int32Array, leaf_of: Int32Array, seed: int
    ) -> Int32Array:
        """Expand some leaves; return the samples that are counted in their new leaves.

        A leaf whose samples are all of one class may hold counts of others, whose samples memory has dropped;
        expanding it would forget them.
        """
        groups = self._groups(leaf_of, targets, len(editor.nodes), tree)
        if len(groups.indices):
            groups = groups._replace(weights=np.maximum(groups.weights, 1))
            editor.grow(self.samples, groups, leaf_of, self.grower.leaf_params, seed)
            if self.knows_batch_only:
                return groups.indices[np.repeat(editor.nodes["split"][groups.node] >= 0, np.diff(groups.start))]
        return groups.indices

    def _groups(self, leaf_of: Int32Array, leaves: Int32Array, n_nodes: int, tree: Tree) -> Groups:
        """Return the samples in memory of some leaves, and how often each counts in the tree."""
        samples = self.samples
        indices, starts, nodes = counting.gather(leaf_of, samples.y, leaves, n_nodes)
        weights = self.grower.weights(samples.serial[indices], tree.seed, samples.weight_at(indices))
        return Groups(indices, weights, starts, nodes)


def _tally(leaf: Int32Array, batch: Samples, weights: UInt16Array, n_nodes: int) -> LeafCounts:
    """Add up a batch by leaf and class."""
    return LeafCounts(*counting.tally(leaf, batch.y, weights, n_nodes))
