"""The service in a simulated world: one seed decides what clients ask, which messages are lost or come twice, when the
disk fails, when the machine crashes and what a crash leaves of what was not synced, and how the clock jumps.

``python tests/simulated_service.py 2000`` runs that many seeds; ``python tests/simulated_service.py 1 SEED`` one again.
"""

from __future__ import annotations

import errno
import json
import random
import sqlite3
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from adforest.exceptions import ModelFileError
from adforest.service.events import TaskAdded
from adforest.service.learner import Learner
from adforest.service.log import LogError, read_entries
from adforest.service.orders import order_for
from adforest.service.requests import AddTask, ChangeRecord, KeepRecords, SetLabels
from adforest.service.settings import ModelSettings, label_text
from adforest.service.store import LOG, SETTINGS, Store, StoreFullError
from adforest.service.trainer import LearntThrough
from sequential_records import Expectation

FOLDER, MODEL = Path("/data/m.adf.service"), Path("/data/m.adf")
LABELS = ("low", "mid", "high")


class CrashError(BaseException):
    """The machine stops."""


class SimulatedFile:
    def __init__(self, disk, path):
        self._disk, self._path = disk, path

    def write(self, content):
        try:
            self._disk.step("write")
        except OSError:
            self._disk.files[self._path] += content[: self._disk.draws.randrange(len(content) + 1)]
            raise
        self._disk.files[self._path] += content

    def sync(self):
        try:
            self._disk.step("sync")
        except OSError:
            # What could not be written is read on, and the system takes it for written: the next sync leaves it out.
            self._disk.tear(self._path)
            self._disk.dropped[self._path] = len(self._disk.files[self._path])
            raise
        content, n = self._disk.files[self._path], self._disk.dropped.get(self._path, 0)
        self._disk.synced[self._path] = self._disk.synced.get(self._path, b"")[:n].ljust(n, b"\0") + content[n:]

    def rewrite(self, begin, content):
        assert self._disk.files[self._path][begin:] == content
        self._disk.step("write")
        self._disk.dropped[self._path] = min(begin, self._disk.dropped.get(self._path, 0))

    def close(self):
        pass


class SimulatedDatabase(sqlite3.Connection):
    """SQLite in memory; what is committed is on the simulated disk at once, or the commit fails."""

    disk = path = None

    def execute(self, query, *arguments):
        if self.disk is not None and query == "COMMIT":
            try:
                self.disk.step("commit")
            except OSError as error:
                problem = sqlite3.OperationalError("database or disk is full, or its disk has errors")
                full = error.errno == errno.ENOSPC
                problem.sqlite_errorcode = sqlite3.SQLITE_FULL if full else sqlite3.SQLITE_IOERR_FSYNC
                raise problem from error
            found = super().execute(query, *arguments)
            self.disk.synced[self.path] = self.disk.files[self.path] = self.serialize()
            self.disk.step("committed", may_fail=False)
            return found
        return super().execute(query, *arguments)


class SimulatedDisk:
    """Files in memory: as they are read, and as a crash would leave them.

    Parameters
    ----------
    draws : random.Random
    crash_at, fail_at : set of int
        Numbers of the steps before which the machine crashes, or at which the disk fails.
    """

    def __init__(self, draws, crash_at=(), fail_at=()):
        self.draws, self.crash_at, self.fail_at = draws, set(crash_at), set(fail_at)
        self.files, self.synced, self.folders, self.steps = {}, {}, set(), []
        self.dropped = {}  # by file: through which byte a sync that failed was the last one

    def step(self, name, *, may_fail=True):
        self.steps.append(name)
        if len(self.steps) in self.crash_at:
            raise CrashError(name)
        if may_fail and len(self.steps) in self.fail_at:
            raise OSError(self.draws.choice([errno.ENOSPC, errno.EIO]), "the simulated disk failed")

    def tear(self, path):
        """Keep an arbitrary part of what was not synced, pages of it in any order."""
        synced, rest = self.synced.get(path, b""), self.files[path][len(self.synced.get(path, b"")) :]
        rest = bytearray(rest[: self.draws.randrange(len(rest) + 1)])
        if rest and self.draws.random() < 0.5:
            start = self.draws.randrange(len(rest))
            rest[start : start + 512] = bytes(len(rest[start : start + 512]))
        self.synced[path] = synced + bytes(rest)

    def crash(self):
        """Leave what a crash leaves."""
        for path in list(self.files):
            if self.files[path] != self.synced.get(path, b""):
                self.tear(path)
        self.files = dict(self.synced)
        self.dropped.clear()

    def make_folder(self, path):
        self.folders.add(path)

    def names(self, path):
        return sorted(one.name for one in self.files if one.parent == path)

    def exists(self, path):
        return path in self.files

    def read(self, path):
        if path not in self.files:
            raise FileNotFoundError(path)
        if path.suffix == MODEL.suffix:
            self.step("read")
        return self.files[path]

    def append(self, path, size):
        self.step("open")
        if path not in self.files or len(self.files[path]) != size:
            self.files[path] = self.files.get(path, b"")[:size]
            self.synced[path] = self.synced.get(path, b"")[:size]
            self.dropped[path] = min(size, self.dropped.get(path, 0))
        return SimulatedFile(self, path)

    def replace(self, path, content):
        self.step("replace")
        self.files[path] = self.synced[path] = b"".join(map(bytes, content))
        self.step("replaced", may_fail=False)

    def link(self, path, name):
        self.step("link")
        if name not in self.files:
            self.files[name] = self.synced[name] = self.files[path]

    def remove(self, path):
        if path in self.files:
            self.step("remove")
            del self.files[path], self.synced[path]

    def database(self, path, schema):
        database = sqlite3.connect(":memory:", isolation_level=None, factory=SimulatedDatabase)
        if path in self.files:
            database.deserialize(self.files[path])
        database.disk, database.path = self, path
        return database


