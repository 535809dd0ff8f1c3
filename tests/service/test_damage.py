"""Files of a model that are damaged or missing: nothing acknowledged is given up, and the reason is shown."""

import os
import threading
import time
from contextlib import contextmanager

import pyarrow as pa
import pytest

from adforest.service import served_model
from adforest.service.events import TaskAdded
from adforest.service.learner import Learner, Order
from adforest.service.learning_process import LearningProcess
from adforest.service.log import Log, LogError
from adforest.service.served_models import ServedModels
from adforest.service.store import LOG
from served import as_csv, as_records, client_of, make, rents, service, state_of, until
from simulated_service import FOLDER, MODEL, World

M = "/v1/models/rents"


@contextmanager
def learning_stopped(monkeypatch):
    """Let no batch be learnt until the event that is yielded is set."""
    go_on, real = threading.Event(), LearningProcess.run
    with monkeypatch.context() as patched:
        patched.setattr(LearningProcess, "run", lambda self, order: (go_on.wait(60), real(self, order))[1])
        yield go_on
        go_on.set()


def flip(path, place):
    """Change a bit of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    with path.open("r+b") as file:
        file.write(content)


@pytest.mark.parametrize("segment", ["last", "older"])
def test_a_batch_whose_entry_is_damaged_is_not_refused(segment):
    world = World(0, 10, crash_at=())
    log = Log(world.disk, FOLDER / LOG, segment_bytes=100)
    for number in (1, 2):
        log.append(TaskAdded.kind, TaskAdded("batch", pa.table({"v": [1], "y": ["low"]}), {}, (), 0.0).payload())
        log.sync()
        if segment == "older":
            log.rotate()
    path = min(one for one in world.disk.files if one.parent == FOLDER / LOG)
    content = world.disk.files[path]
    world.disk.files[path] = content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
    learner = Learner(world.disk, MODEL, FOLDER, world.trainer, "y", "log")
    number = 1 if segment == "older" else 2
    with pytest.raises(LogError, match="damaged"):
        learner.run(Order(number, number, "batch", {}, {}, None, 3))


def test_acknowledged_labels_wait_where_the_log_is_damaged_and_are_learnt_once_it_is_restored(tmp_path, monkeypatch):
    monkeypatch.setattr(served_model, "RETRY_SECONDS", 0.1)
    with service(tmp_path) as client:
        make(client, batch_size=4)
        with learning_stopped(monkeypatch) as go_on:
            client.post(f"{M}/predict", json={"records": as_records(rents(4, 1)), "record_ids": list("abcd")})
            client.post(f"{M}/labels", json={"labels": dict.fromkeys("abcd", "low")})
            (segment,) = (tmp_path / "rents.adf.service" / "log").iterdir()
            flip(segment, -30)
            go_on.set()
            problem = until(lambda: client.get("/readyz").json()["problems"].get("rents"))
        assert "damaged" in problem
        assert os.fspath(tmp_path) not in problem
        assert {state_of(client, one) for one in "abcd"} == {"labelled"}
        assert client.get(f"{M}/batches/2").json()["state"] == "waiting"
        flip(segment, -30)
        until(lambda: state_of(client, "a") == "learnt")
        assert client.get("/readyz").json()["problems"] == {}


def test_a_model_whose_settings_are_gone_is_not_deleted(tmp_path):
    with service(tmp_path) as client:
        make(client)
        client.post(f"{M}/predict", json={"records": as_records(rents(1, 1)), "record_ids": ["a"]})
    path = tmp_path / "rents.adf.service" / "settings.json"
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(LogError, match=r"settings\.json' is missing; restore it"), service(tmp_path):
        pass
    path.write_bytes(content)
    with service(tmp_path) as client:
        assert state_of(client, "a") == "pending"


def test_a_removal_that_was_interrupted_anywhere_is_finished_at_the_next_start(tmp_path, monkeypatch):
    n_calls = 0
    while True:
        folder, n_calls = tmp_path / str(n_calls), n_calls + 1
        with service(folder) as client:
            client.put(M, json={"target": "rent"}).raise_for_status()
        removed, left = [], n_calls

        def remove(path, real=os.unlink, **options):
            nonlocal left
            left -= 1
            if not left:
                raise KeyboardInterrupt
            removed.append(path)
            real(path, **options)

        models = ServedModels(folder, print)
        with monkeypatch.context() as patched:
            patched.setattr(os, "unlink", remove)
            try:
                models.remove("rents")
            except KeyboardInterrupt:
                pass
            else:
                break
            finally:
                models.close()
        again = ServedModels(folder, print)
        assert again.names() == ([] if removed else ["rents"])
        assert bool(removed) != bool(list(folder.glob("rents*"))), removed
        again.close()
    assert n_calls > 3


@pytest.mark.parametrize("ending", ["requested", "a sync that failed"])
def test_requests_that_wait_for_a_batch_do_not_delay_the_end(tmp_path, monkeypatch, ending):
    answers = []
    with learning_stopped(monkeypatch) as go_on:
        with service(tmp_path) as client:
            client.put(M, json={"target": "rent"}).raise_for_status()

            def ask():
                with client_of(str(client.base_url)) as other:
                    head = {"content-type": "text/csv"}
                    answers.append(other.post(f"{M}/batches?wait=true", content=as_csv(rents(20)), headers=head))
                    go_on.set()

            asking = threading.Thread(target=ask)
            asking.start()
            until(lambda: client.get(M).json()["batches_waiting"] == 1)
            if ending != "requested":
                monkeypatch.setattr("adforest.service.system.RealFile.sync", no_sync)
                assert client.put(f"{M}/records/a/label", json={"label": "low"}).status_code == 503
            begin = time.monotonic()
        assert time.monotonic() - begin < 15  # half of DRAIN_SECONDS
        asking.join(30)
    assert answers[0].status_code == (202 if ending == "requested" else 503)
    if ending == "requested":
        assert (answers[0].json()["state"], answers[0].headers["location"]) == ("waiting", f"{M}/batches/1")


def no_sync(self):
    raise OSError(5, "Input/output error")
