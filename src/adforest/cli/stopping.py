"""Ctrl-C, SIGTERM, SIGHUP and SIGBREAK as errors with a message; Typer would end an interrupted command without one."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # the last only on Windows, where the one before is not


class SignalError(KeyboardInterrupt):
    """The process received a signal to end.

    Attributes
    ----------
    number : int
    name : str
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.name = signal.Signals(number).name


class StoppedError(Exception):
    """The command was interrupted; its notes list the saved files.

    Attributes
    ----------
    number : int
        The signal that did.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = number


class _Signals:
    """Signals, delayed while a block runs that must not be interrupted."""

    n_holding = 0
    waiting: int | None = None
    is_set = False

    @classmethod
    def come(cls, number: int, _: Any) -> None:
        cls.is_set = True
        if cls.n_holding:
            cls.waiting = number
        else:
            raise SignalError(number)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise `SignalError` in the main thread at a signal; signals that are ignored (nohup) stay so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _Signals.come)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def keep_signals() -> None:
    """Keep pyarrow from handling signals while it reads CSV, since it loses some."""
    from pyarrow import enable_signal_handlers

    enable_signal_handlers(False)


def was_stopped() -> bool:
    """Return whether this process has received a signal to end."""
    return _Signals.is_set


@contextmanager
def holding_signals() -> Iterator[None]:
    """Delay signals until the block ends, so that a batch that was saved is also printed."""
    _Signals.n_holding += 1
    try:
        yield
    finally:
        _Signals.n_holding -= 1
        if not _Signals.n_holding and _Signals.waiting is not None:
            number, _Signals.waiting = _Signals.waiting, None
            raise SignalError(number)


def telling_interrupts(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that raises `StoppedError`, with the notes that were made on the way, when it is interrupted."""

    @functools.wraps(command)
    def called(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as error:
            stopped = StoppedError(getattr(error, "number", signal.SIGINT))
            for note in getattr(error, "__notes__", ()):
                stopped.add_note(note)
            raise stopped from error

    return called
