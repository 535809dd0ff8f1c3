"""Complexity: CPU seconds to learn a batch against samples, features and trees, beside the paper's exponents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from experiments.comparison.comparison import join_words
from experiments.comparison.results import Results
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.specs.methods import with_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import HOLDOUT, LONG_STREAM, MethodSpec, RunSpec, StreamSpec

SUMMARY = "CPU seconds to learn a batch against samples, features and trees, beside the paper's complexity table"
NAMES = {
    "ADF-R": "ADF-R paper",
    "ADF-S": "ADF-S paper",
    "ADF-H": "ADF-H paper",
    "RF": "RF batch paper",
    "CIRF": "CIRF paper",
}
SIZES = {"n": "samples", "m": "features", "M": "trees"}
# Exponents of n, m and M in the paper's table; ADF-S is not in it.
PUBLISHED = {"ADF-R": (1, 2, 1), "ADF-H": (1, 1, 1), "RF": (1, 2, 1), "CIRF": (1, 2, 1)}
BASE = {"n": 2_000, "m": 16, "M": 10}
GRID = {
    "n": (500, 1_000, 2_000, 4_000, 8_000),
    "m": (4, 8, 16, 32, 64),
    "M": (5, 10, 20, 40),
}
QUICK_BASE = {"n": 500, "m": 8, "M": 5}
QUICK_GRID = {"n": (250, 500, 1_000, 2_000), "m": (4, 8, 16, 32), "M": (2, 5, 10, 20)}
N_BATCHES = 6  # the first builds the forests, the others are learnt by them
REPEATS = 3  # streams by other seeds, at least

Point = dict[str, int]  # n, m and M


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study; quick ones do not have the machine to themselves."""
    points = [point for size in SIZES for point in points_along(size, options)]
    return [
        RunSpec(_stream(point), _method(name, point), seed, _protocol(options))
        for point in points
        for name in NAMES
        for seed in _seeds(options)
    ]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    taken = results.with_protocol(LONG_STREAM) if _protocol(options) == LONG_STREAM else results
    measures = {"first batch": first_seconds, "later batches": later_seconds}
    slopes = {
        (name, when): {size: _slope(taken, options, name, size, measure) for size in SIZES}
        for name in NAMES
        for when, measure in measures.items()
    }
    return Chapter(
        name="complexity",
        title="Complexity",
        question="How do the seconds of a batch grow with its samples, its features and the trees?",
        findings=(
            *(_describe(slopes, name) for name in NAMES),
            _describe_excess(slopes),
            _describe_growth(taken, options),
        ),
        caveats=(
            "The paper's exponents are upper bounds that it reasons out and does not measure. Slopes at the sizes of "
            "real batches also hold what each batch and each tree costs at least.",
            "The bound m² is for trees that try every feature at every node and whose depth grows with m. A random "
            "forest tries int(log2 m) + 1 features, and the minimum leaf size bounds the depth.",
            "The first batch is also the first call in its process, which costs some milliseconds once.",
            "ADF-S is not in the paper's table, and ARF, which is, is left out here: River's is written in Python.",
            "Generated data with five classes and a fifth of the labels at random. CPU seconds of one thread on one "
            f"machine, medians over the batches and over streams, of which there are {len(_seeds(options))}.",
            *(
                ["Quick: small batches and few of them, with other runs meanwhile; it shows that everything runs."]
                if options.quick
                else []
            ),
        ),
        tables=(
            _slopes_table(slopes),
            *(_seconds_table(taken, options, when, measure) for when, measure in measures.items()),
        ),
        figures=tuple(_figure(taken, options, size) for size in SIZES),
        command=options.command("complexity"),
    )


# What is run


def points_along(size: str, options: Options) -> list[Point]:
    """Return the points at which one size changes and the others stay."""
    base, grid = (QUICK_BASE, QUICK_GRID) if options.quick else (BASE, GRID)
    return [base | {size: value} for value in grid[size]]


def _stream(point: Point) -> StreamSpec:
    return StreamSpec.of("uniform", "noisy", n_batches=N_BATCHES, batch_size=point["n"], n_features=point["m"])


def _method(name: str, point: Point) -> MethodSpec:
    return with_settings(NAMES[name], n_estimators=point["M"], min_samples_leaf=20)


def _protocol(options: Options) -> str:
    return HOLDOUT if options.quick else LONG_STREAM


def _seeds(options: Options) -> range:
    return range(1 if options.quick else max(REPEATS, options.n_seeds))


# What is made of it


def first_seconds(rows: list[Row]) -> float:
    """Return the CPU seconds of the first batch, which builds the forests."""
    return float(rows[0]["train_seconds"])


