"""`adforest serve` in a process of its own: killed, stopped, asked for long, and its learner killed."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import adforest
import service_kills
from served import Process, as_csv, as_records, client_of, make, rents, state_of, teach, until

M = "/v1/models/rents"


def test_kills_lose_nothing_and_make_the_same_model(tmp_path):
    problems, n_asked = service_kills.survive(tmp_path, 2, random.Random(5), n_clients=2)
    assert problems == []
    assert n_asked


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the learner in /proc")
def test_a_learner_that_is_killed_is_started_again_and_sigterm_ends_all(tmp_path):
    process = Process(tmp_path)
    with client_of(process.address) as client:
        make(client)
        found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
        (learner,) = map(int, found.stdout.split())
        os.kill(learner, signal.SIGKILL)
        assert client.post(f"{M}/predict", json={"records": as_records(rents(1))}).status_code == 200
        assert teach(client, seed=1)["batch"] == 2
        client.post(f"{M}/predict", json={"records": as_records(rents(1, 3)), "record_ids": ["a"]})
        code, said = process.stop()
    assert (code, said) == (0, "")
    again = Process(tmp_path)
    with client_of(again.address) as client:
        assert state_of(client, "a") == "pending"
        assert client.get(M).json()["batches"] == 2
    again.stop(signal.SIGINT)


def test_a_damaged_model_file_is_made_again_from_the_version_before_and_the_log(tmp_path):
    process = Process(tmp_path)
    with client_of(process.address) as client:
        make(client)
        for seed in (1, 2):
            teach(client, seed=seed)
    process.stop()
    path = tmp_path / "rents.adf"
    expected = adforest.load(path).predict_proba(rents(20, 9).drop_columns(["rent"]))
    path.write_bytes(path.read_bytes()[:-100])
    process = Process(tmp_path)
    with client_of(process.address) as client:
        until(lambda: client.get(M).json()["batches"] == 3)
    process.stop()
    assert (adforest.load(path).predict_proba(rents(20, 9).drop_columns(["rent"])) == expected).all()


def test_a_log_with_changed_bits_is_told(tmp_path):
    process = Process(tmp_path)
    with client_of(process.address) as client:
        make(client)
        client.post(f"{M}/batches", content=as_csv(rents(20, 1)), headers={"content-type": "text/csv"})
    process.stop()
    (segment,) = (tmp_path / "rents.adf.service" / "log").iterdir()
    content = bytearray(segment.read_bytes())
    content[100] ^= 1
    segment.write_bytes(content)
    process = Process(tmp_path)
    with client_of(process.address) as client:
        assert client.get(M).status_code == 503
        assert "damaged: entry 1 is not as it was written" in client.get("/readyz").json()["problems"]["rents"]
    code, said = process.stop()
    assert (code, "The model 'rents' is not served:" in said) == (0, True)


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory and descriptors in /proc")
def test_memory_and_descriptors_stay_flat_in_a_short_soak():
    benchmark = Path(__file__).parents[2] / "benchmarks" / "service.py"
    command = [sys.executable, str(benchmark), "soak", "0.05"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert said.returncode == 0, said.stdout + said.stderr
    assert json.loads(said.stdout)["requests"] >= 1_200


def test_two_services_do_not_share_a_folder(tmp_path):
    process = Process(tmp_path)
    with pytest.raises(RuntimeError, match="another service has the folder"):
        Process(tmp_path)
    process.stop()
