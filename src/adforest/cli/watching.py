"""Learn the files of a folder as they appear: after temporary errors try again, after others set the file aside."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from adforest.cli.folder import FileLog, Folder
from adforest.cli.learning import ChangedError, Learner
from adforest.cli.model_file import ConflictError, NotWrittenError
from adforest.cli.options import read_value
from adforest.cli.output import in_shell
from adforest.cli.status import StatusFiles, notify
from adforest.log_lines import remark

LONGEST_WAIT = 60.0  # seconds between two attempts at something that fails


def is_transient(error: BaseException) -> bool:
    """Return whether an error may be temporary: one of the system, which does not depend on the content of a file."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None)


class Backoff:
    """Waiting times after failures, longer every time; a problem is printed once."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._n_failures = 0
        self._since = 0.0
        self._reported = ""

    def failed(self, problem: str) -> float:
        """Print a new problem, and return the seconds to wait."""
        if not self._n_failures:
            self._since = time.monotonic()
        if problem != self._reported:
            remark(f"warning: {problem}; waiting until that is possible")
        self._reported = problem
        self._n_failures += 1
        return min(LONGEST_WAIT, self._interval * 2.0 ** min(self._n_failures, 20))

    def succeeded(self) -> None:
        """Print that the problem is over, if there was one."""
        if self._n_failures:
            remark(f"it goes on after {time.monotonic() - self._since:.0f} s")
        self._n_failures, self._reported = 0, ""

    @property
    def seconds(self) -> float:
        """Seconds since the first failure."""
        return time.monotonic() - self._since if self._n_failures else 0.0


def read_changes(given: Sequence[str]) -> dict[str, str]:
    """Return the parameters of a challenger, given as NAME=VALUE."""
    pairs = [one.partition("=") for one in given]
    wrong = [one for one, (name, sign, _) in zip(given, pairs, strict=True) if not name or not sign]
    if wrong:
        raise ValueError(
            f"--challenger is {wrong[0]!r}; expected a parameter and its value, such as max_depth=5. Correct it."
        )
    return {name.strip().removeprefix("--").replace("-", "_"): value for name, _, value in pairs}


class Challenger:
    """A second model that learns what the champion has learnt, and is tested on the same batches.

    Its errors are printed as warnings, and never stop the champion.

    Parameters
    ----------
    champion, learner : Learner
        Of the champion and of the challenger.
    changes : dict of str to str
        Parameters in which a new challenger differs from the champion.
    """

    def __init__(self, champion: Learner, learner: Learner, changes: dict[str, str]) -> None:
        self._champion, self._learner = champion, learner
        if learner.is_new and not champion.is_new:
            changed = {name: read_value(value) for name, value in changes.items()}
            learner.model.set_params(**champion.model.get_params() | changed)

    def follow(self, path: Path, table: Any, *, is_bad: bool = False) -> None:
        """Learn the batches of a file that the champion has learnt and the challenger has not.

        Parameters
        ----------
        path : Path
        table : BatchTable
        is_bad : bool
            Whether the champion could not learn the file, which has been printed already.
        """
        try:
            self._take_changed()
            for batch, parts in self._learner.batches(path):
                if all(self._champion.is_known(part.digest) for part in parts):
                    self._learner.learn(batch, parts, partial(self._tell, path, table))
                notify("WATCHDOG=1")
        except (FileNotFoundError, ChangedError):
            return  # taken away, or written to: it is looked at again
        except Exception as error:
            if not is_bad:
                remark(f"warning: the challenger cannot learn {path.name} ({' '.join(str(error).split())}); it goes on")

    def _tell(self, path: Path, table: Any, report: Any) -> None:
        """Print the row of a batch."""
        accuracy = report.accuracy.get("vote")
        written = "-" if accuracy is None else f"{accuracy:.3f}"
        text = f"challenger: batch {report.batch}, {path.name}, accuracy {written}"
        table.tell("challenger", "info", text, batch=report.batch, file=str(path), accuracy=accuracy)

    def _take_changed(self) -> None:
        """Read the challenger's file again if another program changed it."""
        try:
            self._learner.file.check()
        except ConflictError as conflict:
            self._learner.reload()
            remark(f"warning: {conflict}; it was read again, and learns on from there")


