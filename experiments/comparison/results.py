"""Figures from run records: means over batches, with their standard deviation over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adforest.forest.types import Float64Array
from experiments.reporting.chapter import Cell
from experiments.running.measures import Row
from experiments.running.records import RunRecord
from experiments.specs.run_spec import HOLDOUT, MethodSpec, RunSpec, StreamSpec

Measure = str | Callable[[list[Row]], float]


@dataclass(frozen=True)
class PerSeed:
    """A figure for each seed."""

    by_seed: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return float(np.mean(self.by_seed))

    @property
    def deviation(self) -> float:
        """Standard deviation over the seeds, which estimates that of all draws; 0 for a single seed."""
        return float(np.std(self.by_seed, ddof=1)) if len(self.by_seed) > 1 else 0.0

    def cell(self, digits: int = 3) -> Cell:
        """Return what stands in a table: the figure, or mean ± standard deviation if there are several seeds."""
        if len(self.by_seed) == 1:
            return self.mean
        return f"{self.mean:.{digits}f} ± {self.deviation:.{digits}f}"


class Results:
    """The records of a study's runs.

    Parameters
    ----------
    records : dict of RunSpec to RunRecord
    """

    def __init__(self, records: dict[RunSpec, RunRecord]) -> None:
        self.records = records
        self._seeds: dict[tuple[StreamSpec, MethodSpec], list[int]] = {}
        for run in records:
            if run.protocol == HOLDOUT:
                self._seeds.setdefault((run.stream, run.method), []).append(run.seed)

    def with_protocol(self, protocol: str) -> Results:
        """Return the results of runs of another protocol; every other method here reads holdout runs only."""
        return Results(
            {replace(run, protocol=HOLDOUT): one for run, one in self.records.items() if run.protocol == protocol}
        )

    def has(self, stream: StreamSpec, method: MethodSpec) -> bool:
        """Return whether a method was run on a stream."""
        return bool(self.seeds(stream, method))

    def seeds(self, stream: StreamSpec, method: MethodSpec) -> list[int]:
        """Return the seeds a method was run with on a stream."""
        return sorted(self._seeds.get((stream, method), []))

    def rows(self, stream: StreamSpec, method: MethodSpec, seed: int = 0) -> list[Row]:
        """Return the rows of a run, one a batch."""
        return self.records[RunSpec(stream, method, seed)].rows

    def per_seed(
        self, stream: StreamSpec, method: MethodSpec, measure: Measure, seeds: Sequence[int] | None = None
    ) -> PerSeed | None:
        """Return a figure for each seed, or None if the method was not run on the stream.

        Parameters
        ----------
        stream : StreamSpec
        method : MethodSpec
        measure : str or callable
            A column, whose mean over the batches is taken, or what makes a figure of all rows.
        seeds : sequence of int, optional
            By default all that the method was run with.

        Returns
        -------
        PerSeed or None
        """
        figure = measure if callable(measure) else mean_of(measure)
        seeds = self.seeds(stream, method) if seeds is None else seeds
        return PerSeed(tuple(figure(self.rows(stream, method, seed)) for seed in seeds)) if seeds else None

    def mean(self, stream: StreamSpec, method: MethodSpec, measure: Measure) -> float:
        """Return a figure's mean over the seeds; the method must have been run."""
        per_seed = self.per_seed(stream, method, measure)
        if per_seed is None:
            raise KeyError(f"{method.label} was not run on {stream.name} ({stream.variant})")
        return per_seed.mean

    def cell(self, stream: StreamSpec, method: MethodSpec, measure: Measure, digits: int = 3) -> Cell:
        """Return a figure as it stands in a table; None if the method was not run."""
        per_seed = self.per_seed(stream, method, measure)
        return None if per_seed is None else per_seed.cell(digits)

    def by_batch(self, stream: StreamSpec, method: MethodSpec, column: str) -> Float64Array:
        """Return a column batch by batch, its mean over the seeds; NaN where it was not measured."""
        seeds = self.seeds(stream, method)
        columns = [[_number(row.get(column)) for row in self.rows(stream, method, seed)] for seed in seeds]
        means: Float64Array = np.array(columns, dtype=np.float64).mean(axis=0)
        return means


def mean_of(column: str) -> Callable[[list[Row]], float]:
    """Return a measure: the mean of a column over the batches that have it."""

    def mean(rows: list[Row]) -> float:
        return float(np.mean([row[column] for row in rows if row.get(column) is not None]))

    return mean


def last_of(column: str) -> Callable[[list[Row]], float]:
    """Return a measure: a column's value after the last batch."""

    def last(rows: list[Row]) -> float:
        return float(rows[-1][column])

    return last


def count_drifts(rows: list[Row], verdict: str | None = None) -> float:
    """Return how many batches ADF called drift: of one verdict, ``"temporary"`` or ``"sustained"``, or of either."""
    return float(sum(row["drift"] != "none" if verdict is None else row["drift"] == verdict for row in rows))


def _number(value: Any) -> float:
    """Return a number, NaN for what was not measured."""
    return float("nan") if value is None else float(value)
