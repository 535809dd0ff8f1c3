"""Tables of docs/results.md by chapter and title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results.md"
EARLIER = "Measured with an earlier version of the code."  # what an old chapter begins with


@dataclass(frozen=True)
class Table:
    """A table of the results: heads, and rows by their first cell."""

    heads: list[str]
    rows: dict[str, list[str]]

    def cell(self, row: str, column: str) -> str:
        """Return the text of one cell."""
        return self.row(row)[self.place(column)]

    def row(self, name: str) -> list[str]:
        """Return the cells of a row, its name first."""
        if name not in self.rows:
            raise LookupError(f"there is no row {name!r}; expected one of {', '.join(self.rows)}")
        return self.rows[name]

    def place(self, column: str) -> int:
        """Return where a column is."""
        if column not in self.heads:
            raise LookupError(f"there is no column {column!r}; expected one of {', '.join(self.heads)}")
        return self.heads.index(column)


def find_table(chapter: str, title: str, path: Path = RESULTS) -> Table:
    """Return a table of the results by its chapter and title."""
    text = find_chapter(chapter, path)
    found = re.search(rf"^\*\*{re.escape(title)}\*\*\n\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    if not found:
        titles = re.findall(r"^\*\*(.+)\*\*$", text, flags=re.MULTILINE)
        raise LookupError(f"{chapter!r} has no table {title!r}; expected one of {'; '.join(titles)}")
    heads, _, *rows = [_cells(line) for line in found[1].splitlines()]
    return Table(heads, {row[0]: row for row in rows})


def find_command(chapter: str, path: Path = RESULTS) -> str:
    """Return the command that makes a chapter anew."""
    return re.findall(r"^\$ (.+)$", find_chapter(chapter, path), flags=re.MULTILINE)[-1]


def is_of_earlier_version(chapter: str, path: Path = RESULTS) -> bool:
    """Return whether a chapter says that it was measured with an earlier version."""
    return find_chapter(chapter, path).split("\n\n", 2)[1] == EARLIER


def find_chapter(chapter: str, path: Path = RESULTS) -> str:
    """Return the text of a chapter of the results by its title."""
    text = path.read_text(encoding="utf-8")
    chapters = {part.split("\n", 1)[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}
    if chapter not in chapters:
        raise LookupError(f"{path.name} has no chapter {chapter!r}; expected one of {', '.join(chapters)}")
    return chapters[chapter]


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table, without marks of emphasis."""
    cells = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [re.sub(r"\\(.)", r"\1", cell.strip().replace("**", "")) for cell in cells]
