"""A folder into which others write: which files are there whole, which were learnt, and which cannot be."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from adforest.streams.paths import natural_key, suffix_of


class Signature(NamedTuple):
    """What changes when a file is written to."""

    size: int
    changed: int
    inode: int


@dataclass
class Sighting:
    """A file as it was last seen.

    Attributes
    ----------
    signature : Signature
    since : float
        The moment, by the clock that never goes back, since which it has been so.
    is_done : bool
        Whether there is nothing to be done as long as it stays so: learnt, or known.
    """

    signature: Signature
    since: float
    is_done: bool = False


@dataclass
class Folder:
    """The files of a folder, looked at again and again.

    Parameters
    ----------
    path : Path
    settle : float
        Seconds for which size and time of a file must stand still before it is read.
    patience : float
        Seconds after its last change for which a file that cannot be read may still be unfinished.
    aside : Path
        Where files go that cannot be learnt.
    by_time : bool
        Whether files come by the time of their last change instead of their name.
    """

    path: Path
    settle: float
    patience: float
    aside: Path
    by_time: bool = False
    _seen: dict[Path, Sighting] = field(default_factory=dict)

    def look(self) -> list[Path]:
        """Return the files to be done that stand still, in their order."""
        found = dict(self._files())
        self._seen = {path: one for path, one in self._seen.items() if path in found}
        now, by_clock = time.monotonic(), time.time()
        for path, signature in found.items():
            before = self._seen.get(path)
            if before is None or before.signature != signature:
                # What was last changed long ago has been standing still before it was seen, too.
                age = max(0.0, by_clock - signature.changed / 1e9) if before is None else 0.0
                self._seen[path] = Sighting(signature, now - age)
        ready = [path for path, one in self._seen.items() if not one.is_done and now - one.since >= self.settle]
        if self.by_time:
            return sorted(ready, key=lambda path: (found[path].changed, natural_key(path)))
        return sorted(ready, key=natural_key)

    @property
    def n_waiting(self) -> int:
        """Files of which it is not decided yet what becomes of them."""
        return sum(not one.is_done for one in self._seen.values())

    def is_unchanged(self, path: Path) -> bool:
        """Return whether a file is as it was last seen."""
        try:
            return _signature(path) == self._seen[path].signature
        except FileNotFoundError:
            return False

    def is_given_up(self, path: Path) -> bool:
        """Return whether a file that cannot be read has had time enough to be finished."""
        return time.monotonic() - self._seen[path].since >= self.patience

    def done(self, path: Path) -> None:
        """Leave a file alone as long as it stays as it is."""
        self._seen[path].is_done = True

    def put_aside(self, path: Path, reason: str) -> Path:
        """Move a file aside, with a text that tells the reason, and return where it went."""
        self.aside.mkdir(parents=True, exist_ok=True)
        target, number = self.aside / path.name, 1
        while target.exists():
            number += 1
            target = self.aside / f"{number}-{path.name}"
        Path(f"{target}.reason.txt").write_text(reason + "\n", encoding="utf-8")
        os.replace(path, target)
        self._seen.pop(path, None)
        return target

    def _files(self) -> Iterator[tuple[Path, Signature]]:
        """Yield the files that may be batches; a leading dot or underscore marks what is none."""
        for path in self.path.iterdir():
            if path.name.startswith((".", "_")) or suffix_of(path) is None:
                continue
            try:
                if path.is_file():
                    yield path, _signature(path)
            except FileNotFoundError:  # gone between two looks
                continue


def _signature(path: Path) -> Signature:
    """Return what changes when a file is written to."""
    found = path.stat()
    return Signature(found.st_size, found.st_mtime_ns, found.st_ino)
