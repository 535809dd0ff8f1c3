"""Long runs: what may pass is waited for and keeps its place, what does not is set aside, nothing is overwritten."""

import errno
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import adforest
from adforest.cli import watching
from adforest.cli.folder import FileLog, Folder
from adforest.cli.learning import Learner
from adforest.cli.model_file import ConflictError, ModelFile
from adforest.storage import atomic
from cli_commands import MOMENT, SMALL, content, json_lines, learnt, month, run, start, write_months
from table_files import write

QUICK = ("--settle", "0", "--interval", "0.02", "--patience", "0.2")


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 3)


def command(folder, *options):
    model = folder.parent / "m.adf"
    return ("watch", folder, "-t", "rent", "--drop", "id", "-m", model, *SMALL, *QUICK, *options)


def n_batches(model):
    return len(adforest.load(model).history_)


def failing(times, error, real):
    """Return a function that raises so many times before it does what it should."""
    left = [times]

    def called(*arguments, **options):
        if left[0]:
            left[0] -= 1
            raise error
        return real(*arguments, **options)

    return called


# --- what may pass


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EACCES, "denied"), OSError(errno.EIO, "failed"), MemoryError()]
)
def test_a_file_that_cannot_be_read_now_keeps_its_place(capsys, folder, monkeypatch, error):
    real = Learner.batches

    def batches(self, path):
        return reading(self, path) if path.name == "month-2.csv" else real(self, path)

    reading = failing(2, error, real)
    monkeypatch.setattr(Learner, "batches", batches)
    code, out, err = run(capsys, *command(folder, "--once", "--json"))
    assert code == 0
    assert [one["files"][0][-11:] for one in json_lines(out)[:-1]] == [f"month-{n}.csv" for n in (1, 2, 3)]
    assert err.count("waiting until that is possible") == 1
    assert err.endswith("s\n")
    assert not (folder / "rejected").exists()


def test_one_that_cannot_be_read_for_long_ends_a_single_run(capsys, folder, monkeypatch):
    real = Learner.batches

    def refused(self, path):
        if path.name == "month-2.csv":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(self, path)

    monkeypatch.setattr(Learner, "batches", refused)
    code, _, err = run(capsys, *command(folder, "--once"))
    assert code == 1
    assert f"Permission denied: '{folder}/month-2.csv'" in err.splitlines()[-1]
    assert n_batches(folder.parent / "m.adf") == 1, "those behind it wait"
    assert not (folder / "rejected").exists()


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_full_disk_is_waited_for(capsys, folder, monkeypatch, name):
    full = failing(6, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), getattr(os, name))
    monkeypatch.setattr(atomic.os, name, full)
    code, _, err = run(capsys, *command(folder, "--once", "--patience", "30"))
    model = folder.parent / "m.adf"
    assert code == 0
    path = model if name == "fsync" else model.with_name(".m.adf.files.json")
    problem = f"'{path}' cannot be written (No space left on device)"
    status = "the status of the model cannot be written ([Errno 28] No space left on device)"
    told = [re.sub(rf"^adforest: {MOMENT} ", "", line) for line in err.splitlines()]
    assert told[:2] == [f"warning: {status}", f"warning: {problem}; waiting until that is possible"]
    assert len(told) == 3, "each is told once"
    assert told[2].startswith("it goes on after") or told[2].startswith("info: it goes on after")
    assert n_batches(model) == 3
    assert not list(folder.parent.glob("*.tmp"))


