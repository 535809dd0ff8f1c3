"""Who answers: all there is between what was learnt, some records and the votes for their classes.

A forest answers a record x with class shares, those of its leaves shrunk towards the nodes above them. A voice v is a
forest, or the mean of two. Its answer v(x) is also corrected for how frequent classes are lately: v_m(x) is v(x) times
ratio_m, scaled to a sum of 1, where ratio_m(c) is how much more frequent class c is in recent records m than over all
(m = 0: no correction; 1: the last batch; 2: its last 100 records, since streams often come in runs of a class). With
context_k(x) how far the record is in context k, adding up to 1,

    votes(x) = sum over v, k and m of context_k(x) * weight[v, k, m] * v_m(x),

where the weights are what `adforest.adaptation.judging` makes of how each voice did on the batches so far.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from adforest.adaptation.judging import FAR, FIRST_MIX, LEAST_SHARE, NEAR, NEW, RARE, STRENGTHS, Evidence, Scores, Voice
from adforest.adaptation.state import ACTIVE, NEWEST, PERMANENT, TEMPORARY, State
from adforest.forest import Records, in_threads
from adforest.forest.types import Floats, Ints, Longs, Mask

SILENT = 0.01  # a strength of shrinkage or a voice with a smaller share is not asked
STEEPNESS = 4  # of how far a record is in a context, by the share of the classes that make it one
FULL_PRESENCE = 0.8  # share of the window's records about a place, over what is to be expected, that makes it near
LATEST = 100  # last records whose class mix answers are corrected for
JUDGED = 500  # records of a batch that forests are judged by


def votes(state: State, X: Floats, n_classes: int) -> Floats:
    """Return class votes for some records."""
    if state.settings.algorithm == "paper":
        return _votes_of_one(state, X, n_classes)
    if state.settings.answer_for == "everything" or len(state.voting) == 1:
        return _shares(state, PERMANENT, X, n_classes)
    weights = state.evidence.weights
    contexts = [NEAR, FAR, *([NEW] if len(state.new_classes) else []), *([RARE] if len(state.rare_classes) else [])]
    heard = {name for voice, one in weights.items() if one[contexts].max() >= SILENT for name in voice}
    heard |= {PERMANENT, TEMPORARY} if len(state.new_classes) else {PERMANENT}
    shares = {name: _shares(state, name, X, n_classes) for name in heard - {PERMANENT}}
    shares[PERMANENT], near = _shares_and_presence(state, X, n_classes)
    return _mixed(state, shares, _context(state, shares, near))


def _votes_of_one(state: State, X: Floats, n_classes: int) -> Floats:
    """Return the votes of the forest that answers, and on records outside its box those of the permanent one."""
    settings = state.settings

    def ask(name: str, X: Floats) -> Floats:
        return state.forests[name].forest.answer(X, n_classes, soft=settings.soft, n_jobs=settings.n_jobs)

    total = ask(state.answering, X)
    if state.answering != PERMANENT:
        outside = ~state.forests[state.answering].box.contains(X)
        total[outside] = ask(PERMANENT, X[outside])
    return total


def class_ratios(state: State, n_classes: int) -> Floats:
    """Return how much more frequent each class is lately than over all records.

    Returns
    -------
    float64 (3, n_classes)
        1 throughout; in the last batch and what waits; among the last of their records.
    """
    last, seen = _last_classes(state), _seen(state, n_classes)
    recent = (last, last[-LATEST:])
    return np.stack([np.ones(n_classes), *(_ratio(np.bincount(y, minlength=n_classes), seen) for y in recent)])


def _last_classes(state: State) -> Ints:
    """Return the classes of the records of the last batch, and of what waits."""
    last = state.memory.y[state.memory.first_since(state.n_batches) :]
    return last if state.pending is None else np.concatenate([last, state.pending.y])


def _seen(state: State, n_classes: int) -> Longs:
    """Return how many records of each class were seen."""
    seen = np.pad(state.memory.seen_by_class, (0, n_classes - len(state.memory.seen_by_class)))
    return seen if state.pending is None else seen + np.bincount(state.pending.y, minlength=n_classes)


def _ratio(recent: Longs, seen: Longs) -> Floats:
    """Return how much more frequent each class is among recent records, and one of the overall mix, than overall."""
    overall = seen / seen.sum()
    ratio = np.ones(len(seen))
    np.divide(recent + overall, (recent.sum() + 1) * overall, out=ratio, where=overall > 0)
    return ratio


def _mixed(state: State, shares: dict[str, Floats], context: Floats) -> Floats:
    """Return the votes that some forests' shares add up to."""
    total, context = np.zeros_like(shares[PERMANENT]), _shared_out(context)
    ratios = class_ratios(state, total.shape[1])
    for voice, weights in state.evidence.weights.items():
        if shares.keys() >= set(voice):
            said = np.mean([shares[name] for name in voice], axis=0)
            for weight, ratio in zip(weights.T, ratios, strict=True):
                if weight.max() >= SILENT:
                    # Summed row by row, a record's votes do not depend on the records it comes with.
                    heard = (weight[:, np.newaxis] * context).sum(axis=0)
                    total += heard[:, np.newaxis] * _corrected(said, ratio)
    return total


