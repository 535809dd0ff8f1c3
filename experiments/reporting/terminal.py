"""Chapters in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from experiments.reporting.chapter import Chapter
from experiments.reporting.table_format import FormattedTable, format_table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as RichTable

WIDTH = 100  # columns of text, and of all where nobody watches
TEXT_COLUMN = 30  # the most that a column of words takes before it is folded
GAP = 2  # blanks between columns


def print_chapter(chapter: Chapter, console: Console | None = None) -> None:
    """Print a chapter: what was asked, what came out, its tables, what to doubt, and the command.

    Parameters
    ----------
    chapter : Chapter
    console : rich.console.Console, optional
        Where to; its width is kept to. By default standard output, 100 columns wide where it is no terminal.

    Raises
    ------
    ImportError
        If rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError as error:
        raise ImportError(
            "printing needs rich, which is not installed. Run: pip install 'adforest[experiments]'"
        ) from error
    if console is None:
        console = Console(highlight=False)
        console = console if console.is_terminal else Console(highlight=False, width=WIDTH)
    prose = min(WIDTH, console.width)
    console.print()
    console.print(Text(chapter.title, "bold underline"), width=prose)
    console.print(Text(chapter.question, "italic"), width=prose)
    _print_list("What came out", chapter.findings, console)
    for table in chapter.tables:
        console.print()
        console.print(Text(table.title, "bold"), width=prose)
        grid = format_table(table)
        for part in _tables(grid, console.width, "" if console.is_terminal else "*"):
            console.print(part)
        best = f"{'Bold' if console.is_terminal else '*'}: {grid.best}." if grid.best else ""
        if note := f"{grid.note} {best}".strip():
            console.print(Text(note, "dim"), width=prose)
    _print_list("What to doubt", chapter.caveats, console)
    console.print()
    console.print(Text(f"Again: {chapter.command}"), soft_wrap=True)


def _print_list(head: str, sentences: Sequence[str], console: Console) -> None:
    """Print sentences below a head, each with a dash before it; nothing where there is none."""
    from rich.table import Table as RichTable
    from rich.text import Text

    if not sentences:
        return
    points = RichTable.grid(padding=(0, 1))
    for sentence in sentences:
        points.add_row("-", Text(" ".join(sentence.split())))
    console.print()
    console.print(Text(head, "bold"))
    console.print(points, width=min(WIDTH, console.width))


def _tables(grid: FormattedTable, width: int, mark: str) -> Iterator[RenderableType]:
    """Yield a table in as many parts as the width asks for, each with the column that names the rows."""
    from rich.text import Text

    if not grid.rows:
        yield Text("no rows", "dim")
        return
    wanted = [_widths(grid, column, mark) for column in range(len(grid.heads))]
    parts = [[0]]
    for column in range(1, len(wanted)):
        if len(parts[-1]) > 1 and sum(wanted[one][0] + GAP for one in parts[-1]) + wanted[column][0] > width:
            parts.append([0])
        parts[-1].append(column)
    for number, columns in enumerate(parts):
        if number:
            yield ""
        yield _rich_table(grid, dict(zip(columns, _fit([wanted[one] for one in columns], width), strict=True)), mark)


def _widths(grid: FormattedTable, column: int, mark: str) -> tuple[int, int]:
    """Return how narrow a column may get, for no number and no word to be broken, and how wide it wants to be."""
    from rich.cells import cell_len

    texts = [mark + row[column].text if row[column].is_best else row[column].text for row in grid.rows]
    longest = max(map(cell_len, texts))
    word = max((cell_len(word) for text in (grid.heads[column], *texts) for word in text.split()), default=1)
    return max(min(longest, TEXT_COLUMN), word, 1), max(longest, cell_len(grid.heads[column]), 1)


def _fit(wanted: Sequence[tuple[int, int]], width: int) -> list[int]:
    """Return the widths of columns that share a line: what each needs, then the rest to those that want the least."""
    widths = [least for least, _ in wanted]
    room = width - sum(widths) - GAP * (len(widths) - 1)
    for column in sorted(range(len(wanted)), key=lambda one: wanted[one][1] - wanted[one][0]):
        more = max(0, min(room, wanted[column][1] - widths[column]))
        widths[column] += more
        room -= more
    return widths


def _rich_table(grid: FormattedTable, widths: dict[int, int], mark: str) -> RichTable:
    """Return those columns of a grid that have a width as a table of rich."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    part = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP - 1, 0, 0), show_edge=False)
    is_folded = any(len(row[column].text) > width for row in grid.rows for column, width in widths.items())
    for column, width in widths.items():
        part.add_column(
            Text(grid.heads[column]),
            justify="right" if grid.is_numeric[column] else "left",
            vertical="top" if is_folded else "bottom",
            overflow="fold",
            width=width,
        )
    for row in grid.rows:
        cells = (row[column] for column in widths)
        part.add_row(*(Text(mark + cell.text, "bold") if cell.is_best else Text(cell.text) for cell in cells))
    return part
