"""The Open Inference Protocol, asked by a client of others."""

import numpy as np
import pytest

from served import as_records, make, rents, service

http = pytest.importorskip("tritonclient.http", reason="needs tritonclient[http]")
InferenceServerException = pytest.importorskip("tritonclient.utils").InferenceServerException


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with service(tmp_path_factory.mktemp("data")) as found:
        make(found)
        yield found


@pytest.fixture
def triton(client):
    found = http.InferenceServerClient(f"127.0.0.1:{client.base_url.port}")
    yield found
    found.close()


def tensors(table):
    for name in table.column_names:
        values = table[name].to_numpy(zero_copy_only=False)
        is_text = values.dtype == object
        values = values if is_text else values.astype(np.float64)
        one = http.InferInput(name, [len(table)], "BYTES" if is_text else "FP64")
        one.set_data_from_numpy(values, binary_data=False)
        yield one


def test_a_triton_client_is_answered_as_others_are(client, triton):
    assert triton.is_server_live()
    assert triton.is_server_ready()
    assert triton.is_model_ready("rents")
    about = triton.get_model_metadata("rents")
    assert [one["name"] for one in about["inputs"]] == ["area", "rooms", "district"]
    table = rents(7, 3)
    features = table.drop_columns(["rent"])
    outputs = [http.InferRequestedOutput(name, binary_data=False) for name in ("predict", "predict_proba")]
    found = triton.infer("rents", list(tensors(features)), outputs=outputs, request_id="mine")
    expected = client.post("/v1/models/rents/predict", json={"records": as_records(table)}).json()
    assert found.get_response()["id"] == "mine"
    assert found.get_response()["model_version"] == str(expected["model_version"])
    assert found.as_numpy("predict").tolist() == expected["predictions"]
    shares = [[row["high"], row["low"]] for row in expected["probabilities"]]
    assert np.allclose(found.as_numpy("predict_proba"), shares)


def test_binary_tensors_are_refused_with_the_way_to_send_them(triton):
    one = http.InferInput("area", [1], "FP64")
    one.set_data_from_numpy(np.array([70.0]))
    with pytest.raises(InferenceServerException, match=r"expected JSON\. Send them with binary_data=False"):
        triton.infer("rents", [one])


def test_a_model_or_version_that_is_not_there(triton):
    assert not triton.is_model_ready("none")
    assert not triton.is_model_ready("rents", "99")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"inputs": []},
        {"inputs": [{"name": "area", "shape": [2], "datatype": "FP64", "data": [1]}]},
        {"inputs": [{"name": "area", "shape": [2**40], "datatype": "FP64", "data": [1]}]},
        {"inputs": [{"name": "area", "shape": [1], "datatype": "FP64", "data": ["x"]}]},
        {"inputs": [{"name": "area", "shape": [1], "datatype": "COMPLEX", "data": [1]}]},
        {"inputs": [{"name": "area", "shape": [1], "datatype": "FP64", "data": [1]}], "outputs": [{"name": "other"}]},
    ],
)
def test_wrong_tensors_are_refused(client, body):
    answer = client.post("/v2/models/rents/infer", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]
