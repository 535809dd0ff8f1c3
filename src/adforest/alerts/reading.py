"""Read a TOML file of rules and receivers; errors in it are raised before anything is learnt."""

from __future__ import annotations

import os
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from adforest.alerts.delivery import MESSAGE, Command, Delivery, Mail, Webhook
from adforest.alerts.rules import FORMER_LEVELS, HEALTH, HEALTH_LEVELS, KINDS, WITH_COLUMNS, AlertRule

TIMEOUT = 10.0  # seconds within which a receiver must have answered
RETRY = 1.0  # seconds until the first attempt after one that failed
# Programs that pass their arguments to a shell, which would run commands in the message.
SHELLS = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "cmd", "powershell"}
SHELLS |= {"pwsh", "ssh", "su", "runuser", "script", "watch", "parallel", "xargs", "at", "batch", "eval"}
SHELLS |= {"awk", "gawk", "mawk", "nawk", "sed"}  # whose first argument is a program
RUNS_NEXT = {"-c", "-e", "-E", "--eval", "--execute", "--command", "-command", "/c", "-exec"}  # the next argument
PORTS = {"none": 25, "starttls": 587, "ssl": 465}  # of mail servers, by tls
EXAMPLE = '[[rule]] when = "accuracy below" limit = 0.8'


