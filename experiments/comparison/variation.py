"""Variants of methods side by side: the same streams and seeds, so that differences can be taken seed by seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from experiments.comparison.comparison import Measure, Streams
from experiments.comparison.results import Measured, Results, mean_of
from experiments.reporting.chapter import Cell, Table
from experiments.specs.methods import count_trees, find_method
from experiments.specs.options import Options
from experiments.specs.run_spec import USUAL, MethodSpec, Part, Plain

Methods = Mapping[str, MethodSpec]


def vary(name: str, **settings: Plain) -> MethodSpec:
    """Return a method with some settings changed; those it has anyway are left out, so that it is the same part.

    Parameters
    ----------
    name : str
        A method of `experiments.specs.methods`.
    **settings
        Constructor parameters.

    Returns
    -------
    MethodSpec

    Examples
    --------
    >>> vary("ADF-R paper", window_size=3, splitting="sat").label
    'ADF-R paper (splitting=sat)'
    """
    has = settings_of(name)
    return MethodSpec.of(name, **{key: value for key, value in settings.items() if has[key] != value})


def settings_of(name: str) -> dict[str, Any]:
    """Return the parameters a method runs with, for a small data set where they depend on its size."""
    method = find_method(MethodSpec(name))
    model = method.make()
    return {**model.get_params(), **count_trees(model), **method.settings(0)}


def plan_variants(
    streams: Streams, methods: Iterable[MethodSpec], seeds: Iterable[int], kind: str = USUAL
) -> list[Part]:
    """Return a part for each stream, method and seed, doubles left out."""
    pairs = list(product(dict.fromkeys(methods), seeds))
    return [Part(stream, method, seed, kind) for stream in streams.values() for method, seed in pairs]


def plan_every(streams: Streams, methods: Methods, options: Options) -> list[Part]:
    """Return a part for each stream, method and seed of the command line."""
    return plan_variants(streams, methods.values(), options.seeds)


@dataclass(frozen=True)
class Variation:
    """One measure of some variants on some streams, on all of which all were run.

    Attributes
    ----------
    results : Results
    streams : mapping of str to StreamSpec
        By the name a table gives them.
    methods : mapping of str to MethodSpec
        By the name a table gives them.
    measure : str or callable
        See `Results.measured`.
    """

    results: Results
    streams: Streams
    methods: Methods
    measure: Measure

    def measured(self, stream: str, name: str) -> Measured:
        """Return a variant's figures on a stream."""
        measured = self.results.measured(self.streams[stream], self.methods[name], self.measure)
        if measured is None:
            raise KeyError(f"{name} was not run on {stream}")
        return measured

    def value(self, stream: str, name: str) -> float:
        """Return a variant's figure on a stream, its mean over the seeds."""
        return self.measured(stream, name).mean

    def mean(self, name: str) -> float:
        """Return the mean over the streams."""
        return float(np.mean([self.value(stream, name) for stream in self.streams]))

    def gap(self, stream: str, ours: str, theirs: str) -> Measured:
        """Return how much higher our figure is than another, for each seed that both were run with."""
        spec, one, other = self.streams[stream], self.methods[ours], self.methods[theirs]
        figure = self.measure if callable(self.measure) else mean_of(self.measure)
        seeds = sorted(set(self.results.seeds(spec, one)) & set(self.results.seeds(spec, other)))
        pairs = ((self.results.rows(spec, one, seed), self.results.rows(spec, other, seed)) for seed in seeds)
        return Measured(tuple(figure(mine) - figure(rival) for mine, rival in pairs))

    def mean_gap(self, ours: str, theirs: str) -> float:
        """Return how much higher our figure is than another on average over the streams."""
        return float(np.mean([self.gap(stream, ours, theirs).mean for stream in self.streams]))

    def table(self, title: str, *, digits: int = 3, best: str = "max", note: str = "") -> Table:
        """Return a table with a row for each stream, a column for each variant, and the means if there are many rows.

        Parameters
        ----------
        title : str
        digits : int
        best : {"max", "min", ""}
        note : str

        Returns
        -------
        Table
        """
        rows: list[tuple[Cell, ...]] = [
            (stream, *(self.measured(stream, name).cell(digits) for name in self.methods)) for stream in self.streams
        ]
        if len(self.streams) > 1:
            rows.append(("mean", *map(self.mean, self.methods)))
        return Table(title, ("data set", *self.methods), tuple(rows), digits, best, note)


def points(gap: float) -> str:
    """Return a difference of accuracies in points of a percentage.

    Examples
    --------
    >>> points(-0.0123)
    '-1.2'
    """
    return f"{100 * gap:+.1f}"
