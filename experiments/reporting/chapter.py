"""Chapters: what a study reports, before it is printed, drawn or put on a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Figures in rows.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Heads; the first names the rows.
    rows : tuple of tuples
        Cells in the order of the columns; None is shown as a dash.
    digits : int
        Decimals of floating-point cells.
    best : {"max", "min", ""}
        Which number of a row stands out, if any.
    note : str
        What a reader must know to read it right.
    layout : {"upright", "sideways", ""}
        Whether rows are shown as rows or as columns; by default the wide ones are laid on their side.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 3
    best: str = ""
    note: str = ""
    layout: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing: a Plotly figure as plain data, and one sentence on what to see in it."""

    title: str
    plot: dict[str, Any]
    caption: str = ""


@dataclass(frozen=True)
class Provenance:
    """When and from what a chapter was measured.

    Attributes
    ----------
    date : str
        Year, month and day.
    commit : str
        Short hash, with "+ changes" if the code differed from that commit.
    n_seeds : int
    behaviour : dict of str to str
        By ADF method the fingerprint of what it does on a small stream, see `experiments.running.behaviour`.
    libraries : dict of str to str
        Versions of the libraries whose methods are compared.
    """

    date: str
    commit: str
    n_seeds: int
    behaviour: dict[str, str]
    libraries: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Chapter:
    """The report of one study.

    Attributes
    ----------
    name : str
        The experiment's name on the command line.
    title, question : str
        What was asked.
    findings : tuple of str
        What came out, a sentence or two each, computed from the figures.
    caveats : tuple of str
        What to doubt: where ADF loses, what was not tried, why figures differ from the published ones.
    tables, figures : tuple
    command : str
        What makes it again.
    provenance : Provenance or None
        None until the chapter is written.
    """

    name: str
    title: str
    question: str
    findings: tuple[str, ...]
    caveats: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    command: str
    provenance: Provenance | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the chapter as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Chapter:
        """Return the chapter that plain data describe."""
        tables = (
            Table(**{**one, "columns": tuple(one["columns"]), "rows": tuple(map(tuple, one["rows"]))})
            for one in data["tables"]
        )
        figures = (Figure(**one) for one in data["figures"])
        said = {key: tuple(data[key]) for key in ("findings", "caveats")}
        known = data.get("provenance")
        provenance = None if known is None else Provenance(**known)
        return cls(**{**data, **said, "tables": tuple(tables), "figures": tuple(figures), "provenance": provenance})
