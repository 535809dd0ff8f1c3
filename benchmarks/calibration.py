"""Measure what calibrating the forests' votes is worth: python benchmarks/calibration.py [--help] [stream ...]

Real streams in the folder that ADFOREST_DATA names, in time order. Their batches are answered before they are learnt,
without calibration; each rule then changes the answers by what came before. A JSON line a stream: accuracy, and for
each rule the log loss on the next batch with probabilities of at least 1e-15 and 1e-3, means over batches and seeds.
Rules were chosen on elec2, outdoor, gas and hotel with seed 0. ``--divide 25`` runs the model itself with and without
calibration, in batches of a 25th of the size: votes that neighbours and the last labels adjust are not calibrated.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from timing import print_line

from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation import calibration
from adforest.adaptation.tuning import TUNING

SIZES = {  # samples in a batch, and how many are taken
    **{"elec2": (1_000, None), "outdoor": (200, None), "gas": (150, None), "hotel": (2_500, None)},
    **{"avila": (350, None), "ldpa": (2_700, None)},
    **dict.fromkeys(("covtype100k", "weatherAUS", "nycflights", "football"), (500, 12_000)),
    **dict.fromkeys(("beijing_pm25", "steel_load", "and_vertebrates"), (500, 12_000)),
}
MAX_SMALL = 6_000  # samples that are taken in small batches
FLOORS = {"log loss": 1e-15, "log loss, 1e-3": 1e-3}
TEMPERATURES = (0.5, 0.7, 1.0, 1.4, 2.0)


class Answered(NamedTuple):
    """A batch before it was learnt: votes by class, samples of each class before, the right columns, -1 for unknown."""

    votes: np.ndarray
    seen: np.ndarray
    right: np.ndarray


def read_stream(name: str, divide: int) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Yield the batches of a stream."""
    size, n = SIZES[name]
    folder = Path(os.environ["ADFOREST_DATA"])
    path = next(path for path in (folder / "streams" / f"{name}.parquet", folder / f"{name}.parquet") if path.is_file())
    frame = pd.read_parquet(path).rename(columns={"Class": "class"})
    frame = frame if "class" in frame else frame.rename(columns={frame.columns[-1]: "class"})
    frame = frame[frame["class"].notna()][: n if divide == 1 else MAX_SMALL]
    X, y, size = frame.drop(columns="class"), frame["class"].to_numpy(), size // divide
    for start in range(0, len(y), size):
        yield X[start : start + size], y[start : start + size]


def answers_of(name: str, seed: int, divide: int, *, is_calibrated: bool) -> list[Answered]:
    """Return what the model answers to each batch but the first."""
    model, found = AdaptiveDecisionForestClassifier(random_state=seed, n_jobs=1), []
    model._tuning = replace(TUNING, calibrates=is_calibrated)
    for number, (X, y) in enumerate(read_stream(name, divide)):
        if number:
            classes = model.classes_
            column = np.searchsorted(classes, y).clip(0, len(classes) - 1)
            right = np.where(classes[column] == y, column, -1).astype(np.int32)
            votes = np.ascontiguousarray(model.predict_proba(X))
            found.append(Answered(votes, np.ones(len(classes)), right))
        model.partial_fit(X, y)
    return found


# Rules: from the answers to a batch to what is answered instead, and what was learnt from it


class Adopted:
    """The rule of the model: sharpened, plain and uniform, see `adforest.adaptation.calibration`."""

    def __init__(self) -> None:
        self.weights = np.array(TUNING.first_calibration)

    def answer(self, one: Answered) -> np.ndarray:
        """Return other probabilities."""
        return calibration.calibrated(one.votes, self.weights, one.seen)

    def learn(self, one: Answered) -> None:
        """Learn which classes were right."""
        votes, right = np.ascontiguousarray(one.votes), one.right
        self.weights = calibration.weights_after(self.weights, votes, one.seen, right, np.ones(len(right)), TUNING)


