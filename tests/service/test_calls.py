"""The calls of /v1: what people send, and what they get."""

import asyncio
import io
import json
import threading
from urllib.parse import quote

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import parquet

import adforest
from adforest.origins import origins_of
from adforest.service.application import make_service
from adforest.service.learning_process import LearningProcess
from adforest.service.predictions import Counts
from adforest.service.record_table import RecordTable
from adforest.service.served_model import NamedModels
from adforest.service.store import Store
from served import SMALL, as_csv, as_records, client_of, make, rents, service, state_of, teach, until

M = "/v1/models/rents"
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with service(tmp_path_factory.mktemp("data")) as found:
        make(found, batch_size=1000)
        yield found


def predict(client, records, ids=None, **more):
    return client.post(f"{M}/predict", json={"records": records} | ({"record_ids": ids} if ids else {}) | more)


def stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_answers_are_those_of_the_model_in_every_format(client, tmp_path):
    table = rents(50, seed=9)
    features = table.drop_columns(["rent"])
    model = adforest.load(_downloaded(client, tmp_path))
    expected = model.predict(features).tolist()
    shares = model.predict_proba(features)
    sink = io.BytesIO()
    parquet.write_table(features, sink)
    bodies = {
        "text/csv": as_csv(features).encode(),
        "application/vnd.apache.parquet": sink.getvalue(),
        ARROW: stream(features),
    }
    answers = [
        client.post(f"{M}/predict", content=body, headers={"content-type": kind}) for kind, body in bodies.items()
    ]
    answers += [predict(client, as_records(table)), client.post(f"{M}/predict", json={"columns": features.to_pydict()})]
    for answer in answers:
        found = answer.json()
        assert found["predictions"] == expected
        assert np.allclose([[row["high"], row["low"]] for row in found["probabilities"]], shares)
        assert found["model_version"] >= 1
        assert found["learnt_through"] >= 1
    as_arrow = client.post(f"{M}/predict", content=stream(features), headers={"content-type": ARROW, "accept": ARROW})
    with pa.ipc.open_stream(as_arrow.content) as reader:
        found = reader.read_all()
    assert found["prediction"].to_pylist() == expected
    assert np.array_equal(found["probability_high"], shares[:, 0])


def _downloaded(client, folder):
    answer = client.get(f"{M}/model")
    (folder / "copy.adf").write_bytes(answer.content)
    assert client.get(f"{M}/model", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    return folder / "copy.adf"


def test_labels_are_created_the_same_conflicting_or_revised(client):
    predict(client, as_records(rents(2, 5)), ["l1", "l2"])
    assert state_of(client, "l1") == "pending"
    first = client.put(f"{M}/records/l1/label", json={"label": "low"})
    assert (first.status_code, first.json()) == (201, {"state": "labelled", "outcome": "created"})
    again = client.put(f"{M}/records/l1/label", json={"label": "low"})
    assert (again.status_code, again.json()["outcome"]) == (200, "same")
    other = client.put(f"{M}/records/l1/label", json={"label": "high"})
    assert other.status_code == 409
    assert "revise=true" in other.json()["error"]
    revised = client.put(f"{M}/records/l1/label", json={"label": "high", "revise": True})
    assert revised.json()["outcome"] == "revised"
    assert client.put(f"{M}/records/l1/label?revise=true", json={"label": "low"}).json()["outcome"] == "revised"
    revised = client.post(f"{M}/labels?revise=true", json={"labels": {"l1": "high"}})
    assert revised.json()["revised"] == 1
    many = client.post(f"{M}/labels", json={"labels": {"l1": "high", "l2": "low"}})
    assert many.json() == {"created": 1, "same": 1, "revised": 0}
    assert client.post(f"{M}/labels", json={"labels": {"l2": "high", "new": "low"}}).status_code == 409
    assert client.get(f"{M}/records/new").status_code == 404  # all or none


@pytest.mark.parametrize(
    "record_id", ["a/b", "/", "a//b/", "label", "x/label", "label/label", "activate", "50%", "%2F", "a?b#c d", "ä"]
)
def test_any_id_can_be_looked_up_labelled_activated_and_forgotten(client, record_id):
    path = f"{M}/records/{quote(record_id, safe='')}"
    assert predict(client, as_records(rents(1, 30)), [record_id], activate=False).status_code == 200
    assert client.post(f"{path}/activate").json()["active"] is True
    assert client.put(f"{path}/label", json={"label": "low"}).json() == {"state": "labelled", "outcome": "created"}
    found = client.get(path).json()
    assert (found["record_id"], found["label"]) == (record_id, "low")
    assert client.delete(path).json()["state"] == "withdrawn"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/records/u1/label", {"label": "low", "revize": True}),
        ("POST", "/labels", {"labels": {"u1": "low"}, "revize": True}),
        ("POST", "/rollback", {"model_version": 1, "revize": True}),
        ("PUT", "/challenger", {"parameters": {}, "revize": True}),
        ("POST", "/predict", {"records": [{}], "revize": True}),
        ("POST", "/batches", {"records": [{}], "revize": True}),
        ("PUT", "", {"revize": True}),
    ],
)
def test_fields_that_are_not_known_are_named(client, method, path, body):
    answer = client.request(method, M + path, json=body)
    assert answer.status_code == 422
    assert "'revize'" in answer.json()["error"]
    assert client.get(f"{M}/records/u1").status_code == 404


