"""How a learner is asked: which labels it knows when, how much time it has, and in what portions samples come."""

from __future__ import annotations

import resource
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from nextbatch.learners.base import Learner, frame_of
from nextbatch.measures import Scores
from nextbatch.streams import Batch

PER_RECORD, QUICK_PER_RECORD = 2_000, 300  # samples that are asked for one by one
CURVE_STEP = 100  # samples of a point of the curve there
BUDGET = 0.3  # CPU seconds for 1,000 samples
SIDE_STREAMS = ("elec2", "gas", "outdoor", "occupancy", "steel_load", "weatherAUS", "abrupt", "noise", "recurring")
CLASS_STREAMS = ("avila", "beijing_pm25", "eb", "gas", "outdoor", "uifwa", "arrivals")
RECORD_STREAMS = ("covtype100k", "elec2", "gas", "outdoor", "occupancy", "steel_load", "noise")


@dataclass(frozen=True)
class Protocol:
    """One way of asking.

    Attributes
    ----------
    name, title, says : str
    streams : tuple of str
        Names; empty for all of them.
    delay : int
        Labels of a batch are known after so many further batches were predicted.
    budget : float
        CPU seconds for 1,000 samples; 0 for as many as the learner wants. A learner that has used up its time predicts
        with what it has, and the batches that it could not learn are given to it, joined, when there is time again.
    per_record : bool
        Whether samples come one by one.
    staged : bool
        Whether classes arrive one after the other: samples of a class are left out before its arrival.
    with_costly : bool
        Whether learners that are costly take part.
    """

    name: str
    title: str
    says: str
    streams: tuple[str, ...] = ()
    delay: int = 0
    budget: float = 0.0
    per_record: bool = False
    staged: bool = False
    with_costly: bool = False


PROTOCOLS = {
    one.name: one
    for one in (
        Protocol("next-batch", "next batch", "Each batch is predicted, then learnt.", with_costly=True),
        Protocol(
            "equal-time",
            "equal time",
            f"As next batch, with {BUDGET} CPU seconds for 1,000 samples: batches wait until there is time for them.",
            budget=BUDGET,
            with_costly=True,
        ),
        Protocol("delay-1", "labels 1 batch late", "Labels come one batch late.", SIDE_STREAMS, delay=1),
        Protocol("delay-5", "labels 5 batches late", "Labels come five batches late.", SIDE_STREAMS, delay=5),
        Protocol(
            "new-classes",
            "new classes",
            "Classes arrive one after the other over the first half of the stream.",
            CLASS_STREAMS,
            staged=True,
        ),
        Protocol(
            "per-record",
            "per record",
            f"The first {PER_RECORD:,} samples, one by one; refits are not asked.",
            RECORD_STREAMS,
            per_record=True,
        ),
    )
}


def arrange(batches: Sequence[Batch], protocol: Protocol, *, quick: bool = False) -> list[Batch]:
    """Return a stream's batches as a protocol gives them."""
    if protocol.staged:
        return stage_classes(batches)
    if protocol.per_record:
        n = QUICK_PER_RECORD if quick else PER_RECORD
        X, y = join_batches(batches)
        return [(X.iloc[i : i + 1].reset_index(drop=True), y[i : i + 1]) for i in range(min(n, len(y)))]
    return list(batches)


def stage_classes(batches: Sequence[Batch]) -> list[Batch]:
    """Leave out samples of a class before its arrival; the two most frequent classes are there from the beginning.

    The others arrive at equal distances over the first half of the stream, in the order in which the stream has them.
    """
    labels = np.concatenate([y for _, y in batches])
    classes, first, counts = np.unique(labels.astype(str), return_index=True, return_counts=True)
    present = set(classes[np.argsort(-counts, kind="stable")[:2]])
    later = [name for name in classes[np.argsort(first)] if name not in present]
    arrival = {name: round((k + 1) * len(batches) / 2 / (len(later) + 1)) for k, name in enumerate(later)}
    found = []
    for number, (X, y) in enumerate(batches):
        keep = np.array([arrival.get(label, 0) <= number for label in y], dtype=bool)
        if keep.any():
            found.append((X.loc[keep].reset_index(drop=True), y[keep]))
    return found


