"""The steps of the paper's Algorithm 1: how a batch changes the three forests.

Step 1 is in `BatchUpdate.build_first`, steps 2 to 6 are in `_adapt`; step 7 returns the new state.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from adforest.adaptation.evidence import Evidence
from adforest.adaptation.report import ACTIVE, PERMANENT, TEMPORARY, BatchReport
from adforest.adaptation.scoring import LastPredictions, accuracies, score_batch, weighted_accuracies
from adforest.adaptation.state import ForestState, State
from adforest.adaptation.steps import BatchUpdate, report_of
from adforest.forest import Samples
from adforest.forest.types import BoolArray, Int64Array


def learn(
    state: State, samples: Samples, order: Int64Array | None = None
) -> tuple[State, BatchReport, LastPredictions]:
    """Learn a batch as the paper does: perturbed leaves show drift; the forest that fits the batch best predicts.

    For order see `score_batch`.
    """
    started = perf_counter()
    work = BatchUpdate(state, samples)
    drift, n_drift_batches = "none", 0
    scores: dict[str, Any] = {}
    answered = LastPredictions.nothing(samples.n_classes)
    if state.forests:
        found, answered, _ = score_batch(state, samples, {}, order)
        scores = found._asdict()
        drift, n_drift_batches = _adapt(work)
    else:
        work.build_first()
    right = _right_answers(work)
    accuracy = {
        "accuracy": accuracies(right),
        "weighted_accuracy": weighted_accuracies(right, work.batch.weight),
    }
    decides = accuracy["weighted_accuracy"] or accuracy["accuracy"]
    answering = max(work.forests, key=decides.__getitem__)
    after = work.finish(Evidence(), n_drift_batches=n_drift_batches, answering=answering)
    after = replace(after, n_calls=state.n_calls + 1)
    seconds = perf_counter() - started
    report = report_of(state, after, samples, drift=drift, seconds=seconds, work=work)
    by_forest = {name: after_learning | scores.get(name, {}) for name, after_learning in accuracy.items()}
    return after, replace(report, **scores | by_forest), answered


def _adapt(work: BatchUpdate) -> tuple[str, int]:
    """Take steps 2 to 6; return the verdict on drift, and for how many batches the drift has lasted [cdf]."""
    for name in work.forests:
        work.assess(name)
    work.learn(PERMANENT)  # step 2
    if _is_repairable(work, ACTIVE):  # step 3
        work.learn(ACTIVE)
        if work.forests.pop(TEMPORARY, None):
            work.action[TEMPORARY] = "dropped"
        return "none", 0
    # Step 4: memory, and with it the window, holds the batch already.
    n_drift_batches = work.before.n_drift_batches + 1
    work.leave_unchanged(ACTIVE)
    _update_temporary(work)
    if n_drift_batches <= work.settings.drift_threshold:
        return "temporary", n_drift_batches
    work.forests[ACTIVE] = work.forests.pop(TEMPORARY)  # the end of step 6, Eq. 15
    work.action[ACTIVE], work.action[TEMPORARY] = "replaced", "dropped"
    return "sustained", 0


def _update_temporary(work: BatchUpdate) -> None:
    """Take steps 5 and 6: build the temporary forest from the window; if there is one, repair or rebuild it."""
    if TEMPORARY in work.forests and _is_repairable(work, TEMPORARY):
        work.learn(TEMPORARY)
        return
    work.action[TEMPORARY] = "rebuilt" if TEMPORARY in work.forests else "built"
    first = work.memory.first_since(work.settings.window_start(work.number))
    work.forests[TEMPORARY] = ForestState(work.build(first), work.box_of(slice(first, None)))


def _is_repairable(work: BatchUpdate, name: str) -> bool:
    return work.perturbed[name] <= work.settings.repair_threshold


def _right_answers(work: BatchUpdate) -> dict[str, BoolArray]:
    """Return by forest which samples of the batch it gets right after learning it."""
    batch, settings = work.batch, work.settings
    right = {}
    for name, one in work.forests.items():
        answers = one.forest.answer(batch.X, batch.n_classes, soft=settings.soft, n_jobs=settings.n_jobs)
        right[name] = answers.argmax(axis=1) == batch.y
    return right