def test_a_label_waits_for_its_record(client):
    early = client.put(f"{M}/records/e1/label", json={"label": "low"})
    assert early.json()["state"] == "waiting"
    predict(client, as_records(rents(1, 6)), ["e1"])
    assert state_of(client, "e1") == "labelled"


def test_an_id_stands_for_one_record(client):
    records = as_records(rents(2, 7))
    assert predict(client, records[:1], ["i1"]).status_code == 200
    assert predict(client, records[:1], ["i1"]).status_code == 200  # sent again
    assert predict(client, records[1:], ["i1"]).status_code == 409
    assert predict(client, records, ["i2", "i2"]).status_code == 422


def test_a_record_is_forgotten(client):
    predict(client, as_records(rents(2, 8)), ["f1", "f2"])
    assert client.delete(f"{M}/records/f1").json()["state"] == "withdrawn"
    assert client.delete(f"{M}/records/f1").status_code == 200
    assert client.put(f"{M}/records/f1/label", json={"label": "low"}).status_code == 410
    assert client.delete(f"{M}/records/none").status_code == 404
    assert state_of(client, "f2") == "pending"


def test_wrong_requests_say_what_is_wrong(client):
    wrong = {
        "records": "no list",
        "columns": {"area": [1], "rooms": [1, 2]},
    }
    for name, value in wrong.items():
        answer = client.post(f"{M}/predict", json={name: value})
        assert answer.status_code == 422
        assert name in answer.json()["error"]
    assert "rooms" in predict(client, [{"area": 1.0}]).json()["error"]
    assert predict(client, [{"area": "large", "rooms": 1, "district": "north"}]).status_code == 422
    assert client.post(f"{M}/predict", content=b"x", headers={"content-type": "text/plain"}).status_code == 415
    assert client.post("/v1/models/none/predict", json={"records": [{}]}).status_code == 404
    assert client.put(f"{M}/records/x/label", json={"label": [1]}).status_code == 422
    assert client.put(f"{M}/records/x/label", json={"label": 3}).status_code == 422  # labels are text
    assert client.put("/v1/models/a.b", json={"target": "y"}).status_code == 422
    assert client.put("/v1/models/other", json={"parameters": {"n_estimators": -1}}).status_code == 422


def test_batches_are_learnt_once_by_their_key(client):
    body, head = as_csv(rents(40, 11)), {"content-type": "text/csv", "idempotency-key": "k"}
    first = client.post(f"{M}/batches?wait=true", content=body, headers=head).json()
    again = client.post(f"{M}/batches?wait=true", content=body, headers=head).json()
    assert first["number"] == again["number"]
    assert first["report"]["n_samples"] == 40
    assert client.post(f"{M}/batches", content=as_csv(rents(9, 1)), headers=head).status_code == 422
    later = client.post(f"{M}/batches", content=body, headers={"content-type": "text/csv"})
    assert later.status_code == 202
    where = later.headers["location"]
    until(lambda: client.get(where).json()["state"] == "learnt")


def test_a_batch_that_cannot_be_learnt_is_refused_and_the_next_one_is_learnt(client):
    table = rents(5, 12).append_column("extra", pa.array([1.0] * 5))
    answer = client.post(f"{M}/batches?wait=true", content=as_csv(table), headers={"content-type": "text/csv"})
    assert answer.status_code == 422
    assert "extra" in answer.json()["report"]["reason"]
    teach(client, seed=13)


