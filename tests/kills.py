"""``python tests/kills.py 100``: kill ``adforest learn`` and ``adforest watch`` at random moments, and compare.

Half of the kills are of `learn`, half of `watch`; each round learns a folder of files into a model, killed some times
on the way, and ends with the model of a run that nobody disturbed, every file learnt exactly once. Seeds are printed;
``python tests/kills.py 100 SEED`` makes the same draws, though not the same moments.
"""

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import adforest
from adforest.cli.batches import file_digest
from adforest.origins import origins_of
from cli_commands import SMALL, content, kill_after, run_apart, write_months

KILLS_A_ROUND = 5


class Kills(NamedTuple):
    """How often a process was killed while it was running, and what went wrong."""

    n_kills: int
    problems: list


def undisturbed(folder, path):
    """Learn a folder in one go, and return the model file and the seconds that took."""
    begin = time.perf_counter()
    assert run_apart(*_command("learn", folder, path))[0] == 0
    return path, time.perf_counter() - begin


def survive(verb, folder, work, n_kills, lots, whole, seconds):
    """Kill a command so many times, let it end, and compare what it made with a run that nobody disturbed.

    The moments are spread over the time that a whole run takes, so that starts, reading, learning and writing are hit.
    """
    model = work / "killed.adf"
    expected_files = {file_digest(path) for path in folder.iterdir()}
    problems, n_done = [], 0
    for _ in range(50 * n_kills):
        if n_done == n_kills:
            break
        n_done += kill_after(lots.uniform(0, seconds), *_command(verb, folder, model))
        if model.exists():
            n_batches = len(adforest.load(model).history_)  # raises if the file is not whole
            digests = origins_of(adforest.load(model)).digests
            if len(set(digests)) != n_batches or not set(digests) <= expected_files:
                problems.append(f"after kill {n_done}: {n_batches} batches, {len(set(digests))} files")
            if n_batches == len(expected_files) and n_done < n_kills:
                model.unlink()  # all is learnt: begin again
    code, _, err = run_apart(*_command(verb, folder, model))
    if code:
        problems.append(f"it ended with code {code}: {err}")
    elif content(model) != content(whole):
        problems.append("the model differs from that of a run that nobody disturbed")
    left = [path.name for path in work.iterdir() if path.name.endswith(".tmp")]
    if left:
        problems.append(f"left behind: {', '.join(left)}")
    return Kills(n_done, problems)


def _command(verb, folder, model):
    more = ("--once", "--settle", "0", "--interval", "0.05") if verb == "watch" else ()
    return (verb, folder, "--target", "rent", "--drop", "id", "--model", model, *SMALL, *more)


def main(n_kills, seed):
    """Kill that many times, and print what came of each round."""
    print(f"seed {seed}", flush=True)
    lots, n_done, n_failed = random.Random(seed), 0, 0
    while n_done < n_kills:
        verb = ("learn", "watch")[(n_done // KILLS_A_ROUND) % 2]
        work = Path(tempfile.mkdtemp(prefix="kills-"))
        folder = write_months(work / "months", 20, n=lots.choice([100, 400, 1500]))
        found = survive(verb, folder, work, KILLS_A_ROUND, lots, *undisturbed(folder, work / "whole.adf"))
        n_done, n_failed = n_done + found.n_kills, n_failed + bool(found.problems)
        print(f"{n_done} kills, {verb}: {'; '.join(found.problems) or 'the same model'}", flush=True)
        if not found.problems:
            shutil.rmtree(work)
    return n_failed


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**31)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, chosen) > 0)
