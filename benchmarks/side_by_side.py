"""Two models that learn in two threads of one process, against one after the other.

``python benchmarks/side_by_side.py`` prints the ratio; it needs scikit-learn alone, so that it also runs on
free-threaded Python, where Python code of two threads runs at the same time and not only kernels do.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from timing import clusters, medians, ours, print_line


def measure_side_by_side(n_batches: int = 10, n: int = 4_000, rounds: int = 5) -> Iterator[dict[str, Any]]:
    """Two models on one thread each (n_jobs=1), several batches, so that it is not trees alone."""
    batches = [clusters(n, seed) for seed in range(n_batches)]

    def learn(seed: int) -> None:
        model = ours(n_jobs=1, random_state=seed)
        for X, y in batches:
            model.partial_fit(X, y)

    def in_threads() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(learn, (0, 1)))

    def one_by_one() -> None:
        learn(0)
        learn(1)

    alone, together = medians([one_by_one, in_threads], rounds)
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    yield {
        "measure": "two models in two threads" + ("" if has_lock else ", free-threaded Python"),
        "seconds": together,
        "one_after_the_other_seconds": alone,
        "times_faster": alone / together,
        **({} if has_lock else {"goal": ">= 1.6"}),
    }


if __name__ == "__main__":
    for line in measure_side_by_side():
        print_line(line)
