"""Learning one batch, in order: assess, judge, grow and repair within one budget, weigh, remember.

The permanent forest learns every batch. The temporary forest is regrown from the last few batches, the newest from
the last one alone. Where one of these clearly outdoes the active one on a batch that neither had learnt, it is a drift;
if that lasts, a forest of the last few batches replaces the active one, and learns all later batches.
"""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from adforest.adaptation.evidence import Evidence, Scores
from adforest.adaptation.judging import judge, judge_recent
from adforest.adaptation.memory import rescaled
from adforest.adaptation.recent_samples import first_weights
from adforest.adaptation.report import ACTIVE, NEWEST, PERMANENT, TEMPORARY, BatchReport
from adforest.adaptation.scoring import BatchScores, LastPredictions, leaves_by_forest, score_batch
from adforest.adaptation.state import ForestState, Settings, State
from adforest.adaptation.steps import BUILD, BUILD_NEWEST, BatchUpdate, answering_votes, report_of
from adforest.adaptation.tuning import Tuning
from adforest.forest import Samples
from adforest.forest.types import Int64Array
from adforest.parallel import in_threads


class Outcome(NamedTuple):
    """Result of learning a batch: the new state, whether there was drift, and the scores before it was learnt.

    There is no work where the batch is collected, and there are no scores of the first one.
    """

    state: State
    drift: str
    scores: BatchScores | None
    answered: LastPredictions
    work: BatchUpdate | None


class Change(NamedTuple):
    """Whether rules have changed: whether the batch shows a drift, and whether the change is an abrupt one."""

    is_drift: bool
    is_abrupt: bool


def learn(
    state: State, samples: Samples, order: Int64Array | None = None
) -> tuple[State, BatchReport, LastPredictions]:
    """Return the state after one more batch, its report and its predictions; for order see `score_batch`."""
    started = perf_counter()
    batch = samples if state.pending is None else state.pending.joined(samples)
    if not state.forests:
        outcome = _build(state, batch)
    elif _waits(state, batch):
        outcome = _wait(state, batch, samples, order)
    else:
        outcome = _adapt(state, batch, samples, order)
    votes = answering_votes(outcome.state)
    after = replace(outcome.state, n_calls=state.n_calls + 1, answering=max(votes, key=votes.__getitem__))
    seconds = perf_counter() - started
    report = report_of(state, after, samples, drift=outcome.drift, seconds=seconds, work=outcome.work)
    report = report if outcome.scores is None else replace(report, **outcome.scores._asdict())
    return after, report, outcome.answered


def _build(state: State, batch: Samples) -> Outcome:
    """Build the first forest."""
    work = BatchUpdate(state, batch)
    work.build_first()
    permanent = work.forests[PERMANENT].forest
    in_threads(lambda tree: tree.sums, permanent.trees, work.settings.n_jobs)  # the first prediction need not wait
    tuning = state.settings.tuning
    leaves = permanent.route(batch.X) if len(batch) < tuning.small_batch else None
    recent = replace(state.recent, weights=first_weights(tuning.high_trust))
    recent = recent.after(batch.y, leaves, work.settings.label_delay, tuning)
    after = work.finish(state.evidence.with_forests([PERMANENT], tuning), recent=recent)
    return Outcome(after, "none", None, LastPredictions.nothing(batch.n_classes), work)


def _waits(state: State, batch: Samples) -> bool:
    """Return whether a batch is only collected: if it is small and has no unknown class.

    The cost of learning a batch depends on the samples in memory, so small batches are learnt together.
    """
    tuning = state.settings.tuning
    enough = min(tuning.small_batch, tuning.small_fraction * len(state.memory))
    known = state.forests[PERMANENT].forest.knows(batch.n_classes)
    return len(batch) < enough and bool(known[batch.y].all())


def _wait(state: State, batch: Samples, samples: Samples, order: Int64Array | None) -> Outcome:
    """Keep samples for later."""
    leaves = leaves_by_forest(state, samples, {})
    scores, answered, recent_answers = score_batch(state, samples, leaves, order)
    recent = judge_recent(state, samples, leaves[PERMANENT], recent_answers)
    return Outcome(replace(state, pending=batch, recent=recent), "none", scores, answered, None)


