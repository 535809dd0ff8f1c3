"""Comparing methods over streams: tables of figures, who leads, and by how much others are ahead or behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.comparison.results import Measure, PerSeed, Results
from experiments.reporting.chapter import Cell, Table
from experiments.specs.run_spec import MethodSpec
from experiments.specs.selections import Streams

Methods = Mapping[str, MethodSpec]


@dataclass(frozen=True)
class Comparison:
    """One measure of some methods on some streams.

    Attributes
    ----------
    results : Results
    streams : mapping of str to StreamSpec
        By the name a table gives them.
    measure : str or callable
        See `Results.per_seed`.
    methods : mapping of str to MethodSpec
        By the name a table gives them. A name that is not listed is a method's own, without any settings.
    is_better_high : bool
        Whether more is better.
    """

    results: Results
    streams: Streams
    measure: Measure
    methods: Methods = field(default_factory=dict)
    is_better_high: bool = True

    def spec(self, name: str) -> MethodSpec:
        """Return the method that a name stands for."""
        return self.methods.get(name, MethodSpec(name))

    def has(self, stream: str, name: str) -> bool:
        """Return whether a method ran on a stream."""
        return self.results.has(self.streams[stream], self.spec(name))

    def present(self, names: Iterable[str]) -> list[str]:
        """Return the methods that ran on any of the streams."""
        return [name for name in names if any(self.has(stream, name) for stream in self.streams)]

    def complete(self, names: Iterable[str]) -> list[str]:
        """Return the methods that ran on all of the streams."""
        return [name for name in names if all(self.has(stream, name) for stream in self.streams)]

    def per_seed(self, stream: str, name: str) -> PerSeed:
        """Return a method's figures on a stream, one for each seed.

        Raises
        ------
        KeyError
            If the method did not run there.
        """
        per_seed = self.results.per_seed(self.streams[stream], self.spec(name), self.measure)
        if per_seed is None:
            raise KeyError(f"{name} was not run on {stream}")
        return per_seed

    def value(self, stream: str, name: str) -> float:
        """Return a method's figure on a stream, its mean over the seeds."""
        return self.per_seed(stream, name).mean

    def value_if_run(self, stream: str, name: str) -> float | None:
        """Return a method's figure on a stream, or None if it did not run there."""
        return self.value(stream, name) if self.has(stream, name) else None

    def mean(self, name: str) -> float:
        """Return the mean over the streams of a method that ran on all of them."""
        return float(np.mean([self.value(stream, name) for stream in self.streams]))

    def gap(self, stream: str, ours: str, rival: str) -> PerSeed:
        """Return how much higher our figure is than a rival's, for each seed that both ran with."""
        spec, one, other = self.streams[stream], self.spec(ours), self.spec(rival)
        seeds = sorted(set(self.results.seeds(spec, one)) & set(self.results.seeds(spec, other)))
        figures = (self.results.per_seed(spec, method, self.measure, seeds) for method in (one, other))
        mine, theirs = (() if figure is None else figure.by_seed for figure in figures)
        return PerSeed(tuple(a - b for a, b in zip(mine, theirs, strict=True)))

    def gaps(self, ours: str, rival: str) -> dict[str, float]:
        """Return the mean gap on each stream on which both ran."""
        both = [stream for stream in self.streams if self.has(stream, ours) and self.has(stream, rival)]
        return {stream: self.gap(stream, ours, rival).mean for stream in both}

    def mean_gap(self, ours: str, rival: str) -> float:
        """Return how much higher our figure is than a rival's on average over the streams on which both ran."""
        return float(np.mean(list(self.gaps(ours, rival).values())))

    def table(self, title: str, names: Iterable[str] | None = None, *, digits: int = 3, note: str = "") -> Table:
        """Return a table with a row for each stream, a column for each method, and the means if there are many rows.

        Parameters
        ----------
        title : str
        names : iterable of str, optional
            Methods; those that ran nowhere are left out. By default all in `methods`.
        digits : int
        note : str

        Returns
        -------
        Table
        """
        names = self.present(self.methods if names is None else names)
        rows: list[tuple[Cell, ...]] = [
            (stream, *(self.per_seed(stream, name).cell(digits) if self.has(stream, name) else None for name in names))
            for stream in self.streams
        ]
        if len(self.streams) > 1:
            complete = set(self.complete(names))
            rows.append(("mean", *(self.mean(name) if name in complete else None for name in names)))
        best = "max" if self.is_better_high else "min"
        return Table(title, ("data set", *names), tuple(rows), digits, best, note)

    def leaders(self, names: Sequence[str]) -> dict[str, str]:
        """Return the best method on each stream."""
        choose = max if self.is_better_high else min
        found = {}
        for stream in self.streams:
            values = {name: self.value(stream, name) for name in names if self.has(stream, name)}
            found[stream] = choose(values, key=values.__getitem__)
        return found

    def describe_leaders(self, names: Sequence[str]) -> str:
        """Return a sentence that names the best method of each stream."""
        led: dict[str, list[str]] = {}
        for stream, name in self.leaders(names).items():
            led.setdefault(name, []).append(stream)
        ranked = sorted(led.items(), key=lambda pair: -len(pair[1]))
        return "; ".join(f"{name} on {join_words(streams)}" for name, streams in ranked)

    def describe_gap(self, ours: str, rival: str) -> str:
        """Return a sentence on where ours is ahead of a rival and where behind, in points of a percentage."""
        behind = [f"{stream} ({points(gap)})" for stream, gap in self.gaps(ours, rival).items() if gap < 0]
        said = f"{ours} against {rival}: {points(self.mean_gap(ours, rival))} points on average"
        return f"{said}, behind on {join_words(behind)}." if behind else f"{said}, behind nowhere."

    def describe_losses(self, ours: str, rivals: Iterable[str], said: str = "loses to") -> str:
        """Return a sentence on where ours is behind the best rival, or nothing if it is nowhere."""
        leaders = self.leaders(self.present(rivals))
        gaps = {stream: self.gap(stream, ours, rival).mean for stream, rival in leaders.items()}
        behind = [f"{leaders[one]} on {one} ({points(gap)} points)" for one, gap in gaps.items() if gap < 0]
        return f"{ours} {said} {join_words(behind)}." if behind else ""


def join_words(items: Sequence[str]) -> str:
    """Return items as one enumeration.

    Examples
    --------
    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def points(gap: float) -> str:
    """Return a difference of accuracies in points of a percentage.

    Examples
    --------
    >>> points(-0.0123)
    '-1.2'
    """
    return f"{100 * gap:+.1f}"
