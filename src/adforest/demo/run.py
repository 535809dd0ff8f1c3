"""Running the demo: ADF-R along 34 batches of houses, against random forests that are refitted for every batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from adforest import AdaptiveDecisionForestClassifier
from adforest.simulation import Batch, make_house, simulate_houses

SAMPLES = 150_000
N_TREES = int(AdaptiveDecisionForestClassifier().n_estimators)
OURS = "ADF-R"
WINDOWS = {"RF batch": 1, "RF last 3": 3, "RF all": None}  # how many batches each rival is refitted on
METHODS = (OURS, *WINDOWS)
TITLES = {OURS: OURS, "RF batch": "RF on the batch", "RF last 3": "RF on the last 3", "RF all": "RF on everything"}


@dataclass(frozen=True)
class DemoSettings:
    """Number of houses, and the random seed of houses, batches and forests."""

    n_samples: int = SAMPLES
    seed: int = 0


@dataclass(frozen=True)
class BatchResult:
    """Results of one batch of the demo.

    Attributes
    ----------
    batch : int
        Its number, from 1.
    stage : str
        The protocol's name of its recipe, such as ``"MUC-1"``.
    scenario, drift, answering, n_new_classes : str, str, str, int
        Fields of ADF-R's report, see `adforest.adaptation.report.BatchReport`.
    n_train, n_test : int
        Its samples to learn and to be tested on.
    accuracy, seconds : dict of str to float
        By method: accuracy on the test set after learning, and the CPU seconds of learning.
    """

    batch: int
    stage: str
    scenario: str
    drift: str
    answering: str
    n_new_classes: int
    n_train: int
    n_test: int
    accuracy: dict[str, float]
    seconds: dict[str, float]


@dataclass(frozen=True)
class DemoRun:
    """All results that the table and the picture show."""

    settings: DemoSettings
    max_features: int
    memory_size: int | str | None
    batches: list[BatchResult]

    def mean(self, measure: str, method: str, stage: str | None = None) -> float:
        """Return a method's mean ``"accuracy"`` or ``"seconds"`` over the batches, or over those of one stage."""
        results = [result for result in self.batches if stage in (None, result.stage)]
        return float(np.mean([getattr(result, measure)[method] for result in results]))


def run_demo(settings: DemoSettings, on_progress: Callable[[float], None] = lambda fraction: None) -> DemoRun:
    """Let every method learn the stream, batch by batch, and test each on the same samples.

    Parameters
    ----------
    settings : DemoSettings
    on_progress : callable, optional
        Called after each batch with the fraction of the work that is done.

    Returns
    -------
    DemoRun
    """
    batches = simulate_houses(settings.n_samples, random_state=settings.seed)
    categorical = list(make_house(1).categorical)
    model = AdaptiveDecisionForestClassifier(
        N_TREES, categorical_features=categorical, n_jobs=1, random_state=settings.seed
    )
    max_features = int(math.log2(len(categorical))) + 1  # what our default comes to
    # Refitting on everything costs most, so progress goes by the samples it learns.
    work = np.cumsum(np.cumsum([len(batch.y_train) for batch in batches]))
    results = []
    for end in range(len(batches)):
        results.append(_run_batch(model, batches[: end + 1], max_features, settings.seed))
        on_progress(float(work[end] / work[-1]))
    return DemoRun(settings, max_features, model.memory_size, results)


def _run_batch(
    model: AdaptiveDecisionForestClassifier, so_far: list[Batch], max_features: int, seed: int
) -> BatchResult:
    """Let every method learn the last of these batches and test it."""
    batch = so_far[-1]
    measured = {OURS: _learn_and_test(model.partial_fit, so_far[-1:])}
    for method, window in WINDOWS.items():
        rival = RandomForestClassifier(
            N_TREES, criterion="entropy", max_features=max_features, n_jobs=1, random_state=seed
        )
        measured[method] = _learn_and_test(rival.fit, so_far[-(window or len(so_far)) :])
    report = model.history_[-1]
    return BatchResult(
        batch=batch.number,
        stage=batch.scenario,
        scenario=report.scenario,
        drift=report.drift,
        answering=report.answering,
        n_new_classes=len(report.new_classes),
        n_train=len(batch.y_train),
        n_test=len(batch.y_test),
        accuracy={method: accuracy for method, (accuracy, _) in measured.items()},
        seconds={method: seconds for method, (_, seconds) in measured.items()},
    )


def _learn_and_test(learn: Callable[[Any, Any], Any], window: list[Batch]) -> tuple[float, float]:
    """Return the accuracy on the last batch's test set after learning these batches, and the seconds of learning."""
    X = np.concatenate([batch.X_train for batch in window])
    y = np.concatenate([batch.y_train for batch in window])
    start = process_time()
    model = learn(X, y)
    seconds = process_time() - start
    return float(model.score(window[-1].X_test, window[-1].y_test)), seconds