def join_batches(batches: Sequence[Batch]) -> Batch:
    """Return several batches as one."""
    if len(batches) == 1:
        return batches[0]
    return pd.concat([X for X, _ in batches], ignore_index=True), np.concatenate([y for _, y in batches])


@dataclass(frozen=True)
class Step:
    """What came of one batch.

    Attributes
    ----------
    found : object
        What was made of its prediction; None before anything was learnt.
    y : array
        Its labels.
    known : array or None
        The labels that were learnt after it was predicted.
    predict_seconds, learn_seconds : float
        CPU seconds.
    is_late : bool
        Whether what was due to be learnt has to wait for time.
    """

    found: Any
    y: Any
    known: Any
    predict_seconds: float
    learn_seconds: float
    is_late: bool


def predict_then_learn(
    predict: Callable[[Any], Any],
    learn: Callable[[Any, Any], object],
    judge: Callable[[Any, Any], Any],
    batches: Iterable[tuple[Any, Any]],
    *,
    delay: int = 0,
    budget: float = 0.0,
) -> Iterator[Step]:
    """Predict each batch before its labels are learnt.

    Parameters
    ----------
    predict, learn : callables
        Given samples, and samples with labels. Only they are timed.
    judge : callable
        Given what was predicted, and the labels, before they are learnt; what it returns is `Step.found`.
    batches : iterable of pairs
        Samples in any form that can be copied, and labels.
    delay : int
        Labels of a batch are learnt after so many further batches were predicted.
    budget : float
        CPU seconds for 1,000 samples, see `Protocol`; 0 for no limit.
    """
    waiting: deque[tuple[Any, Any]] = deque()
    used, arrived, is_fitted = 0.0, 0, False
    for X, y in batches:
        found = known = None
        predicting = learning = 0.0
        if is_fitted:
            shown = X.copy()
            start = process_time()
            said = predict(shown)
            predicting = process_time() - start
            found = judge(said, y)
        arrived += len(y)
        waiting.append((X, y))
        is_due = len(waiting) > delay
        is_late = bool(is_due and is_fitted and budget and used + predicting > budget * arrived / 1_000)
        if is_due and not is_late:
            X_known, known = join_batches([waiting.popleft() for _ in range(len(waiting) - delay)])
            shown, labels = X_known.copy(), known.copy()
            start = process_time()
            learn(shown, labels)
            learning = process_time() - start
            is_fitted = True
        used += predicting + learning
        yield Step(found, y, known, predicting, learning, is_late)


def evaluate(
    learner: Learner, batches: Sequence[Batch], protocol: Protocol, on_batch: Callable[[int], object] = lambda n: None
) -> dict[str, Any]:
    """Let a learner predict each batch before its labels come, and return what came of it.

    Parameters
    ----------
    learner : Learner
    batches : sequence of batches
        As `arrange` returns them.
    protocol : Protocol
    on_batch : callable
        Called with the number of batches that are done.

    Returns
    -------
    dict
        See `Scores.summary`.
    """
    learner.reset()
    scores = Scores([y for _, y in batches], step=CURVE_STEP if protocol.per_record else 1)
    base, n_late = peak_megabytes(), 0
    steps = predict_then_learn(
        learner.predict_proba,
        learner.partial_fit,
        lambda found, y: frame_of(found, learner, len(y)),
        batches,
        delay=protocol.delay,
        budget=protocol.budget,
    )
    for number, step in enumerate(steps, start=1):
        n_late += step.is_late
        megabytes = max(0.0, peak_megabytes() - base)
        scores.count(step.found, step.y, step.known, step.predict_seconds + step.learn_seconds, megabytes)
        on_batch(number)
    return scores.summary() | {"late": n_late / max(1, len(batches) - 1)}


def peak_megabytes() -> float:
    """Return the most memory that this process has had, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (2**20 if sys.platform == "darwin" else 2**10)
