"""The rest of a batch that was drawn from: records that no tree is grown from are counted in the leaves of the trees.

Where trees cut is settled by the records drawn; how frequent classes are in their leaves, by all records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from adforest.adaptation.state import State
from adforest.adaptation.weighing import Weighing
from adforest.forest import LeafCounts, Records, Tree, in_threads
from adforest.forest._kernels.counting import tally
from adforest.forest._kernels.routing import route
from adforest.forest.types import Ints, Nodes, Words
from adforest.growers import Grower

LEARNING = frozenset({"built", "rebuilt", "repaired", "rejoined", "replaced"})  # what forests do that learn a batch


@dataclass(frozen=True, slots=True, eq=False)
class LeafCounter:
    """Counts records in the leaves of trees. Small to send: what the leaves hold is not in it.

    Attributes
    ----------
    shapes : tuple of (nodes, category bits, seed)
        One a tree.
    grower : Grower
        Says how often a record counts in a tree.
    weighing : Weighing
        What weights of records are multiplied by.
    """

    shapes: tuple[tuple[Nodes, Words, int], ...]
    grower: Grower
    weighing: Weighing

    @classmethod
    def of(cls, state: State, trees: Iterable[Tree]) -> LeafCounter:
        """Return the counter for some trees of a state."""
        settings, memory = state.settings, state.memory
        shapes = tuple((tree.nodes, tree.category_bits, tree.seed) for tree in trees)
        weighing = memory.weighing(settings.class_weight, len(memory.seen_by_class))
        return cls(shapes, settings.grower, weighing)

    def count(self, records: Records, places: Ints, n_jobs: int | None = None) -> list[LeafCounts]:
        """Return by tree how often the classes of the records at some places come in its leaves."""
        y, serial = records.y[places], records.serial[places]
        weight = self.weighing.weights(y, records.weight_at(places))

        def count_one(shape: tuple[Nodes, Words, int]) -> LeafCounts:
            nodes, bits, seed = shape
            leaf = route(nodes, bits, records.X, places)
            return LeafCounts(*tally(leaf, y, self.grower.weights(serial, seed, weight), len(nodes)))

        return in_threads(count_one, self.shapes, n_jobs)


def learning_trees(state: State, action: dict[str, str]) -> list[Tree]:
    """Return the trees that have learnt a batch, each once, given what the forests did at it."""
    forests = [one.forest for name, one in state.forests.items() if action.get(name) in LEARNING]
    return list({id(tree): tree for forest in forests for tree in forest.trees}.values())


def with_counts(state: State, trees: Sequence[Tree], counts: Sequence[LeafCounts]) -> State:
    """Return the state in which some trees know that more records came to their leaves."""
    counted = {id(tree): tree.added_to(rows) for tree, rows in zip(trees, counts, strict=True)}
    return state.with_forests(lambda forest: forest.with_trees(counted))


def place(records: Records, tree: Tree, leaf_of: Ints, others: Ints, grower: Grower) -> Tree:
    """Write the leaves of records to leaf_of that a tree was grown without, and return the tree that counts them."""
    weight = records.weight_at(others)
    whole = grower.weights(records.serial[others], tree.seed, weight)
    leaf = route(tree.nodes, tree.category_bits, records.X, others)
    # Of a record that counts less than once, some trees know nothing.
    leaf_of[others] = leaf if weight is None else np.where(whole > 0, leaf, np.int32(-1))
    return tree.added_to(LeafCounts(*tally(leaf, records.y[others], whole, len(tree.nodes))))
