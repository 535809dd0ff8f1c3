"""A block of encoded records, and groups of them by leaf: what growers build from."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adforest.forest.types import Bytes, Floats, Ints, Longs, Words16


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
    """

    X: Floats
    y: Ints
    serial: Longs
    n_categories: Ints
    n_classes: int
    codes: tuple[Words16, Floats, Ints] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def since(self, first: int) -> "Records":
        """Return the records from a place on, to be coded by themselves."""
        return Records(self.X[first:], self.y[first:], self.serial[first:], self.n_categories, self.n_classes)

    def joined(self, later: "Records") -> "Records":
        """Return these records followed by later ones, which may know more categories and classes."""
        return Records(
            np.concatenate([self.X, later.X]),
            np.concatenate([self.y, later.y]),
            np.concatenate([self.serial, later.serial]),
            later.n_categories,
            later.n_classes,
        )


class Groups(NamedTuple):
    """Records of some leaves of a tree, one group a leaf; group g is ``samples[start[g]:start[g + 1]]``.

    Attributes
    ----------
    samples : int32
        Positions of records in a block, one group after the other.
    weights : uint8
        How often each of these records counts.
    start : int64 (n_groups + 1,)
    node, depth : int32 (n_groups,)
        Number and distance from the root of each group's leaf.
    """

    samples: Ints
    weights: Bytes
    start: Longs
    node: Ints
    depth: Ints
