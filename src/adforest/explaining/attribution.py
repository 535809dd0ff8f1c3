"""Decomposition of votes into a bias, the votes of the roots, and the contribution of each feature.

With a(v) the prediction of a tree if its node v were a leaf, the step from a node to the next one on a sample's path
changes a; this is credited to the feature that the node splits on (`forest/_kernels/steps.pyx`). Steps are averaged
over trees and over the forests of a voter, and then corrected for the class mix as the voter's probabilities
are. Variants are added up with their weights for the sample, and the votes are calibrated.

Class probabilities p are corrected to g(p) = p * ratio / (p . ratio), which is not a sum over features. If the features
add a_1 ... a_m to probabilities b at the roots, and all contributions are scaled together from 0 to their full size,

    feature j adds the integral over s from 0 to 1 of g'(b + s * (a_1 + ... + a_m)) a_j

to g(b) (Aumann & Shapley 1974; "integrated gradients"). This adds up to g(p) - g(b), is linear in a_j, is 0 where a_j
is 0, and a_j itself where no class is corrected. With Z(s) = (b + s * (p - b)) . ratio, linear in s, it is

    ratio * (a_j * mean of 1 / Z - (a_j . ratio) * mean of (b + s * (p - b)) / Z²).

Where votes are sharpened, g(p) = p³ / sum(p³), the mean over s is found numerically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adforest.adaptation import FORESTS, State, votes
from adforest.adaptation.calibration import PLAIN, SHARP
from adforest.adaptation.recent_samples import FOREST_VOTE
from adforest.adaptation.report import PERMANENT
from adforest.adaptation.voting import (
    Variant,
    calibration_of,
    corrected,
    filled,
    label_counts,
    shrinkage_of,
    unmet_classes,
    votes_in_parts,
    with_calibration,
)
from adforest.forest import Forest
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int32Array, UInt8Array
from adforest.parallel import in_threads

N_NODES = 16  # of s, by Gauss-Legendre quadrature
SMALL = 1e-3  # relative change of Z below which a series is exact and the formula is not
PART_SIZE = 2**19  # numbers in the contributions of samples explained at a time, to stay in the cache
MAX_PART = 2048  # samples that are explained at a time


def mean_inverses(start: Float64Array, end: Float64Array, ratio: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the means of 1 / Z and of (b + s * (p - b)) / Z² over s from 0 to 1.

    Parameters
    ----------
    start : float64 (n_classes,) or (n, n_classes)
        The class probabilities at the roots, b.
    end : float64 (n, n_classes)
        The class probabilities of some samples, p.
    ratio : float64 (n_classes,)
        Factor of each class; positive.

    Returns
    -------
    first : float64 (n,)
    second : float64 (n, n_classes)
    """
    before, after = np.broadcast_to((start * ratio).sum(axis=-1), len(end)), (end * ratio).sum(axis=1)
    if (before <= 0).any():  # nothing was learnt, so nothing is added
        return np.zeros(len(end)), np.zeros_like(end)
    change = after / before - 1
    is_small = np.abs(change) < SMALL
    large = np.where(is_small, 1.0, change)
    series_1 = 1 - change / 2 + change**2 / 3 - change**3 / 4 + change**4 / 5
    series_2 = 1 / 2 - 2 / 3 * change + 3 / 4 * change**2 - 4 / 5 * change**3 + 5 / 6 * change**4
    mean_1 = np.where(is_small, series_1, np.log1p(large) / large) / before
    mean_2 = np.where(is_small, series_2, (np.log1p(large) - large / (1 + large)) / large**2) / before**2
    return mean_1, start / (before * after)[:, np.newaxis] + (end - start) * mean_2[:, np.newaxis]


