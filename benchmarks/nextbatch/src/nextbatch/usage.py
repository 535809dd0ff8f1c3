"""What processes use: CPU seconds and memory of one and of all that it started, as /proc tells it on Linux.

Elsewhere a process's own seconds and those of its children that ended are all that is known; on Windows, its own.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import resource

HAS_PROC = Path("/proc/self/stat").exists()
STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")  # a 5 written into it sets the peak to what is used now
ROUNDS = 20  # times that a group is killed: a process may start another one meanwhile


@dataclass(frozen=True)
class Process:
    """A line of /proc.

    Attributes
    ----------
    pid, parent, session : int
    started : int
        Ticks since the system's start: with `pid` it tells a process from all others.
    seconds : float
        Of CPU, with those of its children that ended.
    megabytes : float
        In memory; what processes share counts for each of them.
    """

    pid: int
    parent: int
    session: int
    started: int
    seconds: float
    megabytes: float


def read_processes() -> list[Process]:
    """Return all processes that run, none where there is no /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, *fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            values = list(map(int, fields))
        except (OSError, ValueError):  # it ended meanwhile
            continue
        if state not in "ZX":
            parent, session, started, pages = values[0], values[2], values[18], values[20]
            seconds = sum(values[10:14]) / os.sysconf("SC_CLK_TCK")
            megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
            found.append(Process(int(path.parent.name), parent, session, started, seconds, megabytes))
    return found


def find_started(root: int, processes: Collection[Process], known: Collection[Process] = ()) -> list[Process]:
    """Return a process, those of its session, all that these have started, and those of the known ones that still run.

    Examples
    --------
    >>> [child, other] = [Process(7, 1, 7, 0, 0.0, 0.0), Process(9, 7, 9, 0, 0.0, 0.0)]
    >>> [one.pid for one in find_started(7, [child, other, Process(8, 1, 8, 0, 0.0, 0.0)])]
    [7, 9]
    """
    names = {(one.pid, one.started) for one in known}
    found = {one.pid for one in processes if root in (one.pid, one.session) or (one.pid, one.started) in names}
    while more := {one.pid for one in processes if one.parent in found} - found:
        found |= more
    return [one for one in processes if one.pid in found]


def has_children() -> bool:
    """Return whether this process has children, running or not waited for."""
    if sys.platform == "win32" or not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def children() -> list[Process]:
    """Return the processes that this one has started and that run. Where there are none, this takes no time."""
    if not has_children():
        return []
    return [one for one in find_started(os.getpid(), read_processes()) if one.pid != os.getpid()]


def children_seconds() -> float:
    """Return the CPU seconds of the processes that this one has started, those that ended included."""
    if sys.platform == "win32":
        return 0.0
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(one.seconds for one in children())


class PeakMemory:
    """The most memory of this process between `start` and `stop`, with what its children have at `stop`.

    What the process had when this object was made does not count, nor what it takes between `stop` and `start`.
    """

    def __init__(self) -> None:
        _release_memory()
        self._base = self._stopped = _read_memory("VmRSS")
        self.start()

    def start(self) -> None:
        """Forget earlier peaks."""
        self._base += _read_memory("VmRSS") - self._stopped
        try:
            RESET_PEAK.write_text("5", encoding="utf-8")
        except OSError:
            self._base = float("nan")

    def stop(self) -> float:
        """Return megabytes; NaN where the system does not tell: everywhere but on Linux."""
        peak, self._stopped = _read_memory("VmHWM"), _read_memory("VmRSS")
        return max(peak - self._base, 0.0) + sum(one.megabytes for one in children())  # in this order NaN stays NaN


def _read_memory(name: str) -> float:
    """Return megabytes of this process from /proc: VmRSS is what it uses now, VmHWM its peak; NaN without /proc."""
    try:
        lines = STATUS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return float("nan")
    return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith(f"{name}:")), float("nan"))


def _release_memory() -> None:
    """Give memory that is free back to the system: a learner that used it again would seem to need none."""
    import pyarrow

    gc.collect()
    pyarrow.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)


def limit_seconds(seconds: int) -> None:
    """Let the system end this process after so many CPU seconds, and write no core."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


class Group:
    """A process that leads a session, and all that it has started, in whatever session they are."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.members: list[Process] = []

    def look(self) -> tuple[float, float]:
        """Return the CPU seconds and the megabytes of all of them."""
        self.members = find_started(self.pid, read_processes(), self.members)
        return sum(one.seconds for one in self.members), sum(one.megabytes for one in self.members)

    def kill(self, *, is_running: bool) -> None:
        """End all of them; the leader's group as a whole if it runs."""
        if sys.platform == "win32":
            return
        for _ in range(ROUNDS):
            self.look()
            if is_running or not HAS_PROC or any(one.session == self.pid for one in self.members):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)
            if not self.members:
                return
            for one in self.members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(one.pid, signal.SIGKILL)
            is_running = False
            time.sleep(0.01)
