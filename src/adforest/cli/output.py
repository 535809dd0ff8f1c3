"""What commands print: results on standard output, as text or JSON; progress and remarks on standard error."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# C0 and C1, what turns the direction of text, line and paragraph separators, halves of surrogate pairs
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    text = json.dumps(as_plain(value), ensure_ascii=False)
    print(CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text), flush=True)


def printable(text: str) -> str:
    r"""Return text whose control characters are escaped: names from files may hold commands for the terminal.

    Examples
    --------
    >>> print(printable("red: \x1b[31m, two\nlines"))
    red: \x1b[31m, two\nlines
    """
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def remark(text: str) -> None:
    """Print a line on standard error, after the name of the program."""
    print(f"adforest: {text}", file=sys.stderr, flush=True)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table under its title; columns of numbers stand to the right."""
    cells = [list(row) for row in rows]
    widths = [max(len(line[place]) for line in [list(columns), *cells]) for place in range(len(columns))]
    has_digit = [any(map(str.isdigit, "".join(row[place] for row in cells))) for place in range(len(columns))]
    is_right = [has_digit[place] and all(_is_figure(row[place]) for row in cells) for place in range(len(columns))]
    print(styled(title, "bold"))
    for number, row in enumerate([list(columns), *cells]):
        line = "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_right, strict=True)
        )
        print(styled(f"  {line}".rstrip(), "dim" if not number else ""))
    print()


def styled(text: str, style: str) -> str:
    """Return text with a style of rich, as it is where nobody sees styles."""
    if not style or not sys.stdout.isatty():
        return text
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True)
    with console.capture() as captured:
        console.print(Text(text, style), end="")
    return captured.get()


class Bar:
    """A progress bar with the time left, on standard error; nothing where nobody watches."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress = progress
        self._task = task

    def advance(self, amount: float, what: str = "") -> None:
        """Move on."""
        if self._progress is not None:
            self._progress.update(self._task, advance=amount, **({"description": what} if what else {}))

    def print(self, text: str) -> None:
        """Print a line of the result above the bar."""
        if self._progress is not None and sys.stdout.isatty():
            from rich.text import Text

            self._progress.console.print(Text.from_ansi(text), soft_wrap=True)
        else:
            print(text, flush=True)


@contextmanager
def progress_bar(what: str, total: float | None) -> Iterator[Bar]:
    """Show a bar until the block ends."""
    if not sys.stderr.isatty():
        yield Bar(None, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()]
    with Progress(
        *columns, TextColumn("left"), console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as progress:
        yield Bar(progress, progress.add_task(what, total=total))


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "record"), counted(1200, "batch")
    ('1 record', '1,200 batches')
    """
    plural = "es" if noun.endswith(("ch", "s")) else "s"
    return f"{n:,} {noun}{'' if n == 1 else plural}"


def size_of(path: Path) -> str:
    """Return the size of a file in words."""
    n_bytes = path.stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.1f} kB"


def _is_figure(text: str) -> bool:
    """Return whether a cell holds a number, or nothing."""
    plain = text.replace(",", "").replace("%", "").replace(".", "").strip("-+ ")
    return not text or plain.isdigit() or text == "-"


def as_plain(value: Any) -> Any:
    """Return a value in the types of JSON; what is no number there is null."""
    if isinstance(value, dict):
        return {str(key): as_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(one) for one in value]
    if hasattr(value, "tolist"):
        return as_plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
