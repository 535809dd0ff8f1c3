"""One served model: a thread writes for all requests, a process learns, predictions wait for neither.

requests ─▶ queue ─▶ writer (one thread: store) ─▶ answers
│ tasks
▼
supervisor (one thread) ⇄ learner (one process) ─▶ model file ─▶ `answering`, a reference
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Generic, NamedTuple, TypeVar

from adforest.base import get_fitted
from adforest.exceptions import ModelFileError
from adforest.origins import Origins, origins_of
from adforest.service.alerting import CHECK_SECONDS, ServedAlerts
from adforest.service.learner import Outcome, kept_versions
from adforest.service.learning_process import RETRY, LearnerEndedError, LearningProcess
from adforest.service.log import LogError
from adforest.service.orders import has_challenger, order_for
from adforest.service.requests import Change, RequestError
from adforest.service.store import SETTINGS, Store, StoreFullError, is_damage, meaning_of
from adforest.service.system import PRIVATE_FOLDER, RealDisk, SteadyClock
from adforest.service.tables import NUMBER, TEXT
from adforest.service.task_table import BATCH, REFUSED, WAITING, Task
from adforest.service.trainer import plain
from adforest.storage import load
from adforest.storage.locks import holder_of, lock_file, note_holder, open_lock

T = TypeVar("T")
MAX_WAITING = 10_000  # requests of a model that may wait to be written
MAX_TASKS = 1_000  # tasks of a model that may wait to be done
GROUP = 2_000  # requests that are written at once
LOCK_PATIENCE = 15.0  # seconds for which a learner of a process that was killed may hold the lock
RETRY_SECONDS = 5.0
IDLE_SECONDS = 300.0  # after which a learner that has nothing to do ends
POLL_SECONDS = 0.5  # after which a request that waits for its batch looks whether the service ends
SERVICE_SUFFIX = ".service"


class BusyError(Exception):
    """The queue is full; the request may be sent again later."""


class UnexpectedError(Exception):
    """A fault of the service kept a request from being done; it may or may not be the request's."""


class Answering(NamedTuple):
    """A model that predicts: never changed, only replaced.

    Attributes
    ----------
    model : Snapshot
    version : int
        The number of the task that made it.
    learnt_through : int
        The position of that task in the log.
    """

    model: Any
    version: int
    learnt_through: int


def read_answering(path: Path) -> Answering:
    """Return the model of a file."""
    model = load(path)
    noted = origins_of(model)
    return Answering(model.snapshot(), noted.epoch, noted.position)