def test_labelled_records_are_learnt_in_the_order_of_their_predictions(tmp_path):
    with service(tmp_path) as client:
        make(client, batch_size=4)
        table = rents(6, 20)
        for place, record in enumerate(as_records(table)):
            predict(client, [record], [f"r{place}"], activate=place != 1)
        labels = dict(zip([f"r{place}" for place in range(6)], table["rent"].to_pylist(), strict=True))
        client.post(f"{M}/labels", json={"labels": dict(reversed(labels.items()))})
        until(lambda: state_of(client, "r0") == "learnt")
        assert [state_of(client, f"r{n}") for n in range(6)] == ["learnt", "labelled", *["learnt"] * 3, "labelled"]
        assert client.get(f"{M}/records/r0").json()["batch"] == 2
        assert client.post(f"{M}/records/r1/activate").json()["active"]
        assert client.put(f"{M}/records/r0/label", json={"label": "low", "revise": True}).status_code in (200, 409)
        values = adforest.load(tmp_path / "rents.adf")._model.state.memory.matrix()
        assert len(values) == 64


def test_records_expire_or_get_the_default_label_and_batches_are_closed_by_time(tmp_path):
    with service(tmp_path) as client:
        make(client, label_wait=0.4)
        predict(client, as_records(rents(1, 1)), ["a"])
        until(lambda: state_of(client, "a") == "expired")
        assert client.put(f"{M}/records/a/label", json={"label": "low"}).status_code == 410
        settings = {"default_label": "low", "batch_seconds": 0.2}
        assert client.put("/v1/models/rents", json=settings).json()["default_label"] == "low"
        predict(client, as_records(rents(1, 2)), ["b"])
        until(lambda: state_of(client, "b") == "learnt")
        assert client.get(f"{M}/records/b").json()["label"] == "low"


def test_versions_rollback_history_drift_and_the_challenger(tmp_path):
    with service(tmp_path) as client:
        make(client)
        teach(client, seed=1)
        third = teach(client, seed=2)
        assert [one["model_version"] for one in client.get(f"{M}/versions").json()["versions"]] == [1, 2, 3]
        assert client.post(f"{M}/rollback", json={"model_version": 99}).status_code == 404
        assert client.post(f"{M}/rollback", json={"model_version": 2}).json()["batch"] == 2
        now = client.get("/v1/models/rents").json()
        assert (now["model_version"], now["batches"]) == (third["number"] + 1, 2)
        assert len(client.get(f"{M}/history").json()["batches"]) == 2
        assert client.get(f"{M}/drift").json()["drift"] == "none"
        assert client.get(f"{M}/challenger").status_code == 404
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 2}})
        for seed in range(3, 6):
            teach(client, seed=seed)
        assert client.get(f"{M}/challenger").json()["batches"] == 2
        assert (tmp_path / "rents.challenger.adf").exists()
        assert client.post(f"{M}/challenger/promote").status_code == 200
        assert client.get("/v1/models/rents").json()["parameters"]["max_depth"] == 2
        model = adforest.load(tmp_path / "rents.adf")
        assert model.max_depth == 2
        assert origins_of(model).position == client.get("/v1/models/rents").json()["learnt_through"]


def test_records_are_kept_before_the_first_batch(tmp_path):
    with service(tmp_path) as client:
        client.put("/v1/models/rents", json={"target": "rent", "parameters": SMALL, "batch_size": 30})
        assert predict(client, as_records(rents(1))).status_code == 409
        table = rents(30, 3)
        ids = [str(n) for n in range(30)]
        assert predict(client, as_records(table), ids).json()["predictions"] == [None] * 30
        client.post(f"{M}/labels", json={"labels": dict(zip(ids, table["rent"].to_pylist(), strict=True))})
        until(lambda: predict(client, as_records(table)).status_code == 200)


def test_a_model_that_was_saved_in_a_notebook_is_served_and_goes_on_learning(tmp_path):
    table = rents(80)
    model = adforest.AdaptiveDecisionForestClassifier(**SMALL)
    model.partial_fit(table.drop_columns(["rent"]), table["rent"].to_numpy(zero_copy_only=False))
    model.save(tmp_path / "rents.adf")
    with service(tmp_path) as client:
        assert (
            predict(client, as_records(rents(5, 1))).json()["predictions"]
            == model.predict(rents(5, 1).drop_columns(["rent"])).tolist()
        )
        answer = client.post(f"{M}/batches?wait=true", json={"records": _with_target(rents(30, 2))})
        assert answer.json()["batch"] == 2
    with service(tmp_path) as client:
        assert client.get("/v1/models/rents").json()["batches"] == 2


