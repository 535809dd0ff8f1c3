"""Find what a batch perturbed in a forest, and repair it there (the paper's Algorithm 2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from adforest.adaptation.boxes import Cut
from adforest.adaptation.perturbation import LeafStatistics, is_perturbed
from adforest.forest import Forest, LeafCounts, Records, Tree, TreeEditor, in_threads
from adforest.forest._kernels import counting
from adforest.forest.types import Bytes, Ints, Mask
from adforest.growers import Grower, Grown, StreamingGrower


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """What a batch finds in one tree: the leaf of each record, what it brings to leaves, and those it perturbs."""

    leaf: Ints
    brought: LeafCounts
    leaves: LeafStatistics
    perturbed: Mask

    @property
    def n_perturbed(self) -> int:
        """How many leaves are perturbed."""
        return int(self.perturbed.sum())


def assess(tree: Tree, batch: Records, reading: str, tolerance: float) -> Assessment:
    """Send a batch down a tree, without changing it, and see which leaves it perturbs."""
    leaf = tree.route(batch.X)
    brought = _tally(leaf, batch, np.ones(len(batch), dtype=np.uint8), len(tree.nodes))
    reached, statistics = tree.compare(brought)
    leaves = LeafStatistics(reached, *statistics)
    return Assessment(leaf, brought, leaves, is_perturbed(leaves, reading, tolerance))


@dataclass(frozen=True, slots=True)
class RepairRules:
    """How trees are repaired.

    Attributes
    ----------
    tree_threshold : float
        A tree changes its shape if more than this share of its leaves is perturbed.
    expanding : list of int
        Places of the trees whose perturbed leaves are expanded (entropy, iSAT); others are only given roots (SAT).
    min_samples_leaf : int
    n_jobs : int or None
    batch : int
        Number of the batch that is learnt.
    """

    tree_threshold: float
    expanding: list[int]
    min_samples_leaf: int
    n_jobs: int | None
    batch: int = 0


def repair_forest(
    forest: Forest,
    assessments: Iterable[Assessment],
    records: Records,
    batch: Records,
    roots: list[tuple[Cut, Mask]],
    rules: RepairRules,
    grower: Grower,
    seeds: list[int],
    skipped: Sequence[int] = (),
) -> Forest:
    """Return the forest after it learnt a batch, which is the last part of records.

    The trees at places to be skipped, which will be replaced, stay as they are.
    """

    def repair(work: tuple[int, Tree, Ints, Assessment, int]) -> Grown:
        place, tree, leaf_of, assessment, seed = work
        if place in skipped:
            return Grown(tree, leaf_of)
        expands = place in rules.expanding
        return _repair_tree(
            tree,
            leaf_of,
            assessment,
            seed,
            expands,
            records=records,
            batch=batch,
            roots=roots,
            rules=rules,
            grower=grower,
        )

    work = zip(range(len(forest)), forest.trees, forest.leaf_of, assessments, seeds, strict=True)
    repaired = in_threads(repair, work, rules.n_jobs)
    known = np.concatenate([forest.known, np.ones(len(batch), dtype=bool)])
    return Forest(tuple(g.tree for g in repaired), tuple(g.leaf_of for g in repaired), known)


def _repair_tree(
    tree: Tree,
    leaf_of: Ints,
    assessment: Assessment,
    seed: int,
    expands: bool,
    *,
    records: Records,
    batch: Records,
    roots: list[tuple[Cut, Mask]],
    rules: RepairRules,
    grower: Grower,
) -> Grown:
    """Change a tree's shape where the batch perturbs it, and add the batch to its counts."""
    weights = grower.weights(batch.serial, tree.seed)
    leaf_of = np.concatenate([leaf_of, np.where(weights > 0, assessment.leaf, np.int32(-1))])
    in_batch = slice(len(leaf_of) - len(batch), None)
    editor = TreeEditor(tree, rules.batch)
    targets = np.empty(0, dtype=np.int32)
    if assessment.n_perturbed > rules.tree_threshold * tree.n_leaves:
        if expands:
            targets = _targets(assessment, rules.min_samples_leaf)
        for cut, beyond in roots:
            old_root_is_leaf = editor.nodes["split"][0] < 0
            new, moved = editor.add_root(cut.feature, cut.value, tree_left=cut.tree_left)
            if old_root_is_leaf:
                leaf_of[leaf_of == 0] = moved
                targets[targets == 0] = moved
            leaf_of[in_batch][beyond & (weights > 0)] = new
            targets = np.append(targets, np.int32(new))
    if len(targets):
        samples = _expand(editor, tree, records, targets, leaf_of, grower, seed)
        weights[samples[samples >= in_batch.start] - in_batch.start] = 0  # counted in their new leaves already
    is_as_assessed = len(editor.nodes) == len(tree.nodes) and (weights == 1).all()
    brought = assessment.brought if is_as_assessed else _tally(leaf_of[in_batch], batch, weights, len(editor.nodes))
    editor.add(brought)
    if isinstance(grower, StreamingGrower) and expands:
        reached = np.unique(leaf_of[in_batch])
        samples, starts, nodes = counting.gather(leaf_of, records.y, reached[reached >= 0], len(editor.nodes))
        if len(samples):
            weights = grower.weights(records.serial[samples], tree.seed)
            grower.stream(editor, records, weights, samples, starts, nodes, leaf_of)
    return Grown(editor.finish(), leaf_of)


def _expand(
    editor: TreeEditor, tree: Tree, records: Records, targets: Ints, leaf_of: Ints, grower: Grower, seed: int
) -> Ints:
    """Let the grower expand some leaves; return the records it did so from.

    A leaf whose records are all of one class may hold counts of others, whose records memory has let go of; expanding
    it would forget them.
    """
    samples, starts, nodes = counting.gather(leaf_of, records.y, targets, len(editor.nodes))
    if len(samples):
        weights = np.maximum(grower.weights(records.serial[samples], tree.seed), 1)
        grower.expand(editor, records, weights, samples, starts, nodes, leaf_of, seed)
    return samples


def _tally(leaf: Ints, batch: Records, weights: Bytes, n_nodes: int) -> LeafCounts:
    """Add up a batch by leaf and class."""
    return LeafCounts(*counting.tally(leaf, batch.y, weights, n_nodes))


def _targets(assessment: Assessment, min_samples_leaf: int) -> Ints:
    """Return the leaves to expand: perturbed, impure, and larger than a leaf must be."""
    leaves = assessment.leaves
    large = leaves.held + leaves.brought > min_samples_leaf
    return leaves.leaf[assessment.perturbed & (leaves.n_classes > 1) & large]
