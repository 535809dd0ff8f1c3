"""The service is closed to strangers: names, origins, tokens, files."""

import json
import os
import stat

import pytest

from adforest.service.process import ServiceOptions, serving
from adforest.service.tokens import Tokens
from served import as_records, client_of, make, rents, service

M = "/v1/models/rents"


def test_nobody_listens_to_the_network_without_tls_and_tokens(tmp_path):
    def start(**more):
        with serving(ServiceOptions(tmp_path, host="0.0.0.0", port=0, **more)) as address:
            return address

    with pytest.raises(ValueError, match="without TLS"):
        start()
    with pytest.raises(ValueError, match="no tokens"):
        start(proxy="models.example.org")
    Tokens(tmp_path).add("one", ["predict"])
    assert start(proxy="models.example.org").startswith("http://")


def test_other_names_and_pages_from_elsewhere_are_refused(tmp_path):
    with service(tmp_path) as client:
        assert client.get("/v1/models", headers={"host": "evil.example.org"}).status_code == 421
        assert client.get("/v1/models", headers={"origin": "http://evil.example.org"}).status_code == 403
        assert client.get("/v1/models", headers={"origin": str(client.base_url).rstrip("/")}).status_code == 200
        assert client.get("/", headers={"host": "evil.example.org"}).status_code == 421


def test_tokens_allow_what_they_say(tmp_path):
    tokens = Tokens(tmp_path)
    admin, predict = tokens.add("admin", ["admin"]), tokens.add("app", ["predict"], ["rents"])
    label = tokens.add("back office", ["label"])

    def head(token):
        return {"authorization": f"Bearer {token}"}

    with service(tmp_path) as client:
        url = str(client.base_url)
        assert client.get("/v1/models").status_code == 401
        assert client.get("/healthz").status_code == 200
        assert client.get("/").status_code == 401  # the monitor has a token of its own
        with client_of(url, headers=head(admin)) as owner:
            make(owner)
        body = {"records": as_records(rents(1)), "record_ids": ["a"]}
        assert client.post(f"{M}/predict", json=body, headers=head(predict)).status_code == 200
        assert client.post("/v1/models/other/predict", json=body, headers=head(predict)).status_code == 403
        assert client.put(f"{M}/records/a/label", json={"label": "low"}, headers=head(predict)).status_code == 403
        assert client.put(f"{M}/records/a/label", json={"label": "low"}, headers=head(label)).status_code == 201
        assert client.delete("/v1/models/rents", headers=head(label)).status_code == 403
        assert client.get(f"{M}/model", headers=head(predict)).status_code == 403
        tokens.remove("app")
        assert client.post(f"{M}/predict", json=body, headers=head(predict)).status_code == 401
    kept = (tmp_path / ".adforest-tokens.json").read_text()
    assert admin not in kept
    lines = [json.loads(one) for one in (tmp_path / ".adforest-audit.log").read_text().splitlines()]
    assert ("admin", "PUT", "/v1/models/rents", 201) in [(o["who"], o["method"], o["path"], o["status"]) for o in lines]
    assert not any(secret in repr(lines) for secret in (admin, predict, label))


def test_names_do_not_lead_out_of_the_folder(tmp_path):
    data = tmp_path / "data"
    with service(data) as client:
        for name in ("..%2Fout", "%2e%2e", ".hidden", "a%00b", "a" * 65, "CON.adf"):
            assert client.put(f"/v1/models/{name}", json={"target": "y"}).status_code in (404, 405, 422)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_is_kept_is_for_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        with service(tmp_path / "data") as client:
            make(client)
            client.post(f"{M}/predict", json={"records": as_records(rents(1)), "record_ids": ["a"]})
            files = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and path.suffix != ".lock"]
            assert {path.name.partition("-")[0] for path in files} >= {"rents.adf", "tables.db", "settings.json"}
            assert [str(path) for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
    finally:
        os.umask(before)
