"""All models of a folder that are served: made, found by name, and removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from adforest.service.requests import RequestError
from adforest.service.served_model import SERVICE_SUFFIX, NamedModels, ServedModel, hold, is_served, service_folder
from adforest.service.settings import ModelSettings, check_name
from adforest.service.store import SETTINGS
from adforest.service.system import RealDisk

SUFFIX, REMOVED = ".adf", "removed.json"
MAX_MODELS = 1_000


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
    """

    def __init__(self, folder: Path, on_fatal: Callable[[str], None], database_url: str | None = None) -> None:
        super().__init__()
        self.folder, self._on_fatal, self._disk = folder, on_fatal, RealDisk(database_url)
        self._lock = Lock()
        self._held = hold(folder)
        try:
            self._open_all()
        except BaseException:
            self.close()
            raise

    def _open_all(self) -> None:
        """Serve existing models, and delete remains of models whose creation or removal was interrupted."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}{SERVICE_SUFFIX}")):
            if (path / SETTINGS).exists():
                continue
            if (path / REMOVED).exists():
                self._remove_files(path.with_name(path.name.removesuffix(SERVICE_SUFFIX)))
            else:  # its making was cut short; a model of that name is of someone else
                self._disk.remove(path)
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            if "." not in path.stem and not is_served(path):
                self._adopt(path)
        for path in sorted(self.folder.glob(f"*{SUFFIX}{SERVICE_SUFFIX}")):
            model = path.with_name(path.name.removesuffix(SERVICE_SUFFIX))
            self._models[model.stem] = ServedModel(model, self._on_fatal, self._disk.database_url)

    def make(self, name: str, given: Mapping[str, Any]) -> ServedModel:
        """Make a model that knows nothing."""
        try:
            path = self.folder / f"{check_name(name)}{SUFFIX}"
            settings = ModelSettings.made(given)
        except ValueError as error:
            raise RequestError(422, str(error)) from None
        with self._lock:
            if name in self._models:
                raise RequestError(409, f"there is a model {name!r} already.")
            if any(one.lower() == name.lower() for one in self._models):
                raise RequestError(409, f"there is a model whose name differs from {name!r} in capitals alone.")
            if path.exists():
                raise RequestError(409, f"there is a file '{path.name}' that was saved meanwhile. Restart the service.")
            if len(self._models) >= MAX_MODELS:
                raise RequestError(409, f"there are {MAX_MODELS:,} models already. Remove one.")
            self._write_settings(path, settings)
            self._models[name] = ServedModel(path, self._on_fatal, self._disk.database_url)
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
        """Close all models."""
        for model in self._models.values():
            model.close()
        self._held.close()

    def _adopt(self, path: Path) -> None:
        """Serve a model that was saved by someone else, with the parameters that it has."""
        from adforest.origins import origins_of
        from adforest.storage import load

        model = load(path)
        noted = origins_of(model)
        settings = ModelSettings.made({"target": noted.target or "target"})
        self._write_settings(path, replace(settings, label_kind=type(model.classes_.tolist()[0]).__name__))

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
        for one in (path, path.with_name(f"{path.name}.versions"), path.with_name(f"{path.stem}.challenger{SUFFIX}")):
            self._disk.remove(one)
        self._disk.remove(service_folder(path))
