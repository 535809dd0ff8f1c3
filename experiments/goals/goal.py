"""The outcome of a goal: figures against their limits, findings and caveats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from experiments.comparison.comparison import Comparison
from experiments.comparison.results import PerSeed
from experiments.reporting.chapter import Cell, Figure, Table

MET, MISSED = "met", "missed"


@dataclass(frozen=True)
class Verdict:
    """One figure against its limit.

    Attributes
    ----------
    measure : str
        What is measured, and in which unit.
    wanted : str
        The limit in words.
    seen : float
    is_met : bool
    """

    measure: str
    wanted: str
    seen: float
    is_met: bool


@dataclass(frozen=True)
class Outcome:
    """Verdicts, findings, caveats, tables and figures of a goal."""

    verdicts: tuple[Verdict, ...]
    findings: tuple[str, ...]
    caveats: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()

    @property
    def is_met(self) -> bool:
        """Whether every figure keeps its limit."""
        return all(verdict.is_met for verdict in self.verdicts)


def at_least(measure: str, limit: float, seen: float) -> Verdict:
    """Return the verdict on a figure that must not be lower than its limit.

    Examples
    --------
    >>> at_least("points", 1.0, 0.99)
    Verdict(measure='points', wanted='at least 1', seen=0.99, is_met=False)
    """
    return Verdict(measure, f"at least {limit:g}", seen, seen >= limit)


def above(measure: str, limit: float, seen: float) -> Verdict:
    """Return the verdict on a figure that must be higher than its limit."""
    return Verdict(measure, f"above {limit:g}", seen, seen > limit)


def at_most(measure: str, limit: float, seen: float) -> Verdict:
    """Return the verdict on a figure that must not be higher than its limit."""
    return Verdict(measure, f"at most {limit:g}", seen, seen <= limit)


def caveat_missed(verdicts: Iterable[Verdict], digits: int) -> list[str]:
    """Return every limit that was not kept, with the figure in so many decimals."""
    missed = [f"{one.measure}: {one.seen:.{digits}f}, wanted {one.wanted}" for one in verdicts if not one.is_met]
    return [f"Limits not kept: {'; '.join(missed)}."] if missed else []


def in_points(gap: PerSeed) -> PerSeed:
    """Return differences of accuracies in points of a percentage."""
    return PerSeed(tuple(100 * one for one in gap.by_seed))


def gap_table(title: str, found: Comparison, ours: str, note: str = "") -> Table:
    """Return how many points ours is above each other variant on each stream, and the means."""
    others = [name for name in found.methods if name != ours]
    rows: list[tuple[Cell, ...]] = [
        (stream, *(in_points(found.gap(stream, ours, other)).cell(2) for other in others)) for stream in found.streams
    ]
    if len(found.streams) > 1:
        rows.append(("mean", *(100 * found.mean_gap(ours, other) for other in others)))
    return Table(title, ("data set", *(f"against {other}" for other in others)), tuple(rows), 2, "", note)


def worst_gap(found: Comparison, ours: str, other: str) -> tuple[str, float]:
    """Return the stream on which ours stands worst against another, and by how many points."""
    gaps = {stream: 100 * found.gap(stream, ours, other).mean for stream in found.streams}
    worst = min(gaps, key=gaps.__getitem__)
    return worst, gaps[worst]


def list_behind(found: Comparison, ours: str, others: Iterable[str]) -> list[str]:
    """Return where ours is behind others, with the points."""
    gaps = {(stream, other): 100 * found.gap(stream, ours, other).mean for stream in found.streams for other in others}
    return [f"{other} on {stream} ({gap:+.1f})" for (stream, other), gap in gaps.items() if gap < 0]
