"""Files of a model that are damaged or missing: nothing acknowledged is given up, and the reason is shown."""

import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager

import pyarrow as pa
import pytest

import adforest
from adforest.exceptions import ModelFileError
from adforest.service import served_model
from adforest.service.events import TaskAdded
from adforest.service.learner import Learner, Order
from adforest.service.learning_process import LearningProcess
from adforest.service.log import Log, LogError
from adforest.service.requests import AddTask
from adforest.service.served_model import ServedModel
from adforest.service.served_models import ServedModels
from adforest.service.store import LOG, Store
from adforest.service.system import RealDisk, SteadyClock
from served import as_csv, as_records, client_of, make, rents, service, state_of, teach, until
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
    for _ in (1, 2):
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
            until(lambda: client.get(M).json()["batches_waiting"] == 1)
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
    with service(tmp_path) as client:
        assert client.get(M).status_code == 503
        assert "settings.json' is missing. Restore it" in client.get("/readyz").json()["problems"]["rents"]
    path.write_bytes(content)
    with service(tmp_path) as client:
        assert state_of(client, "a") == "pending"


def test_a_removal_that_was_interrupted_anywhere_is_finished_at_the_next_start(tmp_path, monkeypatch):
    n_calls = 0
    while True:
        folder, n_calls = tmp_path / str(n_calls), n_calls + 1
        with service(folder) as client:
            client.put(M, json={"target": "rent"}).raise_for_status()
        removed = []

        def remove(path, real=os.unlink, removed=removed, last=n_calls, **options):
            if len(removed) + 1 == last:
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
    assert answers[0].status_code in ((202,) if ending == "requested" else (202, 503))  # by which is noticed first
    if ending == "requested":
        assert (answers[0].json()["state"], answers[0].headers["location"]) == ("waiting", f"{M}/batches/1")


def no_sync(self):
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("what", ["gone", "damaged"])
def test_a_model_without_its_file_predicts_with_the_version_before_until_it_has_learnt_the_rest_again(
    tmp_path, monkeypatch, what
):
    with service(tmp_path) as client:
        make(client)
        for seed in (1, 2):
            teach(client, seed=seed)
        before = [client.get(f"{M}/batches/{number}").json() for number in (1, 2, 3)]
    path = tmp_path / "rents.adf"
    if what == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-100])
    with learning_stopped(monkeypatch) as go_on, service(tmp_path) as client:
        found = client.post(f"{M}/predict", json={"records": as_records(rents(1))})
        assert (found.status_code, found.json()["model_version"]) == (200, 2)
        assert "cannot be read; version 2 predicts" in client.get("/readyz").json()["problems"]["rents"]
        go_on.set()
        until(lambda: client.get(M).json()["model_version"] == 3 and not client.get(M).json()["batches_waiting"])
        after = [client.get(f"{M}/batches/{number}").json() for number in (1, 2, 3)]
        assert [one["batch"] for one in after] == [1, 2, 3]
        assert after[:2] == before[:2]
        assert client.get("/readyz").json()["problems"] == {}


@pytest.mark.parametrize("is_dropped", [True, False])
def test_a_model_without_file_and_versions_is_learnt_from_the_whole_log_or_not_at_all(tmp_path, is_dropped):
    with service(tmp_path) as client:
        make(client)
        teach(client, seed=1)
    (tmp_path / "rents.adf").unlink()
    shutil.rmtree(tmp_path / "rents.adf.versions")
    if is_dropped:
        one = Store(RealDisk(), SteadyClock(), tmp_path / "rents.adf.service", segment_bytes=1)
        one.log.rotate()
        one.commit([AddTask("parameters", {"parameters": {}})])
        assert one.log.drop(2) == 1
        one.close()
        with pytest.raises(ModelFileError, match="has no batch at 1 any more"):
            ServedModel(tmp_path / "rents.adf", print)
        return
    with service(tmp_path) as client:
        until(lambda: client.get(M).json()["model_version"] == 2)
        assert client.get(f"{M}/batches/1").json()["batch"] == 1


