"""Measure what more trees, or another constant, are worth: python benchmarks/trees.py [--help] [stream ...]

Real streams in the folder that ADFOREST_DATA names, in time order. A JSON line for each stream and number of trees:
accuracy and log loss on the next batch, means over batches and seeds, and CPU milliseconds of learning a batch.
``--tuning '{"min_expected": 1000000000}'`` switches the recency of samples off, see `adforest.adaptation.tuning`.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from timing import print_line  # first: it puts the experiments on the path
from voting import BATCH_SIZES, read_frame

from adforest import AdaptiveDecisionForestClassifier
from experiments.specs.methods import read_tuning


def measure(name: str, n_estimators: int, seeds: range, n_batches: int, tuning: str) -> dict[str, Any]:
    size = BATCH_SIZES[name]
    frame = read_frame(name)[: n_batches * size]
    X, y = frame.drop(columns="class"), frame["class"]
    reports, seconds = [], 0.0
    for seed in seeds:
        model = AdaptiveDecisionForestClassifier(n_estimators, random_state=seed, n_jobs=1)
        model._tuning = read_tuning(tuning)
        start = time.process_time()
        for first in range(0, len(y) - size + 1, size):
            model.partial_fit(X[first : first + size], y[first : first + size])
        seconds += time.process_time() - start
        reports += model.history_[1:]
    return {
        "stream": name,
        "trees": n_estimators,
        "accuracy": np.mean([report.accuracy["vote"] for report in reports]),
        "log loss": np.mean([report.log_loss for report in reports]),
        "milliseconds a batch": 1_000 * seconds / (len(reports) + len(seeds)),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("streams", nargs="*", default=list(BATCH_SIZES))
    options.add_argument("--trees", type=int, nargs="+", default=[20, 32, 50])
    options.add_argument("--batches", type=int, default=40)
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--first-seed", type=int, default=0)
    options.add_argument("--tuning", default="{}")
    given = options.parse_args()
    warnings.simplefilter("ignore")  # of new classes and of names that come once
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    with threadpool_limits(1):
        for name in given.streams:
            for n_estimators in given.trees:
                print_line(measure(name, n_estimators, seeds, given.batches, given.tuning))


if __name__ == "__main__":
    main()
