"""Work on many trees or samples at once: in threads, each tree with a seed of its own."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from joblib import effective_n_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")
PART_SIZE = 4096  # samples that are worth a thread of their own


def in_threads(work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> list[Result]:
    """Apply work to every item, in n_jobs threads; results keep the order of the items."""
    items = list(items)
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, items))


def in_parts(work: Callable[[slice], None], n: int, n_jobs: int | None, *, is_even: bool = False) -> None:
    """Apply work to n samples, in parts and threads where they are many; one part a thread if they are to be even."""
    if n < 2 * PART_SIZE or (n_threads := effective_n_jobs(n_jobs)) == 1:
        work(slice(None))
    else:
        size = max(PART_SIZE, -(-n // n_threads)) if is_even else PART_SIZE
        in_threads(work, [slice(start, start + size) for start in range(0, n, size)], n_jobs)


def spawn_seeds(entropy: list[int], n: int) -> list[int]:
    """Return n seeds for trees, fixed by some numbers."""
    return [int(seed) for seed in np.random.SeedSequence(entropy).generate_state(n, np.uint64)]
