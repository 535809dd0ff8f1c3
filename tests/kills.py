"""``python tests/kills.py 300``: kill ``adforest learn`` and ``adforest watch`` at random moments, and compare.

The two models before the newest are kept (``--keep 2``). A third of the kills are of `learn`, a third of `watch` over a
folder that stays as it is: each round learns it into a model, killed some times on the way, and ends with the model of
a run that nobody disturbed. The last third are of `watch` while others write: files in pieces with pauses, files that
grow, files renamed into place, a link that leads to one file after another, backups of the model restored in two ways,
and a model that is a link to one file and then to another. In the end every record was learnt exactly once. Seeds are
printed; ``python tests/kills.py 300 SEED`` makes the same draws, though not the same moments.
"""

import itertools
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import adforest
from adforest.cli.surveying import fingerprint
from adforest.origins import origins_of
from cli_commands import SMALL, content, kill_after, month, run_apart, write_months
from table_files import write

KILLS_A_ROUND = 5
SETTLE, PATIENCE = 0.1, 3.0  # seconds; writers pause for longer than the first, within a line for less than the second
KINDS = ("learn", "watch", "writers")


class Kills(NamedTuple):
    """How often a process was killed while it was running, and what went wrong."""

    n_kills: int
    problems: list


def undisturbed(folder, path):
    """Learn a folder in one go, and return the model file and the seconds that took."""
    begin = time.perf_counter()
    assert run_apart(*_command("learn", folder, path))[0] == 0
    return path, time.perf_counter() - begin


def survive(verb, folder, work, n_kills, random_moments, whole, seconds):
    """Kill a command so many times, let it end, and compare what it made with a run that nobody disturbed.

    The moments are spread over the time that a whole run takes, so that starts, reading, learning and writing are hit.
    """
    model = work / "killed.adf"
    expected_files = {fingerprint(path).digest for path in folder.iterdir()}
    problems, n_done = [], 0
    for _ in range(50 * n_kills):
        if n_done == n_kills:
            break
        n_done += kill_after(random_moments.uniform(0, seconds), *_command(verb, folder, model))
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
    more = ("--once", "--settle", "0", "--interval", "0.05", "--attempts", "100") if verb == "watch" else ()
    return (verb, folder, "--target", "rent", "--drop", "id", "--model", model, "--keep", 2, *SMALL, *more)


class Writers:
    """Programs that write into a folder and restore backups of a model, each in a thread, until they are stopped.

    Attributes
    ----------
    ids : list of int
        Of all records that are there in the end.
    """

    def __init__(self, work, random_moments, n=60):
        self.inbox, self.model, self._n = work / "inbox", work / "m.adf", n
        self._elsewhere, self._lots = work / "elsewhere", random_moments
        self.inbox.mkdir()
        self._elsewhere.mkdir()
        self.ids, self._numbers = [], iter(range(1, 1000))
        self._text("first.csv", self.inbox)  # it decides what columns hold
        self._is_stopped = threading.Event()
        files = [self._pausing, self._growing, self._renaming, self._linking]
        self._writing = [threading.Thread(target=one, args=(random.Random(random_moments.random()),)) for one in files]
        self._restoring = threading.Thread(target=self._restore, args=(random.Random(random_moments.random()),))

    def start(self):
        for thread in [*self._writing, self._restoring]:
            thread.start()

    def stop(self):
        """Let each finish the file that it writes."""
        self._is_stopped.set()
        for thread in [*self._writing, self._restoring]:
            thread.join()

    def _until_stopped(self):
        return itertools.takewhile(lambda _: not self._is_stopped.is_set(), itertools.count())

    def _text(self, name, folder):
        """Write a file of records that no other has, and return its path."""
        table = month(next(self._numbers), self._n)
        self.ids += table.column("id").to_pylist()
        write(table, folder / name)
        return folder / name

    def _pieces(self, path, draws, *, in_lines):
        """Write what is in another file piece by piece, with pauses."""
        data = path.read_bytes()
        lines = data.splitlines(keepends=True)
        while lines:
            n = draws.randrange(1, 30)
            piece, lines = b"".join(lines[:n]), lines[n:]
            cut = draws.randrange(1, len(piece)) if in_lines else len(piece)
            for part, pause in ((piece[:cut], 0.5), (piece[cut:], draws.choice([SETTLE, 15 * SETTLE]))):
                if part:
                    yield part
                    time.sleep(draws.random() * pause)

    def _pausing(self, draws):
        """Files that are open for long, written in parts that end within lines."""
        for number in self._until_stopped():
            source = self._text(f"pausing-{number}.csv", self._elsewhere)
            with open(self.inbox / source.name, "wb", buffering=0) as file:
                for part in self._pieces(source, draws, in_lines=True):
                    file.write(part)

    def _growing(self, draws):
        """A file that grows by whole lines now and then, and says that it is a minute old."""
        for number in self._until_stopped():
            source = self._text(f"growing-{number}.csv", self._elsewhere)
            path = self.inbox / source.name
            for part in self._pieces(source, draws, in_lines=False):
                with open(path, "ab") as file:
                    file.write(part)
                os.utime(path, (time.time() - 60, time.time() - 60))

    def _renaming(self, draws):
        """Files that are there at once."""
        for number in self._until_stopped():
            source = self._text(f"renamed-{number}.parquet", self._elsewhere)
            os.replace(source, self.inbox / source.name)
            time.sleep(draws.random() * 3)

    def _linking(self, draws):
        """A link that leads to one file after another; each stays in the folder under its own name, too."""
        for number in self._until_stopped():
            source = self._text(f"rotated-{number}.csv", self._elsewhere)
            os.symlink(source, self._elsewhere / "next")
            os.replace(self._elsewhere / "next", self.inbox / "current.csv")
            time.sleep(draws.random() * 3)
            os.replace(source, self.inbox / source.name)
            os.symlink(self.inbox / source.name, self._elsewhere / "next")
            os.replace(self._elsewhere / "next", self.inbox / "current.csv")

    def _restore(self, draws):
        """Put back what the model was some time ago, or make the model's name a link to a copy of it."""
        backup = self._elsewhere / "backup.adf"
        for _ in self._until_stopped():
            with suppress(OSError):  # there is no model yet
                shutil.copyfile(self.model, backup)
                time.sleep(draws.random() * 2)
                adforest.load(backup)  # a copy made while it was replaced is whole all the same
                how = draws.randrange(3)
                if how == 0:
                    os.replace(backup, self.model.resolve())
                elif how == 1:
                    shutil.copyfile(backup, self.model)  # in place, for a moment it is half a model
                else:
                    copy = self.model.with_name(f"copy-{draws.randrange(10**9)}.adf")
                    shutil.copyfile(backup, copy)
                    os.symlink(copy, self._elsewhere / "model")
                    os.replace(self._elsewhere / "model", self.model)
            time.sleep(draws.random())


