"""The disk fails at each call of the service that writes, one after the other: a real disk, and a real SQLite."""

import errno
import itertools
import os
import sqlite3
from contextlib import suppress

import pyarrow as pa
import pytest

from adforest.exceptions import ModelFileError
from adforest.service.learner import Learner
from adforest.service.log import LogError
from adforest.service.orders import order_for
from adforest.service.requests import KeepRecords, SetLabels
from adforest.service.settings import ModelSettings
from adforest.service.store import SETTINGS, Store, StoreFullError
from adforest.service.system import RealDisk, SteadyClock
from failing_system import Fault, failing_system
from served import Process, as_records, client_of, make, rents, state_of, until
from simulated_service import ListTrainer

N_BATCHES = 3
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
MORE = ("write", "ftruncate")


class Life:
    """A model that is asked again until it answers; it is opened again whenever its process would end."""

    def __init__(self, folder):
        self.model, self.folder = folder / "m.adf", folder / "m.adf.service"
        self.folder.mkdir()
        (self.folder / SETTINGS).write_bytes(ModelSettings("y", {}, 1, keep_versions=2, log_id="log").dumped())
        self.store = self.learner = None
        self.n_ended = self.n_put_off = 0

    def run(self):
        for number in range(N_BATCHES):
            table = pa.table({"v": [number]})
            self.ask(lambda number=number, table=table: self.commit(KeepRecords([f"r{number}"], table)))
            self.ask(lambda number=number: self.commit(SetLabels([(f"r{number}", '"low"')])))
            self.ask(self.learn)
        self.ask(lambda: None)
        return self

    def commit(self, change):
        return self.store.commit([change])

    def learn(self):
        self.store.close_batches(10)
        while (task := self.store.next_task()) is not None:
            outcome = self.learner.run(order_for(task, self.store))
            assert outcome.state == "learnt"
            self.store.end_task(task.number, outcome.state, outcome.batch, outcome.report)

    def ask(self, action):
        for _ in range(5):
            try:
                self.open()
                return action()
            except LogError:
                self.n_ended += 1
                self.close()
            except (OSError, StoreFullError, ModelFileError, sqlite3.OperationalError):
                self.n_put_off += 1
                self.learner = None
        raise AssertionError("it does not recover")

    def open(self):
        if self.store is None:
            self.store = Store(RealDisk(), SteadyClock(), self.folder, segment_bytes=500)
        if self.learner is None:
            learner = Learner(RealDisk(), self.model, self.folder, ListTrainer(), "y", "log")
            found = learner.open(has_challenger=False)
            self.store.open_task(learner.learnt_through.version, found and found.batch, found and found.report)
            self.learner = learner

    def close(self):
        if self.store is not None:
            with suppress(OSError):
                self.store.close()
        self.store = self.learner = None

    def check(self):
        """All that was asked is there, and was learnt once and in order."""
        self.close()
        self.open()
        model, place = ListTrainer().unpack(self.model.read_bytes(), "m")
        assert model == [[[number, "low"]] for number in range(N_BATCHES)]
        assert place.version == N_BATCHES
        found = self.store.state.records.find([f"r{number}" for number in range(N_BATCHES)])
        assert [one.state for one in found.values()] == ["learnt"] * N_BATCHES
        assert self.store.log.segments()[0][0] > 1
        self.close()
        left = [path.name for path in self.folder.parent.rglob("*") if path.suffix == ".tmp"]
        assert left == []


def test_each_call_fails_once_in_each_way(tmp_path):
    (tmp_path / "calm").mkdir()
    none = Fault(0, 0, tmp_path)
    with failing_system(none, MORE):
        life = Life(tmp_path / "calm").run()
    life.check()
    assert {"open", "write", "fsync", "replace", "link", "mkdir", "chmod", "unlink"} <= set(none.names)
    n_ended = n_put_off = 0
    for place in itertools.count(1):
        folder = tmp_path / str(place)
        folder.mkdir()
        life, fault = Life(folder), Fault(place, ERRORS[place % 3], folder)
        with failing_system(fault, MORE):
            life.run()
        life.check()
        if not fault.has_come:
            break
        n_ended, n_put_off = n_ended + life.n_ended, n_put_off + life.n_put_off
    assert place > 60
    assert n_ended > 10
    assert n_put_off > 10


def test_a_folder_that_becomes_read_only_takes_nothing_and_goes_on_later(tmp_path):
    class Always(Fault):
        def meet(self, name, path=None):
            if path is None or os.fsdecode(path).startswith(self._under):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    life = Life(tmp_path)
    with failing_system(Always(0, 0, tmp_path), MORE), pytest.raises(OSError, match="Read-only"):
        life.open()
    life.open()
    with failing_system(Always(0, 0, tmp_path), MORE), pytest.raises((StoreFullError, LogError), match="Read-only"):
        life.commit(KeepRecords(["a"], pa.table({"v": [1]})))
    life.close()
    life.run().check()


FAILING = """
import errno, os
real = os.fsync
def fsync(descriptor):
    if os.path.exists(os.environ["FAILING"]):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return real(descriptor)
os.fsync = fsync
"""


def test_a_sync_that_fails_ends_the_process_with_an_error_and_the_next_one_recovers(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sitecustomize.py").write_text(FAILING)
    flag = tmp_path / "fails"
    environment = {"PYTHONPATH": os.fspath(tmp_path / "code"), "FAILING": os.fspath(flag)}
    process = Process(tmp_path / "data", environment=environment)
    body = {"records": as_records(rents(1, 3)), "record_ids": ["a"]}
    with client_of(process.address) as client:
        make(client)
        client.post("/v1/models/rents/predict", json=body).raise_for_status()
        flag.touch()
        answer = client.put("/v1/models/rents/records/a/label", json={"label": "low"})
        assert (answer.status_code, "Input/output error" in answer.text) == (503, True)
        assert os.fspath(tmp_path) not in answer.text
    code, said = process.ended()
    assert code not in (0, None)
    assert "cannot be written (Input/output error)" in said
    flag.unlink()
    process = Process(tmp_path / "data", environment=environment)
    with client_of(process.address) as client:
        assert state_of(client, "a") in ("pending", "labelled")
        assert client.put("/v1/models/rents/records/a/label", json={"label": "low"}).status_code in (200, 201)
        until(lambda: client.get("/readyz").json()["problems"] == {})
    assert process.stop()[0] == 0