def _context(state: State, shares: dict[str, Floats], near: Floats) -> Floats:
    """Return how far each record is in each context, each by itself; see `adforest.adaptation.judging`."""

    def found_by(name: str, classes: Longs) -> Floats:
        if name not in shares or not len(classes):
            return np.zeros(len(near))
        found: Floats = 1 - (1 - shares[name][:, classes].sum(axis=1)) ** STEEPNESS
        return found

    new, rare = found_by(TEMPORARY, state.new_classes), found_by(PERMANENT, state.rare_classes)
    return np.stack([near, 1 - near, near * new, rare])


def _shared_out(context: Floats) -> Floats:
    """Return contexts that add up to 1: what is new is that first of all, then what is rare, the rest near or far."""
    near, far, new, rare = context
    return np.stack([(near - new) * (1 - rare), far * (1 - rare), new, (1 - new) * rare])


def _corrected(shares: Floats, ratio: Floats) -> Floats:
    """Return shares corrected for another class mix."""
    corrected = shares * ratio
    total = corrected.sum(axis=1, keepdims=True)
    scaled: Floats = np.divide(corrected, total, out=corrected, where=total > 0)
    return scaled


def _shares(state: State, name: str, X: Floats, n_classes: int) -> Floats:
    """Return the class shares that a forest gives some records."""
    strengths, mix = boldness_of(state.evidence, name)
    forest = state.forests[name].forest
    return forest.shares(X, n_classes, strengths, mix, state.settings.n_jobs)


def _shares_and_presence(state: State, X: Floats, n_classes: int) -> tuple[Floats, Floats]:
    """Return the class shares that the permanent forest gives some records, and how near they are to the window's."""
    if not state.nearness:
        return _shares(state, PERMANENT, X, n_classes), np.ones(len(X))
    forest, boldness = state.forests[PERMANENT].forest, boldness_of(state.evidence, PERMANENT)
    shares, near = forest.shares_and_values(X, n_classes, *boldness, state.nearness, state.settings.n_jobs)
    return shares, np.minimum(near / FULL_PRESENCE, 1.0)


def boldness_of(evidence: Evidence, name: str) -> tuple[Floats, Floats]:
    """Return the strengths of shrinkage that a forest's answers are mixed from, and the share of each."""
    strengths = np.array(STRENGTHS)
    mix = evidence.boldness.get(name, np.array(FIRST_MIX))
    kept = mix >= SILENT
    return strengths[kept], mix[kept] / mix[kept].sum()


def _presence(state: State, leaves: list[Ints]) -> Floats:
    """Return how near records are to those of the window, from 0 to 1, from their leaves in the permanent forest."""
    if not state.nearness:
        return np.ones(len(leaves[0]))
    near = np.mean([by_node[leaf] for by_node, leaf in zip(state.nearness, leaves, strict=True)], axis=0)
    presence: Floats = np.minimum(near / FULL_PRESENCE, 1.0)
    return presence