def test_a_model_of_another_service_is_served_and_learns(tmp_path):
    with service(tmp_path / "first") as client:
        make(client)
        content = client.get(f"{M}/model").content
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "rents.adf").write_bytes(content)
    with service(tmp_path / "second") as client:
        assert client.get(M).json()["target"] == "rent"
        assert teach(client, seed=1)["batch"] == 2
    with service(tmp_path / "second") as client:
        assert client.get(M).json()["batches"] == 2
        assert client.get("/readyz").json()["problems"] == {}


def test_a_model_that_was_saved_elsewhere_keeps_its_parameters(tmp_path):
    table = rents(80)
    mine = SMALL | {"max_depth": 4, "class_weight": {"low": 2.0, "high": 1.0}}
    model = adforest.AdaptiveDecisionForestClassifier(**mine)
    model.partial_fit(table.drop_columns(["rent"]), table["rent"].to_numpy(zero_copy_only=False))
    model.save(tmp_path / "rents.adf")
    with service(tmp_path) as client:
        assert client.get(M).json()["parameters"].items() >= mine.items()
        assert client.put(f"{M}/challenger", json={"parameters": {"max_depth": 2}}).status_code == 200
        client.post(f"{M}/batches?wait=true", json={"records": _with_target(rents(30, 2))}).raise_for_status()
    found = adforest.load(tmp_path / "rents.challenger.adf")
    assert (found.n_estimators, found.max_depth, found.random_state) == (3, 2, 0)


def test_a_rollback_brings_back_the_parameters(tmp_path):
    with service(tmp_path) as client:
        make(client)

        def depth():
            until(lambda: client.get(M).json()["batches_waiting"] == 0)
            shown = client.get(M).json()
            return shown["parameters"].get("max_depth"), adforest.load(tmp_path / "rents.adf").max_depth

        client.put(M, json={"parameters": {"max_depth": 2}})
        version = teach(client, seed=1)["number"]
        client.put(M, json={"parameters": {"max_depth": 5}})
        assert depth() == (5, 5)
        client.post(f"{M}/rollback", json={"model_version": version}).raise_for_status()
        assert depth() == (2, 2)
        client.put(M, json={"parameters": {"max_depth": 5}})
        assert depth() == (5, 5)
        client.post(f"{M}/rollback", json={"model_version": 1}).raise_for_status()
        assert depth() == (None, None)


def test_parameters_that_are_fixed_once_a_model_has_learnt(tmp_path):
    with service(tmp_path) as client:
        client.put(M, json={"target": "rent", "parameters": SMALL})
        assert client.put(M, json={"parameters": {"n_estimators": 4}}).json()["parameters"]["n_estimators"] == 4
        teach(client)
        changes = {"n_estimators": 7}, {"random_state": 7}, {"base_forest": "sysfor"}
        for one in changes:
            refused = client.put(M, json={"parameters": one, "batch_size": 7})
            assert refused.status_code == 409
            assert next(iter(one)) in refused.json()["error"]
        assert client.get(M).json()["batch_size"] == 1_000  # nothing is changed
        before = client.get(M).json()["model_version"]
        same = {"n_estimators": 4, "random_state": None, "base_forest": "random_forest"}
        assert client.put(M, json={"parameters": same}).json()["parameters"]["n_estimators"] == 4
        until(lambda: client.get(M).json()["batches_waiting"] == 0)
        assert client.get(f"{M}/batches/{client.get(M).json()['model_version']}").json()["state"] == "learnt"
        assert client.get(M).json()["model_version"] >= before


def _with_target(table):
    return table.rename_columns(["area", "rooms", "district", "target"]).to_pylist()