def sharpened_steps(start: Float64Array, end: Float64Array, steps: Float64Array) -> Float64Array:
    """Return the contributions of features to p³ / sum(p³), given those to p; float64 (n, n_features, n_classes).

    Parameters
    ----------
    start, end : float64 (n, n_classes)
        Class probabilities that the steps lead from and to; rows of 0 stay so.
    steps : float64 (n, n_features, n_classes)
    """
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    found = np.zeros_like(steps)
    for s, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        p = start + s * (end - start)
        cubes = p**3
        total = cubes.sum(axis=1, keepdims=True)
        total[total <= 0] = 1.0
        moved = steps * (3 * p**2 / total)[:, np.newaxis]
        moved -= moved.sum(axis=2, keepdims=True) * (cubes / total)[:, np.newaxis]
        found += weight * moved
    return found


class Leaves(NamedTuple):
    """The leaves of a forest that some samples reach, each array (n, n_trees); see `ForestAnswers`."""

    numbers: Int32Array
    batches: Int32Array
    causes: UInt8Array
    classes: Int32Array
    confidence: Float64Array
    samples: Float64Array


class ForestPart(NamedTuple):
    """Predictions of a forest: its weight (n,), its class probabilities (n, n_classes), and its leaves."""

    weight: Float64Array
    proba: Float64Array
    leaves: Leaves


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """Votes and their decomposition, classes by code.

    Attributes
    ----------
    votes, bias : float64 (n, n_classes)
    contributions : float64 (n, n_features, n_classes)
        Add up with bias to votes.
    forests : dict of str to ForestPart
        Those in the vote; their weights have the same sum as the votes.
    """

    votes: Float64Array
    bias: Float64Array
    contributions: Float64Array
    forests: dict[str, ForestPart]


