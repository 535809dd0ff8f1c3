"""How a learner is asked: which labels it knows when, how much time it has, and in what portions samples come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from nextbatch.batches import Batch
from nextbatch.learners.base import Learner, frame_of
from nextbatch.measures import Scores
from nextbatch.usage import PeakMemory, children_seconds

PER_RECORD, QUICK_PER_RECORD = 2_000, 300  # samples that are asked for one by one
CURVE_STEP = 100  # samples of a point of the curve there


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
        The labels that came after it was predicted, learnt or still to be learnt.
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
        found = None
        predicting = learning = 0.0
        if is_fitted:
            shown = X.copy()
            said, predicting = _time(predict, shown)
            found = judge(said, y)
        arrived += len(y)
        waiting.append((X, y))
        known = waiting[-1 - delay][1] if len(waiting) > delay else None
        is_due = known is not None
        is_late = bool(is_due and is_fitted and budget and used + predicting > budget * arrived / 1_000)
        if is_due and not is_late:
            X_known, y_known = join_batches([waiting.popleft() for _ in range(len(waiting) - delay)])
            _, learning = _time(learn, X_known.copy(), y_known.copy())
            is_fitted = True
        used += predicting + learning
        yield Step(found, y, known, predicting, learning, is_late)


def _time(call: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """Return what a call returns, and the CPU seconds that it took, those of the processes that it started included."""
    others, start = children_seconds(), process_time()
    found = call(*given)
    own = process_time() - start
    return found, own + max(0.0, children_seconds() - others)


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
    memory, n_late = PeakMemory(), 0
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
        megabytes = memory.stop()
        scores.count(step.found, step.y, step.known, step.predict_seconds + step.learn_seconds, megabytes)
        on_batch(number)
        memory.start()
    return scores.summary() | {"late": n_late / max(1, len(batches) - 1)}
