"""Base class of base forests; random forest, SysFor and Hoeffding trees implement it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from adforest.forest import Groups, GrowthParams, Samples, Tree, TreeEditor
from adforest.forest._kernels.sampling import whole_weights
from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array, UInt16Array


class Grown(NamedTuple):
    """A new tree and the leaf of every sample in it, -1 for samples that do not count in it."""

    tree: Tree
    leaf_of: Int32Array

    def among(self, known: Int32Array, n: int) -> "Grown":
        """Return the tree with the leaves of n samples, of which it was grown from those at some positions."""
        leaf_of = np.full(n, -1, dtype=np.int32)
        leaf_of[known] = self.leaf_of
        return Grown(self.tree, leaf_of)


@dataclass(frozen=True, slots=True, eq=False)
class TreeRequest:
    """Which trees to build, and from which samples.

    Attributes
    ----------
    samples : Samples
    known : int32
        Positions of the samples to build from, ascending.
    seeds : list of int
        One for each tree.
    n_jobs : int or None
        Threads.
    tree_indices : sequence of int, optional
        For each tree its index in a systematic base forest, by default the first ones. Such a forest has a certain
        tree for every index, and none where the data offer no more; to others all are alike.
    always_in_bag : bool (n_classes,), optional
        Classes of which every bootstrap sample holds all samples. The out-of-bag samples of a tree built with such
        classes do not follow from its seed alone.
    route_oob_from : int
        Samples out of a tree's bag are sent to their leaves from this position on; those before have the leaf -1.
    """

    samples: Samples
    known: Int32Array
    seeds: list[int]
    n_jobs: int | None = None
    tree_indices: Sequence[int] | None = None
    always_in_bag: BoolArray | None = None
    route_oob_from: int = 0


@dataclass(frozen=True, slots=True)
class Grower(ABC):
    """Builds forests, regrows single trees, and expands leaves; deterministic, given the seeds.

    Attributes
    ----------
    uses_bootstrap : bool
        Whether each tree is grown from a bootstrap sample of its own: then trees of several forests mix, and samples
        out of a tree's bag can test it.
    sample_weight : float
        Mean weight of a sample in a tree.
    params : GrowthParams
        How trees are grown.
    """

    uses_bootstrap: ClassVar[bool] = False
    sample_weight: ClassVar[float] = 1.0

    params: GrowthParams

    @property
    def leaf_params(self) -> GrowthParams:
        """How subtrees are grown where leaves of a finished tree are expanded, see `TreeEditor.grow`: as trees are."""
        return self.params

    @abstractmethod
    def build(self, request: TreeRequest) -> list[Grown]:
        """Build trees from the known samples, one for each seed."""

    def coded(self, samples: Samples) -> Samples:
        """Return the samples with whatever codes speed up growing, worth it where much is grown from them."""
        return samples

    def weights(self, serial: Int64Array, seed: int, weight: Float64Array | None = None) -> UInt16Array:
        """Return the weight of each sample when it is added to an existing tree: its own, rounded at random.

        In the mean over seeds that is its weight, or a multiple of it.
        """
        return whole_weights(serial, seed, weight)

    def out_of_bag(self, samples: Samples, tree: Tree) -> BoolArray:
        """Return which samples were not in the tree's bag when it was built from them and maybe others.

        Only for trees that were built with no class always in the bag.
        """
        out: BoolArray = self.weights(samples.serial, tree.seed, samples.weight) == 0
        return out


@runtime_checkable
class StreamingGrower(Protocol):
    """A base forest whose trees split leaves as samples arrive, perturbed or not."""

    def stream(self, editor: TreeEditor, samples: Samples, groups: Groups, leaf_of: Int32Array) -> None:
        """Split the leaves whose groups of samples require it, and write their new leaves to leaf_of."""
        ...
