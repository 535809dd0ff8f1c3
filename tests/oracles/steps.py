"""What attributes add to answers, node by node."""

from itertools import pairwise

import numpy as np

from oracles.routing import walk

ENOUGH = 0.99  # of a share that is given: the node at hand gets the rest


def path_to(tree, sample):
    """Return the nodes that a sample passes, the root first."""
    return walk(tree.nodes.tolist(), tree.category_bits.tolist(), np.asarray(sample).tolist())


def share_of(row, n_classes):
    """Return class shares of {class: weight}."""
    return np.bincount(list(row), list(row.values()), n_classes) / sum(row.values())


def shrunk_on_the_way(weights, path, n_classes, strengths, mix):
    """Return what a tree would answer if each node of a path were a leaf, given what `sums` returns for it."""
    answers = [share_of(weights[0], n_classes)]
    for above, node in pairwise(path):
        n = sum(weights[above].values())
        kept = sum(m * n / (n + s) for s, m in zip(strengths, mix, strict=True)) if n else 0.0
        step = np.zeros(n_classes)
        if weights[node]:
            step = share_of(weights[node], n_classes) - share_of(weights[above], n_classes)
        answers.append(answers[-1] + step * (1.0 if kept > ENOUGH else kept))
    return answers


def voted_on_the_way(weights, path, n_classes, *, soft):
    """Return the vote of each node of a path if it were a leaf; none where the leaf at its end is empty."""
    answers = []
    if not weights[path[-1]]:
        return [np.zeros(n_classes)] * len(path)
    for node in path:
        row = weights[node]
        first = min(k for k in row if row[k] == max(row.values()))
        answers.append(share_of(row, n_classes) if soft else np.eye(n_classes)[first])
    return answers


def credited(tree, path, answers, n_features):
    """Return what each attribute adds along a path: the change of the answer after a node that asks about it."""
    added = np.zeros((n_features, len(answers[0])))
    for node, before, after in zip(path, answers, answers[1:], strict=False):
        added[tree.nodes["split"][node] >> 2] += after - before
    return added


def aumann_shapley(start, steps, changed, n_points=64):
    """Return what steps (n_features, n_classes) from some shares add to what a function makes of rows of shares.

    The derivative of the function along each step, by a complex step, is integrated over the straight way.
    """
    places, weights = np.polynomial.legendre.leggauss(n_points)
    total, tiny = np.zeros_like(steps), 1e-30
    for s, weight in zip((places + 1) / 2, weights / 2, strict=True):
        total += weight * changed(start + s * steps.sum(axis=0) + 1j * tiny * steps).imag / tiny
    return total


def corrected(proba, ratio):
    """Return probabilities corrected by a ratio."""
    return proba * ratio / (proba * ratio).sum(axis=-1, keepdims=True)


def calibrated(votes, weights, seen):
    """Return votes sharpened, as they are and alike for all classes that were seen, mixed."""
    p = votes / votes.sum(axis=1, keepdims=True)
    uniform = np.pad(seen > 0, (0, votes.shape[1] - len(seen))) / (seen > 0).sum()
    return weights[0] * p**3 / (p**3).sum(axis=1, keepdims=True) + weights[1] * p + weights[2] * uniform
