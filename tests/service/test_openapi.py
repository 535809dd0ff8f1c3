"""The description of the calls: its examples can be sent, and answers have the fields that it says."""

from served import service

M, V2 = "/v1/models/{model}", "/v2/models/{model}"
VALUES = {"{model}": "rents", "{record_id}": "a1", "{number}": "7", "{version}": "7"}
JSON, CSV = "application/json", "text/csv"
CALLS = [
    ("put", M, JSON),
    *[("post", f"{M}/batches", kind) for kind in (JSON, JSON, JSON, JSON, CSV, CSV, CSV)],
    *[("post", f"{M}/predict", kind) for kind in (CSV, JSON)],
    ("put", f"{M}/records/{{record_id}}/label", JSON),
    ("post", f"{M}/labels", JSON),
    ("post", f"{M}/records/{{record_id}}/activate", None),
    *[("get", f"{M}{path}", None) for path in ("/batches/{number}", "", "/history", "/drift", "/versions", "/model")],
    *[("get", path, None) for path in ("/v1/models", "/v2", "/v2/health/live", "/v2/health/ready", V2, f"{V2}/ready")],
    *[("get", f"{V2}/versions/{{version}}{path}", None) for path in ("", "/ready")],
    *[("post", f"{V2}{path}/infer", JSON) for path in ("", "/versions/{version}")],
    ("post", f"{M}/rollback", JSON),
    ("put", f"{M}/challenger", JSON),
    ("get", f"{M}/challenger", None),
    ("post", f"{M}/batches", JSON),
    ("post", f"{M}/challenger/promote", None),
    ("put", f"{M}/challenger", JSON),
    ("delete", f"{M}/challenger", None),
    ("get", f"{M}/records/{{record_id}}", None),
    ("delete", f"{M}/records/{{record_id}}", None),
    ("delete", M, None),
]
OTHERS = {"/healthz", "/readyz", "/metrics"}


def test_every_example_can_be_sent_and_its_answer_is_as_described(tmp_path):
    with service(tmp_path) as client:
        described = client.get("/openapi.json").json()["paths"]
        for method, path, kind in CALLS:
            operation, address = described[path][method], path
            for name, value in VALUES.items():
                address = address.replace(name, value)
            sent = {} if kind is None else operation["requestBody"]["content"][kind]["example"]
            sent = (
                {"json": sent} if kind == JSON else {"content": sent, "headers": {"content-type": kind}} if sent else {}
            )
            answer = client.request(method, address, params={"wait": "true"}, **sent)
            assert answer.status_code in (200, 201, 204), (method, address, answer.text)
            told = operation["responses"][str(answer.status_code)].get("content", {})
            assert answer.headers.get("content-type") == next(iter(told), None)
            if JSON in told:
                assert is_like(answer.json(), told[JSON]["example"]), (method, path, answer.text)
    calls = {(method, path) for path in set(described) - OTHERS for method in described[path]}
    assert calls == {(method, path) for method, path, _ in CALLS}


def is_like(answer, example):
    """Return whether an answer has the fields of an example, with values of the same kinds."""
    if isinstance(example, dict):
        has_fields = not set(example) <= {"low", "mid"}  # else classes
        return not has_fields or all(name in answer and is_like(answer[name], one) for name, one in example.items())
    if isinstance(example, list):
        return isinstance(answer, list) and (
            not answer or all(any(is_like(one, told) for one in answer) for told in example)
        )
    return answer is None or example is None or isinstance(answer, type(example))
