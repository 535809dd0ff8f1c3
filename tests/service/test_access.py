"""The service is closed to strangers: names, origins, tokens, files."""

import json
import os
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import time
from contextlib import ExitStack

import httpx
import pytest
from typer.testing import CliRunner

from adforest.cli.app import app
from adforest.monitor.connections import Bounded
from adforest.service import process
from adforest.service.gate import AuditLog
from adforest.service.process import ServiceOptions, serving
from adforest.service.tokens import RIGHTS, Tokens
from served import Process, as_records, client_of, make, rents, service, teach

M = "/v1/models/rents"


def test_nobody_listens_to_the_network_without_tls_and_tokens(tmp_path):
    def start(host="0.0.0.0", **more):
        with serving(ServiceOptions(tmp_path, host=host, port=0, **more)) as address:
            return address

    with pytest.raises(ValueError, match="without TLS"):
        start()
    with pytest.raises(ValueError, match="no tokens"):
        start(proxy="models.example.org")
    with pytest.raises(ValueError, match=r"at models\.example\.org and there are no tokens"):
        start(host="127.0.0.1", proxy="models.example.org")
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
    refused = [(one["who"], one["path"]) for one in lines if one["status"] in (401, 403)]
    assert refused[:2] == [("", "/v1/models"), ("app", "/v1/models/other/predict")]
    assert ("app", "/v1/models/rents/records/a/label") in refused
    assert not any(one["path"].endswith("/label") and one["status"] == 201 for one in lines)


def test_tokens_that_are_made_and_withdrawn_are_noted(tmp_path):
    run = CliRunner().invoke
    made = run(app, ["token", "add", "shop", "--data", str(tmp_path), "--right", "label", "--model", "rents"])
    run(app, ["token", "remove", "shop", "--data", str(tmp_path)])
    text = (tmp_path / ".adforest-audit.log").read_text()
    first, second = (json.loads(one) for one in text.splitlines())
    assert (first["action"], first["token"], first["rights"], first["models"]) == ("add", "shop", ["label"], ["rents"])
    assert (second["action"], second["token"]) == ("remove", "shop")
    assert made.stdout.strip() not in text


@pytest.mark.posix  # a service is started and stopped by signals
def test_the_token_of_the_pages_is_not_in_the_output_of_a_service_without_a_terminal(tmp_path):
    Tokens(tmp_path).add("one", ["admin"])
    process, told = Process(tmp_path), tmp_path / ".adforest-address"
    try:
        assert "token=" not in process.line
        assert str(told) in process.line
        assert stat.S_IMODE(told.stat().st_mode) == 0o600
        with client_of(process.address, follow_redirects=True) as client:
            assert client.get("/").status_code == 401
            assert client.get(told.read_text().strip()).status_code == 200
    finally:
        process.kill()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for this machine that it signed itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2"
    command += " -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder / "certificate.pem", folder / "key.pem"


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.posix)])
def test_clients_check_the_certificate_of_the_service(tmp_path, certificate, workers):
    of_tls = "--certificate", str(certificate[0]), "--key", str(certificate[1])
    process = Process(tmp_path, *of_tls, "--workers", str(workers))
    try:
        assert process.address.startswith("https://127.0.0.1:")
        with client_of(process.address, verify=ssl.create_default_context(cafile=certificate[0])) as client:
            make(client)
            body = {"records": as_records(rents(1)), "record_ids": ["a"]}
            assert client.post(f"{M}/predict", json=body).status_code == 200
            assert client.put(f"{M}/records/a/label", json={"label": "low"}).status_code == 201
        with client_of(process.address) as stranger, pytest.raises(httpx.ConnectError, match="certificate"):
            stranger.get("/healthz")
        with client_of(process.address.replace("https", "http")) as plain, pytest.raises(httpx.HTTPError):
            plain.get("/healthz")
        assert process.stop() == (0, "")
    finally:
        process.kill()


