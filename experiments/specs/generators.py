"""Streams made rather than cut from data: drift, classes that come and go, frauds, labels, noise, a toy and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adforest.forest.types import Float64Array, Int64Array
from adforest.simulation import Batch, concept_categorical, simulate_clusters, simulate_drift, simulate_new_classes
from experiments.specs.run_spec import StreamSpec
from experiments.streams.order import cut_in_order

HERE = "experiments.specs.generators"
N_CATEGORIES = {"rules": (0, 0, 0, 4, 6, 2)}  # of the concepts that have categorical attributes


@dataclass(frozen=True)
class Generator:
    """How a kind of stream is generated.

    Attributes
    ----------
    draw : callable
        Yields the batches, given the specification and a seed.
    n_categories : callable
        Returns, per column, its number of categories; 0 where it is numerical.
    size : callable
        Returns how many records all batches train on.
    modules : tuple of str
        Whose code makes the stream.
    """

    draw: Callable[[StreamSpec, int], Iterator[Batch]]
    n_categories: Callable[[StreamSpec], tuple[int, ...]]
    size: Callable[[StreamSpec], int]
    modules: tuple[str, ...]


def count_records(spec: StreamSpec) -> int:
    """Return how many records the batches of a stream train on, from its options."""
    options = _counts(spec)
    return options["n_batches"] * options["batch_size"]


def _counts(spec: StreamSpec) -> dict[str, int]:
    """Return how many batches a stream has, and of how many records."""
    options = dict(spec.options)
    return {name: int(options[name] or 0) for name in ("n_batches", "batch_size")}


# Drift: the variant is its kind


def _draw_drift(spec: StreamSpec, seed: int) -> Iterator[Batch]:
    """Yield a stream with drift; no records are held back, for what was right before may be wrong now."""
    concept = str(dict(spec.options)["concept"])
    for batch in simulate_drift(spec.variant, concept, **_counts(spec), random_state=seed):
        yield replace(batch, X_held=batch.X_held[:0], y_held=batch.y_held[:0])


def _categories_of_concept(spec: StreamSpec) -> tuple[int, ...]:
    """Return the number of categories of each column of a stream with drift."""
    concept = str(dict(spec.options)["concept"])
    return N_CATEGORIES.get(concept, (0,) * len(concept_categorical(concept)))


# Classes: the variant is who comes and goes


def class_shares(variant: str, n_batches: int) -> Float64Array:
    """Return the share of every class in every batch.

    Parameters
    ----------
    variant : {"vanishing", "returning", "new", "rare", "shifting", "many"}
        ``"vanishing"``: the first of five classes is there for five batches and never again. ``"returning"``: it comes
        back after two thirds of the stream. ``"new"``: four classes,
        then one more every third batch. ``"rare"``: of seven classes the first two have one record in a hundred each.
        ``"shifting"``: the shares of five classes rise and fall in turn, all within twenty batches. ``"many"``: 200
        classes, the k-th of them one k-th as frequent as the first on average; their shares rise and fall likewise.
    n_batches : int

    Returns
    -------
    ndarray of shape (n_batches, n_classes)

    Examples
    --------
    >>> class_shares("new", 7)[[0, 3, 6]].astype(int).tolist()
    [[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]
    """
    batch = np.arange(n_batches)[:, np.newaxis]
    if variant == "vanishing":
        shares = np.ones((n_batches, 5))
        shares[LAST_SEEN:, 0] = 0
    elif variant == "returning":
        shares = np.ones((n_batches, 5))
        shares[LAST_SEEN : 2 * n_batches // 3, 0] = 0
    elif variant == "new":
        arrival = np.concatenate([np.zeros(FIRST_CLASSES), np.arange(NEW_EVERY, n_batches, NEW_EVERY)])
        shares = (batch >= arrival).astype(np.float64)
    elif variant == "rare":
        shares = np.full((n_batches, 7), 0.98 / 5)
        shares[:, RARE] = 0.01
    elif variant == "shifting":
        shares = 1 + SWING * np.sin(2 * np.pi * (batch / SHIFT_PERIOD + np.arange(5) / 5))
    elif variant == "many":
        rank = np.arange(1, N_MANY + 1)
        shares = (1 + SWING * np.sin(2 * np.pi * (batch / SHIFT_PERIOD + rank / 5))) / rank
    else:
        raise ValueError(f"classes cannot be {variant!r}; expected {', '.join(map(repr, CLASS_VARIANTS))}")
    return shares


LAST_SEEN = 5  # the last batch that has the class that vanishes, class 0
FIRST_CLASSES, NEW_EVERY = 4, 3
RARE = [0, 1]
N_MANY = 200
CLASS_VARIANTS = ("vanishing", "returning", "new", "rare", "shifting", "many")
SHIFT_PERIOD, SWING = 20, 0.9  # batches until the shares are the same again, and how far they move from their mean of 1


def _draw_classes(spec: StreamSpec, seed: int) -> Iterator[Batch]:
    """Yield a stream of classes that come and go."""
    counts = _counts(spec)
    shares = class_shares(spec.variant, counts["n_batches"])
    yield from simulate_new_classes(shares, batch_size=counts["batch_size"], random_state=seed)


def _draw_clusters(spec: StreamSpec, seed: int) -> Iterator[Batch]:
    """Yield a stream of wandering clusters."""
    yield from simulate_clusters(**_counts(spec), random_state=seed)


def _six_numbers(spec: StreamSpec) -> tuple[int, ...]:
    """Return the columns of clusters and labels: six numbers."""
    return (0,) * 6


# Labels that follow each other, with features that say little: the variant is how


def draw_labels(variant: str, n: int, rng: np.random.Generator) -> Int64Array:
    """Return labels that follow each other.

    Parameters
    ----------
    variant : {"cycle", "runs", "independent"}
        ``"cycle"``: 24 classes in turn, but one label in ten is any of them. ``"runs"``: one of 6 classes, until after
        20 samples on average another is drawn. ``"independent"``: any of 6 classes.
    n : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> sorted(set(draw_labels("independent", 100, np.random.default_rng(0)).tolist()))
    [0, 1, 2, 3, 4, 5]
    """
    if variant not in LABEL_CLASSES:
        raise ValueError(f"labels cannot be {variant!r}; expected {', '.join(map(repr, LABEL_CLASSES))}")
    drawn, position = rng.integers(LABEL_CLASSES[variant], size=n), np.arange(n)
    if variant == "cycle":
        return np.where(rng.random(n) < OUT_OF_TURN, drawn, position % LABEL_CLASSES[variant])
    if variant == "runs":
        starts = np.where(rng.random(n) < 1 / RUN_LENGTH, position, 0)
        return np.asarray(drawn[np.maximum.accumulate(starts)])
    return np.asarray(drawn)


LABEL_CLASSES = {"cycle": 24, "runs": 6, "independent": 6}
OUT_OF_TURN, RUN_LENGTH = 0.1, 20
CENTRE_SPREAD = 0.5  # of the classes' centres, in standard deviations of a feature within a class


def _draw_labels(spec: StreamSpec, seed: int) -> Iterator[Batch]:
    """Yield a stream of labels that follow each other; its samples are the same whatever the batches' size."""
    rng, size = np.random.default_rng(seed), _counts(spec)["batch_size"]
    y = draw_labels(spec.variant, count_records(spec), rng)
    centres = CENTRE_SPREAD * rng.normal(size=(LABEL_CLASSES[spec.variant], len(_six_numbers(spec))))
    X = centres[y] + rng.normal(size=(len(y), centres.shape[1]))
    yield from cut_in_order(X, y, size)


# Frauds: rare positives whose patterns change; option ``share`` says how rare


def draw_frauds(share: float, n_batches: int, size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield batches of honest samples, and of a few frauds that follow one of four patterns; ten batches later two of
    these are given up for new ones.

    Honest samples lie about the origin with heavy tails. A pattern is a cluster, some way from it in any direction.

    Parameters
    ----------
    share : float
        Of frauds, class 1.
    n_batches, size : int
    rng : numpy.random.Generator

    Yields
    ------
    Batch
        Without test and held records; ``scenario`` counts the changes: ``"A"``, ``"B"`` and so on.
    """
    patterns = _draw_patterns(N_PATTERNS, rng)
    for number in range(1, n_batches + 1):
        n_changes, rest = divmod(number - 1, PATTERNS_LAST)
        if n_changes and not rest:
            patterns = np.concatenate([patterns[N_NEW_PATTERNS:], _draw_patterns(N_NEW_PATTERNS, rng)])
        y = (rng.random(size) < share).astype(np.int64)
        frauds = patterns[rng.integers(N_PATTERNS, size=size)] + FRAUD_SPREAD * rng.normal(size=(size, N_FRAUD_COLUMNS))
        honest = rng.standard_t(HONEST_TAILS, (size, N_FRAUD_COLUMNS))
        X = np.where(y[:, np.newaxis] == 1, frauds, honest)
        yield Batch(number, chr(ord("A") + n_changes), X, y, X[:0], y[:0], X[:0], y[:0])


def _draw_patterns(n: int, rng: np.random.Generator) -> Float64Array:
    """Return where some patterns of frauds lie: all as far from the origin, in any direction."""
    directions = rng.normal(size=(n, N_FRAUD_COLUMNS))
    return np.asarray(FRAUD_DISTANCE * directions / np.linalg.norm(directions, axis=1, keepdims=True))


N_FRAUD_COLUMNS, HONEST_TAILS = 8, 5  # columns; degrees of freedom of Student's t
N_PATTERNS, N_NEW_PATTERNS, PATTERNS_LAST = 4, 2, 10  # PATTERNS_LAST in batches
FRAUD_DISTANCE, FRAUD_SPREAD = 4.0, 0.6  # in scales of honest samples


def _draw_frauds(spec: StreamSpec, seed: int) -> Iterator[Batch]:
    """Yield a stream of frauds."""
    counts, share = _counts(spec), float(dict(spec.options)["share"] or 0)
    yield from draw_frauds(share, counts["n_batches"], counts["batch_size"], np.random.default_rng(seed))


# Uniform numbers: as many samples and features as one likes, for taking the time


def _draw_uniform(spec: StreamSpec, seed: int) -> Iterator[Batch]:
    """Yield batches of uniform features: the class counts which of the first four are above 0.5, one in five is noise.

    The noise lets trees grow down to their smallest leaves, and later batches perturb them, however many features there
    are.
    """
    options, rng = _counts(spec), np.random.default_rng(seed)
    for number in range(1, options["n_batches"] + 1):
        X = rng.random((options["batch_size"] + UNIFORM_TESTED, len(_uniform_columns(spec))))
        y = (X[:, :4] > 0.5).sum(axis=1)
        y = np.where(rng.random(len(y)) < UNIFORM_NOISE, rng.integers(5, size=len(y)), y)
        train, test = slice(options["batch_size"]), slice(options["batch_size"], None)
        yield Batch(number, spec.variant, X[train], y[train], X[test], y[test], X[:0], y[:0])


UNIFORM_NOISE, UNIFORM_TESTED = 0.2, 200


def _uniform_columns(spec: StreamSpec) -> tuple[int, ...]:
    """Return the columns of uniform features: numbers, four at least."""
    return (0,) * int(dict(spec.options)["n_features"] or 0)


# The toy: area and bedrooms of a house against its rent, three batches of ten; the variant is the batch that trees are
# tested on. B0 makes a tree. B1 overlaps it, reaches beyond it, and mixes known classes with an unknown one (MKUC). B2
# lies apart from both. The numbers of the paper's figure are not in its source; these are ours, and tell what it tells.

LOW, MEDIUM, HIGH, LUXURY = "low", "medium", "high", "luxury"
TOY_NAMES = ("B0", "B1", "B2")
TOY_BATCHES: tuple[tuple[tuple[int, int, str], ...], ...] = (
    (
        *((40, 1, LOW), (50, 1, LOW), (60, 2, LOW), (70, 2, LOW), (80, 2, MEDIUM)),
        *((90, 4, MEDIUM), (100, 3, MEDIUM), (120, 3, HIGH), (140, 2, HIGH), (150, 3, HIGH)),
    ),
    (
        *((85, 3, MEDIUM), (95, 2, MEDIUM), (125, 3, HIGH), (135, 3, HIGH), (130, 4, LUXURY)),
        *((145, 4, LUXURY), (170, 3, HIGH), (180, 2, HIGH), (190, 4, LUXURY), (200, 4, LUXURY)),
    ),
    (
        *((300, 3, MEDIUM), (310, 3, MEDIUM), (320, 2, MEDIUM), (340, 2, HIGH), (350, 3, HIGH)),
        *((360, 3, HIGH), (380, 3, LUXURY), (390, 4, LUXURY), (400, 4, LUXURY), (420, 4, LUXURY)),
    ),
)


def _draw_toy(spec: StreamSpec, seed: int) -> Iterator[Batch]:
    """Yield the toy batches; the test set of each is the batch that the variant names."""
    tested = TOY_BATCHES[TOY_NAMES.index(spec.variant)]
    for number, (name, houses) in enumerate(zip(TOY_NAMES, TOY_BATCHES, strict=True), start=1):
        yield Batch(number, name, *_table(houses), *_table(tested), *_table(()))


def _table(houses: Any) -> tuple[Float64Array, Any]:
    """Return area and bedrooms as a matrix, and the rents."""
    X = np.array([house[:2] for house in houses], dtype=np.float64).reshape(len(houses), 2)
    return X, np.array([house[2] for house in houses], dtype="U6")


GENERATORS = {
    "drift": Generator(_draw_drift, _categories_of_concept, count_records, (HERE, "adforest.simulation.drift")),
    "classes": Generator(_draw_classes, _six_numbers, count_records, (HERE, "adforest.simulation.clusters")),
    "clusters": Generator(_draw_clusters, _six_numbers, count_records, (HERE, "adforest.simulation.clusters")),
    "frauds": Generator(
        _draw_frauds, lambda spec: (0,) * N_FRAUD_COLUMNS, count_records, (HERE, "adforest.simulation.batch")
    ),
    "labels": Generator(_draw_labels, _six_numbers, count_records, (HERE, "experiments.streams.order")),
    "uniform": Generator(_draw_uniform, _uniform_columns, count_records, (HERE, "adforest.simulation.batch")),
    "toy": Generator(
        _draw_toy, lambda spec: (0, 0), lambda spec: sum(map(len, TOY_BATCHES)), (HERE, "adforest.simulation.batch")
    ),
}
