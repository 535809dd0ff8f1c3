"""A folder into which others write: which files are there whole, which were learnt, and which cannot be."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adforest.cli.model_file import Signature
from adforest.reading.paths import natural_key, suffix_of


@dataclass
class Sighting:
    """A file as it was last seen.

    Attributes
    ----------
    signature : Signature
    since : float
        The moment, by the clock that never goes back, at which it was first seen so. What its own times say is not
        believed: the clock of a file server may be minutes behind.
    n_looks : int
        How often it was seen so.
    is_done : bool
        Whether there is nothing to be done as long as it stays so: learnt, or known.
    """

    signature: Signature
    since: float
    n_looks: int = 1
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
    marker : str
        The suffix of the file that says that another one is finished: month.csv.done beside month.csv. Nothing if there
        are no such files.
    """

    path: Path
    settle: float
    patience: float
    aside: Path
    by_time: bool = False
    marker: str = ""
    _seen: dict[Path, Sighting] = field(default_factory=dict)

    def look(self) -> list[Path]:
        """Return the files to be done that stand still, in their order."""
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
        """Return whether a file may be read: a marker says so, or it was seen twice as it is, some time apart."""
        return bool(self.marker) or (sighting.n_looks > 1 and now - sighting.since >= self.settle)

    @property
    def n_waiting(self) -> int:
        """Files of which it is not decided yet what becomes of them."""
        return sum(not one.is_done for one in self._seen.values())

    def is_unchanged(self, path: Path) -> bool:
        """Return whether a file is as it was last seen."""
        try:
            return Signature.of(path.stat()) == self._seen[path].signature
        except FileNotFoundError:
            return False

    def is_given_up(self, path: Path) -> bool:
        """Return whether a file that seems unfinished has had time enough, or is said to be finished."""
        return bool(self.marker) or time.monotonic() - self._seen[path].since >= self.patience

    def signature(self, path: Path) -> Signature:
        """Return what a file was when it was last seen."""
        return self._seen[path].signature

    def done(self, path: Path) -> None:
        """Leave a file alone as long as it stays as it is."""
        self._seen[path].is_done = True

    def is_done(self, path: Path) -> bool:
        """Return whether a file is left alone as it is."""
        return path in self._seen and self._seen[path].is_done

    def begin_again(self) -> None:
        """Look at all files anew: the model is another one, and may not know them."""
        for one in self._seen.values():
            one.is_done = False

    def put_aside(self, path: Path, reason: str) -> Path:
        """Move a file aside, with a text that tells the reason, and return where it went."""
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
        """Yield the files that may be batches; a leading dot or underscore marks what is none."""
        for path in self.path.iterdir():
            if path.name.startswith((".", "_")) or suffix_of(path) is None:
                continue
            try:
                if path.is_file() and not (self.marker and not self._marker_of(path).exists()):
                    yield path, Signature.of(path.stat())
            except FileNotFoundError:  # gone between two looks
                continue

    def _marker_of(self, path: Path) -> Path:
        """Return the file that says that another one is finished."""
        return path.with_name(path.name + self.marker)
