"""The records, labels and tasks of one model: many requests become one write to the log, which the tables follow.

    requests ─▶ checked against the tables ─▶ log: one write, one sync ─▶ tables: one commit ─▶ answers

The log is written first. Where the tables could not be committed, or the process ended in between, the entries that
they lack are applied from the log before anything else is done.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, TypeVar

from adforest.exceptions import ModelFileError
from adforest.service.databases import ServerError
from adforest.service.events import EVENTS, Event, Noted, Tables, TaskAdded
from adforest.service.log import SEGMENT_BYTES, EntryTooLargeError, Log, LogError, LogFullError
from adforest.service.record_table import LEARNT, REFUSED, Record, RecordTable
from adforest.service.requests import Change, RequestError
from adforest.service.settings import ModelSettings
from adforest.service.system import Clock, Disk
from adforest.service.tables import from_bytes, joined, label_column
from adforest.service.task_table import BATCH, DONE, WAITING, Task, TaskTable

T = TypeVar("T")
SETTINGS, LOG, TABLES = "settings.json", "log", "tables.db"
MAX_LATE = 60.0  # seconds for which ids are known longer than they must be, so that many are forgotten at once
MAX_BATCH_BYTES = 256 << 20  # of records that are closed into a batch: the learner has them in memory, with a forest
MAX_ATTEMPTS = 3  # of a task that ends the learner


NOT_NOW = {
    sqlite3.SQLITE_BUSY: "are being written by another program",
    sqlite3.SQLITE_LOCKED: "are being written by another program",
    sqlite3.SQLITE_READONLY: "are read-only",
    sqlite3.SQLITE_PERM: "are read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
}


class StoreFullError(Exception):
    """The disk is full; the request may or may not be done, and may be sent again."""


def is_damage(error: Exception) -> bool:
    """Return whether an error says that tables are not as they were written."""
    return type(error) is sqlite3.DatabaseError


class StoreAwayError(StoreFullError):
    """The tables cannot be written now, such as when PostgreSQL is unavailable; otherwise as above."""


def meaning_of(error: Exception) -> Exception:
    """Return an error of the log or the tables as what it means for a request; any other one as it is.

    SQLite's errors of reading, writing and syncing end the process as those of the log: what the disk has is unknown.
    """
    if isinstance(error, LogFullError):
        return StoreFullError(f"there is no room for it: {error}.")
    if isinstance(error, ServerError):
        return StoreAwayError(f"the tables of the model cannot be written ({error}).")
    if not isinstance(error, sqlite3.OperationalError):
        return error
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest says where it happened
    if code == sqlite3.SQLITE_IOERR:
        return LogError(f"the tables of the model cannot be read or written ({error})")
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(f"there is no room for it: the tables of the model cannot be written ({error}).")
    if code in NOT_NOW:
        return StoreAwayError(f"the tables of the model {NOT_NOW[code]} ({error}).")
    return error


@contextmanager
def _meant() -> Iterator[None]:
    """Raise errors of the tables as what they mean."""
    try:
        yield
    except (LogFullError, sqlite3.OperationalError) as error:
        meaning = meaning_of(error)
        if meaning is error:
            raise
        raise meaning from error


class Store:
    """Log and tables of one model; one thread changes them.

    Parameters
    ----------
    disk, clock : Disk, Clock
    folder : Path
        With the settings in it.
    segment_bytes : int
        Size of a segment of the log.

    Attributes
    ----------
    n_replayed : int
        Entries that the tables lacked when it was opened.
    """

    def __init__(self, disk: Disk, clock: Clock, folder: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._disk, self._clock, self.folder = disk, clock, folder
        try:
            settings = ModelSettings.loaded(disk.read(folder / SETTINGS))
        except (ValueError, TypeError, FileNotFoundError) as error:
            raise LogError(f"'{folder / SETTINGS}' cannot be read ({error}). Restore it from a backup.") from None
        try:
            records = RecordTable(disk.database(folder / TABLES, settings.schema))
            settings = settings.changed(records.note("settings", {}))
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                raise LogError(f"'{folder / TABLES}' is damaged ({error}). Restore the folder from a backup.") from None
            raise
        self.state = Tables(records, TaskTable(records.database), settings)
        self._applied = int(records.note("position", 0))
        self._now = float(records.note("now", 0.0))
        self.log = Log(disk, folder / LOG, self._applied, segment_bytes)
        self.n_replayed = self.log.position - self._applied
        self._catch_up()

    @property
    def settings(self) -> ModelSettings:
        """The settings as they are now."""
        return self.state.settings

    def now(self) -> float:
        """Return the time, which never decreases, even across restarts."""
        self._now = max(self._now, self._clock.now())
        return self._now

    @_meant()
    def commit(self, changes: Sequence[Change]) -> list[Any]:
        """Apply some requests with one write, and return the response or error of each.

        Raises
        ------
        StoreFullError
            If the disk is full.
        LogError
            If the contents of the disk are unknown: the process must end.
        """

        def take(now: float) -> list[Any]:
            answers = [self._take(one, now) for one in changes]
            self._let_time_pass(now)
            return answers

        return self._write(take)

    @_meant()
    def close_batches(self, n_tasks: int) -> None:
        """Put labelled records into batches as long as fewer tasks wait than given; raises as `commit` does.

        This has transactions of its own: requests are never refused because of it.
        """
        self._catch_up()
        while self._has_batch(self.now()) and self.state.tasks.n_waiting() < n_tasks:
            self._write(lambda now: self._close_some(now, n_tasks))

    def _write(self, action: Callable[[float], T]) -> T:
        """Log and apply all that happens in a function with one write, and return its result."""
        self._catch_up()
        self.state.records.begin()
        now, settings = self.now(), self.state.settings
        try:
            found = action(now)
            self.log.sync()
        except BaseException:
            self.log.forget_waiting()
            self.state.settings = settings
            self.state.records.rollback()
            raise
        if self.log.position == self._applied:
            self.state.records.rollback()
            return found
        self._commit_tables()
        self.log.rotate()
        return found

    @_meant()
    def seconds_until_due(self) -> float:
        """Return after how long `commit` should be called without requests: something expires, or a batch is closed."""
        row = self.state.records.database.execute("SELECT MIN(due) FROM records WHERE due IS NOT NULL").fetchone()
        moments = [row[0]] if row[0] is not None else []
        if (since := self.state.records.oldest()) is not None:
            moments.append(self._forgotten_at(since))
        settings = self.settings
        n, since = self.state.records.n_ready(settings.batch_size)
        if n and settings.batch_seconds is not None and since is not None:
            moments.append(since + settings.batch_seconds)
        return max(0.0, min(moments, default=float("inf")) - self.now())

    @_meant()
    def open_task(self, epoch: int, batch: int | None, report: dict[str, Any] | None) -> None:
        """Take note of the model file that a learner found: tasks through its number are done, later ones are not.

        Raises
        ------
        ModelFileError
            If batches since have left the log: another model would come of the rest.
        """
        self._catch_up()
        first, needed = self.log.segments()[0][0], self.state.tasks.first_batch_after(epoch)
        if needed is not None and needed < first:
            raise ModelFileError(
                f"the model of '{self.folder}' and its versions are missing or damaged: the newest is version {epoch}, "
                f"and the log, which begins with entry {first}, has no batch at {needed} any more. Restore the model."
            )
        with self.state.records.transaction():
            self.state.tasks.reopen_after(epoch)
            for task in self.state.tasks.waiting_through(epoch):
                if task.number == epoch:
                    self._end(task, DONE, batch, report or {})
                else:  # it was ended before, as what it says it was
                    self._end(task, DONE, task.batch, task.report or {})

    def has_learnt(self) -> bool:
        """Return whether there must be a model: one was saved elsewhere, or a task is done."""
        return self.settings.label_kind is not None or bool(self.state.tasks.last(1, DONE))

    @_meant()
    def next_task(self) -> Task | None:
        """Return the next task."""
        self._catch_up()
        return self.state.tasks.first_waiting()

    @_meant()
    def count_failure(self, number: int) -> str:
        """Note that the learner ended while it was at a task; return why it is to be refused, empty if it is not."""
        self._catch_up()
        with self.state.records.transaction():
            n_attempts = self.state.tasks.attempt(number) + 1
        if n_attempts < MAX_ATTEMPTS:
            return ""
        return f"the learner ended {n_attempts} times while it was at it; it may need more memory"

    @_meant()
    def end_task(self, number: int, state: str, batch: int | None, report: dict[str, Any]) -> None:
        """Store the result of a task with its records; drop segments that two versions of the model cover."""
        self._catch_up()
        task = self.state.tasks.get(number)
        if task is None or task.state != WAITING:
            return
        with self.state.records.transaction():
            self._end(task, state, batch, report)
        done = self.state.tasks.last(2, DONE)
        first = self.state.tasks.first_waiting()
        if len(done) == 2:
            through = done[1].position if first is None else min(done[1].position, first.position - 1)
            self.log.drop(through)

    def close(self) -> None:
        """Close the files."""
        self.log.close()
        self.state.records.database.close()

    def _take(self, change: Change, now: float) -> Any:
        """Log and apply one request, and return its response or its error."""
        try:
            event = change.event(self.state, now)
        except RequestError as error:
            return error
        try:
            if event is not None:
                self._apply(event)
        except EntryTooLargeError as error:
            return RequestError(413, str(error))
        return change.answer(self.state)

    def _apply(self, event: Event) -> None:
        position = self.log.append(event.kind, event.payload())
        event.apply(self.state, position)

    def _let_time_pass(self, now: float) -> None:
        """Expire overdue records and labels, and forget records and keys that were done long enough ago."""
        since = self.state.records.oldest()
        is_old = since is not None and self._forgotten_at(since) <= now
        if is_old or self.state.records.overdue(now, 1):
            self._apply(Noted("time", {}, now))

    def _forgotten_at(self, since: float) -> float:
        """Return when what is over since a moment is forgotten: a little late, with what is over soon after."""
        return since + self.settings.remember + min(self.settings.remember / 10, MAX_LATE)

    def _has_batch(self, now: float) -> bool:
        """Return whether there are labelled records for a batch: enough, or fewer that have waited."""
        settings = self.settings
        n, since = self.state.records.n_ready(settings.batch_size)
        if n >= settings.batch_size:
            return True
        return since is not None and settings.batch_seconds is not None and now - since >= settings.batch_seconds

    def _close_some(self, now: float, n_tasks: int) -> None:
        """Close batches until no more can be, or until they have so many bytes that they are written first."""
        size, n_free = 0, n_tasks - self.state.tasks.n_waiting()
        while n_free > 0 and size < MAX_BATCH_BYTES and self._has_batch(now):
            ready = self.state.records.ready(self.settings.batch_size)
            table = self._table_of(ready)
            ids = [one.id for one in ready[: len(table)]]
            self._apply(TaskAdded(BATCH, table, {}, ids, now))
            size, n_free = size + table.nbytes, n_free - 1

    def _table_of(self, records: Sequence[Record]) -> Any:
        """Return records with their labels as a table: the first of them that have `MAX_BATCH_BYTES`, at least one."""
        parts: list[Any] = []
        names: set[str] = set()
        n, size, about = 0, 0, list(accumulate(len(json.dumps(one.id)) + len(one.label or "") for one in records))
        for chunk, group in groupby(records, key=lambda one: one.chunk):
            rows = from_bytes(self.state.records.chunk(chunk or 0))[0].take([one.place or 0 for one in group])
            names |= set(rows.column_names)
            n_taken = _n_within(MAX_BATCH_BYTES, rows, n, size, len(names), about)
            taken = rows.slice(0, max(n_taken, 0 if parts else 1))
            parts.append(taken)
            n, size = n + len(taken), size + taken.nbytes
            if n_taken < len(rows):
                break
        labels = label_column([json.loads(one.label or "null") for one in records[:n]])
        return joined(parts).append_column(self.settings.target, labels)

    def _end(self, task: Task, state: str, batch: int | None, report: dict[str, Any]) -> None:
        """Set the state of a task and of its records."""
        self.state.tasks.end(task.number, state, batch, report)
        self.state.end_batch(task.number, is_learnt=state == DONE)
        records = self.state.records.of_task(task.number)
        self.state.records.release(
            [one for one in records if one.state == "labelled"], LEARNT if state == DONE else REFUSED, self.now()
        )

    def _catch_up(self) -> None:
        """Apply the entries of the log that the tables lack, whose position tells whether a failed commit was done."""
        if self._applied == self.log.position:
            return
        self.state.records.rollback()
        self.state.records.begin()
        try:
            self._applied = int(self.state.records.note("position", 0))
            first = self.log.segments()[0][0]
            if self._applied < first - 1:
                raise LogError(
                    f"the tables of '{self.folder}' are those after entry {self._applied}, and the log begins with "
                    f"entry {first}. Restore both from one backup."
                )
            for entry in self.log.entries(self._applied):
                event = EVENTS[entry.kind].read(entry.payload)
                event.apply(self.state, entry.position)
                self._now = max(self._now, event.now)
        except BaseException:
            self.state.records.rollback()
            raise
        self._commit_tables()

    def _commit_tables(self) -> None:
        """Commit the tables with the position they are of."""
        try:
            self.state.records.set_note("position", self.log.position)
            self.state.records.set_note("now", self._now)
            self.state.records.commit()
        except sqlite3.OperationalError:
            self.state.records.rollback()
            raise
        self._applied = self.log.position


def _n_within(limit: int, rows: Any, n: int, size: int, n_columns: int, about: Sequence[int]) -> int:
    """Return how many of some rows a batch may still take that has n of a size; columns that they lack count too."""

    def total(k: int) -> int:
        return size + int(rows.slice(0, k).nbytes) + 9 * (n + k) * n_columns + about[max(0, n + k - 1)]

    return max(0, bisect_right(range(len(rows) + 1), limit, key=total) - 1)
