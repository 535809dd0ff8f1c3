"""What accuracy costs that trees grow from at most max_samples records of a huge batch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from timing import seconds

from adforest import AdaptiveDecisionForestClassifier
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
