"""Trees built by this process or by workers: an engine may build those of a forest elsewhere, and they are the same.

A tree is built by one process, by the same code. Each worker receives the block of samples, once, in the narrowest
types that hold its values exactly, and a seed per tree; it returns trees and the leaves of their samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from adforest.forest.packed import PackedRows
from adforest.growers.protocol import Grower, Grown, TreeRequest

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


def build_trees(grower: Grower, request: TreeRequest) -> list[Grown]:
    """Build trees as `Grower.build` does, here or on workers; where few samples are known, from these as a block.

    If no sample out of the bag is to be sent to its leaf, workers return no leaves at all.
    """
    samples, known, seeds = request.samples, request.known, request.seeds
    if 2 * len(known) < len(samples):
        everything, first = np.arange(len(known), dtype=np.int32), int(np.searchsorted(known, request.route_oob_from))
        part = replace(request, samples=samples.part(known), known=everything, route_oob_from=first)
        return [one.among(known, len(samples)) if len(one.leaf_of) else one for one in build_trees(grower, part)]
    workers = _workers.get()
    n_parts = 0 if workers is None or len(known) * len(seeds) < WORTH_SENDING else workers.n_threads
    if workers is None or not n_parts:
        return grower.build(request)
    numbers = list(range(len(seeds)) if request.tree_indices is None else request.tree_indices)
    groups = [_TreeGroup([seeds[k] for k in part], [numbers[k] for k in part]) for part in _evenly(len(seeds), n_parts)]
    return [one for group in workers.map(_build_group, groups, _Block.of(grower, request)) for one in group]


class _TreeGroup(NamedTuple):
    """Trees that are built together."""

    seeds: list[int]
    tree_indices: list[int]


@dataclass(frozen=True, eq=False)
class _Block:
    """Input of all trees of a forest, ready to be sent."""

    grower: Grower
    X: PackedRows
    request: TreeRequest  # of samples without X, their classes in few bytes; no sample is known where all are
    _unpacked: list[TreeRequest] = field(default_factory=list)

    @classmethod
    def of(cls, grower: Grower, request: TreeRequest) -> _Block:
        """Return the input to send for some trees."""
        samples, known = request.samples, request.known
        y = samples.y.astype(np.min_scalar_type(samples.n_classes))
        rest = replace(samples, X=np.empty((0, 0)), y=y, codes=None, totals=None, regrouped=None)
        known = known if len(known) < len(samples) else known[:0]
        X = PackedRows.bit_by_bit(np.ascontiguousarray(samples.X))
        return cls(grower, X, replace(request, samples=rest, known=known, n_jobs=1))

    def unpacked(self) -> TreeRequest:
        """Return the request, its samples unpacked and coded once for all who build from them in this process."""
        with _unpacking:
            if not self._unpacked:
                request = self.request
                samples = replace(request.samples, X=self.X.matrix(), y=request.samples.y.astype(np.int32))
                known = request.known if len(request.known) else np.arange(len(samples), dtype=np.int32)
                self._unpacked.append(replace(request, samples=self.grower.coded(samples), known=known))
            return self._unpacked[0]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_unpacked": []}


def _build_group(block: _Block, group: _TreeGroup) -> list[Grown]:
    """Build some trees; leaves of samples are returned only where those out of the bag have some."""
    request = replace(block.unpacked(), seeds=group.seeds, tree_indices=group.tree_indices)
    built = block.grower.build(request)
    has_leaves = request.route_oob_from < len(request.samples)
    return built if has_leaves else [Grown(one.tree, _NO_LEAVES) for one in built]


def _evenly(n: int, n_parts: int) -> list[range]:
    """Return the numbers up to n in parts of nearly the same size, none of them empty."""
    bounds = [n * k // min(n, n_parts) for k in range(min(n, n_parts) + 1)]
    return [range(start, stop) for start, stop in pairwise(bounds)]