def test_text_that_reads_as_numbers_stays_text_for_a_model_that_learnt_it_so(tmp_path):
    table = rents(80)
    codes = pc.replace_substring(pc.replace_substring(table["district"], "north", "1"), "south", "2")
    table = table.set_column(2, "district", pc.replace_substring(codes, "west", "3").dictionary_encode())
    model = adforest.AdaptiveDecisionForestClassifier(**SMALL)
    model.partial_fit(table.drop_columns(["rent"]).to_pandas(), table["rent"].to_numpy(zero_copy_only=False))
    model.save(tmp_path / "rents.adf")
    with service(tmp_path) as client:
        records, head = as_records(table), {"content-type": "text/csv"}
        answer = client.post(f"{M}/predict", content=as_csv(table.drop_columns(["rent"])), headers=head)
        assert answer.json()["predictions"] == predict(client, records).json()["predictions"]
        batch = as_csv(table.rename_columns(["area", "rooms", "district", "target"]))
        assert client.post(f"{M}/batches?wait=true", content=batch, headers=head).status_code == 200


def test_predictions_do_not_wait_for_those_who_wait_for_their_batches(tmp_path, monkeypatch):
    go_on, real = threading.Event(), LearningProcess.run
    with service(tmp_path) as client:
        make(client)
        monkeypatch.setattr(LearningProcess, "run", lambda self, order: (go_on.wait(60), real(self, order))[1])
        statuses = []

        def send(seed):
            with client_of(client.base_url) as own:
                head = {"content-type": "text/csv"}
                answer = own.post(f"{M}/batches?wait=true", content=as_csv(rents(10, seed)), headers=head)
                statuses.append(answer.status_code)

        threads = [threading.Thread(target=send, args=(seed,)) for seed in range(45)]  # more than a pool has threads
        for one in threads:
            one.start()
        try:
            until(lambda: client.get(M).json()["batches_waiting"] == 45)
            assert predict(client, as_records(rents(200, 3))).status_code == 200
        finally:
            go_on.set()
            for one in threads:
                one.join()
        assert statuses == [200] * 45


def test_ids_and_keys_are_forgotten_also_where_no_label_is_late(tmp_path):
    with service(tmp_path) as client:
        make(client, batch_size=3, remember=0.5)
        head = {"content-type": "text/csv", "idempotency-key": "k"}
        first = client.post(f"{M}/batches?wait=true", content=as_csv(rents(30)), headers=head).json()["number"]
        predict(client, as_records(rents(3)), list("abc"))
        client.post(f"{M}/labels", json={"labels": dict.fromkeys("abc", "low")})
        until(lambda: state_of(client, "a") == "learnt")
        until(lambda: client.get(f"{M}/records/a").status_code == 404)
        assert client.get(M).json()["records"] == {}
        assert client.post(f"{M}/batches?wait=true", content=as_csv(rents(30)), headers=head).json()["number"] > first


def test_large_integers_and_decimals_are_one_column(tmp_path):
    with service(tmp_path) as client:
        client.put(M, json={"target": "rent", "parameters": SMALL, "batch_size": 2})
        predict(client, [{"area": 2**60 + 1}], ["a"])
        predict(client, [{"area": 1.5}], ["b"])
        answer = client.post(f"{M}/labels", json={"labels": {"a": "low", "b": "high"}})
        assert answer.status_code == 200, answer.text
        until(lambda: state_of(client, "a") == "learnt")


WRONG_RECORDS = {
    "the target": ([{"area": 1, "rent": "low"}], "is the target"),
    "infinity": ([{"area": 1e300}], "infinity"),
    "too many columns": ([{f"x{n}": 1 for n in range(9_999)}], "10,001 names"),
    "too many columns without values": ([{f"x{n}": None for n in range(9_999)}], "10,001 names"),
}


@pytest.mark.parametrize("name", WRONG_RECORDS)
def test_records_that_no_batch_could_hold_are_not_kept_before_the_first_one(tmp_path, name):
    records, words = WRONG_RECORDS[name]
    with service(tmp_path) as client:
        client.put(M, json={"target": "rent", "parameters": SMALL})
        assert predict(client, [{"area": 1.0, "rooms": None}], ["a"]).status_code == 200
        body = json.dumps({"records": records, "record_ids": ["b"]}).replace("1e+300", "1e999")
        answer = client.post(f"{M}/predict", content=body)
        assert (answer.status_code, words in answer.json()["error"]) == (422, True), answer.text
        assert client.get(f"{M}/records/b").status_code == 404
        assert predict(client, [{"area": 2.0, "rooms": 3}], ["c"]).status_code == 200