@pytest.mark.parametrize("is_there", [False, True])
def test_a_certificate_that_cannot_be_used_is_refused_at_the_start(tmp_path, certificate, is_there):
    other = tmp_path / "other.pem"
    if is_there:
        other.write_text("no certificate")
    options = ServiceOptions(tmp_path / "data", port=0, certificate=other, key=certificate[1])
    with pytest.raises(ValueError, match=r"other\.pem' cannot be used with the key '"), serving(options):
        pass


def test_a_tls_handshake_that_is_not_done_is_ended(tmp_path, certificate, monkeypatch):
    monkeypatch.setattr(Bounded, "head_seconds", 0.5)
    options = ServiceOptions(tmp_path, port=0, certificate=certificate[0], key=certificate[1])
    with serving(options) as address:
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
            assert one.recv(1) == b""  # 60 seconds by asyncio's default


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_tls_handshakes_under_way_count_as_connections(tmp_path, certificate, monkeypatch, loop):
    if loop == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)
    monkeypatch.setattr(process, "MAX_CONNECTIONS", 4)
    options = ServiceOptions(tmp_path, port=0, certificate=certificate[0], key=certificate[1])
    with serving(options) as address, ExitStack() as held:
        verify = ssl.create_default_context(cafile=certificate[0])
        begin = time.monotonic()
        with client_of(address, verify=verify) as client:
            assert client.get("/healthz").status_code == 200
            at = "127.0.0.1", client.base_url.port
            half = [held.enter_context(socket.create_connection(at, timeout=5)) for _ in range(7)]
            assert [one.recv(1) for one in half[:4]] == [b""] * 4  # the oldest; with that of the client 4 are left
            assert client.get("/healthz").status_code == 200
            with client_of(address, verify=verify) as another:
                assert another.get("/healthz").status_code == 200
        assert time.monotonic() - begin < Bounded.head_seconds


@pytest.mark.parametrize("name", ["predict", "infer", "labels", "label", "model", "records"])
def test_a_model_or_record_may_be_called_as_a_call_is(tmp_path, name):
    tokens, audit = Tokens(tmp_path), tmp_path / ".adforest-audit.log"
    heads = {right: {"authorization": f"Bearer {tokens.add(right, [right])}"} for right in RIGHTS}
    with service(tmp_path) as client:

        def status(right, method, path, **sent):
            return client.request(method, f"/v1/models/{path}", headers=heads[right], **sent).status_code

        target = {"json": {"target": "rent"}}
        assert [status(right, "PUT", name, **target) for right in RIGHTS] == [403, 403, 403, 201]
        assert status("label", "PUT", f"{name}/records/{name}/label", json={"label": "low"}) == 201
        assert [status(right, "DELETE", f"{name}/records/{name}") for right in RIGHTS] == [403, 200, 403, 200]
        assert [status(right, "GET", f"{name}/model") for right in RIGHTS] == [403, 403, 409, 409]
        assert [status(right, "DELETE", name) for right in RIGHTS] == [403, 403, 403, 204]
    noted = [json.loads(one) for one in audit.read_text().splitlines()]
    assert [one["path"] for one in noted if one["status"] == 204] == [f"/v1/models/{name}"]
    assert not any(one["method"] == "PUT" and "/records/" in one["path"] for one in noted)


def test_a_service_that_strangers_reach_stays_closed_without_its_last_token(tmp_path):
    tokens = Tokens(tmp_path)
    head = {"authorization": f"Bearer {tokens.add('one', ['admin'])}"}
    with service(tmp_path, proxy="models.example.org") as client:
        named = {"host": "models.example.org"}
        assert client.get("/v1/models", headers=head | named).status_code == 200
        tokens.remove("one")
        assert client.get("/v1/models", headers=head | named).status_code == 401
        (tmp_path / ".adforest-tokens.json").unlink()
        assert client.get("/v1/models", headers=named).status_code == 401
        assert client.get("/healthz", headers=named).status_code == 200