def names_of(model: Any) -> list[str] | None:
    """Return the names of the columns that a model learnt, None if they have none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(one) for one in names]


def kinds_of(answering: Answering | None) -> dict[str, str]:
    """Return what columns hold, as a model learnt them."""
    names = [] if answering is None else names_of(answering.model)
    if answering is None or names is None:
        return {}
    kinds = get_fitted(answering.model).encoder.kinds
    return {name: TEXT if kind == "categories" else NUMBER for name, kind in zip(names, kinds, strict=False)}


class NamedModels(Generic[T]):
    """Models that are found by their names.

    Attributes
    ----------
    problems : dict of str to str
        Why files or models are not among them, by their names.
    """

    def __init__(self) -> None:
        self._models: dict[str, T] = {}
        self.problems: dict[str, str] = {}

    def names(self) -> list[str]:
        """Return the names of all models, sorted."""
        return sorted(self._models)

    def served(self) -> list[T]:
        """Return all models, sorted by their names."""
        return [one for _, one in sorted(self._models.copy().items(), key=lambda item: item[0])]

    def has(self, name: str) -> bool:
        """Return whether there is a model."""
        return name in self._models

    def get(self, name: str) -> T:
        """Return a model, or raise that there is none."""
        found = self._models.get(name)
        if found is None:
            raise RequestError(404, f"there is no model {name[:80]!r}.")
        return found


class ServedModel:
    """A model, its store and its learner.

    Parameters
    ----------
    path : Path
        The file of the model; everything else is in the folder of its name and ``.service``.
    on_fatal : callable
        Called when the log can no longer be written: the process must end.
    database_url : str, optional
        URL of PostgreSQL, which has the tables if it is set so.
    is_draining : callable, optional
        Whether the service ends once requests under way are done: none waits for a batch any more.
    alerts : ServedAlerts, optional
    """

    def __init__(
        self,
        path: Path,
        on_fatal: Callable[[str], None],
        database_url: str | None = None,
        is_draining: Callable[[], bool] = bool,
        alerts: ServedAlerts | None = None,
    ) -> None:
        self.path, self.name, self._on_fatal, self._is_draining = path, path.stem, on_fatal, is_draining
        self.folder = service_folder(path)
        self._locks = ExitStack()
        self._descriptors = self._lock()
        self._alerts = alerts or ServedAlerts()
        self._problems = {"writing": "", "closing": "", "learning": "", "reading": ""}
        self._learner: LearningProcess | None = None
        self._is_unsure = False  # which tasks the model in the file has learnt
        self.answering: Answering | None = None
        try:
            self.store = Store(RealDisk(database_url), SteadyClock(), self.folder)
            self._locks.callback(self.store.close)
            self._locks.callback(self._end_learner)
            self._locks.callback(self._alerts.close)
            self._open()
            self._alerts.begin(self)
        except BaseException:
            self._locks.close()
            raise
        self._queue: Queue[tuple[Change | Callable[[], Any], Future[Any]]] = Queue()
        self._has_task, self._is_ending, self._is_over, self._is_closed = threading.Event(), False, False, False
        self._is_broken = False
        self.task_ended: Future[None] = Future()  # of the next task that ends
        self.n_commits = self.n_committed = 0
        self._writer = threading.Thread(target=self._write, name=f"{self.name}-writer", daemon=True)
        self._supervisor = threading.Thread(target=self._supervise, name=f"{self.name}-supervisor", daemon=True)
        self._writer.start()
        self._supervisor.start()
        self._has_task.set()

    @property
    def problem(self) -> str:
        """Reason why it cannot write or learn, empty if there is none; clients see it, so it has no path."""
        return self._without_path(next(filter(None, self._problems.values()), ""))

    @property
    def n_waiting(self) -> int:
        """Requests to be written."""
        return self._queue.qsize()

    @property
    def n_alerts_waiting(self) -> int:
        """Alerts that are not delivered yet."""
        return self._alerts.n_waiting()

    @property
    def is_new(self) -> bool:
        """Whether there is no model that predicts yet."""
        return self.answering is None

    @property
    def model(self) -> Any:
        """The model that predicts, None if there is none yet."""
        return None if self.answering is None else self.answering.model

    @property
    def origins(self) -> Origins:
        """The sources of the batches of that model."""
        return origins_of(self.model)

    def submit(self, change: Change) -> Future[Any]:
        """Write a request; the future has its response once that is on the disk."""
        if self._queue.qsize() >= MAX_WAITING:
            raise BusyError(f"{MAX_WAITING:,} requests wait to be written")
        return self._put(change)

    def call(self, action: Callable[[], T]) -> Future[T]:
        """Call a function in the thread that has the store."""
        return self._put(action)

    def _put(self, action: Change | Callable[[], Any]) -> Future[Any]:
        """Call a function in the writer's thread; the future has an error if the writer has ended."""
        future: Future[Any] = Future()
        self._queue.put((action, future))
        if self._is_closed:
            self._refuse_all()
        return future

    def kinds(self) -> Future[dict[str, str]]:
        """Return the known types of columns."""
        return self.call(lambda: kinds_of(self.answering) | self.store.state.known_kinds())

    async def wait_for(self, number: int, seconds: float) -> Task | None:
        """Return a task once it is done, or as it is after some seconds or when the service ends; no thread waits."""
        end = time.monotonic() + seconds
        while True:
            ended = self.task_ended
            task = await asyncio.wrap_future(self.call(lambda: self.store.state.tasks.get(number)))
            left = end - time.monotonic()
            if task is None or task.state != WAITING or left <= 0 or self._is_ending or self._is_draining():
                return task
            await asyncio.wait([asyncio.wrap_future(ended)], timeout=min(left, POLL_SECONDS))

    def close(self) -> None:
        """Write pending entries, stop the learner and close the model."""
        self._is_ending = True
        self._has_task.set()
        learner = self._learner
        if learner is not None:
            learner.end()
        self._supervisor.join()
        self._end_learner()  # one that was started meanwhile
        self._is_over = True
        self._queue.put((lambda: None, Future()))
        self._writer.join()
        self._is_closed = True
        self._refuse_all()
        self._locks.close()

    def _without_path(self, problem: str) -> str:
        """Return a message in which files are named from the folder of the models on."""
        return problem.replace(f"{self.path.parent}{os.sep}", "")

    def _lock(self) -> tuple[int, ...]:
        """Keep others from this model: commands that learn into its file, and other services."""
        note = self._locks.enter_context(open_lock(self.path.with_name(f".{self.path.name}.lock")))
        end = time.monotonic() + LOCK_PATIENCE
        while not lock_file(note):
            if time.monotonic() > end:
                self._locks.close()
                raise OSError(f"another process has the model '{self.path}': {holder_of(note)}. End it first.")
            time.sleep(0.05)
        note_holder(note)
        return (note.fileno(),)

    def _write(self) -> None:
        """Write queued requests, many at once; end the process if that fails."""
        group: list[tuple[Any, Future[Any]]] = []
        try:
            while not (self._is_over and self._queue.empty()):
                wait = self._looked_up(self.store.seconds_until_due, 1.0)
                group = self._next_group(min(max(wait, 0.01), RETRY_SECONDS if self._problems["closing"] else 60.0))
                self._write_group(group)
        except Exception as error:
            self._is_broken = True
            problem = error if isinstance(error, LogError) else LogError(f"{self.folder}: {error}")
            self._on_fatal(str(problem))
            self._fail(group, self._for_clients(problem))
            while not self._is_over:  # what still comes is refused until the process ends
                self._fail(self._next_group(0.1), self._for_clients(problem))

    def _write_group(self, group: list[tuple[Any, Future[Any]]]) -> None:
        """Write some requests, and answer them."""
        changes = [(one, future) for one, future in group if not callable(one)]
        is_written = self._commit(changes)
        for action, future in group:
            if callable(action):
                self._settle(action, future)
        if is_written:
            self._close_batches()
        if is_written and self._looked_up(self.store.next_task, None) is not None:
            self._has_task.set()

    def _commit(self, changes: list[tuple[Change, Future[Any]]]) -> bool:
        """Let the store do what some requests ask, at once; return whether it did."""
        before = self.store.log.position
        try:
            answers = self.store.commit([one for one, _ in changes])
        except LogError:
            raise
        except StoreFullError as error:
            self._problems["writing"] = str(error)
            self._fail(changes, error)
            time.sleep(0.1)
            return False
        except Exception as error:
            if is_damage(error):
                raise
            if len(changes) > 1:  # one of them is at fault
                each = [self._commit([one]) for one in changes]
                return any(each)
            fault = UnexpectedError(f"the request could not be done: {type(error).__name__}")
            fault.__cause__ = error
            self._problems["writing"] = "" if changes else f"time cannot pass: {error}"
            self._fail(changes, fault)
            time.sleep(0.0 if changes else 0.1)
            return False
        self._problems["writing"] = ""
        self.n_commits += self.store.log.position > before
        self.n_committed += len(changes)
        for (_, future), answer in zip(changes, answers, strict=True):
            if isinstance(answer, RequestError):
                future.set_exception(answer)
            else:
                future.set_result(answer)
        return True

    def _close_batches(self) -> None:
        """Let the store put labelled records into batches; their requests are done, whatever becomes of this."""
        try:
            self.store.close_batches(MAX_TASKS)
            self._problems["closing"] = ""
        except LogError:
            raise
        except Exception as error:
            if is_damage(error):
                raise
            self._problems["closing"] = f"batches cannot be closed: {error}"

    def _looked_up(self, action: Callable[[], T], default: T) -> T:
        """Look something up in the store that can wait where the tables cannot be read."""
        try:
            return action()
        except (sqlite3.OperationalError, StoreFullError):
            return default

    def _next_group(self, wait: float) -> list[tuple[Any, Future[Any]]]:
        """Return pending requests; none after some seconds, so that records can expire."""
        try:
            group = [self._queue.get(timeout=wait)]
        except Empty:
            return []
        with suppress(Empty):
            while len(group) < GROUP:
                group.append(self._queue.get_nowait())
        # From here on a client that goes away cannot cancel: to answer a cancelled request would end this thread.
        return [(action, future) for action, future in group if future.set_running_or_notify_cancel()]

    def _refuse_all(self) -> None:
        """Refuse requests that were received after the last group was written."""
        while not self._queue.empty():
            self._fail(self._next_group(0.0), BusyError(f"the model {self.name!r} is being closed"))

    def _settle(self, action: Callable[[], Any], future: Future[Any]) -> None:
        """Call a function, and put its result or exception into a future; what must end the process is raised."""
        try:
            future.set_result(action())
        except Exception as error:
            meaning = meaning_of(error)
            if isinstance(meaning, LogError) or is_damage(error):
                self._fail([(action, future)], self._for_clients(error))
                raise meaning from error
            future.set_exception(meaning)

    def _for_clients(self, error: Exception) -> LogError:
        """Return an error that ends the process without the paths of the service."""
        return LogError(self._without_path(str(error)))

    @staticmethod
    def _fail(group: list[tuple[Any, Future[Any]]], error: Exception) -> None:
        for _, future in group:
            if not future.done():
                future.set_exception(error)

    def _supervise(self) -> None:
        """Pass one task after the other to the learner."""
        while not (self._is_ending or self._is_broken):
            idle_since = time.monotonic()
            while not self._has_task.wait(min(CHECK_SECONDS, IDLE_SECONDS)):  # which `close` sets too
                self._alerts.look()
                if time.monotonic() - idle_since > IDLE_SECONDS:
                    self._end_learner()
            self._has_task.clear()
            while not (self._is_ending or self._is_broken):
                try:
                    if not self._do_next():
                        break
                except Exception as error:  # the disk, most of the time; nothing is lost, it is tried again
                    self._problems["learning"] = f"learning is put off: {error}"
                    self._pause()

    def _do_next(self) -> bool:
        """Do a task, and return whether there was one."""
        found = self.call(self._next_order).result()
        if found is None and not self._is_unsure:
            self._problems["learning"] = ""
            return False
        order = found
        if self._learner is None:  # one that ends before it is ready says nothing about the task: it is tried again
            self._start_learner(lambda action: self.call(action).result())
            self._is_unsure = False
            return True
        try:
            outcome = self._learner.run(order)
        except LearnerEndedError:
            self._end_learner()
            reason = "" if self._is_ending else self.call(lambda: self.store.count_failure(order.number)).result()
            if not reason:
                return True
            outcome = Outcome(REFUSED, None, {"reason": reason})
        if outcome.state == RETRY:
            self._problems["learning"] = f"learning is put off: {outcome.report['reason']}"
            self._end_learner()
            self._pause()
            return True
        self._problems["learning"] = ""
        self._answer_with_newest()
        if outcome.state == REFUSED and order.kind == BATCH:
            self._alerts.refused(order.number, self.store.settings.log_id, outcome.report["reason"])
        self._alerts.look()
        self.call(lambda: self.store.end_task(order.number, outcome.state, outcome.batch, outcome.report)).result()
        ended, self.task_ended = self.task_ended, Future()
        ended.set_result(None)
        return True

    def _next_order(self) -> Any:
        task = self.store.next_task()
        return None if task is None else order_for(task, self.store)

    def _open(self) -> None:
        """Predict with the model in the file; where that is missing or damaged, a learner finds an older one."""
        is_whole = self._answer_with_newest()
        known = self.answering
        if is_whole and known is not None:
            self.store.open_task(known.version, known.model.n_batches_, plain(known.model.history_[-1].as_row()))
        elif known is not None or self.path.exists() or self.store.has_learnt():
            try:
                self._start_learner(lambda action: action())
            except LearnerEndedError as error:  # the supervisor starts another one
                self._is_unsure, self._problems["learning"] = True, f"learning is put off: {error}"
        else:
            self.store.open_task(0, None, None)

    def _start_learner(self, ask: Callable[[Callable[[], Any]], Any]) -> None:
        """Start the learner, and store which model it found; called in the thread that has the store."""
        settings = self.store.settings
        learner = LearningProcess(
            *(self.path, self.folder, settings.target, settings.log_id),
            has_challenger=ask(lambda: has_challenger(self.store)),
            alerts=self._alerts.for_learner(),
            locks=self._descriptors,
        )
        self._learner = learner
        if learner.found is None and settings.label_kind is not None:
            raise ModelFileError(f"'{self.path}' and its versions are missing. Restore one, or remove '{self.folder}'.")
        batch, report = (learner.found.batch, learner.found.report) if learner.found else (None, None)
        ask(lambda: self.store.open_task(learner.version, batch, report))
        if self.answering is not None and learner.version > self.answering.version:  # its file was restored
            self._answer_with_newest()

    def _end_learner(self) -> None:
        learner, self._learner = self._learner, None
        if learner is not None:
            learner.end()

    def _answer_with_newest(self) -> bool:
        """Predict with the newest model that can be read; return whether that is the one in the file."""
        self._problems["reading"] = ""
        try:
            found = read_answering(self.path)
            if self.answering is None or found.version >= self.answering.version:  # else it is learnt again
                self.answering = found
            return True
        except (FileNotFoundError, ModelFileError):
            self.answering = self.answering or self._kept_answering()
        if self.answering is not None:
            version = self.answering.version
            self._problems["reading"] = f"{self.path.name} cannot be read; version {version} predicts until it can be"
        return False

    def _kept_answering(self) -> Answering | None:
        """Return the newest version of the model that is kept and can be read."""
        for _, _, name in reversed(kept_versions(RealDisk(), self.path)):
            with suppress(FileNotFoundError, ModelFileError):
                return read_answering(self.path.with_name(f"{self.path.name}.versions") / name)
        return None

    def _pause(self) -> None:
        end = time.monotonic() + RETRY_SECONDS
        while not self._is_ending and time.monotonic() < end:
            time.sleep(0.1)


def hold(folder: Path) -> ExitStack:
    """Make a folder if it is not there, and keep other services from it until what is returned is closed."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    lock = ExitStack()
    note = lock.enter_context(open_lock(folder / ".adforest-serve.lock"))
    if not lock_file(note):
        holder = holder_of(note)
        lock.close()
        raise OSError(f"another service has the folder '{folder}': {holder}. End it first.")
    note_holder(note)
    return lock


def service_folder(path: Path) -> Path:
    """Return the folder in which all but the model itself is kept."""
    return path.with_name(f"{path.name}{SERVICE_SUFFIX}")


def is_served(path: Path) -> bool:
    """Return whether a model has the folder of one that is served."""
    return os.path.exists(service_folder(path) / SETTINGS)