def attribute(state: State, X: Float64Array, n_classes: int) -> Attribution:
    """Return the votes for some samples and their decomposition; a loop over trees, not over samples."""
    n, m = X.shape
    size = max(1, min(MAX_PART, PART_SIZE // max(1, m * n_classes)))
    parts = [slice(start, start + size) for start in range(0, n, size)] or [slice(0)]
    contributions = np.zeros((n, m, n_classes))
    work = _votes_of_one if state.settings.algorithm == "paper" else _weighted_votes
    done = in_threads(lambda part: work(state, X[part], contributions[part]), parts, state.settings.n_jobs)
    by_name = {name: _joined([one.forests[name] for one in done]) for name in FORESTS if name in done[0].forests}
    return Attribution(
        np.concatenate([one.votes for one in done]),
        np.concatenate([one.bias for one in done]),
        contributions,
        by_name,
    )


def _weighted_votes(state: State, X: Float64Array, contributions: Float64Array) -> Attribution:
    """Attribute the votes of forests that vote together; contributions (n, n_features, n_classes) are filled in."""
    n, _, n_classes = contributions.shape
    total, proba, variants = votes_in_parts(state, X, n_classes)
    names = [name for name in proba if any(name in variant.voter for variant in variants)]
    own_roots = {name: _root_proba(state.forests[name].forest, n_classes) for name in proba}
    unmet = unmet_classes(state, names, n_classes)
    roots = {name: one[0] for name, one in filled(own_roots, unmet).items()}
    bias, weight = np.zeros((n, n_classes)), {name: np.zeros(n) for name in names}
    corrections: dict[str, list[_Correction]] = {name: [] for name in names}
    for variant in variants:
        start = np.mean([roots[name] for name in variant.voter], axis=0)
        bias += variant.weight[:, np.newaxis] * corrected(start[np.newaxis], variant.ratio)
        correction = _Correction.of(variant, start)
        for name in variant.voter:
            weight[name] += variant.weight / len(variant.voter)
            corrections[name].append(correction)
    parts = {}
    permanent = _mean_steps(state, PERMANENT, X, contributions)[0] if unmet else None
    for name in names:
        steps, leaves = _mean_steps(state, name, X, contributions)
        if permanent is not None and name in unmet:
            _fill_steps(steps, permanent, own_roots[name], own_roots[PERMANENT], unmet[name])
        _add_corrected(contributions, steps, corrections[name])
        parts[name] = ForestPart(weight[name], proba[name], leaves)
    found = Attribution(total, bias, contributions, parts)
    return _calibrated(state, _adjusted(state, X, found) if state.is_adjusted else found)


def _calibrated(state: State, found: Attribution) -> Attribution:
    """Attribute votes that are sharpened or flattened; contributions are changed in place."""
    weights = calibration_of(state)
    votes = with_calibration(state, found.votes)
    if votes is found.votes:
        return found
    total = found.votes.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0
    found.contributions[:] /= total[..., np.newaxis]
    sharp = sharpened_steps(found.bias / total, found.votes / total, found.contributions)
    found.contributions[:] = weights[SHARP] * sharp + weights[PLAIN] * found.contributions
    parts = {name: part._replace(weight=part.weight / total[:, 0]) for name, part in found.forests.items()}
    return Attribution(votes, votes - found.contributions.sum(axis=1), found.contributions, parts)


def _adjusted(state: State, X: Float64Array, found: Attribution) -> Attribution:
    """Attribute votes that the last samples adjust: their own predictions are part of the bias.

    Contributions are changed in place. The contribution of a feature to the forests' vote is corrected as the vote is.
    """
    n_classes, recent, tuning = found.votes.shape[1], state.recent, state.settings.tuning
    leaves, counts = state.forests[PERMANENT].forest.route(X), label_counts(state, n_classes)
    total = found.votes.sum(axis=1, keepdims=True)
    is_silent = total[:, 0] == 0
    total[is_silent] = 1.0
    start, steps = found.bias / total, found.contributions / total[..., np.newaxis]
    start[is_silent] = 1 / n_classes
    bias = np.zeros_like(start)
    found.contributions[:] = 0.0
    answers = recent.answers(found.votes, leaves, **counts, tuning=tuning)
    (forests,), *others = answers.voters
    for m, ratio in enumerate(answers.ratios):
        for weight, (probabilities,) in zip(recent.weights[:, m], [(start,), *others], strict=True):
            bias += (weight >= tuning.min_weight) * weight * corrected(probabilities, ratio)
        if recent.weights[FOREST_VOTE, m] >= tuning.min_weight:
            variant = Variant(("forests",), forests, ratio, np.full(len(X), recent.weights[FOREST_VOTE, m]))
            _add_corrected(found.contributions, steps, [_Correction.of(variant, start)])
    votes = recent.adjusted(answers, tuning)
    scale = votes.sum(axis=1) / total[:, 0]
    parts = {name: part._replace(weight=part.weight * scale) for name, part in found.forests.items()}
    return Attribution(votes, bias, found.contributions, parts)


def _mean_steps(state: State, name: str, X: Float64Array, like: Float64Array) -> tuple[Float64Array, Leaves]:
    """Return the contribution of each feature to the class probabilities of a forest, and the leaves of the samples."""
    forest = state.forests[name].forest
    leaves, steps = _leaves_of(forest, X), np.zeros_like(like)
    shrinkage = shrinkage_of(state.evidence, name, state.settings.tuning)
    for tree, leaf in zip(forest.trees, leaves.numbers.T, strict=True):
        tree.add_proba_steps(np.ascontiguousarray(leaf), steps, *shrinkage)
    steps /= len(forest)
    return steps, leaves


def _fill_steps(
    steps: Float64Array, permanent: Float64Array, root: Float64Array, permanent_root: Float64Array, unmet: BoolArray
) -> None:
    """Convert contributions to a forest's probabilities p into contributions to p * (1 - t²) + q * t.

    q are the permanent forest's probabilities of classes that the forest has not seen, t their sum (see `filled`). If
    p, q and t change linearly from the roots to the leaves, the changes of p * t² and of q * t are sums over features
    of means on the path: mean(t²) * change of p + 2 * mean(p * t) * change of t, and mean(q) * change of t + mean(t) *
    change of q.
    """
    taken, taken_root = permanent * unmet, permanent_root * unmet
    change = taken.sum(axis=2, keepdims=True)
    t0, p0 = taken_root.sum(), root
    t1, p1 = t0 + change.sum(axis=1, keepdims=True), root + steps.sum(axis=1, keepdims=True)
    mean_squares = (t0 * t0 + t0 * t1 + t1 * t1) / 3
    mean_products = (2 * p0 * t0 + p0 * t1 + p1 * t0 + 2 * p1 * t1) / 6
    mean_taken = taken_root + taken.sum(axis=1, keepdims=True) / 2
    steps *= 1 - mean_squares
    steps += (mean_taken - 2 * mean_products) * change + taken * (t0 + t1) / 2


class _Correction(NamedTuple):
    """How one variant converts a feature's contribution to a forest's probabilities, a, into one to the votes.

    That is own * a - joint * (a . ratio), with own and joint (n, n_classes).
    """

    own: Float64Array
    joint: Float64Array
    ratio: Float64Array

    @classmethod
    def of(cls, variant: Variant, start: Float64Array) -> _Correction:
        """Return the correction of a variant, given the class probabilities of the voter at its roots."""
        first, second = mean_inverses(start, variant.proba, variant.ratio)
        scale = (variant.weight / len(variant.voter))[:, np.newaxis] * variant.ratio
        return cls(scale * first[:, np.newaxis], scale * second, variant.ratio)


def _add_corrected(contributions: Float64Array, steps: Float64Array, corrections: Sequence[_Correction]) -> None:
    """Add the contributions of features to the votes through a forest, in all variants that it is part of."""
    own = np.sum([one.own for one in corrections], axis=0)
    joint = np.stack([one.joint for one in corrections], axis=1)
    moved = steps @ np.column_stack([one.ratio for one in corrections])
    contributions += own[:, np.newaxis] * steps
    contributions -= moved @ joint


def _votes_of_one(state: State, X: Float64Array, contributions: Float64Array) -> Attribution:
    """Attribute the votes of the one forest that predicts in the paper's algorithm; contributions are filled in."""
    n, _, n_classes = contributions.shape
    forest = state.forests[state.answering].forest
    total, bias, leaves = votes(state, X, n_classes), np.zeros((n, n_classes)), _leaves_of(forest, X)
    for tree, leaf in zip(forest.trees, leaves.numbers.T, strict=True):
        tree.add_vote_steps(np.ascontiguousarray(leaf), contributions, bias, soft=state.settings.soft)
    spoke = total.sum(axis=1, keepdims=True)
    probabilities = np.divide(total, spoke, out=np.zeros_like(total), where=spoke > 0)
    return Attribution(total, bias, contributions, {state.answering: ForestPart(spoke[:, 0], probabilities, leaves)})


def _root_proba(forest: Forest, n_classes: int) -> Float64Array:
    """Return the mean over trees of their class probabilities at the root, (1, n_classes)."""
    mean: Float64Array = np.mean([tree.root_proba(n_classes) for tree in forest.trees], axis=0, keepdims=True)
    return mean


def _leaves_of(forest: Forest, X: Float64Array) -> Leaves:
    """Return the leaves that samples reach, with their batches, causes and contents."""
    columns: list[tuple[AnyArray, ...]] = []
    for tree in forest.trees:
        leaf = tree.route(X)
        columns.append((leaf, tree.born[leaf], tree.cause[leaf], *tree.read_leaves(leaf)))
    return Leaves(*map(np.column_stack, zip(*columns, strict=True)))


def _joined(parts: Sequence[ForestPart]) -> ForestPart:
    """Return the predictions of a forest for all samples, joined from parts."""
    weights, proba, leaves = zip(*parts, strict=True)
    return ForestPart(
        np.concatenate(weights), np.concatenate(proba), Leaves(*map(np.concatenate, zip(*leaves, strict=True)))
    )
