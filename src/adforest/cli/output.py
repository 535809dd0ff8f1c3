"""Output of commands: results on standard output, as text or JSON; progress and remarks on standard error.

Advice of the library is printed for a shell: its parameters are options here.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from adforest.exceptions import AdforestError, AdforestWarning
from adforest.wording import utc

# C0 and C1, what turns the direction of text, line and paragraph separators, halves of surrogate pairs
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

LEVELS = ("info", "alert", "warning", "error")


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print(as_json_line(value), flush=True)


def as_json_line(value: Any) -> str:
    """Return a value as one line of JSON, without control characters."""
    text = json.dumps(as_plain(value), ensure_ascii=False)
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str = "", style: str = "") -> None:
    """Print lines of a result; control characters are escaped."""
    print(styled("\n".join(map(printable, text.split("\n"))), style), flush=True)


def printable(text: str) -> str:
    r"""Return text whose control characters are escaped: names from files may hold commands for the terminal.

    Examples
    --------
    >>> print(printable("red: \x1b[31m, two\nlines"))
    red: \x1b[31m, two\nlines
    """
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


class LogFormat(StrEnum):
    """How lines of a log are written."""

    TEXT = "text"
    LOGFMT = "logfmt"
    JSON = "json"


_log_format: list[LogFormat | None] = [None]  # of the current command; None for commands without a log


def set_log_format(chosen: LogFormat | None) -> None:
    """Choose how remarks are written from now on; None for lines without time."""
    _log_format[0] = chosen


def remark(text: str) -> None:
    """Print a line on standard error; with a level in front of it, as in "warning: a receiver failed"."""
    start, _, rest = text.partition(": ")
    level, message = (start, rest) if start in LEVELS else ("info", text)
    chosen = _log_format[0]
    if chosen in (LogFormat.LOGFMT, LogFormat.JSON):
        line = log_line(chosen, {"time": utc(time.time()), "level": level, "message": message})
    else:
        named = f"{utc(time.time())} {level}: " if chosen else f"{level}: " if level != "info" else ""
        line = f"adforest: {named}{printable(message)}"
    print(line, file=sys.stderr, flush=True)


def fail(message: str) -> None:
    """Print the error of a command, in one line."""
    text = " ".join(message.split())
    if _log_format[0] in (LogFormat.LOGFMT, LogFormat.JSON):
        remark(f"error: {text}")
    else:
        print(f"adforest: {printable(text)}", file=sys.stderr)


def log_line(chosen: LogFormat, fields: dict[str, Any]) -> str:
    r"""Return a line of a log, as JSON or logfmt.

    Examples
    --------
    >>> log_line(LogFormat.LOGFMT, {"level": "info", "files": ["a b.csv", "c.csv"], "accuracy": {"vote": 0.5}})
    'level=info files="a b.csv,c.csv" accuracy_vote=0.5'
    """
    if chosen == LogFormat.JSON:
        return as_json_line(fields)
    flat: dict[str, Any] = {}
    for name, value in as_plain(fields).items():
        flat |= {f"{name}_{key}": one for key, one in value.items()} if isinstance(value, dict) else {name: value}
    return " ".join(f"{_logfmt(name)}={_logfmt(value)}" for name, value in flat.items() if value is not None)


def _logfmt(value: Any) -> str:
    """Return a name or value of logfmt, in quotes where it needs them."""
    if isinstance(value, bool):
        return str(value).lower()
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    if text and not set(' "=\\') & set(text) and not CONTROLS.search(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(quoted)}"'


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


def as_plain(value: Any) -> Any:
    """Return a value in the types of JSON; NaN and infinity are null."""
    if isinstance(value, dict):
        return {str(key): as_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(one) for one in value]
    if hasattr(value, "tolist"):
        return as_plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


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
