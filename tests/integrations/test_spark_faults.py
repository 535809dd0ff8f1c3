"""What goes wrong on a cluster: workers that die, tasks that run twice, samples that change between two passes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from adforest import AdaptiveDecisionForestClassifier
from parted_batches import evenly, mixed_batch, saved
from spark_frames import framed, needs_java, session

pytest.importorskip("pyspark", reason="pyspark is not installed: run make test-spark")

from adforest.growers import spreading
from adforest.integrations import _spark_parts
from adforest.integrations.spark import SparkAdaptiveDecisionForest

pytestmark = [needs_java, pytest.mark.filterwarnings("default")]  # the warnings are Spark's own


def killed_once(work, mark):
    """Return a function that kills the process it runs in when it has done its work for the first time."""

    def killed(*arguments):
        done = work(*arguments)
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return done
        os.kill(os.getpid(), signal.SIGKILL)

    return killed


def test_workers_that_are_killed_and_work_that_is_done_twice_leave_no_trace(tmp_path, monkeypatch):
    """In each of the three steps, a Python process of Spark's dies with its work, which another does again."""
    monkeypatch.setattr(spreading, "WORTH_SENDING", 1)
    for where, name in [(_spark_parts, "_survey"), (_spark_parts, "_draw"), (spreading, "_build_group")]:
        monkeypatch.setattr(where, name, killed_once(getattr(where, name), tmp_path / name))
    model, local = SparkAdaptiveDecisionForest(5, random_state=0), AdaptiveDecisionForestClassifier(5, random_state=0)
    for X, y, _ in (mixed_batch(number) for number in range(2)):
        model.partial_fit(framed(evenly((X, y, None), 3)), "label")
        local.partial_fit(X, y.astype(object))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_build_group", "_draw", "_survey"]
    assert saved(model) == saved(local)


@pytest.fixture(scope="module")
def changing():
    """Return a DataFrame that is another one each time it is read, of two partitions."""

    def numbers(batches):
        for batch in batches:
            x = np.frombuffer(os.urandom(8 * batch.num_rows), np.uint64) / 2.0**64
            yield pa.RecordBatch.from_arrays([pa.array(x), pa.array(batch.column(0).to_numpy() % 2)], ["x", "label"])

    return session().range(0, 200, 1, 2).mapInArrow(numbers, "x double, label bigint")


def test_a_partition_that_changes_is_an_error(changing):
    model = SparkAdaptiveDecisionForest(5, random_state=0).fit(changing.persist(), "label")
    changing.unpersist(blocking=True)
    before = saved(model)
    with pytest.raises(
        RuntimeError, match=r"partition 0 of batch 2 has other samples.*100 samples now.*df.persist\(\)"
    ):
        model.partial_fit(changing, "label")
    assert saved(model) == before


def test_what_is_persisted_does_not_change(changing):
    kept = changing.persist()
    try:
        model = SparkAdaptiveDecisionForest(5, random_state=0).partial_fit(kept, "label")
        table = kept.toPandas()
    finally:
        kept.unpersist(blocking=True)
    local = AdaptiveDecisionForestClassifier(5, random_state=0).partial_fit(table[["x"]], table["label"])
    assert saved(model) == saved(local)


ANOTHER_PYTHON = """
import numpy as np
from adforest.integrations.spark import SparkAdaptiveDecisionForest
from pyspark.sql import SparkSession
from spark_frames import CONFIG

builder = SparkSession.builder.master("local[1]")
for name, value in CONFIG.items():
    builder = builder.config(name, value)
df = builder.getOrCreate().createDataFrame([(float(x), x % 2) for x in range(20)], "x double, label bigint")
try:
    SparkAdaptiveDecisionForest(2).partial_fit(df, "label")
except RuntimeError as error:
    print(error)
"""


def test_a_python_of_the_workers_that_lacks_modules_is_named(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = str(tmp_path / "bare" / "bin" / "python")
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    given = {**os.environ, "PYSPARK_PYTHON": python, "PYTHONPATH": path, "PYSPARK_DRIVER_PYTHON": sys.executable}
    run = subprocess.run([sys.executable, "-c", ANOTHER_PYTHON], env=given, capture_output=True, text=True, check=True)
    (said,) = run.stdout.splitlines()
    assert said.startswith(f"Spark ran its tasks with {python} (")
    assert "which has no module '" in said
    assert f"as this one has ({sys.executable})" in said
    assert "Set PYSPARK_PYTHON" in said
