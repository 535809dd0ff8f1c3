"""Trees built by this process or by workers: an engine may build those of a forest elsewhere, and they are the same.

A tree is built by one process, by the same code. Each worker receives the block of samples, once, in the narrowest
types that hold its values exactly, and a seed per tree; it returns trees and the leaves of their samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from adforest.forest import Samples
from adforest.forest.packed import PackedRows
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int32Array, Int64Array
from adforest.growers.protocol import Grower, Grown

WORTH_SENDING = 1_000_000  # samples times trees: a second of growing or so, a few times what it takes to send them

_NO_LEAVES = np.empty(0, dtype=np.int32)

_unpacking = Lock()


class Workers(Protocol):
    """Those who build trees elsewhere."""

    @property
    def n_threads(self) -> int:
        """How many trees can be built at a time; 0 where nobody is there."""
        ...

    def map(self, work: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any) -> list[Any]:
        """Return ``work(shared, item)`` for each item, in their order; everything can be pickled, and done again."""
        ...


_workers: ContextVar[Workers | None] = ContextVar("workers", default=None)


@contextmanager
def building_on(workers: Workers) -> Iterator[None]:
    """Build trees on some workers within a block of code, where that is faster."""
    token = _workers.set(workers)
    try:
        yield
    finally:
        _workers.reset(token)


def build_trees(
    grower: Grower,
    samples: Samples,
    known: Int32Array,
    seeds: list[int],
    n_jobs: int | None,
    tree_indices: Sequence[int] | None = None,
    always_in_bag: BoolArray | None = None,
    route_oob_from: int = 0,
) -> list[Grown]:
    """Build trees as `Grower.build` does, here or on workers; where few samples are known, from these as a block.

    If no sample out of the bag is to be sent to its leaf, workers return no leaves at all.
    """
    if 2 * len(known) < len(samples):
        part, everything = samples.part(known), np.arange(len(known), dtype=np.int32)
        first = int(np.searchsorted(known, route_oob_from))
        built = build_trees(grower, part, everything, seeds, n_jobs, tree_indices, always_in_bag, first)
        return [one.among(known, len(samples)) if len(one.leaf_of) else one for one in built]
    workers = _workers.get()
    n_shares = 0 if workers is None or len(known) * len(seeds) < WORTH_SENDING else workers.n_threads
    if workers is None or not n_shares:
        return grower.build(samples, known, seeds, n_jobs, tree_indices, always_in_bag, route_oob_from)
    numbers = list(range(len(seeds)) if tree_indices is None else tree_indices)
    groups = [
        _TreeGroup([seeds[k] for k in part], [numbers[k] for k in part]) for part in _evenly(len(seeds), n_shares)
    ]
    block = _Block.of(grower, samples, known, always_in_bag, route_oob_from)
    return [one for group in workers.map(_build_group, groups, block) for one in group]


class _TreeGroup(NamedTuple):
    """Trees that are built together."""

    seeds: list[int]
    tree_indices: list[int]


@dataclass(frozen=True, eq=False)
class _Block:
    """Input of all trees of a forest, ready to be sent."""

    grower: Grower
    X: PackedRows
    y: AnyArray
    serial: Int64Array
    n_categories: Int32Array
    n_classes: int
    weight: Float64Array | None
    known: Int32Array | None  # None is all
    always_in_bag: BoolArray | None
    route_oob_from: int
    _unpacked: list[Samples] = field(default_factory=list)

    @classmethod
    def of(
        cls, grower: Grower, samples: Samples, known: Int32Array, always_in_bag: BoolArray | None, route_oob_from: int
    ) -> _Block:
        """Return the input to send for some samples."""
        return cls(
            grower,
            PackedRows.bit_by_bit(np.ascontiguousarray(samples.X)),
            samples.y.astype(np.min_scalar_type(samples.n_classes)),
            samples.serial,
            samples.n_categories,
            samples.n_classes,
            samples.weight,
            known if len(known) < len(samples) else None,
            always_in_bag,
            route_oob_from,
        )

    def samples(self) -> Samples:
        """Return the samples, unpacked and coded once for all who build from them in this process."""
        with _unpacking:
            if not self._unpacked:
                X, y = self.X.matrix(), self.y.astype(np.int32)
                samples = Samples(X, y, self.serial, self.n_categories, self.n_classes, weight=self.weight)
                self._unpacked.append(self.grower.coded(samples))
            return self._unpacked[0]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_unpacked": []}


def _build_group(block: _Block, group: _TreeGroup) -> list[Grown]:
    """Build some trees; leaves of samples are returned only where those out of the bag have some."""
    samples = block.samples()
    known = np.arange(len(samples), dtype=np.int32) if block.known is None else block.known
    given = (block.always_in_bag, block.route_oob_from)
    built = block.grower.build(samples, known, group.seeds, 1, group.tree_indices, *given)
    return built if block.route_oob_from < len(samples) else [Grown(one.tree, _NO_LEAVES) for one in built]


def _evenly(n: int, n_parts: int) -> list[range]:
    """Return the numbers up to n in parts of nearly the same size, none of them empty."""
    bounds = [n * k // min(n, n_parts) for k in range(min(n, n_parts) + 1)]
    return [range(start, stop) for start, stop in pairwise(bounds)]
