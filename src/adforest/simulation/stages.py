"""The stages of the paper's 34 batches (known, unknown and mixed classes), and houses in such batches.

The class values are split between two halves. A *stage* is a run of batches with one recipe: how much comes from which
half, and how much of that from one region of the half's samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adforest.exceptions import ParameterError
from adforest.simulation.batch import Batch, check_count
from adforest.simulation.house import LARGE_AREA, RENTS, make_house

Houses = tuple[NDArray[np.float64], NDArray[np.generic]]  # X and y


@dataclass(frozen=True)
class Stage:
    """A run of batches that follow one recipe.

    Attributes
    ----------
    scenario : str
        The paper's name of the recipe.
    n_batches : int
        Number of batches that follow it.
    size : float
        Samples per batch, in thousands on the paper's LDPA stream; other data sets keep the proportions.
    from_first_half : float
        Fraction of each batch that comes from the first half's classes; the rest comes from the second.
    from_large_leaves : float or None
        Fraction that comes from the two largest leaves of a tree on the half; None where leaves do not matter. For the
        houses below: fraction of those whose area is 400 or more.
    is_single_class : bool
        Whether each batch holds one class value only.
    """

    scenario: str
    n_batches: int
    size: float
    from_first_half: float
    from_large_leaves: float | None = None
    is_single_class: bool = False


STAGES = {
    stage.scenario: stage
    for stage in (
        Stage("MKC-1", 4, 4.0, from_first_half=1.0, from_large_leaves=0.25),
        Stage("MKC-2", 4, 4.2, from_first_half=1.0, from_large_leaves=0.75),
        Stage("SKC", 3, 5.0, from_first_half=1.0, is_single_class=True),
        Stage("SUC", 3, 5.0, from_first_half=0.0, is_single_class=True),
        Stage("MUC-1", 4, 4.6, from_first_half=0.0, from_large_leaves=0.25),
        Stage("MUC-2", 4, 4.6, from_first_half=0.0, from_large_leaves=0.75),
        Stage("MKUC-1", 4, 5.9, from_first_half=0.75),
        Stage("MKUC-2", 4, 5.9, from_first_half=0.25),
        Stage("MKUC-3", 4, 6.5, from_first_half=0.5),
    )
}

TEST_SHARE = 0.1  # of a batch, for its own test
HELD_SHARE = 0.1  # of a batch, for the tests of later batches
SMALLEST_BATCH = 10  # below this the fractions above are less than a sample


def simulate_houses(n_samples: int = 150_000, *, random_state: int | np.random.Generator | None = None) -> list[Batch]:
    """Simulate 34 batches of rented houses whose classes change as in the paper's stream.

    Four of the seven rents are in the first half of the classes, three in the second: batches of the first half, of one
    class of it, of one class of the second, of the second half, and of both. Of a batch 80 % are training samples, 10 %
    test samples and 10 % held out; the test also has as many held-out houses of the two batches before.

    Parameters
    ----------
    n_samples : int, default=150_000
        Number of houses of all batches together.
    random_state : int, Generator or None, default=None
        Random seed or generator; the same seed makes the same stream.

    Returns
    -------
    list of Batch
        ``scenario`` is the name of the stage. Columns are those of `make_house`.

    Examples
    --------
    >>> from adforest.simulation import simulate_houses
    >>> batches = simulate_houses(20_000, random_state=0)
    >>> len(batches), batches[0], batches[-1].scenario
    (34, Batch 1 (MKC-1): 370 samples to learn, 46 to test, 46 held out, 'MKUC-3')
    """
    check_count("n_samples", n_samples)
    unit = n_samples / sum(stage.n_batches * stage.size for stage in STAGES.values())
    smallest = unit * min(stage.size for stage in STAGES.values())
    if smallest < SMALLEST_BATCH:
        raise ParameterError(
            f"{n_samples} samples make batches of {int(smallest)} but a batch needs at least {SMALLEST_BATCH}. "
            f"Give {int(1 + n_samples * SMALLEST_BATCH / smallest)} samples or more."
        )
    rng = np.random.default_rng(random_state)
    halves = np.split(rng.permutation(RENTS), [(len(RENTS) + 1) // 2])
    batches: list[Batch] = []
    for stage in STAGES.values():
        for rents in _rents_of_batches(stage, halves, rng):
            houses = _draw_batch(stage, rents, int(unit * stage.size), rng)
            batches.append(_cut_batch(stage.scenario, houses, batches, rng))
    return batches


def _rents_of_batches(
    stage: Stage, halves: list[NDArray[np.str_]], rng: np.random.Generator
) -> Iterator[list[NDArray[np.str_]]]:
    """Yield the rents of the first and of the second half that each batch of a stage may have."""
    if not stage.is_single_class:
        yield from [halves] * stage.n_batches
        return
    own = halves[0] if stage.from_first_half else halves[1]
    for rent in rng.choice(own, stage.n_batches, replace=False):
        yield [np.array([rent])] * 2


def _draw_batch(stage: Stage, rents: list[NDArray[np.str_]], n: int, rng: np.random.Generator) -> Houses:
    """Return the houses of a batch in random order."""
    n_first = round(n * stage.from_first_half)
    parts = []
    for own, n_own in zip(rents, (n_first, n - n_first), strict=True):
        if stage.from_large_leaves is None:
            parts.append(_draw_houses(n_own, own, (0, np.inf), rng))
        else:
            n_large = round(n_own * stage.from_large_leaves)
            parts.append(_draw_houses(n_large, own, (LARGE_AREA, np.inf), rng))
            parts.append(_draw_houses(n_own - n_large, own, (0, LARGE_AREA), rng))
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = rng.permutation(n)
    return X[order], y[order]


def _draw_houses(n: int, rents: NDArray[np.str_], area: tuple[float, float], rng: np.random.Generator) -> Houses:
    """Return n houses of these rents with an area from the first bound to below the second."""
    found: list[Houses] = []
    n_found = 0
    while n_found < n or not found:
        house = make_house(2 * n + 1, random_state=rng)
        fits = np.isin(house.y, rents) & (house.X[:, 0] >= area[0]) & (house.X[:, 0] < area[1])
        found.append((house.X[fits], house.y[fits]))
        n_found += int(fits.sum())
    X, y = (np.concatenate(arrays)[:n] for arrays in zip(*found, strict=True))
    return X, y


def _cut_batch(scenario: str, houses: Houses, earlier: list[Batch], rng: np.random.Generator) -> Batch:
    """Return a batch of houses, split into training, test and held-out samples."""
    n_test, n_held = (round(fraction * len(houses[1])) for fraction in (TEST_SHARE, HELD_SHARE))
    (X_own, X_held, X_train), (y_own, y_held, y_train) = (np.split(one, [n_test, n_test + n_held]) for one in houses)
    recent = earlier[-2:]
    borrowed = rng.permutation(sum(len(batch.y_held) for batch in recent))[:n_test]
    X_recent = np.concatenate([X_own[:0], *(batch.X_held for batch in recent)])[borrowed]
    y_recent = np.concatenate([y_own[:0], *(batch.y_held for batch in recent)])[borrowed]
    X_test, y_test = np.concatenate([X_own, X_recent]), np.concatenate([y_own, y_recent])
    return Batch(len(earlier) + 1, scenario, X_train, y_train, X_test, y_test, X_held, y_held)