def read_file(path: Path) -> tuple[list[AlertRule], list[Delivery]]:
    """Return the rules and deliveries of a file, or raise an error that names the table and key."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file of rules '{path}'. Correct --alerts.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"'{path}' is no TOML ({error}). Correct it.") from None
    tables = TomlTable(path, document)
    rules = [_rule(one) for one in tables.each("rule")]
    deliveries = [_delivery(one) for one in tables.each("deliver")]
    tables.finish()
    if not rules:
        raise ValueError(f"'{path}' has no rule; expected at least one table [[rule]]. Add one, such as {EXAMPLE}.")
    return rules, deliveries


class TomlTable:
    """A table of the file, from which values are taken; unknown ones are errors."""

    def __init__(self, path: Path, values: dict[str, Any], where: str = "", *, is_secret: bool = False) -> None:
        self._path = path
        self._values = dict(values)
        self._where = where
        self._is_secret = is_secret  # whether no value may be shown

    def each(self, name: str) -> list[TomlTable]:
        """Take an array of tables."""
        found = self._values.pop(name, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.wrong(f"{name} is no array of tables; expected [[{name}]]")
        return [
            TomlTable(self._path, one, f"[[{name}]] {number}: ", is_secret=name == "deliver")
            for number, one in enumerate(found, start=1)
        ]

    def take(self, name: str, kinds: type | tuple[type, ...], expected: str, default: Any = None) -> Any:
        """Take a value of a type, or raise."""
        value = self._values.pop(name, default)
        is_wrong = not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool)
        if value is not default and is_wrong:
            raise self.wrong(f"{name} is {self.shown(value)}; expected {expected}")
        return value

    def shown(self, value: Any) -> str:
        """Return how an error shows a value: only its type where it may be secret."""
        return f"of type {type(value).__name__}" if self._is_secret else repr(value)

    def names(self, name: str) -> tuple[str, ...]:
        """Take a text or a list of texts."""
        value = self.take(name, (str, list), "text, or a list of text", [])
        values = [value] if isinstance(value, str) else value
        if not all(isinstance(one, str) for one in values):
            raise self.wrong(f"{name} is {self.shown(value)}; expected a list of text")
        return tuple(values)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def wrong(self, problem: str) -> ValueError:
        """Return the error for something in this table."""
        return ValueError(f"'{self._path}': {self._where}{problem}. Correct it.")

    def finish(self) -> None:
        """Raise if an unknown value is left."""
        if self._values:
            raise self.wrong(f"{next(iter(self._values))} is not known here")


def _rule(table: TomlTable) -> AlertRule:
    """Return one rule."""
    when = table.take("when", str, "text")
    if when not in KINDS:
        raise table.wrong(f"when is {when!r}; expected {', '.join(map(repr, KINDS))}")
    most = KINDS[when].most
    limit = None if most is None else table.take("limit", (int, float), "a number")
    if most is not None and (limit is None or not 0 <= limit <= most):
        expected = "a fraction between 0 and 1, such as 0.8" if most == 1 else "a number from 0 on, such as 0.5"
        raise table.wrong(f"limit is {limit!r}; expected {expected}")
    levels = " or ".join(map(repr, HEALTH_LEVELS))
    level = table.take("level", str, levels, HEALTH_LEVELS[-1]) if when == HEALTH else None
    if level not in (None, *HEALTH_LEVELS):
        called = f"; {level!r} is called {FORMER_LEVELS[level]!r} now" if level in FORMER_LEVELS else ""
        raise table.wrong(f"level is {level!r}; expected {levels}{called}")
    columns = table.names("columns") if when in WITH_COLUMNS else ()
    if KINDS[when].find is None:
        table.finish()
        return AlertRule(when, limit)
    batches = table.take("batches", int, "an integer", 1)
    if batches < 1:
        raise table.wrong(f"batches is {batches}; expected 1 or more")
    repeat = table.take("repeat", bool, "true or false", False)
    table.finish()
    return AlertRule(when, limit, columns, batches, repeat, level)


def _delivery(table: TomlTable) -> Delivery:
    """Return one delivery."""
    makers = {"command": _command, "webhook": _webhook, "mail": _mail}
    given = [name for name in makers if name in table]
    if len(given) != 1:
        raise table.wrong(f"it has {' and '.join(given) or 'none'} of {', '.join(makers)}; expected one")
    timeout = float(table.take("timeout", (int, float), "seconds", TIMEOUT))
    retry = float(table.take("retry", (int, float), "seconds", RETRY))
    if timeout <= 0 or retry <= 0:
        raise table.wrong(f"timeout is {timeout:g} and retry {retry:g}; expected more than 0 seconds")
    delivery = makers[given[0]](table, timeout, retry)
    table.finish()
    return delivery


def _command(table: TomlTable, timeout: float, retry: float) -> Delivery:
    """Return a program to be run."""
    value = table.take("command", (str, list), "text, or a list of text")
    arguments = tuple(shlex.split(value)) if isinstance(value, str) else tuple(value)
    if not arguments or not all(isinstance(one, str) for one in arguments):
        raise table.wrong("command names no program; expected one and its arguments, as text or a list of text")
    holders = [one for one in arguments if MESSAGE in one]
    shells = [one for one in arguments if Path(one).name.lower().removesuffix(".exe") in SHELLS]
    shells += [arguments[0] for one, after in pairwise(arguments) if after == MESSAGE and one in RUNS_NEXT]
    if holders and (shells or any(one != MESSAGE for one in holders)):
        where = f"in a command of {Path(shells[0]).name}" if shells else "within an argument"
        raise table.wrong(
            f"command has {MESSAGE} {where}, where what stands in the message, such as a class named $(…), might be "
            f'run. Use the environment variable ADFOREST_MESSAGE instead ("$ADFOREST_MESSAGE" in a shell), or read '
            f"the alert from standard input; {MESSAGE} may be an argument of its own of a program that is no shell"
        )
    return Command(arguments, timeout, retry)


def _webhook(table: TomlTable, timeout: float, retry: float) -> Delivery:
    """Return a web address to be posted to."""
    address = table.take("webhook", str, "text")
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or any(one <= " " for one in address):
        raise table.wrong("webhook is no address that begins with http:// or https:// and names a host")
    headers = table.take("headers", dict, "a table of text", {})
    return Webhook(address, {str(name): str(value) for name, value in headers.items()}, timeout, retry)


def _mail(table: TomlTable, timeout: float, retry: float) -> Delivery:
    """Return a mail to be sent."""
    receivers = table.names("mail")
    host, _, port = table.take("smtp", str, "the mail server, such as 'localhost:25'", "localhost").partition(":")
    tls = table.take("tls", str, " or ".join(PORTS), "none")
    if tls not in PORTS or (port and not port.isdigit()) or not receivers:
        raise table.wrong("expected mail = 'receiver', smtp = 'host:port' and tls = " + " or ".join(map(repr, PORTS)))
    user, variable = table.take("user", str, "text"), table.take("password_variable", str, "text")
    if user is not None and (variable is None or variable not in os.environ):
        raise table.wrong("user needs password_variable, the name of an environment variable that holds the password")
    sender = table.take("sender", str, "text", "adforest@localhost")
    return Mail(receivers, sender, host, int(port or PORTS[tls]), tls, user, variable, timeout, retry)
