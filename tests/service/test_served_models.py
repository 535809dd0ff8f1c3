"""Models of a folder: what a start leaves alone, and requests whose client went away."""

import sqlite3
import threading
from concurrent.futures import Future
from typing import ClassVar

import pytest

import adforest
from adforest.service import learning_process, served_model
from adforest.service.learner import Outcome
from adforest.service.learning_process import RETRY, LearningProcess
from adforest.service.log import LogError
from adforest.service.requests import AddTask, SetLabels
from adforest.service.served_model import BusyError, ServedModel, UnexpectedError
from adforest.service.store import Store
from served import as_records, make, rents, service, teach, until


def test_a_model_whose_adoption_was_cut_short_is_adopted_at_the_next_start(tmp_path):
    table = rents(200, seed=0).to_pandas()
    model = adforest.AdaptiveDecisionForestClassifier(n_estimators=3, random_state=0)
    model.partial_fit(table.drop(columns="rent"), table["rent"]).save(tmp_path / "mine.adf")
    (tmp_path / "mine.adf.service").mkdir()
    with service(tmp_path) as client:
        assert client.get("/v1/models/mine").status_code == 200
    assert (tmp_path / "mine.adf").exists()


def test_files_that_cannot_be_served_are_told_and_others_are_served(tmp_path, capsys):
    with service(tmp_path) as client:
        make(client)
    content = (tmp_path / "rents.adf").read_bytes()
    files = {'my "model': content, "RENTS": content, "cut": content[:-9], "a\nb": content, "good": content}
    for name, one in files.items():
        (tmp_path / f"{name}.adf").write_bytes(one)
    with service(tmp_path) as client:
        assert client.get("/v1/models").json() == {"models": ["good", "rents"]}
        problems = client.get("/readyz").json()["problems"]
        assert sorted(problems) == sorted(['my "model.adf', "RENTS.adf", "cut", "a\nb.adf"])
        assert "capitals" in problems["RENTS.adf"]
        assert client.get("/metrics").status_code == 200
        assert client.post("/v1/models/good/predict", json={"records": as_records(rents(1))}).status_code == 200
    said = capsys.readouterr().err
    assert "'cut' is not served" in said
    assert "'RENTS.adf' is not served" in said
    assert not (tmp_path / "cut.adf.service").exists()


def test_a_request_that_was_cancelled_does_not_end_the_writer(tmp_path):
    with service(tmp_path) as client:
        make(client)
    served = ServedModel(tmp_path / "rents.adf", print, None)
    try:
        is_busy, go_on = threading.Event(), threading.Event()
        served.call(lambda: (is_busy.set(), go_on.wait(30)))
        assert is_busy.wait(30)
        assert served.call(lambda: 1).cancel()
        go_on.set()
        assert served.call(lambda: 2).result(timeout=30) == 2
    finally:
        served.close()


def test_tables_that_are_damaged_end_the_process_and_are_told_at_the_next_start(tmp_path, monkeypatch):
    told = []
    with service(tmp_path) as client:
        make(client)
    served = ServedModel(tmp_path / "rents.adf", told.append, None)
    try:

        def broken(self):
            raise sqlite3.DatabaseError("database disk image is malformed")

        monkeypatch.setattr(Store, "seconds_until_due", broken)
        with pytest.raises(LogError, match="malformed"):
            [served.submit(SetLabels([(str(n), '"low"')])).result(timeout=30) for n in range(3)]
        assert "malformed" in told[0]
    finally:
        served.close()
    monkeypatch.undo()
    (tmp_path / "rents.adf.service" / "tables.db").write_bytes(b"no database" * 1000)
    with pytest.raises(LogError, match=r"tables\.db' is damaged"):
        ServedModel(tmp_path / "rents.adf", told.append)


def test_a_request_that_cannot_be_written_does_not_keep_others_from_it(tmp_path):
    class Poison(SetLabels):
        def event(self, state, now):
            raise ArithmeticError("a fault of ours")

    served = opened(tmp_path)
    try:
        is_busy, go_on = threading.Event(), threading.Event()
        served.call(lambda: (is_busy.set(), go_on.wait(30)))
        assert is_busy.wait(30)
        kinds = (SetLabels, Poison, SetLabels)
        found = [served.submit(kind([(str(n), '"low"')])) for n, kind in enumerate(kinds)]
        go_on.set()
        assert [found[n].result(timeout=30)["outcomes"] for n in (0, 2)] == [["created"], ["created"]]
        with pytest.raises(UnexpectedError, match="ArithmeticError"):
            found[1].result(timeout=30)
    finally:
        served.close()


