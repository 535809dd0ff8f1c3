"""A service that runs in the test's process or in its own, and rents to ask it about."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa

from adforest.service.process import ServiceOptions, serving

SMALL = {"n_estimators": 3, "random_state": 0}


def rents(n, seed=0):
    """Return records of flats with the class of their rent."""
    draws = np.random.default_rng(seed)
    area, rooms = draws.normal(70, 20, n).round(1), draws.integers(1, 6, n)
    district = draws.choice(["north", "south", "west"], n)
    rent = np.where(area + 10 * rooms + 15 * (district == "west") > 100, "high", "low")
    return pa.table({"area": area, "rooms": rooms, "district": district, "rent": rent})


def as_csv(table):
    rows = [",".join(table.column_names), *(",".join(map(str, row.values())) for row in table.to_pylist())]
    return "\n".join(rows) + "\n"


@contextmanager
def service(folder, **options):
    """Run a service in a thread, and yield a client of it."""
    with serving(ServiceOptions(Path(folder), port=0, **options)) as address, client_of(address) as client:
        yield client


def client_of(address, **more):
    return httpx.Client(base_url=address, timeout=60, **more)


def make(client, name="rents", **settings):
    """Make a model that has learnt a batch."""
    given = {"target": "rent", "parameters": SMALL} | settings
    assert client.put(f"/v1/models/{name}", json=given).status_code == 201
    return teach(client, name)


def teach(client, name="rents", seed=0, n=60):
    answer = client.post(
        f"/v1/models/{name}/batches?wait=true", content=as_csv(rents(n, seed)), headers={"content-type": "text/csv"}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


class Process:
    """`adforest serve` in a process of its own."""

    def __init__(self, folder, *options, environment=None):
        command = [sys.executable, "-m", "adforest", "serve", "--data", str(folder), "--port", "0", *options]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}
        )
        line = self._process.stdout.readline().decode()
        if "http" not in line:
            _, said = self._process.communicate()
            raise RuntimeError(line + said.decode())
        self.line = line
        self.address = line[line.index("http") :].split()[0].partition("?")[0].rstrip("/")

    @property
    def pid(self):
        return self._process.pid

    def kill(self):
        self._process.kill()
        self._process.communicate()

    def ended(self):
        """Wait until it has ended by itself, and return its exit code and what it said."""
        _, said = self._process.communicate(timeout=60)
        return self._process.returncode, said.decode()

    def stop(self, number=signal.SIGTERM):
        """Ask it to end, and return its exit code and what it said."""
        self._process.send_signal(number)
        _, said = self._process.communicate(timeout=60)
        return self._process.returncode, said.decode()


def until(condition, seconds=30.0):
    """Wait until something holds, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)
    return found


def state_of(client, record_id, name="rents"):
    return client.get(f"/v1/models/{name}/records/{record_id}").json()["state"]


def as_records(table, target="rent"):
    return json.loads(json.dumps(table.drop_columns([target]).to_pylist()))
