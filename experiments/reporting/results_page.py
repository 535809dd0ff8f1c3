"""docs/results.md: chapters that were run replace their old text; its tables by chapter and title, for other pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from experiments.reporting.chapter import Chapter, Provenance
from experiments.reporting.markdown import HEADING, anchor, chapter_as_markdown, read_provenance, write_page

RESULTS_PAGE = Path(__file__).parents[2] / "docs" / "results.md"
EARLIER = "Measured with an earlier version of the code."  # the first paragraph of a chapter that is not of this one


@dataclass(frozen=True)
class PageTable:
    """A table of the page: heads, and rows by their first cell."""

    heads: list[str]
    rows: dict[str, list[str]]

    def cell(self, row: str, column: str) -> str:
        """Return the text of one cell."""
        return self.row(row)[self.index(column)]

    def number(self, row: str, column: str) -> float | None:
        """Return the mean that a cell holds, None if it is empty."""
        text = self.mean(row, column)
        return None if text == "–" else float(text.replace(",", ""))

    def mean(self, row: str, column: str) -> str:
        """Return the text of one cell without what follows ±."""
        return self.cell(row, column).split(" ± ")[0]

    def points_above(self, row: str, other: str, column: str) -> str:
        """Return by how many hundredths a row is above another."""
        return f"{100 * (float(self.mean(row, column)) - float(self.mean(other, column))):.1f}"

    def times(self, row: str, other: str, column: str) -> str:
        """Return how many times as large a row is as another, as a number of two digits."""
        ratio = float(f"{float(self.mean(row, column)) / float(self.mean(other, column)):.2g}")
        return f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"

    def row(self, name: str) -> list[str]:
        """Return the cells of a row, its name first."""
        if name not in self.rows:
            raise LookupError(f"there is no row {name!r}; expected one of {', '.join(self.rows)}")
        return self.rows[name]

    def index(self, column: str) -> int:
        """Return the index of a column."""
        if column not in self.heads:
            raise LookupError(f"there is no column {column!r}; expected one of {', '.join(self.heads)}")
        return self.heads.index(column)


# Figures of a table that pages may quote, by the name of their role.
FIGURES = {"measured": PageTable.mean, "measured-points": PageTable.points_above, "measured-times": PageTable.times}


@dataclass(frozen=True)
class PageChapter:
    """A chapter of the page.

    Attributes
    ----------
    text : str
        All of it, as Markdown.
    """

    text: str

    @cached_property
    def title(self) -> str:
        """What its heading says."""
        return self.text.split("\n", 1)[0].removeprefix(HEADING)

    @property
    def anchor(self) -> str:
        """The name of its heading in links."""
        return anchor(self.title)

    @cached_property
    def command(self) -> str:
        """What makes it anew."""
        return str(re.findall(r"^\$ (python -m experiments \S+.*)$", self.text, flags=re.MULTILINE)[-1])

    @property
    def study(self) -> str:
        """Name of the study that makes it."""
        return self.command.split()[3]

    @property
    def is_of_earlier_version(self) -> bool:
        """Whether its first paragraph says so."""
        return self.text.split("\n\n", 2)[1] == EARLIER

    @cached_property
    def provenance(self) -> Provenance | None:
        """When and from what it was measured, None if it does not say."""
        return read_provenance(self.text)

    def table(self, title: str) -> PageTable:
        """Return one of its tables."""
        found = re.search(rf"^\*\*{re.escape(title)}\*\*\n\n((?:\|.*\n)+)", self.text + "\n", flags=re.MULTILINE)
        if not found:
            titles = re.findall(r"^\*\*(.+)\*\*$", self.text, flags=re.MULTILINE)
            raise LookupError(f"{self.title!r} has no table {title!r}; expected one of {'; '.join(titles)}")
        heads, _, *rows = [_cells(line) for line in found[1].splitlines()]
        return PageTable(heads, {row[0]: row for row in rows})

    def marked(self, *, is_earlier: bool) -> PageChapter:
        """Return the chapter with or without the paragraph that says that it is of an earlier version."""
        heading, _, rest = self.text.partition("\n\n")
        rest = rest.removeprefix(f"{EARLIER}\n\n")
        return PageChapter("\n\n".join([heading, *([EARLIER] if is_earlier else []), rest]))


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table, without marks of emphasis."""
    cells = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [re.sub(r"\\(.)", r"\1", cell.strip().replace("**", "")) for cell in cells]


def read_page(path: Path = RESULTS_PAGE) -> tuple[str, list[PageChapter]]:
    """Return the introduction of the page, and its chapters."""
    head, *chapters = re.split(rf"^(?={HEADING})", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    introduction = [part for part in head.split("\n\n")[1:] if part.strip() and not part.startswith("- [")]
    return "\n\n".join(introduction), [PageChapter(chapter.rstrip()) for chapter in chapters]


def find_chapter(title: str, path: Path = RESULTS_PAGE) -> PageChapter:
    """Return a chapter of the page by its title."""
    chapters = {chapter.title: chapter for chapter in read_page(path)[1]}
    if title not in chapters:
        raise LookupError(f"{path.name} has no chapter {title!r}; expected one of {', '.join(chapters)}")
    return chapters[title]


def mark_earlier(path: Path, is_current: Callable[[PageChapter], bool]) -> list[str]:
    """Let each chapter say whether it is of an earlier version; return the studies of those that are."""
    introduction, page = read_page(path)
    page = [chapter.marked(is_earlier=not is_current(chapter)) for chapter in page]
    write_page(introduction, [chapter.text for chapter in page], path)
    return [chapter.study for chapter in page if chapter.is_of_earlier_version]


def update_page(path: Path, chapters: Mapping[str, Chapter], studies: Sequence[str]) -> None:
    """Put chapters where those of the same studies are, new ones after the study before them, and keep all others.

    Parameters
    ----------
    path : Path
        The page.
    chapters : mapping of str to Chapter
        By study.
    studies : sequence of str
        All studies in their order.
    """
    introduction, page = read_page(path)
    for study, chapter in chapters.items():
        made = PageChapter(chapter_as_markdown(chapter))
        known = [one.study for one in page]
        if study in known:
            page[known.index(study)] = made
        else:
            before = [one for one in studies[: studies.index(study)] if one in known]
            page.insert(known.index(before[-1]) + 1 if before else len(page), made)
    write_page(introduction, [one.text for one in page], path)
