"""The trees of NCM forests: a node sends a sample to the side of its nearest class mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array
from experiments.rivals.means import ClassSums, squared_distances


class Rule(NamedTuple):
    """What an inner node goes by: means of the classes that were there, and which of them are positive.

    The positive side is the left child, the right one is its neighbour.
    """

    left: int
    means: Float64Array
    positive: BoolArray

    def sends_left(self, X: Float64Array) -> BoolArray:
        """Return which samples are nearest to a positive mean."""
        sides: BoolArray = self.positive[squared_distances(X, self.means).argmin(axis=1)]
        return sides


class NCMParams(NamedTuple):
    """How trees grow: random assignments of signs tried at a node, and the samples a leaf must keep."""

    n_assignments: int
    min_samples_leaf: int


@dataclass(frozen=True, slots=True, eq=False)
class NCMTree:
    """One tree; whatever changes one makes another.

    Attributes
    ----------
    rules : mapping of int to Rule
        By inner node. Node 0 is the root; a node without a rule is a leaf.
    counts : float64 (n_nodes, n_classes)
        Samples by leaf and class.
    """

    rules: Mapping[int, Rule]
    counts: Float64Array

    @classmethod
    def bare(cls, n_classes: int) -> NCMTree:
        """Return a tree of one empty leaf."""
        return cls({}, np.zeros((1, n_classes)))

    @property
    def n_leaves(self) -> int:
        """Nodes without a rule."""
        return len(self.counts) - len(self.rules)

    def route(self, X: Float64Array) -> Int64Array:
        """Return the number of the leaf that each sample reaches."""
        leaf = np.zeros(len(X), dtype=np.int64)
        waiting = [(0, np.arange(len(X)))]
        while waiting:
            node, rows = waiting.pop()
            leaf[rows] = node
            if node in self.rules and len(rows):
                rule = self.rules[node]
                left = rule.sends_left(X[rows])
                waiting += [(rule.left, rows[left]), (rule.left + 1, rows[~left])]
        return leaf

    def vote(self, X: Float64Array) -> Float64Array:
        """Return the shares of the classes in the leaf that each sample reaches."""
        held = self.counts.sum(axis=1, keepdims=True)
        shares = np.divide(self.counts, held, out=np.zeros_like(self.counts), where=held > 0)
        answers: Float64Array = shares[self.route(X)]
        return answers

    def counting(self, leaf: Int64Array, y: Int32Array, n_classes: int) -> NCMTree:
        """Return the tree with samples added to the counts of their leaves; there may be more classes than before."""
        counts = np.pad(self.counts, ((0, 0), (0, n_classes - self.counts.shape[1])))
        np.add.at(counts, (leaf, y), 1.0)
        return NCMTree(self.rules, counts)

    def grown(
        self,
        groups: Mapping[int, Int64Array],
        X: Float64Array,
        y: Int32Array,
        params: NCMParams,
        rng: np.random.Generator,
    ) -> NCMTree:
        """Return the tree with a subtree at each given leaf, grown from its group of samples (by position).

        The new leaves hold these samples, and what the old ones held is dropped.
        """
        rules, n_nodes, n_classes = dict(self.rules), len(self.counts), self.counts.shape[1]
        counts: dict[int, Float64Array] = {}
        waiting = list(groups.items())
        while waiting:
            node, rows = waiting.pop()
            found = _best_rule(X[rows], y[rows], n_nodes, params, rng)
            if found is None:
                counts[node] = np.bincount(y[rows], minlength=n_classes).astype(np.float64)
                continue
            rules[node], left = found
            counts[node] = np.zeros(n_classes)
            waiting += [(n_nodes, rows[left]), (n_nodes + 1, rows[~left])]
            n_nodes += 2
        held = np.pad(self.counts, ((0, n_nodes - len(self.counts)), (0, 0)))
        for node, row in counts.items():
            held[node] = row
        return NCMTree(rules, held)


def _best_rule(
    X: Float64Array, y: Int32Array, left: int, params: NCMParams, rng: np.random.Generator
) -> tuple[Rule, BoolArray] | None:
    """Return the rule of the best assignment and the samples it sends left; None where no assignment helps."""
    if len(y) < 2 * params.min_samples_leaf or (y == y[0]).all():
        return None
    present, codes = np.unique(y, return_inverse=True)
    k = len(present)
    means = ClassSums.of(X, codes, k).means
    nearest = squared_distances(X, means).argmin(axis=1)
    table = np.bincount(nearest * k + codes, minlength=k * k).reshape(k, k)  # by nearest mean and by class
    positive = _assignments(k, params.n_assignments, rng)
    to_left = positive @ table
    gains = _gains(to_left, table.sum(axis=0) - to_left, params.min_samples_leaf)
    best = int(gains.argmax())
    if gains[best] <= 0:
        return None
    rule = Rule(left, means, positive[best])
    return rule, rule.positive[nearest]


def _assignments(k: int, n: int, rng: np.random.Generator) -> BoolArray:
    """Draw n times which of k means are positive; never all of them, never none.

    The first one always is: with all signs turned round, the two sides would only change places.
    """
    positive = rng.random((n, k)) < 0.5
    positive[:, 0] = True
    alike = np.flatnonzero(positive.all(axis=1))
    positive[alike, rng.integers(1, k, len(alike))] = False
    return positive


def _gains(left: Int64Array, right: Int64Array, min_samples_leaf: int) -> Float64Array:
    """Return the entropy gain of each assignment, in bits times samples; 0 where a side is too small.

    Parameters
    ----------
    left, right : int64 (n_assignments, k)
        Samples by class on either side.
    """
    gains = _entropy(left + right) - _entropy(left) - _entropy(right)
    too_small = np.minimum(left.sum(axis=1), right.sum(axis=1)) < min_samples_leaf
    # What is no more than rounding gains nothing: a cut must tell classes apart.
    worth: Float64Array = np.where(too_small | (gains < 1e-9), 0.0, gains)
    return worth


def _entropy(counts: Int64Array) -> Float64Array:
    """Return the entropy of each row of counts, in bits, times its sum."""
    total = counts.sum(axis=1)
    entropy: Float64Array = _xlogx(total) - _xlogx(counts).sum(axis=1)
    return entropy


def _xlogx(x: Int64Array) -> Float64Array:
    """Return x·log2 x, and 0 for 0."""
    logarithms: Float64Array = np.log2(np.maximum(x, 1))
    return x * logarithms
