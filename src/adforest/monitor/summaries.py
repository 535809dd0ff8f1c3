"""Summaries of the models of a folder, read in the background, so that a page of many models is shown at once."""

from __future__ import annotations

import time
from threading import Condition, Thread

from adforest.monitor.model_files import ModelFiles
from adforest.monitor.pages.index import ModelSummary
from adforest.storage import ModelFileError


class Summaries:
    """Summaries of the models of a folder; those that did not change are not read again.

    Parameters
    ----------
    files : ModelFiles
    """

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._known: dict[str, tuple[str, ModelSummary | str]] = {}
        self._changed = Condition()
        self._is_reading = False

    def now(self, patience: float) -> tuple[dict[str, str], list[tuple[str, ModelSummary | str | None]]]:
        """Return the version of each file, and its summary: None for one that is still to be read.

        Parameters
        ----------
        patience : float
            Seconds to wait until all are read.
        """
        versions = self._files.versions()
        with self._changed:
            self._known = {name: one for name, one in self._known.items() if name in versions}
            if not self._is_reading and self._unread(versions):
                self._is_reading = True
                Thread(target=self._read_all, name="summaries of models", daemon=True).start()
            self._changed.wait_for(lambda: not self._unread(versions), patience)
            found = [(name, self._known[name][1] if name in self._known else None) for name in versions]
        moment = time.time()
        return versions, [(name, one.at(moment) if isinstance(one, ModelSummary) else one) for name, one in found]

    @property
    def n_known(self) -> int:
        """How many are read."""
        return len(self._known)

    def _unread(self, versions: dict[str, str]) -> list[str]:
        """Return the files that are other ones than those read."""
        return [name for name, version in versions.items() if self._known.get(name, ("",))[0] != version]

    def _read_all(self) -> None:
        """Read files until all are read."""
        try:
            while names := self._unread(versions := self._files.versions()):
                for name in names:
                    summary = self._read(name)
                    with self._changed:
                        self._known[name] = versions[name], summary
                        self._changed.notify_all()
        finally:
            with self._changed:
                self._is_reading = False

    def _read(self, name: str) -> ModelSummary | str:
        """Return a model in a row, or why it cannot be read."""
        try:
            loaded = self._files.load(name)
        except KeyError:
            return "It is no longer there."
        except ModelFileError as error:
            return str(error)
        return loaded.problem or ModelSummary.of(loaded.view)
