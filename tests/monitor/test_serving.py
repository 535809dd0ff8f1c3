"""The monitor for many: folders of hundreds of models, proxies, and connections that do not behave."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from adforest.cli import main
from adforest.monitor import serve
from adforest.monitor import server as monitor_server_module
from adforest.monitor.connections import BoundedProtocol
from adforest.monitor.model_files import ModelFiles
from adforest.monitor.summaries import Summaries
from monitor_server import monitoring
from rent_stream import rent_model

TOKEN = "a-fixed-token-of-some-length"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "rents.adf"
    rent_model(3, 120, n_estimators=2).save(path)
    return path


@pytest.fixture
def folder(model, tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(4):
        shutil.copy(model, folder / f"m{number}.adf")
    return folder


# --- many models


def test_a_model_is_looked_up_without_looking_at_the_others(folder, monkeypatch):
    looked, resolve = [], type(folder).resolve
    monkeypatch.setattr(type(folder), "resolve", lambda self, *more: looked.append(self) or resolve(self, *more))
    ModelFiles(folder).load("m1.adf")
    assert len([path for path in looked if path.suffix == ".adf"]) == 1


def test_the_page_of_a_folder_does_not_wait_for_slow_models(folder, monkeypatch):
    monkeypatch.setattr(monitor_server_module, "PATIENCE", 0.2)
    is_slow, read = [True], Summaries._read

    def slow(self, name):
        while is_slow[0] and name != "m0.adf":
            time.sleep(0.01)
        return read(self, name)

    monkeypatch.setattr(Summaries, "_read", slow)
    with monitoring(folder) as running:
        first = running.ask().text
        assert "4 models: 1 ok, 3 being read." in first
        is_slow[0] = False
        monkeypatch.setattr(monitor_server_module, "PATIENCE", 30)
        second = running.ask().text
        assert "4 models: 4 ok." in second
        versions = [re.search('data-version="([^"]*)"', page)[1] for page in (first, second)]
        assert versions[0] != versions[1]  # so that the page asks again


def test_unreadable_models_come_first_and_tell_no_path(folder):
    (folder / "z-damaged.adf").write_bytes(b"no model")
    with monitoring(folder) as running:
        page = running.ask().text
        assert page.index("<h2>z-damaged.adf") < page.index(">m0.adf<")
        assert "z-damaged.adf cannot be loaded" in page
        assert 'class="overview critical"' in page
        alone = running.ask("/models/z-damaged.adf").text
    for text in (page, alone):
        assert str(folder) not in text
        assert str(folder.parent) not in text


# --- proxies


def test_links_are_relative(folder):
    with monitoring(folder) as running:
        for path in ("/", "/models/m0.adf", "/models/none.adf", "/no/such/page"):
            page = running.ask(path).text
            links = re.findall(r'(?:href|src|action|data-events)="([^"]*)"', page)
            assert links
            assert not [link for link in links if link.startswith("/")]
    with monitoring(folder / "m0.adf") as running:
        assert running.ask("/").headers["location"] == "./models/m0.adf"


def test_a_path_that_a_proxy_leaves(folder):
    with monitoring(folder, base_path="/adforest/") as running:
        assert running.address.endswith("/adforest/")
        for path in (
            "/adforest/",
            "/adforest",
            "/adforest/models/m0.adf",
            "/adforest/static/page.css",
            "/models/m0.adf",
        ):
            assert running.ask(path).status == 200
        assert running.ask("/adforester/").status == 404


def test_names_that_are_allowed(folder):
    with monitoring(folder, allowed_hosts=["Monitor.Example"]) as running:
        for host, status in (("monitor.example:443", 200), ("localhost", 200), ("evil.example", 421)):
            assert running.ask(Host=host).status == status
    with monitoring(folder, token=TOKEN, allowed_hosts=["monitor.example"]) as running:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert running.ask(Host="monitor.example", **bearer).status == 200
        assert running.ask(Host="evil.example", **bearer).status == 421


def test_a_fixed_token_is_asked_for_and_not_printed(folder, monkeypatch, tmp_path):
    with monitoring(folder, token=TOKEN) as running:
        assert TOKEN not in running.address
        assert running.ask().status == 401
        assert running.ask(f"/?token={TOKEN}").status == 303
        assert running.ask(Authorization=f"Bearer {TOKEN}").status == 200
    given = {}
    monkeypatch.setattr("adforest.monitor.serve", lambda path, **options: given.update(options))
    (tmp_path / "token").write_text(TOKEN + "\n")
    assert main(["monitor", str(folder), "--token-file", str(tmp_path / "token"), "--allowed-host", "a.b"]) == 0
    assert (given["token"], given["allowed_hosts"]) == (TOKEN, ["a.b"])


@pytest.mark.parametrize("wrong", [{"token": "short"}, {"token": "ü" * 20}, {"base_path": "adforest"}])
def test_what_is_refused(folder, wrong):
    with pytest.raises(ValueError, match=r"the (token|base path) is"):
        serve(folder, **wrong)


def test_head(folder):
    with monitoring(folder) as running:
        for path in ("/", "/models/m0.adf", "/static/page.css", "/models/m0.adf/report.html"):
            answer = running.ask(path, method="HEAD")
            assert (answer.status, answer.text) == (200, "")
        assert running.ask("/events", method="HEAD").status == 405


# --- connections


def test_connections_that_say_nothing_are_ended(folder, monkeypatch):
    monkeypatch.setattr(BoundedProtocol, "head_seconds", 0.2)
    with monitoring(folder) as running:
        for start in (b"", b"GET / HTTP/1.1\r\nHost: local"):
            with socket.create_connection(("127.0.0.1", running.port), timeout=30) as half_open:
                half_open.sendall(start)
                assert half_open.recv(1) == b""
        assert running.ask().status == 200


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of open files")
def test_more_connections_than_files_do_not_stop_it(folder):
    """300 connections that say nothing, to a process that may open 256 files."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)); "
        "from adforest.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "monitor", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    opened = []
    try:
        port = urlsplit(re.search("http://[^ ]*", process.stdout.readline())[0]).port
        opened += [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(300)]
        with socket.create_connection(("127.0.0.1", port), timeout=30) as asked:
            asked.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert asked.recv(20).startswith(b"HTTP/1.1 200")
    finally:
        for one in opened:
            one.close()
        process.terminate()
        _, err = process.communicate()
    assert len(err) < 1_000


def test_a_record_that_does_not_come_whole_is_no_fault(folder, capfd):
    with monitoring(folder) as running:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", running.port)) as asked:
                head = f"POST /models/m0.adf HTTP/1.1\r\nHost: localhost:{running.port}\r\nContent-Length: 1000\r\n\r\n"
                asked.sendall(head.encode() + b"c0=1")
        assert running.ask().status == 200
        time.sleep(0.2)
    assert capfd.readouterr().err == ""


def test_one_process_may_open_few_files(monkeypatch):
    from adforest.monitor import connections

    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 100))
    assert connections.max_connections() == 50
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**6, 10**6))
    assert connections.max_connections() == connections.MAX_CONNECTIONS
    assert os.name == "posix"
