"""`adforest.Client` and `AsyncClient` against a service that runs, also one that is killed meanwhile."""

import asyncio
import threading

import httpx
import numpy as np
import pytest

import adforest
from adforest.client import ServiceError
from served import SMALL, Process, rents, service, state_of


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    with service(tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture
def client(http):
    with adforest.Client(str(http.base_url), "rents", retries=2) as found:
        found.create("rent", SMALL, batch_size=1000)
        yield found


def parts(n, seed):
    table = rents(n, seed)
    return table.drop_columns(["rent"]), np.array(table["rent"].to_pylist())


def test_it_has_the_face_of_an_estimator(http, client):
    X, y = parts(80, 0)
    report = client.partial_fit(X, y)
    assert report["state"] == "learnt"
    assert report["report"]["n_samples"] == 80
    assert (client.predict(X) == y).mean() > 0.9
    assert client.predict_proba(X).shape == (80, 2)
    assert client.model_version_ == report["number"]
    client.predict(X.slice(0, 2), record_ids=["a", "b"])
    assert client.label(["a", "b"], y[:2]) == {"created": 2, "same": 0, "revised": 0}
    assert state_of(http, "a") == "labelled"
    frame = X.to_pandas()
    assert client.predict(frame).tolist() == client.predict(X.to_pylist()).tolist()


def test_a_model_that_learnt_arrays_in_a_notebook_is_asked_with_arrays(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = adforest.AdaptiveDecisionForestClassifier(**SMALL).fit(X, y)
    model.save(tmp_path / "rents.adf")
    with service(tmp_path) as http, adforest.Client(str(http.base_url), "rents", retries=0) as client:
        assert client.predict(X).tolist() == model.predict(X).tolist()
        csv = "\n".join(["x0,x1,x2", *(",".join(map(str, row)) for row in X.tolist())])
        answer = http.post("/v1/models/rents/predict", content=csv, headers={"content-type": "text/csv"})
        assert answer.json()["predictions"] == model.predict(X).tolist()
        assert http.get("/v2/models/rents").json()["inputs"] == [
            {"name": "input", "datatype": "FP64", "shape": [-1, 3]}
        ]
        assert client.partial_fit(X, y)["state"] == "learnt"


def test_errors_are_those_of_the_service(client):
    client.label(["c"], ["high"])
    with pytest.raises(ServiceError, match="revise") as found:
        client.label(["c"], ["low"])
    assert found.value.status == 409
    with (
        adforest.Client("http://127.0.0.1:9", "rents", retries=0) as nobody,
        pytest.raises(ServiceError, match="reached"),
    ):
        nobody.info()


@pytest.mark.parametrize(
    ("ids", "labels", "error"),
    [
        (["a", "b"], ["low"], "record_ids are 2 ids, and y has 1 labels"),
        ("a", ["low"], "record_ids are text, and y has 1 labels"),
        (["a", "a"], ["low", "high"], "a record_id stands twice in the request"),
    ],
)
def test_ids_and_labels_that_do_not_belong_together_are_refused(client, ids, labels, error):
    with pytest.raises((ValueError, ServiceError), match=error):
        client.label(ids, labels)


def test_what_a_proxy_answers_is_sent_again_after_the_time_that_is_told(monkeypatch):
    told = [(status, {}) for status in (408, 429, 502, 503, 504, 507)]
    told += [(503, {"retry-after": "1"}), (503, {"retry-after": "9" * 30}), (503, {"retry-after": "soon"})]
    answers = [*told, (200, {})]
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    with adforest.Client("http://rents.example", "rents", retries=len(told)) as client:

        def answer(request):
            status, headers = answers.pop(0)
            return httpx.Response(status, headers=headers, json={"batches": 3})

        client._http = httpx.Client(base_url=client.url, transport=httpx.MockTransport(answer))
        assert client.info() == {"batches": 3}
    assert len(pauses) == len(told)
    assert 1.0 <= pauses[6] <= 1.5
    assert 60.0 <= pauses[7] <= 90.0
    assert max(pauses[:6]) <= 3.0
    assert pauses[8] <= 3.0


def test_coroutines_do_the_same(http, client):
    X, y = parts(40, 1)

    async def ask():
        async with adforest.AsyncClient(str(http.base_url), "rents") as found:
            made = await found.create("rent", SMALL, batch_size=1000)
            assert (made["target"], made["batch_size"]) == ("rent", 1000)
            await found.partial_fit(X, y)
            one, many = await asyncio.gather(found.predict(X.slice(0, 1), ["async"]), found.predict_proba(X))
            await found.label(["async"], y[:1])
            return one, many

    one, many = asyncio.run(ask())
    assert one.shape == (1,)
    assert many.shape == (40, 2)
    assert state_of(http, "async") == "labelled"


def test_both_clients_have_the_same_methods():
    methods = [
        {name for name in vars(one) if not name.startswith("_")} for one in (adforest.Client, adforest.AsyncClient)
    ]
    assert methods[0] == methods[1]


def test_what_is_sent_again_while_the_service_is_killed_is_done_once(tmp_path):
    processes = [Process(tmp_path)]
    address = processes[0].address

    def kill_and_start():
        processes[-1].kill()
        processes.append(Process(tmp_path, "--port", address.rpartition(":")[2]))

    X, y = parts(60, 2)
    with adforest.Client(address, "rents", retries=30) as client:
        client.create("rent", SMALL)
        killer = threading.Timer(0.3, kill_and_start)
        killer.start()
        for number in range(3):
            client.partial_fit(X, y, key=f"batch {number}")
            client.partial_fit(X, y, key=f"batch {number}")
        killer.join()
        assert client.info()["batches"] == 3
    assert processes[-1].stop()[0] in (0, -15, 143)
