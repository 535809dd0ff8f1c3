"""Batches that are closed from labelled records: how large they are; they never keep requests from the disk."""

import json
import time

import pyarrow as pa
import pytest

from adforest.service import log, served_model, store
from adforest.service.requests import AddTask, ChangeRecord, KeepRecords, RequestError, SetLabels
from adforest.service.settings import ModelSettings
from adforest.service.store import SETTINGS, Store
from adforest.service.system import RealDisk, SteadyClock
from served import as_csv, as_records, make, rents, service, state_of, until

M = "/v1/models/rents"


def opened(folder, **settings):
    """Return the store of a new model."""
    folder.mkdir(exist_ok=True)
    (folder / SETTINGS).write_bytes(ModelSettings("y", log_id="log", **settings).dumped())
    return Store(RealDisk(), SteadyClock(), folder)


def test_a_batch_that_cannot_be_closed_keeps_no_request_from_the_disk(tmp_path, monkeypatch):
    with service(tmp_path) as client:
        make(client, batch_size=150)
        with monkeypatch.context() as patched:
            patched.setattr(log, "MAX_ENTRY", 6_000)
            ids = [[f"{n}-{k}" for k in range(50)] for n in range(4)]
            for n, some in enumerate(ids):
                body = {"records": as_records(rents(50, n)), "record_ids": some}
                client.post(f"{M}/predict", json=body).raise_for_status()
                client.post(f"{M}/labels", json={"labels": dict.fromkeys(some, "low")}).raise_for_status()
            assert "batches cannot be closed" in until(lambda: client.get("/readyz").json()["problems"].get("rents"))
            client.post(f"{M}/predict", json={"records": as_records(rents(1)), "record_ids": ["a"]}).raise_for_status()
        client.put(f"{M}/records/a/label", json={"label": "low"}).raise_for_status()
        until(lambda: state_of(client, "0-0") == "learnt")
        assert client.get("/readyz").json()["problems"] == {}


