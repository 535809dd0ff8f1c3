"""Tables in pages of plain Markdown, written between marks: ``<!-- table: NAME -->`` and ``<!-- end -->``.

``python -m experiments pages`` writes all of them anew, from docs/results.md and benchmarks/record.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from experiments.benchmark_tables import EARLIER, as_table, cluster_table, costs_table, scale_table, service_table
from experiments.comparison.comparison import join_words
from experiments.reporting.results_page import PageChapter, PageTable, find_chapter
from experiments.studies.streams import RUNS, Found
from nextbatch.learners import known_learners
from nextbatch.page import SUBJECT, find_lost
from nextbatch.ranks import Board

CHECKOUT = Path(__file__).parents[1]
MARKED = re.compile(r"(<!-- table: (?P<name>[^>]+?) -->)(?P<text>.*?)(<!-- end -->)", re.DOTALL)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

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


def find_ahead(board: Board) -> dict[str, dict[str, float]]:
    """Return the learners that are first where adforest is not, with their points above it by stream."""
    ahead: dict[str, dict[str, float]] = {}
    for stream, best, gap in find_lost(board):
        ahead.setdefault(best, {})[stream] = 100 * gap
    return ahead


def next_batch_sentence() -> str:
    """Return on how many real streams adforest has the highest accuracy, and who is ahead of it on the others."""
    board = Found(RUNS).boards["real"]
    ahead = find_ahead(board)
    streams, first = _count(len(board.streams)), _count(len(board.streams) - sum(map(len, ahead.values())))
    said = [f"On {streams} real streams `adforest` has the highest accuracy on {first}"]
    said += [f"{_called(name)} is ahead on {join_words(list(by))} by {_up_to(by)} points" for name, by in ahead.items()]
    return "; ".join(said) + "."


def next_batch_list() -> str:
    """Return who is first on the real streams where adforest is not, by how much, and what it costs there."""
    board = Found(RUNS).boards["real"]
    seconds = board.values["seconds_per_batch"]
    lines = []
    for name, by in find_ahead(board).items():
        theirs, ours = (sum(seconds[one, stream] for stream in by) for one in (name, SUBJECT))
        cost = f", at {_times(theirs / ours)} times our CPU seconds" if theirs > ours else ""
        lines.append(f"- **{', '.join(by)}**: {_called(name)}, by {_up_to(by)} points{cost}.")
    return "\n".join(lines)


def _called(name: str) -> str:
    """Return what a learner is, in a sentence."""
    title = known_learners()[name].title.replace("on last", "on the last")
    return f"the rule “{title.removeprefix('rule: ')}”" if title.startswith("rule: ") else title


def _up_to(points: dict[str, float]) -> str:
    """Return the most points, and that it is the most if there are several."""
    return f"{'up to ' if len(points) > 1 else ''}{max(points.values()):.1f}"


def _times(ratio: float) -> str:
    """Return a ratio with two digits."""
    return f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"


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
    "ahead on the next batch": next_batch_list,
    "one sample": one_sample_table,
    "costs": costs_table,
    "scale": scale_table,
    "service": service_table,
    "simulated cluster": cluster_table,
}
