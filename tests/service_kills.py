"""``python tests/service_kills.py 300``: kill ``adforest serve`` at random moments under load, and compare.

Clients predict, label and send batches, and ask again until they have an answer. After so many kills all is let come to
rest: every label that was acknowledged is there and was learnt once, every batch that was acknowledged too, and the
model is that of the log learnt in one go by a process that nobody killed. Seeds are printed.
"""

import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

import adforest
from adforest.service.events import TaskAdded
from adforest.service.learner import Learner, Order
from adforest.service.log import read_entries
from adforest.service.store import LOG
from adforest.service.system import RealDisk
from adforest.service.trainer import ForestTrainer
from cli_commands import content
from served import SMALL, Process, as_csv, as_records, client_of, rents, until

M = "/v1/models/rents"
KILLS_A_ROUND = 10


class Asker:
    """A client that asks until it has an answer, whatever becomes of the service meanwhile."""

    def __init__(self, number):
        self.number, self.address, self.is_stopped = number, None, threading.Event()
        self.labels, self.keys, self.problems, self.n_asked = {}, set(), [], 0
        self._thread = threading.Thread(target=self._run)

    def start(self):
        self._thread.start()

    def stop(self):
        self.is_stopped.set()
        self._thread.join()

    def _ask(self, method, path, **more):
        """Ask again and again; None once it is to stop."""
        while not self.is_stopped.is_set():
            try:
                with client_of(self.address or "http://127.0.0.1:1") as client:
                    answer = client.request(method, path, **more)
            except httpx.HTTPError:
                time.sleep(0.05)
                continue
            if answer.status_code in (429, 503, 507):
                time.sleep(0.05)
                continue
            self.n_asked += 1
            if answer.status_code >= 400:
                self.problems.append(f"{method} {path}: {answer.status_code} {answer.text}")
            return answer
        return None

    def _run(self):
        step = 0
        while not self.is_stopped.is_set():
            step += 1
            table = rents(3, 1000 * self.number + step)
            ids = [f"c{self.number}-{step}-{place}" for place in range(3)]
            labels = dict(zip(ids, table["rent"].to_pylist(), strict=True))
            if self._ask("POST", f"{M}/predict", json={"records": as_records(table), "record_ids": ids}) is None:
                return
            if self._ask("POST", f"{M}/labels", json={"labels": labels}) is not None:
                self.labels |= labels
            if step % 5 == 0:
                key, head = f"k{self.number}-{step}", {"content-type": "text/csv"}
                body = as_csv(rents(10, 7 * step))
                if self._ask("POST", f"{M}/batches", content=body, headers=head | {"idempotency-key": key}) is not None:
                    self.keys.add(key)


def survive(folder, n_kills, draws, n_clients=3):
    """Kill a service so many times, let it come to rest, and return what went wrong and how much was asked."""
    process = Process(folder)
    with client_of(process.address) as client:
        client.put("/v1/models/rents", json={"target": "rent", "parameters": SMALL, "batch_size": 10})
    askers = [Asker(number) for number in range(n_clients)]
    for one in askers:
        one.address = process.address
        one.start()
    for _ in range(n_kills):
        time.sleep(draws.choice([0.1, 1.0, 3.0]) * draws.random())
        process.kill()
        process = Process(folder)
        for one in askers:
            one.address = process.address
    time.sleep(1.0)
    for one in askers:
        one.stop()
    problems = [problem for one in askers for problem in one.problems]
    problems += at_rest(process, askers)
    code, said = process.stop()
    problems += [] if code in (0, -15, 143) and "Traceback" not in said else [f"it ended with {code}: {said}"]
    problems += compare_with_replay(folder)
    return problems, sum(one.n_asked for one in askers)


def at_rest(process, askers):
    """Return which acknowledged labels and batches are not there once nothing waits any more."""
    with client_of(process.address) as client:
        client.put("/v1/models/rents", json={"batch_seconds": 0.1})
        time.sleep(0.2)
        client.put("/v1/models/rents/records/last/label", json={"label": "low"})

        def is_at_rest():
            found = client.get("/v1/models/rents").json()
            return not found["batches_waiting"] and not found["records"].get("labelled")

        until(is_at_rest, 60)
        problems = []
        for one in askers:
            for record_id, label in one.labels.items():
                found = client.get(f"{M}/records/{record_id}").json()
                if (found.get("state"), found.get("label")) != ("learnt", label):
                    problems.append(f"{record_id} is {found}, {label} was acknowledged")
    return problems


def compare_with_replay(folder):
    """Learn the log in one go, and return what differs: the model, records learnt twice, batches that are not there."""
    disk, replayed = RealDisk(), Path(tempfile.mkdtemp(prefix="replay-"))
    service = folder / "rents.adf.service"
    trainer = ForestTrainer()
    log_id = trainer.unpack((folder / "rents.adf").read_bytes(), "rents.adf")[1].log_id
    learner = Learner(disk, replayed / "rents.adf", service, trainer, "rent", log_id)
    seen, keys, number = [], [], 0
    for entry in read_entries(disk, service / LOG):
        if entry.kind == TaskAdded.kind:
            event, number = TaskAdded.read(entry.payload), number + 1
            seen += event.ids
            keys += [event.key[0]] if event.key else []
            learner.run(Order(number, entry.position, event.task, event.note, SMALL, None, 10))
    problems = []
    if len(set(seen)) != len(seen) or len(set(keys)) != len(keys):
        problems.append("records or batches are in the log twice")
    if content(folder / "rents.adf") != content(replayed / "rents.adf"):
        problems.append("the model differs from that of a run that nobody killed")
    n_batches = adforest.load(folder / "rents.adf")._model.n_batches
    if n_batches != number:
        problems.append(f"{number} batches are in the log, {n_batches} were learnt")
    shutil.rmtree(replayed)
    return problems


def main(n_kills, seed):
    """Kill that many times, and print what came of each round."""
    print(f"seed {seed}", flush=True)
    draws, n_done, n_failed = random.Random(seed), 0, 0
    while n_done < n_kills:
        folder = Path(tempfile.mkdtemp(prefix="kills-"))
        now = min(KILLS_A_ROUND, n_kills - n_done)
        problems, n_asked = survive(folder, now, draws)
        n_done, n_failed = n_done + now, n_failed + bool(problems)
        told = "; ".join(problems[:3]) or "nothing lost, the same model"
        print(f"{n_done} kills, {n_asked} requests answered: {told}", flush=True)
        if not problems:
            shutil.rmtree(folder)
    return n_failed


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**31)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, chosen) > 0)
