"""What runs the service elsewhere: the systemd unit and the container file."""

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from adforest.cli.app import app

ROOT = Path(__file__).parents[2]
UNIT = (ROOT / "packaging" / "adforest-serve.service").read_text()
CONTAINER = (ROOT / "packaging" / "Containerfile").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit():
    unit = ROOT / "packaging" / "adforest-serve.service"
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_commands_that_they_name_exist():
    comment = re.sub(r"\\\n#", " ", CONTAINER)
    given = [re.search(r"^ExecStart=.* adforest (.*) \$ADFOREST_OPTIONS", UNIT, re.M)[1]]
    given += [re.search(r"adforest +(serve .*)", comment)[1]]
    given += [re.search(r"-- adforest (token .*)", UNIT)[1]]
    commands = get_command(app).commands
    for one in given:
        verb, *options = shlex.split(one)
        assert commands[verb].make_context(verb, options).params["data"]


def test_the_service_may_write_where_its_models_are_and_waits_for_requests_under_way():
    from adforest.service.process import DRAIN_SECONDS

    folder = re.search(r"--data (\S+) \$", UNIT)[1]
    assert f"\nReadWritePaths={folder}\n" in UNIT
    assert "\nUMask=0077\n" in UNIT
    assert re.search(r"^TimeoutStopSec=1min$", UNIT, re.M)
    assert min(60, int(re.search(r"--stop-timeout (\d+) adforest \\\n# +serve", CONTAINER)[1])) > DRAIN_SECONDS


def test_the_service_is_started_again_however_often_it_ends():
    assert "\nStartLimitIntervalSec=0\n" in UNIT
    assert "StartLimitBurst" not in UNIT
    assert "\nRestart=on-failure\n" in UNIT


def test_the_container_has_all_that_options_of_the_service_need():
    extras = set(re.search(r'"/source\[(.*)\]"', CONTAINER)[1].split(","))
    assert {"service", "client", "postgresql"} <= extras  # --follow and --database
    assert extras <= set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
