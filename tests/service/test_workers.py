"""`adforest serve --workers 2`: two processes predict, one keeps and learns; any of them may be killed."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest
from starlette.exceptions import HTTPException

from adforest.service.link import Link
from adforest.service.requests import KeepRecords
from adforest.service.tokens import Tokens
from adforest.service.workers import SharedModel
from served import Process, as_csv, as_records, client_of, make, rents, state_of, teach, until

M = "/v1/models/rents"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for workers with pgrep")


def workers_of(process):
    """Return the ids of the workers of a service."""
    command = ["pgrep", "-P", str(process.pid), "-f", "adforest.service.workers"]
    return set(map(int, subprocess.run(command, capture_output=True, text=True).stdout.split()))


def predict(process, **more):
    """Predict by a connection of its own."""
    with client_of(process.address) as client:
        return client.post(f"{M}/predict", json={"records": as_records(rents(2, 3))} | more)


def version(process):
    return predict(process).json()["model_version"]


def predictions(client):
    """Return how many predictions were counted."""
    lines = client.get("/metrics").text.splitlines()
    return sum(float(one.split()[1]) for one in lines if one.startswith("adforest_service_predictions_total"))


@pytest.fixture
def process(tmp_path):
    found = Process(tmp_path, "--workers", "2")
    yield found
    found.kill()


def test_both_workers_answer_and_versions_advance(process):
    with client_of(process.address) as client:
        make(client)
        until(lambda: len(workers_of(process)) == 2)
        for number in (1, 2):
            learnt = teach(client, seed=number)["number"]
            for one in workers_of(process):  # while one is stopped, the other has to answer
                os.kill(one, signal.SIGSTOP)
                try:
                    until(lambda wanted=learnt: version(process) == wanted)
                finally:
                    os.kill(one, signal.SIGCONT)
        time.sleep(0.5)  # counts of predictions so far come ten times a second
        before = predictions(client)
        infer = {"inputs": [{"name": "area", "shape": [1], "datatype": "FP64", "data": [70]}]}
        infer["inputs"] += [{"name": "rooms", "shape": [1], "datatype": "INT64", "data": [3]}]
        infer["inputs"] += [{"name": "district", "shape": [1], "datatype": "BYTES", "data": ["west"]}]
        assert client.post("/v2/models/rents/infer", json=infer).json()["model_version"] == str(learnt)
        assert [predict(process).status_code for _ in range(9)] == [200] * 9
        until(lambda: predictions(client) == before + 10)
    assert process.stop() == (0, "")


def test_ids_are_kept_before_the_answer_and_outlive_a_killed_worker(process):
    with client_of(process.address) as client:
        make(client, batch_size=6)
        until(lambda: len(workers_of(process)) == 2)
        assert predict(process, record_ids=["a", "b"]).json()["model_version"] == 1
        assert state_of(client, "a") == "pending"
        other = {"records": as_records(rents(2, 4)), "record_ids": ["a", "b"]}
        assert client.post(f"{M}/predict", json=other).status_code == 409
    before = workers_of(process)
    for one in before:
        os.kill(one, signal.SIGKILL)
    until(lambda: len(workers_of(process) - before) == 2)
    with client_of(process.address) as client:
        assert predict(process, record_ids=["a", "b"]).status_code == 200
        for first in ("c", "e"):
            ids = [first, chr(ord(first) + 1)]
            assert predict(process, record_ids=ids).status_code == 200
        assert client.post(f"{M}/labels", json={"labels": dict.fromkeys("abcdef", "low")}).json()["created"] == 6
        until(lambda: state_of(client, "f") == "learnt")
        assert client.get(M).json()["records"] == {"learnt": 6}


def test_workers_end_with_their_parent_and_the_next_one_starts(tmp_path):
    process = Process(tmp_path, "--workers", "2")
    with client_of(process.address) as client:
        make(client)
        workers = until(lambda: (found := workers_of(process)) and len(found) == 2 and found)
    process.kill()
    until(lambda: not any(os.path.exists(f"/proc/{one}") for one in workers), 5)
    again = Process(tmp_path, "--workers", "2")
    until(lambda: predict(again).status_code == 200)
    again.stop()


@pytest.mark.parametrize("is_there", [False, True])
def test_a_parent_that_has_ended_is_told_as_one_to_be_asked_again(tmp_path, is_there):
    scope = {"type": "http", "method": "GET", "path": "/v1/models", "headers": []}
    sent = []

    async def take(reader, writer):  # killed before it answers
        await reader.read(4)
        writer.close()

    async def send(message):
        sent.append(message)

    async def receive():
        await asyncio.sleep(60)

    async def ask():
        server = await asyncio.start_unix_server(take, tmp_path / "socket") if is_there else None
        link = Link(str(tmp_path / "socket"))
        await link(scope, receive, send)
        with pytest.raises(HTTPException) as found:
            await asyncio.wrap_future(SharedModel("rents", link).submit(KeepRecords(["a"], rents(1))))
        if server is not None:
            server.close()
        return found.value

    error = asyncio.run(ask())
    assert (error.status_code, error.headers) == (503, {"retry-after": "1"})
    assert [sent[0]["status"], dict(sent[0]["headers"])[b"retry-after"]] == [503, b"1"]
    assert b"ended" in sent[1]["body"]


def test_a_parent_that_is_killed_under_load_brings_no_500(process):
    with client_of(process.address) as client:
        make(client)
        until(lambda: len(workers_of(process)) == 2)
    statuses = []

    def ask(first):
        with client_of(process.address) as client:
            for number in range(1_000):
                ids = [f"{first}-{number}-{place}" for place in range(2)]
                try:
                    body = {"records": as_records(rents(2, 3)), "record_ids": ids}
                    statuses.append(client.post(f"{M}/predict", json=body).status_code)
                    statuses.append(client.get(M).status_code)
                except httpx.HTTPError:
                    return

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    until(lambda: len(statuses) > 50)
    process.kill()
    for one in threads:
        one.join()
    assert set(statuses) <= {200, 503}


def test_sigterm_lets_requests_under_way_be_answered(process):
    with client_of(process.address) as client:
        make(client)
    answers = []

    def ask():
        with client_of(process.address) as client:
            body, head = as_csv(rents(20_000, 1)), {"content-type": "text/csv"}
            answers.append(client.post(f"{M}/batches?wait=true", content=body, headers=head).status_code)

    thread = threading.Thread(target=ask)
    thread.start()
    with client_of(process.address) as client:
        until(lambda: client.get(M).json()["batches_waiting"])
    assert process.stop() == (0, "")
    thread.join()
    assert answers in ([200], [202])  # the second where the batch is learnt at the next start


def test_tokens_names_and_limits_hold_in_workers(tmp_path):
    tokens = {right: Tokens(tmp_path).add(right, [right]) for right in ("predict", "label", "admin")}
    process = Process(tmp_path, "--workers", "2")
    heads = {right: {"authorization": f"Bearer {token}"} for right, token in tokens.items()}
    with client_of(process.address) as client:
        client.headers.update(heads["admin"])
        make(client)
        until(lambda: len(workers_of(process)) == 2)
        time.sleep(0.5)  # both have read the model by now
    with client_of(process.address) as client:
        body = {"records": as_records(rents(1))}
        assert client.post(f"{M}/predict", json=body).status_code == 401
        assert client.post(f"{M}/predict", json=body, headers=heads["label"]).status_code == 403
        assert client.post(f"{M}/predict", json=body, headers=heads["predict"]).status_code == 200
        assert client.put(M, json={}, headers=heads["predict"]).status_code == 403
        named = heads["predict"] | {"origin": "http://elsewhere.example"}
        assert client.post(f"{M}/predict", json=body, headers=named).status_code == 403
        columns = {f"x{place}": [0] for place in range(10_001)}
        assert client.post(f"{M}/predict", json={"columns": columns}, headers=heads["predict"]).status_code == 413
        unread = client.post(f"{M}/predict", content=b"{", headers=heads["predict"])
        assert unread.status_code == 400
        Tokens(tmp_path).remove("predict")
        assert client.post(f"{M}/predict", json=body, headers=heads["predict"]).status_code == 401
    assert process.stop() == (0, "")
