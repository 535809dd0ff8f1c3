"""Chapters as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.reporting.chapter import Chapter, Provenance, Table
from experiments.reporting.table_format import format_table

HEADING = "## "
INTRODUCTION = (
    "Written by `python -m experiments`; the command at the end of each chapter makes it anew. The report that the "
    "same command writes has the figures as well."
)


def write_markdown(chapters: Sequence[Chapter], path: Path) -> None:
    """Write chapters as Markdown, without their figures.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order to be read.
    path : Path
        Where to; missing folders are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_page(INTRODUCTION, [chapter_as_markdown(chapter) for chapter in chapters], path)


def write_page(introduction: str, chapters: Sequence[str], path: Path) -> None:
    """Write a page of chapters that are Markdown already, with a list of them at its top."""
    titles = [chapter.split("\n", 1)[0].removeprefix(HEADING) for chapter in chapters]
    contents = ["\n".join(f"- [{title}](#{anchor(title)})" for title in titles)] if titles else []
    path.write_text("\n\n".join(["# Results", introduction, *contents, *chapters]) + "\n", encoding="utf-8")


def chapter_as_markdown(chapter: Chapter) -> str:
    """Return a chapter as Markdown, its provenance last."""
    return "\n\n".join(_paragraphs(chapter))


def _paragraphs(chapter: Chapter) -> Iterator[str]:
    """Yield the paragraphs of a chapter."""
    yield f"{HEADING}{_escape(chapter.title)}"
    yield f"*{_escape(chapter.question)}*"
    if chapter.findings:
        yield "\n".join(f"- {_escape(finding)}" for finding in chapter.findings)
    for table in chapter.tables:
        yield from _table_as_markdown(table)
    if chapter.caveats:
        yield "**What to doubt**"
        yield "\n".join(f"- {_escape(caveat)}" for caveat in chapter.caveats)
    yield f"```console\n$ {' '.join(chapter.command.split())}\n```"
    if chapter.provenance is not None:
        yield provenance_as_markdown(chapter.provenance)


def provenance_as_markdown(provenance: Provenance) -> str:
    """Return the line that ends a chapter.

    Examples
    --------
    >>> provenance_as_markdown(Provenance("2022-02-01", "1a2b3c4 + changes", 3, {"ADF-R": "0123456789"}))
    'Measured on 2022-02-01 at commit 1a2b3c4 + changes, seeds: 3, behaviour: ADF-R `0123456789`.'
    """
    said = f"Measured on {provenance.date} at commit {provenance.commit}, seeds: {provenance.n_seeds}"
    for what in ("libraries", "behaviour"):
        if known := getattr(provenance, what):
            said += f", {what}: {', '.join(f'{name} `{value}`' for name, value in known.items())}"
    return f"{said}."


def read_provenance(text: str) -> Provenance | None:
    """Return what the last line of a chapter says of its origin, None if it says nothing.

    Examples
    --------
    >>> read_provenance("Measured on 2022-02-01 at commit 1a2b3c4, seeds: 3, behaviour: ADF-R `0123456789`.").behaviour
    {'ADF-R': '0123456789'}
    """
    found = re.search(
        r"^Measured on (\S+) at commit ([^,]+), seeds: (\d+)(?:, libraries: (.+?`))?(?:, behaviour: (.+))?\.$",
        text,
        re.MULTILINE,
    )
    if found is None:
        return None
    libraries, behaviour = (dict(re.findall(r"([^`]+?) `([^`]+)`(?:, )?", found[k] or "")) for k in (4, 5))
    return Provenance(found[1], found[2], int(found[3]), behaviour, libraries)


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
    >>> print(_escape("a|b *c* memory_size __d__ <x>"))
    a\|b \*c\* memory_size \_\_d\_\_ \<x>
    """
    line = re.sub(r"[\\`*\[\]<|~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", " ".join(text.split()))
    return re.sub(r"^(\d+)([.)])(?=\s|$)|^([-+>#=])", lambda found: f"{found[1] or ''}\\{found[2] or found[3]}", line)


def anchor(title: str) -> str:
    """Return the name that code hosts give to a heading."""
    return re.sub(r"[^\w\- ]", "", " ".join(title.split()).lower()).replace(" ", "-")
