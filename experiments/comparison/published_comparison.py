"""The paper's figures and ours in one table: with the paper's settings, as published, the difference, our defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.comparison.comparison import Comparison, points
from experiments.comparison.published import METHOD_OF_COLUMN, PUBLISHED_METHODS, Published, read_published
from experiments.comparison.results import PerSeed
from experiments.reporting.chapter import Cell, Table
from experiments.specs.methods import is_installed
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, Streams, plan_methods

GROUPS = {
    "ADF": ("ADF-R", "ADF-S", "ADF-H"),
    "SysFor, RF and CIRF": ("SysFor", "RF", "CIRF"),
    "MOA's stream learners": ("HT", "HAT", "LeveragingBag", "OzaBag", "ARF"),
}
NOTE = (
    "Paper's settings: 10 trees, leaves of 20 samples, or 100 above 100,000; SysFor and RF refitted on each batch. "
    "Difference: ours with the paper's settings minus published."
)

Lookup = Callable[[str, str], PerSeed | None]  # from a stream and a published column to our figure, None if not run


def plan_as_published(streams: Streams, options: Options) -> list[RunSpec]:
    """Return the runs of the paper's columns and of our defaults; methods that are not installed are left out."""
    names = [name for name in METHOD_OF_COLUMN.values() if is_installed(name)]
    return plan_methods(streams, (*names, *ADF), options)


@dataclass(frozen=True)
class PublishedComparison:
    """Our figures next to those of a table of the paper with a row for each data set.

    Attributes
    ----------
    found : Comparison
    table : str
        A published table.
    """

    found: Comparison
    table: str

    def ours(self, stream: str, column: str) -> PerSeed | None:
        """Return our figure with the paper's settings, None if the method was not run."""
        return self._figure(stream, METHOD_OF_COLUMN[column])

    def default(self, stream: str, column: str) -> PerSeed | None:
        """Return the figure of our default classifier, None for the columns of others."""
        return self._figure(stream, column) if column in ADF else None

    def _figure(self, stream: str, name: str) -> PerSeed | None:
        """Return a method's figure on a stream."""
        return self.found.results.per_seed(self.found.streams[stream], MethodSpec(name), self.found.measure)

    def make_table(self, title: str, *, digits: int = 3, note: str = NOTE) -> Table:
        """Return the table: for each data set ours, published, difference and defaults, one below the other."""
        theirs = read_published(self.table)
        return tabulate(
            title, theirs, self.found.streams, PUBLISHED_METHODS, self.ours, self.default, digits=digits, note=note
        )

    def describe_differences(self) -> list[str]:
        """Return how far accuracies are from the published ones, a sentence for each group of columns that ran."""
        return list(filter(None, (self._describe_group(group, names) for group, names in GROUPS.items())))

    def _describe_group(self, group: str, names: Sequence[str]) -> str:
        """Return the mean difference of a group, and where it is largest; nothing where none of it ran."""
        theirs = read_published(self.table)
        gaps = {
            f"{name} on {stream}": ours.mean - published
            for stream in self.found.streams
            for name in names
            if (ours := self.ours(stream, name)) is not None
            and (published := theirs.value(theirs.row_for(stream), name)) is not None
        }
        if not gaps:
            return ""
        low, high = min(gaps, key=gaps.__getitem__), max(gaps, key=gaps.__getitem__)
        mean = points(float(np.mean(list(gaps.values()))))
        return (
            f"{group} with the paper's settings: {mean} points against the published figures on average, from "
            f"{points(gaps[low])} ({low}) to {points(gaps[high])} ({high})."
        )

    def describe_defaults(self) -> str:
        """Return what our defaults change against the paper's settings."""
        said = []
        for name in ADF:
            pairs = [(self.default(stream, name), self.ours(stream, name)) for stream in self.found.streams]
            gains = [ours.mean - paper.mean for ours, paper in pairs if ours is not None and paper is not None]
            said.append(f"{name} {points(float(np.mean(gains)))}")
        return f"Our defaults against the paper's settings, points on average over the data sets: {', '.join(said)}."


def tabulate(
    title: str,
    theirs: Published,
    streams: Iterable[str],
    columns: Sequence[str],
    ours: Lookup,
    defaults: Lookup,
    *,
    digits: int = 3,
    note: str = NOTE,
    head: str = "data set",
    has_mean: bool = True,
) -> Table:
    """Return a table with four rows for each stream, and their means if there are several streams.

    Parameters
    ----------
    title : str
    theirs : Published
        A stream that has no row there stands in for the first one.
    streams : iterable of str
    columns : sequence of str
        Published columns.
    ours, defaults : callable
        Our figures with the paper's settings, and with our defaults.
    digits : int
    note : str
    head : str
        What names the rows.
    has_mean : bool
        Whether the means are asked for.

    Returns
    -------
    Table
    """
    rows: list[tuple[Cell, ...]] = []
    values: list[list[list[float | None]]] = []
    for stream in streams:
        row = theirs.row_for(stream)
        mine, default = ([look(stream, column) for column in columns] for look in (ours, defaults))
        published = [theirs.value(row, column) for column in columns]
        means = [None if figure is None else figure.mean for figure in mine]
        gaps = differences(means, published)
        rows += [
            (f"{stream}, paper's settings", *(None if figure is None else figure.cell(digits) for figure in mine)),
            (f"{row}, published", *published),
            (f"{stream}, difference", *gaps),
            (f"{stream}, defaults", *(None if figure is None else figure.cell(digits) for figure in default)),
        ]
        values.append([means, published, gaps, [None if figure is None else figure.mean for figure in default]])
    if has_mean and len(values) > 1:
        kinds = ("paper's settings", "published", "difference", "defaults")
        for kind, by_stream in zip(kinds, zip(*values, strict=True), strict=True):
            rows.append((f"mean, {kind}", *map(_mean_if_complete, zip(*by_stream, strict=True))))
    return Table(title, (head, *columns), tuple(rows), digits, "", note)


def differences(ours: Sequence[float | None], published: Sequence[float | None]) -> list[float | None]:
    """Return ours minus published, None where one of them is missing.

    Examples
    --------
    >>> differences([0.75, None], [0.5, 0.5])
    [0.25, None]
    """
    return [None if a is None or b is None else a - b for a, b in zip(ours, published, strict=True)]


def _mean_if_complete(values: Sequence[float | None]) -> float | None:
    """Return the mean of values, None if one is missing."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
