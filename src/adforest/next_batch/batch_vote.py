"""The steps of one batch: members predict it, their weights are updated, they learn it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from adforest.adaptation.judging import as_samples, judged_indices
from adforest.adaptation.memory import Memory, WindowBound
from adforest.adaptation.metrics import log_loss
from adforest.adaptation.tuning import TUNING
from adforest.base import EncodedBatch
from adforest.encoding import LabelTable
from adforest.encoding.tables import Table
from adforest.exceptions import InputError, MemberWarning, warn_caller
from adforest.forest._kernels.sampling import are_drawn
from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array
from adforest.next_batch.experts import ExpertWeights
from adforest.next_batch.members import ANSWER, CLASSES, LEARN, LabelledSamples, LeftOut, Member, MemberSamples
from adforest.next_batch.voting_report import VotingReport
from adforest.parallel import spawn_seeds
from adforest.tracking.history import MAX_REPORTS

VOTE = "vote"
WINDOW = 3  # last batches, of which all samples are used in a refit
REFIT_OVERHEAD = 2_000  # samples added to the cost of a refit: boosting takes time for few samples, too


class RefitRules(NamedTuple):
    """When members are refitted, and on how many samples; see `NextBatchVotingClassifier`."""

    samples: int
    after: float

    def is_due(self, member: Member, memory: Memory) -> bool:
        """Return whether a member should be refitted on memory."""
        n_classes = max(2, int(np.count_nonzero(memory.seen_by_class)))
        cost = n_classes / 2 * (min(member.fitted_after, self.samples) + REFIT_OVERHEAD)
        return member.estimator is None or memory.n_seen - member.fitted_after >= self.after * cost


@dataclass(frozen=True, slots=True, eq=False)
class VotingState:
    """Members, their weights, and the samples that they are refitted on.

    Attributes
    ----------
    members : tuple of Member
    weights : ExpertWeights
    memory : Memory
        The last batches and a sample of older ones.
    n_codes : int32 (n_features,)
        Number of codes of categories after the last batch, by column.
    library : str or None
        Of the last data frame.
    history : tuple of VotingReport
        Of the last 1,000 batches.
    """

    members: tuple[Member, ...]
    weights: ExpertWeights
    memory: Memory
    n_codes: Int32Array
    library: str | None = None
    history: tuple[VotingReport, ...] = ()

    @classmethod
    def begin(cls, templates: Mapping[str, Any], n_features: int) -> VotingState:
        """Return unfitted members."""
        members = tuple(Member(name, not hasattr(one, "partial_fit")) for name, one in templates.items())
        weights = ExpertWeights.begin([member.is_refitted for member in members])
        return cls(members, weights, Memory.empty(n_features), np.zeros(n_features, dtype=np.int32))

    def can_vote(self, failed: Iterable[int] = ()) -> BoolArray:
        """Return which members vote: those not left out; refitted ones only once they were judged, if others can vote.

        If all are left out, those that could not predict the last batch are tried.

        Parameters
        ----------
        failed : iterable of int
            Members that cannot predict, besides those that are left out.
        """
        can = np.array([member.left_out is None for member in self.members])
        may = np.array([member.may_answer for member in self.members])
        can[list(failed)] = may[list(failed)] = False
        is_known = np.array([member.is_judged or not member.is_refitted for member in self.members])
        return next(which for which in (can & is_known, can, may) if which.any() or which is may)

    def member_weights(self) -> dict[str, float]:
        """Return the weight of each member in the vote."""
        weights = self.weights.of_members(self.can_vote())
        return {member.name: float(weight) for member, weight in zip(self.members, weights, strict=True)}


def vote(state: VotingState, samples: MemberSamples, n_classes: int) -> Float64Array:
    """Return the weighted mean of the members' class probabilities, columns by class code.

    Members of negligible weight are skipped; those that raise are left out, with a warning.
    """
    failed: dict[int, Exception] = {}
    while (can_vote := state.can_vote(failed)).any():
        weights = _asked_weights(state, can_vote)
        answers, errors = _ask(state, np.flatnonzero(weights), samples, n_classes)
        if not errors:
            return _mean(weights, answers)
        failed |= errors
        for i, error in errors.items():
            name = state.members[i].name
            warn_caller(
                f"{name} could not predict and is left out of these predictions: {_message_of(error)}", MemberWarning
            )
    raise next(iter(failed.values()))


def learn_batch(
    before: VotingState,
    batch: EncodedBatch,
    table: Table | Float64Array,
    templates: Mapping[str, Any],
    rules: RefitRules,
) -> VotingState:
    """Return the state after a batch, which members predict first; the state before does not change."""
    samples = batch.samples
    library = table.library if isinstance(table, Table) else None
    labelled = LabelledSamples(
        MemberSamples(samples.X, batch.encoder, library, table), samples.y, samples.weight, batch.labels
    )
    seconds = dict.fromkeys(templates, 0.0)
    state, scores = _judge(before, labelled, batch, seconds)
    memory = _bounded(before.memory.add(samples, batch.number), batch.number, rules.samples)
    state = replace(state, memory=memory, n_codes=batch.encoder.n_categories, library=library)
    state, action = _learn_members(state, labelled, batch, templates, rules, seconds)
    is_new = memory.first_batch == batch.number
    report = VotingReport(
        batch=batch.number,
        n_samples=len(samples),
        new_classes=tuple(np.sort(batch.labels.by_arrival[np.flatnonzero(is_new)]).tolist()),
        **scores,
        weight=state.member_weights(),
        action=action,
        left_out={member.name: member.left_out.reason for member in state.members if member.left_out},
        seconds=seconds,
    )
    return replace(state, history=(*state.history, report)[-MAX_REPORTS:])


def _judge(
    state: VotingState, labelled: LabelledSamples, batch: EncodedBatch, seconds: dict[str, float]
) -> tuple[VotingState, dict[str, Any]]:
    """Predict a batch, or a sample of it, with all members; return the updated state and their results."""
    n_classes, n = batch.samples.n_classes, len(labelled.y)
    drawn = judged_indices(batch.seed, batch.number, n)
    y = labelled.y[drawn]
    asked = [i for i, one in enumerate(state.members) if one.estimator is not None and not _unseen(one, state.memory)]
    samples = labelled.samples.rows(drawn).as_before(state.n_codes)
    answers, errors = _ask(state, asked, samples, n_classes, seconds)
    voters = state.can_vote(set(range(len(state.members))) - set(answers))
    by_name = {state.members[i].name: one for i, one in answers.items()}
    if voters.any():
        by_name[VOTE] = _mean(_asked_weights(state, voters), answers)
    scores = {
        "n_tested": len(y) if by_name else 0,
        "accuracy": {name: float((_most_likely(one, batch.labels) == y).mean()) for name, one in by_name.items()},
        "log_loss": {name: log_loss(one[np.arange(len(y)), y]) for name, one in by_name.items()},
    }
    weights = state.weights
    if answers:
        weight = as_samples(batch.samples.weight_at(drawn), len(y))
        weights = weights.after_answers(answers, y, weight, float(weight.sum()) * n / len(y))
    members = list(state.members)
    for i in answers:
        members[i] = replace(members[i], is_judged=True, left_out=None)
    for i, error in errors.items():
        left_out = LeftOut(ANSWER, f"could not predict batch {batch.number}: {_message_of(error)}")
        members[i] = replace(members[i], left_out=left_out)
    return replace(state, members=tuple(members), weights=weights), scores


def _learn_members(
    state: VotingState,
    labelled: LabelledSamples,
    batch: EncodedBatch,
    templates: Mapping[str, Any],
    rules: RefitRules,
    seconds: dict[str, float],
) -> tuple[VotingState, dict[str, str]]:
    """Learn a batch that is in memory already with all members; return the state and the action of each member."""
    members, memory, action = list(state.members), state.memory, dict.fromkeys(templates, "kept")
    seeds = spawn_seeds([batch.seed], len(members))
    due = [not one.is_refitted or rules.is_due(one, memory) for one in members]
    for is_turn in (True, False):  # if no other member can predict, those that are not due are refitted, too
        for i, member in enumerate(members):
            if due[i] != is_turn:
                continue
            start = perf_counter()
            try:
                # Seeds of scikit-learn have 32 bits.
                member = _learnt(member, templates[member.name], seeds[i] % 2**32, labelled, state)
                action[member.name] = "refitted" if member.is_refitted else "learnt"
                members[i] = replace(member, fitted_after=memory.n_seen)
            except Exception as error:
                left_out = LeftOut(LEARN, f"could not learn batch {batch.number}: {_message_of(error)}")
                members[i] = replace(member, estimator=None, left_out=left_out)
            seconds[member.name] += perf_counter() - start
        members = [_checked(member, memory, batch.labels) for member in members]
        if any(member.may_answer for member in members):
            break
    else:
        reasons = "; ".join(f"{member.name} {member.left_out.reason}" for member in members if member.left_out)
        raise InputError(f"no member of NextBatchVotingClassifier can predict after batch {batch.number}: {reasons}")
    action |= {member.name: "left out" for member in members if member.left_out}
    return replace(state, members=tuple(map(_warned_of, members))), action


def _learnt(member: Member, template: Any, seed: int, labelled: LabelledSamples, state: VotingState) -> Member:
    """Return a member after it learnt a batch, or memory."""
    if member.is_refitted:
        return member.after_fit(template, seed, _recalled(state, labelled))
    is_first = state.memory.n_seen == len(labelled.y)
    if member.estimator is not None or is_first:
        try:
            return member.after_partial_fit(template, seed, labelled)
        except Exception:
            if is_first:
                raise
    # Most classifiers of scikit-learn cannot learn a class that was not declared: they are refitted.
    return replace(member, estimator=None).after_partial_fit(template, seed, _recalled(state, labelled))


def _recalled(state: VotingState, labelled: LabelledSamples) -> LabelledSamples:
    """Return the samples in memory; the only sample of a class is repeated, for members with a stratified split."""
    memory, (samples, _, _, labels) = state.memory, labelled
    is_lone = np.bincount(memory.y)[memory.y] == 1
    rows = np.append(np.arange(len(memory)), np.flatnonzero(is_lone))
    recalled, weight = samples._replace(matrix=memory.matrix()[rows], table=None), memory.weight_at(rows)
    if weight is not None:
        weight[is_lone[rows]] /= 2
    return LabelledSamples(recalled, memory.y[rows], weight, labels)


def _checked(member: Member, memory: Memory, labels: LabelTable) -> Member:
    """Return a member, left out if it has not seen a class."""
    if member.estimator is None or not (unseen := _unseen(member, memory)):
        return member
    names = ", ".join(map(repr, labels.by_arrival[unseen[:3]].tolist())) + (", ..." if len(unseen) > 3 else "")
    reason = f"has not seen {'class' if len(unseen) == 1 else 'classes'} {names}"
    return replace(member, left_out=LeftOut(CLASSES, reason))


def _unseen(member: Member, memory: Memory) -> list[int]:
    """Return the codes of classes that a member has not seen."""
    unseen: list[int] = np.setdiff1d(np.flatnonzero(memory.seen_by_class), member.classes).tolist()
    return unseen


def _warned_of(member: Member) -> Member:
    """Return a member after a warning, if it is left out for a kind of reason that was not warned about yet."""
    if member.left_out is None or member.left_out.kind in member.warned_of:
        return member
    reason = f"{member.name} {member.left_out.reason}. It is left out of the vote as long as that lasts."
    warn_caller(reason, MemberWarning)
    return replace(member, warned_of=member.warned_of | {member.left_out.kind})


def _bounded(memory: Memory, number: int, size: int) -> Memory:
    """Return a memory of about a given size: the last batches, and a sample of older ones, see `Memory`."""
    if len(memory) <= size:
        return memory
    start = number - WINDOW + 1
    window = np.arange(len(memory))[memory.window(start, WindowBound(size, size))]
    if len(window) > size:  # of the last batch alone
        window = window[are_drawn(memory.serial[window], size / len(window))]
    n_older = memory.first_since(start)
    kept = memory.survivors(max(0, size - len(window)), start)
    older = np.arange(n_older) if kept is None else kept[kept < n_older]
    return memory.keep(np.concatenate([older, window]))


def _ask(
    state: VotingState,
    asked: Iterable[int],
    samples: MemberSamples,
    n_classes: int,
    seconds: dict[str, float] | None = None,
) -> tuple[dict[int, Float64Array], dict[int, Exception]]:
    """Return the predictions of some members, and the exceptions of those that fail."""
    answers, errors = {}, {}
    for i in asked:
        member, start = state.members[i], perf_counter()
        try:
            answers[int(i)] = member.proba(samples, n_classes)
        except Exception as error:
            errors[int(i)] = error
        if seconds is not None:
            seconds[member.name] += perf_counter() - start
    return answers, errors


def _asked_weights(state: VotingState, can_vote: BoolArray) -> Float64Array:
    """Return the weights of members in the vote; negligible ones are set to 0, and these members are skipped."""
    weights = state.weights.of_members(can_vote)
    weights[weights < TUNING.min_weight] = 0.0
    scaled: Float64Array = weights / weights.sum()
    return scaled


def _mean(weights: Float64Array, answers: Mapping[int, Float64Array]) -> Float64Array:
    """Return the weighted mean of some predictions."""
    return sum((weights[i] * one for i, one in answers.items() if weights[i]), start=np.zeros(()))


def _most_likely(proba: Float64Array, labels: LabelTable) -> Int64Array:
    """Return the codes of the most likely classes; of equal ones that of the first class value, as `predict` does."""
    order = labels.order
    best: Int64Array = order[proba[:, order].argmax(axis=1)]
    return best


def _message_of(error: Exception) -> str:
    """Return an error as one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) <= 200 else text[:200] + ' ...'}"
