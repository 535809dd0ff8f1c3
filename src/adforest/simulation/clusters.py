"""Streams of Gaussian clusters: classes that appear and vanish, and classes that wander."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adforest.adaptation.report import scenario_of
from adforest.exceptions import ParameterError
from adforest.simulation.batch import Batch, Drawn, check_count, draw_batch

N_COLUMNS = 6
N_CLUSTERS = 3  # of every class, equally likely

# Standard deviations, in units of the noise inside a cluster: where centres lie, and how far they walk in a batch.
# Calibrated on seeds 0 to 4: a random forest of 100 trees refitted on the last three batches has an accuracy of 93 %
# on the tests and of 82 % on the held-out samples of all batches so far, refitted on everything 90 % and 90 %.
SPREAD = 2.24
STEP = 0.39

N_CLASSES = 10
N_FIRST_CLASSES = 5  # present from the start
NEWCOMERS_AT = 10  # the batch that brings the others


@dataclass(frozen=True, eq=False)
class Population:
    """Centres of the clusters of every class, and class frequencies.

    Attributes
    ----------
    centres : ndarray of float64, shape (n_classes, n_clusters, n_columns)
    frequencies : ndarray of float64, shape (n_classes,)
        Class frequencies. They sum to 1; an absent class has 0.
    """

    centres: NDArray[np.float64]
    frequencies: NDArray[np.float64]

    @property
    def classes(self) -> NDArray[np.int64]:
        """The classes that are present."""
        return np.flatnonzero(self.frequencies).astype(np.int64)

    def draw(self, n: int, rng: np.random.Generator) -> Drawn:
        """Return n samples in random order, every class within one sample of its frequency."""
        # Equally spaced points on the cumulative frequencies: no rare class is missed by chance.
        points = (np.arange(n) + rng.random()) / n
        ends = np.cumsum(self.frequencies[self.classes])[:-1]
        y = rng.permutation(self.classes[np.searchsorted(ends, points, side="right")])
        cluster = rng.integers(0, self.centres.shape[1], n)
        return self.centres[y, cluster] + rng.normal(size=(n, self.centres.shape[2])), y


def simulate_new_classes(
    frequencies: ArrayLike,
    *,
    batch_size: int = 1000,
    random_state: int | np.random.Generator | None = None,
) -> Iterator[Batch]:
    """Simulate a stream whose classes appear, vanish and return by a table of class frequencies.

    Every class is made of three Gaussian clusters in six dimensions that do not move. Batches are drawn lazily. Test
    and held-out samples are new draws with the batch's own class frequencies, half and a tenth as many as training
    samples. To test on a class that vanished, include it again in a later row and predict that batch's test before
    learning it, or keep the held-out samples of the batches that had it.

    Parameters
    ----------
    frequencies : array-like, shape (n_batches, n_classes)
        Per batch, the frequency of every class, 0 for an absent one. Rows are scaled to sum to 1, so ones mean equal
        frequencies. Each part of a batch has every class within one sample of its frequency.
    batch_size : int, default=1000
        Number of training samples in a batch.
    random_state : int, Generator or None, default=None
        Random seed or generator; the same seed makes the same stream.

    Yields
    ------
    Batch
        Class values are column indices of the table; ``scenario`` is the paper's name of the batch's known and unknown
        classes, such as ``"MKC"`` or ``"MKUC"``.

    Examples
    --------
    A new class every two batches:

    >>> import numpy as np
    >>> from adforest.simulation import simulate_new_classes
    >>> batch, newcomer = np.ogrid[:6, :3]
    >>> [np.unique(batch.y_train).tolist() for batch in simulate_new_classes(batch >= 2 * newcomer, random_state=0)]
    [[0], [0], [0, 1], [0, 1], [0, 1, 2], [0, 1, 2]]

    Class 0 vanishes after 5 batches, returns after 100 others; class 3 is rare:

    >>> frequencies = np.tile([0.33, 0.33, 0.33, 0.01], (106, 1))
    >>> frequencies[5:105, 0] = 0
    >>> [np.bincount(batch.y_train).tolist() for batch in simulate_new_classes(frequencies, random_state=0)][-2:]
    [[0, 493, 492, 15], [330, 330, 330, 10]]
    """
    table = np.array(frequencies, dtype=np.float64)
    _check_frequencies(table)
    check_count("batch_size", batch_size)
    rng = np.random.default_rng(random_state)
    return _draw_mixtures(table / table.sum(axis=1, keepdims=True), batch_size, rng)


def simulate_clusters(
    *, n_batches: int = 20, batch_size: int = 4000, random_state: int | np.random.Generator | None = None
) -> Iterator[Batch]:
    """Simulate a stream of ten classes whose clusters wander and of which five are new at the tenth batch.

    Every class is made of three Gaussian clusters in six dimensions; from batch to batch each centre takes a step of a
    random walk. Before the tenth batch there are only classes 0 to 4. Half of a test is drawn from the batch's own
    distribution, half from those of the two batches before it, a quarter as many in all as training samples; an eighth
    as many held-out samples are drawn from the batch's own distribution. All are new draws, made lazily.

    Parameters
    ----------
    n_batches : int, default=20
        Number of batches. A longer stream begins like a shorter one.
    batch_size : int, default=4000
        Number of training samples in a batch.
    random_state : int, Generator or None, default=None
        Random seed or generator; the same seed makes the same stream.

    Yields
    ------
    Batch
        Its ``scenario`` is the paper's name of the batch's known and unknown classes.

    Examples
    --------
    >>> from adforest.simulation import simulate_clusters
    >>> first, *_, last = simulate_clusters(random_state=0)
    >>> first.X_train.shape, first.X_test.shape, first.X_held.shape
    ((4000, 6), (1000, 6), (500, 6))
    >>> set(first.y_train.tolist()), last.scenario
    ({0, 1, 2, 3, 4}, 'MKC')
    """
    check_count("n_batches", n_batches)
    check_count("batch_size", batch_size, 16)  # a sample from each of three batches in the test
    rng = np.random.default_rng(random_state)
    return _draw_wandering(n_batches, batch_size, rng)


def _check_frequencies(table: NDArray[np.float64]) -> None:
    """Raise an error unless every row can be scaled to class frequencies."""
    if table.ndim != 2 or not table.size:
        raise ParameterError(f"frequencies has shape {table.shape}; expected (n_batches, n_classes), both at least 1.")
    is_wrong = ~(np.isfinite(table) & (table >= 0))
    if is_wrong.any():
        batch, column = np.argwhere(is_wrong)[0]
        raise ParameterError(
            f"frequencies has {table[batch, column]} for class {column} in batch {batch + 1}; expected finite numbers "
            "of 0 or more. Put 0 for a class that is absent."
        )
    is_empty = table.sum(axis=1) == 0
    if is_empty.any():
        raise ParameterError(
            f"frequencies has only zeros for batch {is_empty.argmax() + 1}; expected one positive frequency at least. "
            "Drop the row, or give a class a share."
        )


def _draw_mixtures(table: NDArray[np.float64], batch_size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield a batch for every row of class frequencies."""
    centres = rng.normal(0, SPREAD, (table.shape[1], N_CLUSTERS, N_COLUMNS))
    known: set[int] = set()
    for number, frequencies in enumerate(table, start=1):
        population = Population(centres, frequencies)
        scenario = scenario_of(population.classes.tolist(), known)
        known.update(population.classes.tolist())
        yield draw_batch(number, scenario, batch_size, partial(population.draw, rng=rng))