class Mixture:
    """Powers of the probabilities, mixed; weights by expectation maximization as those of the model, or by Hedge."""

    def __init__(self, powers: tuple[float, ...], first: tuple[float, ...], *, is_hedge: bool = False) -> None:
        self.powers, self.first, self.is_hedge = powers, np.array(first) / sum(first), is_hedge
        self.weights = self.first

    def parts(self, votes: np.ndarray) -> np.ndarray:
        """Return the probabilities to each power, scaled to a sum of 1."""
        found = [np.maximum(votes, 0.0) ** power for power in self.powers]
        return np.stack([one / one.sum(axis=1, keepdims=True) for one in found])

    def answer(self, one: Answered) -> np.ndarray:
        """Return other probabilities."""
        return np.tensordot(self.weights, self.parts(one.votes), 1)

    def learn(self, one: Answered) -> None:
        """Learn which classes were right."""
        n = len(one.right)
        given = self.parts(one.votes)[:, np.arange(n), one.right]
        if self.is_hedge:
            gain = np.log(np.maximum(given, 1e-2)).mean(axis=1)
            grown = self.weights * np.exp(0.1 * min(n, 300) * (gain - gain.max()))
            self.weights = 0.99 * grown / grown.sum() + 0.01 * self.first
            return
        estimate, given = self.first, np.maximum(given, calibration.SMALLEST)
        for _ in range(TUNING.calibration_steps):
            estimate = estimate * (given / (estimate @ given)).mean(axis=1)
        self.weights = (TUNING.calibration_memory * self.weights + n * estimate) / (TUNING.calibration_memory + n)


RULES: dict[str, Callable[[], Any]] = {
    "temperatures by Hedge": lambda: Mixture(
        tuple(1 / t for t in TEMPERATURES), (1.0, 1.0, 2.0, 1.0, 1.0), is_hedge=True
    ),
    "uniform": lambda: Mixture((1.0, 0.0), (0.98, 0.02)),
    "sharp, flat and uniform": lambda: Mixture((3.0, 1.0, 1 / 3, 0.0), (0.2, 0.6, 0.16, 0.04)),
    "adopted": Adopted,
}


def losses(batches: list[Answered], rule: Any = None) -> list[list[float]]:
    """Return the log loss of each batch with probabilities of at least each of `FLOORS`, as a rule changes them."""
    found = []
    for one in batches:
        probabilities = one.votes if rule is None else rule.answer(one)
        given = np.where(one.right >= 0, probabilities[np.arange(len(one.right)), one.right], 0.0)
        found.append([float(-np.log(given.clip(floor, 1.0)).mean()) for floor in FLOORS.values()])
        known = np.flatnonzero(one.right >= 0)
        known = np.random.default_rng(len(found)).permutation(known)[: TUNING.max_judged]
        if rule is not None and len(known):
            rule.learn(Answered(one.votes[known], one.seen, one.right[known]))
    return found


def accuracy_of(batches: list[Answered]) -> float:
    """Return the mean over batches of the share that is answered right."""
    return float(np.mean([(one.votes.argmax(axis=1) == one.right).mean() for one in batches]))


def measure(name: str, n_seeds: int, divide: int) -> dict[str, Any]:
    """Return the line of a stream."""
    plain = [answers_of(name, seed, divide, is_calibrated=False) for seed in range(n_seeds)]
    line: dict[str, Any] = {"stream": name, "batches": len(plain[0])}
    rows = {"as it is": [losses(one) for one in plain]}
    line["accuracy"] = np.mean([accuracy_of(one) for one in plain])
    if divide == 1:
        rows |= {title: [losses(one, make()) for one in plain] for title, make in RULES.items()}
    else:
        changed = [answers_of(name, seed, divide, is_calibrated=True) for seed in range(n_seeds)]
        rows["calibrated"] = [losses(one) for one in changed]
        line["accuracy, calibrated"] = np.mean([accuracy_of(one) for one in changed])
    for title, found in rows.items():
        line |= {f"{loss}, {title}": value for loss, value in zip(FLOORS, np.mean(found, axis=(0, 1)), strict=True)}
    return line


def main() -> None:
    """Measure the streams given, or all of them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("streams", nargs="*", default=list(SIZES))
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--divide", type=int, default=1)
    given = options.parse_args()
    warnings.simplefilter("ignore")  # of new classes and of names that come once
    for name in given.streams:
        print_line(measure(name, given.seeds, given.divide))


if __name__ == "__main__":
    main()
