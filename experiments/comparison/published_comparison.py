"""Ours beside the published figures: a table, what it says, and why the two differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.comparison.caveats import WHY_THEY_DIFFER
from experiments.comparison.comparison import Comparison
from experiments.comparison.published import METHODS, OURS, read_published
from experiments.reporting.chapter import Cell, Table
from experiments.specs.selections import ADF, RIVER

NOTE = (
    "Ours with the paper's settings for SysFor, RF, CIRF and ADF: leaves of 20 records, or 100 above 100,000; SysFor "
    "and RF refitted on each batch."
)
GROUPS = {
    "ADF with the paper's settings": ADF,
    "River's stream learners": tuple(name for name in METHODS if name in RIVER),
}


@dataclass(frozen=True)
class Beside:
    """What stands beside the published figures; empty where there are none to compare with."""

    tables: tuple[Table, ...] = ()
    findings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def set_beside(found: Comparison, table: str, title: str) -> Beside:
    """Set accuracies by data set beside those of a table of the paper.

    Parameters
    ----------
    found : Comparison
        Of accuracies.
    table : str
        A published table, with a row for each data set.
    title : str
        Of the table made.

    Returns
    -------
    Beside
    """
    theirs = read_published(table)
    rows: list[tuple[Cell, ...]] = []
    for stream in found.streams:
        rows.append((f"{stream}, ours", *(found.value_if_run(stream, OURS[name]) for name in METHODS)))
        rows.append((f"{stream}, published", *(theirs.value(stream, name) for name in METHODS)))
    findings = [_say_group(found, table, group, names) for group, names in GROUPS.items()]
    made = Table(title, ("data set", *METHODS), tuple(rows), 3, "max", NOTE)
    return Beside((made,), tuple(filter(None, findings)), WHY_THEY_DIFFER)


def _say_group(found: Comparison, table: str, group: str, names: Sequence[str]) -> str:
    """Return how ours stand to the published figures of some methods, or nothing where there are none."""
    theirs = read_published(table)
    gaps = [
        ours - published
        for stream in found.streams
        for name in names
        if (ours := found.value_if_run(stream, OURS[name])) is not None
        and (published := theirs.value(stream, name)) is not None
    ]
    if not gaps:
        return ""
    low, mean, high = (100 * figure for figure in (min(gaps), float(np.mean(gaps)), max(gaps)))
    return f"{group}: {mean:+.1f} points against the published figures on average, from {low:+.1f} to {high:+.1f}."