def test_a_model_that_was_saved_elsewhere_and_is_gone_is_not_made_again_from_nothing(tmp_path):
    table = rents(200, seed=0).to_pandas()
    model = adforest.AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0)
    model.partial_fit(table.drop(columns="rent"), table["rent"]).save(tmp_path / "rents.adf")
    with service(tmp_path) as client:
        body = as_csv(rents(60, 1)).replace("rent\n", "target\n", 1)
        answer = client.post(f"{M}/batches?wait=true", content=body, headers={"content-type": "text/csv"})
        assert answer.json()["batch"] == 2
    (tmp_path / "rents.adf").unlink()
    with service(tmp_path) as client:  # from the one that was saved elsewhere, which is kept as a version
        until(lambda: client.get(M).json()["batches"] == 2)
    (tmp_path / "rents.adf").unlink()
    shutil.rmtree(tmp_path / "rents.adf.versions")
    with pytest.raises(ModelFileError, match="its versions are missing"):
        ServedModel(tmp_path / "rents.adf", print)


def damage_settings(folder):
    (folder / "rents.adf.service" / "settings.json").write_bytes(b"{")


def damage_log(folder):
    (segment,) = (folder / "rents.adf.service" / "log").iterdir()
    flip(segment, 100)


def damage_tables(folder):
    (folder / "rents.adf.service" / "tables.db").write_bytes(b"no database" * 1000)


def damage_model(folder):
    shutil.rmtree(folder / "rents.adf.service")
    (folder / "rents.adf").write_bytes(b"no model")


def damage_model_without_versions(folder):
    (folder / "rents.adf").write_bytes(b"no model")


@pytest.mark.parametrize(
    "damage", [damage_settings, damage_log, damage_tables, damage_model, damage_model_without_versions]
)
def test_a_model_whose_files_are_damaged_keeps_no_other_from_being_served(tmp_path, capfd, damage):
    with service(tmp_path) as client:
        make(client)
        make(client, "other")
    damage(tmp_path)
    with service(tmp_path) as client:
        assert teach(client, "other", seed=1)["batch"] == 2
        problems = client.get("/readyz").json()["problems"]
        assert set(problems) == {"rents"}
        assert os.fspath(tmp_path) not in problems["rents"]
        body = {"records": as_records(rents(1)), "record_ids": ["a"]}
        asked = [client.get(M), client.post(f"{M}/predict", json=body), client.put(M, json={}), client.delete(M)]
        assert [one.status_code for one in asked] == [503] * 4
        assert problems["rents"] in asked[0].json()["error"]
        assert 'adforest_service_model_version{model="rents"} 0.0' in client.get("/metrics").text
    assert "The model 'rents' is not served" in capfd.readouterr().err
    assert (tmp_path / "rents.adf").exists()


def test_a_learner_that_ends_before_it_is_ready_is_waited_for_and_gives_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(served_model, "RETRY_SECONDS", 0.1)
    with service(tmp_path) as client:
        client.put(M, json={"target": "rent"}).raise_for_status()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", shutil.which("false"))
            head = {"content-type": "text/csv"}
            for seed in range(4):  # more often than a task may end the learner
                client.post(f"{M}/batches", content=as_csv(rents(20, seed)), headers=head).raise_for_status()
            problem = until(lambda: client.get("/readyz").json()["problems"].get("rents"))
            time.sleep(1)
        assert "before it was ready, with code 1" in problem
        until(lambda: client.get(M).json()["batches"] == 4)
        assert client.get("/readyz").json()["problems"] == {}


def test_a_damaged_model_whose_learner_ends_before_it_is_ready_is_restored_later(tmp_path, monkeypatch):
    monkeypatch.setattr(served_model, "RETRY_SECONDS", 0.1)
    with service(tmp_path) as client:
        make(client)
        teach(client, seed=1)
    (tmp_path / "rents.adf").write_bytes(b"damaged")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", shutil.which("false"))
        model = ServedModel(tmp_path / "rents.adf", print)
        assert "before it was ready" in model.problem
        assert model.answering.version == 1
    until(lambda: model.answering.version == 2)
    model.close()


