"""What measures share: made-up records, forests of both libraries, and a clock."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from adforest import AdaptiveDecisionForestClassifier

sys.path.append(str(Path(__file__).parents[1]))  # scripts have their own folder on the path, not the checkout's


def clusters(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return records of 11 classes, each of three overlapping clusters in six dimensions."""
    centres = np.random.default_rng(42).normal(scale=1.6, size=(33, 6))
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 33, n)
    return centres[cluster] + rng.normal(size=(n, 6)), cluster % 11


def three_classes(n: int, n_features: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return records of three classes that four of their attributes decide on."""
    X = rng.normal(size=(n, n_features))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 3] > 1)


def ours(**parameters: Any) -> AdaptiveDecisionForestClassifier:
    return AdaptiveDecisionForestClassifier(**{"n_estimators": 10, "random_state": 0, **parameters})


def theirs(max_features: int) -> RandomForestClassifier:
    return RandomForestClassifier(
        n_estimators=10, criterion="entropy", max_features=max_features, n_jobs=1, random_state=0
    )


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def medians(works: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median seconds of several works, taken in turn so that a noisy spell hits all alike."""
    times = [[seconds(work) for work in works] for _ in range(rounds)]
    return [float(t) for t in np.median(times, axis=0)]


def print_line(line: dict[str, Any]) -> None:
    """Print what a measure found as a line of JSON."""
    print(json.dumps({k: round(v, 5) if isinstance(v, float) else v for k, v in line.items()}), flush=True)
