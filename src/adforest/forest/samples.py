"""A block of encoded samples, groups of them by leaf, and how trees are grown from them."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from adforest.forest.types import AnyArray, Float64Array, Int32Array, Int64Array, UInt16Array


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """Counts over all samples of a batch, including those that are not drawn.

    Attributes
    ----------
    n : int
        How many there are.
    by_class : int64 (n_classes,)
        How many of each class.
    weight_by_class : float64 (n_classes,)
        Sum of their weights, by class.
    """

    n: int
    by_class: Int64Array
    weight_by_class: Float64Array


@dataclass(frozen=True, slots=True)
class Samples:
    """Encoded samples, and the numbers of classes and categories.

    Parameters
    ----------
    X : float64 (n, m)
        Values; categorical features hold category codes, NaN is missing.
    y : int32 (n,)
        Class codes.
    serial : int64 (n,)
        A number of its own for every sample ever seen; fixes its bootstrap weight in each tree.
    n_categories : int32 (m,)
        Categories known per feature, 0 for numerical ones.
    n_classes : int
        Classes known.
    codes : (codes, edges, n_codes), optional
        Result of `bin_columns` for X, shared by all trees that are grown from these samples.
    weight : float64 (n,), optional
        How much each sample counts, above 0; by default once.
    totals : Totals, optional
        Of the batch that the samples are drawn from; None where they are all of it.
    regrouped : (intp (k,), float64 (n, k)), optional
        Columns, and their codes before this batch, which made some categories frequent or infrequent.
    """

    X: Float64Array
    y: Int32Array
    serial: Int64Array
    n_categories: Int32Array
    n_classes: int
    codes: tuple[UInt16Array, Float64Array, Int32Array] | None = None
    weight: Float64Array | None = None
    totals: Totals | None = None
    regrouped: tuple[Int64Array, Float64Array] | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def batch_totals(self) -> Totals:
        """Counts over the whole batch."""
        if self.totals is not None:
            return self.totals
        by_class = np.bincount(self.y, minlength=self.n_classes)
        weights = np.bincount(self.y, self.weight, minlength=self.n_classes).astype(np.float64)
        return Totals(len(self), by_class, weights)

    def part(self, positions: slice | AnyArray) -> "Samples":
        """Return the samples at some positions, to be coded by themselves."""
        X, y, serial = self.X[positions], self.y[positions], self.serial[positions]
        weight = self.weight_at(positions)
        return replace(self, X=X, y=y, serial=serial, codes=None, weight=weight, totals=None, regrouped=None)

    def as_before(self) -> "Samples":
        """Return the samples as the model before this batch reads them."""
        if self.regrouped is None:
            return self
        X, (columns, values) = self.X.copy(), self.regrouped
        X[:, columns] = values
        return replace(self, X=X, codes=None, regrouped=None)

    def of_columns(self, n: int) -> "Samples":
        """Return the samples with their first n columns alone."""
        if n == self.X.shape[1]:
            return self
        X = np.ascontiguousarray(self.X[:, :n])
        return replace(self, X=X, n_categories=self.n_categories[:n], codes=None)

    def weight_at(self, positions: slice | AnyArray) -> Float64Array | None:
        """Return how much the samples at some positions count, None where all count once."""
        return None if self.weight is None else self.weight[positions]

    def joined(self, later: "Samples") -> "Samples":
        """Return these samples followed by later ones, which may know more categories and classes."""
        totals = None
        if self.totals is not None or later.totals is not None:
            one, other = replace(self, n_classes=later.n_classes).batch_totals, later.batch_totals
            totals = Totals(one.n + other.n, one.by_class + other.by_class, one.weight_by_class + other.weight_by_class)
        return Samples(
            np.concatenate([self.X, later.X]),
            np.concatenate([self.y, later.y]),
            np.concatenate([self.serial, later.serial]),
            later.n_categories,
            later.n_classes,
            weight=joined_weights(self.weight, len(self), later.weight, len(later)),
            totals=totals,
        )


def joined_weights(
    earlier: Float64Array | None, n_earlier: int, later: Float64Array | None, n_later: int
) -> Float64Array | None:
    """Return the weights of two blocks of samples one after the other, None where all count once."""
    if earlier is None and later is None:
        return None
    return np.concatenate(
        [np.ones(n) if weight is None else weight for weight, n in ((earlier, n_earlier), (later, n_later))]
    )


class Groups(NamedTuple):
    """Samples of some leaves of a tree, one group a leaf; group g is ``indices[start[g]:start[g + 1]]``.

    Attributes
    ----------
    indices : int32
        Positions of samples in a block, one group after the other.
    weights : uint16
        How often each of these samples counts.
    start : int64 (n_groups + 1,)
    node : int32 (n_groups,)
        Number of each group's leaf.
    depth : int32 (n_groups,)
        Its distance from the root, which a `TreeEditor` fills in.
    """

    indices: Int32Array
    weights: UInt16Array
    start: Int64Array
    node: Int32Array
    depth: Int32Array | None = None


@dataclass(frozen=True, slots=True)
class GrowthParams:
    """How a subtree is grown.

    Attributes
    ----------
    max_features : int
        Features drawn at each node.
    min_samples_leaf : int
        Samples a leaf must keep.
    max_bins : int
        Codes per numerical feature while a node is large; at most 255.
    max_depth : int or None
        Limit of the whole tree.
    by_ratio : bool
        Choose splits as C4.5 does: of all features, by gain ratio among those of at least average gain.
    prune_confidence : float
        Prune by C4.5's estimate of errors with this confidence; 0 for not at all.
    criterion : {"entropy", "gini", "auto"}
        Impurity measure; "auto" is entropy, but at nodes of many classes in every other tree, by seed, "gini". C4.5
        uses entropy.
    draws : int32 (n,) or None
        List that a node draws its features from, see `adforest.growers.sampling_by_worth`; None: uniformly from all.
    """

    max_features: int
    min_samples_leaf: int = 1
    max_bins: int = 255
    max_depth: int | None = None
    by_ratio: bool = False
    prune_confidence: float = 0.0
    criterion: str = "entropy"
    draws: Int32Array | None = field(default=None, compare=False)