def _draw_wandering(n_batches: int, batch_size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield the batches of wandering clusters."""
    centres = rng.normal(0, SPREAD, (N_CLASSES, N_CLUSTERS, N_COLUMNS))
    recent: deque[Population] = deque(maxlen=3)
    known: set[int] = set()
    for number in range(1, n_batches + 1):
        n_classes = N_FIRST_CLASSES if number < NEWCOMERS_AT else N_CLASSES
        recent.append(Population(centres, (np.arange(N_CLASSES) < n_classes) / n_classes))
        scenario = scenario_of(range(n_classes), known)
        known.update(range(n_classes))
        train = recent[-1].draw(batch_size, rng)
        test = _draw_recent(recent, batch_size // 4, rng)
        yield Batch(number, scenario, *train, *test, *recent[-1].draw(batch_size // 8, rng))
        centres = centres + rng.normal(0, STEP, centres.shape)


def _draw_recent(recent: deque[Population], n: int, rng: np.random.Generator) -> Drawn:
    """Return samples of which half come from the latest population and half from those before it, if there are any."""
    *earlier, latest = recent
    n_each = n // 2 // len(earlier) if earlier else 0
    parts = [population.draw(n_each, rng) for population in earlier]
    parts.append(latest.draw(n - n_each * len(earlier), rng))
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])