class Judgement(NamedTuple):
    """What a batch shows of the forests before it is learnt.

    Attributes
    ----------
    evidence : Evidence
    accuracy : dict of str to float
        By forest, if it answered alone, and "vote" for all of them together; an active forest that is the permanent one
        counts as that.
    """

    evidence: Evidence
    accuracy: dict[str, float]


def judge(state: State, records: Records, leaves: dict[str, list[Ints]]) -> Judgement:
    """Let the forests answer records that they have not learnt, or a sample of them, and return the evidence after it.

    Parameters
    ----------
    leaves : dict of str to list of int32 arrays
        By forest for which it is known already: the leaf of each record in each tree.
    """
    evidence, n, n_classes, n_jobs = state.evidence, len(records), records.n_classes, state.settings.n_jobs
    drawn: slice | Longs = slice(None)
    if n > JUDGED:
        drawn = np.random.default_rng([state.settings.seed, state.n_batches]).permutation(n)[:JUDGED]
    X, y = records.X[drawn], records.y[drawn]
    ratios, rows = class_ratios(state, n_classes), np.arange(len(y))
    shares: dict[str, Floats] = {}
    shrunk: dict[str, Floats] = {}
    alone: dict[str, Mask] = {}
    for name, forest in state.judged.items():
        if name in leaves:
            reached = [leaf[drawn] for leaf in leaves[name]]
        else:
            reached = in_threads(lambda tree: tree.route(X), forest.trees, n_jobs)
        if name == PERMANENT:
            near = _presence(state, reached)
        by_strength = forest.shares_from(reached, n_classes, np.array(STRENGTHS))
        # An active forest that has no vote is one that the permanent one was until lately.
        heir = name if name in evidence.boldness else PERMANENT
        shares[name], shrunk[name] = np.tensordot(state.evidence.boldness[heir], by_strength, 1), by_strength[-1]
        by_ratio = np.stack([_corrected(shares[name], ratio) for ratio in ratios])
        said = np.tensordot(state.evidence.weights[(heir,)][NEAR], by_ratio, 1)
        alone[name] = said.argmax(axis=1) == y
        if name in evidence.boldness:
            logs = np.log(np.maximum(by_strength[:, rows, y], LEAST_SHARE)).mean(axis=1)
            evidence = evidence.bolder(name, logs, n)
    right: dict[Voice, Mask] = {}
    for voice in evidence.weights:
        said = np.mean([shares[name] for name in voice], axis=0)
        right[voice] = np.stack([one.argmax(axis=1) == y for one in (_corrected(said, ratio) for ratio in ratios)])
    context = _context(state, shares, near)
    mixed = _mixed(state, shares, context)
    masks = alone | {"vote": mixed.argmax(axis=1) == y}
    accuracy = {name: float(mask.mean()) for name, mask in masks.items()}
    accuracy.setdefault(ACTIVE, accuracy[PERMANENT])
    masks["known"] = state.forests[PERMANENT].forest.knows(n_classes)[y]
    if NEWEST in alone:
        masks["newest, known"] = masks["known"] & alone[NEWEST]
    # What could have been answered, had the class mix of these very records been known.
    now, last = np.bincount(y, minlength=n_classes), np.bincount(_last_classes(state), minlength=n_classes)
    said = [_corrected(mixed, _ratio(now, before)) for before in (last + 1, _seen(state, n_classes))]
    masks["informed"] = masks["known"] & max((one.argmax(axis=1) == y for one in said), key=np.count_nonzero)
    name = ACTIVE if ACTIVE in alone else PERMANENT
    # Where the class mix alone has changed, the active forest corrected for it is no worse than forests that know it.
    said = (shares[name], _corrected(shares[name], ratios[1]), _corrected(shrunk[name], ratios[1]))
    active = max((one.argmax(axis=1) == y for one in said), key=np.count_nonzero)
    leads = {
        name: (int((alone[name] & ~active).sum()), int((active & ~alone[name]).sum()))
        for name in (TEMPORARY, NEWEST)
        if name in alone
    }
    scores = Scores(len(y), {name: int(mask.sum()) for name, mask in masks.items()}, leads)
    evidence = evidence.updated(right, context, n)
    return Judgement(replace(evidence, scores=evidence.scores.added(scores)), accuracy)
