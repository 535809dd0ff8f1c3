"""Spot checks: runs made again have the figures of their records, or are named."""

import json

import pytest

from experiments import spot_checks
from experiments.running.records import record_path
from experiments.running.runner import FailedRunsError, find_jobs, run_jobs
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.spot_checks import check_spots

RUNS = [RunSpec(StreamSpec.of("house", "34", n_samples=1200), MethodSpec(name)) for name in ("RF batch", "RF last 3")]


@pytest.fixture
def options(tmp_path, monkeypatch):
    monkeypatch.setattr(spot_checks, "plan_studies", lambda names, options: RUNS)
    made = Options(out=tmp_path)
    run_jobs(find_jobs(RUNS, made), made)
    return made


def test_runs_made_again_have_the_same_figures(options, capsys):
    check_spots({"accuracy": options}, 1)
    assert capsys.readouterr().out == "accuracy: 1 runs made again\n"


def test_a_run_that_differs_is_named(options):
    [job, _] = find_jobs(RUNS, options)
    path = record_path(job.key, options.out)
    record = json.loads(path.read_text())
    for row in record["rows"]:
        row["train_seconds"] = 1e6
    path.write_text(json.dumps(record))
    check_spots({"accuracy": options}, 2)
    record["rows"][3]["accuracy"] += 0.001
    path.write_text(json.dumps(record))
    with pytest.raises(FailedRunsError, match=r"1 of 2 runs differ from their records; first RF batch on house \(34\)"):
        check_spots({"accuracy": options}, 2)


def test_without_records_there_is_nothing_to_compare(options, tmp_path):
    with pytest.raises(ValueError, match="no run of this code has a record"):
        check_spots({"accuracy": Options(out=tmp_path / "empty")}, 2)
