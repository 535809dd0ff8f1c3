"""Scoring a batch before it is learnt: the metrics of `predict` for the report.

The scores have no effect on the model: weights are learnt by `adforest.adaptation.judging`, from a sample of the batch,
by sample weight, whatever ``answer_for`` is. A report has the metrics of all samples, each counted once, predicted with
the current parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from adforest.adaptation.metrics import balanced_accuracy, brier_score, log_loss, ranking_metrics
from adforest.adaptation.recent_samples import RecentAnswers
from adforest.adaptation.report import ACTIVE, PERMANENT
from adforest.adaptation.state import State
from adforest.adaptation.voting import (
    contexts_of,
    filled,
    is_permanent_alone,
    known_as,
    label_counts,
    plan_of,
    proba_and_recency,
    shrinkage_of,
    votes,
    votes_alone,
    with_calibration,
)
from adforest.forest import Samples
from adforest.forest.forest import as_proba
from adforest.forest.types import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array

Leaves: TypeAlias = Mapping[str, Int32Array]  # by forest: the leaf of each sample in each tree, (n_trees, n)

VOTE = "vote"
PART = 1 << 16  # samples that are answered at a time: their probabilities take room
MAX_KEPT, MAX_PROBABILITIES = 2_000, 100_000  # samples whose probabilities are kept, and numbers that these may be


class BatchScores(NamedTuple):
    """Metrics of the predictions for a batch; for the fields see `adforest.adaptation.report.BatchReport`."""

    accuracy: dict[str, float]
    weighted_accuracy: dict[str, float]
    balanced_accuracy: float
    log_loss: float
    brier_score: float
    roc_auc: float | None
    average_precision: float | None
    confidence: float
    n_tested: float


class LastPredictions(NamedTuple):
    """Predictions for the last samples of a batch before it was learnt, for choosing thresholds.

    Attributes
    ----------
    y : int32 (n,)
        Their class codes; there are none of a first batch.
    probabilities : float32 (n, n_classes)
        Columns by class code; 0 for classes that were not known.
    """

    y: Int32Array
    probabilities: Float32Array

    @classmethod
    def nothing(cls, n_classes: int) -> LastPredictions:
        """Return no predictions."""
        return cls(np.empty(0, dtype=np.int32), np.empty((0, n_classes), dtype=np.float32))


class BatchPredictions(NamedTuple):
    """Predictions for some labelled samples.

    Attributes
    ----------
    right : dict of str to bool (n,)
        Which ones are predicted correctly, by each forest alone, and by "vote", which is `predict`.
    given : float64 (n,)
        Probability of the true class, 0 where it was not known.
    highest : float64 (n,)
        Probability of the predicted class.
    squares : float64 (n,)
        Sum over classes of their squared probabilities.
    positive : float64 (n,)
        Probability of the second of two classes; of all zeros where there are more.
    kept : float32 (at most `n_kept` of n, n_classes)
        Probabilities of the last samples.
    recent : RecentAnswers or None
        The adjustment by the last samples before them, if there is one.
    """

    right: dict[str, BoolArray]
    given: Float64Array
    highest: Float64Array
    squares: Float64Array
    positive: Float64Array
    kept: Float32Array
    recent: RecentAnswers | None


class ScoredBatch(NamedTuple):
    """How a batch was answered before it was learnt; `RecentAnswers` of all its samples only where they are few."""

    scores: BatchScores
    answered: LastPredictions
    recent: RecentAnswers | None


def n_kept(n_classes: int) -> int:
    """Return how many samples' probabilities are kept: fewer where there are many classes."""
    return min(MAX_KEPT, max(1, MAX_PROBABILITIES // n_classes))


def leaves_by_forest(state: State, samples: Samples, found: Leaves) -> Leaves:
    """Return the leaves that samples reach in all forests that are judged; those found already are among them."""
    return {
        name: found[name] if name in found else forest.route(samples.X, state.settings.n_jobs)
        for name, forest in state.judged.items()
    }


def score_batch(state: State, samples: Samples, leaves: Leaves, order: Int64Array | None = None) -> ScoredBatch:
    """Return the metrics of a state on a batch that it has not learnt, and its predictions for the last samples.

    Parameters
    ----------
    state : State
    samples : Samples
    leaves : dict of str to int32 (n_trees, n)
        See `leaves_by_forest`; unused where one forest predicts alone, as in the paper.
    order : intp (n_classes,), optional
        Class codes in the order of the sorted class values, by default that of the codes. Of classes with the same
        votes the first one is predicted, and of two classes the second one is the positive one.
    """
    if samples.regrouped is not None:  # what is learnt is read otherwise than what predict was asked
        samples = samples.as_before()
        leaves = leaves_by_forest(state, samples, {}) if leaves else leaves
    y, order = samples.y, np.arange(samples.n_classes) if order is None else order
    parts = [slice(start, start + PART) for start in range(0, len(y), PART)]
    answers = [_predictions(state, samples, leaves, order, part) for part in parts]
    right, given, highest, squares, positive, kept, recent = _joined(answers)
    kept = kept[-n_kept(samples.n_classes) :]
    ranked = ranking_metrics(y == order[1], positive) if len(order) == 2 else (None, None)
    sample_weights = state.settings.sample_weights(state.memory, samples.n_classes)
    scores = BatchScores(
        accuracies(right),
        weighted_accuracies(right, sample_weights.of_samples(y, samples.weight)),
        balanced_accuracy(y, right[VOTE]),
        log_loss(given),
        brier_score(given, squares, len(order)),
        *ranked,
        confidence=float(highest.mean()),
        n_tested=float(len(y)),
    )
    return ScoredBatch(scores, LastPredictions(y[len(y) - len(kept) :], kept), recent)


def accuracies(right: dict[str, BoolArray]) -> dict[str, float]:
    """Return accuracy by name."""
    return {name: int(np.count_nonzero(one)) / len(one) for name, one in right.items()}


def weighted_accuracies(right: dict[str, BoolArray], weight: Float64Array | None) -> dict[str, float]:
    """Return weighted accuracy by name; empty where all samples count once."""
    if weight is None:
        return {}
    return {name: float(np.average(one, weights=weight)) for name, one in right.items()}


def _joined(answers: list[BatchPredictions]) -> BatchPredictions:
    """Return predictions for consecutive samples as one object."""
    if len(answers) == 1:
        return answers[0]
    right = {name: np.concatenate([one.right[name] for one in answers]) for name in answers[0].right}
    columns = list(zip(*answers, strict=True))[1:-1]
    given, highest, squares, positive, kept = (np.concatenate(parts) for parts in columns)
    return BatchPredictions(right, given, highest, squares, positive, kept, None)


def _predictions(state: State, samples: Samples, leaves: Leaves, order: Int64Array, part: slice) -> BatchPredictions:
    """Predict a part of the samples."""
    X, y = samples.X[part], samples.y[part]
    n_known = len(state.class_mix.seen)  # classes known or declared before the batch
    known = order[order < n_known]
    reached = {name: found[:, part] for name, found in leaves.items()}
    by_name, recent = _votes_by_forest(state, X, reached, n_known)
    right = {name: known[one[:, known].argmax(axis=1)] == y for name, one in by_name.items()}
    if PERMANENT in right:  # an active forest that is the permanent one has no votes of its own
        right.setdefault(ACTIVE, right[PERMANENT])
    probabilities = np.zeros((len(y), samples.n_classes))
    probabilities[:, known] = as_proba(by_name[VOTE][:, known])
    given, highest = probabilities[np.arange(len(y)), y], probabilities.max(axis=1)
    squares = np.einsum("ij,ij->i", probabilities, probabilities)
    positive = probabilities[:, order[-1]] if len(order) == 2 else np.zeros(len(y))
    kept = probabilities[-n_kept(samples.n_classes) :].astype(np.float32)
    return BatchPredictions(right, given, highest, squares, positive, kept, recent)


def _votes_by_forest(
    state: State, X: Float64Array, leaves: Leaves, n_classes: int
) -> tuple[dict[str, Float64Array], RecentAnswers | None]:
    """Return class votes of each forest alone, and of "vote": bit by bit what `votes` returns.

    Also the adjustment by the last samples before these.
    """
    if state.settings.algorithm == "paper":
        return {VOTE: votes(state, X, n_classes)}, None
    evidence, n_jobs, tuning = state.evidence, state.settings.n_jobs, state.settings.tuning
    proba, recency = {}, np.ones(len(X))
    for name, forest in state.judged.items():
        shrinkage = shrinkage_of(evidence, known_as(state, name), tuning)
        if name == PERMANENT:
            proba[name], recency = proba_and_recency(state, X, n_classes, shrinkage, leaves[name])
        else:
            proba[name] = forest.proba(X, n_classes, *shrinkage, n_jobs, leaves[name])
    alone, vote = proba, proba[PERMANENT]
    if not is_permanent_alone(state):
        plan, contexts = plan_of(state, n_classes), contexts_of(state, proba, recency)
        proba = filled(proba, plan.unmet)
        alone, vote = votes_alone(state, proba, plan.voters.ratios), plan.voters.votes(proba, contexts)
    recent = None
    if state.is_adjusted:
        reached, counts = np.ascontiguousarray(leaves[PERMANENT]), label_counts(state, n_classes)
        recent = state.recent.answers(vote, reached, **counts, tuning=tuning)
        vote = state.recent.adjusted(recent, tuning)
    return alone | {VOTE: with_calibration(state, vote)}, recent
