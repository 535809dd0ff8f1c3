"""Measure what boosting beside the forest is worth: python benchmarks/voting.py [--help] [stream ...]

Real streams in the folder that ADFOREST_DATA names, in time order. A JSON line a stream and library: accuracy and log
loss on the next batch, and CPU seconds of predicting and learning relative to the forest alone, all in one thread.
Constants were chosen by the first part of the streams; ``--part rest`` is what comes after it.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits
from timing import print_line

from adforest import AdaptiveDecisionForestClassifier, NextBatchVotingClassifier
from experiments.streams.datasets import FOLDER_VARIABLE

BATCH_SIZES = {
    "elec2": 1_000,
    "gas": 150,
    "outdoor": 200,
    "hotel": 2_500,
    "covtype100k": 1_600,
    "weatherAUS": 2_500,
    "nycflights": 5_500,
    "football": 800,
    "animal_complaints": 700,
    "steel_load": 580,
    "occupancy": 340,
    "and_vertebrates": 530,
    "beijing_pm25": 700,
    "us_accidents": 830,
}
MAX_BATCHES, MAX_SAMPLES, MIN_BATCHES = 30, 60_000, 10  # of a part
LEAST = 1e-6  # probability in a log loss
BOOSTING = {
    "HistGradientBoosting": HistGradientBoostingClassifier(),
    "LightGBM": LGBMClassifier(n_jobs=1, verbosity=-1),
}


def read_frame(name: str) -> pd.DataFrame:
    """Return the samples of a stream that have a class."""
    frame = pd.read_parquet(Path(os.environ[FOLDER_VARIABLE]) / "streams" / f"{name}.parquet")
    return frame[frame["class"].notna()]


def read_batches(name: str, part: str) -> list[tuple[pd.DataFrame, Any]]:
    """Return the first batches of a stream, or those that come after them."""
    size = BATCH_SIZES[name]
    frame = read_frame(name)
    n = size * (min(size * MAX_BATCHES, MAX_SAMPLES) // size)
    frame = frame[:n] if part == "first" else frame[n : 2 * n]
    X, y = frame.drop(columns="class"), frame["class"].to_numpy()
    return [(X[start : start + size], y[start : start + size]) for start in range(0, len(y) - size + 1, size)]


def prequential(model: Any, batches: list[tuple[pd.DataFrame, Any]]) -> tuple[float, float, float]:
    """Return accuracy and log loss of all batches but the first, each before it is learnt, and CPU seconds."""
    right, loss, start = [], [], time.process_time()
    for number, (X, y) in enumerate(batches):
        if number:
            proba, classes = model.predict_proba(X), model.classes_
            place = np.searchsorted(classes, y).clip(0, len(classes) - 1)
            given = np.where(classes[place] == y, proba[np.arange(len(y)), place], 0.0)
            right.append(classes[proba.argmax(axis=1)] == y)
            loss.append(-np.log(np.maximum(given, LEAST)))
        model.partial_fit(X, y)
    seconds = time.process_time() - start
    return float(np.concatenate(right).mean()), float(np.concatenate(loss).mean()), seconds


def measure(name: str, part: str, refit_after: float, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each library of boosting."""
    batches = read_batches(name, part)
    if len(batches) < MIN_BATCHES:
        return
    forest = AdaptiveDecisionForestClassifier(random_state=seed, n_jobs=1)
    options = {"refit_after": refit_after, "random_state": seed}
    alone = prequential(AdaptiveDecisionForestClassifier(random_state=seed, n_jobs=1), batches)
    for library, boosting in BOOSTING.items():
        boosted = prequential(NextBatchVotingClassifier([("boosting", boosting)], **options), batches)
        members = [("adf", forest), ("boosting", boosting)]
        vote = prequential(NextBatchVotingClassifier(members, **options), batches)
        line: dict[str, Any] = {"stream": name, "boosting": library, "batches": len(batches), "seed": seed}
        for title, (accuracy, loss, _) in (("adf", alone), ("boosting", boosted), ("vote", vote)):
            line |= {f"accuracy {title}": accuracy, f"log loss {title}": loss}
        better = max(alone[0], boosted[0])
        yield line | {"points to the better": 100 * (vote[0] - better), "time to adf": vote[2] / alone[2]}


def main() -> None:
    """Measure the streams given, or all of them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("streams", nargs="*", default=list(BATCH_SIZES))
    options.add_argument("--part", choices=("first", "rest"), default="rest")
    options.add_argument("--refit-after", type=float, default=1.0)
    options.add_argument("--seeds", type=int, default=1)
    given = options.parse_args()
    warnings.simplefilter("ignore")  # of new classes and of names that come once
    lines: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name in given.streams:
            for seed in range(given.seeds):
                for line in measure(name, given.part, given.refit_after, seed):
                    lines.append(line)
                    print_line(line)
    found = pd.DataFrame(lines)
    for library, rows in found.groupby("boosting"):
        mean = rows.select_dtypes("number").drop(columns=["batches", "seed"]).mean().to_dict()
        worst = {"worst to the better": rows["points to the better"].min(), "most time": rows["time to adf"].max()}
        print_line({"stream": "mean", "boosting": library, **mean, **worst})


if __name__ == "__main__":
    main()
