"""Read a TOML file of rules and deliveries; what is wrong in it is said before anything is learnt."""

from __future__ import annotations

import math
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any

from adforest.cli.alerts.delivery import Command, Delivery, Mail, Webhook
from adforest.cli.alerts.rules import KINDS, LOG_LOSS, WITH_COLUMNS, WITH_LIMIT, Rule

TIMEOUT = 10.0  # seconds until a receiver that does not answer is given up
PORTS = {"none": 25, "starttls": 587, "ssl": 465}  # of mail servers, by tls
EXAMPLE = '[[rule]] when = "accuracy below" limit = 0.8'


def read_file(path: Path) -> tuple[list[Rule], list[Delivery]]:
    """Return the rules and deliveries of a file, or raise an error that says where it is wrong."""
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
    """A table of the file, from which values are taken; those not asked for are mistakes."""

    def __init__(self, path: Path, values: dict[str, Any], where: str = "") -> None:
        self._path = path
        self._values = dict(values)
        self._where = where

    def each(self, name: str) -> list[TomlTable]:
        """Take an array of tables."""
        found = self._values.pop(name, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.wrong(f"{name} is no array of tables; expected [[{name}]]")
        return [TomlTable(self._path, one, f"[[{name}]] {number}: ") for number, one in enumerate(found, start=1)]

    def take(self, name: str, kinds: type | tuple[type, ...], expected: str, default: Any = None) -> Any:
        """Take a value of a type, or raise."""
        value = self._values.pop(name, default)
        is_wrong = not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool)
        if value is not default and is_wrong:
            raise self.wrong(f"{name} is {value!r}; expected {expected}")
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """Take a text or a list of texts."""
        value = self.take(name, (str, list), "text, or a list of text", [])
        values = [value] if isinstance(value, str) else value
        if not all(isinstance(one, str) for one in values):
            raise self.wrong(f"{name} is {value!r}; expected a list of text")
        return tuple(values)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def wrong(self, problem: str) -> ValueError:
        """Return the error for something in this table."""
        return ValueError(f"'{self._path}': {self._where}{problem}. Correct it.")

    def finish(self) -> None:
        """Raise if something was not asked for."""
        if self._values:
            raise self.wrong(f"{next(iter(self._values))} is not known here")


def _rule(table: TomlTable) -> Rule:
    """Return one rule."""
    when = table.take("when", str, "text")
    if when not in KINDS:
        raise table.wrong(f"when is {when!r}; expected {', '.join(map(repr, KINDS))}")
    limit = table.take("limit", (int, float), "a number") if when in WITH_LIMIT else None
    most = math.inf if when == LOG_LOSS else 1
    if when in WITH_LIMIT and (limit is None or not 0 <= limit <= most):
        expected = "a number from 0 on, such as 0.5" if when == LOG_LOSS else "a share between 0 and 1, such as 0.8"
        raise table.wrong(f"limit is {limit!r}; expected {expected}")
    columns = table.names("columns") if when in WITH_COLUMNS else ()
    batches = table.take("batches", int, "a whole number", 1)
    if batches < 1:
        raise table.wrong(f"batches is {batches}; expected 1 or more")
    repeat = table.take("repeat", bool, "true or false", False)
    table.finish()
    return Rule(when, limit, columns, batches, repeat)


def _delivery(table: TomlTable) -> Delivery:
    """Return one delivery."""
    makers = {"command": _command, "webhook": _webhook, "mail": _mail}
    given = [name for name in makers if name in table]
    if len(given) != 1:
        raise table.wrong(f"it has {' and '.join(given) or 'none'} of {', '.join(makers)}; expected one")
    timeout = float(table.take("timeout", (int, float), "seconds", TIMEOUT))
    if timeout <= 0:
        raise table.wrong(f"timeout is {timeout:g}; expected more than 0 seconds")
    delivery = makers[given[0]](table, timeout)
    table.finish()
    return delivery


def _command(table: TomlTable, timeout: float) -> Delivery:
    """Return a program to be run."""
    value = table.take("command", (str, list), "text, or a list of text")
    arguments = tuple(shlex.split(value)) if isinstance(value, str) else tuple(value)
    if not arguments or not all(isinstance(one, str) for one in arguments):
        raise table.wrong(f"command is {value!r}; expected a program and its arguments")
    return Command(arguments, timeout)


def _webhook(table: TomlTable, timeout: float) -> Delivery:
    """Return a web address to be posted to."""
    address = table.take("webhook", str, "text")
    if not address.startswith(("http://", "https://")):
        raise table.wrong(f"webhook is {address!r}; expected an address that begins with http:// or https://")
    headers = table.take("headers", dict, "a table of text", {})
    return Webhook(address, {str(name): str(value) for name, value in headers.items()}, timeout)


def _mail(table: TomlTable, timeout: float) -> Delivery:
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
    return Mail(receivers, sender, host, int(port or PORTS[tls]), tls, user, variable, timeout)
