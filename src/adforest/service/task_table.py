"""Queue of the learner's tasks: batches to learn, and changes of the model."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from adforest.service.databases import Database

BATCH, ROLLBACK, PARAMETERS, CHALLENGE, DROP_CHALLENGER, PROMOTE = (
    "batch",
    "rollback",
    "parameters",
    "challenge",
    "drop_challenger",
    "promote",
)
WAITING, DONE, REFUSED = "waiting", "learnt", "refused"


class Task(NamedTuple):
    """Something that the learner does to the model.

    Attributes
    ----------
    number : int
        From 1; the version of the model that it makes.
    position : int
        Of its entry in the log.
    kind : str
    n_records : int
    made : float
    state : {"waiting", "learnt", "refused"}
    note : dict
        Its argument, such as the version to go back to.
    batch : int or None
        The number of the batch in the model's history.
    report : dict or None
        Its result; if it was refused, the reason.
    attempts : int
        How often the learner ended before it was done.
    """

    number: int
    position: int
    kind: str
    n_records: int
    made: float
    state: str
    note: dict[str, Any]
    batch: int | None
    report: dict[str, Any] | None
    attempts: int

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Task:
        """Return it from a row of the table."""
        note, report = json.loads(row[6]), None if row[8] is None else json.loads(row[8])
        return cls._make((*row[:6], note, row[7], report, row[9]))

    def shown(self) -> dict[str, Any]:
        """Return its description."""
        return {
            "number": self.number,
            "kind": self.kind,
            "state": self.state,
            "n_records": self.n_records,
            "batch": self.batch,
            "position": self.position,
            "made": self.made,
            "report": self.report,
        }


class TaskTable:
    """The tasks of one model, in the database of its records."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, position: int, kind: str, n_records: int, made: float, note: dict[str, Any]) -> int:
        """Add a task to the queue, and return its number."""
        (number,) = self._database.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM tasks").fetchone()
        self._database.execute(
            "INSERT INTO tasks (number, position, kind, n_records, made, state, note) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, position, kind, n_records, made, WAITING, json.dumps(note)),
        )
        return int(number)

    def get(self, number: int) -> Task | None:
        """Return a task."""
        row = self._database.execute("SELECT * FROM tasks WHERE number = ?", (number,)).fetchone()
        return None if row is None else Task.of(row)

    def first_waiting(self) -> Task | None:
        """Return the next task."""
        query = "SELECT * FROM tasks WHERE state = 'waiting' ORDER BY number LIMIT 1"
        row = self._database.execute(query).fetchone()
        return None if row is None else Task.of(row)

    def waiting_through(self, number: int) -> list[Task]:
        """Return the tasks of the queue through one, oldest first."""
        query = "SELECT * FROM tasks WHERE state = 'waiting' AND number <= ? ORDER BY number"
        return [Task.of(row) for row in self._database.execute(query, (number,))]

    def first_batch_after(self, number: int) -> int | None:
        """Return the position of the first batch after a task that was not refused, None if there is none."""
        query = "SELECT MIN(position) FROM tasks WHERE number > ? AND kind = 'batch' AND state <> 'refused'"
        found = self._database.execute(query, (number,)).fetchone()[0]
        return None if found is None else int(found)

    def n_waiting(self) -> int:
        """Return the length of the queue."""
        return int(self._database.execute("SELECT COUNT(*) FROM tasks WHERE state = 'waiting'").fetchone()[0])

    def last(self, n: int, state: str = "") -> list[Task]:
        """Return the last tasks, newest first."""
        query = "SELECT * FROM tasks WHERE ? IN ('', state) ORDER BY number DESC LIMIT ?"
        return [Task.of(row) for row in self._database.execute(query, (state, n))]

    def end(self, number: int, state: str, batch: int | None, report: dict[str, Any]) -> None:
        """Store the result of a task."""
        self._database.execute(
            "UPDATE tasks SET state = ?, batch = ?, report = ? WHERE number = ?",
            (state, batch, json.dumps(report), number),
        )

    def attempt(self, number: int) -> int:
        """Note that the learner ended at a task, and return how often it had before."""
        (before,) = self._database.execute("SELECT attempts FROM tasks WHERE number = ?", (number,)).fetchone()
        self._database.execute("UPDATE tasks SET attempts = attempts + 1 WHERE number = ?", (number,))
        return int(before)

    def before(self, number: int, *kinds: str) -> list[Task]:
        """Return tasks of some kinds before another one that were not refused, oldest first."""
        marks = ",".join("?" * len(kinds))
        query = f"SELECT * FROM tasks WHERE number < ? AND state <> 'refused' AND kind IN ({marks}) ORDER BY number"
        return [Task.of(row) for row in self._database.execute(query, (number, *kinds))]

    def reopen_after(self, number: int) -> int:
        """Queue the tasks after one again, since the model file is that of this one. Return how many."""
        query = "UPDATE tasks SET state = 'waiting', attempts = 0 WHERE number > ? AND state = 'learnt'"
        return int(self._database.execute(query, (number,)).rowcount)

    def key(self, key: str) -> tuple[str, int] | None:
        """Return the digest of the request that brought a key first, and its task."""
        row = self._database.execute("SELECT digest, task FROM keys WHERE key = ?", (key,)).fetchone()
        return None if row is None else (str(row[0]), int(row[1]))

    def set_key(self, key: str, digest: str, task: int, made: float) -> None:
        """Store the task of a key."""
        self._database.execute("INSERT INTO keys VALUES (?, ?, ?, ?)", (key, digest, task, made))
