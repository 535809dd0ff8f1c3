"""The page of results in the docs: chapters that were run replace their old text, the others stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.reporting.chapter import Chapter, Provenance
from experiments.reporting.markdown import HEADING, chapter_as_markdown, read_provenance, write_page

EARLIER = "Measured with an earlier version of the code."  # what a chapter must begin with if it has no provenance


@dataclass(frozen=True)
class PageChapter:
    """A chapter of the page.

    Attributes
    ----------
    text : str
        All of it, as Markdown.
    """

    text: str

    @property
    def title(self) -> str:
        """What its heading says."""
        return self.text.split("\n", 1)[0].removeprefix(HEADING)

    @property
    def study(self) -> str:
        """Name of the study that makes it, by the command at its end."""
        commands = re.findall(r"^\$ python -m experiments (\S+)", self.text, flags=re.MULTILINE)
        return str(commands[-1])

    @property
    def is_of_earlier_version(self) -> bool:
        """Whether its first paragraph says so."""
        return self.text.split("\n\n", 2)[1] == EARLIER

    @property
    def provenance(self) -> Provenance | None:
        """When and from what it was measured, None if it does not say."""
        return read_provenance(self.text)


def read_page(path: Path) -> tuple[str, list[PageChapter]]:
    """Return the introduction of the page, and its chapters."""
    head, *chapters = re.split(rf"^(?={HEADING})", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    introduction = [part for part in head.split("\n\n")[1:] if part.strip() and not part.startswith("- [")]
    return "\n\n".join(introduction), [PageChapter(chapter.rstrip()) for chapter in chapters]


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
