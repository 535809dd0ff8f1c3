"""The runner: runs in worker processes, longest first; each record is kept at once, none is made twice."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.running.cost_estimates import estimate_seconds
from experiments.running.fingerprints import ChangedCodeError, check_loaded_code, digest_run
from experiments.running.protocols import find_protocol
from experiments.running.records import Job, RunRecord, read_record, read_versions, write_record
from experiments.specs.methods import check_library
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec

SINGLE_THREADED = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}

OnRun = Callable[[RunSpec, float], None]
Samples = dict[RunSpec, RunRecord]


class FailedRunsError(RuntimeError):
    """Some runs failed; the records of the others are kept."""


def run_all(runs: Iterable[RunSpec], options: Options, on_done: OnRun = lambda run, seconds: None) -> Samples:
    """Make the runs that have no record yet, and return the records of all.

    Parameters
    ----------
    runs : iterable of RunSpec
        Those given twice are made once.
    options : Options
    on_done : callable, optional
        Called with a run and the seconds it took as each is done.

    Returns
    -------
    dict of RunSpec to RunRecord

    Raises
    ------
    FailedRunsError
        After all others are done, if some failed.
    """
    return run_jobs(find_jobs(runs, options), options, on_done)


def run_jobs(jobs: Sequence[Job], options: Options, on_done: OnRun = lambda run, seconds: None) -> Samples:
    """Do what `run_all` does, for runs whose sources were looked up before."""
    missing = find_missing(jobs, options)
    failures = list(_run_missing(sorted(missing, key=lambda job: -estimate_seconds(job.run)), options, on_done))
    if failures:
        run, error = failures[0]
        raise FailedRunsError(
            f"{len(failures)} of {len(missing)} runs failed, first {run}: {type(error).__name__}: {error}. "
            "The others are kept; run the same command again for the rest."
        ) from error
    records = {job.run: read_record(job.key, options.out) for job in jobs}
    return {run: record for run, record in records.items() if record is not None}


def find_jobs(runs: Iterable[RunSpec], options: Options) -> list[Job]:
    """Return what is to be done for some runs, each once.

    Raises
    ------
    ImportError, FileNotFoundError
        If a library or a data set they need is missing.
    ChangedCodeError
        If code was changed since this process was started.
    """
    check_loaded_code()
    distinct = list(dict.fromkeys(runs))
    for method in dict.fromkeys(run.method for run in distinct):
        check_library(method)
    return [Job.of(run, options.data) for run in distinct]


def find_missing(jobs: Iterable[Job], options: Options) -> list[Job]:
    """Return the jobs that are still to be done."""
    return [job for job in jobs if read_record(job.key, options.out) is None]


def run_job(job: Job, out: Path, data: Path | None) -> float:
    """Make one run, write its record, and return the seconds it took.

    Parameters
    ----------
    job : Job
    out : Path
        Folder of the results.
    data : Path or None
        Folder of the data sets.

    Returns
    -------
    float
    """
    run, started, start = job.run, _now(), perf_counter()
    evaluation = find_protocol(run).evaluate(run, data)
    seconds = perf_counter() - start
    check_loaded_code()
    if digest_run(run, data) != job.sources:  # changed between the look at its sources and the worker's start
        raise ChangedCodeError(f"code or data of {run} changed before it was run. Start the command again")
    record = RunRecord(
        key=job.key,
        run=run.describe(),
        settings=_json_parameters(evaluation.model.get_params()),
        data_sha256=evaluation.data_sha256,
        sources=job.sources,
        versions=read_versions(run),
        platform=platform.platform(),
        started=started,
        finished=_now(),
        seconds=seconds,
        rows=evaluation.rows,
    )
    write_record(record, out)
    return seconds


def _run_missing(jobs: list[Job], options: Options, on_done: OnRun) -> Iterator[tuple[RunSpec, Exception]]:
    """Run jobs, and yield the runs that failed; what must have the machine to itself comes last, one by one."""
    alone = [job for job in jobs if find_protocol(job.run).runs_alone]
    yield from _run_together([job for job in jobs if job not in alone], options, on_done)
    for job in alone:
        with _workers(1) as pool:
            yield from _collect({pool.submit(run_job, job, options.out, options.data): job.run}, on_done)


def _run_together(jobs: list[Job], options: Options, on_done: OnRun) -> Iterator[tuple[RunSpec, Exception]]:
    """Run jobs beside each other, and yield the runs that failed."""
    if options.n_jobs == 1 or len(jobs) < 2:
        for job in jobs:
            try:
                with threadpool_limits(1):
                    on_done(job.run, run_job(job, options.out, options.data))
            except Exception as error:
                yield job.run, error
        return
    with _workers(min(options.n_jobs, len(jobs))) as pool:
        yield from _collect({pool.submit(run_job, job, options.out, options.data): job.run for job in jobs}, on_done)


def _collect(futures: dict[Future[float], RunSpec], on_done: OnRun) -> Iterator[tuple[RunSpec, Exception]]:
    """Wait for runs, and yield those that failed."""
    for future in as_completed(futures):
        failure = future.exception()
        if isinstance(failure, Exception):
            yield futures[future], failure
        else:
            on_done(futures[future], future.result())


@contextmanager
def _workers(n: int) -> Iterator[ProcessPoolExecutor]:
    """Start single-threaded worker processes; whatever ends this process ends them."""
    before = {name: os.environ.get(name) for name in SINGLE_THREADED}
    os.environ.update(SINGLE_THREADED)
    children = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(n, multiprocessing.get_context("spawn"), initializer=_start_worker)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - children:
            child.terminate()
        raise
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start_worker() -> None:
    """Let a worker leave quietly at Ctrl-C, and never outlive the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """Wait for the parent's end, and leave."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _json_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return those parameters that JSON can hold."""
    return {name: value for name, value in parameters.items() if isinstance(value, str | int | float | list | None)}


def _now() -> str:
    """Return the time in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
