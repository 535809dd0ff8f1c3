"""Commands run as users run them, small files of months for them to learn, and models compared."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa

import adforest
from adforest.cli import main
from adforest.storage.models import content_of

SMALL = ("--n-estimators", "2", "--random-state", "0")
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"  # as lines of a log begin
NAMES = ("low", "middle", "high")


def month(number, n=60, *, new_class=False, turned=False):
    """Return a table of flats: size, rooms, street with gaps, and their rent."""
    rng = np.random.default_rng(number)
    size, rooms = rng.normal(80, 25, n).round(1), rng.integers(1, 6, n)
    street = rng.choice(["Ahornweg", "Am Markt", "Ring"], n)
    score = size / 80 + rooms * 0.3 + (street == "Am Markt")
    classes = np.digitize(4 - score if turned else score, [1.6, 2.3])
    rent = np.array(NAMES)[classes].tolist()
    if new_class:
        rent[:5] = ["free"] * 5
    gaps = rng.random(n) < 0.05
    return pa.table(
        {
            "id": np.arange(n) + 1000 * number,
            "size": pa.array(size, mask=gaps),
            "rooms": rooms,
            "street": street.tolist(),
            "rent": rent,
        }
    )


def write_months(folder, n_months=4, suffix="csv", **changes):
    """Write a file a month, and return the folder."""
    from table_files import write

    folder.mkdir(exist_ok=True)
    for number in range(1, n_months + 1):
        write(month(number, **changes), folder / f"month-{number}.{suffix}")
    return folder


def run(capsys, *arguments):
    """Run a command in this process, and return its exit code and what it printed on both channels."""
    code = main([str(one) for one in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def learnt(capsys, folder, *, target="rent", model=None):
    """Learn a folder of months, and return the model file."""
    path = model or folder.parent / "m.adf"
    code, _, err = run(capsys, "learn", folder, "--target", target, "--drop", "id", "-m", path, *SMALL)
    assert (code, err) == (0, "")
    return path


def learnt_here(folder, drop=("--drop", "id")):
    """Learn a folder of months where nobody captures what is printed, and return the model file."""
    path = folder.parent / "m.adf"
    assert main(["learn", str(folder), "--target", "rent", *drop, "-m", str(path), *SMALL]) == 0
    return path


def json_lines(text):
    """Return the objects that a command printed, one a line."""
    return [json.loads(line) for line in text.splitlines()]


def start(*arguments, **options):
    """Start a command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "adforest", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        **options,
    )


def run_apart(*arguments, stdin=None):
    """Run a command as a process of its own, and return its exit code and what it printed on both channels."""
    process = start(*arguments, stdin=subprocess.PIPE)
    out, err = process.communicate(stdin, timeout=120)
    return process.returncode, out, err


def kill_after(seconds, *arguments):
    """Start a command, kill it without a word after some time, and return whether it was still running."""
    process = start(*arguments)
    time.sleep(seconds)
    is_running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return is_running


def content(path):
    """Return what a model file holds but for times of batches, their files and rows, and what alerts noted."""
    document, arrays = content_of(adforest.load(path), samples=True)
    history = document["history"]
    others = ("seconds", "learnt_at", "source", "rows")
    places = [place for place, name in enumerate(history["fields"]) if name not in others]
    history["rows"] = [[row[place] for place in places] for row in history["rows"]]
    for name in ("rule_counts", "alerts"):
        document.get("origins", {}).pop(name, None)
    return document, {name: (str(array.dtype), array.shape, array.tobytes()) for name, array in arrays.items()}
