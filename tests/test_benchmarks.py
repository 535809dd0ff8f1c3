"""The benchmarks start from any folder, by the commands that the documents name."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("name", ["trees", "voting"])
def test_a_benchmark_finds_the_experiments(name, tmp_path):
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--help"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert said.returncode == 0, said.stderr
    assert "ADFOREST_DATA" in said.stdout
