"""The paper's tables (Rahman & Islam, Pattern Recognition 122, 2022)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "published_tables"

# The method with the paper's settings that a published column is set beside. MOA's learners are the paper's own; its
# CIRF starts from SysFor, whose published figure on the first batch it shares to the last digit.
METHOD_OF_COLUMN = {
    "SysFor": "SysFor batch paper",
    "RF": "RF batch paper",
    "HT": "HT (MOA)",
    "HAT": "HAT (MOA)",
    "LeveragingBag": "LeveragingBag (MOA)",
    "OzaBag": "OzaBag (MOA)",
    "CIRF": "CIRF-S paper",
    "ARF": "ARF (MOA)",
    "ADF-H": "ADF-H paper",
    "ADF-R": "ADF-R paper",
    "ADF-S": "ADF-S paper",
}
PUBLISHED_METHODS = tuple(METHOD_OF_COLUMN)
LABELS = ("dataset", "scenario", "batch", "source")


@dataclass(frozen=True)
class Published:
    """A table of the paper.

    Attributes
    ----------
    labels : tuple of tuples of str
        What names each row: the data set, or scenario and batch.
    figures : dict of str to tuple of float
        By column, a figure for each row.
    """

    labels: tuple[tuple[str, ...], ...]
    figures: dict[str, tuple[float, ...]]

    def value(self, row: str, column: str) -> float | None:
        """Return the figure of a row, found by its first label, or None where the paper has none."""
        rows = [label[0] for label in self.labels]
        return self.figures[column][rows.index(row)] if row in rows and column in self.figures else None

    def row_for(self, stream: str) -> str:
        """Return the row that a stream is set beside: its own, or the first where it stands in for another data set."""
        rows = [label[0] for label in self.labels]
        return stream if stream in rows else rows[0]


@cache
def read_published(name: str) -> Published:
    """Return a table of the paper.

    Parameters
    ----------
    name : str
        A file of ``published_tables/``, without its ending.

    Returns
    -------
    Published

    Examples
    --------
    >>> read_published("overall_accuracy").value("LDPA", "ADF-S")
    0.682
    """
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    labels = [place for place, title in enumerate(head) if title in LABELS]
    return Published(
        labels=tuple(tuple(row[place] for place in labels) for row in rows),
        figures={
            title: tuple(float(row[place]) for row in rows) for place, title in enumerate(head) if place not in labels
        },
    )
