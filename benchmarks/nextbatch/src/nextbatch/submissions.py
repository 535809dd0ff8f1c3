"""Results that somebody hands in: a folder for a pull request, and a second run that says whether they hold."""

from __future__ import annotations

import os
import random
import shutil
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nextbatch.learners import find_learner, known_learners
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.results import FILE, N_VERIFIED, OK, QUICK, Row, as_text, describe_machine, read_rows, write_rows
from nextbatch.running import Job, Limits, mark_stale, max_batches_of, run_job
from nextbatch.streams import HIDDEN_VARIABLE, read_recipes

ABOUT, CODE = "submission.toml", "learner.py"
# What must be the same to the letter: it follows from the predicted labels, or is said of the learner.
EXACT = (
    "n_samples",
    "n_batches",
    "accuracy",
    "balanced_accuracy",
    "kappa_no_change",
    "kappa_majority",
    "new_class_recall",
    "late",
    "accuracy_by_batch",
    "predictions_sha256",
    "table_sha256",
    "title",
    "family",
    "tuned",
)
# What follows from probabilities may differ by so much: libraries that compute them in float32 give other last digits
# on other processors, so that no rounding makes a digest of them hold. A curve has three digits.
TOLERANCES = {"log_loss": 0.0001, "rare_average_precision": 0.001, "log_loss_by_batch": 0.0011}


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
    changed = sorted({row["stream"] for row in mark_stale(rows, read_recipes()) if row["stale"]})
    if changed or {row["version"] for row in rows} != {entry.version()}:
        raise ValueError(
            f"runs of {entry.name!r} in {results / FILE} are of other code or of another version than {asked} is now"
            f"{f' (on {chr(44).join(changed)})' if changed else ''}; run it again: nextbatch run --learner {asked}."
        )
    folder = to / entry.name
    folder.mkdir(parents=True, exist_ok=True)
    path, _, kind = asked.rpartition(":")
    if path:
        shutil.copyfile(path, folder / CODE)
    named = f"{CODE}:{kind}" if path else asked
    (folder / ABOUT).write_text(f'learner = "{named}"\nversion = "{entry.version()}"\n', encoding="utf-8")
    write_rows(folder / FILE, rows)
    return folder


def verify(
    folder: Path, streams: Sequence[str] | None = None, say: Callable[[str], object] = print, n_jobs: int = 1
) -> bool:
    """Repeat runs on two streams; return whether what they give is the same, and mark those that are.

    Runs with a time budget are not repeated: what they predict depends on the machine.

    Parameters
    ----------
    folder : Path
        Of a submission, whose code is executed, or of results, of which learners that are not installed are left out.
        Runs of a submission that are not repeated are marked as unverified, whatever they were before.
    streams : sequence of str or None
        Which streams; None draws two of those whose tables are there.
    say : callable
        Gets a sentence for each run.
    n_jobs : int
        Runs at a time.
    """
    rows, recipes = read_rows(folder), read_recipes(os.environ.get(HIDDEN_VARIABLE))
    if not rows:
        raise ValueError(f"{folder} has no runs: there is no {FILE} in it.")
    about = folder / ABOUT
    learners = _submitted_learner(about, rows) if about.is_file() else _installed_learners(rows)
    if about.is_file():
        rows = [row | {"verified": "false"} for row in rows]
    fit = [
        row
        for row in rows
        if row["status"] == OK
        and row["learner"] in learners
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
            f"{', '.join(absent)} cannot be run again; streams with runs that went through and with a table here are: "
            f"{', '.join(at_hand)}."
            if at_hand
            else f"{folder} has no run that went through and whose table is here; nothing can be run again."
        )

    def repeat(row: Row) -> dict[str, Any]:
        asked = learners[row["learner"]]
        job = Job(
            PROTOCOLS[row["protocol"]],
            recipes[row["stream"]],
            find_learner(asked),
            asked,
            int(row["seed"]),
            row["size"] == QUICK,
            os.environ.get(HIDDEN_VARIABLE, ""),
            max_batches_of(row["size"]),
        )
        return run_job(job, Limits()) | {"machine": describe_machine()}

    is_same = True
    with ThreadPoolExecutor(n_jobs) as pool:
        again = [row for row in fit if row["stream"] in chosen]
        for row, found in zip(again, pool.map(repeat, again), strict=True):
            others = find_differences(row, found)
            row["verified"] = "false" if others else "true"
            where = f"{row['protocol']}  {row['stream']}  {row['learner']}  seed {row['seed']}"
            if not others:
                say(f"{where}: the same, accuracy {row['accuracy']}")
            else:
                is_same = False
                say(f"{where}: NOT the same. {'; '.join([*others, *find_versions(row, found)])}")
    write_rows(folder / FILE, rows)
    return is_same


def _submitted_learner(about: Path, rows: Sequence[Row]) -> dict[str, str]:
    """Return how the learner of a submission is asked for, by its name."""
    asked = tomllib.loads(about.read_text(encoding="utf-8"))["learner"]
    if ":" in asked:
        path = (about.parent / asked.rpartition(":")[0]).resolve()
        if path.parent != about.parent.resolve():
            raise ValueError(f"{about} names {asked!r}; expected a file in the same folder.")
        asked = f"{about.parent / asked}"
    name = find_learner(asked).name
    others = sorted({row["learner"] for row in rows} - {name})
    if others or about.absolute().parent.name != name:
        raise ValueError(
            f"{about.parent} is a submission of {name!r}; expected a folder of that name, with runs of {name!r} only"
            f"{', not of ' if others else ''}{', '.join(others)}."
        )
    return {name: asked}


def _installed_learners(rows: Sequence[Row]) -> dict[str, str]:
    """Return the learners of some runs that can be run here, each by its name."""
    known = known_learners()
    return {name: name for name in {row["learner"] for row in rows} if name in known and not known[name].missing()}


def find_differences(row: Row, found: dict[str, Any]) -> list[str]:
    """Return what a second run of a row gives otherwise, in words. Seconds and memory are not compared."""
    if found["status"] != OK:
        return [f"now it ends with {found['status']}: {found.get('says', '')}"]
    said = []
    for name in (*EXACT, *TOLERANCES):
        before, now = row[name], as_text(found.get(name))
        if before != now and not (name in TOLERANCES and _is_near(before, now, TOLERANCES[name])):
            said.append(f"{name} {_shorten(before, now)}")
    return said


def _is_near(before: str, now: str, tolerance: float) -> bool:
    """Return whether numbers differ by no more than a tolerance."""
    pairs = list(zip(before.split(), now.split(), strict=False))
    is_whole = len(before.split()) == len(now.split()) == len(pairs) > 0
    try:
        return is_whole and all(abs(float(one) - float(other)) <= tolerance for one, other in pairs)
    except ValueError:
        return False


def _shorten(before: str, now: str) -> str:
    """Return both values, of curves the number of the first point that differs."""
    one, other = before.split(), now.split()
    if len(one) == len(other) > 1:
        k = next(k for k, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
        return f"was handed in as {one[k]} at point {k + 1}, now it is {other[k]}"
    return f"was handed in as {before[:60] or 'nothing'}, now it is {now[:60] or 'nothing'}"


def find_versions(row: Row, found: dict[str, Any]) -> list[str]:
    """Return which versions of a row are not those of a second run, in words."""
    pairs = [(row[name], as_text(found.get(name))) for name in ("version", "versions", "machine")]
    return [f"it was made with {before}, here is {now}" for before, now in pairs if before != now]
