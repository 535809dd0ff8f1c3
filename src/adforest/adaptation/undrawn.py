"""The rest of a batch that was drawn from: samples that no tree is grown from are counted in the leaves of the trees.

Where trees cut is settled by the samples drawn; how frequent classes are in their leaves, by all samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from adforest.adaptation.memory import SampleWeights
from adforest.adaptation.state import State
from adforest.forest import LeafCounts, Samples, Tree
from adforest.forest._kernels.counting import tally
from adforest.forest._kernels.routing import route
from adforest.forest.types import Int32Array, Nodes, UInt64Array
from adforest.growers import Grower
from adforest.parallel import in_threads

LEARNING = frozenset({"built", "rebuilt", "repaired", "rejoined", "replaced"})  # what forests do that learn a batch


@dataclass(frozen=True, slots=True, eq=False)
class LeafCounter:
    """Counts samples in the leaves of trees. Small to send: it has no class weights.

    Attributes
    ----------
    shapes : tuple of (nodes, category bits, seed)
        One a tree.
    grower : Grower
        Determines how often a sample counts in a tree.
    sample_weights : SampleWeights
        Factors of sample weights.
    """

    shapes: tuple[tuple[Nodes, UInt64Array, int], ...]
    grower: Grower
    sample_weights: SampleWeights

    @classmethod
    def of(cls, state: State, trees: Iterable[Tree]) -> LeafCounter:
        """Return the counter for some trees of a state."""
        settings, memory = state.settings, state.memory
        shapes = tuple((tree.nodes, tree.category_bits, tree.seed) for tree in trees)
        sample_weights = settings.sample_weights(memory, len(memory.seen_by_class))
        return cls(shapes, settings.grower, sample_weights)

    def count(self, samples: Samples, indices: Int32Array, n_jobs: int | None = None) -> list[LeafCounts]:
        """Return the class counts of the samples at some indices in the leaves of each tree."""
        y, serial = samples.y[indices], samples.serial[indices]
        weight = self.sample_weights.of_samples(y, samples.weight_at(indices))

        def count_one(shape: tuple[Nodes, UInt64Array, int]) -> LeafCounts:
            nodes, bits, seed = shape
            leaf = route(nodes, bits, samples.X, indices)
            return LeafCounts(*tally(leaf, y, self.grower.weights(serial, seed, weight), len(nodes)))

        return in_threads(count_one, self.shapes, n_jobs)


def learning_trees(state: State, action: dict[str, str]) -> list[Tree]:
    """Return the trees that have learnt a batch, each once, given what the forests did at it."""
    forests = [one.forest for name, one in state.forests.items() if action.get(name) in LEARNING]
    return list({id(tree): tree for forest in forests for tree in forest.trees}.values())


def with_counts(state: State, trees: Sequence[Tree], counts: Sequence[LeafCounts]) -> State:
    """Return the state with more samples counted in the leaves of some trees."""
    counted = {id(tree): tree.added_to(rows) for tree, rows in zip(trees, counts, strict=True)}
    return state.with_forests(lambda forest: forest.with_trees(counted))


def route_undrawn(samples: Samples, tree: Tree, leaf_of: Int32Array, others: Int32Array, grower: Grower) -> Tree:
    """Write the leaves of samples to leaf_of that a tree was grown without, and return the tree that counts them."""
    weight = samples.weight_at(others)
    whole = grower.weights(samples.serial[others], tree.seed, weight)
    leaf = route(tree.nodes, tree.category_bits, samples.X, others)
    # Of a sample that counts less than once, some trees know nothing.
    leaf_of[others] = leaf if weight is None else np.where(whole > 0, leaf, np.int32(-1))
    return tree.added_to(LeafCounts(*tally(leaf, samples.y[others], whole, len(tree.nodes))))
