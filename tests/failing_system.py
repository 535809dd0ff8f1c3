"""A system whose n-th call that writes fails: opening, writing, syncing, renaming, linking, removing."""

import builtins
import io
import os
from contextlib import contextmanager

CALLS = ("open", "chmod", "fsync", "replace", "link", "unlink", "mkdir", "fstat")


class Fault:
    """Counts calls, and makes one of them fail.

    Parameters
    ----------
    place : int
        The call that fails, counted from 1; 0 for none.
    number : int
        The error, such as ``errno.ENOSPC``.
    under : Path
        Only calls about files in this folder count.
    """

    def __init__(self, place, number, under):
        self._place, self._number, self._under = place, number, str(under)
        self.names = []

    @property
    def has_come(self):
        return 0 < self._place <= len(self.names)

    def meet(self, name, path=None):
        """Count a call, and raise if its turn has come."""
        if path is not None and not os.fsdecode(path).startswith(self._under):
            return
        self.names.append(name)
        if len(self.names) == self._place:
            raise OSError(self._number, os.strerror(self._number))


class FailingFile(io.FileIO):
    """A file of which one write fails, after half of what is written."""

    fault = None

    def write(self, data):
        try:
            self.fault.meet("write")
        except OSError:
            super().write(bytes(data)[: len(data) // 2])
            raise
        return super().write(data)


@contextmanager
def failing_system(fault, more=()):
    """Let a call fail until the block ends; more calls than `CALLS` may be counted."""
    real = {name: getattr(os, name) for name in (*CALLS, *more)}
    real_open = builtins.open

    def failing(name):
        def called(*arguments, **options):
            is_read = name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR)
            if not is_read:
                about = arguments[0] if isinstance(arguments[0], str | bytes | os.PathLike) else None
                fault.meet(name, about)
            return real[name](*arguments, **options)

        return called

    def opened(path, mode="r", *arguments, **options):
        if isinstance(path, int) or "b" not in mode or not set(mode) & set("xw"):
            return real_open(path, mode, *arguments, **options)
        raw = FailingFile(path, mode, opener=options.get("opener"))
        raw.fault = fault
        return io.BufferedWriter(raw, buffer_size=512)  # many writes

    for name in real:
        setattr(os, name, failing(name))
    builtins.open = opened
    try:
        yield
    finally:
        builtins.open = real_open
        for name, call in real.items():
            setattr(os, name, call)