def test_a_label_that_expired_before_its_record_does_not_keep_the_record_from_the_tables(tmp_path):
    with service(tmp_path) as client:
        make(client, label_wait=0.3)
        client.put(f"{M}/records/e/label", json={"label": "low"}).raise_for_status()
        until(lambda: client.get(f"{M}/records/e").status_code == 404)
        client.put(M, json={"label_wait": 600.0}).raise_for_status()
        body = {"records": as_records(rents(1, 1)), "record_ids": ["e"]}
        client.post(f"{M}/predict", json=body).raise_for_status()
        assert state_of(client, "e") == "pending"
        assert client.put(f"{M}/records/e/label", json={"label": "low"}).status_code == 201


def teach_with_versions(client):
    """Make a model of four versions, the first of which is dropped with the next one, and a challenger."""
    make(client, keep_versions=3)
    client.put(f"{M}/challenger", json={"parameters": {"n_estimators": 5}}).raise_for_status()
    for seed in (1, 2):
        teach(client, seed=seed)
    assert [one["model_version"] for one in client.get(f"{M}/versions").json()["versions"]] == [1, 2, 3, 4]


@pytest.mark.parametrize(("call", "body"), [("rollback", {"model_version": 1}), ("challenger/promote", {})])
def test_a_model_whose_file_is_damaged_after_a_rollback_or_a_promotion_is_that_of_it(tmp_path, call, body):
    with service(tmp_path) as client:
        teach_with_versions(client)
        answer = client.post(f"{M}/{call}", json=body)
        assert (answer.status_code, answer.json()["state"]) == (200, "learnt"), answer.text
        assert [one["model_version"] for one in client.get(f"{M}/versions").json()["versions"]] == [2, 3, 4, 5]
    content = (tmp_path / "rents.adf").read_bytes()
    (tmp_path / "rents.adf").write_bytes(b"damaged")
    with service(tmp_path) as client:
        assert teach(client, seed=3)["number"] == 6
        assert client.get(f"{M}/batches/5").json()["state"] == "learnt"
        assert [one["model_version"] for one in client.get(f"{M}/versions").json()["versions"]] == [3, 4, 5, 6]
    assert any(one.read_bytes() == content for one in (tmp_path / "rents.adf.versions").iterdir())


@pytest.mark.parametrize(("call", "body"), [("rollback", {"model_version": 1}), ("challenger/promote", {})])
def test_what_cannot_be_done_again_is_not_refused_but_waits_for_its_model(tmp_path, monkeypatch, call, body):
    monkeypatch.setattr(served_model, "RETRY_SECONDS", 0.1)
    with service(tmp_path) as client:
        teach_with_versions(client)
        client.post(f"{M}/{call}", json=body).raise_for_status()
        teach(client, seed=3)
    path, copies = tmp_path / "rents.adf", list((tmp_path / "rents.adf.versions").glob("batch-*-5.adf"))
    content = path.read_bytes()
    for one in (path, *copies):
        one.write_bytes(b"damaged")
    with service(tmp_path) as client:
        until(lambda: "task 5" in client.get("/readyz").json()["problems"].get("rents", ""))
        assert "done before and cannot be done again: " in client.get("/readyz").json()["problems"]["rents"]
        assert client.get(M).json()["model_version"] == 4
        assert client.get(f"{M}/batches/5").json()["state"] == "waiting"
        path.write_bytes(content)
        until(lambda: client.get(M).json()["model_version"] == 6 and not client.get(M).json()["batches_waiting"])
        until(lambda: client.get("/readyz").json()["problems"] == {})


def test_a_challenger_is_promoted_by_a_learner_that_was_started_for_it(tmp_path):
    with service(tmp_path) as client:
        teach_with_versions(client)
    with service(tmp_path) as client:
        answer = client.post(f"{M}/challenger/promote")
        assert answer.json()["state"] == "learnt", answer.text
        assert client.get(M).json()["parameters"]["n_estimators"] == 5
        assert client.get(f"{M}/challenger").status_code == 404
