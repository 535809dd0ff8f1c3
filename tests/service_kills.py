"""``python tests/service_kills.py 300``: kill ``adforest serve`` at random moments under load, and compare.

Clients predict, label and send batches, and ask again until they have an answer. After each kill the labels that were
acknowledged are there, and the model is that of the log learnt by a process that nobody killed, as far as it got.
After some kills all is let come to rest: every label was learnt once, every batch too, and each batch after the first
one has made an alert, which arrived once or with the same id again. Segments of the log are small
and dropped meanwhile; links keep them for the comparison. Seeds are printed. ``--workers 2`` serves with two workers.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx

from adforest.service.events import TaskAdded
from adforest.service.learner import Learner, Order
from adforest.service.log import read_entries
from adforest.service.store import LOG
from adforest.service.system import RealDisk
from adforest.service.trainer import ForestTrainer
from alert_receivers import rule, rules
from cli_commands import content
from served import SMALL, Process, as_csv, as_records, client_of, rents, until

M = "/v1/models/rents"
KILLS_A_ROUND = 10
SMALL_SEGMENTS = {"ADFOREST_SEGMENT_BYTES": "20000"}


class Shadow:
    """The same log, with all segments that were ever there, learnt by a process that nobody kills.

    Parameters
    ----------
    folder : Path
        Of the service.
    """

    def __init__(self, folder):
        self._model, self._log = folder / "rents.adf", folder / "rents.adf.service" / LOG
        self._folder = folder.with_name(f"{folder.name}-shadow")
        (self._folder / LOG).mkdir(parents=True)
        self._learner, self._position = None, 0
        self.seen, self.keys, self.number, self.is_stopped = [], [], 0, threading.Event()
        self._thread = threading.Thread(target=self._link_all, daemon=True)
        self._thread.start()

    def _link_all(self):
        """Link each segment before it is dropped, which takes two batches more."""
        while not self.is_stopped.wait(0.01):
            self._link()

    def _link(self):
        for name in os.listdir(self._log) if self._log.is_dir() else []:
            with suppress(FileExistsError, FileNotFoundError):
                os.link(self._log / name, self._folder / LOG / name)

    def compare(self):
        """Return what differs in the model that the service has on the disk, once it does not run."""
        self._link()
        if not self._model.exists():
            return []
        trainer = ForestTrainer()
        place = trainer.unpack(self._model.read_bytes(), "rents.adf")[1]
        own = self._folder / "rents.adf"
        if self._learner is None:
            self._learner = Learner(RealDisk(), own, self._folder, trainer, "rent", place.log_id)
        for entry in read_entries(RealDisk(), self._folder / LOG, self._position, place.position):
            self._position = entry.position
            if entry.kind == TaskAdded.kind:
                event, self.number = TaskAdded.read(entry.payload), self.number + 1
                self.seen += event.ids
                self.keys += [event.key[0]] if event.key else []
                self._learner.run(Order(self.number, entry.position, event.task, event.note, SMALL, None, 10))
        problems = []
        if len(set(self.seen)) != len(self.seen) or len(set(self.keys)) != len(self.keys):
            problems.append("records or batches are in the log twice")
        if place.version != self.number:
            problems.append(f"{self.number} batches are in the log, {place.version} were learnt")
        elif content(self._model) != content(own):
            problems.append(f"version {place.version} differs from that of a run that nobody killed")
        return problems

    def stop(self):
        """Stop, and return how many segments there were."""
        self.is_stopped.set()
        self._thread.join()
        n = len(os.listdir(self._folder / LOG))
        shutil.rmtree(self._folder)
        return n


class Asker:
    """A client that asks until it has an answer, whatever becomes of the service meanwhile."""

    def __init__(self, number):
        self.number, self.address, self.is_stopped = number, None, threading.Event()
        self.labels, self.keys, self.problems, self.n_asked, self.n_checked = {}, set(), [], 0, 0
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


def survive(folder, n_kills, draws, n_clients=3, options=()):
    """Kill a service so many times, let it come to rest, and return what went wrong and how much was asked."""

    received = folder.with_name(f"{folder.name}-alerts")
    text = rule("log loss above", limit=0, repeat=True) + f"[[deliver]]\ncommand = 'sh -c \"cat >> {received}\"'\n"
    file = rules(folder, text)

    def start():
        return Process(folder, "--alerts", str(file), *options, environment=SMALL_SEGMENTS)

    process = start()
    with client_of(process.address) as client:
        client.put("/v1/models/rents", json={"target": "rent", "parameters": SMALL, "batch_size": 10})
    shadow, problems = Shadow(folder), []
    askers = [Asker(number) for number in range(n_clients)]
    for one in askers:
        one.address = process.address
        one.start()
    for _ in range(n_kills):
        n_before = sum(one.n_asked for one in askers)
        if draws.random() < 0.8:  # else it may be killed while it starts
            until(lambda n_before=n_before: sum(one.n_asked for one in askers) > n_before, 60)
        time.sleep(draws.choice([0.1, 1.0, 3.0]) * draws.random())
        process.kill()
        problems += shadow.compare()
        process = start()
        problems += acknowledged(process, askers)
        for one in askers:
            one.address = process.address
    time.sleep(1.0)
    for one in askers:
        one.stop()
    problems += [problem for one in askers for problem in one.problems]
    problems += at_rest(process, askers)
    code, said = process.stop()
    problems += [] if code in (0, -15, 143) and "Traceback" not in said else [f"it ended with {code}: {said}"]
    problems += shadow.compare()
    problems += alerted(received, shadow.number)
    missing = set().union(*(one.keys for one in askers)) - set(shadow.keys)
    problems += [f"batches {missing} were acknowledged, and are not in the log"] if missing else []
    n_segments, n_left = shadow.stop(), len(os.listdir(folder / "rents.adf.service" / LOG))
    if shadow.number > 20 and n_left == n_segments:
        problems.append("no segment was dropped")
    return problems, sum(one.n_asked for one in askers)


def alerted(received, n_batches):
    """Return which batches made no alert, or different ones."""
    alerts = [json.loads(line) for line in received.read_text().splitlines()]
    received.unlink()
    ids = {(one["batch"], one["id"]) for one in alerts}
    if sorted(batch for batch, _ in ids) == list(range(2, n_batches + 1)) and len({one for _, one in ids}) == len(ids):
        return []
    return [f"{n_batches} batches made {len(ids)} alerts, which arrived {len(alerts)} times"]


def acknowledged(process, askers):
    """Return which labels that were acknowledged since this was called last are not there."""
    problems = []
    with client_of(process.address) as client:
        for one in askers:
            for record_id in list(one.labels)[one.n_checked :]:
                found = client.get(f"{M}/records/{record_id}").json()
                if found.get("state") not in ("labelled", "learnt") or found.get("label") != one.labels[record_id]:
                    problems.append(f"{record_id} is {found} after a kill")
                one.n_checked += 1
    return problems


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
        until(lambda: 'alerts_waiting{model="rents"} 0.0' in client.get("/metrics").text, 60)
        problems = []
        for one in askers:
            for record_id, label in one.labels.items():
                found = client.get(f"{M}/records/{record_id}").json()
                if (found.get("state"), found.get("label")) != ("learnt", label):
                    problems.append(f"{record_id} is {found}, {label} was acknowledged")
    return problems


def main(n_kills, seed, options):
    """Kill that many times, and print what came of each round."""
    print(f"seed {seed}", flush=True)
    draws, n_done, n_failed = random.Random(seed), 0, 0
    while n_done < n_kills:
        folder = Path(tempfile.mkdtemp(prefix="kills-"))
        now = min(KILLS_A_ROUND, n_kills - n_done)
        problems, n_asked = survive(folder, now, draws, options=options)
        n_done, n_failed = n_done + now, n_failed + bool(problems)
        told = "; ".join(problems[:3]) or "nothing lost, the same model"
        print(f"{n_done} kills, {n_asked} requests answered: {told}", flush=True)
        if not problems:
            shutil.rmtree(folder)
    return n_failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int, nargs="?", default=300)
    parser.add_argument("seed", type=int, nargs="?", default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--workers", default="1")
    given = parser.parse_args()
    sys.exit(main(given.kills, given.seed, ("--workers", given.workers)) > 0)
