"""What accuracy costs that trees grow from at most max_samples records of a huge batch.

``python benchmarks/bound.py [seed]`` compares ways to lose less: a sample of its own for each tree, and more trees.
"""

import sys
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
from timing import print_line, seconds

from adforest import AdaptiveDecisionForestClassifier
from adforest.forest._kernels.sampling import are_drawn
from adforest.merging import BatchPlan
from adforest.simulation import make_house

N_FRESH = 200_000
DEFAULT = AdaptiveDecisionForestClassifier().max_samples
BOUNDS = (100_000, 300_000, DEFAULT, None)


def many_clusters(n: int, seed: int, n_clusters: int = 300) -> tuple[Any, Any]:
    """Return records of ten classes in overlapping clusters, of which each class has about thirty; ten attributes."""
    layout, rng = np.random.default_rng(0), np.random.default_rng(seed)
    centres, spread = layout.random((n_clusters, 10)), layout.uniform(0.05, 0.2, n_clusters)
    cluster = rng.integers(0, n_clusters, n)
    X = rng.standard_normal((n, 10))
    X *= spread[cluster, np.newaxis]
    X += centres[cluster]
    return X, cluster % 10


def houses(n: int, seed: int) -> tuple[Any, Any]:
    """Return records of the paper's houses."""
    data = make_house(n, random_state=seed)
    return data.X, data.y


def measure_bound(n: int = 10_000_000, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Learn one batch with several bounds, the last of them none, and answer fresh records."""
    for name, make in (("300 clusters", many_clusters), ("house", houses)):
        X, y = make(n, 2 * seed)
        X_fresh, y_fresh = make(N_FRESH, 2 * seed + 1)
        found = []
        for bound in BOUNDS:
            model = AdaptiveDecisionForestClassifier(10, max_samples=bound, random_state=seed, n_jobs=2)
            taken = seconds(lambda model=model: model.fit(X, y))  # noqa: B023
            found.append((bound, model.score(X_fresh, y_fresh), taken))
        *bounded, (_, accuracy, everything) = found
        for bound, one, taken in bounded:
            yield {
                "measure": f"trees from {bound:,} of {n:,} records, {name}, seed {seed}",
                "accuracy": one,
                "all_records_accuracy": accuracy,
                "points_above": 100 * (one - accuracy),
                "seconds": taken,
                "all_records_seconds": everything,
            } | ({"goal": ">= -0.3"} if bound == DEFAULT else {})


def accuracy_of_trees(
    n_trees: int, bound: int | None, *, is_own: bool, seed: int, data: tuple[Any, Any, Any, Any]
) -> float:
    """Return the accuracy of trees that are grown one by one, from one sample of the batch or each from its own."""
    X, y, X_fresh, y_fresh = data
    votes, usual = np.zeros((len(X_fresh), len(np.unique(y)))), BatchPlan.are_drawn
    for k in range(n_trees):
        if is_own and bound is not None:
            BatchPlan.are_drawn = lambda self, serial, k=k: are_drawn(serial, bound / self.n_samples, k + 1)
        model = AdaptiveDecisionForestClassifier(1, max_samples=bound, random_state=100 * seed + k).fit(X, y)
        BatchPlan.are_drawn = usual
        votes += model.predict_proba(X_fresh)
    return float((model.classes_[votes.argmax(axis=1)] == y_fresh).mean())


def compare_draws(seed: int, n: int = 2_000_000, bound: int = 200_000) -> Iterator[dict[str, Any]]:
    """Compare trees from one sample of a batch, from a sample each, and from all of it, by accuracy and CPU seconds."""
    for name, make in (("300 clusters", many_clusters), ("house", houses)):
        data = (*make(n, 2 * seed), *make(N_FRESH, 2 * seed + 1))
        for n_trees, max_samples, is_own in (
            (10, bound, False),
            (10, bound, True),
            (40, bound, False),
            (40, bound, True),
            (10, None, False),
        ):
            start = process_time()
            accuracy = accuracy_of_trees(n_trees, max_samples, is_own=is_own, seed=seed, data=data)
            sample = "all" if max_samples is None else f"{max_samples:,}{' of its own each' if is_own else ''}"
            yield {
                "measure": f"{n_trees} trees from {sample} of {n:,} records, {name}, seed {seed}",
                "accuracy": accuracy,
                "cpu_seconds": process_time() - start,
            }


if __name__ == "__main__":
    for line in compare_draws(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        print_line(line)