def test_many_records_that_are_sent_again_are_compared_with_one_look(client, monkeypatch):
    n, looks, real = 300, [], RecordTable.chunk
    monkeypatch.setattr(RecordTable, "chunk", lambda self, position: (looks.append(position), real(self, position))[1])
    records, ids = as_records(rents(n, 40)), [f"again{place}" for place in range(n)]
    for _ in range(2):
        assert predict(client, records, ids).status_code == 200
    assert len(looks) == 1
    records[n - 1]["area"] += 1
    answer = predict(client, records, ids)
    assert (answer.status_code, f"'again{n - 1}'" in answer.json()["error"]) == (409, True)


def test_a_challenger_that_learnt_nothing_is_not_promoted(tmp_path):
    with service(tmp_path) as client:
        make(client)
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 2}})
        teach(client, seed=1)
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 3}})
        answer = client.post(f"{M}/challenger/promote")
        assert answer.status_code == 422
        assert "learnt nothing yet" in answer.json()["report"]["reason"]
        assert client.get(M).json()["batches"] == 2


def test_a_challenger_that_is_removed_or_replaced_is_seen_no_more(tmp_path):
    path = tmp_path / "rents.challenger.adf"
    with service(tmp_path) as client:
        make(client)
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 2}})
        for seed in (1, 2):
            teach(client, seed=seed)
        assert client.get(f"{M}/challenger").json()["batches"] > 0
        assert "Challenger" in client.get("/models/rents.adf").text
        assert client.delete(f"{M}/challenger").status_code == 200
        assert not path.exists()
        assert "Challenger" not in client.get("/models/rents.adf").text
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 2}})
        teach(client, seed=3)
        before = path.read_bytes()
        client.put(f"{M}/challenger", json={"parameters": {"max_depth": 3}})
        assert not path.exists()
        path.write_bytes(before)  # as if it could not be removed yet
        shown = client.get(f"{M}/challenger").json()
        assert (shown["batches"], shown["parameters"]["max_depth"]) == (0, 3)
        assert "accuracy" not in shown


def test_a_file_that_was_saved_meanwhile_is_not_taken_for_a_new_model(tmp_path):
    with service(tmp_path) as client:
        make(client, "other")
        (tmp_path / "rents.adf").write_bytes((tmp_path / "other.adf").read_bytes())
        answer = client.put(M, json={"target": "y"})
        assert (answer.status_code, "Restart the service" in answer.json()["error"]) == (409, True)
        assert client.put("/v1/models/Other", json={"target": "y"}).status_code == 409
        assert client.delete(M).status_code == 404
    assert (tmp_path / "rents.adf").exists()


def test_the_label_of_a_record_that_is_over_may_be_sent_again(tmp_path):
    with service(tmp_path) as client:
        make(client, batch_size=2)
        predict(client, as_records(rents(2, 50)), ["a", "b"])
        client.post(f"{M}/labels", json={"labels": {"a": "low", "b": "high"}})
        until(lambda: state_of(client, "a") == "learnt")
        again = client.put(f"{M}/records/a/label", json={"label": "low"})
        assert (again.status_code, again.json()) == (200, {"state": "learnt", "outcome": "same"})


@pytest.mark.parametrize("ids", [["1001", "1002"], ["007", "008"], ["2024-01-05", "2024-01-06"], ["true", "false"]])
def test_ids_in_csv_are_text_whatever_they_look_like(client, ids):
    rows = as_csv(rents(len(ids), 40).drop_columns(["rent"])).splitlines()
    body = "\n".join(f"{row},{one}" for row, one in zip(rows, ["order", *ids], strict=True))
    answer = client.post(f"{M}/predict?record_id=order", content=body, headers={"content-type": "text/csv"})
    assert answer.status_code == 200, answer.text
    assert [state_of(client, one) for one in ids] == ["pending"] * len(ids)


def test_many_at_once_share_few_syncs(client):
    records = as_records(rents(1, 30))
    before = _figure(client, "commits_total")

    def ask(number):
        assert predict(client, records, [f"many{number}"]).status_code == 200

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = _figure(client, "commits_total")
    assert 1 <= after - before < 40
    for _ in range(5):  # what is only looked up is no write
        assert client.get(f"{M}/records/many0").status_code == 200
    assert _figure(client, "commits_total") == after


