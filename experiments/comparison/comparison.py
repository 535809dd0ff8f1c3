"""Comparing methods over data sets: tables of figures, who leads, and by how much others are ahead or behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.comparison.results import Results
from experiments.reporting.chapter import Cell, Table
from experiments.running.prequential import Row
from experiments.specs.run_spec import MethodSpec, StreamSpec

Streams = Mapping[str, StreamSpec]
Measure = str | Callable[[list[Row]], float]


@dataclass(frozen=True)
class Comparison:
    """One measure of many methods on some streams.

    Attributes
    ----------
    results : Results
    streams : mapping of str to StreamSpec
        By the name a table gives them.
    measure : str or callable
        See `Results.measured`.
    is_better_high : bool
        Whether more is better.
    methods : mapping of str to MethodSpec
        What those names stand for that are not simply a method's: ADF with other settings, say.
    """

    results: Results
    streams: Streams
    measure: Measure
    is_better_high: bool = True
    methods: Mapping[str, MethodSpec] = field(default_factory=dict)

    def spec(self, name: str) -> MethodSpec:
        """Return the method that a name stands for."""
        return self.methods.get(name, MethodSpec(name))

    def present(self, names: Iterable[str]) -> list[str]:
        """Return the methods that ran on any of the streams."""
        return [
            name for name in names if any(self.results.has(stream, self.spec(name)) for stream in self.streams.values())
        ]

    def complete(self, names: Iterable[str]) -> list[str]:
        """Return the methods that ran on all of the streams."""
        return [
            name for name in names if all(self.results.has(stream, self.spec(name)) for stream in self.streams.values())
        ]

    def value(self, stream: str, name: str) -> float | None:
        """Return a method's figure on a stream, its mean over the seeds, or None if it did not run there."""
        measured = self.results.measured(self.streams[stream], self.spec(name), self.measure)
        return None if measured is None else measured.mean

    def mean(self, name: str) -> float:
        """Return the mean over the streams of a method that ran on all of them."""
        return float(
            np.mean([self.results.mean(stream, self.spec(name), self.measure) for stream in self.streams.values()])
        )

    def table(self, title: str, names: Iterable[str], *, digits: int = 3, note: str = "") -> Table:
        """Return a table with a row for each stream, a column for each method, and the means if there are many rows.

        Parameters
        ----------
        title : str
        names : iterable of str
            Methods; those that ran nowhere are left out.
        digits : int
        note : str

        Returns
        -------
        Table
        """
        names = self.present(names)
        rows: list[tuple[Cell, ...]] = [
            (stream, *(self.results.cell(spec, self.spec(name), self.measure, digits) for name in names))
            for stream, spec in self.streams.items()
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
            values = {name: value for name in names if (value := self.value(stream, name)) is not None}
            found[stream] = choose(values, key=values.__getitem__)
        return found

    def gaps(self, ours: str, rival: str) -> dict[str, float]:
        """Return, for each stream on which both ran, how much higher our figure is than a rival's."""
        both = {stream: (self.value(stream, ours), self.value(stream, rival)) for stream in self.streams}
        return {stream: a - b for stream, (a, b) in both.items() if a is not None and b is not None}

    def say_leaders(self, names: Sequence[str]) -> str:
        """Return a sentence that names the best method of each stream."""
        led: dict[str, list[str]] = {}
        for stream, name in self.leaders(names).items():
            led.setdefault(name, []).append(stream)
        ranked = sorted(led.items(), key=lambda pair: -len(pair[1]))
        return "; ".join(f"{name} on {join_words(streams)}" for name, streams in ranked)

    def say_gap(self, ours: str, rival: str) -> str:
        """Return a sentence on where ours is ahead of a rival and where behind, in points of a percentage."""
        gaps = self.gaps(ours, rival)
        behind = {stream: gap for stream, gap in gaps.items() if gap < 0}
        mean = 100 * float(np.mean(list(gaps.values())))
        said = f"{ours} against {rival}: {mean:+.1f} points on average"
        if not behind:
            return f"{said}, behind nowhere."
        where = join_words([f"{stream} ({100 * gap:+.1f})" for stream, gap in behind.items()])
        return f"{said}, behind on {where}."

    def say_losses(self, ours: str, rivals: Iterable[str], said: str = "loses to") -> str:
        """Return on which streams ours is behind the best rival, or nothing if on none."""
        leaders = self.leaders(self.present(rivals))
        gaps = {stream: self.gaps(ours, rival)[stream] for stream, rival in leaders.items()}
        behind = [f"{leaders[one]} on {one} ({100 * gap:+.1f} points)" for one, gap in gaps.items() if gap < 0]
        return f"{ours} {said} {join_words(behind)}." if behind else ""


def join_words(items: Sequence[str]) -> str:
    """Return items as one enumeration.

    Examples
    --------
    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
