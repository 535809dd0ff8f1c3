"""Compare ways to grow trees on generated streams, each batch answered before it is learnt.

Run as ``python benchmarks/growing.py criterion`` or ``features``; two seeds, one thread, a minute or two.
"""

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from adforest import AdaptiveDecisionForestClassifier
from adforest.growers import random_forest

Stream = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], int]
SEEDS = (0, 1)
PATH = random_forest.PATH_LENGTH


def round_clusters(n_classes: int, seed: int) -> Stream:
    """Return two round clusters a class around random points, in 10 of 20 columns."""
    rng = np.random.default_rng(seed)
    centers = 1.3 * rng.normal(size=(2 * n_classes, 10))
    cluster = rng.integers(0, len(centers), max(6000, 40 * n_classes))
    X = rng.normal(size=(len(cluster), 20))
    X[:, :10] = centers[cluster] + 0.6 * X[:, :10]
    return X[:, rng.permutation(20)], cluster % n_classes, max(500, 10 * n_classes)


def corner_clusters(n_classes: int, seed: int) -> Stream:
    """Return one stretched cluster a class around corners of a cube of 20 dimensions, as scikit-learn makes them."""
    X, y = make_classification(
        60 * n_classes, 20, n_informative=20, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, class_sep=2.0,
        random_state=seed,
    )  # fmt: skip
    return X, y, 15 * n_classes


def wide_table(n_features: int, n_informative: int, seed: int, n_clusters: int = 2, *, moves: bool = False) -> Stream:
    """Return two classes that a few of many columns tell; if it moves, others tell them from the middle on."""
    X, y = make_classification(
        8000, n_features, n_informative=n_informative, n_redundant=0, n_clusters_per_class=n_clusters, shuffle=False,
        random_state=seed,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    order, half = rng.permutation(len(y)), len(y) // 2
    X, y = X[order], y[order]
    first = rng.permutation(n_features)
    second = rng.permutation(n_features) if moves else first
    return np.concatenate([X[:half, first], X[half:, second]]), y, 500


def measure(stream: Stream, **parameters: Any) -> tuple[float, float, float]:
    """Return accuracy and log loss (natural, probabilities of at least 1e-6) before learning, and seconds to learn."""
    X, y, size = stream
    model = AdaptiveDecisionForestClassifier(**parameters)
    right, loss, seconds = [], [], 0.0
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        if start:
            proba, classes = model.predict_proba(X[rows]), model.classes_
            right.append(classes[proba.argmax(axis=1)] == y[rows])
            of_class = np.where(classes == y[rows][:, None], proba, 0.0).sum(axis=1)
            loss.append(-np.log(np.maximum(of_class, 1e-6)))
        started = process_time()
        model.partial_fit(X[rows], y[rows])
        seconds += process_time() - started
    return float(np.concatenate(right).mean()), float(np.concatenate(loss).mean()), seconds


def compare(name: str, made: Callable[[int], Stream], **choices: dict[str, Any]) -> None:
    """Print a line of means over seeds; a choice is parameters, or nodes on a path (`random_forest.PATH_LENGTH`)."""
    cells = []
    for choice, given in choices.items():
        parameters = dict(given)
        random_forest.PATH_LENGTH = parameters.pop("path", PATH)
        found = [measure(made(seed), random_state=seed, **parameters) for seed in SEEDS]
        accuracy, loss, seconds = np.mean(found, axis=0)
        cells.append(f"{choice} {100 * accuracy:.1f} {loss:.3f} {seconds:.1f} s")
    print(f"{name:32}", *cells, sep=" | ", flush=True)


def compare_criteria() -> None:
    choices = {name: {"criterion": name} for name in ("entropy", "auto", "gini")}
    for n_classes in (2, 10, 50, 200, 500):
        compare(f"{n_classes} round", lambda seed, k=n_classes: round_clusters(k, seed), **choices)  # type: ignore[misc]
    for n_classes in (50, 200):
        compare(f"{n_classes} corners", lambda seed, k=n_classes: corner_clusters(k, seed), **choices)  # type: ignore[misc]


def compare_draws() -> None:
    choices = {"all alike": {"path": 10**9}, "by worth": {}}
    for m, informative, clusters, moves in (
        (1000, 10, 2, False), (1000, 10, 4, False), (300, 10, 4, False), (200, 100, 4, False), (1000, 10, 2, True),
    ):  # fmt: skip
        name = f"{informative} of {m}, {clusters} clusters{', moving' if moves else ''}"
        compare(name, lambda seed, a=(m, informative), c=clusters, b=moves: wide_table(*a, seed, c, moves=b), **choices)  # type: ignore[misc]


if __name__ == "__main__":
    {"criterion": compare_criteria, "features": compare_draws}[sys.argv[1]]()
