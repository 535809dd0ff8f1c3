"""The weighted vote of the forests: from the fitted state and some samples to votes for classes.

A forest predicts class probabilities for a sample x, those of its leaves shrunk towards the nodes above them. A voter v
is a forest, or the mean of two. It has three variants, v_m(x), which is v(x) times ratio_m scaled to a sum of 1, where
ratio_m(c) is the frequency of class c that some recent samples suggest, relative to that among all samples (m = 0: no
correction; 1: the last batch; 2: its last 100 samples, since samples of a stream often come in runs of a class), see
`ClassMix.ratios`. With context_k(x) how far the sample is in context k (see `adforest.adaptation.evidence`), adding up
to 1,

    sum over v, k and m of context_k(x) * weight[v, k, m] * v_m(x)

are the votes of the forests together, which are then calibrated, see `adforest.adaptation.calibration`.
Forests of the last batches leave classes that they have not seen to the permanent forest, see `filled`. Where samples
come in small batches, the last of them adjust these votes, see `adforest.adaptation.recent_samples`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypedDict
from weakref import WeakKeyDictionary

import numpy as np

from adforest.adaptation.calibration import calibrated, no_calibration
from adforest.adaptation.class_mix import ClassMix
from adforest.adaptation.evidence import (
    FAR,
    NEAR,
    NEW_CLASS,
    RARE_CLASS,
    Evidence,
    Voter,
)
from adforest.adaptation.report import PERMANENT, TEMPORARY
from adforest.adaptation.state import ForestState, State
from adforest.adaptation.tuning import TUNING, Tuning
from adforest.forest._kernels import variants
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int32Array


def votes(state: State, X: Float64Array, n_classes: int) -> Float64Array:
    """Return class votes for some samples."""
    if state.settings.algorithm == "paper":
        return _votes_of_one(state, X, n_classes)
    if not state.is_adjusted:
        return with_calibration(state, forest_votes(state, X, n_classes))
    leaves = state.forests[PERMANENT].forest.route(X, state.settings.n_jobs)
    by_forests = forest_votes(state, X, n_classes, leaves)
    tuning = state.settings.tuning
    answers = state.recent.answers(by_forests, leaves, **label_counts(state, n_classes), tuning=tuning)
    return state.recent.adjusted(answers, tuning)


def forest_votes(state: State, X: Float64Array, n_classes: int, leaves: Int32Array | None = None) -> Float64Array:
    """Return the votes of the forests together; the leaves of the permanent one may be known already."""
    if is_permanent_alone(state):
        return _proba(state, PERMANENT, X, n_classes, leaves)
    plan = plan_of(state, n_classes)
    return plan.voters.votes(*_proba_and_contexts(state, X, plan, leaves))


def with_calibration(state: State, votes: Float64Array) -> Float64Array:
    """Return calibrated votes."""
    return calibrated(votes, calibration_of(state), state.class_mix.seen)


def calibration_of(state: State) -> Float64Array:
    """Return the weights of the calibration.

    They are learnt from the forests' votes on the next batch: votes that the last labels adjust, and those of the
    permanent forest for samples of any time, are not calibrated.
    """
    settings = state.settings
    is_learnt = settings.tuning.calibrates and settings.answer_for != "everything" and not state.is_adjusted
    return state.evidence.calibration if is_learnt else no_calibration()


class LabelCounts(TypedDict):
    """Class frequencies, and the mean weight of a sample by class, as arguments of `RecentSamples`."""

    seen: AnyArray
    class_weight: Float64Array | None


def label_counts(state: State, n_classes: int) -> LabelCounts:
    """Return how frequent classes are over all samples that were learnt."""
    seen, n_seen = state.class_mix.padded(n_classes).seen, state.memory.seen_by_class
    if seen.dtype.kind == "i":
        return {"seen": seen, "class_weight": None}
    weight = np.ones(n_classes)
    np.divide(seen[: len(n_seen)], n_seen, out=weight[: len(n_seen)], where=n_seen > 0)
    return {"seen": seen, "class_weight": weight}


def votes_in_parts(state: State, X: Float64Array, n_classes: int) -> VotesInParts:
    """Return the weighted vote of the forests before calibration, and its summands."""
    if is_permanent_alone(state):
        proba = _proba(state, PERMANENT, X, n_classes)
        alone = Variant((PERMANENT,), proba, np.ones(n_classes), np.ones(len(X)))
        return VotesInParts(proba.copy(), {PERMANENT: proba}, [alone])
    plan = plan_of(state, n_classes)
    by_forest, contexts = _proba_and_contexts(state, X, plan)
    total = plan.voters.votes(by_forest, contexts)
    return VotesInParts(total, by_forest, list(_asked_variants(state, by_forest, contexts)))


def _proba_and_contexts(
    state: State, X: Float64Array, plan: Plan, leaves: Int32Array | None = None
) -> tuple[dict[str, Float64Array], Float64Array]:
    """Return the probabilities by each forest that is needed, and the contexts of the samples, see `contexts_of`."""
    proba = {
        name: state.forests[name].forest.proba(X, plan.n_classes, *shrinkage, state.settings.n_jobs)
        for name, shrinkage in plan.shrinkage.items()
        if name != PERMANENT
    }
    proba[PERMANENT], recency = proba_and_recency(state, X, plan.n_classes, plan.shrinkage[PERMANENT], leaves)
    return filled(proba, plan.unmet), contexts_of(state, proba, recency)


def is_permanent_alone(state: State) -> bool:
    """Return whether the permanent forest predicts all samples alone."""
    return state.settings.answer_for == "everything" or len(state.voting) == 1


def _votes_of_one(state: State, X: Float64Array, n_classes: int) -> Float64Array:
    """Return the votes of the forest that predicts alone."""
    settings, forest = state.settings, state.forests[state.answering].forest
    return forest.answer(X, n_classes, soft=settings.soft, n_jobs=settings.n_jobs)


def asked_forests(state: State) -> set[str]:
    """Return the forests that are needed: those of voters that have some weight, and those of the contexts."""
    contexts = [NEAR, FAR]
    asked = {PERMANENT}
    if len(state.class_mix.new):
        contexts.append(NEW_CLASS)
        asked.add(TEMPORARY)
    if len(state.class_mix.rare):
        contexts.append(RARE_CLASS)
    for voter, weights in zip(state.evidence.voters, state.evidence.weights, strict=True):
        if weights[contexts].max() >= state.settings.tuning.min_weight:
            asked |= set(voter)
    return asked


class Variant(NamedTuple):
    """One variant of a voter: it adds weight * corrected(proba, ratio) to the votes.

    Attributes
    ----------
    voter : tuple of str
    proba : float64 (n, n_classes)
        The mean of its forests' class probabilities.
    ratio : float64 (n_classes,)
        Factors of the correction.
    weight : float64 (n,)
        Weight of the corrected probabilities for each sample.
    """

    voter: Voter
    proba: Float64Array
    ratio: Float64Array
    weight: Float64Array


class VotesInParts(NamedTuple):
    """Votes (n, n_classes), class probabilities by forest, and the variants whose sum the votes are."""

    votes: Float64Array
    proba: dict[str, Float64Array]
    variants: list[Variant]


def _asked_variants(state: State, proba: dict[str, Float64Array], contexts: Float64Array) -> Iterator[Variant]:
    """Return the variants of some weight; for the parameters see `Voters.votes`."""
    contexts = variants.adding_up(contexts)
    ratios = ratios_of(state, proba[PERMANENT].shape[1])
    for voter, weights in zip(state.evidence.voters, state.evidence.weights, strict=True):
        if proba.keys() >= set(voter):
            mean = np.mean([proba[name] for name in voter], axis=0)
            for weight, ratio in zip(weights.T, ratios, strict=True):
                if weight.max() >= state.settings.tuning.min_weight:
                    # Summed row by row, a sample's votes do not depend on the samples it comes with.
                    yield Variant(voter, mean, ratio, (weight[:, np.newaxis] * contexts).sum(axis=0))


def known_as(state: State, name: str) -> str:
    """Return the forest whose evidence counts: an active one without a vote was the permanent one until lately."""
    return name if name in state.evidence.shrinkage else PERMANENT


def votes_alone(state: State, proba: dict[str, Float64Array], ratios: Float64Array) -> dict[str, Float64Array]:
    """Return the votes of each forest alone, corrected for the class mix by the weights of its variants."""
    everywhere = np.ones((1, len(proba[PERMANENT])))
    voters, weights = state.evidence.voters, state.evidence.weights[:, [NEAR]]
    indices = {name: voters.index((known_as(state, name),)) for name in proba}
    return {
        name: variants.weigh([(one,)], weights[[indices[name]]], everywhere, ratios, 0.0) for name, one in proba.items()
    }


class Voters(NamedTuple):
    """The voters whose forests predict, with their weights.

    Attributes
    ----------
    names : list of tuple of str
    weights : float64 (n_voters, 4, 3)
        See `adforest.adaptation.evidence.Evidence`.
    ratios : float64 (3, n_classes)
        See `ClassMix.ratios`.
    min_weight : float
        See `Tuning`.
    """

    names: list[Voter]
    weights: Float64Array
    ratios: Float64Array
    min_weight: float

    @classmethod
    def of(cls, state: State, asked: set[str], n_classes: int) -> Voters:
        """Return the voters of some forests."""
        evidence = state.evidence
        indices = [index for index, voter in enumerate(evidence.voters) if asked >= set(voter)]
        names = [evidence.voters[index] for index in indices]
        return cls(names, evidence.weights[indices], ratios_of(state, n_classes), state.settings.tuning.min_weight)

    def votes(self, proba: dict[str, Float64Array], contexts: Float64Array) -> Float64Array:
        """Return the votes that class probabilities by forest (n, n_classes) add up to, in contexts (4, n)."""
        voters = [tuple(proba[name] for name in voter) for voter in self.names]
        return variants.weigh(voters, self.weights, variants.adding_up(contexts), self.ratios, self.min_weight)


class Plan(NamedTuple):
    """The part of the vote that is the same for all samples of a state, computed once for fast single predictions.

    Attributes
    ----------
    n_classes : int
    evidence, forests : Evidence, dict of str to ForestState
        Those of the state.
    shrinkage : dict of str to (strengths, mix)
        By forest that predicts, see `shrinkage_of`.
    voters : Voters
    unmet : dict of str to bool (n_classes,)
        Of all forests that are judged, see `unmet_classes`.
    """

    n_classes: int
    evidence: Evidence
    forests: dict[str, ForestState]
    shrinkage: dict[str, tuple[Float64Array, Float64Array]]
    voters: Voters
    unmet: dict[str, BoolArray]


# Beside the states, which are saved without them. A class mix is of one learnt batch, so that states that differ in the
# pending samples share a plan.
_plans: WeakKeyDictionary[ClassMix, Plan] = WeakKeyDictionary()


def plan_of(state: State, n_classes: int) -> Plan:
    """Return the part of the vote that is the same for all samples of a state."""
    evidence, forests, plan = state.evidence, state.forests, _plans.get(state.class_mix)
    if plan is None or plan.n_classes != n_classes or plan.evidence is not evidence or plan.forests is not forests:
        asked = asked_forests(state)
        shrinkage = {name: shrinkage_of(evidence, name, state.settings.tuning) for name in sorted(asked)}
        voters, unmet = Voters.of(state, asked, n_classes), unmet_classes(state, state.judged, n_classes)
        plan = _plans[state.class_mix] = Plan(n_classes, evidence, forests, shrinkage, voters, unmet)
    return plan


# Contexts


def contexts_of(state: State, proba: dict[str, Float64Array], recency: Float64Array) -> Float64Array:
    """Return how far each sample is in each context, each by itself.

    Parameters
    ----------
    proba : dict of str to float64 (n, n_classes)
        By forest that predicts.
    recency : float64 (n,)
        How recent each sample is, from 0 to 1.

    Returns
    -------
    float64 (4, n)
        Near, far, new class, rare class.
    """
    mix, permanent, steepness = state.class_mix, proba[PERMANENT], state.settings.tuning.steepness
    new = mix.new if TEMPORARY in proba else mix.new[:0]
    return variants.contexts(recency, proba.get(TEMPORARY, permanent), new, permanent, mix.rare, steepness)


def recency_of(density: Float64Array, tuning: Tuning) -> Float64Array:
    """Return how recent samples are, from 0 to 1, from the mean over trees of `State.recency`."""
    return np.minimum(density / tuning.full_recency, 1.0)


def ratios_of(state: State, n_classes: int) -> Float64Array:
    """Return the factors of class probabilities in each variant, see `ClassMix.ratios`."""
    return state.class_mix.padded(n_classes).ratios(state.evidence.mix_changes, state.settings.tuning)


def corrected(proba: Float64Array, ratio: Float64Array) -> Float64Array:
    """Return class probabilities times a ratio for each class, scaled to a sum of 1."""
    product = proba * ratio
    total = product.sum(axis=1, keepdims=True)
    scaled: Float64Array = np.divide(product, total, out=product, where=total > 0)
    return scaled


# Class probabilities


def unmet_classes(state: State, names: Iterable[str], n_classes: int) -> dict[str, BoolArray]:
    """Return the classes that the permanent forest predicts, by forest of recent samples that has not seen them.

    A forest that has seen one class predicts it for every sample. As long as no class mix has ever changed back, the
    next batches had that class, too. Once one has, classes that pause are expected again.
    """
    if not state.evidence.mix_changes.changed[0]:
        return {}
    known = state.forests[PERMANENT].forest.knows(n_classes)
    unmet = {name: known & ~state.forests[name].forest.knows(n_classes) for name in names if name != PERMANENT}
    return {name: classes for name, classes in unmet.items() if classes.any()}


def filled(proba: dict[str, Float64Array], unmet: dict[str, BoolArray]) -> dict[str, Float64Array]:
    """Return class probabilities by forest, given the classes that some have not seen.

    Their probabilities are the permanent forest's times the sum of them: where it is not sure that a sample is of such
    a class, recent samples count.
    """
    if not unmet:
        return proba
    whole = dict(proba)
    for name in unmet.keys() & proba.keys():
        taken = proba[PERMANENT] * unmet[name]
        mass = np.minimum(taken.sum(axis=1, keepdims=True), 1.0)  # rounded, the sum may exceed 1
        whole[name] = proba[name] * (1 - mass**2) + taken * mass
    return whole


def shrinkage_of(evidence: Evidence, name: str, tuning: Tuning = TUNING) -> tuple[Float64Array, Float64Array]:
    """Return the strengths of shrinkage in a forest's predictions, and the fraction of each."""
    strengths = np.array(tuning.shrinkage_strengths)
    mix = evidence.shrinkage.get(name, np.array(tuning.first_shrinkage))
    kept = mix >= tuning.min_weight
    return strengths[kept], mix[kept] / mix[kept].sum()


def _proba(state: State, name: str, X: Float64Array, n_classes: int, leaves: Int32Array | None = None) -> Float64Array:
    """Return the class probabilities that a forest gives some samples."""
    strengths, mix = shrinkage_of(state.evidence, name, state.settings.tuning)
    return state.forests[name].forest.proba(X, n_classes, strengths, mix, state.settings.n_jobs, leaves)


def proba_and_recency(
    state: State,
    X: Float64Array,
    n_classes: int,
    shrinkage: tuple[Float64Array, Float64Array],
    leaves: Int32Array | None = None,
) -> tuple[Float64Array, Float64Array]:
    """Return the class probabilities by the permanent forest, and how recent samples are."""
    if not state.recency:
        return _proba(state, PERMANENT, X, n_classes, leaves), np.ones(len(X))
    forest, n_jobs = state.forests[PERMANENT].forest, state.settings.n_jobs
    proba, density = forest.proba_and_values(X, n_classes, *shrinkage, state.recency, n_jobs, leaves)
    return proba, recency_of(density, state.settings.tuning)
