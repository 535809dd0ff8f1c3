"""The cells in which the values of a column are counted, how they adapt to the data, and the distance of two counts.

    numbers      (-inf, b0]  (b0, b1]  ...  (b14, inf)  missing
    categories   code b0     code b1   ...  any other   missing

Bounds of numbers lie between values, except the first and the last one, which are the range of the first samples, and
those around a value so frequent that it has a cell of its own.
"""

from __future__ import annotations

import numpy as np

from adforest.forest.types import Float64Array, Int32Array, Int64Array

N_BOUNDS = 15
OTHER = N_BOUNDS  # the cell of other categories, or of numbers beyond the last bound
MISSING = N_BOUNDS + 1  # the cell of missing values
N_CELLS = N_BOUNDS + 2
NEW_BOUNDS = 8  # within a cell that is split
MIN_VALUES = 20  # to compute bounds from, or of a category that replaces another
FREQUENT = 0.05  # fraction of a batch from which on a category has a cell of its own
CHANCE = 3.0  # standard deviations above its mean up to which a divergence counts as chance


def first_bounds(X: Float64Array, n_categories: Int32Array) -> Float64Array:
    """Return bounds from some samples; all are infinite for a column of too few values.

    Numbers: the range and 13 quantiles. Categories: the most frequent codes.

    Parameters
    ----------
    X : float64 (n, m)
    n_categories : int32 (m,)

    Returns
    -------
    float64 (m, 15)
    """
    bounds = np.full((X.shape[1], N_BOUNDS), np.inf)
    is_number = n_categories == 0
    ordered = np.sort(X, axis=0)  # missing values come last
    n = len(X) - np.isnan(X).sum(axis=0)
    ready = np.flatnonzero(is_number & (n >= MIN_VALUES))
    if len(ready):
        ranks = np.arange(1, N_BOUNDS - 1)[:, np.newaxis] * n[ready] // (N_BOUNDS - 1)
        below, above = ordered[ranks - 1, ready], ordered[ranks, ready]
        bounds[ready, 0] = np.nextafter(ordered[0, ready], -np.inf)
        bounds[ready, 1:-1] = _between(below, above).T
        bounds[ready, -1] = np.nextafter(ordered[n[ready] - 1, ready], np.inf)
        for column in ready[(below == above).any(axis=0)]:
            values = ordered[: n[column], column]
            found = [bounds[column, 0], *cuts(values, N_BOUNDS - 2), bounds[column, -1]]
            bounds[column] = padded(np.array(found))
    for column in np.flatnonzero(~is_number & (n > 0)):
        codes, counts = np.unique(ordered[: n[column], column], return_counts=True)
        most = np.lexsort((codes, -counts))[:N_BOUNDS]
        bounds[column] = padded(codes[np.sort(most)])
    return bounds