@dataclass
class Watcher:
    """Learns the files of a folder as they appear.

    Parameters
    ----------
    learner : Learner
    folder : Folder
    table : BatchTable
        Reports each batch.
    rules : Alerts
    status : StatusFiles
    interval : float
        Seconds between two looks.
    max_attempts : int
        How often a file may crash the process, or exhaust its memory, before it is set aside.
    on_conflict : {"reload", "refuse"}
        Reaction to a model file that another program changed.
    challenger : Challenger, optional
        Learns the same batches.

    Attributes
    ----------
    n_rejected : int
        Files that were set aside.
    """

    learner: Learner
    folder: Folder
    table: Any
    rules: Any
    status: StatusFiles
    interval: float
    max_attempts: int
    on_conflict: str
    challenger: Challenger | None = None
    n_rejected: int = 0

    def __post_init__(self) -> None:
        self.log = FileLog(self.learner.file.real)
        self._backoff = Backoff(self.interval)

    def run(self, show: Any, *, once: bool) -> None:
        """Poll the folder and learn until nothing is left to do, or until a signal is received.

        Parameters
        ----------
        show : callable
            Called with the current activity.
        once : bool
            Whether to end when nothing is left, and to raise temporary errors that last too long.
        """
        notify("READY=1")
        while True:
            notify("WATCHDOG=1")
            pause = self.interval
            try:
                self._look(show)
                self._backoff.succeeded()
                if once and not self.folder.n_waiting:
                    self._write_status()
                    return
            except ConflictError as error:
                if self.on_conflict == "refuse":
                    raise ConflictError(f"{error}; --on-conflict is refuse. What is there was kept.") from None
                self._reload(error)
                continue
            except Exception as error:
                if not is_transient(error):
                    raise
                if once and self._backoff.seconds >= self.folder.patience:
                    raise
                pause = self._backoff.failed(_message_of(error))
            self.rules.check_age()
            self._write_status()
            show(f"waiting for files in {self.folder.path}")
            self._wait(pause)

    def _look(self, show: Any) -> None:
        """Learn the files that are ready, in their order, up to the first temporary error."""
        self.learner.file.check()
        if self.learner.file.is_gone():
            remark(f"warning: '{self.learner.path}' was removed; it is written again, with all that was learnt")
            self.learner.write_again()
        for path in self.folder.look():
            show(path.name)
            self._take(path)
            self._write_status()
            notify("WATCHDOG=1")

    def _write_status(self) -> None:
        """Write the numbers of waiting and rejected files."""
        self.status.write(self.folder.n_waiting, self.log.n_rejected)

    def _wait(self, seconds: float) -> None:
        """Wait, and notify the watchdog of systemd meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            notify("WATCHDOG=1")
            time.sleep(min(left, 5.0))

    def _reload(self, conflict: ConflictError) -> None:
        """Load the model that another program wrote, and learn the batches that it has not learnt."""
        from adforest import ModelFileError

        try:
            is_other = self.learner.reload()
        except (ModelFileError, OSError) as error:  # perhaps it is being copied there
            self._wait(self._backoff.failed(f"{conflict}, and cannot be loaded yet ({error})"))
            return
        if is_other:
            n_batches = 0 if self.learner.is_new else self.learner.model.history_[-1].batch
            remark(f"warning: {conflict}; it was read again, with {n_batches:,} batches, and learns on from there")
            self.folder.begin_again()
            self.rules.begin(self.learner)

    def _take(self, path: Path) -> None:
        """Learn a file, unless it is known, unfinished or invalid."""
        if not self.folder.is_unchanged(path):
            return
        n_before = self.log.begin(path, self.folder.signature(path))
        if n_before >= self.max_attempts:
            self._put_aside(
                path, f"{n_before} attempts to learn it ended the process or its memory. Cut it into pieces"
            )
            return
        n_batches = self.table.n_batches
        try:
            problem = self._learn(path)
            if self.challenger is not None and (self.folder.is_done(path) or self.table.n_batches > n_batches):
                self.challenger.follow(path, self.table, is_bad=problem is not None)
        except MemoryError:
            raise  # the attempt stays counted: memory may run out every time
        except BaseException:
            self.log.end()
            raise
        self.log.end()
        if problem is not None and self.folder.is_given_up(path):
            self._put_aside(path, " ".join(in_shell(problem).split()))

    def _learn(self, path: Path) -> Exception | None:
        """Learn a file, and return a permanent error; raise temporary ones."""
        from adforest.reading.layout import MissingTargetError

        learner, n_before = self.learner, self.table.n_batches

        def note(_: Any) -> None:
            self._write_status()
            notify("WATCHDOG=1")

        try:
            if learner.doubt(path) and not self.folder.is_given_up(path):
                return None
            self.table.learn(learner, learner.batches(path), self.rules, note)
        except (FileNotFoundError, ChangedError):
            return None  # it went away, or is written to: it is looked at again
        except MissingTargetError:
            if learner.is_new:  # more likely a wrong --target than a wrong file
                raise
            return MissingTargetError(f"'{path}' has no column {learner.target!r}, which is the target")
        except (ConflictError, NotWrittenError):
            raise
        except Exception as error:
            if is_transient(error):
                raise
            return error
        self.table.n_skipped += self.table.n_batches == n_before
        self.folder.done(path)
        return None

    def _put_aside(self, path: Path, reason: str) -> None:
        """Move a file aside, and print that."""
        self.n_rejected += 1
        self.rules.rejected(path, reason)
        try:
            target: Path | None = self.folder.put_aside(path, reason)
            text = f"{path.name} was moved to {target}: {reason}"
        except OSError as error:
            target = None
            self.folder.done(path)
            text = f"{path.name} cannot be learnt ({reason}) nor moved aside ({error})"
        self.log.reject(path, target, reason)
        moved = None if target is None else str(target)
        self.table.tell("rejected", "warning", text, file=str(path), moved_to=moved, reason=reason)


def _message_of(error: Exception) -> str:
    """Return the text of a temporary error."""
    text = " ".join(str(error).split())
    return f"there is not enough memory ({text})" if isinstance(error, MemoryError) else text