def opened(folder):
    """Return a model without a service around it."""
    with service(folder) as client:
        make(client)
    return ServedModel(folder / "rents.adf", print, None)


def test_a_model_that_is_closed_refuses_all_that_still_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(served_model, "GROUP", 2)
    served = opened(tmp_path)
    served.close()
    late = [Future() for _ in range(5)]
    for one in late:  # as if they came between the end of the writer and the last look at what waits
        served._queue.put((lambda: 1, one))
    for one in (served.call(lambda: 1), *late):
        with pytest.raises(BusyError, match="being closed"):
            one.result(timeout=10)


def test_requests_that_come_while_a_model_is_removed_are_all_answered(tmp_path):
    with service(tmp_path) as client:
        make(client)
        answers, is_over = [], threading.Event()

        def ask():
            while not is_over.is_set():
                answers.append(client.put("/v1/models/rents/records/a/label", json={"label": "low"}).status_code)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for one in threads:
            one.start()
        until(lambda: len(answers) > 20)
        assert client.delete("/v1/models/rents").status_code == 204
        is_over.set()
        for one in threads:
            one.join(30)
            assert not one.is_alive()
    assert set(answers) <= {200, 201, 404, 429}


class SlowLearner:
    """A learner that is not ready before its model is closed."""

    made: ClassVar[list] = []
    is_beginning, go_on = threading.Event(), threading.Event()
    version, found = 1, None

    def __init__(self, *paths, **options):
        self.is_ended = False
        self.made.append(self)
        self.is_beginning.set()
        assert self.go_on.wait(30)

    def end(self):
        self.is_ended = True


def test_a_learner_that_begins_while_its_model_is_closed_is_ended(tmp_path, monkeypatch):
    served = opened(tmp_path)
    monkeypatch.setattr(served_model, "LearningProcess", SlowLearner)
    served.submit(AddTask("parameters", {"parameters": {}})).result(timeout=10)
    assert SlowLearner.is_beginning.wait(30)
    closing = threading.Thread(target=served.close)
    closing.start()
    until(lambda: served._is_ending)
    SlowLearner.go_on.set()
    closing.join(30)
    assert [one.is_ended for one in SlowLearner.made] == [True]


def test_after_a_failure_of_the_disk_another_learner_reads_what_is_there(tmp_path, monkeypatch):
    ended, real = [], LearningProcess.run

    def fail_once(self, order):
        if ended:
            return real(self, order)
        ended.append(self)
        return Outcome(RETRY, None, {"reason": "no room"})

    monkeypatch.setattr(served_model, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(LearningProcess, "run", fail_once)
    with service(tmp_path) as client:
        make(client)
        assert ended[0]._process.poll() is not None
        assert client.get("/v1/models/rents").json()["batches"] == 1


def test_a_learner_that_the_disk_failed_tells_it_and_ends(tmp_path):
    with service(tmp_path) as client:
        make(client)
    path = tmp_path / "rents.adf"
    learner = LearningProcess(path, tmp_path / "rents.adf.service", "rent", _log_id(path), has_challenger=False)
    try:
        path.unlink()
        order = learning_process.Order(2, 99, "rollback", {"version": 99}, {}, None, 3)
        assert learner.run(order).state == RETRY
        learner._process.wait(30)
    finally:
        learner.end()


def _log_id(path):
    from adforest.origins import origins_of

    return origins_of(adforest.load(path)).stream


def test_a_damaged_challenger_does_not_keep_the_model_from_learning(tmp_path):
    with service(tmp_path) as client:
        make(client)
        client.put("/v1/models/rents/challenger", json={"parameters": {"max_depth": 2}}).raise_for_status()
        teach(client, seed=1)
    (tmp_path / "rents.challenger.adf").write_bytes(b"damaged")
    with service(tmp_path) as client:
        learnt = teach(client, seed=2)
        assert learnt["batch"] == 3
        assert "rents.challenger.adf" in learnt["report"]["challenger_problem"]
