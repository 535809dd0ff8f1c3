"""One batch, in order: answer it, judge the forests by that, let them learn it, and see whether rules have changed.

The permanent forest learns every batch. The temporary forest is grown anew from the last few batches, the newest from
the last one alone. Where one of these clearly outdoes the active one on a batch that neither had learnt, it is a drift;
if that lasts, a forest of the last few batches takes the active one's place, which then learns what comes.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from adforest.adaptation.judging import Evidence
from adforest.adaptation.report import BatchReport
from adforest.adaptation.state import ACTIVE, NEWEST, PERMANENT, TEMPORARY, ForestState, State
from adforest.adaptation.steps import BUILD, NEW, BatchUpdate, answering_votes, report_of
from adforest.adaptation.voting import judge
from adforest.forest import Records

ONE_CLASS = 0.95  # share of a batch's records, beyond which it says nothing about rules
SMALL_BATCH, SMALL_SHARE = 100, 0.05  # records, and share of those at hand, below which a batch waits for more


def learn(state: State, records: Records) -> tuple[State, BatchReport]:
    """Return the state after one more batch, and what happened."""
    started = perf_counter()
    if state.forests:  # other forests may have been left by the paper's way
        state = replace(state, evidence=state.evidence.with_forests(list(state.voting)))
    batch = records if state.pending is None else state.pending.joined(records)
    accuracy: dict[str, float] = {}
    drift, evidence, work = "none", state.evidence, None
    if not state.forests or not _waits(state, batch):
        work = BatchUpdate(state, batch)
    if state.forests:
        leaves = {}
        if work is not None:
            assessed = [PERMANENT, ACTIVE]
            for name in assessed:
                work.assess(name)
            leaves = {name: work.leaves_of(name, len(records)) for name in assessed}
        evidence, accuracy = judge(state, records, leaves)
    if work is None:
        after = replace(state, evidence=evidence, pending=batch)
    else:
        after, drift = _learnt(state, work, evidence)
    votes = answering_votes(after)
    after = replace(after, n_calls=state.n_calls + 1, answering=max(votes, key=votes.__getitem__))
    seconds = perf_counter() - started
    return after, report_of(state, after, records, drift=drift, accuracy=accuracy, seconds=seconds, work=work)


def _waits(state: State, batch: Records) -> bool:
    """Return whether a batch waits for more records: if it is small and brings no class that is unknown.

    What learning a batch costs depends on the records at hand, so small batches share it.
    """
    enough = min(SMALL_BATCH, SMALL_SHARE * len(state.memory))
    known = state.forests[PERMANENT].forest.knows(batch.n_classes)
    return len(batch) < enough and bool(known[batch.y].all())


def _learnt(state: State, work: BatchUpdate, evidence: Evidence) -> tuple[State, str]:
    """Let the forests learn a batch that is large enough; return the state after it and the verdict on drift."""
    if not state.forests:
        work.build_first()
        return work.finish(evidence.with_forests([PERMANENT])), "none"
    is_own = state.is_active_own
    claimed = _grow_newest(work)
    is_abrupt = claimed is not None and evidence.is_abrupt(claimed)
    is_drift = is_abrupt or evidence.scores.is_drift
    share = 0.5 if is_own and not is_drift else 1.0
    work.learn(PERMANENT, share)
    regime_start = work.number if is_abrupt else state.regime_start
    _grow_temporary(work, regime_start)
    drift, n_drift_batches = "none", 0
    if is_drift:
        drift, n_drift_batches = _drift(work, state.n_drift_batches + 1)
        is_own = is_own or drift == "sustained"
    elif is_own and _is_ahead(evidence):
        work.learn(ACTIVE, share)
    else:
        work.forests[ACTIVE] = work.forests[PERMANENT]
        was_same = state.forests[ACTIVE].is_same(state.forests[PERMANENT])
        work.action[ACTIVE] = "repaired" if was_same else "rejoined"
        is_own = False
    names = [PERMANENT, *([ACTIVE] if is_own else []), TEMPORARY, NEWEST]
    evidence = evidence.learnt(claimed)
    if drift == "sustained":  # what was known of an active forest is not known of the one that took its place
        evidence = evidence.with_forests([PERMANENT, TEMPORARY, NEWEST])
    evidence = evidence.with_forests(names)
    if is_abrupt:
        evidence = evidence.trusting([TEMPORARY, NEWEST])
    after = work.finish(evidence, n_drift_batches=n_drift_batches, regime_start=regime_start, is_active_own=is_own)
    return after, drift


def _is_ahead(evidence: Evidence) -> bool:
    """Return whether an active forest of its own is ahead of the permanent one, by weight or on the last batch."""
    votes, right = evidence.votes(), evidence.scores.right
    return votes[ACTIVE] >= votes[PERMANENT] or right[ACTIVE] > right[PERMANENT]


def _drift(work: BatchUpdate, n_drift_batches: int) -> tuple[str, int]:
    """Leave the active forest as it is; if that has lasted, the temporary one takes its place."""
    if n_drift_batches <= work.settings.drift_threshold:
        work.leave(ACTIVE)
        return "temporary", n_drift_batches
    temporary = work.forests[TEMPORARY]
    first = int(temporary.forest.known.argmax())
    work.forests[ACTIVE] = replace(temporary, forest=work.built(first))
    work.action[ACTIVE] = "replaced"
    return "sustained", 0


def _grow_temporary(work: BatchUpdate, regime_start: int) -> None:
    """Grow the temporary forest from the window."""
    first_batch = max(regime_start, work.settings.window_start(work.number))
    first = work.memory.first_since(first_batch)
    forest = work.built(first, _half(work.settings.n_estimators), BUILD, is_placed=False)
    work.action[TEMPORARY] = "rebuilt" if TEMPORARY in work.forests else "built"
    work.forests[TEMPORARY] = ForestState(forest, work.box_since(first))


def _grow_newest(work: BatchUpdate) -> float | None:
    """Grow the newest forest from the batch alone; return its out-of-bag accuracy on classes known before.

    None where no record is out of any bag, or where nearly all are of one class: rules show only between classes.
    """
    grower, batch = work.settings.grower, work.batch
    forest = work.built(work.memory.first_since(work.number), _half(work.settings.n_estimators), NEW)
    work.action[NEWEST] = "rebuilt" if NEWEST in work.forests else "built"
    work.forests[NEWEST] = ForestState(forest, work.box)
    if not grower.uses_bootstrap:
        return None
    leaves = [
        np.where(grower.out_of_bag(batch.serial, tree), leaf_of[-len(batch) :], np.int32(-1))
        for tree, leaf_of in zip(forest.trees, forest.leaf_of, strict=True)
    ]
    answers = forest.answer_from(leaves, batch.n_classes, len(batch), soft=True)
    known = work.before.forests[PERMANENT].forest.knows(batch.n_classes)[batch.y]
    tested = known & (answers.max(axis=1) > 0)
    if not tested.any() or np.bincount(batch.y[tested]).max() > ONE_CLASS * tested.sum():
        return None
    return float(np.mean(answers.argmax(axis=1)[tested] == batch.y[tested]))


def _half(n_trees: int) -> int:
    """Return half of a number of trees, rounded up."""
    return -(-n_trees // 2)
