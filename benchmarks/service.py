"""Measure the service with wrk (apt-get install wrk): rates and response times, idle and while it learns.

One command for each measure, which is printed as a JSON line and kept in benchmarks/record.jsonl, from which
``python -m experiments pages`` writes the table of docs/service.md:

- ``python benchmarks/service.py rates``, and with ``--workers 2``: predictions, and their 99 % quantile idle and while
  it learns;
- ``python benchmarks/service.py labels``, and with ``--postgresql``: labels acknowledged on the disk, with tables in
  SQLite or in a PostgreSQL server of its own (apt-get install postgresql);
- ``python benchmarks/service.py peer ENV/bin``: MLServer beside it, from an environment with mlserver and
  mlserver-sklearn, for a forest of as many trees;
- ``python benchmarks/service.py soak 30``: asks it for thirty minutes and compares memory and descriptors,
  those of the learner included, in the first and in the last third.

Without a name it is ``rates`` and ``labels``. Everything runs on one machine: wrk takes its share of the cores.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
from timing import print_line, record_line

SECONDS = 8
FEWEST = 12  # looks at memory and descriptors of a soak, however short
LONG_SOAK = 30.0  # minutes, of a soak that is kept in the record
N_FEATURES, N_LEARNT = 8, 5_000
ARROW = "application/vnd.apache.arrow.stream"
MODEL = "/v1/models/made"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", nargs="?", choices=["rates", "labels", "peer", "soak"])
    parser.add_argument("value", nargs="?", help="of peer: ENV/bin; of soak: minutes")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--postgresql", action="store_true")
    given = parser.parse_args()
    if given.measure == "soak":
        return soak(float(given.value or 30.0))
    if given.measure == "peer":
        _print(peer(Path(given.value or sys.exit("peer: the folder of MLServer's programs is missing")).absolute()))
    if given.measure in ("rates", None):
        _print(_rates(given.workers))
    if given.measure in ("labels", None):
        _print(_labels(given.workers, is_postgresql=given.postgresql))
    return 0


def _print(measures: Iterator[dict[str, Any]]) -> None:
    """Print measures, and keep them in the record."""
    for found in measures:
        print_line(found)
        record_line(found)


def _rates(workers: int) -> Iterator[dict[str, Any]]:
    """Yield how fast a model of 20 trees that has learnt 5,000 records of 8 columns is asked."""
    with _learnt(f"--workers={workers}") as (address, client):
        one = json.dumps({"records": _table(1).drop_columns(["y"]).to_pylist()}).encode()
        kept = _lua("application/json", one, "application/json")
        about = "service" if workers == 1 else f"service, {workers} workers"
        found = _wrk(address, "predict", kept, 16)
        yield {"measure": f"{about}: single predictions", "goal": ">= 1500/s"} | found
        many = _lua(ARROW, _stream(_table(10_000).drop_columns(["y"])), ARROW)
        found = _wrk(address, "predict", many, 2)
        yield (
            {"measure": f"{about}: samples in requests of 10,000, Arrow", "goal": ">= 200000/s"}
            | found
            | {"samples_per_second": found["requests_per_second"] * 10_000}
        )
        idle = _wrk(address, "predict", kept, 4)
        with _learning(client):
            busy = _wrk(address, "predict", kept, 4)
        slow, fast = busy["p99_milliseconds"], idle["p99_milliseconds"]
        measured = {"learning_milliseconds": slow, "idle_milliseconds": fast, "times": slow / fast}
        yield {"measure": f"{about}: 99 % quantile while it learns, 4 connections", "goal": "<= 3"} | measured


@contextmanager
def _learnt(*options: str) -> Iterator[tuple[str, httpx.Client]]:
    """Run a service whose model has learnt, and yield its address and a client."""
    with _serving(*options) as (address, _), httpx.Client(base_url=address, timeout=120) as client:
        client.put(MODEL, json={"target": "y", "parameters": {"random_state": 0}}).raise_for_status()
        body = _stream(_table(N_LEARNT))
        client.post(f"{MODEL}/batches?wait=true", content=body, headers={"content-type": ARROW}).raise_for_status()
        yield address, client


PEER = """
import json, joblib, numpy as np
from sklearn.ensemble import RandomForestClassifier
draws = np.random.default_rng(5000)
X = draws.normal(size=(5000, 8))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
joblib.dump(RandomForestClassifier(20, random_state=0).fit(X, y), "m.joblib")
about = {"name": "made", "implementation": "mlserver_sklearn.SKLearnModel", "parameters": {"uri": "./m.joblib"}}
json.dump(about, open("model-settings.json", "w"))
ports = {"http_port": 18080, "grpc_port": 18081, "metrics_port": 18082}
about = {"host": "127.0.0.1", "parallel_workers": 0, "debug": False}
json.dump(ports | about, open("settings.json", "w"))
"""


def peer(programs: Path) -> Iterator[dict[str, Any]]:
    """Ask MLServer and the service in turns for single predictions by the Open Inference Protocol."""
    values = _table(1).drop_columns(["y"]).to_pylist()[0]
    ours = [{"name": name, "shape": [1], "datatype": "FP64", "data": [value]} for name, value in values.items()]
    theirs = [{"name": "input", "shape": [1, N_FEATURES], "datatype": "FP64", "data": list(values.values())}]
    scripts = [_lua("application/json", json.dumps({"inputs": one}).encode(), "*/*") for one in (ours, theirs)]
    with _learnt() as (address, _), TemporaryDirectory() as folder:
        subprocess.run([programs / "python", "-c", PEER], cwd=folder, check=True)
        server = subprocess.Popen([programs / "mlserver", "start", "."], cwd=folder, stdout=subprocess.DEVNULL)
        try:
            other = "http://127.0.0.1:18080"
            _await(f"{other}/v2/models/made/ready")
            rates: tuple[list[float], list[float]] = [], []
            for _ in range(3):
                for place, (where, script) in enumerate(zip((address, other), scripts, strict=True)):
                    rates[place].append(_wrk(where, "infer", script, 8, "/v2/models/made")["requests_per_second"])
        finally:
            server.terminate()
            server.wait()
    ratios = [one / another for one, another in zip(*rates, strict=True)]
    middle = dict(zip(("per_second", "mlserver_per_second"), map(median, rates), strict=True))
    yield (
        {"measure": "service beside MLServer: single predictions"}
        | middle
        | {
            "times_faster": median(ratios),
            "least_times_faster": min(ratios),
        }
    )


def _await(address: str) -> None:
    """Wait until something answers."""
    for _ in range(600):
        try:
            if httpx.get(address).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    sys.exit(f"{address} does not answer")


def _labels(workers: int, *, is_postgresql: bool, n: int = 1_000, n_requests: int = 40) -> Iterator[dict[str, Any]]:
    """Send labels of records that wait, from two clients at once, 1,000 a request: without and with batches of them."""
    tables = f"{'PostgreSQL' if is_postgresql else 'SQLite'}{f', {workers} workers' if workers > 1 else ''}"
    for measure, settings in (
        ("labels on the disk", {"batch_size": 1_000_000}),
        ("labels on the disk while their batches are learnt", {}),
    ):
        rate = _label_rate(workers, settings, is_postgresql=is_postgresql, n=n, n_requests=n_requests)
        yield {"measure": f"service, {tables}: {measure}", "goal": ">= 10000/s", "labels_per_second": rate}


def _label_rate(workers: int, settings: dict[str, Any], *, is_postgresql: bool, n: int, n_requests: int) -> float:
    """Return how many labels are acknowledged in a second by a model with these settings."""
    table = _table(n).drop_columns(["y"])
    with ExitStack() as held:
        options = [f"--workers={workers}"]
        if is_postgresql:
            sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
            from postgres_server import running_server

            options.append(f"--database={held.enter_context(running_server()).url}")
        address, client = held.enter_context(_learnt(*options))
        client.put(MODEL, json=settings).raise_for_status()
        for number in range(n_requests):
            ids = pa.array([f"{number}-{place}" for place in range(n)])
            body, head = _stream(table.append_column("id", ids)), {"content-type": ARROW, "accept": ARROW}
            client.post(f"{MODEL}/predict?record_id=id", content=body, headers=head).raise_for_status()

        def send(numbers: range) -> None:
            with httpx.Client(base_url=address, timeout=120) as client:
                for number in numbers:
                    labels = {f"{number}-{place}": 1 for place in range(n)}
                    client.post(f"{MODEL}/labels", json={"labels": labels}).raise_for_status()

        begin = time.perf_counter()
        with ThreadPoolExecutor() as pool:
            list(pool.map(send, (range(0, n_requests, 2), range(1, n_requests, 2))))
        return n * n_requests / (time.perf_counter() - begin)


@contextmanager
def _learning(client: httpx.Client) -> Iterator[None]:
    """Let it learn batch after batch meanwhile."""
    is_over = threading.Event()

    def teach() -> None:
        while not is_over.is_set():
            body = _stream(_table(2_000))
            client.post(f"{MODEL}/batches?wait=true", content=body, headers={"content-type": ARROW})

    thread = threading.Thread(target=teach)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _wrk(address: str, path: str, script: str, connections: int, model: str = MODEL) -> dict[str, Any]:
    """Ask as fast as answers come, and return the rate and response times."""
    if shutil.which("wrk") is None:
        sys.exit("wrk is not there: apt-get install wrk")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ask.lua"
        file.write_text(script)
        options = ["-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", "-s", str(file)]
        said = subprocess.run(["wrk", *options, f"{address}{model}/{path}"], capture_output=True, text=True, check=True)
    found = {
        "requests_per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", said.stdout)[1]),  # type: ignore[index]
        "p50_milliseconds": _milliseconds(said.stdout, "50%"),
        "p99_milliseconds": _milliseconds(said.stdout, "99%"),
    }
    if "Non-2xx" in said.stdout:
        found["problem"] = 1.0
    return found


def _milliseconds(said: str, share: str) -> float:
    value, unit = re.search(rf"\s{share}\s+([\d.]+)(us|ms|s)", said).groups()  # type: ignore[union-attr]
    return float(value) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def _lua(content_type: str, body: bytes, accept: str) -> str:
    """Return a script by which wrk sends a body."""
    text = "".join(f"\\{byte:03d}" for byte in body)
    head = f'wrk.headers["Content-Type"] = "{content_type}"\nwrk.headers["Accept"] = "{accept}"\n'
    return f'wrk.method = "POST"\n{head}wrk.body = "{text}"\n'


def _table(n: int) -> pa.Table:
    draws = np.random.default_rng(n)
    X = draws.normal(size=(n, N_FEATURES))
    columns: dict[str, Any] = {f"x{place}": X[:, place] for place in range(N_FEATURES)}
    return pa.table(columns | {"y": (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)})


def _stream(table: pa.Table) -> bytes:
    from adforest.client import as_stream

    return as_stream(table)


@contextmanager
def _serving(*options: str) -> Iterator[tuple[str, Any]]:
    """Run `adforest serve`."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "adforest", "serve", "--data", folder, "--port", "0", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line[line.index("http") :].split()[0].rstrip("/"), process
        finally:
            process.terminate()
            process.wait()


