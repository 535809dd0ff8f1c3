"""The learner in a process of its own: it reads tasks and writes results as lines of JSON, and ends with its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from adforest.exceptions import ModelFileError
from adforest.service.learner import Learner, Order, Outcome

PR_SET_PDEATHSIG = 1
SPARE = 500  # what is added to the score by which the system chooses whom to end when memory is short
PATIENCE = 5.0  # seconds between the end of a learner's output and its own
RETRY = "retry"  # the state of a task that the disk was in the way of


class LearnerEndedError(Exception):
    """The process ended while it was at a task, or before it was ready."""


class LearningProcess:
    """A learner in another process, as its parent sees it.

    Parameters
    ----------
    model, folder : Path
        The file of the model, and the folder of its log.
    target, log_id : str
    has_challenger : bool
    alerts : str
        Rules of alerts, from `ServedAlerts.for_learner`.
    locks : sequence of int
        Descriptors of locks that hold as long as the process lives, also where its parent was killed.

    Attributes
    ----------
    version : int
        Of the model that it found, 0 if there was none.
    found : Outcome or None
        The last task of that model.
    """

    def __init__(
        self,
        model: Path,
        folder: Path,
        target: str,
        log_id: str,
        *,
        has_challenger: bool,
        alerts: str = "[[], []]",
        locks: tuple[int, ...] = (),
    ) -> None:
        given = [str(model), str(folder), target, log_id, str(int(has_challenger))]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "adforest.service.learning_process", *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=locks if os.name == "posix" else (),  # elsewhere locks end with the parent
            start_new_session=True,  # Ctrl-C in a terminal is for its parent, which waits for it
        )
        try:
            self._send(alerts)  # which may be longer than an argument
            hello = self._receive()
        except LearnerEndedError:
            raise LearnerEndedError(f"the learner ended before it was ready, with {self._ended()}") from None
        if "error" in hello:
            self.end()
            raise ModelFileError(hello["error"])
        self.version = int(hello["version"])
        self.found = None if hello["found"] is None else Outcome(*hello["found"])

    def run(self, order: Order) -> Outcome:
        """Run a task, and return its result."""
        self._send(json.dumps(order))
        return Outcome(*self._receive()["outcome"])

    def end(self) -> None:
        """End it at once: batches that it has not saved are learnt again from the log."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _ended(self) -> str:
        """Return how a process ended that has closed its output."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self.end()
        code = self._process.returncode
        return f"signal {-code}; it may need more memory" if code < 0 else f"code {code}; its errors were printed"

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise LearnerEndedError from None

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise LearnerEndedError
        found: dict[str, Any] = json.loads(line)
        return found


def main(arguments: list[str]) -> None:
    """Run tasks until the parent ends."""
    from adforest.service.alerting import alerts_of_learner, printed_errors
    from adforest.service.log import LogError
    from adforest.service.system import RealDisk
    from adforest.service.task_table import DONE
    from adforest.service.trainer import ForestTrainer

    _end_with_parent()
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no outcome
    model, folder, target, log_id, has_challenger = arguments
    alerts = alerts_of_learner(sys.stdin.buffer.readline().decode())
    files = Path(model), Path(folder)
    learner = Learner(RealDisk(), *files, ForestTrainer(alerts), target, log_id, ForestTrainer())
    try:
        found = learner.open(has_challenger=has_challenger == "1")
        with printed_errors():
            alerts.begin(learner)
    except Exception as error:
        out.write(json.dumps({"error": f"{model} cannot be opened: {error}"}).encode() + b"\n")
        return
    out.write(json.dumps({"version": learner.learnt_through.version, "found": found}).encode() + b"\n")
    for line in sys.stdin.buffer:
        try:
            outcome = learner.run(Order(*json.loads(line)))
        except (OSError, ModelFileError, LogError) as error:
            outcome = Outcome(RETRY, None, {"reason": str(error)})
        if outcome.state == DONE:
            with printed_errors():
                alerts.tell()
        out.write(json.dumps({"outcome": outcome}).encode() + b"\n")
        if outcome.state == RETRY:  # what is on the disk is found out by the next learner
            return


def _end_with_parent() -> None:
    """Ask the system to end this process with its parent, and to end it rather than that when memory is short."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # may be sent to all processes; the parent lets this one finish
        signal.signal(ending, signal.SIG_IGN)
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(SPARE), encoding="ascii")
    with suppress(OSError):
        os.nice(5)  # predictions come first


if __name__ == "__main__":
    main(sys.argv[1:])
