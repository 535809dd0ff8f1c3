"""Output of commands: results on standard output, as text or JSON; progress and remarks on standard error.

Advice of the library is printed for a shell: its parameters are options here.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adforest.exceptions import AdforestError, AdforestWarning
from adforest.log_lines import as_json_line, is_structured, printable, remark


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print(as_json_line(value), flush=True)


def say(text: str = "", style: str = "") -> None:
    """Print lines of a result; control characters are escaped."""
    print(styled("\n".join(map(printable, text.split("\n"))), style), flush=True)


def fail(message: str) -> None:
    """Print the error of a command, in one line."""
    text = " ".join(message.split())
    if is_structured():
        remark(f"error: {text}")
    else:
        print(f"adforest: {printable(text)}", file=sys.stderr)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table under its title; columns of numbers are right-aligned."""
    cells = [[printable(cell) for cell in row] for row in rows]
    columns = [printable(title) for title in columns]
    widths = [max(len(line[index]) for line in [list(columns), *cells]) for index in range(len(columns))]
    has_digit = [any(map(str.isdigit, "".join(row[index] for row in cells))) for index in range(len(columns))]
    is_right = [has_digit[index] and all(_is_figure(row[index]) for row in cells) for index in range(len(columns))]
    say(title, "bold")
    for number, row in enumerate([list(columns), *cells]):
        line = "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_right, strict=True)
        )
        say(f"  {line}".rstrip(), "dim" if not number else "")
    say()


def styled(text: str, style: str) -> str:
    """Return text with a style of rich; unchanged where the output is no terminal."""
    if not style or not sys.stdout.isatty():
        return text
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True)
    with console.capture() as captured:
        console.print(Text(text, style), end="")
    return captured.get()


class Bar:
    """A progress bar with the time left, on standard error; nothing where that is no terminal."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress = progress
        self._task = task

    def advance(self, amount: float, what: str = "") -> None:
        """Advance the bar."""
        if self._progress is not None:
            self._progress.update(self._task, advance=amount, **({"description": what} if what else {}))

    def print(self, text: str, style: str = "") -> None:
        """Print a line of the result above the bar."""
        text = styled(printable(text), style)
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


def _is_figure(text: str) -> bool:
    """Return whether a cell holds a number, or nothing."""
    plain = text.replace(",", "").replace("%", "").replace(".", "").strip("-+ ")
    return not text or plain.isdigit() or text == "-"


def option(name: str) -> str:
    """Return a parameter as an option of the command line."""
    return f"--{name.replace('_', '-')}"


def in_shell(said: object) -> str:
    """Return an error or a warning with options of the command line in its advice.

    Examples
    --------
    >>> from adforest.exceptions import Advice
    >>> in_shell(AdforestError("A mark.", Advice("Pass {na_values} or {refit}.", {"na_values": ["?", "-"]})))
    "A mark. Pass --na-values '?' --na-values - or start a new model: name another file with --model."
    """
    if not isinstance(said, AdforestError | AdforestWarning) or said.advice is None:
        return str(said)
    advice = said.advice
    text = advice.text if advice.shell is None else advice.shell
    return (
        f"{said.problem} {advice.say(text, _as_options, 'start a new model: name another file with --model')}".strip()
    )


def _as_options(name: str, value: Any) -> str:
    """Return a parameter with its value as an option, once for each value of a list."""
    values = value if isinstance(value, list) else [value]
    return " ".join(f"{option(name)} {'...' if one is ... else shlex.quote(str(one))}" for one in values)
