"""What became of the files of a folder, kept beside the model across restarts: attempts under way, files set aside."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from adforest.cli.model_file import naming_unwritten
from adforest.cli.stopping import holding_signals

MAX_KEPT = 100  # rejections, and files with attempts that never came to an end


class Rejection(NamedTuple):
    """A file that was set aside.

    Attributes
    ----------
    file : str
        Where it was.
    moved_to : str or None
        Where it is; None if it could not be moved.
    reason : str
    time : str
        In UTC, as ISO 8601 writes it.
    """

    file: str
    moved_to: str | None
    reason: str
    time: str


class FileLog:
    """Attempts and rejections, in ``.NAME.files.json`` beside the model file; one that cannot be read is begun anew.

    Parameters
    ----------
    model : Path
        The model file.

    Attributes
    ----------
    path : Path
    n_rejected : int
        Files that were ever set aside.
    rejections : list of Rejection
        The last ones of these, oldest first.
    """

    def __init__(self, model: Path) -> None:
        self.path = model.with_name(f".{model.name}.files.json")
        self.n_rejected = 0
        self.rejections: list[Rejection] = []
        self._attempts: dict[str, int] = {}
        self._under_way = ""
        try:
            found = json.loads(self.path.read_bytes())
            self.n_rejected = int(found["n_rejected"])
            self.rejections = [Rejection(**one) for one in found["rejections"]]
            self._attempts = {str(name): int(n) for name, n in found["attempts"].items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            pass

    def begin(self, path: Path, signature: Sequence[int]) -> int:
        """Note that a file is about to be read, and return how many attempts before this one never came to an end.

        A file that was written to since is another one: its attempts are counted anew.
        """
        self._under_way = json.dumps([os.fspath(path), *signature])
        before = self._attempts
        n_before = before.get(self._under_way, 0)
        others = [(name, n) for name, n in before.items() if name != self._under_way][1 - MAX_KEPT :]
        self._attempts = dict([*others, (self._under_way, n_before + 1)])
        try:
            with naming_unwritten(self.path):
                self._write()
        except OSError:
            self._attempts = before
            raise
        return n_before

    def end(self) -> None:
        """Note that the attempt came to an end: it is not counted."""
        if self._attempts.pop(self._under_way, 0):
            with suppress(OSError):  # it stays counted, which the next attempt that ends makes good
                self._write()

    def reject(self, path: Path, moved_to: Path | None, reason: str) -> None:
        """Note that a file was set aside."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        one = Rejection(os.fspath(path), None if moved_to is None else os.fspath(moved_to), reason, now)
        self.n_rejected += 1
        self.rejections = [*self.rejections, one][-MAX_KEPT:]
        self._attempts.pop(self._under_way, 0)
        with suppress(OSError):
            self._write()

    def _write(self) -> None:
        """Replace the file; a process that is killed leaves the old one or the new one."""
        content = {
            "n_rejected": self.n_rejected,
            "rejections": [one._asdict() for one in self.rejections],
            "attempts": self._attempts,
        }
        # Not synced to the disk as models are: it must survive the process, not the machine.
        beside = self.path.with_name(f"{self.path.name}.tmp")
        with holding_signals():  # one in between would leave the file beside
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="ascii") as file:
                json.dump(content, file)
            os.replace(beside, self.path)
