"""Streams with one difficulty each: contexts that return, sorted exports, a growing attribute, many useless columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from adforest.simulation.batch import Batch, Drawn, check_count
from adforest.simulation.concepts import CONCEPT_NAMES, Matrix, Mixture, Rules

EXPORT = 10  # batches that are sorted together
STAY = 5  # batches that a context lasts
STATIONARY = Mixture(0, 0, 0.0)
N_RULES = (0, 0, 0, 4, 6, 2)  # categories of the attributes of `Rules`

# Contexts: four corners of the plane of the first two attributes, each with rules of its own over the other four.
CORNERS = np.array([[0.0, 0.0], [0.0, 6.0], [6.0, 0.0], [6.0, 6.0]])
N_INNER = 4
CONTEXT_NOISE = 0.05

N_WIDE, N_USEFUL = 500, 5
WIDE_NOISE = 0.05


def simulate_case(
    kind: str,
    *,
    n_batches: int = 40,
    batch_size: int = 500,
    random_state: int | np.random.Generator | None = None,
) -> Iterator[Batch]:
    """Draw a stream with one difficulty that streams in practice have.

    Parameters
    ----------
    kind : str
        ``"contexts"``: four contexts take turns of five batches and return; each has its own place in the space of two
        attributes and its own rules over four others. The rules of the other kinds never change:
        ``"sorted batches"``: each batch is sorted by its first attribute. ``"exports by attribute"`` and ``"exports by
        class"``: ten batches are sorted together, by the first attribute or by the class, and then cut.
        ``"growing"``: the first attribute counts the records. ``"wide"``: 5 of 500 columns decide the class.
    n_batches : int, default=40
        Batches in the stream.
    batch_size : int, default=500
        Samples in a batch.
    random_state : int, Generator or None, default=None
        Seed or source of all draws; the same seed gives the same stream.

    Yields
    ------
    Batch
        Without test and held records: the next batch is the test. ``scenario`` names the context, or is ``"A"``. Five
        records in a hundred have a wrong class.

    Examples
    --------
    >>> from experiments.streams.cases import simulate_case
    >>> stream = simulate_case("contexts", n_batches=25, batch_size=10, random_state=0)
    >>> "".join(batch.scenario for batch in stream)
    'AAAAABBBBBCCCCCDDDDDAAAAA'
    """
    if kind not in CASES:
        raise ValueError(f"there is no case {kind!r}; expected one of {', '.join(CASES)}.")
    check_count("n_batches", n_batches)
    check_count("batch_size", batch_size)
    return CASES[kind](n_batches, batch_size, np.random.default_rng(random_state))


def case_categories(kind: str) -> tuple[int, ...]:
    """Return, for each column of a case, its number of categories; 0 where it is numerical.

    Examples
    --------
    >>> case_categories("growing")
    (0, 0, 0, 0, 4, 6, 2)
    """
    return {"contexts": (0,) * (2 + N_INNER), "growing": (0, *N_RULES), "wide": (0,) * N_WIDE}.get(kind, N_RULES)


def _draw_contexts(n_batches: int, batch_size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield batches of contexts that take turns: the class is the sign of a linear score that each context draws."""
    weights = rng.normal(size=(len(CORNERS), N_INNER))
    for number in range(1, n_batches + 1):
        context = (number - 1) // STAY % len(CORNERS)
        place = CORNERS[context] + rng.normal(size=(batch_size, 2))
        inner = rng.normal(size=(batch_size, N_INNER))
        y = _flip(inner @ weights[context] > 0, CONTEXT_NOISE, rng)
        yield _batch(number, (np.column_stack([place, inner]), y), CONCEPT_NAMES[context])


def _draw_sorted(
    n_batches: int, batch_size: int, rng: np.random.Generator, *, n_together: int, is_by_class: bool
) -> Iterator[Batch]:
    """Yield batches of stationary rules; a number of batches are drawn and sorted together, then cut."""
    rules = Rules(rng)
    for first in range(0, n_batches, n_together):
        n = min(n_together, n_batches - first)
        X, y = rules.draw(n * batch_size, STATIONARY)
        order = np.argsort(y if is_by_class else X[:, 0], kind="stable")
        for place, rows in enumerate(np.split(order, n), start=1):
            yield _batch(first + place, (X[rows], y[rows]))


def _draw_growing(n_batches: int, batch_size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield batches of stationary rules with the number of the record before the attributes."""
    rules = Rules(rng)
    for number in range(1, n_batches + 1):
        X, y = rules.draw(batch_size, STATIONARY)
        count = (number - 1) * batch_size + np.arange(batch_size, dtype=np.float64)
        yield _batch(number, (np.column_stack([count, X]), y))


def _draw_wide(n_batches: int, batch_size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield batches of many columns; the class is whether most of a few columns are positive."""
    useful = rng.permutation(N_WIDE)[:N_USEFUL]
    for number in range(1, n_batches + 1):
        X: Matrix = rng.normal(size=(batch_size, N_WIDE))
        is_positive = (X[:, useful] > 0).sum(axis=1) > N_USEFUL // 2
        yield _batch(number, (X, _flip(is_positive, WIDE_NOISE, rng)))


def _flip(answers: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Return yes-or-no answers as classes 1 and 0, a share of them wrong."""
    return (answers ^ (rng.random(len(answers)) < noise)).astype(np.int64)


def _batch(number: int, drawn: Drawn, scenario: str = "A") -> Batch:
    """Return a batch without test and held records."""
    X, y = drawn
    return Batch(number, scenario, X, y, X[:0], y[:0], X[:0], y[:0])


def _sorted(n_together: int, *, is_by_class: bool) -> Callable[[int, int, np.random.Generator], Iterator[Batch]]:
    """Return what draws sorted batches."""

    def draw(n_batches: int, batch_size: int, rng: np.random.Generator) -> Iterator[Batch]:
        return _draw_sorted(n_batches, batch_size, rng, n_together=n_together, is_by_class=is_by_class)

    return draw


CASES: dict[str, Callable[[int, int, np.random.Generator], Iterator[Batch]]] = {
    "contexts": _draw_contexts,
    "sorted batches": _sorted(1, is_by_class=False),
    "exports by attribute": _sorted(EXPORT, is_by_class=False),
    "exports by class": _sorted(EXPORT, is_by_class=True),
    "growing": _draw_growing,
    "wide": _draw_wide,
}
