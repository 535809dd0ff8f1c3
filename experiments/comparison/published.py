"""The paper's tables (Rahman & Islam, Pattern Recognition 122, 2022)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "published_tables"

# Which of our methods a published column is set beside; the paper's settings where there is a choice.
METHOD_OF_COLUMN = {
    "SysFor": "SysFor batch paper",
    "RF": "RF batch paper",
    "HT": "HT",
    "HAT": "HAT",
    "LeveragingBag": "LeveragingBag",
    "OzaBag": "OzaBag",
    "CIRF": "CIRF paper",
    "ARF": "ARF",
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