def cuts(values: Float64Array, n_cuts: int) -> Float64Array:
    """Return up to n bounds between sorted values, about equal counts between them; frequent values get own cells."""
    n = len(values)
    found = values[np.arange(1, n_cuts + 1) * n // (n_cuts + 1)]
    frequent = np.unique(found[1:][found[1:] == found[:-1]])
    others = found[~np.isin(found, frequent)]
    ranks = np.searchsorted(values, others, side="right")
    ranks[ranks == n] = np.searchsorted(values, others[ranks == n], side="left")
    ranks = ranks[ranks > 0]
    # Values next to a frequent one will come later, and would make its cell one to be split.
    around = np.concatenate([np.nextafter(frequent, -np.inf), np.nextafter(frequent, np.inf)])
    between = np.unique(np.concatenate([_between(values[ranks - 1], values[ranks]), around]))
    inner: Float64Array = between[(between > values[0]) & (between < values[-1])]
    return inner


def split(
    bounds: Float64Array, cell: int, values: Float64Array, weight: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Split a cell of numbers that holds most of them; if all cells are in use, the two emptiest neighbours are joined.

    Parameters
    ----------
    bounds : float64 (15,)
    cell : int
    values : float64
        Those in the cell, sorted, not all the same.
    weight : float64 (17,)
        Count of each cell.

    Returns
    -------
    bounds : float64 (15,)
    fractions : float64 (16, 16)
        Fraction of each old cell that goes to each new one. Counts of the split cell are divided as the values are.
    """
    old = bounds[np.isfinite(bounds)]
    new = cuts(values, NEW_BOUNDS - 1)
    if cell == 0:
        new = np.append(np.nextafter(values[0], -np.inf), new)
    elif cell == len(old):
        new = np.append(new, np.nextafter(values[-1], np.inf))
    kept, weights, cell_now = old.tolist(), weight[: len(old) + 1].tolist(), cell
    while len(kept) + len(new) > N_BOUNDS:
        # The cell to be split is not joined.
        costs = [weights[k] + weights[k + 1] if cell_now not in (k, k + 1) else np.inf for k in range(len(kept))]
        k = costs.index(min(costs))
        del kept[k]
        weights[k : k + 2] = [weights[k] + weights[k + 1]]
        cell_now -= k < cell_now
    after = np.unique(np.append(kept, new))
    fractions = np.zeros((N_BOUNDS + 1, N_BOUNDS + 1))
    fractions[np.arange(len(old) + 1), after.searchsorted(np.append(old, np.inf))] = 1.0
    parts = np.bincount(after.searchsorted(values), minlength=N_BOUNDS + 1)
    fractions[cell] = parts / parts.sum()
    return padded(after), fractions


def with_frequent(
    bounds: Float64Array, codes: Float64Array, counts: Int64Array, n: int, fraction: Float64Array
) -> Float64Array | None:
    """Return the codes that have cells of their own after a batch, or None if they do not change.

    New codes get free cells. If none is free, a code that is frequent in the batch, twice as frequent as the rarest one
    with a cell, replaces it.

    Parameters
    ----------
    bounds : float64 (15,)
    codes, counts : float64, int64
        Those of the batch without a cell of their own.
    n : int
        Samples of the batch with a category.
    fraction : float64 (15,)
        Fraction of all samples so far, of those with a cell.
    """
    kept = bounds[np.isfinite(bounds)].tolist()
    fractions = dict(zip(kept, fraction.tolist(), strict=False))
    changed = False
    for index in np.lexsort((codes, -counts)):
        code, found = float(codes[index]), int(counts[index])
        if len(kept) == N_BOUNDS:
            rarest = min(kept, key=lambda one: (fractions[one], -one))
            if found < MIN_VALUES or found / n < max(FREQUENT, 2 * fractions[rarest]):
                break
            kept.remove(rarest)
        kept.append(code)
        fractions[code], changed = found / n, True
    return padded(np.sort(np.array(kept))) if changed else None


def _between(below: Float64Array, above: Float64Array) -> Float64Array:
    """Return numbers between pairs of numbers, below the greater one unless both are equal."""
    middle: Float64Array = below / 2 + above / 2
    return np.where(middle < above, middle, below)


def padded(bounds: Float64Array) -> Float64Array:
    """Return bounds padded with infinity to 15."""
    return np.append(bounds, np.full(N_BOUNDS - len(bounds), np.inf))


def distances(one: Float64Array, other: Float64Array, n_one: Float64Array, n_other: Float64Array) -> Float64Array:
    """Return the Jensen-Shannon distance of two distributions corrected for chance, 0 where it may be chance.

    To first order, the divergence D in bits of two samples, of n and m samples of one distribution over k cells, is a
    chi-squared variable with the mean E = (k - 1) / (8 ln 2) * (1 / n + 1 / m) and the standard deviation
    E * sqrt(2 / (k - 1)). The distance is sqrt(D - E) where D is more than three standard deviations above E.

    Parameters
    ----------
    one, other : float64 (m, k)
        Counts, or weights, by column and cell.
    n_one, n_other : float64 (m,)
        Effective sample sizes.

    Returns
    -------
    float64 (m,)
        From 0, no change, to 1, no value in common; NaN where a side has no samples.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = one / one.sum(axis=1, keepdims=True), other / other.sum(axis=1, keepdims=True)
        middle = (p + q) / 2
        divergence = (_entropies(middle) - (_entropies(p) + _entropies(q)) / 2).clip(0, 1)
        freedom = np.maximum((middle > 0).sum(axis=1) - 1, 1)
        mean = freedom / (8 * np.log(2)) * (1 / n_one + 1 / n_other)
        limit = mean * (1 + CHANCE * np.sqrt(2 / freedom))
        found: Float64Array = np.sqrt(np.where(divergence > limit, divergence - mean, 0.0))
    found[(one.sum(axis=1) == 0) | (other.sum(axis=1) == 0)] = np.nan
    return found


def _entropies(fractions: Float64Array) -> Float64Array:
    """Return the entropy of each row in bits."""
    entropies: Float64Array = -(fractions * np.log2(np.where(fractions > 0, fractions, 1.0))).sum(axis=1)
    return entropies
