"""What the adaptation asks of a base forest; random forest, SysFor and Hoeffding trees all answer to it."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from adforest.forest import Records, Tree, TreeEditor
from adforest.forest.types import Bytes, Ints, Longs, Mask


def spawn_seeds(entropy: list[int], n: int) -> list[int]:
    """Return n seeds for trees, fixed by some numbers."""
    return [int(seed) for seed in np.random.SeedSequence(entropy).generate_state(n, np.uint64)]


class Grown(NamedTuple):
    """A new tree and the leaf of every record in it, -1 for records that do not count in it."""

    tree: Tree
    leaf_of: Ints


class Grower(Protocol):
    """Builds forests, renews single trees, and expands leaves; deterministic by the seeds it is given.

    Attributes
    ----------
    uses_bootstrap : bool
        Whether each tree is grown from a sample of its own: then trees of several forests mix, and each leaves out
        records that can test it.
    """

    uses_bootstrap: ClassVar[bool]

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
        """Build trees from the known records (by position), one for each seed and place in the forest.

        A systematic base forest has a certain tree for every place (by default the first ones), and no tree where the
        data offer no more. Where trees draw lots, each of them gets all records of the classes marked as always_in_bag; what
        such a tree left out cannot be told from its lots alone. Of the records that a tree leaves out, those before the
        position route_oob_from need not be placed in it.
        """
        ...

    def coded(self, records: Records) -> Records:
        """Return the records with whatever codes speed up growing, worth it where much is grown from them."""
        ...

    def weights(self, serial: Longs, seed: int) -> Bytes:
        """Return how often each record counts when it is added to a tree that stands already."""
        ...

    def out_of_bag(self, serial: Longs, tree: Tree) -> Mask:
        """Return which records a tree did not see when it was built, though it might have: good for testing it.

        Only for trees that were built with no class marked as always_in_bag.
        """
        ...

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
        """Grow a subtree at each given leaf from its group of records, and write where they are now to leaf_of.

        Weights go with samples, and are at least 1.
        """
        ...


@runtime_checkable
class StreamingGrower(Protocol):
    """A base forest whose trees go on splitting leaves as records come, perturbed or not."""

    def stream(
        self,
        editor: TreeEditor,
        records: Records,
        weights: Bytes,
        samples: Ints,
        group_start: Longs,
        group_node: Ints,
        leaf_of: Ints,
    ) -> None:
        """Split each given leaf where its group of records asks for it, and write where they are now to leaf_of."""
        ...
