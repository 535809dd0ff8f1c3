"""Runs: which are to be done, each in a process with limits, their rows in a table; no run is repeated."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from nextbatch import batches, encoding, measures, protocols, streams, usage
from nextbatch.code import digest_files, find_file
from nextbatch.costs import is_left_out, say_left_out
from nextbatch.learners import BUILT_IN, Entry, base, known_learners
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.protocols import Protocol
from nextbatch.results import (
    ERROR,
    KEY,
    MEMORY,
    QUICK,
    TIMEOUT,
    Row,
    append_row,
    describe_machine,
    describe_versions,
    key_of,
    read_rows,
)
from nextbatch.streams import Recipe
from nextbatch.usage import Group

PATIENCE, ACTIVE = 120, 0.5  # a run is ended if it used fewer CPU seconds than ACTIVE in so many seconds by the clock
POLL, LOOK = 0.05, 0.25  # seconds between two looks at whether a worker ended, and at what it and its children use
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Limits:
    """What a run may take.

    Attributes
    ----------
    timeout : int
        CPU seconds of the process and of all that it starts.
    memory : int
        MB of all of them.
    """

    timeout: int = 240
    memory: int = 6_000


@dataclass(frozen=True)
class Job:
    """One learner on one stream by one protocol with one seed."""

    protocol: Protocol
    recipe: Recipe
    entry: Entry
    asked: str
    seed: int = 0
    quick: bool = False
    hidden: str = ""
    max_batches: int | None = None

    @property
    def key(self) -> dict[str, str]:
        """What tells the run from all others."""
        values = (
            size_of(self.quick, self.max_batches),
            self.protocol.name,
            self.recipe.name,
            self.entry.name,
            str(self.seed),
        )
        return dict(zip(KEY, values, strict=True))

    def fingerprint(self, version: str | None = None) -> str:
        """Return digests of all that the run depends on: of `common_code`, and of the learner with its library.

        Parameters
        ----------
        version : str or None
            Of the learner's library; None for the one that is installed.
        """
        return f"{self.common_code()}-{self.entry.fingerprint(version)}"

    def common_code(self) -> str:
        """Return a digest of what all learners have in common: table, batches, protocol and measures.

        What describes streams and protocols, and what shows or checks results, does not count.
        """
        asked = self.protocol
        said = (
            self.recipe.sha256, self.recipe.batch_size, self.recipe.thin,
            asked.delay, asked.budget, asked.per_record, asked.staged, _digest_common(),
        )  # fmt: skip
        return hashlib.sha256(" ".join(map(str, said)).encode()).hexdigest()[:16]


@cache
def _digest_common() -> str:
    """Return a digest of the code that all runs have in common."""
    return digest_files(map(find_file, (protocols, measures, batches, encoding, base, usage)))


def size_of(quick: bool, max_batches: int | None) -> str:
    """Return how much of each stream is run, as results say it.

    Examples
    --------
    >>> size_of(False, None), size_of(True, None), size_of(False, 20)
    ('full', 'quick', 'first 20 batches')
    """
    return QUICK if quick else f"first {max_batches} batches" if max_batches else "full"


def max_batches_of(size: str) -> int | None:
    """Return how many batches of each stream a row's size says; None for all.

    Examples
    --------
    >>> max_batches_of("full"), max_batches_of("first 20 batches")
    (None, 20)
    """
    return int(size.split()[1]) if size.startswith("first ") else None


@dataclass
class Plan:
    """Jobs that are to be done, and sentences on those that cannot be."""

    jobs: list[Job] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def make_plan(
    entries: dict[str, Entry],
    recipes: Sequence[Recipe],
    chosen: Sequence[Protocol],
    *,
    seeds: Sequence[int] = (0,),
    quick: bool = False,
    hidden: str = "",
    max_batches: int | None = None,
    everything: bool = False,
) -> Plan:
    """Return the runs of some learners, streams and protocols; what is left out is said in sentences.

    They are in the order of what they are worth: protocol after protocol, seed after seed, costly learners last.

    Parameters
    ----------
    entries : dict of Entry
        By how they were asked for.
    recipes, chosen : sequences
        Streams and protocols.
    seeds : sequence of int
    quick : bool
        Generated streams only, shortened.
    hidden : str
        A maintainer's folder, whose streams come by the main protocol only.
    max_batches : int or None
        Of each stream; None for all.
    everything : bool
        Whether learners that take long run by all protocols and on all streams, too; see `is_left_out`.
    """
    plan, left_out, n_left_out = Plan(), dict[str, Entry](), 0
    absent = [one.name for one in recipes if not one.is_generated and one.find() is None]
    if absent and not quick:
        plan.skipped.append(
            f"{len(absent)} real streams are left out, because {streams.DATA_VARIABLE} names no folder with their "
            f"tables: {', '.join(absent)}"
        )
    used = {}
    for asked, entry in entries.items():
        if entry.missing():
            plan.skipped.append(f"{entry.name} is left out: {entry.missing()}")
        else:
            used[asked] = entry
    for one in [one for one in chosen if max_batches is not None and max_batches <= one.delay + 1]:
        plan.skipped.append(f"{one.name} is left out: with {max_batches} batches nothing is predicted.")
    chosen = [one for one in chosen if max_batches is None or max_batches > one.delay + 1]
    for protocol, seed, is_costly, recipe in product(chosen, seeds, (False, True), recipes):
        is_there = recipe.name not in absent and (recipe.is_generated or not quick)
        is_asked = not protocol.streams or recipe.name in protocol.streams
        if is_there and is_asked and not (recipe.kind == "hidden" and protocol.name != "next-batch"):
            for asked, entry in used.items():
                if entry.is_costly != is_costly or not _takes_part(entry, protocol):
                    continue
                if not everything and is_left_out(entry, protocol, recipe, max_batches):
                    n_left_out += 1
                    left_out[entry.name] = entry
                else:
                    plan.jobs.append(Job(protocol, recipe, entry, asked, seed, quick, hidden, max_batches))
    if n_left_out:
        says = " ".join(say_left_out(list(left_out.values())))
        plan.skipped.append(f"{n_left_out} runs are left out; --everything runs them, too. {says}")
    return plan


def _takes_part(entry: Entry, protocol: Protocol) -> bool:
    """Return whether a learner is asked by a protocol."""
    if protocol.per_record:
        return entry.per_record
    return entry.name != "successor" and (protocol.with_costly or not entry.is_costly)


def find_undone(jobs: Sequence[Job], folder: Path, limits: Limits) -> dict[Job, str]:
    """Return the jobs that are to be run, and why.

    They have no row, or one of other code, another table or another library, or one that ended with an error or by a
    lower limit.
    """
    done = {key_of(row): row for row in read_rows(folder)}
    found = {}
    for job in jobs:
        row = done.get(tuple(job.key.values()))
        reason = "not run" if row is None else _why_again(row, job, limits)
        if reason:
            found[job] = reason
    return found


def _why_again(row: Row, job: Job, limits: Limits) -> str:
    """Return why a run is to be repeated, an empty text if it is not."""
    if row["fingerprint"] != job.fingerprint():
        before, now = row["version"], job.entry.version()
        if row["table_sha256"] != job.recipe.sha256:
            return "stale: the table is another one"
        return f"stale: of {before}, here is {now}" if before != now else "stale: code has changed"
    if row["status"] == ERROR:
        return "ended with an error"
    limit = {TIMEOUT: "timeout", MEMORY: "memory"}.get(row["status"])
    if limit and 0 < int(row[limit] or 0) < (getattr(limits, limit) or math.inf):
        return f"ended by a lower limit: {limit} {row[limit]}"
    return ""


def mark_stale(rows: Sequence[Row], recipes: dict[str, Recipe]) -> list[Row]:
    """Return runs with a column ``stale``, which says "true" where the code is not what the run was made with.

    Code is that of the protocols, the measures and the adapter; and that of the library where a checkout of the same
    version is installed. A run of another version is not stale: that version would still give it. Of learners that are
    not in the list, the table, the protocol and the measures count.
    """
    known, found = known_learners(), {}

    @cache
    def version_here(name: str) -> str:
        return "" if known[name].missing() else known[name].version()

    marked = []
    for row in rows:
        recipe, stale = recipes.get(row["stream"]), ""
        if recipe and row["protocol"] in PROTOCOLS:
            entry, version = known.get(row["learner"]), row["version"]
            if entry:
                installed = version_here(entry.name)
                if " (" in installed and installed.partition(" (")[0] == version.partition(" (")[0]:
                    version = installed
            key = row["protocol"], row["stream"], row["learner"], version
            if key not in found:
                job = Job(PROTOCOLS[row["protocol"]], recipe, entry or BUILT_IN[0], row["learner"])
                found[key] = job.fingerprint(version) if entry else job.common_code()
            stale = "" if row["fingerprint"].startswith(found[key]) else "true"
        marked.append(row | {"stale": stale})
    return marked


def run_jobs(
    jobs: Iterable[Job],
    folder: Path,
    limits: Limits,
    n_jobs: int,
    on_done: Callable[[Row], object] = lambda row: None,
    minutes: float | None = None,
) -> None:
    """Do runs, several at a time, and append a row to the folder's table when one is done.

    None is begun after so many minutes.
    """
    until = math.inf if minutes is None else time.monotonic() + 60 * minutes
    machine, lock = describe_machine(), threading.Lock()
    stop = threading.Event()

    def run(job: Job) -> None:
        if stop.is_set() or time.monotonic() >= until:
            return
        row = run_job(job, limits, stop) | {"machine": machine}
        if stop.is_set():
            return
        with lock:
            append_row(folder, row)
            on_done({name: str(value) for name, value in row.items()})

    with ThreadPoolExecutor(n_jobs) as pool:
        futures = [pool.submit(run, job) for job in jobs]
        try:
            for future in futures:
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def run_job(job: Job, limits: Limits, stop: threading.Event | None = None) -> dict[str, Any]:
    """Do one run in a process of its own, and return its row; what a run that failed has printed is ``printed``."""
    entry = job.entry
    row: dict[str, Any] = {
        **job.key,
        "title": entry.title,
        "family": entry.family,
        "tuned": entry.tuned,
        "verified": "false",
        "version": entry.version(),
        "versions": describe_versions(),
        "timeout": limits.timeout,
        "memory": limits.memory,
        "table_sha256": job.recipe.sha256,
        "fingerprint": job.fingerprint(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    with tempfile.TemporaryDirectory(prefix="nextbatch-") as place:
        path = Path(place) / "job.json"
        described = {
            "protocol": job.protocol.name,
            "stream": job.recipe.name,
            "learner": job.asked,
            "seed": job.seed,
            "quick": job.quick,
            "hidden": job.hidden,
            "max_batches": job.max_batches,
            "timeout": limits.timeout,
        }
        path.write_text(json.dumps(described), encoding="utf-8")
        ended, says = _watch(path, limits, stop or threading.Event())
        result, done = path.with_suffix(".result"), path.with_suffix(".done")
        printed = path.with_suffix(".log").read_text(encoding="utf-8", errors="replace").strip()
        if not ended and result.is_file():
            row |= json.loads(result.read_text(encoding="utf-8"))
            return row | ({"printed": printed} if row["status"] == ERROR else {})
        far = f" after {done.read_text()} batches" if done.is_file() else " before the first batch was done"
        return row | {"status": ended or ERROR, "says": f"{says}{far}", "printed": printed}


def _watch(path: Path, limits: Limits, stop: threading.Event) -> tuple[str, str]:
    """Run a worker until it ends or reaches a limit; return a status, empty if it ended by itself, and how it ended."""
    source = str(Path(__file__).parents[1])
    paths = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0", "PYTHONPATH": paths}
    start = time.monotonic()
    with (path.with_suffix(".log")).open("w+", encoding="utf-8") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "nextbatch.worker", str(path)],
            env=env,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        group, looked, active, used = Group(worker.pid), start, start, 0.0
        try:
            while worker.poll() is None:
                time.sleep(POLL)
                now = time.monotonic()
                if now - looked > LOOK:
                    (seconds, megabytes), looked = group.look(), now
                    if megabytes > limits.memory:
                        return MEMORY, f"more than {limits.memory:,} MB"
                    if limits.timeout and seconds > limits.timeout:
                        return TIMEOUT, f"more than {limits.timeout} CPU seconds"
                    if seconds - used > ACTIVE:
                        used, active = seconds, now
                if limits.timeout and now - active > PATIENCE + (0 if used else 4 * limits.timeout):
                    return TIMEOUT, "waited for something"
                if stop.is_set():
                    return ERROR, "interrupted"
        finally:
            group.kill(is_running=worker.poll() is None)
            if worker.poll() is None:
                worker.kill()
            worker.wait()
        if worker.returncode in [-getattr(signal, name, 0) for name in ("SIGXCPU", "SIGKILL")] and worker.returncode:
            return TIMEOUT, f"more than {limits.timeout} CPU seconds"
    return "" if worker.returncode == 0 else ERROR, f"the process ended with exit code {worker.returncode}"
