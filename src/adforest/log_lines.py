"""Lines of a log on standard error, as text, logfmt or JSON, and values as JSON holds them."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from enum import StrEnum
from typing import Any

from adforest.wording import utc

# C0 and C1, what turns the direction of text, line and paragraph separators, halves of surrogate pairs
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

LEVELS = ("info", "alert", "warning", "error")


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


def is_structured() -> bool:
    """Return whether lines of the log are read by programs."""
    return _log_format[0] in (LogFormat.LOGFMT, LogFormat.JSON)


def remark(text: str) -> None:
    """Print a line on standard error; with a level in front of it, as in "warning: a receiver failed"."""
    start, _, rest = text.partition(": ")
    level, message = (start, rest) if start in LEVELS else ("info", text)
    chosen = _log_format[0]
    if chosen is not None and is_structured():
        line = log_line(chosen, {"time": utc(time.time()), "level": level, "message": message})
    else:
        named = f"{utc(time.time())} {level}: " if chosen else f"{level}: " if level != "info" else ""
        line = f"adforest: {named}{printable(message)}"
    print(line, file=sys.stderr, flush=True)


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


def as_json_line(value: Any) -> str:
    """Return a value as one line of JSON, without control characters."""
    text = json.dumps(as_plain(value), ensure_ascii=False)
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
