"""Several processes that predict: each loads the models from the files, and one has everything else.

    clients ─▶ one listening socket ─▶ worker: predictions ──ids, all other calls──▶ parent: stores, learners
                                         ▲                                              │
                                         └────────────────── model files ◀──────────────┘

A worker looks for new versions ten times a second. It ends with its parent; one that ends by itself is restarted.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from adforest.exceptions import ModelFileError
from adforest.monitor.access import App, Message, Receive, Send
from adforest.service.application import RETRY_SECONDS, make_service, refusal
from adforest.service.connections import PromptServer
from adforest.service.databases import PRIVATE
from adforest.service.following import FollowedModel
from adforest.service.gate import Gate
from adforest.service.link import ENDED, Link, LinkServer
from adforest.service.predictions import Counts
from adforest.service.process import DRAIN_SECONDS, ServiceOptions, make_config, strangers_may_ask
from adforest.service.requests import KeepRecords
from adforest.service.served_model import NamedModels, read_answering
from adforest.service.tables import from_bytes, to_bytes

PREDICTIONS = re.compile("/v1/models/([^/]+)/predict|/v2/models/([^/]+)/infer")
SOCKET, LONGEST_PATH = ".adforest-serve.sock", 100  # bytes, of any system
PAUSE = 1.0  # seconds between two starts of a worker
PATIENCE = 5.0  # seconds beyond those for requests under way after which a worker is killed


class ParentServer(uvicorn.Server):
    """Starts workers where uvicorn would listen itself, and processes the requests that they pass on.

    Parameters
    ----------
    config : uvicorn.Config
    options : ServiceOptions
    models : ServedModels or FollowedModels
    counts : Counts
        To which those of the workers are added.
    """

    def __init__(self, config: uvicorn.Config, options: ServiceOptions, models: Any, counts: Counts) -> None:
        super().__init__(config)
        self._options, self._models, self._counts = options, models, counts
        self._path = socket_path(options)
        self._workers: list[subprocess.Popen[bytes] | None] = [None] * options.workers
        self._started_at = [-PAUSE] * options.workers

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the workers."""
        assert sockets is not None
        self._listener = sockets[0]
        with suppress(FileNotFoundError):  # of a process that was killed: this one has the folder now
            os.unlink(self._path)
        inner = socket.socket(socket.AF_UNIX)
        inner.bind(self._path)
        os.chmod(self._path, PRIVATE)  # before anyone can connect
        link = LinkServer(self.config.app, self._answer)  # type: ignore[arg-type]
        self._server = await asyncio.start_unix_server(link.take, sock=inner, backlog=self.config.backlog)
        self.started = True

    async def on_tick(self, counter: int) -> bool:
        """Restart workers that have ended."""
        if not self.should_exit:
            for index, worker in enumerate(self._workers):
                is_due = time.monotonic() >= self._started_at[index] + PAUSE
                if (worker is None or worker.poll() is not None) and is_due:
                    self._workers[index] = self._start(worker)
                    self._started_at[index] = time.monotonic()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the workers once their requests under way are done."""
        self._listener.close()
        workers = [one for one in self._workers if one is not None]
        for one in workers:
            with suppress(OSError):
                os.write(one.stdin.fileno(), b".")  # type: ignore[union-attr]
        end = time.monotonic() + DRAIN_SECONDS + PATIENCE
        while any(one.poll() is None for one in workers) and time.monotonic() < end and not self.force_exit:
            await asyncio.sleep(0.05)
        for one in workers:
            one.kill()
            one.communicate()
        self._server.close()
        with suppress(FileNotFoundError):
            os.unlink(self._path)

    def _start(self, before: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
        """Start a worker."""
        if before is not None:
            before.communicate()
        shown = asdict(self._options) | {"follow": None, "follow_token": None, "database": None}
        listener = self._listener.fileno()
        return subprocess.Popen(
            [sys.executable, "-m", "adforest.service.workers", json.dumps(shown, default=os.fspath), str(listener)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(listener,),
            start_new_session=True,  # Ctrl-C in a terminal is for the parent, which waits for them
        )

    async def _answer(self, message: dict[str, Any], body: bytes) -> dict[str, Any]:
        """Store the records of a prediction, or add up counts and return the names of the models."""
        if message["type"] == "look":
            self._counts.merge(message["predictions"], message["of_models"])
            return {"models": self._models.names()}
        try:
            table, note = from_bytes(body)
            kept = self._models.get(message["model"]).submit(KeepRecords(note["ids"], table, note["active"]))
            await asyncio.wrap_future(kept)
        except Exception as error:
            status, words, headers = refusal(error)
            return {"status": status, "error": words, "headers": headers}
        return {"status": 200}


class WorkerServer(PromptServer):
    """A process that predicts with the models in the files."""

    def __init__(self, config: uvicorn.Config, models: SharedModels, link: Link, counts: Counts) -> None:
        super().__init__(config)
        self._models, self._link, self._counts = models, link, counts
        Thread(target=self._end_with_parent, daemon=True).start()

    async def on_tick(self, counter: int) -> bool:
        """Look for new versions."""
        await self._look()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End once requests under way are done."""
        await super().shutdown(sockets)
        await self._look()

    async def _look(self) -> None:
        """Send counts to the parent, and read the files that have changed."""
        predictions, of_models = self._counts.taken()
        try:
            found = await self._link.ask({"type": "look", "predictions": predictions, "of_models": of_models})
        except OSError:
            self._counts.merge(predictions, of_models)
            return
        with suppress(OSError):
            await run_in_threadpool(self._models.read, found["models"])

    def _end_with_parent(self) -> None:
        """End when the parent requests it, at once if it has ended."""
        while os.read(0, 1):
            self.should_exit = True
        os._exit(1)