def test_predictions_without_ids_do_not_wait_for_what_is_written(client, monkeypatch):
    is_writing, go_on, real = threading.Event(), threading.Event(), Store.commit

    def commit(self, changes):
        if changes:
            is_writing.set()
            assert go_on.wait(60)
        return real(self, changes)

    monkeypatch.setattr(Store, "commit", commit)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(predict(client, as_records(rents(1, 31)), ["slow"])))
    thread.start()
    try:
        assert is_writing.wait(30)
        body = {"records": as_records(rents(1, 32))}
        kinds = ["application/json; charset=utf-8", "Application/JSON"]
        bodies = [(json.dumps(body), kind) for kind in kinds] + [(stream(rents(1).drop_columns(["rent"])), ARROW)]
        for content, kind in bodies:
            answer = client.post(f"{M}/predict", content=content, headers={"content-type": kind}, timeout=10)
            assert answer.status_code == 200
        assert answers == []
    finally:
        go_on.set()
        thread.join()
    assert answers[0].status_code == 200


@pytest.mark.parametrize("parameters", ["; charset=utf-8", ";header=present"])
def test_content_types_may_have_parameters(client, parameters):
    table = rents(3, 33)
    head = {"content-type": f"text/csv{parameters}"}
    answer = client.post(f"{M}/predict", content=as_csv(table.drop_columns(["rent"])), headers=head)
    assert answer.json()["predictions"] == predict(client, as_records(table)).json()["predictions"]
    head = {"content-type": f"{ARROW}{parameters}", "accept": f"{ARROW}{parameters}"}
    answer = client.post(f"{M}/predict", content=stream(table.drop_columns(["rent"])), headers=head)
    assert answer.headers["content-type"].startswith(ARROW)


def _figure(client, name):
    line = next(one for one in client.get("/metrics").text.splitlines() if one.startswith(f"adforest_service_{name}"))
    return float(line.split()[-1])


def test_the_monitor_is_at_the_root(client):
    assert "rents" in client.get("/").text
    assert client.get("/models/rents.adf").status_code == 200
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json()["status"] == "ready"
    assert 'adforest_drift{model="rents.adf"} 0.0' in client.get("/metrics").text


