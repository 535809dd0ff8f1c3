"""A local Spark for tests, and tables as DataFrames in given partitions."""

import os
import shutil
import sys
from functools import cache

import pytest

needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="there is no Java: apt-get install default-jre-headless",
)
SCHEMA = (
    "size double, count bigint, town string, late string, day timestamp_ntz, flag boolean, label string, weight double"
)
CONFIG = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100",  # so that partitions come in several batches
    "spark.log.level": "OFF",
}


@cache
def session(master="local[2,4]"):
    """Return a session whose tasks run two at a time, in Python processes of their own, and are tried four times."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master)
    for name, value in CONFIG.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def framed(parts):
    """Return parts of a mixed batch as a DataFrame with as many partitions; parts may be empty."""
    spark, weighed = session(), parts[0][2] is not None
    rows = [_rows(*part) for part in parts]
    schema = SCHEMA if weighed else SCHEMA.rpartition(",")[0]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, len(rows)).flatMap(lambda part: part), schema)


def _rows(X, y, weight):
    """Return samples as tuples of what Spark takes."""
    plain = X.astype(object).where(X.notna(), None)
    days = [day.to_pydatetime() for day in X["day"]]
    columns = [days if name == "day" else plain[name].tolist() for name in X] + [y.tolist()]
    return list(zip(*columns, *([] if weight is None else [weight.tolist()]), strict=True))
