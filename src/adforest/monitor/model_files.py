"""The model files that are shown: which there are, the newest state of each, and when one changes."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

from adforest.classifier import BaseADFClassifier
from adforest.monitor.challenge import challenger_path
from adforest.monitor.model_view import ModelView
from adforest.storage import ModelFileError, load

SUFFIX = ".adf"
MAX_LOADED = 4  # models kept in memory at once


@dataclass(frozen=True)
class LoadedModel:
    """A model as it was last read.

    Attributes
    ----------
    name : str
        Of its file.
    model : BaseADFClassifier
    version : str
        Differs as soon as the file is another one.
    changed : float
        When the file was written, in seconds since 1970.
    problem : str
        Why the current file could not be read, empty if this is its model.
    """

    name: str
    model: BaseADFClassifier
    version: str
    changed: float
    problem: str = ""

    @cached_property
    def _view(self) -> ModelView:
        return ModelView.from_estimator(self.model)

    @property
    def view(self) -> ModelView:
        """Its view, made when it is first needed; the health is that of this moment."""
        return self._view.at(time.time())


class ModelFiles:
    """A model file, or the model files of a folder.

    Files are only ever found by name among those that are there, so that no name leads out of the folder; links that
    lead out of it are not followed.

    Parameters
    ----------
    path : str or path-like
        A model file, or a folder whose files ``*.adf`` are shown.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.is_folder = self.path.is_dir()
        if not self.is_folder and not self.path.is_file():
            raise FileNotFoundError(f"{self.path} is neither a model file nor a folder of them")
        self._loaded: OrderedDict[str, LoadedModel] = OrderedDict()
        self._lock = Lock()

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.path if self.is_folder else self.path.parent

    def versions(self) -> dict[str, str]:
        """Return a stamp of each file that changes when it is replaced, by name, sorted."""
        found = {}
        for name, path in sorted(self._paths().items()):
            with suppress(OSError):  # it has just been taken away
                found[name] = _version(path.stat())
        return found

    def load(self, name: str) -> LoadedModel:
        """Return a model as it is in its file now, or as it last could be read, with the reason.

        Raises
        ------
        KeyError
            If there is no such file.
        ModelFileError
            If it never could be read.
        """
        path = self._path(name)
        with self._lock:
            before = self._loaded.get(name)
            if path is None and before is None:
                raise KeyError(name)
            try:
                found = _read(name, path, before)
            except (OSError, ModelFileError) as error:
                problem = str(error).replace(str(path), name)  # who looks need not know where it lies
                if before is None:
                    raise ModelFileError(problem) from error
                found = _with_problem(before, problem)
            self._loaded[name] = found
            self._loaded.move_to_end(name)
            while len(self._loaded) > MAX_LOADED:
                self._loaded.popitem(last=False)
            return found

    def challenger(self, name: str) -> LoadedModel | None:
        """Return the challenger of a model, None where there is none that can be read."""
        beside = challenger_path(name).name
        path = _inside(self.folder.resolve(), beside)
        if path is None or not _names(self.folder):
            return None
        with self._lock:
            try:
                found = _read(beside, path, self._loaded.get(beside))
            except (OSError, ModelFileError):
                return None
            self._loaded[beside] = found
            return found

    def version_with_challenger(self, name: str) -> str:
        """Return a stamp that changes with a model or its challenger."""
        paths = (self._path(name), _inside(self.folder.resolve(), challenger_path(name).name))
        return "+".join(_version(path.stat()) for path in paths if path is not None and path.exists()) or "none"

    def _paths(self) -> dict[str, Path]:
        """Return the files by name."""
        if not self.is_folder:
            return {self.path.name: self.path} if self.path.is_file() else {}
        inside = self.path.resolve()
        found = ((name, _inside(inside, name)) for name in _names(inside))
        return {name: path for name, path in found if path is not None}

    def _path(self, name: str) -> Path | None:
        """Return one file, by its name among those that are there."""
        if not self.is_folder:
            return self._paths().get(name)
        inside = self.path.resolve()
        return _inside(inside, name) if name in _names(inside) else None


def _names(folder: Path) -> list[str]:
    """Return the names in a folder that a model may have."""
    try:
        return [name for name in os.listdir(folder) if name.endswith(SUFFIX) and not name.startswith(".")]
    except OSError:
        return []


def _inside(folder: Path, name: str) -> Path | None:
    """Return the file behind a name, None where that is none, or not in the folder."""
    real = (folder / name).resolve()
    return real if real.is_relative_to(folder) and real.is_file() else None


def _read(name: str, path: Path | None, before: LoadedModel | None) -> LoadedModel:
    """Return a model as its file holds it, without reading it again if it is the same."""
    if path is None:
        raise FileNotFoundError(f"{name} is no longer there")
    status = path.stat()
    version = _version(status)
    if before is not None and before.version == version:
        return _with_problem(before, "")
    return LoadedModel(name, load(path), version, status.st_mtime)


def _with_problem(before: LoadedModel, problem: str) -> LoadedModel:
    """Return a model that was read before, with the reason why its file cannot be read now, or without one."""
    if before.problem == problem:
        return before
    return replace(before, problem=problem)


def _version(status: os.stat_result) -> str:
    """Return size, time and inode of a file, to notice a change without reading it."""
    return f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"
