"""Where the tables of a model are: an SQLite file, or a schema of PostgreSQL that is sent the same statements.

Statements are written for both; only type names, placeholders of values and the start of a transaction differ. Why
there is no SQLAlchemy is in docs/decisions/0033-storage-of-the-service.md.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from adforest.libraries import require

T = TypeVar("T")
PRIVATE = 0o600
SCHEMES = ("postgresql", "postgres")
TYPES = (("INTEGER", "BIGINT"), ("REAL", "DOUBLE PRECISION"), ("BLOB", "BYTEA"))
TIMEOUTS = {  # a server that is gone is noticed, and asked again later
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "options": "-c statement_timeout=60000 -c lock_timeout=10000 -c synchronous_commit=on",
}
LOCK_PATIENCE = 15.0  # seconds for which the session of a process that was killed may hold the tables


class Database(Protocol):
    """Interface of a database, as of `sqlite3.Connection` in autocommit mode."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is under way."""

    def execute(self, query: str, arguments: Sequence[Any] = (), /) -> Any:
        """Run a statement, and return a cursor over its rows."""

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> Any:
        """Run a statement for each row of values."""

    def close(self) -> None:
        """Close it."""


class ServerError(sqlite3.OperationalError):
    """A statement failed in PostgreSQL; it is tried again, as with an SQLite file that cannot be written."""


def open_file(path: Path) -> sqlite3.Connection:
    """Open an SQLite file whose commits are synced."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE))
    database = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA fullfsync = 1")  # of macOS, see `sync_file`; elsewhere it has no effect
    # What a process that ended left in the WAL may be in memory only, if its sync failed: here it is written again.
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return database


class ServerDatabase:
    """A schema of PostgreSQL, for one process at a time; a connection that was lost is made again.

    Parameters
    ----------
    url : str
        Such as ``postgresql://user:password@host/name``.
    schema : str
        Letters, digits and ``_``; made if it is not there.
    patience : float
        Seconds to wait for another process that has locked the schema.
    """

    def __init__(self, url: str, schema: str, patience: float = LOCK_PATIENCE) -> None:
        self._psycopg: Any = require("psycopg", "--database", "postgresql")
        self._url, self._schema = url, schema
        end = time.monotonic() + patience
        while True:
            try:
                self._connection = self._ask(self._connect)
                return
            except _TakenError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is under way."""
        return bool(self._connection.info.transaction_status) and not self._connection.closed

    def execute(self, query: str, arguments: Sequence[Any] = (), /) -> Any:
        """Run a statement; the first one of a transaction connects again if need be."""
        if self._connection.closed and not _is_within(query):
            self._connection = self._ask(self._connect)
        try:
            return self._ask(lambda: self._connection.execute(_translated(query), arguments))
        except ServerError:
            if query != "ROLLBACK":
                raise
            self._connection.close()  # which ends the transaction as well

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> Any:
        """Run a statement for each row of values."""
        if rows := list(rows):
            self._ask(lambda: self._connection.cursor().executemany(_translated(query), rows))

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def drop(self) -> None:
        """Remove the schema with its tables, and close."""
        self.execute(f"DROP SCHEMA {self._schema} CASCADE")
        self.close()

    def _connect(self) -> Any:
        """Connect, and keep others from the schema as long as this connection lasts."""
        connection = self._psycopg.connect(self._url, autocommit=True, **TIMEOUTS)
        try:
            query = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
            if not connection.execute(query, (self._schema,)).fetchone()[0]:
                raise _TakenError(f"another process has the tables '{self._schema}' in PostgreSQL. End it first.")
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
            connection.execute(f"SET search_path TO {self._schema}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _ask(self, action: Callable[[], T]) -> T:
        """Run a statement; its errors become ones after which it is tried again."""
        try:
            return action()
        except self._psycopg.Error as error:
            raise ServerError(f"PostgreSQL: {' '.join(str(error).split())}") from error


class _TakenError(ServerError):
    """Another process has the schema."""


def check_url(url: str) -> str:
    """Return the URL of a database, or raise an error that does not contain it: it may hold a password.

    Examples
    --------
    >>> check_url("mysql://shop:secret@db")
    Traceback (most recent call last):
    ValueError: the URL of the database begins with 'mysql'; expected postgresql://USER:PASSWORD@HOST/NAME.
    """
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        raise ValueError(
            f"the URL of the database begins with {scheme!r}; expected postgresql://USER:PASSWORD@HOST/NAME."
        )
    return url


@cache
def _translated(query: str) -> str:
    """Return a statement as PostgreSQL has it."""
    if query.lstrip().startswith("CREATE"):
        for ours, theirs in TYPES:
            query = query.replace(ours, theirs)
    return "BEGIN" if query == "BEGIN IMMEDIATE" else query.replace("?", "%s")


def _is_within(query: str) -> bool:
    """Return whether a statement changes something and so belongs to a transaction, which a lost connection ended."""
    return query.startswith(("INSERT", "UPDATE", "DELETE", "COMMIT"))
