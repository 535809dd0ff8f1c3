"""A folder into which others write: the state of its files, and the log of attempts and rejections beside the model."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from adforest.cli.model_file import Signature, naming_unwritten
from adforest.cli.stopping import holding_signals
from adforest.reading.paths import natural_key, suffix_of
from adforest.wording import utc


@dataclass
class Sighting:
    """A file as it was last seen.

    Attributes
    ----------
    signature : Signature
    since : float
        Monotonic time at which it was first seen so. Modification times are not used: the clock of a file server may be
        minutes behind.
    n_looks : int
        How often it was seen unchanged.
    is_done : bool
        Whether nothing is to be done until it changes: it is learnt, or known.
    """

    signature: Signature
    since: float
    n_looks: int = 1
    is_done: bool = False


@dataclass
class Folder:
    """The files of a folder that is polled.

    Parameters
    ----------
    path : Path
    settle : float
        Seconds for which size and time of a file must not change before it is read.
    patience : float
        Seconds after its last change for which a file that cannot be read may still be unfinished.
    aside : Path
        Folder that files are moved to that cannot be learnt.
    by_time : bool
        Whether files are sorted by the time of their last change instead of their name.
    marker : str
        Suffix of the files that mark others as finished: .done for month.csv.done beside month.csv. Empty for none.
    """

    path: Path
    settle: float
    patience: float
    aside: Path
    by_time: bool = False
    marker: str = ""
    _seen: dict[Path, Sighting] = field(default_factory=dict)

    def look(self) -> list[Path]:
        """Return the files that are ready to be learnt, in their order."""
        found = dict(self._files())
        self._seen = {path: one for path, one in self._seen.items() if path in found}
        now = time.monotonic()
        for path, signature in found.items():
            before = self._seen.get(path)
            if before is None or before.signature != signature:
                self._seen[path] = Sighting(signature, now)
            else:
                before.n_looks += 1
        ready = [path for path, one in self._seen.items() if not one.is_done and self._is_ready(one, now)]
        if self.by_time:
            return sorted(ready, key=lambda path: (found[path].changed, natural_key(path)))
        return sorted(ready, key=natural_key)

    def _is_ready(self, sighting: Sighting, now: float) -> bool:
        """Return whether a file may be read: there is a marker, or it was seen twice unchanged, some time apart."""
        return bool(self.marker) or (sighting.n_looks > 1 and now - sighting.since >= self.settle)

    @property
    def n_waiting(self) -> int:
        """Number of files that are neither learnt nor set aside yet."""
        return sum(not one.is_done for one in self._seen.values())

    def is_unchanged(self, path: Path) -> bool:
        """Return whether a file is as it was last seen."""
        try:
            return Signature.of(path.stat()) == self._seen[path].signature
        except FileNotFoundError:
            return False

    def is_given_up(self, path: Path) -> bool:
        """Return whether a file that seems unfinished has not changed for long enough, or has a marker."""
        return bool(self.marker) or time.monotonic() - self._seen[path].since >= self.patience

    def signature(self, path: Path) -> Signature:
        """Return the signature of a file when it was last seen."""
        return self._seen[path].signature

    def done(self, path: Path) -> None:
        """Ignore a file until it changes."""
        self._seen[path].is_done = True

    def is_done(self, path: Path) -> bool:
        """Return whether a file is ignored until it changes."""
        return path in self._seen and self._seen[path].is_done

    def begin_again(self) -> None:
        """Check all files again: the model is another one, and may not know them."""
        for one in self._seen.values():
            one.is_done = False

    def put_aside(self, path: Path, reason: str) -> Path:
        """Move a file aside, with a text file that has the reason, and return its new path."""
        self.aside.mkdir(parents=True, exist_ok=True)
        target, number = self.aside / path.name, 1
        while target.exists():
            number += 1
            target = self.aside / f"{number}-{path.name}"
        Path(f"{target}.reason.txt").write_text(reason + "\n", encoding="utf-8", errors="backslashreplace")
        shutil.move(path, target)
        if self.marker:
            shutil.move(self._marker_of(path), self._marker_of(target))
        self._seen.pop(path, None)
        return target

    def _files(self) -> Iterator[tuple[Path, Signature]]:
        """Yield the files that may be batches; names with a leading dot or underscore are not."""
        for path in self.path.iterdir():
            if path.name.startswith((".", "_")) or suffix_of(path) is None:
                continue
            try:
                if path.is_file() and not (self.marker and not self._marker_of(path).exists()):
                    yield path, Signature.of(path.stat())
            except FileNotFoundError:  # gone between two looks
                continue

    def _marker_of(self, path: Path) -> Path:
        """Return the marker of a file."""
        return path.with_name(path.name + self.marker)


MAX_KEPT = 100  # rejections, and files with attempts that never ended


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
    """Attempts and rejections, in ``.NAME.files.json`` beside the model file; an unreadable one is replaced.

    Parameters
    ----------
    model : Path
        The model file.

    Attributes
    ----------
    path : Path
    n_rejected : int
        Number of files that were ever set aside.
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
        """Record that a file is about to be read, and return how many earlier attempts ended in a crash.

        A file that has changed since is another one: its attempts are counted from 0.
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
        """Record that the attempt has ended: it is not counted."""
        if self._attempts.pop(self._under_way, 0):
            with suppress(OSError):  # it stays counted, which the next attempt that ends makes good
                self._write()

    def reject(self, path: Path, moved_to: Path | None, reason: str) -> None:
        """Record that a file was set aside."""
        target = None if moved_to is None else os.fspath(moved_to)
        one = Rejection(os.fspath(path), target, reason, utc(time.time()))
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
