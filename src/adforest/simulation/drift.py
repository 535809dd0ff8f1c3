"""Streams with real drift: the concept changes abruptly, gradually or temporarily."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial

import numpy as np

from adforest.exceptions import ParameterError
from adforest.simulation.batch import Batch, check_count, draw_batch
from adforest.simulation.concepts import FAMILIES, Family, Mixture

# The fewest batches in which a kind of drift differs from the others.
SHORTEST = {"none": 1, "abrupt": 4, "gradual": 4, "temporary": 12, "recurring": 6}
INTERRUPTION = 2  # batches of a temporary concept


def simulate_drift(
    kind: str = "abrupt",
    concept: str = "sea",
    *,
    n_batches: int = 40,
    batch_size: int = 1000,
    random_state: int | np.random.Generator | None = None,
) -> Iterator[Batch]:
    """Simulate a stream with real drift: P(class | features) changes, the distribution of the features does not.

    Batches are drawn lazily and not kept, so a stream may be of any length. Test and held-out samples are new draws
    from the same mixture of concepts as the batch, half and a tenth as many as training samples, with the same noise:
    no model can have an accuracy above one minus the noise.

    Parameters
    ----------
    kind : {"none", "abrupt", "gradual", "temporary", "recurring"}, default="abrupt"
        How the concept changes. ``"none"``: never. ``"abrupt"``: to a new one after every quarter of the stream.
        ``"gradual"``: the fraction of samples of the new one rises over the quarter in the middle. ``"temporary"``:
        after every quarter another one holds for two batches, then the first returns. ``"recurring"``: two concepts
        alternate every eighth of the stream, two batches at the least.
    concept : {"sea", "hyperplane", "rules"}, default="sea"
        The concept family. ``"sea"``: whether two of three features sum up to a threshold; 10 % noise.
        ``"hyperplane"``: the side of a plane in ten dimensions that turns by 60 degrees; 5 % noise. ``"rules"``: one of
        four rule lists over three numerical and three categorical features, five classes; 5 % noise.
    n_batches : int, default=40
        Number of batches; the times of the changes scale with it, see :func:`drift_points`.
    batch_size : int, default=1000
        Number of training samples in a batch.
    random_state : int, Generator or None, default=None
        Random seed or generator; the same seed makes the same stream.

    Yields
    ------
    Batch
        Its ``scenario`` is the current concept, from ``"A"`` to ``"D"``, or two of them while they are mixed:
        ``"A+B"``.

    Examples
    --------
    >>> from adforest.simulation import drift_points, simulate_drift
    >>> stream = simulate_drift("gradual", "rules", n_batches=8, random_state=0)
    >>> [batch.scenario for batch in stream]
    ['A', 'A', 'A', 'A+B', 'A+B', 'B', 'B', 'B']
    >>> drift_points("gradual", 8)
    [4]
    """
    drift_points(kind, n_batches)  # raises for a wrong kind or length now, not at the first batch
    family = _family(concept)
    check_count("batch_size", batch_size)
    rng = np.random.default_rng(random_state)
    return _draw_batches(kind, family(rng), n_batches, batch_size)


def drift_points(kind: str, n_batches: int) -> list[int]:
    """Return the batches at which a simulated stream changes.

    Parameters
    ----------
    kind : {"none", "abrupt", "gradual", "temporary", "recurring"}
        How the concept changes, as for :func:`simulate_drift`.
    n_batches : int
        Number of batches.

    Returns
    -------
    list of int
        The numbers, from 1, of the first batches with another concept than the batch before. Of a gradual change it is
        the first batch with samples of the new concept.

    Examples
    --------
    >>> from adforest.simulation import drift_points
    >>> drift_points("temporary", 40)
    [11, 13, 21, 23, 31, 33]
    """
    if kind not in SHORTEST:
        raise ParameterError(f"there is no drift of kind {kind!r}; expected one of {', '.join(SHORTEST)}.")
    check_count(f"n_batches of a stream with drift of kind {kind!r}", n_batches, SHORTEST[kind])
    quarters = [1 + k * n_batches // 4 for k in (1, 2, 3)]
    turn = max(2, n_batches // 8)
    return {
        "none": [],
        "abrupt": quarters,
        "gradual": [1 + 3 * n_batches // 8],
        "temporary": [point for start in quarters for point in (start, start + INTERRUPTION)],
        "recurring": list(range(1 + turn, n_batches + 1, turn)),
    }[kind]


def concept_categorical(concept: str) -> tuple[bool, ...]:
    """Return which columns of a simulated stream hold categories.

    Parameters
    ----------
    concept : {"sea", "hyperplane", "rules"}
        The concept family, as for :func:`simulate_drift`.

    Returns
    -------
    tuple of bool
        One entry per column, for ``categorical_features``.

    Examples
    --------
    >>> from adforest.simulation import concept_categorical
    >>> concept_categorical("rules")
    (False, False, False, True, True, True)
    """
    return _family(concept).categorical


def _family(concept: str) -> type[Family]:
    """Return the family of concepts of that name."""
    if concept not in FAMILIES:
        raise ParameterError(f"there is no concept {concept!r}; expected one of {', '.join(FAMILIES)}.")
    return FAMILIES[concept]


def _draw_batches(kind: str, family: Family, n_batches: int, batch_size: int) -> Iterator[Batch]:
    """Yield the batches of a stream one by one."""
    points = drift_points(kind, n_batches)
    for number in range(1, n_batches + 1):
        mixture = _mixture(kind, n_batches, points, number)
        yield draw_batch(number, mixture.name, batch_size, partial(family.draw, mixture=mixture))


def _mixture(kind: str, n_batches: int, points: list[int], number: int) -> Mixture:
    """Return the concepts of a batch."""
    n_changes = bisect_right(points, number)
    if kind == "gradual":
        steps = n_batches // 4 + 1
        return Mixture(0, 1, min(max(number - points[0] + 1, 0), steps) / steps)
    if kind == "temporary":
        is_interruption = n_changes % 2 == 1
        n_changes = (n_changes + 1) // 2 if is_interruption else 0
    elif kind == "recurring":
        n_changes %= 2
    return Mixture(n_changes, n_changes, 0.0)
