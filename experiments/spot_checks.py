"""Spot checks: a few runs of every chapter are made again, and compared with what their records say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.run_studies import plan_studies
from experiments.running.cost_estimates import estimate_seconds
from experiments.running.measures import Row
from experiments.running.records import Job, read_record
from experiments.running.runner import FailedRunsError, find_jobs, run_jobs
from experiments.specs.options import Options

MEASURED = ("seconds", "megabytes", "bytes")  # in names of columns that differ from run to run


def check_spots(chapters: dict[str, Options], n_runs: int) -> None:
    """Make the cheapest runs of each chapter again, and print how many there were.

    Parameters
    ----------
    chapters : dict of str to Options
        Options of each chapter; runs without a record in their folder are left out.
    n_runs : int
        Of each chapter.

    Raises
    ------
    FailedRunsError
        If a figure differs from the recorded one.
    ValueError
        If there is no record to compare with.
    """
    differ, n_compared = [], 0
    for name, options in chapters.items():
        jobs = _find_cheapest(find_jobs(plan_studies([name], options), options), options.out, n_runs)
        differ += _find_differences(jobs, options)
        n_compared += len(jobs)
        print(f"{name}: {len(jobs)} runs made again", flush=True)
    if not n_compared:
        raise ValueError("no run of this code has a record to compare with; make some: python -m experiments results")
    if differ:
        raise FailedRunsError(f"{len(differ)} of {n_compared} runs differ from their records; first {differ[0]}")


def _find_cheapest(jobs: Sequence[Job], out: Path, n_runs: int) -> list[Job]:
    """Return the cheapest of those jobs that have a record."""
    recorded = [job for job in jobs if read_record(job.key, out) is not None]
    return sorted(recorded, key=lambda job: estimate_seconds(job.run))[:n_runs]


def _find_differences(jobs: Sequence[Job], options: Options) -> list[str]:
    """Return which runs, made in an empty folder, have other figures than their records."""
    with TemporaryDirectory() as folder:
        again = run_jobs(jobs, replace(options, out=Path(folder)))
    recorded = {job.run: read_record(job.key, options.out) for job in jobs}
    return [
        str(run) for run, record in recorded.items() if record and _figures(record.rows) != _figures(again[run].rows)
    ]


def _figures(rows: Sequence[Row]) -> list[Row]:
    """Return what rows say apart from time and memory."""
    return [{key: value for key, value in row.items() if not any(one in key for one in MEASURED)} for row in rows]
