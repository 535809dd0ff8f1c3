"""Who may look at the monitor, and what nobody can reach through it."""

import os
import shutil
import socket
import sys
from urllib.parse import quote

import pytest

from adforest.monitor import serve
from adforest.monitor.access import is_loopback
from adforest.monitor.launch import listen
from monitor_server import monitoring
from rent_stream import rent_model

pytestmark = pytest.mark.posix  # the folder holds links and a pipe


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two models beside a secret one, and links into and out of it."""
    parent = tmp_path_factory.mktemp("parent")
    inside = parent / "models"
    inside.mkdir()
    rent_model(3, 120, n_estimators=2).save(inside / "rents.adf")
    shutil.copy(inside / "rents.adf", parent / "secret.adf")
    shutil.copy(inside / "rents.adf", inside / "with a % and ü.adf")
    (inside / "linked.adf").symlink_to("rents.adf")
    (inside / "out.adf").symlink_to(parent / "secret.adf")
    (inside / "up.adf").symlink_to("..")
    (inside / "passwd.adf").symlink_to("/etc/passwd")
    (inside / ".hidden.adf").write_bytes((inside / "rents.adf").read_bytes())
    (inside / "damaged.adf").write_bytes(b"no model")
    (inside / "nested.adf").mkdir()
    os.mkfifo(inside / "pipe.adf")
    return inside


@pytest.fixture(scope="module")
def local(folder):
    with monitoring(folder) as running:
        yield running


@pytest.fixture(scope="module")
def remote(folder):
    """One that listens beyond this machine, as far as it can tell."""
    with monitoring(folder, host="0.0.0.0") as running:
        yield running


def test_the_folder_lists_its_models_and_nothing_else(local):
    page = local.ask().text
    for name in ("rents.adf", "linked.adf", "with a % and ü.adf", "damaged.adf"):
        assert name in page
    for name in ("secret", "out.adf", "up.adf", "passwd", ".hidden", "nested", "pipe"):
        assert name not in page
    assert "damaged.adf cannot be loaded" in page


@pytest.mark.parametrize("name", ["rents.adf", "linked.adf", "with a % and ü.adf"])
def test_models_are_shown(local, name):
    answer = local.ask(f"/models/{quote(name, safe='')}")
    assert answer.status == 200
    assert f"<b>{name}</b>" in answer.text


ESCAPES = [
    "../secret.adf",
    "..%2Fsecret.adf",
    "%2e%2e%2fsecret.adf",
    "%252e%252e%252fsecret.adf",
    "..%5Csecret.adf",
    "....//secret.adf",
    "rents.adf/../../secret.adf",
    "./rents.adf%00",
    "%2Fetc%2Fpasswd",
    "/etc/passwd",
    "out.adf",
    "up.adf",
    "up.adf/secret.adf",
    "passwd.adf",
    ".hidden.adf",
    "nested.adf",
    "pipe.adf",
    "RENTS.ADF",
    "",
    "%ff%fe",
    "a" * 5000,
]


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("page", ["", "/events", "/report.html"])
def test_no_name_leads_out_of_the_folder(local, name, page):
    answer = local.ask(f"/models/{name}{page}")
    assert answer.status == 404
    assert "root:" not in answer.text
    assert "permanent" not in answer.text


@pytest.mark.parametrize("name", ["page.py", "../page.css", "..%2Fpage.css", "%2e%2e/server.py", "page.css%00", ""])
def test_no_other_file_of_the_package_is_served(local, name):
    assert local.ask(f"/static/{name}").status == 404


def test_one_model_file_shows_that_file_alone(folder):
    with monitoring(folder / "rents.adf") as running:
        answer = running.ask("/")
        assert (answer.status, answer.headers["location"]) == (307, "./models/rents.adf")
        assert running.ask("/models/rents.adf").status == 200
        assert running.ask("/models/linked.adf").status == 404
        assert "All models" not in running.ask("/models/rents.adf").text


def test_a_damaged_model_says_what_is_wrong(local):
    answer = local.ask("/models/damaged.adf")
    assert answer.status == 503
    assert "damaged.adf cannot be loaded" in answer.text


# Names of this machine


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_this_machine_by_its_own_names(local, host):
    assert local.ask(Host=host.format(port=local.port)).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost@evil.example", "", "[::1", "a b"],
)
def test_a_stranger_whose_name_was_made_to_point_here_sees_nothing(local, host):
    for path in ("/", "/models/rents.adf", "/static/page.js", "/events"):
        answer = local.ask(path, Host=host.format(port=local.port))
        assert answer.status == 421
        assert "rents" not in answer.text


# Tokens


def test_no_token_on_this_machine(local):
    assert "token" not in local.address


def test_a_token_elsewhere(remote):
    assert len(remote.token) >= 40
    for path in ("/", "/models/rents.adf", "/static/page.css", "/events", "/nowhere"):
        answer = remote.ask(path)
        assert answer.status == 401
        assert "rents" not in answer.text
        assert remote.token not in answer.text


@pytest.mark.parametrize("wrong", ["", "x", "{token}x", "{short}", "%C3%BC", "{token}%00"])
def test_wrong_tokens(remote, wrong):
    given = wrong.format(token=remote.token, short=remote.token[:-1])
    assert remote.ask(f"/?token={given}").status == 401
    assert remote.ask("/", Authorization=f"Bearer {given}").status == 401
    assert remote.ask("/", Cookie=f"adforest_monitor_{remote.port}={given}").status == 401
    assert remote.ask("/", Cookie=f"adforest_monitor_1={remote.token}").status == 401


def test_a_token_becomes_a_cookie_and_leaves_the_address(remote):
    first = remote.ask(f"/models/rents.adf?last=100&token={remote.token}&depth=3")
    assert (first.status, first.headers["location"]) == (303, "?last=100&depth=3")
    cookie, *rules = first.headers["set-cookie"].split("; ")
    assert set(rules) == {"Path=/", "HttpOnly", "SameSite=Lax"}
    for path in ("/", "/models/rents.adf", "/static/page.css"):
        assert remote.ask(path, Cookie=f"other=1; {cookie}").status == 200
    assert remote.ask("/", Cookie=cookie, Host="monitor.example").status == 200


def test_a_token_as_authorization(remote):
    assert remote.ask("/", Authorization=f"Bearer {remote.token}").status == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_a_token_leads_to_no_other_machine(remote, path):
    answer = remote.ask(f"{path}?token={remote.token}")
    assert answer.status == 303
    assert answer.headers["location"] == "?"  # the same path of the same machine


def test_every_monitor_has_a_token_of_its_own(folder, remote):
    with monitoring(folder, host="0.0.0.0") as other:
        assert other.token != remote.token


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.7", False),
    ],
)
def test_loopback(address, is_local):
    assert is_loopback(address) is is_local


# Headers and limits


@pytest.mark.parametrize("path", ["/", "/models/rents.adf", "/static/page.js", "/nowhere"])
def test_policy(local, path):
    headers = local.ask(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


def test_a_record_that_is_too_large(local):
    assert local.ask("/models/rents.adf", method="POST", form={"c0": "1" * 1_000_001}).status == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(local, method):
    assert local.ask("/models/rents.adf", method=method).status == 405


@pytest.mark.parametrize(
    "query",
    ["tree=-1", "tree=99", "node=999999", "depth=0", "depth=99999999999999", "forest=none", "before=x", "last=7"],
)
def test_what_makes_no_sense_is_as_if_it_had_not_been_asked(local, query):
    assert local.ask(f"/models/rents.adf?{query}").status == 200


# Starting


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.adf is neither a model file nor a folder"):
        serve(tmp_path / "nothing.adf")


def test_a_port_that_is_taken(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=rf"cannot listen at 127\.0\.0\.1, port {port}: .* Give another --port"):
            serve(folder, port=port)


def test_where_another_process_could_take_the_same_port_it_is_kept_out(monkeypatch):
    """On Windows, where SO_REUSEADDR means that; its own option is the one that is set."""
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
    with listen("127.0.0.1", 0) as listener:
        options = (socket.SO_KEEPALIVE, socket.SO_REUSEADDR)
        assert [bool(listener.getsockopt(socket.SOL_SOCKET, one)) for one in options] == [True, False]


def test_a_host_that_is_none():
    with pytest.raises(OSError, match=r"cannot listen at no\.such\.host\.invalid: .*Give a name or address"):
        serve(".", host="no.such.host.invalid")


def test_missing_extra_says_what_to_install(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(ImportError, match=r"pip install 'adforest\[monitor\]'"):
        serve(folder)
