"""All models of a folder that are served: made, found by name, and removed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from adforest.alerts.outbox import outbox_path
from adforest.alerts.reading import read_file
from adforest.exceptions import ModelFileError
from adforest.service.alerting import ServedAlerts
from adforest.service.databases import PRIVATE
from adforest.service.log import LogError
from adforest.service.requests import RequestError
from adforest.service.served_model import SERVICE_SUFFIX, NamedModels, ServedModel, hold, is_served, service_folder
from adforest.service.settings import ModelSettings, check_name, parameters_of
from adforest.service.store import LOG, SETTINGS, TABLES
from adforest.service.system import RealDisk
from adforest.storage.locks import holder_of, lock_file, open_lock

SUFFIX, REMOVED = ".adf", "removed.json"
MAX_MODELS = 1_000
MAX_CLOSING = 100  # models that are closed at once


class UnopenedModel:
    """A model that is not served, since its files are damaged, as health and metrics see it.

    Parameters
    ----------
    name : str
    problem : str
        The reason.
    """

    answering, n_waiting, n_commits, n_committed, n_alerts_waiting = None, 0, 0, 0, 0

    def __init__(self, name: str, problem: str) -> None:
        self.name, self.problem = name, problem


class ServedModels(NamedModels[ServedModel]):
    """The models of a folder; one process serves it.

    Parameters
    ----------
    folder : Path
        Made if it is not there. Files ``*.adf`` in it that were saved elsewhere are served too.
    on_fatal : callable
        Called when a log can no longer be written: the process must end.
    database_url : str, optional
        Of PostgreSQL, which holds the tables of models that are made from now on.
    alerts : Path, optional
        A file of rules and receivers, for the alerts of all models.
    """

    def __init__(
        self,
        folder: Path,
        on_fatal: Callable[[str], None],
        database_url: str | None = None,
        alerts: Path | None = None,
    ) -> None:
        super().__init__()
        self._rules = ([], []) if alerts is None else read_file(alerts)
        self.is_draining: Callable[[], bool] = bool  # whether the service ends once requests under way are done
        self.folder, self._on_fatal, self._disk = folder, on_fatal, RealDisk(database_url)
        self._lock = Lock()
        self._unopened: dict[str, UnopenedModel] = {}
        self._lock_of_folder = hold(folder)
        try:
            self._open_all()
        except BaseException:
            self.close()
            raise

    def _open_all(self) -> None:
        """Serve existing models, and delete remains of models whose creation or removal was interrupted."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}{SERVICE_SUFFIX}")):
            self._unless_damaged(path, self._clear)
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            if "." not in path.stem and not is_served(path) and path.stem not in self._unopened:
                self._unless_damaged(path, self._adopt)
        for path in sorted(self.folder.glob(f"*{SUFFIX}{SERVICE_SUFFIX}")):
            if _model_of(path).stem not in self._unopened:
                self._unless_damaged(path, self._open)

    def _unless_damaged(self, path: Path, action: Callable[[Path], None]) -> None:
        """Do something with the files of a model; one that is damaged is named, and the others are served."""
        try:
            action(path)
        except (LogError, ModelFileError, PermissionError) as error:
            name = _model_of(path).stem
            print(f"The model {name!r} is not served: {error}", file=sys.stderr)
            self._unopened[name] = UnopenedModel(name, str(error).replace(f"{self.folder}{os.sep}", ""))

    def _clear(self, path: Path) -> None:
        """Delete a folder whose model was never made, or was removed."""
        if (path / SETTINGS).exists():
            return
        if (path / REMOVED).exists():
            self._remove_files(_model_of(path))
        elif (path / LOG).exists() or (path / TABLES).exists():
            raise LogError(f"'{path / SETTINGS}' is missing. Restore it from a backup, or move the folder elsewhere.")
        else:  # its making was cut short; a model of that name is of someone else
            self._disk.remove(path)

    def _open(self, path: Path) -> None:
        model = _model_of(path)
        self._models[model.stem] = self._opened(model)

    def served(self) -> list[Any]:
        """Return all models, sorted by their names, also those that could not be opened."""
        return sorted([*super().served(), *self._unopened.values()], key=lambda one: one.name)

    def get(self, name: str) -> ServedModel:
        """Return a model, or raise that there is none, or why it could not be opened."""
        if name in self._unopened:
            raise RequestError(503, f"the model {name!r} is not served: {self._unopened[name].problem}")
        return super().get(name)

    def _opened(self, path: Path) -> ServedModel:
        alerts = ServedAlerts(*self._rules)
        return ServedModel(path, self._on_fatal, self._disk.database_url, lambda: self.is_draining(), alerts)

    def make(self, name: str, given: Mapping[str, Any]) -> ServedModel:
        """Make a model that knows nothing."""
        path = self.folder / f"{check_name(name)}{SUFFIX}"
        settings = ModelSettings.made(given)
        with self._lock:
            if name in self._unopened:
                self.get(name)
            if name in self._models:
                raise RequestError(409, f"there is a model {name!r} already.")
            if path.exists():
                raise RequestError(409, f"there is a file '{path.name}' that was saved meanwhile. Restart the service.")
            self._check_new(name)
            self._write_settings(path, settings)
            self._models[name] = self._opened(path)
            return self._models[name]

    def remove(self, name: str) -> None:
        """Remove a model with its versions, its records and its log."""
        with self._lock:
            model = self.get(name)
            del self._models[name]
            model.close()
            self._disk.link(model.folder / SETTINGS, model.folder / REMOVED)
            self._disk.remove(model.folder / SETTINGS)  # from here on it is no model, whatever is left of it
            self._remove_files(model.path)

    def close(self) -> None:
        """Close all models, many at once: each may send alerts for a moment."""
        with self._lock_of_folder, ThreadPoolExecutor(MAX_CLOSING) as pool:
            list(pool.map(ServedModel.close, self._models.values()))

    def _adopt(self, path: Path) -> None:
        """Serve a model that was saved by someone else; one that no request can name is named and skipped."""
        try:
            self._check_new(check_name(path.stem))
            self._take(path)
        except ModelFileError:  # a damaged file, as of any other model
            raise
        except (ValueError, RequestError) as error:
            print(f"The file {path.name!r} is not served: {error}", file=sys.stderr)
            self.problems[path.name] = str(error)

    def _take(self, path: Path) -> None:
        """Make the settings of a model that was saved by someone else, with the parameters that it has."""
        from adforest.origins import note_origins, origins_of
        from adforest.storage import load
        from adforest.storage.files import packed

        with open_lock(path.with_name(f".{path.name}.lock")) as note:
            if not lock_file(note):
                raise OSError(f"another process has the model '{path}': {holder_of(note)}. End it first.")
            model = load(path)
            noted = origins_of(model)
            settings = ModelSettings.made({"target": noted.target or "target", "parameters": parameters_of(model)})
            os.chmod(path, PRIVATE)  # which it keeps when it is replaced
            here = replace(noted, stream=None, epoch=0, position=0)
            if noted != here:  # a position in the log of another service, or in a stream, is none in the log to come
                note_origins(model, here)
                self._disk.replace(path, packed(model))
            self._write_settings(path, replace(settings, label_kind=type(model.classes_.tolist()[0]).__name__))

    def _check_new(self, name: str) -> None:
        """Raise if a name differs from that of another model in capitals alone, or if there are too many models."""
        names = {
            path.name.removesuffix(SUFFIX + SERVICE_SUFFIX) for path in self.folder.glob(f"*{SUFFIX}{SERVICE_SUFFIX}")
        }
        names.discard(name)
        if any(one.lower() == name.lower() for one in names):
            raise RequestError(409, f"there is a model whose name differs from {name!r} in capitals alone.")
        if len(names) >= MAX_MODELS:
            raise RequestError(409, f"there are {MAX_MODELS:,} models already. Remove one.")

    def _write_settings(self, path: Path, settings: ModelSettings) -> None:
        if self._disk.database_url is not None:
            settings = replace(settings, tables="postgresql")
        self._disk.make_folder(service_folder(path))
        self._disk.replace(service_folder(path) / SETTINGS, [settings.dumped()])

    def _remove_files(self, path: Path) -> None:
        """Remove a model; last of all its settings, which have the URL of its tables."""
        removed = service_folder(path) / REMOVED
        schema = ModelSettings.loaded(removed.read_bytes()).schema if removed.exists() else None
        if schema is not None:
            self._disk.drop_database(schema)
        outbox = outbox_path(path)
        beside = (f"{path.name}.versions", f"{path.stem}.challenger{SUFFIX}", outbox.name, f"{outbox.name}-journal")
        for one in (path, *map(path.with_name, beside)):
            self._disk.remove(one)
        for name in self._disk.names(removed.parent):
            if name != REMOVED:
                self._disk.remove(removed.parent / name)
        self._disk.remove(removed.parent)  # with that file, which until here says that this is to be removed


def _model_of(path: Path) -> Path:
    """Return the file of a model by the name of its folder, or by its own."""
    return path.with_name(path.name.removesuffix(SERVICE_SUFFIX))
