"""Make everything that the pages show: chapter by chapter, those that are read most first; see ``make results``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from experiments.marked_tables import update_pages
from experiments.page_updates import find_old_benchmarks, find_old_runs, write_benchmark_table, write_drawings
from experiments.reporting.results_page import RESULTS_PAGE, mark_earlier, read_page
from experiments.run_studies import (
    Forecast,
    is_current,
    make_chapters,
    plan_studies,
    show_progress,
    write_streams_chapter,
)
from experiments.running.cost_estimates import estimate_seconds
from experiments.running.records import Job
from experiments.running.runner import FailedRunsError, find_jobs, find_missing
from experiments.specs.methods import check_library
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec
from experiments.spot_checks import check_spots
from experiments.streams.datasets import FOLDER_VARIABLE
from experiments.studies.catalogue import RESULTS
from experiments.studies.streams import RUNS
from nextbatch.cli import main
from nextbatch.page import SUBJECT
from nextbatch.results import read_rows
from nextbatch.streams import DATA_VARIABLE

MINUTE = 60.0


def make_results(options: Options, *, seeds: int | None, budget: float | None, is_listed_only: bool) -> None:
    """Make the chapters that are not of this version of the code, and write the pages after each of them.

    Runs that have a record of the same code and data are not made again.

    Parameters
    ----------
    options : Options
        Quick runs write no page.
    seeds : int or None
        Of all chapters; None for those of `RESULTS`.
    budget : float or None
        Estimated CPU minutes of missing runs to make at most, by whole chapters; the others wait for the next time.
    is_listed_only : bool
        Whether only to say what is left.

    Raises
    ------
    FailedRunsError
        After all others are made, if some chapters could not be.
    """
    if not options.quick and not is_listed_only:
        check_library(MethodSpec("HT (MOA)"))  # pages show MOA's learners: no chapter is written without them
    current = set() if options.quick else {one.study for one in read_page(RESULTS_PAGE)[1] if is_current(one)}
    chapters = {name: _chapter_options(name, options, seeds) for name in RESULTS if name not in current}
    left = _find_left(chapters)
    chosen = _choose(left, budget)
    print(_describe(left, chosen, chapters), flush=True)
    if is_listed_only:
        print(_describe_old())
        return
    failed = {}
    runs = [job.run for name in chosen for job in left[name]]
    with show_progress(Forecast(runs, options.n_jobs)) as on_done:
        for name in chosen:
            try:
                if name == "streams" and not options.quick:
                    run_adforest(chapters[name])
                make_chapters([name], chapters[name], on_done)
            except (ImportError, OSError, ValueError, FailedRunsError) as error:
                failed[name] = f"{name}: {error}"
            if not options.quick:
                write_pages()
            print(failed.get(name, f"{name}: made"), flush=True)
    if failed:
        first = next(iter(failed.values()))
        raise FailedRunsError(f"{len(failed)} of {len(chosen)} chapters could not be made; first {first}")


def check_results(options: Options, *, seeds: int | None, n_runs: int) -> None:
    """Make the cheapest runs of each chapter again, and compare them with their records; see `check_spots`."""
    check_spots({name: _chapter_options(name, options, seeds) for name in RESULTS}, n_runs)


def run_adforest(options: Options) -> None:
    """Let nextbatch make its runs of adforest again that are stale, by the protocols and with the seeds that it has."""
    rows = [row for row in read_rows(RUNS) if row["learner"] == SUBJECT]
    known = ["--protocols", ",".join(sorted({row["protocol"] for row in rows}))]
    known += ["--seeds", str(1 + max((int(row["seed"]) for row in rows), default=0))]
    if data := options.data or os.environ.get(FOLDER_VARIABLE):
        os.environ.setdefault(DATA_VARIABLE, str(data))
    if main(["run", "--out", str(RUNS), "--learners", SUBJECT, "--jobs", str(options.n_jobs), *known]):
        raise ValueError("nextbatch could not run adforest; what it printed says why.")


def write_pages() -> None:
    """Write the chapter of nextbatch's rows, mark chapters of an earlier version, and write what is made of them."""
    write_streams_chapter()
    earlier = mark_earlier(RESULTS_PAGE, is_current)
    written = dict.fromkeys([*update_pages(), *write_benchmark_table(), *write_drawings()])
    print(f"Pages written: {', '.join(written) or 'none'}")
    print(f"Chapters of an earlier version: {', '.join(earlier) or 'none'}")


def _describe_old() -> str:
    """Return which figures that are no chapters are of an earlier version."""
    runs = [f"{name} {n}" for name, n in find_old_runs().items()]
    return (
        f"Runs of nextbatch of an earlier version, by learner: {', '.join(runs) or 'none'}\n"
        f"Lines of benchmarks/record.jsonl of an earlier version: {'; '.join(find_old_benchmarks()) or 'none'}"
    )


def _chapter_options(name: str, options: Options, seeds: int | None) -> Options:
    """Return the options of one chapter."""
    n_seeds = seeds or (1 if options.quick else RESULTS[name])
    return replace(options, n_seeds=n_seeds, write_docs=not options.quick)


def _find_left(chapters: dict[str, Options]) -> dict[str, list[Job]]:
    """Return the jobs of each chapter that are neither done nor an earlier chapter's."""
    left: dict[str, list[Job]] = {}
    taken: set[str] = set()
    for name, options in chapters.items():
        jobs = find_missing(find_jobs(plan_studies([name], options), options), options)
        left[name] = [job for job in jobs if job.key not in taken]
        taken |= {job.key for job in jobs}
    return left


def estimate_minutes(jobs: Sequence[Job]) -> float:
    """Return about how many CPU minutes some jobs take."""
    return sum(estimate_seconds(job.run) for job in jobs) / MINUTE


def _choose(left: dict[str, list[Job]], budget: float | None) -> list[str]:
    """Return the first chapters that together fit the budget, all of them if there is none."""
    chosen, minutes = [], 0.0
    for name, jobs in left.items():
        minutes += estimate_minutes(jobs)
        if budget is not None and minutes > budget:
            break
        chosen.append(name)
    return chosen


def _describe(left: dict[str, list[Job]], chosen: list[str], chapters: dict[str, Options]) -> str:
    """Return a line per chapter, what is left of it, and a total."""
    lines = [f"{'chapter':14} seeds  runs left  CPU minutes left"]
    for name, jobs in left.items():
        waits = "" if name in chosen else "  beyond the budget"
        lines.append(f"{name:14} {chapters[name].n_seeds:5} {len(jobs):10} {estimate_minutes(jobs):17.1f}{waits}")
    n_jobs, minutes = sum(map(len, left.values())), sum(map(estimate_minutes, left.values()))
    return "\n".join([*lines, f"{'all':14} {'':5} {n_jobs:10} {minutes:17.1f}"])