@pytest.mark.posix
def test_a_folder_that_disappears_is_waited_for(folder):
    process = start(*command(folder, "--json"))
    for _ in range(3):
        process.stdout.readline()
    os.rename(folder, folder.parent / "unmounted")
    told = process.stderr.readline()
    write(month(4), folder.parent / "unmounted" / "month-4.csv")
    os.rename(folder.parent / "unmounted", folder)
    (learnt_now,) = json_lines(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert f"No such file or directory: '{folder}'; waiting until that is possible" in told
    assert learnt_now["files"] == [str(folder / "month-4.csv")]
    assert process.returncode == 0
    assert "it goes on after" in err
    assert json_lines(out)[-1]["stopped"] == "SIGTERM"


def test_waits_become_longer_and_are_told_once(capsys):
    backoff = watching.Backoff(1.0)
    assert [backoff.failed("the disk is full") for _ in range(8)] == [2, 4, 8, 16, 32, 60, 60, 60]
    backoff.succeeded()
    assert backoff.failed("the disk is full") == 2
    err = capsys.readouterr().err
    assert err.count("warning: the disk is full") == 2
    assert err.count("it goes on after") == 1


# --- what does not pass


def test_a_file_that_ends_the_process_is_set_aside_after_some_attempts(capsys, folder):
    """Attempts that never came to an end, as of a process that was killed for its memory."""
    model, path = folder.parent / "m.adf", folder / "month-2.csv"
    seen = Folder(folder, 0, 0, folder / "rejected")
    seen.look()
    for n_before in range(3):
        assert FileLog(model).begin(path, seen.signature(path)) == n_before
    code, out, _ = run(capsys, *command(folder, "--once"))
    assert code == 3
    assert "month-2.csv was moved to" in out
    assert "3 attempts to learn it ended the process" in (folder / "rejected/month-2.csv.reason.txt").read_text()
    assert n_batches(model) == 2
    log = FileLog(model)
    assert (log.n_rejected, [one.file for one in log.rejections]) == (1, [str(path)])
    assert json.loads(log.path.read_bytes())["attempts"] == {}


def test_memory_that_runs_out_every_time_is_such_an_attempt(capsys, folder, monkeypatch):
    real = Learner.batches

    def batches(self, path):
        if path.name == "month-2.csv":
            raise MemoryError
        return real(self, path)

    monkeypatch.setattr(Learner, "batches", batches)
    assert run(capsys, *command(folder, "--once", "--patience", "30", "--attempts", "2"))[0] == 3
    assert n_batches(folder.parent / "m.adf") == 2
    assert (folder / "rejected" / "month-2.csv").exists()


def test_attempts_that_end_and_files_that_changed_are_not_counted(tmp_path):
    log = FileLog(tmp_path / "m.adf")
    assert log.begin(tmp_path / "x.csv", (1, 2)) == 0
    assert FileLog(tmp_path / "m.adf").begin(tmp_path / "x.csv", (1, 3)) == 0, "it was written to"
    again = FileLog(tmp_path / "m.adf")
    assert again.begin(tmp_path / "x.csv", (1, 2)) == 1
    again.end()
    assert again.begin(tmp_path / "x.csv", (1, 2)) == 0
    log.path.write_text("no JSON")
    assert FileLog(tmp_path / "m.adf").n_rejected == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-records", "50"), "holds 60 records or more; expected --max-records 50 at most."),
        (("--max-bytes", "500"), "bytes or more; expected --max-bytes 500 at most."),
        (("--max-columns", "4"), "holds 5 columns or more; expected --max-columns 4 at most."),
    ],
)
@pytest.mark.parametrize("suffix", ["csv.gz", "parquet"])
def test_files_beyond_limits_are_refused(capsys, tmp_path, options, message, suffix):
    folder = write_months(tmp_path / "months", 1, suffix)
    assert run(capsys, *command(folder, "--once", *options))[0] == 3
    assert message in (folder / "rejected" / f"month-1.{suffix}.reason.txt").read_text()
    code, _, err = run(capsys, "learn", folder / "rejected", "-t", "rent", "-m", tmp_path / "n.adf", *options)
    assert code == 1
    assert message in err


# --- a model file that others change


@pytest.mark.posix
def test_a_restored_backup_is_read_again_and_learns_on(folder):
    """Files that the backup does not know are learnt once more; nobody's model is overwritten."""
    model, backup = folder.parent / "m.adf", folder.parent / "backup.adf"
    process = start(*command(folder, "--json"))
    limit = threading.Timer(60, process.kill)  # a line that never comes ends the test instead of holding it up
    limit.start()
    process.stdout.readline()
    shutil.copy(model, backup)
    while n_batches(model) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.stdout.readline(), process.stdout.readline()
    expected = content(model)
    n_then = n_batches(backup)
    os.replace(backup, model)
    again = [json.loads(process.stdout.readline() or "{}") for _ in range(3 - n_then)]
    limit.cancel()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"'{model}' was changed by another program; it was read again, with {n_then} batch" in err
    assert [one["batch"] for one in again] == list(range(n_then + 1, 4))
    assert content(model) == expected


def test_a_restored_backup_ends_it_if_asked_to(capsys, folder, monkeypatch):
    model = learnt(capsys, folder / "month-[12].csv", model=folder.parent / "m.adf")
    backup = model.read_bytes()
    real = Learner.learn

    def restored(self, *arguments):
        report = real(self, *arguments)
        model.write_bytes(backup)
        return report

    monkeypatch.setattr(Learner, "learn", restored)
    write(month(4), folder / "month-4.csv")
    code, _, err = run(capsys, *command(folder, "--once", "--on-conflict", "refuse"))
    assert code == 1
    assert f"'{model}' was changed by another program; --on-conflict is refuse. What is there was kept." in err
    assert model.read_bytes() == backup
    code, _, err = run(capsys, "learn", folder, "-m", model)
    assert code == 1
    assert f"'{model}' was changed by another program" in err
    assert model.read_bytes() == backup