def survive_writers(work, n_kills, random_moments):
    """Kill `watch` so many times while others write, let it end, and count how often each record was learnt."""
    writers, problems, n_done = Writers(work, random_moments), [], 0
    command = ("watch", writers.inbox, "--target", "rent", "--model", writers.model, *SMALL, "--memory-size", "none")
    command += ("--settle", SETTLE, "--interval", 0.05, "--patience", PATIENCE, "--attempts", 100, "--keep", 2)
    writers.start()
    while n_done < n_kills:
        n_done += kill_after(random_moments.uniform(0.5, 10), *command)
    writers.stop()
    code, _, err = run_apart(*command, "--once")
    if code:
        problems.append(f"it ended with code {code}: {err}")
    if (writers.inbox / "rejected").exists():
        reasons = [path.read_text() for path in (writers.inbox / "rejected").glob("*.reason.txt")]
        problems.append(f"files were set aside: {' '.join(reasons)}")
    model = adforest.load(writers.model)
    times = Counter(learnt_ids(model))
    lost, repeated = set(writers.ids) - set(times), [one for one, n in times.items() if n > 1]
    if lost or repeated or sum(report.n_samples for report in model.history_) != len(writers.ids):
        problems.append(f"{len(lost)} records lost, {len(repeated)} learnt more than once")
    return Kills(n_done, problems)


def learnt_ids(model):
    """Return the ids of all records that a model learnt, which it must have kept; the last ones may wait for more."""
    state, column = model._model.state, list(model._model.encoder.names).index("id")
    blocks = [state.memory.matrix()] + ([] if state.pending is None else [state.pending.X])
    return [int(one) for block in blocks for one in block[:, column]]


def main(n_kills, seed):
    """Kill that many times, and print what came of each round."""
    print(f"seed {seed}", flush=True)
    random_moments, n_done, n_failed, kinds = random.Random(seed), 0, 0, 0
    while n_done < n_kills:
        kind, kinds = KINDS[kinds % 3], kinds + 1
        work = Path(tempfile.mkdtemp(prefix="kills-"))
        if kind == "writers":
            found, well = survive_writers(work, KILLS_A_ROUND, random_moments), "every record once"
        else:
            folder = write_months(work / "months", 20, n=random_moments.choice([100, 400, 1500]))
            whole = undisturbed(folder, work / "whole.adf")
            found, well = survive(kind, folder, work, KILLS_A_ROUND, random_moments, *whole), "the same model"
        n_done, n_failed = n_done + found.n_kills, n_failed + bool(found.problems)
        print(f"{n_done} kills, {kind}: {'; '.join(found.problems) or well}", flush=True)
        if not found.problems:
            shutil.rmtree(work)
    return n_failed


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**31)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, chosen) > 0)
