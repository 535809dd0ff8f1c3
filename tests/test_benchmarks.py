"""The benchmarks start from any folder, by the commands that the documents name."""

import importlib.util
import json
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


def test_ratios_that_asv_follows():
    folder = BENCHMARKS.parent / json.loads((BENCHMARKS.parent / "asv.conf.json").read_text())["benchmark_dir"]
    spec = importlib.util.spec_from_file_location("watched_ratios", folder / "ratios.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    one = module.Ratios()
    one.n_samples = 200
    one.setup()
    tracks = [name for name in dir(one) if name.startswith("track_")]
    assert len(tracks) == 4
    for name in tracks:
        assert getattr(one, name)() > 0
    assert len(one.ours.history_) == 1, "the model that is compared does not learn meanwhile"


def test_what_a_release_promises_has_measures_with_names():
    """Import, help, and two models that learn side by side: `python benchmarks/measures.py import help side`."""
    code = (
        "import json, measures\n"
        "(line,) = measures.measure_side_by_side(n_batches=2, n=200, rounds=1)\n"
        "print(json.dumps([line, list(measures.MEASURES)]))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=BENCHMARKS, timeout=120)
    assert said.returncode == 0, said.stderr
    line, names = json.loads(said.stdout)
    assert {"import", "help", "cli", "side_by_side"} <= set(names)
    assert line["measure"].startswith("two models in two threads")
    assert line["times_faster"] > 0
