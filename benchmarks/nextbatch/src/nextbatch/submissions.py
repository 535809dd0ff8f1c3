"""Results that somebody hands in: a folder for a pull request, and a second run that says whether they hold."""

from __future__ import annotations

import random
import shutil
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from nextbatch.learners import find_learner
from nextbatch.protocols import PROTOCOLS
from nextbatch.results import FILE, OK, read_rows, write_rows
from nextbatch.running import Job, Limits, max_batches_of, run_job
from nextbatch.streams import read_recipes

ABOUT, CODE = "submission.toml", "learner.py"
N_VERIFIED = 2  # streams that are run again


def make_submission(asked: str, results: Path, to: Path) -> Path:
    """Make a folder with a learner's runs, all of them unverified, and with its code if it is a file.

    Parameters
    ----------
    asked : str
        A learner's name, or ``path.py:Class``.
    results : Path
        Folder of runs.
    to : Path
        The submission is a folder with the learner's name in it.
    """
    entry = find_learner(asked)
    rows = [row | {"verified": "false"} for row in read_rows(results) if row["learner"] == entry.name]
    if not rows:
        raise ValueError(f"there are no runs of {entry.name!r} in {results / FILE}; make some: nextbatch run.")
    folder = to / entry.name
    folder.mkdir(parents=True, exist_ok=True)
    path, _, kind = asked.rpartition(":")
    if path:
        shutil.copyfile(path, folder / CODE)
    named = f"{CODE}:{kind}" if path else asked
    (folder / ABOUT).write_text(f'learner = "{named}"\nversion = "{entry.version()}"\n', encoding="utf-8")
    write_rows(folder / FILE, rows)
    return folder


def verify_submission(folder: Path, streams: Sequence[str] | None = None, say: Callable[[str], object] = print) -> bool:
    """Repeat a submission's runs on two streams; return whether the predictions are the same, and mark those that are.

    Runs with a time budget are not repeated: what they predict depends on the machine.

    Parameters
    ----------
    folder : Path
        Of a submission. Its code is executed.
    streams : sequence of str or None
        Which streams; None draws two of those whose tables are there.
    say : callable
        Gets a sentence for each run.
    """
    about = folder / ABOUT
    if not about.is_file():
        raise ValueError(f"{folder} is not a submission: there is no {ABOUT} in it; nextbatch submit makes one.")
    asked = tomllib.loads(about.read_text(encoding="utf-8"))["learner"]
    if ":" in asked:
        asked = f"{folder / asked}"
    entry, recipes, rows = find_learner(asked), read_recipes(), read_rows(folder)
    fit = [
        row
        for row in rows
        if row["status"] == OK
        and row["protocol"] in PROTOCOLS
        and not PROTOCOLS[row["protocol"]].budget
        and row["stream"] in recipes
        and (recipes[row["stream"]].is_generated or recipes[row["stream"]].find())
    ]
    at_hand = sorted({row["stream"] for row in fit})
    chosen = streams if streams is not None else random.sample(at_hand, min(N_VERIFIED, len(at_hand)))
    absent = [name for name in chosen if name not in at_hand]
    if absent or not chosen:
        raise ValueError(
            f"{', '.join(absent) or 'no stream'} cannot be run again; those with runs and a table are: "
            f"{', '.join(at_hand)}."
        )
    is_same = True
    for row in fit:
        if row["stream"] not in chosen:
            continue
        recipe = recipes[row["stream"]]
        job = Job(
            PROTOCOLS[row["protocol"]],
            recipe,
            entry,
            asked,
            int(row["seed"]),
            row["size"] == "quick",
            max_batches=max_batches_of(row["size"]),
        )
        found = run_job(job, Limits())
        holds = found.get("predictions_sha256") == row["predictions_sha256"] and row["table_sha256"] == recipe.sha256
        where = f"{row['protocol']}  {row['stream']}  seed {row['seed']}"
        if holds:
            row["verified"] = "true"
            say(f"{where}: the same predictions, accuracy {row['accuracy']}")
        else:
            is_same, row["verified"] = False, "false"
            now = found.get("accuracy", f"{found['status']}: {found.get('says', '')}")
            say(f"{where}: OTHER predictions. Accuracy {row['accuracy']} was handed in, now it is {now}.")
    write_rows(folder / FILE, rows)
    return is_same
