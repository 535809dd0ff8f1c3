"""Judging the forests: their predictions for a batch before it is learnt change their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from adforest.adaptation.calibration import weights_after
from adforest.adaptation.class_mix import ratio_of
from adforest.adaptation.evidence import Evidence, Scores
from adforest.adaptation.recent_samples import RecentAnswers, RecentSamples
from adforest.adaptation.report import ACTIVE, NEWEST, PERMANENT, TEMPORARY
from adforest.adaptation.state import State
from adforest.adaptation.tuning import TUNING
from adforest.adaptation.voting import (
    Voters,
    contexts_of,
    corrected,
    filled,
    forest_votes,
    known_as,
    label_counts,
    ratios_of,
    recency_of,
    unmet_classes,
    votes_alone,
)
from adforest.forest import Samples
from adforest.forest._kernels import variants
from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array


class JudgedPredictions(NamedTuple):
    """Predictions of the forests for some labelled samples.

    Attributes
    ----------
    y : int32 (n,)
        Classes.
    weight : float64 (n,)
        How much each sample counts: 1 where there are no weights. Otherwise weights are scaled so that their sum is as
        the effective sample size, (sum w)² / sum w² (Kish 1965).
    by_strength : dict of str to float64 (3, n, n_classes)
        By forest: class probabilities for each of `Tuning.shrinkage_strengths`.
    proba : dict of str to float64 (n, n_classes)
        By forest: the mixture of these.
    recency : float64 (n,)
        How recent each sample is, from 0 to 1.
    ratios : float64 (3, n_classes)
        See `ClassMix.ratios`.
    """

    y: Int32Array
    weight: Float64Array
    by_strength: dict[str, Float64Array]
    proba: dict[str, Float64Array]
    recency: Float64Array
    ratios: Float64Array

    @property
    def n(self) -> float:
        """How much all samples count together."""
        return float(self.weight.sum())

    def are_right(self, votes: Float64Array) -> BoolArray:
        """Return which samples some votes get right."""
        right: BoolArray = votes.argmax(axis=1) == self.y
        return right

    def best_of(self, *candidates: Float64Array) -> BoolArray:
        """Return which samples those votes get right that get most of them right."""
        return max((self.are_right(votes) for votes in candidates), key=self.total)

    def total(self, which: BoolArray) -> float:
        """Return how much some of the samples count together."""
        return float(self.weight[which].sum())


def judge(state: State, samples: Samples, leaves: Mapping[str, Int32Array]) -> tuple[Evidence, Scores]:
    """Predict a batch that is not learnt yet, or a sample of it, with all forests, and return the evidence after it.

    Parameters
    ----------
    leaves : dict of str to int32 (n_trees, n)
        By forest for which it is known already: the leaf of each sample in each tree.
    """
    n_classes, tuning = samples.n_classes, state.settings.tuning
    answers = _predictions(state, samples, leaves)
    n = answers.n * len(samples) / len(answers.y)
    contexts = contexts_of(state, answers.proba, answers.recency)
    answers = answers._replace(proba=filled(answers.proba, unmet_classes(state, answers.proba, n_classes)))
    vote = Voters.of(state, set(answers.proba), n_classes).votes(answers.proba, contexts)
    by_forest = votes_alone(state, answers.proba, answers.ratios)
    alone = {name: answers.are_right(votes) for name, votes in by_forest.items()}
    scores = _scores(state, answers, alone, vote, n_classes)
    gains = _gains_by_voter(state, answers)
    evidence = state.evidence.after_answers(gains, contexts * answers.weight, n, answers.n, tuning)
    for name in evidence.shrinkage if tuning.learns_shrinkage else ():
        logs = _mean_logs(answers, name, tuning.min_proba)
        evidence = evidence.after_shrinkage(name, logs, n, tuning)
    by_class = np.bincount(answers.y, answers.weight * (n / answers.n), n_classes).astype(np.float64)
    mix_changes = evidence.mix_changes.after(state.class_mix, by_class, tuning)
    return replace(evidence, mix_changes=mix_changes, calibration=_calibration(state, answers, vote)), scores


def judge_recent(state: State, samples: Samples, leaves: Int32Array, answers: RecentAnswers | None) -> RecentSamples:
    """Return the last samples and their weights after a small batch, given its leaves in the permanent forest.

    Answers are those that the batch was scored by, with all labels that are known now. Where there are none, or it was
    answered when fewer were known, they are found here.
    """
    n_classes, recent, delay = samples.n_classes, state.recent, state.settings.label_delay
    known = recent.before_last(delay)
    if known.is_used:
        if delay or answers is None or answers.ratios.shape[1] < n_classes:
            votes = forest_votes(state, samples.X, n_classes, leaves)
            answers = known.answers(votes, leaves, **label_counts(state, n_classes), tuning=state.settings.tuning)
        sample_weights = state.settings.sample_weights(state.memory, n_classes)
        weight = as_samples(sample_weights.of_samples(samples.y, samples.weight), len(samples))
        recent = recent.judged(answers, samples.y, weight, state.settings.tuning)
    return recent.after(samples.y, leaves, delay, state.settings.tuning)


def judged_indices(seed: int, n_batches: int, n: int, max_judged: int = TUNING.max_judged) -> slice | Int64Array:
    """Return the indices of those of n samples that forests are judged by."""
    if n <= max_judged:
        return slice(None)
    return np.random.default_rng([seed, n_batches]).permutation(n)[:max_judged]


def _predictions(state: State, samples: Samples, leaves: Mapping[str, Int32Array]) -> JudgedPredictions:
    """Predict a batch, or a sample of it, with every forest."""
    tuning = state.settings.tuning
    drawn = judged_indices(state.settings.seed, state.n_batches, len(samples), tuning.max_judged)
    X, y = samples.X[drawn], samples.y[drawn]
    sample_weights = state.settings.sample_weights(state.memory, samples.n_classes)
    weight = as_samples(sample_weights.of_samples(y, samples.weight_at(drawn)), len(y))
    by_strength, proba, recency = {}, {}, np.ones(len(y))
    for name, forest in state.judged.items():
        reached = np.ascontiguousarray(leaves[name][:, drawn]) if name in leaves else forest.route(X)
        if name == PERMANENT and state.recency:
            by_tree = [by_node[leaf] for by_node, leaf in zip(state.recency, reached, strict=True)]
            recency = recency_of(np.mean(by_tree, axis=0, dtype=np.float64), tuning)
        by_strength[name] = forest.proba_from(reached, samples.n_classes, np.array(tuning.shrinkage_strengths))
        proba[name] = np.tensordot(state.evidence.shrinkage[known_as(state, name)], by_strength[name], 1)
    return JudgedPredictions(y, weight, by_strength, proba, recency, ratios_of(state, samples.n_classes))


def as_samples(weight: Float64Array | None, n: int) -> Float64Array:
    """Return weights scaled to add up to the effective sample size, see `JudgedPredictions.weight`."""
    return np.ones(n) if weight is None else weight * (weight.sum() / (weight @ weight))


def _gains_by_voter(state: State, answers: JudgedPredictions) -> Float64Array:
    """Return the gain of each voter and variant by sample."""
    proba = [tuple(answers.proba[name] for name in voter) for voter in state.evidence.voters]
    tuning = state.settings.tuning
    gains: Float64Array = variants.gains(proba, answers.ratios, answers.y, tuning.min_proba, tuning.log_gain)
    return gains


def _calibration(state: State, answers: JudgedPredictions, vote: Float64Array) -> Float64Array:
    """Return how votes are calibrated after a batch, by its samples of classes that were known before it."""
    seen = state.class_mix.seen
    known = answers.y < len(seen)
    vote, y, weight = np.ascontiguousarray(vote[known, : len(seen)]), answers.y[known], answers.weight[known]
    return weights_after(state.evidence.calibration, vote, seen, y, weight, state.settings.tuning)


def _mean_logs(answers: JudgedPredictions, name: str, min_proba: float) -> Float64Array:
    """Return by strength of shrinkage the mean logarithm of the probability that a forest gives to the right class."""
    given = answers.by_strength[name][:, np.arange(len(answers.y)), answers.y]
    logs: Float64Array = (np.log(np.maximum(given, min_proba)) * answers.weight).sum(axis=1) / answers.n
    return logs


def _scores(
    state: State, answers: JudgedPredictions, alone: dict[str, BoolArray], vote: Float64Array, n_classes: int
) -> Scores:
    """Count correct predictions, from which drift and abrupt changes are detected."""
    known = state.forests[PERMANENT].forest.knows(n_classes)[answers.y]
    masks = alone | {"vote": answers.are_right(vote), "known": known}
    if NEWEST in alone:
        masks["newest, known"] = known & alone[NEWEST]
    # What could have been answered, had the class mix of these very samples been known.
    tuning = state.settings.tuning
    now = np.bincount(answers.y, answers.weight, minlength=n_classes)
    mix = state.class_mix.padded(n_classes)
    informed = (corrected(vote, ratio_of(now, before, tuning)) for before in (mix.last + tuning.mix_prior, mix.seen))
    masks["informed"] = known & answers.best_of(*informed)
    # Where the class mix alone has changed, the active forest corrected for it is no worse than forests that know it.
    name = ACTIVE if ACTIVE in alone else PERMANENT
    ratio, most_shrunk = ratio_of(mix.last, mix.seen, tuning), answers.by_strength[name][-1]
    candidates = answers.proba[name], corrected(answers.proba[name], ratio), corrected(most_shrunk, ratio)
    active = answers.best_of(*candidates)
    leads = {
        name: (answers.total(alone[name] & ~active), answers.total(active & ~alone[name]))
        for name in (TEMPORARY, NEWEST)
        if name in alone
    }
    return Scores(answers.n, {name: answers.total(mask) for name, mask in masks.items()}, leads)
