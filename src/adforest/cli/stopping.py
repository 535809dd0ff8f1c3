"""Ctrl-C as an error like others: Typer would end an interrupted command without a word."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class StoppedError(Exception):
    """The command was interrupted; its notes say what is kept."""


def telling_interrupts(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that raises `StoppedError`, with the notes that were made on the way, when it is interrupted."""

    @functools.wraps(command)
    def called(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as error:
            stopped = StoppedError()
            for note in getattr(error, "__notes__", ()):
                stopped.add_note(note)
            raise stopped from error

    return called
