"""A read replica: fetches new versions of another service's models, checks their digests, and predicts with them.

Each response has the version of the model. A replica stores nothing that clients send: records with ids, labels and
batches are for the service that it follows.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adforest.exceptions import ModelFileError
from adforest.libraries import require
from adforest.service.requests import RequestError
from adforest.service.served_model import Answering, NamedModels, hold, kinds_of
from adforest.service.settings import check_name
from adforest.service.system import RealDisk
from adforest.service.trainer import ForestTrainer

MARK = ".adforest-follows"  # in folders of replicas
INTERVAL = 1.0  # seconds between two looks at the other service
PATIENCE = 60.0  # seconds that an answer of it may take


class FollowedModel:
    """A model of another service, as it last was.

    Attributes
    ----------
    name : str
    answering : Answering or None
    problem : str
        Why the newest version could not be fetched, empty if it could.
    """

    n_waiting = n_commits = n_committed = n_alerts_waiting = 0

    def __init__(self, name: str, url: str) -> None:
        self.name, self._url = name, url
        self.answering: Answering | None = None
        self.tag, self.problem = "", ""

    def kinds(self) -> Future[dict[str, str]]:
        """Return the types of the columns that the model has learnt."""
        found: Future[dict[str, str]] = Future()
        found.set_result(kinds_of(self.answering))
        return found

    def submit(self, _: Any) -> Future[Any]:
        """Refuse requests that would have to be stored."""
        raise RequestError(409, f"this is a replica, which keeps nothing. Send records with ids to {self._url}.")


class FollowedModels(NamedModels[FollowedModel]):
    """The models of another service, fetched by a thread.

    Parameters
    ----------
    url : str
        Of the other service.
    folder : Path
        Where the files are kept, so that a replica predicts while the other service is unavailable.
    token : str, optional
        With the right to learn, which a model as a file needs.
    """

    def __init__(self, url: str, folder: Path, token: str | None = None) -> None:
        super().__init__()
        httpx = require("httpx", "--follow", "client")
        self.url, self.folder = url.rstrip("/"), folder
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE)
        self._errors = httpx.HTTPError
        self._disk, self._trainer = RealDisk(), ForestTrainer()
        self._is_ending, self._lock_of_folder = threading.Event(), hold(folder)
        try:
            self._check_folder()
            self._read_kept()
        except BaseException:
            self._lock_of_folder.close()
            raise
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Follow no more."""
        self._is_ending.set()
        self._thread.join()
        self._http.close()
        self._lock_of_folder.close()

    def _check_folder(self) -> None:
        """Raise if the folder holds models of someone else: those that the other service lacks are removed."""
        if not self._disk.exists(self.folder / MARK):
            if any(self.folder.glob("[!.]*.adf*")):
                raise ValueError(
                    f"the folder '{self.folder}' holds models that were not fetched. Give --data another one."
                )
            self._disk.replace(self.folder / MARK, [self.url.encode()])

    def _read_kept(self) -> None:
        """Predict with the models that were fetched before."""
        for path in sorted(self.folder.glob("*.adf")):
            self._take(path.stem, path.read_bytes())

    def _follow(self) -> None:
        while not self._is_ending.is_set():
            begin = time.monotonic()
            try:
                self._look()
            except (self._errors, ValueError, KeyError, TypeError, OSError) as error:
                self.problems = {self.url: self._message(error)}
                for one in self._models.values():
                    one.problem = self._message(error)
            self._is_ending.wait(max(0.0, INTERVAL - (time.monotonic() - begin)))

    def _look(self) -> None:
        """Fetch new versions, and remove models that the other service no longer has."""
        names = self._named(self._json("/v1/models")["models"])
        for gone in set(self._models) - set(names):
            del self._models[gone]
            self._disk.remove(self.folder / f"{gone}.adf")
        for name in names:
            model = self._models.setdefault(name, FollowedModel(name, self.url))
            try:
                self._fetch(model)
            except (self._errors, OSError) as error:  # others may come
                model.problem = self._message(error)

    def _named(self, found: list[Any]) -> list[str]:
        """Return the names of models that can be followed; what is wrong with others is reported."""
        names, problems = [], {}
        for one in found:
            try:
                names.append(check_name(str(one)))
            except ValueError as error:
                problems[str(one)[:80]] = str(error)
        self.problems = problems
        return names

    def _fetch(self, model: FollowedModel) -> None:
        """Fetch a model if there is a new version."""
        head = {"if-none-match": model.tag} if model.tag else {}
        answer = self._http.get(f"/v1/models/{quote(model.name)}/model", headers=head)
        if answer.status_code == 304:
            model.problem = ""
        if answer.status_code in (304, 404, 409):  # the same, or nothing learnt yet
            return
        answer.raise_for_status()
        if f'"{sha256(answer.content).hexdigest()}"' != answer.headers.get("etag"):
            model.problem = "a model arrived damaged, and is fetched again"
        elif self._take(model.name, answer.content):
            self._disk.replace(self.folder / f"{model.name}.adf", [answer.content])

    def _message(self, error: Exception) -> str:
        return f"{self.url} cannot be followed ({str(error) or type(error).__name__})"

    def _take(self, name: str, content: bytes) -> bool:
        """Predict with this model from now on, unless it cannot be read."""
        model = self._models.setdefault(name, FollowedModel(name, self.url))
        try:
            found, learnt_through = self._trainer.unpack(content, f"{name}.adf")
        except ModelFileError as error:
            model.problem = str(error)
            return False
        model.answering = Answering(found.snapshot(), learnt_through.version, learnt_through.position)
        model.tag, model.problem = f'"{sha256(content).hexdigest()}"', ""
        return True

    def _json(self, path: str) -> Any:
        answer = self._http.get(path)
        answer.raise_for_status()
        return answer.json()