def _adapt(state: State, batch: Samples, samples: Samples, order: Int64Array | None) -> Outcome:
    """Learn a batch: pending samples and those given now, which are the last."""
    work = BatchUpdate(state.without_excess(len(batch)), batch)
    for name in (PERMANENT, ACTIVE):
        work.assess(name)
    leaves = leaves_by_forest(state, batch, {name: work.leaves_of(name) for name in (PERMANENT, ACTIVE)})
    now = {name: found[:, -len(samples) :] for name, found in leaves.items()}
    report, answered, recent_answers = score_batch(state, samples, now, order)
    evidence, scores = judge(state, batch, leaves)
    tuning = state.settings.tuning
    is_small = len(samples) < tuning.small_batch
    recent = state.recent.after(samples.y, None, state.settings.label_delay, tuning)
    if is_small:
        recent = judge_recent(state, samples, np.ascontiguousarray(now[PERMANENT]), recent_answers)

    oob_accuracy = _grow_newest(work)
    is_abrupt = oob_accuracy is not None and evidence.is_abrupt(oob_accuracy, scores, tuning)
    change = Change(is_abrupt or scores.is_drift(tuning), is_abrupt)
    is_active_learning = state.is_active_separate and not change.is_drift and _is_active_ahead(evidence, scores)
    budget = tuning.shared_budget if state.is_active_separate and not change.is_drift else 1.0
    work.learn(PERMANENT, budget)
    regime_start = work.number if change.is_abrupt else state.regime_start
    _grow_temporary(work, regime_start)
    drift, n_drift_batches, is_separate = "none", 0, is_active_learning
    if change.is_drift:
        drift, n_drift_batches = _drift(work, state.n_drift_batches + 1)
        is_separate = state.is_active_separate or drift == "sustained"
    elif is_active_learning:
        work.learn(ACTIVE, budget)
    else:
        _rejoin(work)

    evidence = evidence.after_learning(oob_accuracy, scores, tuning)
    evidence = _weigh(evidence, change, drift, tuning, is_active_separate=is_separate)
    after = work.finish(
        evidence,
        recent=recent,
        n_drift_batches=n_drift_batches,
        regime_start=regime_start,
        is_active_separate=is_separate,
    )
    return Outcome(after, drift, report, answered, work)


def _weigh(evidence: Evidence, change: Change, drift: str, tuning: Tuning, *, is_active_separate: bool) -> Evidence:
    """Return the evidence for the forests after a batch."""
    if drift == "sustained":  # statistics of the active forest are not those of its replacement
        evidence = evidence.with_forests([PERMANENT, TEMPORARY, NEWEST], tuning)
    names = [PERMANENT, *([ACTIVE] if is_active_separate else []), TEMPORARY, NEWEST]
    evidence = evidence.with_forests(names, tuning)
    return evidence.after_abrupt_change([TEMPORARY, NEWEST], tuning) if change.is_abrupt else evidence


def _is_active_ahead(evidence: Evidence, scores: Scores) -> bool:
    """Return whether a separate active forest is ahead of the permanent one, by weight or on the last batch."""
    votes, right = evidence.votes(), scores.right
    return votes[ACTIVE] >= votes[PERMANENT] or right[ACTIVE] > right[PERMANENT]


def _drift(work: BatchUpdate, n_drift_batches: int) -> tuple[str, int]:
    """Leave the active forest unchanged, or replace it by a forest of the window if drift is sustained."""
    if n_drift_batches <= work.settings.drift_threshold:
        work.leave_unchanged(ACTIVE)
        return "temporary", n_drift_batches
    temporary = work.forests[TEMPORARY]
    first = int(temporary.forest.known.argmax())
    work.forests[ACTIVE] = replace(temporary, forest=work.build(first))
    work.action[ACTIVE] = "replaced"
    return "sustained", 0


def _rejoin(work: BatchUpdate) -> None:
    """Replace the active forest by the permanent one."""
    before = work.before.forests
    work.forests[ACTIVE] = work.forests[PERMANENT]
    work.action[ACTIVE] = "repaired" if before[ACTIVE].is_same(before[PERMANENT]) else "rejoined"


def _grow_temporary(work: BatchUpdate, regime_start: int) -> None:
    """Grow the temporary forest from the window."""
    settings = work.settings
    start = max(regime_start, settings.window_start(work.number))
    work.action[TEMPORARY] = "rebuilt" if TEMPORARY in work.forests else "built"
    window = work.memory.window(start, settings.window_bound)
    grown = work.grow(window, _n_recent_trees(settings), BUILD, is_repairable=False)
    work.forests[TEMPORARY] = ForestState(work.frozen_forest(grown, window), work.box_of(window))


def _grow_newest(work: BatchUpdate) -> float | None:
    """Grow the newest forest from the batch alone; return its out-of-bag accuracy on classes known before.

    None where no sample is out of any bag, or where nearly all are of one class: rules show only between classes.
    """
    grower, tuning = work.settings.grower, work.settings.tuning
    batch = rescaled(work.batch, tuning)
    indices = slice(work.memory.first_since(work.number), None)
    grown = work.grow(indices, _n_recent_trees(work.settings), BUILD_NEWEST)
    forest = work.frozen_forest(grown, indices)
    work.action[NEWEST] = "rebuilt" if NEWEST in work.forests else "built"
    work.forests[NEWEST] = ForestState(forest, work.box)
    if not grower.uses_bootstrap:
        return None
    leaves = [
        np.where(grower.out_of_bag(batch, tree), one.leaf_of, np.int32(-1))
        for tree, one in zip(forest.trees, grown, strict=True)
    ]
    answers = forest.answer_from(leaves, batch.n_classes, len(batch), soft=True)
    known = work.before.forests[PERMANENT].forest.knows(batch.n_classes)[batch.y]
    tested = known & (answers.max(axis=1) > 0)
    if not tested.any() or np.bincount(batch.y[tested]).max() > tuning.max_one_class * tested.sum():
        return None
    right = answers.argmax(axis=1)[tested] == batch.y[tested]
    return float(np.average(right, weights=batch.weight_at(tested)))


def _n_recent_trees(settings: Settings) -> int:
    """Return how many trees the temporary and the newest forest have."""
    return math.ceil(settings.tuning.recent_trees * settings.n_estimators)
