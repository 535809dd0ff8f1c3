import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from experiments.comparison.results import PerSeed, Results, last_of
from experiments.running import fingerprints
from experiments.running.records import Job, read_record, record_path, write_rows
from experiments.running.runner import FailedRunsError, find_jobs, run_all
from experiments.specs.methods import Method
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec

HOUSE = StreamSpec.of("house", "34", n_samples=1200)
FAST = [RunSpec(HOUSE, MethodSpec(name), seed) for name in ("RF batch", "NCMC", "CIRF") for seed in (0, 1)]


def started(out):
    return {path.name: json.loads(path.read_text())["started"] for path in (out / "runs").glob("*.json")}


def without_clock(records):
    return {
        run: [{name: value for name, value in row.items() if "seconds" not in name} for row in record.rows]
        for run, record in records.items()
    }


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    out = tmp_path_factory.mktemp("ran")
    done = []
    records = run_all([*FAST, FAST[0]], Options(out=out), lambda run, seconds: done.append(run))
    return Results(records), out, done


def test_every_run_is_made_once(ran):
    results, out, done = ran
    assert sorted(map(str, done)) == sorted(map(str, FAST))
    assert set(results.records) == set(FAST)
    assert len(started(out)) == len(FAST)


def test_record_holds_what_is_needed_to_trust_it(ran):
    results, out, _ = ran
    record = results.records[FAST[0]]
    assert record.run == FAST[0].describe()
    assert record.settings["window"] == 1
    assert record.settings["random_state"] == 0
    assert set(record.versions) == {"python", "adforest", "numpy", "scikit-learn"}
    assert len(record.data_sha256) == 64
    assert record.started <= record.finished
    assert record.data_sha256 == results.records[FAST[2]].data_sha256 != results.records[FAST[1]].data_sha256
    assert read_record(record.key, out) == record


def test_what_is_done_is_not_done_again(ran):
    _, out, _ = ran
    before, again = started(out), []
    records = run_all(FAST, Options(out=out, n_jobs=2), lambda run, seconds: again.append(run))
    assert again == []
    assert started(out) == before
    assert set(records) == set(FAST)