def later_seconds(rows: list[Row]) -> float:
    """Return the median CPU seconds of the batches after the first."""
    return float(np.median([row["train_seconds"] for row in rows[1:]]))


def last_over_second(rows: list[Row]) -> float:
    """Return how many times as long the last batch takes as the second, the first that finds forests built."""
    return float(rows[-1]["train_seconds"] / rows[1]["train_seconds"])


def fit_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent of x that y grows with, by least squares on logarithms.

    Examples
    --------
    >>> round(fit_slope([1, 2, 4, 8], [3, 12, 48, 192]), 6)
    2.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


Slopes = Mapping[tuple[str, str], Mapping[str, float]]  # by method and batches, then by size
Seconds = Callable[[list[Row]], float]


def _seconds(results: Results, options: Options, name: str, point: Point, measure: Seconds) -> float:
    """Return the median over the repeats."""
    stream, method = _stream(point), _method(name, point)
    return float(np.median([measure(results.rows(stream, method, seed)) for seed in _seeds(options)]))


def _slope(results: Results, options: Options, name: str, size: str, measure: Seconds) -> float:
    """Return the exponent of one size."""
    points = points_along(size, options)
    seconds = [_seconds(results, options, name, point, measure) for point in points]
    return fit_slope([point[size] for point in points], seconds)


def _describe(slopes: Slopes, name: str) -> str:
    """Return a method's exponents beside the published ones."""

    def product(exponents: Sequence[float]) -> str:
        return " ".join(f"{size}^{round(value, 2):g}" for size, value in zip(SIZES, exponents, strict=True))

    when = "later batches"
    published = f"the paper's bound {product(PUBLISHED[name])}" if name in PUBLISHED else "not in the paper's table"
    return f"{name}: seconds of later batches grow like {product([*slopes[name, when].values()])}; {published}."


def _describe_excess(slopes: Slopes) -> str:
    """Return whether any slope is above its bound."""
    above = [
        f"{name} in {size}, {when} ({found[size]:.2f} against {bound})"
        for (name, when), found in slopes.items()
        for size, bound in zip(SIZES, PUBLISHED.get(name, ()), strict=False)
        if found[size] > bound + TOLERANCE
    ]
    return f"Above the paper's exponent by more than {TOLERANCE}: {join_words(above) if above else 'none'}."


TOLERANCE = 0.1


def _describe_growth(results: Results, options: Options) -> str:
    """Return how much longer the last batch takes than the second, which the paper's bounds do not tell apart."""
    points = [point for size in SIZES for point in points_along(size, options)]
    grown = [
        f"{name} {np.median([_seconds(results, options, name, point, last_over_second) for point in points]):.1f}×"
        for name in NAMES
    ]
    return f"Seconds of batch {N_BATCHES} over those of batch 2, of the same size: {join_words(grown)}."


def _slopes_table(slopes: Slopes) -> Table:
    """Return the exponents beside the published ones."""
    rows: list[tuple[Cell, ...]] = [
        (f"{name}, {when}", *found.values(), *PUBLISHED.get(name, (None,) * len(SIZES)))
        for (name, when), found in slopes.items()
    ]
    heads = (*(f"{size} ({word})" for size, word in SIZES.items()), *(f"{size}, paper" for size in SIZES))
    note = "Slope of log seconds against log size, least squares; the paper's bounds are the same for all batches."
    return Table("Exponents of the seconds per batch", ("", *heads), tuple(rows), 2, note=note)


def _seconds_table(results: Results, options: Options, when: str, measure: Seconds) -> Table:
    """Return the milliseconds at every point."""
    rows: list[tuple[Cell, ...]] = []
    for size in SIZES:
        for point in points_along(size, options):
            taken = [1000 * _seconds(results, options, name, point, measure) for name in NAMES]
            rows.append((f"{size} = {point[size]:,}", *taken))
    base = ", ".join(f"{size} = {value:,}" for size, value in (QUICK_BASE if options.quick else BASE).items())
    note = f"What is not named is {base}; leaves of at least 20 samples."
    return Table(f"CPU milliseconds to learn a batch, {when}", ("", *NAMES), tuple(rows), 2, note=note)


def _figure(results: Results, options: Options, size: str) -> Figure:
    """Return seconds against one size, both by doubling."""
    points = points_along(size, options)
    series = {name: [_seconds(results, options, name, point, later_seconds) for point in points] for name in NAMES}
    doublings = [float(np.log2(point[size] / points[0][size])) for point in points]
    title = f"doublings of the {SIZES[size]}, from {points[0][size]:,}"
    plot = lines(series, doublings, x_title=title, y_title="CPU seconds", log_y=True)
    return Figure(
        f"Seconds of a later batch against {SIZES[size]}", plot, "Both axes double; a straight line is a power."
    )
