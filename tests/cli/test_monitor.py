"""The verbs monitor and report: the same page, live or as a file."""

import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

from cli_commands import json_lines, learnt_here, run, write_months


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return learnt_here(write_months(tmp_path_factory.mktemp("monitored") / "months", 3))


def test_a_report_is_one_file(capsys, model, tmp_path):
    code, out, err = run(capsys, "report", model, "-o", tmp_path / "r.html")
    assert (code, err) == (0, "")
    assert out.startswith(f"{tmp_path}/r.html: report of {model}, ")
    page = (tmp_path / "r.html").read_text()
    assert model.name in page
    assert "<svg" in page
    (told,) = json_lines(run(capsys, "report", model, "-o", tmp_path / "r.html", "--json")[1])
    assert told == {"out": f"{tmp_path}/r.html", "bytes": len(page.encode())}


@pytest.mark.posix
def test_the_monitor_answers_until_it_is_interrupted(model):
    command = [sys.executable, "-m", "adforest", "monitor", str(model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            address = re.search(r"http://\S+", line).group()
            with urlopen(address, timeout=60) as answer:
                assert b"<svg" in answer.read()
            process.send_signal(signal.SIGINT)
            process.wait(60)
        finally:
            process.kill()
    assert process.returncode in (0, 130)


@pytest.mark.parametrize("verb", ["monitor", "report"])
def test_models_that_are_not_there(capsys, tmp_path, verb):
    code, _, err = run(capsys, verb, tmp_path / "none.adf")
    assert code == 1
    assert err.startswith("adforest: ")
    assert "none.adf" in err
    assert err.count("\n") == 1
