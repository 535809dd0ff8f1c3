"""Tests of significance: the sign test of two methods, Friedman's test of many, Nemenyi's test of average ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adforest.forest.types import Float64Array
from adforest.libraries import require

ALPHA = 0.025  # of one tail, the paper's
CRITICAL_Z = 1.96  # beyond which the paper calls a lead significant


@dataclass(frozen=True)
class SignTest:
    """How often one method is ahead of another.

    Attributes
    ----------
    wins, losses, ties : int
    z : float
        Normal score of the wins with the textbook's correction for continuity; ties do not count.
    """

    wins: int
    losses: int
    ties: int
    z: float

    @property
    def is_significant(self) -> bool:
        """Whether the first is ahead by the paper's rule."""
        return self.z > CRITICAL_Z


def sign_test(ours: Sequence[float] | Float64Array, theirs: Sequence[float] | Float64Array) -> SignTest:
    """Test whether one method is ahead on more than half of the occasions.

    Parameters
    ----------
    ours, theirs : sequence of float
        Figures of both on the same occasions.

    Returns
    -------
    SignTest

    Examples
    --------
    >>> test = sign_test([3, 3, 3, 3, 3, 1, 2], [2, 2, 2, 2, 2, 2, 2])
    >>> test.wins, test.losses, test.ties, round(test.z, 3), test.is_significant
    (5, 1, 1, 1.225, False)
    """
    ahead = np.sign(np.round(np.asarray(ours) - np.asarray(theirs), 12))
    wins, losses = int((ahead > 0).sum()), int((ahead < 0).sum())
    n = wins + losses
    if n == 0:
        return SignTest(0, 0, len(ahead), 0.0)
    excess = wins - n / 2
    z = (excess - math.copysign(min(0.5, abs(excess)), excess)) / (math.sqrt(n) / 2)
    return SignTest(wins, losses, len(ahead) - n, z)


@dataclass(frozen=True)
class RankTest:
    """Average ranks of many methods on the same occasions, and tests of their differences.

    Attributes
    ----------
    ranks : dict of str to float
        Average rank by method, 1 being the best, best first.
    n_blocks : int
        Occasions.
    statistic, p : float
        Friedman's, that all methods are alike.
    difference : float
        Nemenyi's critical difference of average ranks at 5 %.
    pairs : dict of (str, str) to float
        Nemenyi's p by pair of methods.
    """

    ranks: dict[str, float]
    n_blocks: int
    statistic: float
    p: float
    difference: float
    pairs: dict[tuple[str, str], float]


def rank_test(scores: Mapping[str, Sequence[float] | Float64Array]) -> RankTest:
    """Rank methods on each occasion and test whether their average ranks differ.

    Parameters
    ----------
    scores : mapping of str to sequence of float
        By method, three or more, a figure for each occasion, higher being better.

    Returns
    -------
    RankTest
    """
    stats = require("scipy.stats", "Friedman's test", "experiments")
    posthocs = require("scikit_posthocs", "Nemenyi's test", "experiments")
    names = list(scores)
    matrix = np.column_stack([np.asarray(scores[name], dtype=np.float64) for name in names])
    ranks = dict(zip(names, stats.rankdata(-matrix, axis=1).mean(axis=0).tolist(), strict=True))
    statistic, p = stats.friedmanchisquare(*matrix.T)
    pairs = posthocs.posthoc_nemenyi_friedman(matrix).to_numpy()
    return RankTest(
        ranks={name: ranks[name] for name in sorted(names, key=ranks.__getitem__)},
        n_blocks=len(matrix),
        statistic=float(statistic),
        p=float(p),
        difference=critical_difference(len(names), len(matrix)),
        pairs={(a, b): float(pairs[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i != j},
    )


def critical_difference(n_methods: int, n_blocks: int, alpha: float = 2 * ALPHA) -> float:
    """Return how far apart average ranks must be to differ by Nemenyi's test.

    Parameters
    ----------
    n_methods, n_blocks : int
    alpha : float, default=0.05

    Returns
    -------
    float

    Examples
    --------
    >>> round(critical_difference(10, 6), 2)  # Demšar's q of 3.164
    5.53
    """
    range_ = require("scipy.stats", "Nemenyi's test", "experiments").studentized_range
    q = float(range_.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))
