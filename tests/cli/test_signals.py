"""Commands that are asked to end: what is saved is told, what is not is dropped; and what systemd is told."""

import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pyarrow import csv

import adforest
from adforest.cli.stopping import SignalError, holding_signals, keep_signals, stopped_by_signals
from cli_commands import MOMENT, SMALL, json_lines, run, start, write_months

QUICK = ("--settle", "0", "--interval", "0.02", "--patience", "0.2")
PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 3)


@pytest.mark.posix
def test_watch_ends_well_and_says_what_it_learnt(folder):
    process = start("watch", folder, "-t", "rent", "-m", folder.parent / "m.adf", *SMALL, *QUICK)
    for _ in range(4):
        process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    lines = out.splitlines()
    assert re.fullmatch(rf"{MOMENT}  stopped by SIGHUP", lines[0])
    assert lines[1].startswith("learnt 3 batches, 180 records")


@pytest.mark.posix
def test_what_is_told_is_what_is_saved(folder):
    """A signal at any moment of a batch: the file has as many batches as the last line says."""
    for place in (0, 2):
        model = folder.parent / f"{place}.adf"
        process = start("watch", folder, "-t", "rent", "-m", model, *SMALL, *QUICK, "--json")
        process.stdout.readline()
        time.sleep(0.015 * place)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        end = json_lines(out)[-1]
        assert end["batches"] == len(adforest.load(model).history_)
        assert end["stopped"] == "SIGTERM"
        assert not list(folder.parent.glob(".*.tmp"))


@pytest.mark.posix
def test_a_process_that_a_signal_stopped_ends_at_once(folder, tmp_path):
    """Threads that read ahead would abort it while Python takes everything down."""
    code = "import atexit, sys; atexit.register(print, 'torn down'); from adforest.cli import program; program()"
    command = [sys.executable, "-c", code, "watch", folder, "-t", "rent", *SMALL, *QUICK, "-m"]
    once = subprocess.run([*command, tmp_path / "1.adf", "--once"], capture_output=True, text=True, timeout=60)
    assert (once.returncode, once.stdout.splitlines()[-1]) == (0, "torn down")
    process = subprocess.Popen([*command, tmp_path / "2.adf"], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopped by SIGTERM" in out
    assert "torn down" not in out


@pytest.mark.posix
def test_learn_says_what_is_kept_and_ends_as_shells_expect(tmp_path):
    folder, model = write_months(tmp_path / "months", 12, n=400), tmp_path / "m.adf"
    process = start("learn", folder, "-t", "rent", "-m", model, *SMALL)
    process.stdout.readline(), process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    n_learnt = len(adforest.load(model).history_)
    assert err.startswith("adforest: stopped by SIGTERM. ")
    assert f"{n_learnt} batch" in err


@pytest.mark.posix
def test_a_signal_waits_for_what_must_not_be_cut_in_two():
    done = []

    def save():
        with holding_signals():
            signal.raise_signal(signal.SIGTERM)
            done.append("saved")

    with stopped_by_signals():
        with pytest.raises(SignalError) as stopped:
            save()
        assert (done, stopped.value.name) == (["saved"], "SIGTERM")
        with pytest.raises(SignalError):
            signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to processes of their own only")
def test_no_signal_is_lost_while_a_csv_file_is_read():
    """By itself pyarrow loses one in ten or more of those that come meanwhile."""
    data, came = b"a,b\n" + b"1,x\n" * 3000, []
    keep_signals()
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        for n_sent in range(1, 101):
            timer = threading.Timer(0.002, os.kill, (os.getpid(), signal.SIGTERM))
            timer.start()
            while timer.is_alive():
                csv.read_csv(io.BytesIO(data))
            timer.join()
            assert len(came) == n_sent
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.posix
def test_what_nohup_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.posix
def test_systemd_is_told_of_start_life_and_end(capsys, folder, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        command = ("watch", folder, "-t", "rent", "-m", folder.parent / "m.adf", *SMALL, *QUICK, "--once")
        assert run(capsys, *command)[0] == 0
        told = [receiver.recv(100)]
        while told[-1] != b"STOPPING=1":
            told.append(receiver.recv(100))
    assert told[0] == b"READY=1"
    assert told.count(b"READY=1") == 1
    assert told.count(b"WATCHDOG=1") >= 2 + 3, "at each look and after each batch"


# --- packaging


def test_the_unit_runs_a_command_that_there_is(capsys, tmp_path):
    text = (PACKAGING / "adforest-watch@.service").read_text()
    [command] = re.findall(r"^ExecStart=/usr/bin/env adforest (.*)$", text, re.MULTILINE)
    write_months(tmp_path / "inbox", 2)
    options = "--target rent --drop id --once " + " ".join([*SMALL, *QUICK])
    given = command.replace("/var/lib/adforest/%i", str(tmp_path)).replace("$ADFOREST_OPTIONS", options)
    code, out, _ = run(capsys, *shlex.split(given))
    assert code == 0
    assert json_lines(out)[-1]["batches"] == 2


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit():
    unit = PACKAGING / "adforest-watch@.service"
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_container_is_no_root_and_gets_signals_itself():
    lines = (PACKAGING / "Containerfile").read_text().splitlines()
    assert "USER adforest" in lines
    assert 'ENTRYPOINT ["adforest"]' in lines, "not by a shell, which would keep signals to itself"
    assert "STOPSIGNAL SIGTERM" in lines
