"""Measure the forest on a local Spark with two Python workers beside the local one: the same model, seconds.

``.venv-spark/bin/python benchmarks/spark.py 500000`` is a quick run with fewer records, and as much smaller bounds;
``make .venv-spark/made`` makes that environment.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from scale import N_BATCHES, N_COLUMNS, N_PARTS, N_RECORDS, make_part, parameters
from timing import print_line, seconds

from adforest import AdaptiveDecisionForestClassifier

NAMES = [f"x{column}" for column in range(N_COLUMNS)]


def make_table(number: int, place: int, n: int) -> pd.DataFrame:
    """Return a part of a batch."""
    X, y = make_part(1000 * number + place, n)
    return pd.DataFrame(X, columns=NAMES).assign(label=y)


def start_spark() -> Any:
    """Return a session whose Python workers find these files."""
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(Path(__file__).parent)}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.driver.maxResultSize", "2g")
    return builder.config("spark.log.level", "ERROR").getOrCreate()


def write_batch(folder: str, number: int, n: int) -> list[str]:
    """Write a batch to files, and return their paths: one for Spark's reader a partition."""
    paths = [f"{folder}/{number}-{place}.parquet" for place in range(N_PARTS)]
    for place, path in enumerate(paths):
        make_table(number, place, n // N_PARTS).to_parquet(path, index=False)
    return paths


def measure_spark(n_samples: int = N_RECORDS) -> Iterator[dict[str, Any]]:
    """Learn the same files here and there, in the same order, and score the last batch."""
    try:
        from adforest.integrations.spark import SparkAdaptiveDecisionForest
    except ImportError:
        yield {"measure": "spark", "skipped": "run .venv-spark/bin/python benchmarks/spark.py, after make test-spark"}
        return
    spark, n = start_spark(), n_samples // N_BATCHES
    local = AdaptiveDecisionForestClassifier(n_jobs=2, **parameters(n_samples))
    there = SparkAdaptiveDecisionForest(n_jobs=2, **parameters(n_samples))
    here_seconds = there_seconds = 0.0
    with TemporaryDirectory() as folder:
        for number in range(N_BATCHES):
            paths = write_batch(folder, number, n)
            df = spark.read.parquet(paths[0])
            for path in paths[1:]:
                df = df.union(spark.read.parquet(path))  # partitions in the order of the files
            df.persist().count()
            table = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
            here_seconds += seconds(lambda table=table: local.partial_fit(table[NAMES], table["label"]))
            there_seconds += seconds(lambda df=df: there.partial_fit(df, "label"))
            if number < N_BATCHES - 1:
                df.unpersist()
        same = there.score(df, "label") == local.score(table[NAMES], table["label"])
        probe = table[NAMES][:10_000]
        same &= bool((there.predict_proba(probe) == local.predict_proba(probe)).all())
        same &= [report.n_leaves for report in there.history_] == [report.n_leaves for report in local.history_]
        score_here = seconds(lambda: local.score(table[NAMES], table["label"]))
        score_there = seconds(lambda: there.score(df, "label"))
    yield {
        "measure": f"spark: {N_BATCHES} batches of {n:,} records, 2 Python workers",
        "same model": bool(same),
        "seconds": there_seconds,
        "local seconds, n_jobs=2": here_seconds,
        "share of local": there_seconds / here_seconds,
        "score, share of local": score_there / score_here,
    }


if __name__ == "__main__":
    for line in measure_spark(int(sys.argv[1]) if len(sys.argv) > 1 else N_RECORDS):
        print_line(line)