@pytest.mark.posix
def test_a_link_that_leads_elsewhere_is_followed(capsys, folder):
    """The model that is called m.adf is another file now: that one is locked, read and learnt into."""
    one, two, link = (folder.parent / name for name in ("one.adf", "two.adf", "m.adf"))
    learnt(capsys, folder / "month-1.csv", model=one)
    learnt(capsys, folder / "month-[12].csv", model=two)
    link.symlink_to(one)
    learner = Learner(ModelFile(link), None, {}, {})
    ((batch, parts),) = learner.batches(folder / "month-3.csv")
    link.unlink()
    link.symlink_to(two)
    with pytest.raises(ConflictError, match=r"is a link to another file now, '.*two\.adf'"):
        learner.learn(batch, parts)
    assert learner.reload()
    learner.learn(batch, parts)
    learner.file.release()
    assert (n_batches(one), n_batches(two)) == (1, 3)


@pytest.mark.posix
def test_a_model_that_was_removed_is_written_again(folder):
    model = folder.parent / "m.adf"
    process = start(*command(folder, "--json"))
    for _ in range(3):
        process.stdout.readline()
    model.unlink()
    assert "was removed; it is written again" in process.stderr.readline()
    while not model.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert n_batches(model) == 3


def test_a_model_that_is_being_copied_there_is_waited_for(capsys, folder, monkeypatch):
    model = learnt(capsys, folder / "month-1.csv", model=folder.parent / "m.adf")
    backup = model.read_bytes()
    real = watching.Watcher._look

    def look(self, show):
        if n_looks.append(0) or len(n_looks) == 2:
            model.write_bytes(backup[:1000])
            threading.Timer(0.3, lambda: model.write_bytes(backup)).start()
        return real(self, show)

    n_looks = []
    monkeypatch.setattr(watching.Watcher, "_look", look)
    code, _, err = run(capsys, *command(folder, "--once", "--settle", "0.5"))
    assert code == 0
    assert "and cannot be loaded yet" in err
    assert n_batches(model) == 3


# --- large files


def test_a_large_file_is_cut_and_an_interrupted_one_goes_on(capsys, tmp_path, monkeypatch):
    from adforest.cli import learning

    monkeypatch.setattr(learning, "WHOLE_RECORDS", 100)
    monkeypatch.setattr(learning, "PIECE_RECORDS", 40)
    folder = write_months(tmp_path / "months", 1, "csv.gz", n=130)
    assert run(capsys, *command(folder, "--once"))[0] == 0
    expected = content(tmp_path / "m.adf")
    assert [report.n_samples for report in adforest.load(tmp_path / "m.adf").history_] == [40, 40, 40, 10]
    (tmp_path / "m.adf").unlink()
    real, n_learnt = Learner.learn, []

    def interrupted(self, *arguments):
        if len(n_learnt) == 2 and n_learnt.append(0) is None:
            raise KeyboardInterrupt
        n_learnt.append(0)
        return real(self, *arguments)

    monkeypatch.setattr(Learner, "learn", interrupted)
    assert run(capsys, *command(folder, "--once"))[0] == 130
    assert run(capsys, *command(folder, "--once"))[0] == 0
    assert content(tmp_path / "m.adf") == expected
    assert "passed over" in run(capsys, *command(folder, "--once"))[1]


MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.posix
def test_memory_does_not_grow_with_a_file(tmp_path):
    """25,000 records, and half a million more; `benchmarks/measures.py watch_memory` has twenty million."""
    peaks = []
    for n in (25_000, 525_000):
        folder = tmp_path / str(n)
        folder.mkdir()
        with gzip.open(folder / "x.csv.gz", "wb", compresslevel=1) as file:
            file.write(b"a,b,y\n" + b"1.5,2,u\n" * (n // 2) + b"2.5,3,v\n" * (n // 2))
        watched = ("watch", folder, "-t", "y", "-m", tmp_path / f"{n}.adf", *SMALL, *QUICK, "--once")
        given = [sys.executable, "-c", MEASURED, sys.executable, "-m", "adforest", *map(str, watched)]
        code, kilobytes = subprocess.run(given, capture_output=True, text=True, check=True).stdout.split()
        assert code == "0"
        peaks.append(int(kilobytes) / 1e3)
    assert len(adforest.load(tmp_path / "525000.adf").history_) == 21
    assert peaks[1] - peaks[0] < 100, "half a million records more take 250 MB at once"