class SharedModel(FollowedModel):
    """A model in a worker: it predicts, and passes records to the parent."""

    def __init__(self, name: str, link: Link) -> None:
        super().__init__(name, "")
        self._link = link

    def submit(self, change: KeepRecords) -> Future[Any]:
        """Pass records to the parent; the future has its response once they are on the disk."""
        return asyncio.run_coroutine_threadsafe(self._keep(change), asyncio.get_running_loop())

    async def _keep(self, change: KeepRecords) -> None:
        body = to_bytes(change.table, {"ids": list(change.ids), "active": change.active})
        try:
            answer = await self._link.ask({"type": "keep", "model": self.name}, body)
        except OSError:
            raise HTTPException(503, ENDED, {"retry-after": RETRY_SECONDS}) from None
        if answer["status"] != 200:
            raise HTTPException(answer["status"], answer["error"], answer["headers"])


class SharedModels(NamedModels[SharedModel]):
    """The models that a worker predicts with.

    Parameters
    ----------
    folder : Path
    link : Link
    """

    def __init__(self, folder: Path, link: Link) -> None:
        super().__init__()
        self._folder, self._link = folder, link
        self._seen: dict[str, tuple[int, ...]] = {}

    def read(self, names: list[str]) -> None:
        """Read the files of some models that have changed, and drop all other models."""
        for name in set(self._seen) - set(names):
            self._drop(name)
        for name in names:
            path = self._folder / f"{name}.adf"
            try:
                about = os.stat(path)
                seen = about.st_mtime_ns, about.st_ino, about.st_size
                if self._seen.get(name) != seen:
                    answering = read_answering(path)
                    model = SharedModel(name, self._link)
                    model.answering, self._seen[name] = answering, seen
                    self._models[name] = model
            except FileNotFoundError:
                self._drop(name)
            except ModelFileError:  # the parent tells it
                self._seen[name] = seen
            except OSError:  # it is tried again
                continue

    def _drop(self, name: str) -> None:
        self._models.pop(name, None)
        self._seen.pop(name, None)


def worker_app(models: SharedModels, gate: App, link: App) -> App:
    """Return an application that predicts with known models itself, and passes on all other requests."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        found = PREDICTIONS.fullmatch(scope["path"]) if scope["method"] == "POST" else None
        is_known = found is not None and models.has(found[1] or found[2])
        await (gate if is_known else link)(scope, receive, send)

    return app


def socket_path(options: ServiceOptions) -> str:
    """Return the path of the socket between workers and their parent, or raise if no system takes it."""
    path = os.fspath(options.folder / SOCKET)
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise ValueError(
            f"the path '{path}' has {len(os.fsencode(path))} bytes; a socket's has at most {LONGEST_PATH}. "
            "Give --data a shorter or a relative path."
        )
    return path


def main(given: str, descriptor: str) -> None:
    """Serve until the parent stops the worker, or ends."""
    found = json.loads(given)
    paths = {name: None if found[name] is None else Path(found[name]) for name in ("folder", "certificate", "key")}
    options = ServiceOptions(**(found | paths))
    link, counts = Link(socket_path(options)), Counts()
    models = SharedModels(options.folder, link)
    service = make_service(models, lambda: False, counts=counts, is_replica=True)
    gate = Gate(service, link, options.folder, options.names, strangers_may_ask(options))
    app = worker_app(models, gate, link)
    server = WorkerServer(make_config(app, options), models, link, counts)
    server.run(sockets=[socket.socket(fileno=int(descriptor))])


if __name__ == "__main__":
    main(*sys.argv[1:])
