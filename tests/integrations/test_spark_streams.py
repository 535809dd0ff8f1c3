"""Micro-batches of Structured Streaming are learnt exactly once, whatever dies in between."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import adforest
from adforest import AdaptiveDecisionForestClassifier
from adforest.origins import Origins, note_origins, origins_of
from parted_batches import mixed_batch, saved
from spark_frames import needs_java, session

pytest.importorskip("pyspark", reason="pyspark is not installed: run make test-spark")

from pyspark.errors import StreamingQueryException

from adforest.integrations.spark import SparkAdaptiveDecisionForest, foreach_batch
from spark_stream import learn_stream, learner

pytestmark = [needs_java, pytest.mark.filterwarnings("default")]  # the warnings are Spark's own
TESTS = Path(__file__).parents[1]


def write_files(folder, numbers):
    """Write batches to files, the later ones with a later time."""
    (folder / "files").mkdir(exist_ok=True)
    for number in numbers:
        X, y, _ = mixed_batch(number)
        path = folder / "files" / f"{number}.parquet"
        typed = {"late": X["late"].astype("string"), "day": X["day"].astype("datetime64[us]")}
        X.assign(**typed, label=y).to_parquet(path, index=False)
        os.utime(path, (1e9 + number, 1e9 + number))


def learnt(path):
    """Return the bytes of the model in a file without its note, and the note."""
    model = adforest.load(path)
    noted = origins_of(model)
    note_origins(model, Origins())
    return saved(model), noted


def learnt_here(numbers):
    model = AdaptiveDecisionForestClassifier(5, random_state=0)
    for number in numbers:
        X, y, _ = mixed_batch(number)
        model.partial_fit(X, y.astype(object))
    return saved(model)


def run_until_killed(folder, when, number):
    command = [sys.executable, str(TESTS / "spark_stream.py"), str(folder), when, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2_000:]


def test_a_stream_that_is_killed_and_goes_on_is_learnt_as_if_nothing_had_been(tmp_path):
    write_files(tmp_path, range(4))
    run_until_killed(tmp_path, "before", 1)
    assert learnt(tmp_path / "model.adf")[1].epoch == 0
    run_until_killed(tmp_path, "after", 2)
    assert learnt(tmp_path / "model.adf")[1].epoch == 2
    learn_stream(tmp_path, learner(tmp_path))
    model, noted = learnt(tmp_path / "model.adf")
    assert noted.epoch == 3
    assert noted.target == "label"
    assert model == learnt_here(range(4))


def test_a_stream_goes_on_and_a_checkpoint_that_is_thrown_away_is_an_error(tmp_path):
    path = tmp_path / "model.adf"
    write_files(tmp_path, [0])
    learn = learner(tmp_path)
    learn_stream(tmp_path, learn)
    write_files(tmp_path, [1])
    learn_stream(tmp_path, learn)
    kept = learnt(path)
    assert kept[0] == learnt_here([0, 1])
    shutil.rmtree(tmp_path / "checkpoint")
    with pytest.raises(StreamingQueryException, match=r"has learnt the stream .* the checkpoint was thrown away"):
        learn_stream(tmp_path, learn)
    assert learnt(path) == kept

    write_files(tmp_path, [2])
    for number in (0, 1):
        (tmp_path / "files" / f"{number}.parquet").unlink()
    shutil.rmtree(tmp_path / "checkpoint")
    again = foreach_batch(tmp_path / "next.adf", "label", model=SparkAdaptiveDecisionForest.load(path))
    learn_stream(tmp_path, again)
    assert learnt(tmp_path / "next.adf")[0] == learnt_here([0, 1, 2])


def test_epochs_are_learnt_once_and_in_order(tmp_path):
    path, spark = tmp_path / "model.adf", session()
    frames = [
        spark.createDataFrame([(float(n + k), n % 2) for n in range(50)], "x double, label int") for k in range(3)
    ]
    learn = foreach_batch(path, "label", model=AdaptiveDecisionForestClassifier(5, random_state=0))
    learn(frames[0], 4)
    learn(frames[0].limit(0), 5)  # nothing in it: nothing to note
    assert origins_of(adforest.load(path)).epoch == 4
    learn(frames[1], 6)
    bytes_then = path.read_bytes()
    for again in (learn, foreach_batch(path, "label")):
        again(frames[1], 6)
        with pytest.raises(
            ValueError, match=r"up to micro-batch 6, but micro-batch 5 has come: the checkpoint is older"
        ):
            again(frames[2], 5)
    assert path.read_bytes() == bytes_then
    assert len(adforest.load(path).history_) == 2


def test_a_batch_that_cannot_be_learnt_or_saved_comes_again(tmp_path, monkeypatch):
    path, spark = tmp_path / "model.adf", session()
    df = spark.createDataFrame([(float(n), n % 2) for n in range(50)], "x double, label int")
    learn = foreach_batch(path, "label", model=AdaptiveDecisionForestClassifier(5, random_state=0))
    learn(df, 0)
    with pytest.raises(ValueError, match="labels of partition"):
        learn(df.selectExpr("x", "nullif(label, 1) AS label"), 1)

    def full(*_, **__):
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(AdaptiveDecisionForestClassifier, "save", full)
        with pytest.raises(OSError, match="no space left"):
            learn(df, 1)
    learn(df, 1)
    model = adforest.load(path)
    assert len(model.history_) == 2
    assert origins_of(model).epoch == 1
