"""Measure the command line: its start, its rate of answers, its memory, and what it survives."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from timing import medians, ours, three_classes

from adforest.cli.app import COMMANDS

COMMAND = [sys.executable, "-m", "adforest"]
N_RECORDS = 1_000_000  # of a file; the large one has ten times as many


def measure_help() -> Iterator[dict[str, Any]]:
    """Help of every verb, each in a process of its own; less than half a minute."""
    helps = [["--help"], *([verb.__name__, "--help"] for verb in COMMANDS)]
    bare, *starts = medians(
        [lambda: subprocess.run([sys.executable, "-c", ""], check=True)]
        + [lambda h=one: subprocess.run([*COMMAND, *h], check=True, stdout=subprocess.DEVNULL) for one in helps],
        9,
    )
    told = {"python_alone_seconds": bare, "goal": "<= 0.3"}
    yield {"measure": "adforest --help", "seconds": starts[0], **told}
    slowest, verb = max(zip(starts[1:], COMMANDS, strict=True), key=lambda one: one[0])
    yield {"measure": "help of the slowest verb", "seconds": slowest, "verb": verb.__name__, **told}


def measure_cli() -> Iterator[dict[str, Any]]:
    """Answers from Parquet on one core by 10 trees of about 1,000 leaves."""
    with TemporaryDirectory() as folder:
        yield from _measure_predict(Path(folder))


def measure_import() -> Iterator[dict[str, Any]]:
    """The classifier's import and that of scikit-learn's random forest, each in a process of its own."""
    for statement in ("import adforest", "from adforest import AdaptiveDecisionForestClassifier"):
        t_ours, t_theirs = np.median(
            [[_import_seconds(one) for one in (statement, "import sklearn.ensemble")] for _ in range(9)], axis=0
        )
        yield {
            "measure": statement,
            "seconds": float(t_ours),
            "sklearn_ensemble_seconds": float(t_theirs),
            "times_slower": float(t_ours / t_theirs),
            "goal": "<= 1.3",
        }


def _import_seconds(statement: str) -> float:
    # An editable install looks for kernels to compile when the package is first found: before the clock starts.
    before = "from importlib.util import find_spec; from time import perf_counter; find_spec('adforest')"
    code = f"{before}\nstart = perf_counter()\n{statement}\nprint(perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)


def _measure_predict(folder: Path) -> Iterator[dict[str, Any]]:
    X, y = three_classes(N_RECORDS, 10, np.random.default_rng(0))
    table = pa.table({f"x{place}": column for place, column in enumerate(X.T)})
    model = ours().fit(table.slice(0, 30_000), y[:30_000])
    model.save(folder / "m.adf")
    parquet.write_table(table, folder / "small.parquet")
    with parquet.ParquetWriter(folder / "large.parquet", table.schema) as writer:
        for _ in range(10):
            writer.write_table(table)
    leaves = model.permanent_forest_.n_leaves // 10
    small, large = (_predict(folder, name) for name in ("small", "large"))
    n_more = large["records"] - small["records"]
    yield {
        "measure": f"adforest predict, Parquet to Parquet, 10 columns, 10 trees of {leaves} leaves, one core",
        "records": large["records"],
        "records_a_second": large["records"] / large["seconds"],
        "records_a_second_without_start": n_more / (large["seconds"] - small["seconds"]),
        "megabytes": large["megabytes"],
        "megabytes_for_a_tenth": small["megabytes"],
        "goal": ">= 1,000,000 a second, the same megabytes",
    }


def _predict(folder: Path, name: str) -> dict[str, Any]:
    """Answer a file in a process on one core, and return the records, its seconds, and the memory it took at most."""
    limited = (
        "import os, resource, subprocess, sys, time\n"
        "hasattr(os, 'sched_setaffinity') and os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "start = time.perf_counter()\n"
        "out = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout\n"
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, out)"
    )
    paths = [folder / f"{name}.parquet", "--model", folder / "m.adf", "--out", folder / f"{name}-answers.parquet"]
    command = [*COMMAND, "predict", *map(str, paths), "--json"]
    done = subprocess.run([sys.executable, "-c", limited, *command], check=True, capture_output=True, text=True)
    seconds, kilobytes, told = done.stdout.split(maxsplit=2)
    return {"records": json.loads(told)["records"], "seconds": float(seconds), "megabytes": int(kilobytes) / 1e3}


def measure_watch_memory() -> Iterator[dict[str, Any]]:
    """`watch` on 20 million records that are 233 kB packed: some minutes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inbox").mkdir()
        with gzip.open(folder / "inbox" / "x.csv.gz", "wb") as file:
            file.write(b"a,b,y\n")
            for line in (b"1.5,2,u\n", b"2.5,3,v\n"):
                for _ in range(100):
                    file.write(line * 100_000)
        size = (folder / "inbox" / "x.csv.gz").stat().st_size
        command = [*COMMAND, "watch", folder / "inbox", "-t", "y", "-m", folder / "m.adf", "--once", "--json"]
        measured = (
            "import resource, subprocess, sys\n"
            "out = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, out.splitlines()[-1])"
        )
        given = [sys.executable, "-c", measured, *map(str, command)]
        done = subprocess.run(given, check=True, capture_output=True, text=True)
    kilobytes, told = done.stdout.split(maxsplit=1)
    end = json.loads(told)
    yield {
        "measure": "adforest watch, 20 million records in one .csv.gz",
        "bytes_packed": size,
        "records": end["records"],
        "batches": end["batches"],
        "seconds": end["seconds"],
        "megabytes": int(kilobytes) / 1e3,
        "goal": "<= 400 megabytes",
    }


def measure_kills() -> Iterator[dict[str, Any]]:
    """300 kills of `learn` and `watch` at random moments, a third of them while others write, by tests/kills.py."""
    program = Path(__file__).resolve().parents[1] / "tests" / "kills.py"
    done = subprocess.run([sys.executable, program, "300"], capture_output=True, text=True, check=False)
    [seed] = re.findall(r"^seed (\d+)$", done.stdout, re.MULTILINE)
    rounds = re.findall(r"^(\d+) kills, \w+: (.*)$", done.stdout, re.MULTILINE)
    failed = [what for _, what in rounds if what not in ("the same model", "every record once")]
    yield {
        "measure": "adforest learn and watch killed at random moments",
        "kills": int(rounds[-1][0]) if rounds else 0,
        "rounds": len(rounds),
        "rounds_that_failed": len(failed),
        "seed": int(seed),
        "goal": "0 failed of 300 kills",
    }