def test_pages_are_closed_once_there_are_tokens(tmp_path):
    with service(tmp_path) as client:
        assert client.get("/").status_code == 200
        Tokens(tmp_path).add("one", ["admin"])
        assert client.get("/").status_code == 401
        assert client.get("/v1/models").status_code == 401
        Tokens(tmp_path).remove("one")
        assert client.get("/").status_code == 200


@pytest.mark.parametrize("content", [b"{", b"{}", b"\xff", b"1", b"null", b'[{"name": "one"}]', b'["one"]', None])
def test_tokens_that_cannot_be_read_close_the_service(tmp_path, content):
    tokens, path = Tokens(tmp_path), tmp_path / ".adforest-tokens.json"
    head = {"authorization": f"Bearer {tokens.add('one', ['admin'])}"}
    with service(tmp_path) as client:
        assert client.get("/v1/models", headers=head).status_code == 200
        whole = path.read_bytes()
        path.unlink()
        path.mkdir() if content is None else path.write_bytes(content)
        for address in ("/v1/models", "/healthz", "/readyz"):
            answer = client.get(address, headers=head)
            assert (answer.status_code, list(answer.json())) == (503, ["error"])
            assert str(tmp_path) not in answer.text
        with pytest.raises(OSError, match=r"tokens\.json"):
            Tokens(tmp_path).all()
        path.rmdir() if content is None else path.unlink()
        path.write_bytes(whole)
        assert client.get("/v1/models", headers=head).status_code == 200


def test_a_change_that_cannot_be_noted_is_made_and_told(tmp_path, caplog):
    (tmp_path / ".adforest-audit.log").mkdir()
    with service(tmp_path) as client:
        make(client)
        assert client.get("/v1/models").json() == {"models": ["rents"]}
    assert ".adforest-audit.log' cannot be written" in caplog.text
    assert "PUT /v1/models/rents" in caplog.text


def test_processes_that_write_one_audit_log_begin_a_new_file_together(tmp_path, monkeypatch):
    monkeypatch.setattr("adforest.service.gate.MAX_AUDIT", 500)
    path = tmp_path / "audit.log"
    logs = AuditLog(path), AuditLog(path)
    for number in range(50):
        logs[number % 2].write({"number": number})
        lines = [*(tmp_path / "audit.log.1").read_text().splitlines()] if (tmp_path / "audit.log.1").exists() else []
        lines += path.read_text().splitlines() if path.exists() else []
        found = [json.loads(one)["number"] for one in lines]
        assert found == list(range(found[0], number + 1))  # the last ones, none is missing
    assert path.with_name("audit.log.1").stat().st_size < 1_000


def test_names_do_not_lead_out_of_the_folder(tmp_path):
    data = tmp_path / "data"
    with service(data) as client:
        for name in ("..%2Fout", "%2e%2e", ".hidden", "a%00b", "a" * 65, "CON.adf"):
            assert client.put(f"/v1/models/{name}", json={"target": "y"}).status_code in (404, 405, 422)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.posix
def test_what_is_kept_is_for_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        with service(tmp_path / "first") as client:
            make(client, "copied")
        (tmp_path / "data").mkdir()
        shutil.copy(tmp_path / "first" / "copied.adf", tmp_path / "data")
        (tmp_path / "data" / "copied.adf").chmod(0o644)
        (tmp_path / "data" / ".rents.adf.lock").touch(0o644)
        with service(tmp_path / "data") as client:
            teach(client, "copied", seed=1)
            make(client)
            client.post(f"{M}/predict", json={"records": as_records(rents(1)), "record_ids": ["a"]})
            files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
            assert {path.name.partition("-")[0] for path in files} >= {"rents.adf", "tables.db", "settings.json"}
            assert [str(path) for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
    finally:
        os.umask(before)
