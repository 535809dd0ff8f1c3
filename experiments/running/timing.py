"""CPU seconds of some work and of refitting scikit-learn's forest, and the memory of this process."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any, TypeVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from adforest.growers import count_features
from adforest.simulation import Batch
from experiments.running.measures import Row

Result = TypeVar("Result")

STATUS = Path("/proc/self/statm")


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what some work returns, and the CPU seconds it takes."""
    start = process_time()
    result = work()
    return result, process_time() - start


def cpu_seconds_without_gc(work: Callable[[], object]) -> float:
    """Return the CPU seconds that some work takes, without collecting garbage meanwhile.

    A collection goes through all that the process has ever imported, and falls on whoever is at work by chance.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return timed(work)[1]
    finally:
        if was_enabled:
            gc.enable()


def time_forests(so_far: Sequence[Batch], n_batches: int, n_trees: int, seed: int) -> Row:
    """Return the CPU seconds in which scikit-learn refits a forest after a batch.

    Parameters
    ----------
    so_far : sequence of Batch
        The stream up to the batch.
    n_batches : int
        Length of the stream; everything is only refitted at its end.
    n_trees : int
    seed : int

    Returns
    -------
    dict
        ``batch_seconds``, ``last_3_seconds`` and ``all_seconds`` with its defaults, Gini's index and the square root of
        the attributes; ``batch_alike_seconds`` and so on as our forests grow, by entropy and int(log2 m) + 1
        attributes. Those on everything are None before the end. ``batch_of_10_seconds`` is for 10 trees and otherwise
        defaults.
    """
    n_features = so_far[-1].X_train.shape[1]
    alike = {"criterion": "entropy", "max_features": count_features("log2+1", n_features)}
    is_last = len(so_far) == n_batches
    return {
        "batch_of_10_seconds": _refit_seconds(so_far[-1:], 10, seed),
        "batch_seconds": _refit_seconds(so_far[-1:], n_trees, seed),
        "batch_alike_seconds": _refit_seconds(so_far[-1:], n_trees, seed, **alike),
        "last_3_seconds": _refit_seconds(so_far[-3:], n_trees, seed),
        "last_3_alike_seconds": _refit_seconds(so_far[-3:], n_trees, seed, **alike),
        "all_seconds": _refit_seconds(so_far, n_trees, seed) if is_last else None,
        "all_alike_seconds": _refit_seconds(so_far, n_trees, seed, **alike) if is_last else None,
    }


def _refit_seconds(batches: Sequence[Batch], n_trees: int, seed: int, **settings: Any) -> float:
    """Return the CPU seconds of fitting scikit-learn's forest on some batches."""
    X = np.concatenate([batch.X_train for batch in batches])
    y = np.concatenate([batch.y_train for batch in batches])
    forest = RandomForestClassifier(n_trees, n_jobs=1, random_state=seed, **settings)
    return cpu_seconds_without_gc(lambda: forest.fit(X, y))


def read_resident_bytes() -> int:
    """Return the memory this process occupies now, or its peak where the system does not tell."""
    if STATUS.exists():
        return int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    from resource import RUSAGE_SELF, getrusage

    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
