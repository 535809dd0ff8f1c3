"""Ids and labels joined in PostgreSQL: a real server, that is lost and comes back."""

import sqlite3
import uuid

import pytest

from adforest.service.databases import ServerDatabase, ServerError
from adforest.service.log import LogError
from adforest.service.process import ServiceOptions, serving
from adforest.service.settings import ModelSettings
from adforest.service.store import SETTINGS, Store
from adforest.service.system import RealDisk, SteadyClock
from postgres_server import programs, running_server
from served import Process, as_records, client_of, make, rents, service, state_of, teach, until
from simulated_service import SimulatedDisk, World

pytest.importorskip("psycopg", reason="needs psycopg")
pytestmark = pytest.mark.skipif(programs() is None, reason="there is no PostgreSQL server: apt-get install postgresql")
M = "/v1/models/rents"


@pytest.fixture(scope="module")
def server():
    with running_server() as found:
        yield found


def schemas(server):
    database = ServerDatabase(server.url, "looking")
    try:
        query = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'adforest')"
        return [one for (one,) in database.execute(query)]
    finally:
        database.close()


def predict(client, n, seed, ids):
    return client.post(f"{M}/predict", json={"records": as_records(rents(n, seed)), "record_ids": ids})


def test_records_are_joined_with_their_labels_and_learnt(server, tmp_path):
    with service(tmp_path, database=server.url) as client:
        make(client, batch_size=4)
        assert predict(client, 5, 1, list("abcde")).status_code == 200
        client.put(f"{M}/records/early/label", json={"label": "low"})
        assert client.post(f"{M}/labels", json={"labels": dict.fromkeys("abcd", "low")}).json()["created"] == 4
        until(lambda: state_of(client, "a") == "learnt")
        assert (state_of(client, "e"), state_of(client, "early")) == ("pending", "waiting")
        assert client.delete(f"{M}/records/e").json()["state"] == "withdrawn"
        assert client.put(f"{M}/records/a/label", json={"label": "high"}).status_code == 409
        head = {"idempotency-key": "k"}
        body = {"records": rents(9, 2).to_pylist()}
        first, again = (client.post(f"{M}/batches?wait=true", json=body, headers=head).json() for _ in range(2))
        assert first["number"] == again["number"]
        assert client.get(f"{M}/records/a%00").status_code == 422
        assert not (tmp_path / "rents.adf.service" / "tables.db").exists()
        assert len(schemas(server)) == 1
    with pytest.raises(OSError, match="--database"):
        serving(ServiceOptions(tmp_path, port=0)).__enter__()
    with service(tmp_path, database=server.url) as client:
        assert state_of(client, "a") == "learnt"
        assert client.delete("/v1/models/rents").status_code == 204
    assert schemas(server) == []


def test_a_server_that_is_lost_is_told_and_nothing_acknowledged_is(server, tmp_path):
    process = Process(tmp_path, environment={"ADFOREST_DATABASE": server.url})
    with client_of(process.address) as client:
        make(client, batch_size=6)
        predict(client, 5, 1, list("abcde"))
        client.post(f"{M}/labels", json={"labels": dict.fromkeys("abcd", "low")}).raise_for_status()
        server.stop()
        refused = client.put(f"{M}/records/e/label", json={"label": "low"})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "PostgreSQL" in refused.json()["error"]
        assert client.get(M).status_code == 503
        assert client.post(f"{M}/predict", json={"records": as_records(rents(1))}).status_code == 200
        assert "PostgreSQL" in client.get("/readyz").json()["problems"]["rents"]
        server.start()
        until(lambda: client.put(f"{M}/records/e/label", json={"label": "low"}).status_code in (200, 201))
        process.kill()
    process = Process(tmp_path, "--database", server.url)  # the session of the process before may still end
    with client_of(process.address) as client:
        predict(client, 1, 7, ["f"])
        client.put(f"{M}/records/f/label", json={"label": "low"}).raise_for_status()
        until(lambda: state_of(client, "f") == "learnt")
        assert [state_of(client, one) for one in "abcdef"] == ["learnt"] * 6
        teach(client, seed=3)
        client.delete("/v1/models/rents")
    assert process.stop() == (0, "")


class ServerDisk(SimulatedDisk):
    """A simulated disk whose tables are in PostgreSQL; a commit may fail before it is done, or after."""

    url = None

    def __init__(self, *more):
        super().__init__(*more)
        self.schema, self.opened = f"adforest_{uuid.uuid4().hex}", []

    def database(self, path, schema):
        database = SimulatedServer(self.url, self.schema)
        database.disk = self
        self.opened.append(database)
        return database

    def crash(self):
        super().crash()
        self.close()

    def close(self):
        for one in self.opened:
            one.close()
        self.opened.clear()


class SimulatedServer(ServerDatabase):
    disk = None

    def execute(self, query, arguments=(), /):
        if self.disk is None or query != "COMMIT":
            return super().execute(query, arguments)
        try:
            self.disk.step("commit")
        except OSError as error:
            if self.disk.draws.random() < 0.5:
                super().execute(query, arguments)  # it is done, and the answer is lost
            self.close()
            raise ServerError("the connection was lost") from error
        found = super().execute(query, arguments)
        self.disk.step("committed", may_fail=False)
        return found


class ServerWorld(World):
    """A world with PostgreSQL, whose sessions end with the process."""

    def _start(self):
        self.disk.close()
        super()._start()


def test_simulated_worlds_end_as_they_do_with_sqlite(server, monkeypatch):
    monkeypatch.setattr(ServerDisk, "url", server.url)
    n_crashes = n_failures = 0
    for seed in range(30):
        world = ServerWorld(seed, disk=ServerDisk).run()
        n_crashes, n_failures = n_crashes + world.n_crashes, n_failures + world.n_failures
        world.disk.opened[-1].drop()
        world.disk.close()
    assert n_crashes
    assert n_failures


def test_one_process_has_the_tables(server):
    first = ServerDatabase(server.url, "taken")
    with pytest.raises(ServerError, match="another process has"):
        ServerDatabase(server.url, "taken", patience=0.2)
    first.drop()
    ServerDatabase(server.url, "taken", patience=0.2).drop()


def test_what_is_wrong_with_a_url_is_told_without_its_password(tmp_path):
    with pytest.raises(ValueError, match="expected postgresql://") as found:
        RealDisk("mysql://shop:secret@db")
    assert "secret" not in str(found.value)
    with pytest.raises(sqlite3.OperationalError, match="PostgreSQL") as found:
        ServerDatabase("postgresql://shop:secret@127.0.0.1:9/none", "a")
    assert "secret" not in str(found.value)


def test_tables_that_lack_what_the_log_dropped_are_refused(tmp_path):
    from adforest.service.requests import AddTask

    (tmp_path / SETTINGS).write_bytes(ModelSettings("y", log_id="log").dumped())
    store = Store(RealDisk(), SteadyClock(), tmp_path, segment_bytes=100)
    for value in range(3):
        store.commit([AddTask("parameters", {"parameters": {"max_depth": value + 1}})])
        store.end_task(value + 1, "learnt", None, {})
    assert store.log.segments()[0][0] > 1
    store.close()
    for path in tmp_path.glob("tables.db*"):
        path.unlink()
    with pytest.raises(LogError, match="Restore both"):
        Store(RealDisk(), SteadyClock(), tmp_path)