def soak(minutes: float) -> int:
    """Ask, label and teach for some minutes; memory and descriptors, also of the learner, must not grow.

    What the model itself keeps is bounded, so that what grows is a leak. The first look comes after the first batches.
    """
    bounded = {"random_state": 0, "n_estimators": 5, "max_depth": 6, "memory_size": 1_000}
    with _serving() as (address, process), httpx.Client(base_url=address, timeout=120) as client:
        client.put(MODEL, json={"target": "y", "parameters": bounded, "batch_size": 500})
        client.put(MODEL, json={"remember": 20.0, "keep_versions": 2})
        seen, number, end = [], 0, time.monotonic() + 60 * minutes
        while time.monotonic() < end or len(seen) < FEWEST:
            number += 1
            table = _table(50)
            ids = [f"{number}-{place}" for place in range(50)]
            body = {"records": table.drop_columns(["y"]).to_pylist(), "record_ids": ids}
            client.post(f"{MODEL}/predict", json=body).raise_for_status()
            labels = dict(zip(ids, table["y"].to_pylist(), strict=True))
            client.post(f"{MODEL}/labels", json={"labels": labels}).raise_for_status()
            if number % 50 == 0:
                seen.append(np.sum([_held(pid) for pid in _family(process.pid)], axis=0))
    third = len(seen) // 3
    begin, end = np.max(seen[:third], axis=0), np.max(seen[-third:], axis=0)
    told = {"requests": 2 * number, "megabytes_begin": begin[0] / 1e6, "megabytes_end": end[0] / 1e6}
    told |= {"descriptors_begin": int(begin[1]), "descriptors_end": int(end[1])}
    found = {"measure": f"service: {minutes:g} minutes of requests"} | told
    print_line(found)
    if minutes >= LONG_SOAK:
        record_line(found)
    return int(end[0] > 1.1 * begin[0] or end[1] > begin[1] + 5)


def _family(pid: int) -> list[int]:
    """Return a process and those that it started, and so on."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())  # any of them may have started some
        children = [int(one) for thread in threads for one in (thread / "children").read_text().split()]
    except OSError:  # it has ended
        return []
    return [pid, *(found for one in children for found in _family(one))]


def _held(pid: int) -> tuple[int, int]:
    """Return the bytes of memory and the number of descriptors that a process holds."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # it has ended
        return 0, 0


if __name__ == "__main__":
    sys.exit(main())