def test_records_that_are_too_large_for_one_batch_make_several(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MAX_BATCH_BYTES", 5_000)
    one = opened(tmp_path / "m", batch_size=60)
    ids = [[f"{n}-{k}" for k in range(20)] for n in range(3)]
    for n, some in enumerate(ids):
        one.commit([KeepRecords(some, pa.table({"v": range(n * 20, n * 20 + 20), "w": ["x" * 100] * 20}))])
    one.commit([KeepRecords(["large"], pa.table({"v": [60], "w": ["x" * 9_000]}))])
    one.commit([SetLabels([(name, '"low"') for some in [*ids, ["large"]] for name in some])])
    one.close_batches(1_000)
    first = [task.n_records for task in reversed(one.state.tasks.last(10))]
    assert 20 < first[0] < 40
    one.commit([KeepRecords(["next"], pa.table({"v": [61], "w": ["x"]})), SetLabels([("next", '"low"')])])
    one.state.settings = one.settings.changed({"batch_size": 1})
    one.close_batches(1_000)
    found = [entry.payload for entry in one.log.entries() if entry.kind == 4]
    tables = [store.from_bytes(payload)[0] for payload in found]
    assert [value for table in tables for value in table["v"].to_pylist()] == list(range(62))
    assert all(len(payload) < 7_000 or len(table) == 1 for payload, table in zip(found, tables, strict=True))
    one.close()


def test_columns_that_records_lack_count_in_the_size_of_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MAX_BATCH_BYTES", 20_000)
    one = opened(tmp_path / "m", batch_size=100)
    for n in range(100):
        one.commit([KeepRecords([f"r{n}"], pa.table({f"c{n}-{k}": [1.0] for k in range(20)}))])
    one.commit([SetLabels([(f"r{n}", '"low"') for n in range(100)])])
    one.close_batches(1_000)
    (task,) = one.state.tasks.last(10)
    assert 5 < task.n_records < 20
    one.close()


def test_batches_are_closed_only_while_few_wait_to_be_learnt(tmp_path):
    one = opened(tmp_path / "m", batch_size=1)
    ids = [f"r{n}" for n in range(5)]
    one.commit([KeepRecords(ids, pa.table({"v": range(5)})), SetLabels([(name, '"low"') for name in ids])])
    one.close_batches(3)
    assert one.state.tasks.n_waiting() == 3
    one.end_task(1, "learnt", 1, {})
    one.close_batches(3)
    assert [task.number for task in one.state.tasks.last(10)] == [4, 3, 2, 1]
    one.close()


def test_a_request_that_is_too_large_for_the_log_is_refused_alone(tmp_path, monkeypatch):
    one = opened(tmp_path / "m")
    monkeypatch.setattr(log, "MAX_ENTRY", 6_000)
    large = KeepRecords(["large"], pa.table({"w": ["x" * 9_000]}))
    small = KeepRecords(["small"], pa.table({"w": ["x"]}))
    found = one.commit([large, small, AddTask("batch", {}, pa.table({"w": ["x" * 9_000], "y": ["low"]}))])
    assert isinstance(found[0], RequestError)
    assert (found[0].status, found[1], found[2].status) == (413, None, 413)
    assert set(one.state.records.find(["large", "small"])) == {"small"}
    assert one.state.tasks.n_waiting() == 0
    one.close()
    with service(tmp_path / "served") as client:
        client.put(M, json={"target": "rent"})
        answer = client.post(f"{M}/batches", content=as_csv(rents(500)), headers={"content-type": "text/csv"})
        assert answer.status_code == 413, answer.text
        assert "6,000" in json.loads(answer.content)["error"]


def test_a_batch_that_was_not_closed_before_a_crash_is_closed_at_the_next_start(tmp_path):
    with service(tmp_path) as client:
        make(client, batch_size=2)
    served = served_model.ServedModel(tmp_path / "rents.adf", print, None)
    served._close_batches = lambda: None
    table = pa.table({"area": [1.0, 2.0], "rooms": [1, 2], "district": ["north", "west"]})
    served.submit(KeepRecords(["a", "b"], table)).result(30)
    served.submit(SetLabels([("a", '"low"'), ("b", '"low"')])).result(30)
    served.close()
    with service(tmp_path) as client:
        until(lambda: state_of(client, "b") == "learnt")


@pytest.mark.parametrize("n", [1, 3])
def test_a_batch_is_in_the_order_of_predictions(tmp_path, n):
    one = opened(tmp_path / "m", batch_size=6)
    ids = [f"r{k}" for k in range(6)]
    for begin in range(0, 6, n):
        one.commit([KeepRecords(ids[begin : begin + n], pa.table({"v": range(begin, begin + n)}))])
    for name in reversed(ids):
        one.commit([SetLabels([(name, f'"{name}"')])])
    one.close_batches(10)
    (found,) = [store.from_bytes(entry.payload)[0] for entry in one.log.entries() if entry.kind == 4]
    assert (found["v"].to_pylist(), found["y"].to_pylist()) == (list(range(6)), ids)
    one.close()


def test_the_same_bytes_with_a_key_are_the_same_request_however_they_are_read(tmp_path):
    with service(tmp_path) as client:
        client.put(M, json={"target": "rent"})
        head = {"content-type": "text/csv", "idempotency-key": "k"}
        body = "area,note,rent\n1,,low\n2,,high\n"
        first = client.post(f"{M}/batches?wait=true", content=body, headers=head)
        teach_text = "area,note,rent\n1,x,low\n2,y,high\n"
        client.post(f"{M}/batches?wait=true", content=teach_text, headers={"content-type": "text/csv"})
        again = client.post(f"{M}/batches?wait=true", content=body, headers=head)
        assert (again.status_code, again.json()["number"]) == (200, first.json()["number"]), again.text
        other = client.post(f"{M}/batches?wait=true", content=teach_text, headers=head)
        assert (other.status_code, "another request" in other.text) == (422, True)


def test_columns_and_labels_of_a_refused_batch_do_not_bind_those_after_it(tmp_path):
    one = opened(tmp_path / "m")

    def asked(table):
        return one.commit([AddTask("batch", {}, pa.table(table))])[0]

    assert asked({"zip": [1], "w": [None], "y": [1]}) == 1
    for text in ({"zip": ["01"], "y": [1]}, {"zip": [1], "y": ["low"]}):
        assert asked(text).status == 422, "while it waits it binds those after it"
    assert one.commit([KeepRecords(["a"], pa.table({"zip": ["x"]}))])[0].status == 422
    assert one.state.known_kinds() == {"zip": "number"}
    one.end_task(1, "refused", None, {})
    assert (one.state.kinds(), one.state.classes(), one.state.label_kind()) == ({}, [], None)
    assert asked({"zip": ["01"], "y": ["low"]}) == 2
    one.end_task(2, "learnt", 1, {})
    assert (one.state.kinds(), one.state.classes(), one.state.label_kind()) == ({"zip": "text"}, ['"low"'], "str")
    assert asked({"zip": [1], "y": ["low"]}).status == 422
    assert one.state.records.notes("batch ") == []
    one.close()


def test_columns_of_records_stay_where_a_batch_that_brought_them_first_is_refused(tmp_path):
    one = opened(tmp_path / "m")
    one.commit([AddTask("batch", {}, pa.table({"zip": [1], "y": ["low"]}))])
    one.commit([KeepRecords(["a"], pa.table({"zip": [2]})), SetLabels([("a", '"mid"')])])
    one.end_task(1, "refused", None, {})
    assert (one.state.kinds(), one.state.classes()) == ({"zip": "number"}, ['"mid"'])
    one.close()


def test_a_batch_with_infinity_is_refused_at_once(tmp_path):
    one = opened(tmp_path / "m")
    (answer,) = one.commit([AddTask("batch", {}, pa.table({"area": [1.0, float("inf")], "y": ["low", "low"]}))])
    assert (answer.status, "infinity" in str(answer)) == (422, True)
    assert one.state.kinds() == {}
    one.close()


def test_counts_of_records_are_kept_at_each_change_and_made_for_tables_that_lack_them(tmp_path):
    one = opened(tmp_path / "m", remember=1e-6)
    one.commit([KeepRecords(["a", "b", "c"], pa.table({"v": [1, 2, 3]})), SetLabels([("a", '"low"'), ("e", '"low"')])])
    expected = {"pending": 2, "labelled": 1, "waiting": 1}
    assert one.state.records.counts() == expected
    with one.state.records.transaction():
        one.state.records.remove_note("counts")
    one.close()
    again = Store(RealDisk(), SteadyClock(), tmp_path / "m")
    assert again.state.records.counts() == expected
    again.commit([ChangeRecord("withdraw", "b")])
    assert again.state.records.counts() == {"pending": 1, "labelled": 1, "waiting": 1, "withdrawn": 1}
    time.sleep(0.01)
    again.commit([])
    assert again.state.records.counts() == {"pending": 1, "labelled": 1, "waiting": 1}
    again.close()
