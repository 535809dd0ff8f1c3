"""Tables in pages of plain Markdown, written between marks: ``<!-- table: NAME -->`` and ``<!-- end -->``.

``python -m experiments pages`` writes all of them anew, from docs/results.md and benchmarks/record.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from experiments.benchmark_tables import EARLIER, as_table, cluster_table, costs_table, scale_table, service_table
from experiments.reporting.results_page import PageChapter, PageTable, find_chapter

CHECKOUT = Path(__file__).parents[1]
MARKED = re.compile(r"(<!-- table: (?P<name>[^>]+?) -->)(?P<text>.*?)(<!-- end -->)", re.DOTALL)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

# Who is compared with ADF-R on the next batch.
NEXT_BATCH = {
    **dict.fromkeys(("RF batch", "RF last 3"), "its own random forest refitted on the last batches"),
    "RF all": "its own random forest refitted on everything",
    "sklearn RF all": "scikit-learn's refitted on everything",
    "LightGBM all": "LightGBM refitted on everything",
    "ARF": "River's adaptive random forest",
}
ONE_SAMPLE = {
    "ADF-R": "adforest (ADF-R)",
    "No change": "the last label",
    "Markov": "the most frequent successor of the last label",
    "ARF": "River's adaptive random forest, 10 trees",
    "LeveragingBag": "River's leveraging bagging",
    "ARF (MOA)": "MOA's adaptive random forest",
}
OTHERS = {"HAT": "River's adaptive Hoeffding tree"}


def update_pages(root: Path = CHECKOUT) -> list[str]:
    """Write the marked tables of all pages anew, and return the pages that changed."""
    changed = []
    for page in find_pages(root):
        before = page.read_text(encoding="utf-8")
        after = fill_marks(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page.relative_to(root).as_posix())
    return changed


def find_pages(root: Path = CHECKOUT) -> list[Path]:
    """Return the pages that may have marks."""
    pages = [root / "README.md", root / "paper" / "paper.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in pages if page.is_file()]


def fill_marks(text: str, tables: dict[str, Callable[..., str]] | None = None) -> str:
    r"""Return a page with what belongs between its marks.

    Examples
    --------
    >>> fill_marks("a <!-- table: sum | 1 | 2 -->?<!-- end -->", {"sum": lambda a, b: str(int(a) + int(b))})
    'a <!-- table: sum | 1 | 2 -->3<!-- end -->'
    """
    known = TABLES if tables is None else tables

    def fill(found: re.Match[str]) -> str:
        name, *arguments = (part.strip() for part in found["name"].split("|"))
        if name not in known:
            raise LookupError(f"there is no table {name!r} to put between marks; expected one of {', '.join(known)}")
        made = known[name](*arguments)
        space = "\n\n" if found["text"].startswith("\n") else ""
        return f"{found[1]}{space}{made}{space}{found[4]}"

    return MARKED.sub(fill, text)


# Tables of chapters


def next_batch_sentence() -> str:
    """Return on how many real streams ADF-R has the highest accuracy, and who is ahead of it on the others."""
    accuracy = find_chapter("The next batch").table("Accuracy on the next batch, real streams")
    streams = [head for head in accuracy.heads[1:] if head != "mean"]
    ahead_by: dict[str, dict[str, float]] = {}
    for stream in streams:
        numbers = {name: accuracy.number(name, stream) or 0.0 for name in NEXT_BATCH}
        best = max(numbers, key=numbers.__getitem__)
        points = 100 * (numbers[best] - (accuracy.number("ADF-R", stream) or 0.0))
        if points > 0:
            ahead_by.setdefault(NEXT_BATCH[best], {})[stream] = points
    n_ahead = len(streams) - sum(map(len, ahead_by.values()))
    said = [f"On {_count(len(streams))} real streams `adforest` has the highest accuracy on {_count(n_ahead)}"]
    for name, points_by in ahead_by.items():
        up_to = "up to " if len(points_by) > 1 else ""
        said.append(f"{name} is ahead on {' and '.join(points_by)} by {up_to}{max(points_by.values()):.1f} points")
    return "; ".join(said) + "."


def one_sample_table() -> str:
    """Return accuracies where each label is learnt before the next sample, and who is ahead where we are not."""
    chapter = find_chapter("One sample at a time")
    accuracy = chapter.table("Accuracy, one sample at a time")
    streams = ["elec2", "outdoor", "covtype", "labels in a cycle", "labels in runs", "independent labels"]
    said = []
    for stream in streams:
        numbers = {name: accuracy.number(name, stream) for name in accuracy.rows}
        best = max(numbers, key=lambda name: numbers[name] or 0.0)
        if best != "ADF-R" and best not in ONE_SAMPLE:
            said.append(f"{OTHERS.get(best, best)} has {_short(numbers[best])} on {stream}")
    others = f"Of the methods that are not shown, {'; '.join(said)}. " if said else ""
    return "\n\n".join([_as_markdown(accuracy, streams, ONE_SAMPLE), f"{others}{_origin(chapter)}"])


def _as_markdown(table: PageTable, columns: list[str], methods: dict[str, str]) -> str:
    """Return rows of a table, the highest of each column in bold."""
    best = {one: max(table.number(name, one) or 0.0 for name in methods) for one in columns}
    rows = [
        [said, *(_bold(_short(number := table.number(name, one)), number == best[one]) for one in columns)]
        for name, said in methods.items()
    ]
    return as_table([["", *columns], ["---"] * (len(columns) + 1), *rows])


def _origin(chapter: PageChapter) -> str:
    """Return where a table comes from."""
    if chapter.is_of_earlier_version or chapter.provenance is None:
        return f"(`{chapter.command}`, measured {EARLIER}.)"
    return f"(`{chapter.command}`, {chapter.provenance.date}, commit {chapter.provenance.commit}.)"


# Figures as text


def _short(value: float | None) -> str:
    """Return a figure between 0 and 1 without its zero.

    Examples
    --------
    >>> _short(0.7764), _short(0.02), _short(None)
    ('.776', '.020', '')
    """
    text = "" if value is None else f"{value:.3f}"
    return text.removeprefix("0") if value is not None and value < 1 else text


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold and text else text


def _count(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


TABLES: dict[str, Callable[..., str]] = {
    "next batch": next_batch_sentence,
    "one sample": one_sample_table,
    "costs": costs_table,
    "scale": scale_table,
    "service": service_table,
    "simulated cluster": cluster_table,
}
