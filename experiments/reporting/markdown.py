"""Chapters as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.reporting.chapter import Chapter, Table
from experiments.reporting.table_format import format_table


def write_markdown(chapters: Sequence[Chapter], path: Path) -> None:
    """Write chapters as Markdown, without their figures.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order to be read.
    path : Path
        Where to; missing folders are made.
    """
    parts = [
        "# Results",
        "Written by `python -m experiments`; the command at the end of each chapter makes it anew. The report "
        "that the same command writes has the figures as well.",
    ]
    if chapters:
        parts.append("\n".join(f"- [{_escape(one.title)}](#{_anchor(one.title)})" for one in chapters))
    parts += [part for chapter in chapters for part in _chapter_as_markdown(chapter)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _chapter_as_markdown(chapter: Chapter) -> Iterator[str]:
    """Yield the paragraphs of a chapter."""
    yield f"## {_escape(chapter.title)}"
    yield f"*{_escape(chapter.question)}*"
    if chapter.findings:
        yield "\n".join(f"- {_escape(finding)}" for finding in chapter.findings)
    for table in chapter.tables:
        yield from _table_as_markdown(table)
    if chapter.caveats:
        yield "**What to doubt**"
        yield "\n".join(f"- {_escape(caveat)}" for caveat in chapter.caveats)
    yield f"```console\n$ {' '.join(chapter.command.split())}\n```"


def _table_as_markdown(table: Table) -> Iterator[str]:
    """Yield a table's title, its rows between bars, and its note."""
    grid = format_table(table)
    yield f"**{_escape(table.title)}**"
    rows = [[_escape(head) for head in grid.heads], ["---:" if numeric else "---" for numeric in grid.is_numeric]]
    rows += [[f"**{_escape(cell.text)}**" if cell.is_best else _escape(cell.text) for cell in row] for row in grid.rows]
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
    best = f"Bold: {grid.best}." if grid.best else ""
    if note := f"{grid.note} {best}".strip():
        yield _escape(note)


def _escape(text: str) -> str:
    r"""Return text that Markdown shows as it stands, on one line.

    Examples
    --------
    >>> print(_escape("a|b *c* memory_size <x>"))
    a\|b \*c\* memory_size \<x>
    """
    line = re.sub(r"[\\`*\[\]<|~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", " ".join(text.split()))
    return re.sub(r"^(\d+)([.)])(?=\s|$)|^([-+>#=])", lambda found: f"{found[1] or ''}\\{found[2] or found[3]}", line)


def _anchor(title: str) -> str:
    """Return the name that code hosts give to a heading."""
    return re.sub(r"[^\w\- ]", "", " ".join(title.split()).lower()).replace(" ", "-")
