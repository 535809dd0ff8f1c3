"""A block of encoded records, and groups of them by leaf: what growers build from."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from adforest.forest.types import AnyArray, Floats, Ints, Longs, Words16


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """What is known of all records of a batch, also of those that are not learnt from.

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
    by_class: Longs
    weight_by_class: Floats


@dataclass(frozen=True, slots=True)
class Records:
    """Encoded records and what must be known to read them.

    Parameters
    ----------
    X : float64 (n, m)
        Values; categorical attributes hold category codes, NaN is missing.
    y : int32 (n,)
        Class codes.
    serial : int64 (n,)
        A number of its own for every record ever seen; fixes its bootstrap weight in each tree.
    n_categories : int32 (m,)
        Categories known per attribute, 0 for numerical ones.
    n_classes : int
        Classes known.
    codes : (codes, edges, n_codes), optional
        What `bin_columns` makes of X, for all who grow from these records.
    weight : float64 (n,), optional
        How much each record counts, above 0; by default once.
    totals : Totals, optional
        Of the batch that the records are drawn from; None where they are all of it.
    regrouped : (intp (k,), float64 (n, k)), optional
        Columns, and what they were to the model before this batch, which made some categories frequent or infrequent.
    """

    X: Floats
    y: Ints
    serial: Longs
    n_categories: Ints
    n_classes: int
    codes: tuple[Words16, Floats, Ints] | None = None
    weight: Floats | None = None
    totals: Totals | None = None
    regrouped: tuple[Longs, Floats] | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def came(self) -> Totals:
        """What is known of the whole batch."""
        if self.totals is not None:
            return self.totals
        by_class = np.bincount(self.y, minlength=self.n_classes)
        weights = np.bincount(self.y, self.weight, minlength=self.n_classes).astype(np.float64)
        return Totals(len(self), by_class, weights)

    def since(self, first: int) -> "Records":
        """Return the records from a place on, to be coded by themselves."""
        return self.part(slice(first, None))

    def part(self, positions: slice | AnyArray) -> "Records":
        """Return the records at some positions, to be coded by themselves."""
        X, y, serial = self.X[positions], self.y[positions], self.serial[positions]
        weight = self.weight_at(positions)
        return replace(self, X=X, y=y, serial=serial, codes=None, weight=weight, totals=None, regrouped=None)

    def as_before(self) -> "Records":
        """Return the records as the model before this batch reads them."""
        if self.regrouped is None:
            return self
        X, (columns, values) = self.X.copy(), self.regrouped
        X[:, columns] = values
        return replace(self, X=X, codes=None, regrouped=None)

    def of_columns(self, n: int) -> "Records":
        """Return the records with their first n columns alone."""
        if n == self.X.shape[1]:
            return self
        X = np.ascontiguousarray(self.X[:, :n])
        return replace(self, X=X, n_categories=self.n_categories[:n], codes=None)

    def weight_at(self, positions: slice | AnyArray) -> Floats | None:
        """Return how much the records at some positions count, None where all count once."""
        return None if self.weight is None else self.weight[positions]

    def joined(self, later: "Records") -> "Records":
        """Return these records followed by later ones, which may know more categories and classes."""
        totals = None
        if self.totals is not None or later.totals is not None:
            one, other = replace(self, n_classes=later.n_classes).came, later.came
            totals = Totals(one.n + other.n, one.by_class + other.by_class, one.weight_by_class + other.weight_by_class)
        return Records(
            np.concatenate([self.X, later.X]),
            np.concatenate([self.y, later.y]),
            np.concatenate([self.serial, later.serial]),
            later.n_categories,
            later.n_classes,
            weight=joined_weights(self.weight, len(self), later.weight, len(later)),
            totals=totals,
        )


def joined_weights(earlier: Floats | None, n_earlier: int, later: Floats | None, n_later: int) -> Floats | None:
    """Return the weights of two blocks of records one after the other, None where all count once."""
    if earlier is None and later is None:
        return None
    return np.concatenate(
        [np.ones(n) if weight is None else weight for weight, n in ((earlier, n_earlier), (later, n_later))]
    )


class Groups(NamedTuple):
    """Records of some leaves of a tree, one group a leaf; group g is ``samples[start[g]:start[g + 1]]``.

    Attributes
    ----------
    samples : int32
        Positions of records in a block, one group after the other.
    weights : uint16
        How often each of these records counts.
    start : int64 (n_groups + 1,)
    node, depth : int32 (n_groups,)
        Number and distance from the root of each group's leaf.
    """

    samples: Ints
    weights: Words16
    start: Longs
    node: Ints
    depth: Ints
