"""Errors of the disk and of SQLite, and what clients and the process make of each."""

import os
import sqlite3

import pyarrow as pa
import pytest

from adforest.service.application import refusal
from adforest.service.databases import open_file
from adforest.service.log import LogError
from adforest.service.record_table import RecordTable
from adforest.service.requests import KeepRecords, SetLabels
from adforest.service.served_model import ServedModel, UnexpectedError
from adforest.service.store import Store, StoreAwayError, StoreFullError
from adforest.service.task_table import TaskTable
from served import make, service, until

LABEL = SetLabels([("a", '"low"')])


def error_of(code):
    error = sqlite3.OperationalError("an error of SQLite")
    error.sqlite_errorcode = code
    return error


@pytest.fixture
def served(tmp_path):
    """A model without a service around it; `fatal` has what would end the process."""
    with service(tmp_path) as client:
        make(client)
    fatal = []
    model = ServedModel(tmp_path / "rents.adf", fatal.append)
    model.fatal = fatal
    yield model
    model.close()


@pytest.mark.parametrize("where", [RecordTable.begin, RecordTable.commit, RecordTable.find])
@pytest.mark.parametrize(
    ("code", "expected", "status"),
    [
        (sqlite3.SQLITE_FULL, StoreFullError, 507),
        (sqlite3.SQLITE_BUSY, StoreAwayError, 503),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreAwayError, 503),
        (sqlite3.SQLITE_READONLY, StoreAwayError, 503),
        (sqlite3.SQLITE_IOERR_FSYNC, LogError, 503),
        (sqlite3.SQLITE_IOERR_WRITE, LogError, 503),
        (sqlite3.SQLITE_ERROR, UnexpectedError, 500),
    ],
)
def test_errors_of_sqlite_are_what_their_codes_say(served, monkeypatch, where, code, expected, status):
    is_failing, real = True, where

    def fail(self, *arguments):
        if is_failing:
            raise error_of(code)
        return real(self, *arguments)

    monkeypatch.setattr(RecordTable, where.__name__, fail)
    with pytest.raises(expected) as caught:
        served.submit(LABEL).result(30)
    assert type(caught.value) is expected
    found, words, head = refusal(caught.value)
    assert (found, "retry-after" in (head or {})) == (status, status != 500)
    assert os.fspath(served.path.parent) not in words
    if expected is LogError:
        until(lambda: served.fatal)
        with pytest.raises(LogError):
            served.submit(LABEL).result(30)
        return
    is_failing = False
    assert not served.fatal
    assert served.submit(LABEL).result(30)["outcomes"][0] in ("created", "same")
    assert served.problem == ""


def test_a_sync_of_sqlite_that_fails_while_a_result_is_stored_ends_the_process(served, monkeypatch):
    def fail(self, *arguments):
        raise error_of(sqlite3.SQLITE_IOERR_FSYNC)

    monkeypatch.setattr(TaskTable, "end", fail)
    table = pa.table({"area": [1.0, 2.0], "rooms": [1, 2], "district": ["north", "west"]})
    served.submit(KeepRecords(["a", "b"], table)).result(30)
    served.store.state.settings = served.store.settings.changed({"batch_size": 2})
    served.submit(SetLabels([("a", '"low"'), ("b", '"high"')])).result(30)
    until(lambda: served.fatal)
    with pytest.raises(LogError):
        served.submit(LABEL).result(30)


def test_a_lookup_of_a_client_that_the_disk_fails_ends_the_process(served):
    def fail():
        raise error_of(sqlite3.SQLITE_IOERR_READ)

    with pytest.raises(LogError):
        served.call(fail).result(30)
    until(lambda: served.fatal)


@pytest.mark.parametrize(("number", "expected"), [(28, StoreFullError), (30, StoreFullError), (5, LogError)])
def test_errors_of_writing_the_log_are_not_all_a_full_disk(served, monkeypatch, number, expected):
    with monkeypatch.context() as patched:

        def fail(self, content):
            raise OSError(number, os.strerror(number))

        patched.setattr("adforest.service.system.RealFile.write", fail)
        with pytest.raises(expected) as caught:
            served.submit(LABEL).result(30)
    assert os.fspath(served.path.parent) not in str(caught.value)
    assert bool(served.fatal) == (expected is LogError)


def test_the_tables_are_synced_when_they_are_opened(tmp_path):
    first = open_file(tmp_path / "t.db")
    first.execute("CREATE TABLE t (v)")
    assert (tmp_path / "t.db-wal").stat().st_size > 0
    second = open_file(tmp_path / "t.db")  # as if the first process had been killed
    assert (tmp_path / "t.db-wal").stat().st_size == 0
    first.close()
    second.close()


def test_an_entry_that_tables_cannot_take_twice_is_told(served, monkeypatch):
    def fail(self, *arguments):
        raise ArithmeticError("a fault of ours")

    monkeypatch.setattr(Store, "_let_time_pass", fail)
    with pytest.raises(UnexpectedError, match="ArithmeticError") as caught:
        served.submit(LABEL).result(30)
    assert refusal(caught.value)[0] == 500