@pytest.mark.parametrize("damage", ["", "{", '{"key": "x"}', None])
def test_a_damaged_record_is_made_again(ran, damage):
    _, out, _ = ran
    path = record_path(Job.of(FAST[2], None).key, out)
    text = path.read_text() if damage is None else damage
    path.write_text(text[: len(text) // 2] if damage is None else text)
    again = []
    run_all(FAST, Options(out=out), lambda run, seconds: again.append(run))
    assert again == [FAST[2]]


def test_seeds_make_mean_and_deviation(ran):
    results, _, _ = ran
    accuracies = [[row["accuracy"] for row in results.rows(HOUSE, MethodSpec("RF batch"), seed)] for seed in (0, 1)]
    per_seed = results.per_seed(HOUSE, MethodSpec("RF batch"), "accuracy")
    means = [sum(some) / len(some) for some in accuracies]
    assert per_seed.by_seed == pytest.approx(means)
    assert per_seed.mean == pytest.approx(sum(means) / 2)
    assert per_seed.deviation == pytest.approx(abs(means[0] - means[1]) / 2**0.5)
    assert per_seed.cell() == f"{per_seed.mean:.3f} ± {per_seed.deviation:.3f}"
    assert PerSeed((0.5,)).cell() == 0.5
    by_batch = results.by_batch(HOUSE, MethodSpec("RF batch"), "accuracy")
    assert by_batch[-1] == pytest.approx((accuracies[0][-1] + accuracies[1][-1]) / 2)
    assert results.per_seed(HOUSE, MethodSpec("RF batch"), last_of("accuracy")).by_seed[0] == accuracies[0][-1]
    assert results.per_seed(HOUSE, MethodSpec("ARF"), "accuracy") is None


def test_rows_are_written_as_a_table(ran, tmp_path):
    from pyarrow import parquet

    results, _, _ = ran
    write_rows(results.records.values(), tmp_path / "rows.parquet")
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert len(table) == 34 * len(FAST)
    assert set(table["method"].to_pylist()) == {"RF batch", "NCMC", "CIRF"}
    assert table["accuracy"].null_count == 0


def test_changed_code_is_run_again_and_nothing_else(tmp_path, monkeypatch):
    for name in ("PACKAGE", "CHECKOUT"):
        folder = getattr(fingerprints, name)
        code = folder if name == "PACKAGE" else folder / "experiments"
        shutil.copytree(code, tmp_path / code.name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        if name == "CHECKOUT":
            shutil.copytree(folder / fingerprints.NEXTBATCH, tmp_path / fingerprints.NEXTBATCH)
        monkeypatch.setattr(fingerprints, name, tmp_path / code.name if name == "PACKAGE" else tmp_path)
    runs = [RunSpec(HOUSE, MethodSpec(name)) for name in ("RF batch", "CIRF", "NCMC")]
    monkeypatch.setattr(fingerprints, "LOADED", fingerprints._stamp_code())
    run_all(runs, Options(out=tmp_path))

    def run_again():
        again = []
        monkeypatch.setattr(fingerprints, "LOADED", fingerprints._stamp_code())  # as a new process would have it
        run_all(runs, Options(out=tmp_path), lambda run, seconds: again.append(run.method.name))
        return sorted(again)

    assert run_again() == []
    with (tmp_path / "experiments" / "rivals" / "forests.py").open("a") as forests:
        forests.write("\nEXTRA = 1\n")
    assert run_again() == ["CIRF", "RF batch"]
    with (tmp_path / "experiments" / "streams" / "scenarios.py").open("a") as scenarios:
        scenarios.write("\nEXTRA = 1\n")
    assert run_again() == ["CIRF", "NCMC", "RF batch"]
    with (tmp_path / "experiments" / "rivals" / "forests.py").open("a") as forests:
        forests.write("\nEXTRA = 2\n")
    with pytest.raises(fingerprints.ChangedCodeError, match=r"forests\.py changed after this command was started"):
        run_all(runs, Options(out=tmp_path))


def test_one_process_and_two_give_the_same(ran, tmp_path):
    results, _, _ = ran
    assert without_clock(run_all(FAST, Options(out=tmp_path, n_jobs=2))) == without_clock(results.records)


class Failing:
    """Learns nothing."""

    classes_ = ()

    def get_params(self):
        return {}

    def set_params(self):
        return self

    def partial_fit(self, X, y):
        raise ValueError("no batch is good enough")


def test_a_failing_run_leaves_the_others(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules["experiments.specs.methods"].METHODS, "Failing", Method(Failing))
    runs = [RunSpec(HOUSE, MethodSpec("Failing")), FAST[2]]
    with pytest.raises(
        FailedRunsError, match=r"1 of 2 runs failed, first Failing on house \(34\), seed 0: .* good enough"
    ):
        run_all(runs, Options(out=tmp_path))
    assert read_record(Job.of(FAST[2], None).key, tmp_path) is not None


SLOW = [RunSpec(HOUSE, MethodSpec(name)) for name in ("RF all", "SysFor all", "ADF-R", "ADF-S", "HT", "NCMF", "ADF-H")]
PROGRAM = f"""
from pathlib import Path
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.running.runner import run_all
run_all({SLOW!r}, Options(out=Path("."), n_jobs=2))
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_after_a_kill_what_was_done_is_kept(tmp_path):
    command, environment = [sys.executable, "-c", PROGRAM], os.environ | {"PYTHONPATH": str(fingerprints.CHECKOUT)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = monotonic() + 60
    while len(list(Path(tmp_path, "runs").glob("*.json"))) < 2 and process.poll() is None and monotonic() < deadline:
        sleep(0.01)
    process.send_signal(signal.SIGKILL)
    # The workers hold the other end of the pipe: it closes once they have left too.
    said, _ = process.communicate(timeout=60)
    kept = started(tmp_path)
    assert 2 <= len(kept) < len(SLOW), said
    again = []
    records = run_all(SLOW, Options(out=tmp_path), lambda run, seconds: again.append(run))
    assert len(again) == len(SLOW) - len(kept)
    assert started(tmp_path).items() >= kept.items()
    assert set(records) == set(SLOW)


def test_jobs_are_looked_up_before_anything_is_run(tmp_path):
    runs = [FAST[0], RunSpec(StreamSpec("avila"), MethodSpec("NCMC"))]
    with pytest.raises(FileNotFoundError, match="--data FOLDER"):
        find_jobs(runs, Options(out=tmp_path, data=tmp_path))