def test_pages_of_others_do_not_promote_and_a_promotion_that_is_refused_is_told(client):
    address = "/models/rents.adf/promote"
    elsewhere = client.post(address, headers={"origin": "http://evil.example.org"})
    assert elsewhere.status_code == 403
    assert client.post(address, headers={"origin": "null"}).status_code == 403
    assert client.post(address, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    none = client.post(address, headers={"origin": str(client.base_url).rstrip("/")})
    assert (none.status_code, "has no challenger" in none.text) == (404, True)
    assert client.get("/models/none.adf/service").status_code == 404
    assert "Pending" in client.get("/models/rents.adf/service").text


def test_explanations_are_not_left_out_where_arrow_is_accepted(client):
    body = {"records": as_records(rents(1))}
    answer = client.post(f"{M}/predict?explain=true", json=body, headers={"accept": ARROW})
    assert answer.status_code == 406
    assert "explain" in answer.json()["error"]


def test_both_paths_of_readiness_agree(tmp_path):
    async def asked(path):
        app = make_service(NamedModels(), lambda: is_ending, counts=Counts(), is_replica=True)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as one:
            return (await one.get(path)).status_code

    for is_ending in (False, True):
        found = [asyncio.run(asked(path)) for path in ("/readyz", "/v2/health/ready", "/v2/health/live")]
        assert found == [503 if is_ending else 200, 503 if is_ending else 200, 200]


def test_explanations_add_up(client):
    answer = client.post(f"{M}/predict?explain=true", json={"records": as_records(rents(2, 4))}).json()
    for shares, label, why in zip(answer["probabilities"], answer["predictions"], answer["explanations"], strict=True):
        assert why["bias"] + sum(why["contributions"].values()) == pytest.approx(shares[label])


def test_classes_have_a_limit_and_labels_are_of_one_kind(tmp_path):
    with service(tmp_path) as client:
        make(client, max_classes=3)
        put = f"{M}/records/{{}}/label"
        assert client.put(put.format("a"), json={"label": "mid"}).status_code == 201
        refused = client.put(put.format("b"), json={"label": "other"})
        assert refused.status_code == 422
        assert "max_classes" in refused.json()["error"]
        body = {"records": [row | {"rent": "other"} for row in rents(3).to_pylist()]}
        assert client.post(f"{M}/batches", json=body).status_code == 422
        assert client.put(M, json={"max_classes": 4}).status_code == 200
        assert client.put(put.format("b"), json={"label": "other"}).status_code == 201
        assert client.put(M, json={"default_label": 3}).status_code == 422
        other = {"target": "rent", "default_label": 3}
        assert client.put("/v1/models/other", json=other).status_code == 201
        assert client.put("/v1/models/other/records/a/label", json={"label": "low"}).status_code == 422


def _batches_of_booleans():
    """Return a batch with a boolean target in every format."""
    table = rents(40).set_column(3, "rent", pa.array([one == "high" for one in rents(40)["rent"].to_pylist()]))
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return {
        "text/csv": as_csv(table).encode(),
        ARROW: stream(table),
        "application/vnd.apache.parquet": sink.getvalue(),
        "application/json": json.dumps({"records": table.to_pylist()}).encode(),
    }


@pytest.mark.parametrize("kind", _batches_of_booleans())
@pytest.mark.parametrize("labels_come_first", [True, False])
def test_a_boolean_is_one_class_as_a_label_and_in_a_batch(tmp_path, kind, labels_come_first):
    with service(tmp_path) as client:
        client.put(M, json={"target": "rent", "parameters": SMALL, "batch_size": 2})

        def send_labels():
            predict(client, as_records(rents(2, 3)), ["a", "b"])
            answer = client.post(f"{M}/labels", json={"labels": {"a": True, "b": False}})
            assert answer.status_code == 200, answer.text
            until(lambda: state_of(client, "b") == "learnt")

        def send_batch():
            content, head = _batches_of_booleans()[kind], {"content-type": kind}
            answer = client.post(f"{M}/batches?wait=true", content=content, headers=head)
            assert answer.status_code == 200, answer.text

        for send in (send_labels, send_batch) if labels_come_first else (send_batch, send_labels):
            send()
        info = client.get(M).json()
        assert (info["classes"], info["batches"]) == ([False, True], 2)
        assert set(predict(client, as_records(rents(9, 4))).json()["probabilities"][0]) == {"false", "true"}
        predict(client, as_records(rents(1, 5)), ["c"])
        assert client.put(f"{M}/records/c/label", json={"label": 2}).status_code == 422
        assert client.put(f"{M}/records/c/label", json={"label": 1}).status_code == 201
        assert client.put(f"{M}/records/c/label", json={"label": True}).json()["outcome"] == "same"


@pytest.mark.parametrize("kind", ["text/csv", "application/json"])
def test_a_model_that_learnt_0_and_1_goes_on_with_them(tmp_path, kind):
    table = rents(40)
    model = adforest.AdaptiveDecisionForestClassifier(**SMALL)
    model.fit(table.drop_columns(["rent"]), [int(one == "high") for one in table["rent"].to_pylist()])
    model.save(tmp_path / "rents.adf")
    with service(tmp_path) as client:
        client.put(M, json={"batch_size": 2})
        predict(client, as_records(rents(2, 3)), ["a", "b"])
        assert client.post(f"{M}/labels", json={"labels": {"a": True, "b": 0}}).json()["created"] == 2
        until(lambda: state_of(client, "b") == "learnt")
        content = _batches_of_booleans()[kind].replace(b"rent", b"target")
        answer = client.post(f"{M}/batches?wait=true", content=content, headers={"content-type": kind})
        assert answer.status_code == 200, answer.text
        info = client.get(M).json()
        assert (info["classes"], info["batches"]) == ([0, 1], 3)


@pytest.mark.parametrize("path", ["batches/first", "history?last=all", "predict?explain=maybe", "batches?wait=long"])
def test_a_parameter_that_cannot_be_read_is_told(tmp_path, path):
    with service(tmp_path) as client:
        make(client)
        method, value = ("POST", path.partition("=")[2]) if path[-5:] in ("maybe", "=long") else ("GET", path[-3:])
        answer = client.request(method, f"{M}/{path}", json={"records": as_records(rents(1))})
    assert answer.status_code == 422
    assert value in answer.json()["error"]


def test_labels_before_their_records_are_counted_as_waiting(tmp_path):
    with service(tmp_path) as client:
        make(client)
        assert client.put(f"{M}/records/a/label", json={"label": "low"}).json()["state"] == "waiting"
        assert client.get(M).json()["records"] == {"waiting": 1}
        assert "labels before their record" in client.get("/models/rents.adf/service").text
