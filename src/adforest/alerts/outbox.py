"""Alerts on disk until they are delivered, in a file beside the model: a process that is killed loses none."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

MAX_KEPT = 10_000  # delivered alerts whose ids are kept, so that none is sent twice
FORGET_EVERY = 1_000  # alerts, after which older ones than these are forgotten: a service may have it open for months
MAX_AGE = 7 * 24 * 3600.0  # seconds after which an alert that could not be delivered is given up
WAITING, DELIVERED, GIVEN_UP = range(3)
SCHEMA = """
CREATE TABLE IF NOT EXISTS alerts (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, made REAL NOT NULL,
                                   body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS deliveries (number INTEGER NOT NULL, receiver TEXT NOT NULL, state INTEGER NOT NULL,
                                       attempts INTEGER NOT NULL, due REAL NOT NULL, PRIMARY KEY (number, receiver));
CREATE INDEX IF NOT EXISTS waiting ON deliveries (receiver, attempts, number) WHERE state = 0;
CREATE TABLE IF NOT EXISTS receivers (receiver TEXT PRIMARY KEY, delivered INTEGER NOT NULL, failed INTEGER NOT NULL);
"""


class Waiting(NamedTuple):
    """An alert that a receiver is to get.

    Attributes
    ----------
    number : int
        In the order in which alerts were made.
    alert : dict
    attempts : int
        How often it could not be delivered.
    made : float
        When it was made, in seconds since 1970.
    """

    number: int
    alert: dict[str, Any]
    attempts: int
    made: float


def outbox_path(model: Path) -> Path:
    """Return the path of the outbox of a model."""
    real = Path(os.path.realpath(model))
    return real.with_name(f".{real.name}.alerts")


class Outbox:
    """Pending alerts of each receiver; threads may share it.

    Parameters
    ----------
    path : Path
        An SQLite file; made if there is none, to be read by its owner alone.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._lock = RLock()
        self._database = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA fullfsync = 1")  # of macOS; elsewhere it has no effect
        self._database.execute("PRAGMA journal_mode = PERSIST")  # a name made and removed would be on disk each time
        with self._change() as database:
            for statement in SCHEMA.split(";"):
                database.execute(statement)
            self._forget_old(database)

    def put(self, alert: dict[str, Any], receivers: Sequence[str]) -> bool:
        """Store an alert for some receivers; return False if its id is stored already."""
        with self._change() as database:
            made = database.execute(
                "INSERT OR IGNORE INTO alerts (id, made, body) VALUES (?, ?, ?)",
                (alert["id"], time.time(), json.dumps(alert)),
            )
            if not made.rowcount:
                return False
            rows = [(made.lastrowid, receiver, WAITING, 0, 0.0) for receiver in dict.fromkeys(receivers)]
            database.executemany("INSERT INTO deliveries VALUES (?, ?, ?, ?, ?)", rows)
            if made.lastrowid is not None and made.lastrowid % FORGET_EVERY == 0:
                self._forget_old(database)
        return True

    def next_for(self, receiver: str) -> tuple[Waiting | None, float | None]:
        """Return the next alert for a receiver, or None and the time when the next one is due.

        Alerts that could not be delivered come after the others, so that they do not block these.
        """
        with self._change() as database:
            row = database.execute(
                "SELECT number, body, attempts, made FROM deliveries JOIN alerts USING (number) "
                f"WHERE receiver = ? AND state = {WAITING} AND due <= ? ORDER BY attempts, number LIMIT 1",
                (receiver, time.time()),
            ).fetchone()
            if row is not None:
                return Waiting(row[0], json.loads(row[1]), row[2], row[3]), None
            query = f"SELECT MIN(due) FROM deliveries WHERE receiver = ? AND state = {WAITING}"
            (due,) = database.execute(query, (receiver,)).fetchone()
            return None, due

    def delivered(self, receiver: str, number: int) -> None:
        """Record that an alert was delivered to a receiver."""
        with self._change() as database:
            self._set(database, receiver, number, DELIVERED, 0.0)
            self._count(database, receiver, "delivered")

    def failed(self, receiver: str, number: int, due: float) -> None:
        """Record that an alert could not be delivered, and when to try again."""
        with self._change() as database:
            self._set(database, receiver, number, WAITING, due)
            self._count(database, receiver, "failed")

    def give_up(self, receiver: str, number: int) -> None:
        """Give up an alert for a receiver."""
        with self._change() as database:
            self._set(database, receiver, number, GIVEN_UP, 0.0)

    def send_now(self) -> None:
        """Make all pending alerts due now."""
        with self._change() as database:
            database.execute(f"UPDATE deliveries SET due = 0 WHERE state = {WAITING}")

    def n_waiting(self, receiver: str | None = None) -> int:
        """Return the number of pending alerts of a receiver, or of all."""
        with self._change() as database:
            query = f"SELECT COUNT(*) FROM deliveries WHERE state = {WAITING} AND ? IN (receiver, '')"
            return int(database.execute(query, (receiver or "",)).fetchone()[0])

    def totals(self) -> dict[str, int]:
        """Return the numbers of deliveries and of failed attempts since the file was made."""
        with self._change() as database:
            row = database.execute("SELECT TOTAL(delivered), TOTAL(failed) FROM receivers").fetchone()
        return {"delivered": int(row[0]), "failed": int(row[1])}

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    @staticmethod
    def _forget_old(database: sqlite3.Connection) -> None:
        old = "number <= (SELECT MAX(number) FROM alerts) - ?"
        done = f"{old} AND number NOT IN (SELECT number FROM deliveries WHERE state = {WAITING})"
        database.execute(f"DELETE FROM alerts WHERE {done}", (MAX_KEPT,))
        database.execute("DELETE FROM deliveries WHERE number NOT IN (SELECT number FROM alerts)")

    @staticmethod
    def _set(database: sqlite3.Connection, receiver: str, number: int, state: int, due: float) -> None:
        database.execute(
            "UPDATE deliveries SET state = ?, due = ?, attempts = attempts + 1 WHERE number = ? AND receiver = ?",
            (state, due, number, receiver),
        )

    @staticmethod
    def _count(database: sqlite3.Connection, receiver: str, what: str) -> None:
        database.execute("INSERT OR IGNORE INTO receivers VALUES (?, 0, 0)", (receiver,))
        database.execute(f"UPDATE receivers SET {what} = {what} + 1 WHERE receiver = ?", (receiver,))

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """Run a block in one transaction."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
