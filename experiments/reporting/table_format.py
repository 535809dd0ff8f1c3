"""Tables with every cell as text, the same on a page, in a terminal and in Markdown."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from experiments.reporting.chapter import Cell, Table

DASH = "–"
WIDE = 10  # columns; a table of more lies on its side if it is wider than long
BEST = {"max": "highest", "min": "lowest"}
MEAN_AND_SPREAD = re.compile(r"([-+]?\d[\d,]*(?:\.\d+)?)\s*±\s*\d[\d,.]*")


@dataclass(frozen=True)
class FormattedCell:
    """A cell as it is shown.

    Attributes
    ----------
    text : str
    value : float or None
        The number to sort by; None for words and for what is missing.
    is_best : bool
    """

    text: str
    value: float | None = None
    is_best: bool = False


@dataclass(frozen=True)
class FormattedTable:
    """A table as it is shown.

    Attributes
    ----------
    heads, rows : tuple
    is_numeric : tuple of bool
        Which columns hold numbers.
    note : str
        What to know of it.
    best : str
        What the best cells are, such as "the highest of its row"; empty where there are none.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[FormattedCell, ...], ...]
    is_numeric: tuple[bool, ...]
    note: str
    best: str


def format_table(table: Table) -> FormattedTable:
    """Return a table's cells as they are shown.

    A table wider than long, and too wide for a page, is laid on its side unless its layout says otherwise: its columns
    become rows.

    Parameters
    ----------
    table : Table

    Returns
    -------
    FormattedTable

    Raises
    ------
    ValueError
        If a row has not one cell for each column.
    """
    for row in table.rows:
        if len(row) != len(table.columns):
            raise ValueError(
                f"table '{table.title}' has {len(table.columns)} columns but a row of {len(row)} cells, {row!r}; "
                "give every row one cell for each column, None where there is nothing"
            )
    heads = tuple(" ".join(head.split()) for head in table.columns)
    rows = tuple(_format_row(row, table) for row in table.rows)
    is_wide = len(heads) > max(WIDE, len(rows) + 1)
    is_transposed = bool(rows) and (table.layout == "sideways" or (is_wide and table.layout != "upright"))
    best = ""
    if any(cell.is_best for row in rows for cell in row):
        best = f"the {BEST[table.best]} of its {'column' if is_transposed else 'row'}"
    if is_transposed:
        names, *columns = zip(*rows, strict=True)
        rows = tuple((FormattedCell(head), *column) for head, column in zip(heads[1:], columns, strict=True))
        heads = ("", *(name.text for name in names))
    is_numeric = tuple(map(_is_numeric, zip(*rows, strict=True))) or (False,) * len(heads)
    return FormattedTable(heads, rows, is_numeric, " ".join(table.note.split()), best)


def format_cell(cell: Cell, digits: int) -> str:
    """Return a cell's text: thousands are parted, what is missing or no number is a dash.

    Examples
    --------
    >>> [format_cell(cell, 2) for cell in (0.5, 164860, "1 of 6", None, float("nan"))]
    ['0.50', '164,860', '1 of 6', '–', '–']
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return DASH
    if isinstance(cell, float) and math.isinf(cell):
        return "∞" if cell > 0 else "-∞"
    if isinstance(cell, float):
        return f"{cell:z,.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else " ".join(cell.split())


def cell_value(cell: Cell) -> float | None:
    """Return the number a cell stands for, the mean where it is a mean and its spread, or None.

    Examples
    --------
    >>> [cell_value(cell) for cell in (0.5, "0.803 ± 0.004", "1 of 6")]
    [0.5, 0.803, None]
    """
    if isinstance(cell, str):
        found = MEAN_AND_SPREAD.fullmatch(cell.strip())
        return float(found[1].replace(",", "")) if found else None
    return None if cell is None or math.isnan(cell) else float(cell)


def _format_row(row: tuple[Cell, ...], table: Table) -> tuple[FormattedCell, ...]:
    """Return a row's cells as they are shown; cells that round to the best are best too."""
    rivals = {place: round(value, table.digits) for place, value in _comparable_values(row).items()}
    choose = {"max": max, "min": min}.get(table.best)
    best = choose(rivals.values()) if choose and len(rivals) > 1 else None
    return tuple(
        FormattedCell(format_cell(cell, table.digits), cell_value(cell), best is not None and rivals.get(place) == best)
        for place, cell in enumerate(row)
    )


def _comparable_values(row: tuple[Cell, ...]) -> dict[int, float]:
    """Return the places and values of a row's measures; whole numbers, being counts, compete among themselves only."""
    values = {place: value for place, cell in enumerate(row) if place and (value := cell_value(cell)) is not None}
    measures = {place: value for place, value in values.items() if not isinstance(row[place], int)}
    return measures or values


def _is_numeric(column: tuple[FormattedCell, ...]) -> bool:
    """Return whether a column holds numbers, and nothing else but dashes."""
    return any(cell.value is not None for cell in column) and all(
        cell.value is not None or cell.text == DASH for cell in column
    )
