"""The state of each record, from pending to learnt: a table in a database that follows the log entry by entry.

Every change is made by an entry of the log and in one transaction with the position of that entry, so that the table is
always that of some position; what the log has more is applied when it is opened. Times are those of the entries.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from adforest.service.databases import Database

PENDING, LABELLED, LEARNT, EXPIRED, WITHDRAWN, REFUSED = (
    "pending",
    "labelled",
    "learnt",
    "expired",
    "withdrawn",
    "refused",
)
EARLY = "early"  # a label whose record has not come
OVER = (LEARNT, EXPIRED, WITHDRAWN, REFUSED)
IS_OVER = "due IS NULL AND state <> 'labelled'"
AT_ONCE = 500  # ids in one query; SQLite takes 999 values at least
SCHEMA = """
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (position INTEGER PRIMARY KEY, content BLOB NOT NULL, n_used INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS records (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL,
    chunk INTEGER, place INTEGER, active INTEGER NOT NULL, label TEXT, made REAL NOT NULL, changed REAL NOT NULL,
    due REAL, task INTEGER);
CREATE INDEX IF NOT EXISTS ready ON records (number) WHERE state = 'labelled' AND active = 1 AND task IS NULL;
CREATE INDEX IF NOT EXISTS due ON records (due) WHERE due IS NOT NULL;
CREATE INDEX IF NOT EXISTS over ON records (changed) WHERE due IS NULL AND state <> 'labelled';
CREATE INDEX IF NOT EXISTS of_task ON records (task) WHERE task IS NOT NULL;
CREATE TABLE IF NOT EXISTS tasks (number INTEGER PRIMARY KEY, position INTEGER NOT NULL UNIQUE, kind TEXT NOT NULL,
    n_records INTEGER NOT NULL, made REAL NOT NULL, state TEXT NOT NULL, note TEXT NOT NULL, batch INTEGER,
    report TEXT, attempts INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS open_tasks ON tasks (number) WHERE state = 'waiting';
CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, digest TEXT NOT NULL, task INTEGER NOT NULL, made REAL NOT NULL);
CREATE INDEX IF NOT EXISTS keys_by_age ON keys (made)
"""


def shown_state(state: str) -> str:
    """Return a state as clients know it."""
    return "waiting" if state == EARLY else state


class Record(NamedTuple):
    """Status of a record.

    Attributes
    ----------
    number : int
        In the order of predictions.
    id : str
    state : str
    chunk, place : int or None
        Where its values are kept, None once they are not.
    active : int
        Whether it may be learnt.
    label : str or None
        JSON text.
    made, changed : float
        When it was predicted, and when its state changed.
    due : float or None
        When it expires.
    task : int or None
        The batch that it was closed into.
    """

    number: int
    id: str
    state: str
    chunk: int | None
    place: int | None
    active: int
    label: str | None
    made: float
    changed: float
    due: float | None
    task: int | None


class RecordTable:
    """The table of one model.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        with self.transaction():
            for statement in SCHEMA.split(";"):
                database.execute(statement)
            if self.note("counts") is None:
                self.set_note("counts", dict(self._pairs("SELECT state, COUNT(*) FROM records GROUP BY state")))

    def begin(self) -> None:
        """Begin a transaction."""
        self.database.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End a transaction: it is on the disk."""
        self.database.execute("COMMIT")

    def rollback(self) -> None:
        """End a transaction as if it had not been."""
        if self.database.in_transaction:
            self.database.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold a transaction: at its end all is on the disk, after an error nothing."""
        self.begin()
        try:
            yield
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def note(self, name: str, default: Any = None) -> Any:
        """Return a note."""
        row = self.database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def set_note(self, name: str, value: Any) -> None:
        """Replace a note."""
        self.database.execute(
            "INSERT INTO notes VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, json.dumps(value)),
        )

    def notes(self, prefix: str) -> list[Any]:
        """Return the notes whose names begin with something."""
        rows = self.database.execute("SELECT value FROM notes WHERE name LIKE ? ORDER BY name", (f"{prefix}%",))
        return [json.loads(row[0]) for row in rows]

    def remove_note(self, name: str) -> None:
        """Remove a note."""
        self.database.execute("DELETE FROM notes WHERE name = ?", (name,))

    def find(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the records that are known among some ids."""
        found = {}
        for start in range(0, len(ids), AT_ONCE):
            part = ids[start : start + AT_ONCE]
            marks = ",".join("?" * len(part))
            for row in self.database.execute(f"SELECT * FROM records WHERE id IN ({marks})", part):
                found[row[1]] = Record(*row)
        return found

    def chunk(self, position: int) -> bytes:
        """Return the values of the records of one prediction."""
        row = self.database.execute("SELECT content FROM chunks WHERE position = ?", (position,)).fetchone()
        return bytes(row[0])

    def add(self, position: int, content: bytes, ids: Sequence[str], active: bool, now: float, due: float) -> None:
        """Store the new records of a prediction; a label that was received before is joined to its record."""
        known = self.find(ids)
        rows, early = [], []
        for index, one in enumerate(ids):
            before = known.get(one)
            if before is not None and before.state != EARLY:
                continue
            if before is not None:
                early.append((before.number,))
            label = None if before is None else before.label
            state = PENDING if label is None else LABELLED
            ends = due if label is None or not active else None
            rows.append((one, state, position, index, int(active), label, now, now, ends))
        if not rows:
            return
        self.database.executemany("DELETE FROM records WHERE number = ?", early)
        self.database.execute("INSERT INTO chunks VALUES (?, ?, ?)", (position, content, len(rows)))
        self._insert("id, state, chunk, place, active, label, made, changed, due", rows)
        self._count([EARLY] * len(early), [row[1] for row in rows])

    def label(self, pairs: Iterable[tuple[str, str]], now: float, due: float) -> None:
        """Label records; labels of unknown records are kept until these are predicted."""
        pairs = list(pairs)
        known = self.find([one for one, _ in pairs])
        old = [(label, LABELLED, now, known[one].number) for one, label in pairs if one in known]
        new = [(one, EARLY, 1, label, now, now, due) for one, label in pairs if one not in known]
        self.database.executemany(
            "UPDATE records SET label = ?, state = CASE WHEN state = 'early' THEN 'early' ELSE ? END, changed = ?, "
            "due = CASE WHEN active = 1 AND state <> 'early' THEN NULL ELSE due END WHERE number = ?",
            old,
        )
        self._insert("id, state, active, label, made, changed, due", new)
        before = [known[one].state for one, _ in pairs if one in known]
        after = [EARLY if state == EARLY else LABELLED for state in before]
        self._count(before, [*after, *[EARLY] * len(new)])

    def _insert(self, columns: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add records, with the numbers that follow."""
        if rows:
            (last,) = self.database.execute("SELECT COALESCE(MAX(number), 0) FROM records").fetchone()
            query = f"INSERT INTO records (number, {columns}) VALUES (?{', ?' * len(rows[0])})"
            self.database.executemany(query, [(last + 1 + index, *row) for index, row in enumerate(rows)])

    def activate(self, number: int, now: float) -> None:
        """Allow a record to be learnt."""
        self.database.execute(
            "UPDATE records SET active = 1, changed = ?, due = CASE WHEN state = 'labelled' THEN NULL ELSE due END "
            "WHERE number = ?",
            (now, number),
        )

    def release(self, records: Sequence[Record], state: str, now: float) -> None:
        """Set the state of records that are over, and drop values that no record needs any more."""
        self.database.executemany(
            "UPDATE records SET state = ?, changed = ?, due = NULL, chunk = NULL, place = NULL WHERE number = ?",
            [(state, now, one.number) for one in records],
        )
        self._count([one.state for one in records], [state] * len(records))
        chunks = [(one.chunk,) for one in records if one.chunk is not None]
        self.database.executemany("UPDATE chunks SET n_used = n_used - 1 WHERE position = ?", chunks)
        self.database.executemany("DELETE FROM chunks WHERE position = ? AND n_used <= 0", list(dict.fromkeys(chunks)))

    def remove(self, records: Sequence[Record]) -> None:
        """Forget records that have no values."""
        self.database.executemany("DELETE FROM records WHERE number = ?", [(one.number,) for one in records])
        self._count([one.state for one in records], [])

    def replace_chunk(self, position: int, content: bytes) -> None:
        """Replace the values of the records of one prediction."""
        self.database.execute("UPDATE chunks SET content = ? WHERE position = ?", (content, position))

    def ready(self, limit: int) -> list[Record]:
        """Return records that have labels and are in no batch yet, in the order of their predictions."""
        rows = self.database.execute(
            "SELECT * FROM records WHERE state = 'labelled' AND active = 1 AND task IS NULL ORDER BY number LIMIT ?",
            (limit,),
        )
        return [Record(*row) for row in rows]

    def n_ready(self, limit: int) -> tuple[int, float | None]:
        """Return how many of these there are, up to a limit, and since when the first of them is pending."""
        query = (
            "SELECT COUNT(*), MIN(changed) FROM (SELECT changed FROM records WHERE state = 'labelled' AND active = 1 "
            "AND task IS NULL LIMIT ?) AS waiting"
        )
        n, since = self.database.execute(query, (limit,)).fetchone()
        return int(n), since

    def overdue(self, now: float, limit: int) -> list[Record]:
        """Return overdue records without a label, and overdue labels without a record."""
        rows = self.database.execute(
            "SELECT * FROM records WHERE due IS NOT NULL AND due <= ? ORDER BY number LIMIT ?", (now, limit)
        )
        return [Record(*row) for row in rows]

    def of_task(self, number: int) -> list[Record]:
        """Return the records of a batch."""
        return [Record(*row) for row in self.database.execute("SELECT * FROM records WHERE task = ?", (number,))]

    def forget_old(self, before: float, limit: int) -> None:
        """Forget the oldest ids whose records were over before a moment, and the oldest keys."""
        over = f"SELECT number FROM records WHERE {IS_OVER} AND changed < ? ORDER BY changed, number LIMIT ?"
        query = f"SELECT state, COUNT(*) FROM records WHERE number IN ({over}) GROUP BY state"
        self._count([state for state, n in self._pairs(query, (before, limit)) for _ in range(n)], [])
        self.database.execute(f"DELETE FROM records WHERE number IN ({over})", (before, limit))
        keys = "SELECT key FROM keys WHERE made < ? ORDER BY made, key LIMIT ?"
        self.database.execute(f"DELETE FROM keys WHERE key IN ({keys})", (before, limit))

    def oldest(self) -> float | None:
        """Return since when a record is over, or a key is known: the longest of all; None if there is neither."""
        queries = f"SELECT MIN(changed) FROM records WHERE {IS_OVER}", "SELECT MIN(made) FROM keys"
        found = [self.database.execute(query).fetchone()[0] for query in queries]
        return min((one for one in found if one is not None), default=None)

    def counts(self) -> dict[str, int]:
        """Return how many records are in each state that clients know, as was counted at each change."""
        return {shown_state(state): n for state, n in self.note("counts").items() if n}

    def _count(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Note that records left some states, and entered others."""
        change = Counter(after)
        change.subtract(before)
        if any(change.values()):
            counts = self.note("counts")
            self.set_note("counts", counts | {state: counts.get(state, 0) + n for state, n in change.items()})

    def _pairs(self, query: str, arguments: Sequence[Any] = ()) -> Iterator[tuple[str, int]]:
        yield from self.database.execute(query, arguments)
