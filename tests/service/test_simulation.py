"""The service in a simulated world; `make simulate` runs thousands of seeds."""

import random

import pyarrow as pa
import pytest

import adforest.service.learner
from adforest.exceptions import ModelFileError
from adforest.service.events import RecordsKept, TaskAdded
from adforest.service.learner import Learner, Order
from adforest.service.log import Log
from adforest.service.record_table import OVER, RecordTable
from adforest.service.requests import ChangeRecord, SetLabels
from adforest.service.store import LOG, Store
from adforest.service.trainer import ForestTrainer
from simulated_service import FOLDER, MODEL, ListTrainer, World


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_nothing_acknowledged_is_lost_or_learnt_twice(first):
    for seed in range(first, first + 20):
        World(seed).run()


def test_the_machine_crashes_before_every_step_once_and_at_the_first_steps_of_the_recovery():
    n_steps = World(7, 150, crash_at=()).run().n_steps
    assert n_steps > 50
    for step in range(1, n_steps + 1):
        world = World(7, 150, crash_at={step, step + 2, step + 3}).run()
        assert world.n_crashes


def test_every_write_sync_rename_and_commit_fails_once():
    world = World(23, 100, fail_at=()).run()
    steps = world.disk.steps[: world.n_steps]
    assert {"write", "sync", "replace", "commit", "open", "link", "remove"} <= set(steps)
    for step in range(1, len(steps) + 1):
        World(23, 100, fail_at={step}).run()


def test_steps_that_follow_a_failure_or_a_crash_fail_as_well():
    n_steps = World(23, 100, fail_at=()).run().n_steps
    for step in range(1, n_steps + 1):
        for more in ({1}, {2}, {1, 2}):
            World(23, 100, fail_at={step, *(step + one for one in more)}).run()
        World(23, 100, crash_at={step}, fail_at={step + 1, step + 2, step + 3}).run()


@pytest.mark.parametrize("left", ["a version", "a version and a damaged file", "nothing"])
def test_a_learner_whose_file_is_gone_does_not_begin_anew(left):
    world = World(0, 10, crash_at=())
    learner = Learner(world.disk, MODEL, FOLDER, world.trainer, "y", "log")
    log = Log(world.disk, FOLDER / LOG)
    for number, value in enumerate([1, 2, -1], 1):
        log.append(TaskAdded.kind, TaskAdded("batch", pa.table({"v": [value], "y": ["low"]}), {}, (), 0.0).payload())
        log.sync()
        order = Order(number, number, "batch", {}, {}, None, 3)
        if number < 3:
            assert learner.run(order).batch == number
    world.disk.remove(MODEL)
    if "damaged" in left:
        world.disk.replace(MODEL, [b"damaged"])
    if left == "nothing":
        for name in world.disk.names(MODEL.with_name("m.adf.versions")):
            world.disk.remove(MODEL.with_name("m.adf.versions") / name)
    with pytest.raises(ModelFileError, match="expected version 2"):
        learner.run(order)
    again = Learner(world.disk, MODEL, FOLDER, world.trainer, "y", "log")
    found = again.open(has_challenger=False)
    assert found is None if left == "nothing" else found.batch == 1


class UniformForests(ForestTrainer):
    """Forests whose reports hold no times, so that their files can be compared byte for byte."""

    def learn(self, model, table, target):
        found = super().learn(model, table, target)
        without_times(model)
        return found


def without_times(model):
    from dataclasses import replace

    from adforest.base import get_fitted, set_fitted

    known = get_fitted(model)
    track = known.track
    reports = [replace(one, seconds=0.0, learnt_at=None) for one in track.history.reports]
    track = replace(track, history=replace(track.history, reports=type(track.history.reports)(reports)))
    set_fitted(model, replace(known, track=track))


class ForestWorld(World):
    """A world whose models are forests: only their bytes are compared, with those of a run of the log in one go."""

    def check(self):
        assert self.disk.exists(MODEL)
        self._compare_with_replay(None)


@pytest.mark.parametrize("seed", [0, 5, 6, 7])
def test_a_forest_that_crashes_is_byte_for_byte_the_one_that_does_not(seed):
    world = ForestWorld(seed, 200, UniformForests())
    world.segment_bytes = 1 << 40
    world.run()
    assert world.n_crashes


def break_sync(monkeypatch):
    monkeypatch.setattr("simulated_service.SimulatedFile.sync", lambda self: self._disk.step("sync"))


def break_opening(monkeypatch):
    monkeypatch.setattr("simulated_service.SimulatedFile.rewrite", lambda self, begin, content: None)


def break_catching_up(monkeypatch):
    def skip(self):
        self._applied = self.log.position

    monkeypatch.setattr(Store, "_catch_up", skip)


def break_waiting(monkeypatch):
    real = adforest.service.learner.Learner.run

    def run(self, order):
        self.learnt_through = self.learnt_through._replace(version=0)
        return real(self, order)

    monkeypatch.setattr(adforest.service.learner.Learner, "run", run)


def break_keeping(monkeypatch):
    real = RecordsKept.apply
    monkeypatch.setattr(
        RecordsKept, "apply", lambda self, state, position: None if position % 3 == 0 else real(self, state, position)
    )


def break_conflicts(monkeypatch):
    real = SetLabels._outcome

    def outcome(self, known, label):
        is_other = known is not None and known.label not in (None, label)
        is_open = is_other and known.state not in OVER and known.task is None
        return "revised" if is_open else real(self, known, label)

    monkeypatch.setattr(SetLabels, "_outcome", outcome)


def break_changing(monkeypatch, what):
    real = ChangeRecord.event

    def event(self, state, now):
        found = real(self, state, now)
        return None if self.what == what else found

    monkeypatch.setattr(ChangeRecord, "event", event)


def break_withdrawing(monkeypatch):
    break_changing(monkeypatch, "withdraw")


def break_activating(monkeypatch):
    break_changing(monkeypatch, "activate")


def break_order(monkeypatch):
    real = RecordTable.ready
    monkeypatch.setattr(RecordTable, "ready", lambda self, limit: real(self, limit)[::-1])


def break_versions(monkeypatch):
    real = ListTrainer.learn

    def learn(self, model, table, target):
        found = real(self, model, table, target)
        model[-1] = model[-1] * self.draws.choice([1, 2])  # another model when it is learnt again
        return found

    monkeypatch.setattr(ListTrainer, "draws", random.Random(0), raising=False)
    monkeypatch.setattr(ListTrainer, "learn", learn)


HARD = [break_sync, break_opening, break_catching_up, break_waiting]  # a crash must be at one moment
EASY = [break_keeping, break_conflicts, break_withdrawing, break_activating, break_order, break_versions]


@pytest.mark.parametrize(("fault", "n_seeds"), [(one, 400) for one in HARD] + [(one, 60) for one in EASY])
def test_the_simulation_finds_planted_faults(fault, n_seeds, monkeypatch):
    fault(monkeypatch)
    assert any(map(goes_wrong, range(n_seeds)))


def goes_wrong(seed):
    try:
        World(seed).run()
    except Exception:
        return True
    return False
