"""Thresholds: accuracy over a grid of repair threshold and error tolerance, as in the paper's heat maps."""

from __future__ import annotations

from itertools import product

import numpy as np

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, points
from experiments.comparison.results import Results
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import heatmap
from experiments.specs.methods import default_settings, with_settings
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import dataset_streams, plan_runs

SUMMARY = "accuracy over repair threshold and error tolerance: LDPA and Avila, the paper's settings"
DATASETS = ("LDPA", "Avila")
THETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
EPSILONS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)
BEST_THETAS, BEST_EPSILONS = (0.2, 0.3, 0.4), (0.01, 0.02, 0.03)  # where the paper found the best accuracies
PUBLISHED_BEST = "θ 0.2 to 0.4, ε 0.01 to 0.03"
NAMES = ("ADF-R paper", "ADF-S paper")

Place = tuple[float, float]  # repair threshold and error tolerance
Field = dict[Place, float]  # mean accuracy in each cell


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    streams = dataset_streams(options, names=DATASETS)
    return [run for name in NAMES for run in plan_runs(streams, _labelled(name, options).values(), options.seeds)]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options, names=DATASETS)
    fields = {
        (name, title): _field(Comparison(results, {title: stream}, "accuracy", _labelled(name, options)), name, options)
        for name in NAMES
        for title, stream in streams.items()
    }
    return Chapter(
        name="thresholds",
        title="Repair threshold and error tolerance",
        question="How much do the two thresholds matter, and are the defaults where accuracy is best?",
        findings=tuple(_describe_field(*key, field) for key, field in fields.items()),
        caveats=(
            "The paper does not say on which base forest its heat maps were made, and gives of their grid only the "
            "ends; their figures are not in its text.",
            "Our own defaults let all forests vote and tell drift otherwise; what these two parameters do there is in "
            "the experiment parameters.",
            "A best cell among many is best by luck too: cells within a few tenths of a point are level.",
            "The same streams choose the thresholds and judge them.",
            *caveat_one_seed(options),
            *caveat_quick(options, "LDPA and Avila"),
        ),
        tables=(_summary(fields), *(_table(f"{name} on {title}", field) for (name, title), field in fields.items())),
        figures=tuple(_figure(f"{name} on {title}", name, field) for (name, title), field in fields.items()),
        command=options.command("thresholds"),
    )


def _cells(name: str, options: Options) -> dict[Place, MethodSpec]:
    """Return a method at every cell of the grid, or at few if it is to be quick."""
    thetas, epsilons = (THETAS[::4], EPSILONS[::2]) if options.quick else (THETAS, EPSILONS)
    return {
        (theta, epsilon): with_settings(name, repair_threshold=theta, error_tolerance=epsilon)
        for theta, epsilon in product(thetas, epsilons)
    }


def _labelled(name: str, options: Options) -> dict[str, MethodSpec]:
    """Return the cells by their labels."""
    return {_label(*cell): method for cell, method in _cells(name, options).items()}


def _label(theta: float, epsilon: float) -> str:
    """Return the name of a cell."""
    return f"θ = {theta}, ε = {epsilon}"


def _field(found: Comparison, name: str, options: Options) -> Field:
    """Return the mean accuracy in each cell."""
    (stream,) = found.streams
    return {cell: found.value(stream, _label(*cell)) for cell in _cells(name, options)}


def _default(name: str, field: Field) -> Place | None:
    """Return the cell that a method comes with, if it is on the grid."""
    settings = default_settings(name)
    place = (settings["repair_threshold"], settings["error_tolerance"])
    return place if place in field else None


def _inside(field: Field) -> list[float]:
    """Return the accuracies where the paper found the best ones."""
    return [value for (theta, epsilon), value in field.items() if theta in BEST_THETAS and epsilon in BEST_EPSILONS]


def _describe_field(name: str, title: str, field: Field) -> str:
    """Return where accuracy is best, what the defaults miss of it, and what thresholds can cost."""
    best, worst = max(field, key=field.__getitem__), min(field, key=field.__getitem__)
    default = _default(name, field)
    missed = f", {points(field[default] - field[best])} points at {_label(*default)}, the default" if default else ""
    inside = float(np.mean(_inside(field)) - np.mean(list(field.values())))
    return (
        f"{name} on {title}: best at {_label(*best)} ({field[best]:.3f}){missed}; worst at {_label(*worst)} "
        f"({points(field[worst] - field[best])}). Where the paper found the best, θ from 0.2 to 0.4 and ε from 0.01 to "
        f"0.03, accuracy is {points(inside)} points against the mean of the grid."
    )


def _summary(fields: dict[tuple[str, str], Field]) -> Table:
    """Return the best, the worst and the chosen cell of each field."""
    rows: list[tuple[Cell, ...]] = []
    for (name, title), field in fields.items():
        default = _default(name, field)
        best = max(field, key=field.__getitem__)
        chosen = field[default] if default else None
        rows.append(
            (
                f"{name}, {title}",
                PUBLISHED_BEST,
                _label(*best),
                field[best],
                chosen,
                min(field.values()),
                float(np.mean(_inside(field))),
            )
        )
    heads = ("", "best at, published", "best at", "best", "default", "worst", "mean where the paper found the best")
    return Table("The grid in short: mean accuracy over the batches", heads, tuple(rows), 3)


def _table(title: str, field: Field) -> Table:
    """Return the accuracies of a field, a row for each repair threshold."""
    thetas, epsilons = (sorted({cell[axis] for cell in field}) for axis in (0, 1))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"θ = {theta}", *(field[theta, epsilon] for epsilon in epsilons)) for theta in thetas
    )
    return Table(f"{title}: mean accuracy", ("", *(f"ε = {epsilon}" for epsilon in epsilons)), rows, 3)


def _figure(title: str, name: str, field: Field) -> Figure:
    """Return a field as coloured cells."""
    thetas, epsilons = (sorted({cell[axis] for cell in field}) for axis in (0, 1))
    default = _default(name, field)
    plot = heatmap(
        [[field[theta, epsilon] for epsilon in epsilons] for theta in thetas],
        epsilons,
        thetas,
        x_title="error tolerance ε",
        y_title="repair threshold θ",
        chosen=(default[1], default[0]) if default else None,
    )
    return Figure(title, plot, "Mean accuracy over the batches; framed: as the method comes.")
