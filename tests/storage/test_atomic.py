"""A kill at any moment leaves the old file or the new one, whole."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from adforest.storage import atomic
from adforest.storage.atomic import write_atomically

KILLED_AT_RANDOM = """
import os, random, signal, sys, time
import numpy as np
import adforest

folder, n_kills = sys.argv[1], int(sys.argv[2])
path = os.path.join(folder, "model.adf")
rng = np.random.default_rng(0)
contents, models = [], []
for seed in (0, 1):
    X = rng.normal(size=(3_000, 5))
    model = adforest.AdaptiveDecisionForestClassifier(n_estimators=5, random_state=seed).fit(X, X[:, 0] > X[:, 1])
    model.save(path)
    contents.append(open(path, "rb").read())
    models.append(model)
assert contents[0] != contents[1]
start = time.monotonic()
for model in models:
    model.save(path)
both = time.monotonic() - start  # on a busy machine kills come later, so that files are still replaced before some
random.seed(0)
found = []
for kill in range(n_kills):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.save(path)
    time.sleep(random.uniform(0, max(0.06, 4 * both)))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with open(path, "rb") as file:
        found.append(contents.index(file.read()))
    adforest.load(path)
assert set(found) == {0, 1}, "the file was replaced, time and again"
print(len(found), "kills;", sum(name.endswith(".tmp") for name in os.listdir(folder)), "left a file behind")
"""

KILLED_AT = """
import os, signal, sys
from adforest.storage import atomic

name, when, path = sys.argv[1:]
real = getattr(os, name)
atomic.fcntl = None  # fsync on macOS, too

def end(*arguments):
    if when == "after":
        real(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(atomic.os, name, end)
atomic.write_atomically(path, [b"new " * 1000, b"end"])
"""


def run(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.posix
def test_processes_killed_at_random_moments(tmp_path):
    done = run(KILLED_AT_RANDOM, tmp_path, 60)
    assert done.returncode == 0, done.stderr
    assert "60 kills" in done.stdout


@pytest.mark.posix
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["fsync", "replace", "close"])
def test_processes_killed_at_each_step(name, when, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    assert run(KILLED_AT, name, when, path).returncode == -9
    is_new = (name, when) in (("replace", "after"), ("close", "before"), ("close", "after"))
    assert path.read_bytes() == (b"new " * 1000 + b"end" if is_new else b"old")
    write_atomically(path, [b"newer"])  # what is left behind is in nobody's way
    assert path.read_bytes() == b"newer"


def test_content_and_name_are_on_the_disk_in_this_order(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "fcntl", None)  # fsync on macOS, too
    steps = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(atomic.os, name, lambda *given, name=name, real=real: (steps.append(name), real(*given))[1])
    write_atomically(tmp_path / "file", [b"content"])
    assert steps == ["fsync", "replace", "fsync"]


@pytest.mark.posix
@pytest.mark.parametrize("is_supported", [True, False])
def test_the_cache_of_the_drive_is_flushed_where_fsync_leaves_it(tmp_path, monkeypatch, is_supported):
    """As on macOS; a file system may not know how, and then fsync is what there is."""
    steps = []

    def control(descriptor, command):
        steps.append(command)
        os.fstat(descriptor)
        if not is_supported:
            raise OSError(errno.ENOTSUP, "no such operation")

    monkeypatch.setattr(atomic, "fcntl", SimpleNamespace(F_FULLFSYNC=51, fcntl=control))
    monkeypatch.setattr(os, "fsync", lambda _: steps.append("fsync"))
    write_atomically(tmp_path / "file", [b"content"])
    assert steps == ([51, 51] if is_supported else [51, "fsync"] * 2)


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def content():
        yield b"half of it"
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write_atomically(path, content())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.posix
def test_permissions_and_links_stay(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomically(link, [b"new"])
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.posix
def test_a_new_file_has_the_permissions_of_any_other_unless_some_are_given(tmp_path):
    write_atomically(tmp_path / "model", [b""])
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "other").stat().st_mode
    write_atomically(tmp_path / "private", [b""], mode=0o600)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def test_what_is_found_before_replacing_may_keep_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse():
        assert path.read_bytes() == b"old"
        raise ValueError("somebody else wrote it")

    with pytest.raises(ValueError, match="somebody"):
        write_atomically(path, [b"new"], before_replacing=refuse)
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_bytes() == b"old"


def test_where_no_file_can_be(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Give the file a name"):
        write_atomically(tmp_path, [b""])
    with pytest.raises(FileNotFoundError):
        write_atomically(Path(tmp_path) / "nowhere" / "file", [b""])


@pytest.mark.parametrize(("seconds", "is_replaced"), [(60.0, True), (0.0, False)])
def test_readers_on_windows_are_waited_for(tmp_path, monkeypatch, seconds, is_replaced):
    """A file that is open cannot be replaced there."""
    path, refusals, replace = tmp_path / "file", [1, 2, 3], os.replace
    path.write_bytes(b"old")

    def replace_unless_read(source, target):
        if refusals:
            raise PermissionError(refusals.pop(), "another process reads it")
        replace(source, target)

    monkeypatch.setattr(atomic, "READERS_SECONDS", seconds)
    monkeypatch.setattr(os, "replace", replace_unless_read)
    if is_replaced:
        write_atomically(path, [b"new"])
    else:
        with pytest.raises(PermissionError):
            write_atomically(path, [b"new"])
    assert (path.read_bytes() == b"new") == is_replaced
    assert os.listdir(tmp_path) == ["file"]
