"""Our accuracies next to the published ones: a table, mean differences, and why the two differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.comparison.caveats import WHY_PUBLISHED_DIFFER
from experiments.comparison.comparison import Comparison
from experiments.comparison.published import METHOD_OF_COLUMN, PUBLISHED_METHODS, read_published
from experiments.reporting.chapter import Cell, Table
from experiments.specs.selections import ADF, RIVER

NOTE = (
    "Ours with the paper's settings for SysFor, RF, CIRF and ADF: leaves of 20 records, or 100 above 100,000; SysFor "
    "and RF refitted on each batch."
)
GROUPS = {
    "ADF with the paper's settings": ADF,
    "River's stream learners": tuple(name for name in PUBLISHED_METHODS if name in RIVER),
}


@dataclass(frozen=True)
class PublishedComparison:
    """Tables, findings and caveats of the comparison; empty where nothing is published."""

    tables: tuple[Table, ...] = ()
    findings: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


def compare_with_published(found: Comparison, table: str, title: str) -> PublishedComparison:
    """Compare accuracies by data set with those of a table of the paper.

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
    PublishedComparison
    """
    theirs = read_published(table)
    rows: list[tuple[Cell, ...]] = []
    for stream in found.streams:
        rows.append(
            (f"{stream}, ours", *(found.value_if_run(stream, METHOD_OF_COLUMN[name]) for name in PUBLISHED_METHODS))
        )
        rows.append((f"{stream}, published", *(theirs.value(stream, name) for name in PUBLISHED_METHODS)))
    findings = [_describe_group(found, table, group, names) for group, names in GROUPS.items()]
    made = Table(title, ("data set", *PUBLISHED_METHODS), tuple(rows), 3, "max", NOTE)
    return PublishedComparison((made,), tuple(filter(None, findings)), WHY_PUBLISHED_DIFFER)


def _describe_group(found: Comparison, table: str, group: str, names: Sequence[str]) -> str:
    """Return the mean and the range of our accuracies minus the published ones; nothing where none is published."""
    theirs = read_published(table)
    gaps = [
        ours - published
        for stream in found.streams
        for name in names
        if (ours := found.value_if_run(stream, METHOD_OF_COLUMN[name])) is not None
        and (published := theirs.value(stream, name)) is not None
    ]
    if not gaps:
        return ""
    low, mean, high = (100 * figure for figure in (min(gaps), float(np.mean(gaps)), max(gaps)))
    return f"{group}: {mean:+.1f} points against the published figures on average, from {low:+.1f} to {high:+.1f}."