class SimulatedClock:
    def __init__(self):
        self.time = 1e9

    def now(self):
        return self.time


class ListTrainer:
    """Models that remember what they were taught: a list of batches, each a list of (value, label)."""

    def new(self, parameters):
        return []

    def learn(self, model, table, target):
        if table["v"].to_pylist()[0] == -1:
            raise ValueError("a batch that cannot be learnt")
        model.append(list(zip(table["v"].to_pylist(), table[target].to_pylist(), strict=True)))
        return len(model), {}

    def set_parameters(self, model, parameters):
        pass

    def pack(self, model, place, target, batch):
        return [json.dumps([list(place), model]).encode()]

    def unpack(self, content, name):
        try:
            place, model = json.loads(content)
        except ValueError as error:
            raise ModelFileError(name) from error
        return model, LearntThrough(*place)

    def n_batches(self, model):
        return len(model)

    def last_report(self, model):
        return {}


@dataclass
class Sent:
    """A request of a client, and what came back."""

    change: object
    about: tuple = ()
    answers: list = field(default_factory=list)


class World:
    """One run.

    Parameters
    ----------
    seed : int
    n_actions : int
    trainer : Trainer
    crash_at, fail_at : set of int, optional
        Steps of the disk at which to crash or fail; drawn from the seed by default.
    """

    def __init__(self, seed, n_actions=120, trainer=None, crash_at=None, fail_at=None, disk=SimulatedDisk):
        self.draws = random.Random(seed)
        horizon = n_actions // 2  # about as many steps has the disk
        is_calm = crash_at is not None or fail_at is not None
        crashes = {self.draws.randrange(1, horizon) for _ in range(self.draws.randrange(6))}
        faults = {self.draws.randrange(1, horizon) for _ in range(self.draws.choice([0, 0, 1, 3]))}
        self.disk = disk(self.draws, (crash_at or ()) if is_calm else crashes, (fail_at or ()) if is_calm else faults)
        self.clock, self.trainer = SimulatedClock(), trainer or ListTrainer()
        self.segment_bytes = self.draws.choice([1 << 40, 2_000, 20_000])
        batch_seconds, wait = self.draws.choice([None, 50.0]), self.draws.choice([200.0, 1e6])
        default = self.draws.choice([None, None, "mid"])
        self.settings = ModelSettings(
            "y", {"random_state": 0}, self.draws.choice([1, 3, 7]), batch_seconds, wait, default, 1e7, 3, log_id="log"
        )
        self.disk.files[FOLDER / SETTINGS] = self.disk.synced[FOLDER / SETTINGS] = self.settings.dumped()
        self.n_actions, self.n_crashes, self.n_failures = n_actions, 0, 0
        self.values, self.sent, self.wires, self.inbox, self.versions = {}, [], [], [], {0}
        self.store = self.learner = None
        self.closed, self.made, self.expected = {}, {}, Expectation(self.settings)
        self.max_tasks = self.draws.choice([2, 1_000])

    def run(self):
        """Act, then let all come to rest without faults, and check."""
        for _ in range(self.n_actions):
            self._survive(self.draws.choices([self._ask, self._deliver, self._serve, self._learn, self._wait],
                                             [4, 6, 5, 3, 1])[0])  # fmt: skip
        self.n_steps = len(self.disk.steps)
        self.disk.crash_at, self.disk.fail_at = set(), set()
        for _ in range(10 * self.n_actions):
            self._survive(self._serve)
            if not self._survive(self._learn) and not self.inbox:
                break
        self.check()
        return self

    def _survive(self, action):
        """Act; after a crash, or an error that ends the process, start it again, which may crash too."""
        try:
            if self.store is None:
                self._start()
            if self.learner is None:
                self._open_learner()
            return action()
        except (CrashError, LogError) as error:
            self.n_crashes += 1
            if isinstance(error, CrashError) and self.draws.random() < 0.5:
                self.disk.crash()  # else the process alone was killed: what it wrote is read, and may not be synced
            self.store = self.learner = None
            self.inbox.clear()
        except (OSError, StoreFullError, ModelFileError, sqlite3.OperationalError):
            self.n_failures += 1
        return True

    def _start(self):
        self.store = Store(self.disk, self.clock, FOLDER, self.segment_bytes)
        self._read_log()
        self.expected.compare(self.store, self._ended())

    def _open_learner(self):
        learner = Learner(self.disk, MODEL, FOLDER, self.trainer, "y", "log")
        found = learner.open(has_challenger=False)
        if found is None:
            self.store.open_task(0, None, None)
        else:
            self.store.open_task(learner.learnt_through.version, found.batch, found.report)
            self._note_version()
        self.learner = learner

    def _id(self):
        return f"r{self.draws.randrange(12)}"

    def _ask(self):
        """Let a client ask something, or ask again what it had no answer to."""
        again = [one for one in self.sent if not one.answers]
        if again and self.draws.random() < 0.3:
            self.wires.append(self.draws.choice(again))
            return
        kind = self.draws.choices(["keep", "label", "labels", "withdraw", "activate", "batch", "rollback"],
                                  [6, 6, 2, 1, 2, 1, 0.3])[0]  # fmt: skip
        one = getattr(self, f"_ask_{kind}")()
        self.sent.append(one)
        self.wires.append(one)

    def _ask_keep(self):
        ids = sorted({self._id() for _ in range(self.draws.choice([1, 1, 3]))}, key=lambda _: self.draws.random())
        values = [self.values.setdefault(one, len(self.values)) for one in ids]
        values = [value if self.draws.random() < 0.95 else 500 + value for value in values]
        active = self.draws.random() < 0.8
        return Sent(KeepRecords(ids, pa.table({"v": values}), active), ("keep", ids, values, active))

    def _ask_label(self):
        return self._labels([self._id()])

    def _ask_labels(self):
        return self._labels(sorted({self._id() for _ in range(4)}))

    def _labels(self, ids):
        pairs = [
            (one, label_text(self.draws.choice(LABELS[:2] if self.draws.random() < 0.8 else LABELS))) for one in ids
        ]
        revise = self.draws.random() < 0.15
        return Sent(SetLabels(pairs, revise), ("label", pairs, revise))

    def _ask_withdraw(self):
        one = self._id()
        return Sent(ChangeRecord("withdraw", one), ("withdraw", one))

    def _ask_activate(self):
        one = self._id()
        return Sent(ChangeRecord("activate", one), ("activate", one))

    def _ask_batch(self):
        key = f"k{self.draws.randrange(5)}"
        value = -1 if key == "k4" else 1000 + int(key[1:])
        return Sent(AddTask("batch", {}, pa.table({"v": [value], "y": ["low"]}), key), ("batch", key, [(value, "low")]))

    def _ask_rollback(self):
        return Sent(AddTask("rollback", {"version": self.draws.choice(sorted(self.versions))}), ("rollback",))

    def _deliver(self):
        """Let a message arrive, or be lost, or arrive and come again later."""
        if self.wires:
            one = self.wires.pop(self.draws.randrange(len(self.wires)))
            luck = self.draws.random()
            if luck > 0.1:
                self.inbox.append(one)
            if luck > 0.9 and one.about[0] != "rollback":
                self.wires.append(one)

    def _serve(self):
        """Do what has arrived, in groups; some answers are lost."""
        group, self.inbox = self.inbox[:5], self.inbox[5:]
        abouts, ended, answers = [one.about for one in group], self._ended(), None
        try:
            answers = self.store.commit([one.change for one in group])
        finally:
            self.expected.commit(self.store, abouts, self.store.now(), ended, answers)
        self._read_log()
        for one, answer in zip(group, answers, strict=True):
            if self.draws.random() > 0.1:
                one.answers.append(answer)
        is_done = False
        try:
            self.store.close_batches(self.max_tasks)
            is_done = True
        finally:
            self.expected.close_batches(self.store, self.store.now(), self.max_tasks, ended, is_done=is_done)

    def _ended(self):
        """Return the state of each task that has ended."""
        return {one.number: one.state for one in self.store.state.tasks.last(10_000) if one.state != "waiting"}

    def _learn(self):
        """Do one task."""
        task = self.store.next_task()
        self._read_log()
        if task is None:
            return False
        learner, self.learner = self.learner, None
        outcome = learner.run(order_for(task, self.store))  # where this fails another learner is opened
        self.learner = learner
        self.store.end_task(task.number, outcome.state, outcome.batch, outcome.report)
        self._note_version()
        return True

    def _note_version(self):
        """Predict with the model in the file: its version is not an earlier one, and always the same model."""
        if MODEL in self.disk.files:
            model, place = self.trainer.unpack(self.disk.files[MODEL], "m")
            assert place.version >= max(self.versions), "a version came after a later one"
            assert self.made.setdefault(place.version, content_of(model)) == content_of(model), "a version was changed"
            self.versions.add(place.version)

    def _wait(self):
        self.clock.time += self.draws.choice([1.0, 60.0, 60.0, 300.0, -500.0])

    def check(self):
        """Compare what came of all this with what was acknowledged."""
        self.expected.compare(self.store, self._ended())
        assert not self.store.state.tasks.n_waiting()
        model, _ = self.trainer.unpack(self.disk.files[MODEL], "m") if MODEL in self.disk.files else ([], None)
        (expected,) = self.expected.candidates
        batches = {one.position: one.number for one in self.store.state.tasks.last(10_000) if one.kind == "batch"}
        assert batches.keys() == self.closed.keys()
        for position, number in batches.items():
            rows = self.closed[position]
            assert rows == expected.tasks[number - 1][1], f"batch {number} has {rows}, not {expected.tasks[number - 1]}"
        rows = {tuple(row) for rows in self.closed.values() for row in rows}
        for pair in [row for batch in model for row in batch]:
            assert tuple(pair) in rows, f"learnt from nowhere: {pair}"
        if self.segment_bytes == 1 << 40:
            self._compare_with_replay(model)

    def _read_log(self):
        """Remember the batches that were closed since this was last called: segments are dropped later."""
        for entry in read_entries(self.disk, FOLDER / LOG, max(self.closed, default=0)):
            if entry.kind == TaskAdded.kind and len(table := TaskAdded.read(entry.payload).table):
                self.closed[entry.position] = list(zip(table["v"].to_pylist(), table["y"].to_pylist(), strict=True))

    def _compare_with_replay(self, model):
        """Learn the whole log anew: the model must be the same, bit for bit."""
        disk = SimulatedDisk(random.Random(0))
        for path, content in self.disk.files.items():
            if path.parent == FOLDER / LOG:
                disk.files[path] = disk.synced[path] = content
        learner = Learner(disk, MODEL, FOLDER, self.trainer, "y", "log")
        for task in reversed(self.store.state.tasks.last(10_000)):
            if task.kind == "rollback" and task.state == "refused":
                continue
            learner.run(order_for(task, self.store)._replace(keep_versions=10_000))
        assert disk.files.get(MODEL) == self.disk.files.get(MODEL), "the model is not that of a run without crashes"


def content_of(model):
    """Return what a simple model learnt, as text that no later batch changes."""
    return json.dumps(model) if isinstance(model, list) else ""


def main(n_seeds, first):
    """Run seeds, and print what they met."""
    begin, totals = time.perf_counter(), [0, 0, 0]
    for seed in range(first, first + n_seeds):
        try:
            world = World(seed).run()
        except BaseException:
            print(f"seed {seed} failed")
            raise
        totals = [a + b for a, b in zip(totals, (world.n_crashes, world.n_failures, len(world.sent)), strict=True)]
    print(
        f"{n_seeds} seeds from {first}: {totals[0]} crashes, {totals[1]} failures of the disk, {totals[2]} requests, "
        f"{time.perf_counter() - begin:.0f} s; nothing acknowledged was lost or learnt twice"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
