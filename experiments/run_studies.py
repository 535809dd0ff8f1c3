"""Run studies behind a progress bar, and write their tables, chapters and the report."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from adforest.libraries import require
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter, Provenance
from experiments.reporting.markdown import write_markdown
from experiments.reporting.page import write_report
from experiments.reporting.results_page import RESULTS_PAGE, PageChapter, mark_earlier, read_page, update_page
from experiments.reporting.terminal import print_chapter
from experiments.running.behaviour import fingerprint_methods
from experiments.running.cost_estimates import estimate_seconds
from experiments.running.records import write_json, write_rows
from experiments.running.runner import OnRun, Samples, find_jobs, find_missing, run_jobs
from experiments.specs.methods import find_method, library_version
from experiments.specs.options import Options, read_command
from experiments.specs.run_spec import RunSpec
from experiments.studies import streams
from experiments.studies.catalogue import STUDIES

CHECKOUT = Path(__file__).parents[1]
MEASURED_CODE = ("src", "experiments")  # folders whose changes are told apart from their commit


def run_studies(names: Sequence[str], options: Options) -> None:
    """Run studies, print their chapters, and write tables, chapters and the report.

    Parameters
    ----------
    names : sequence of str
        Studies; the runs they share are made once.
    options : Options
    """
    jobs = find_jobs(plan_studies(names, options), options)
    forecast = Forecast([job.run for job in find_missing(jobs, options)], options.n_jobs)
    with show_progress(forecast) as on_done:
        for chapter in make_chapters(names, options, on_done).values():
            print_chapter(chapter)
    report = options.out / "report.html"
    print(f"\nReport: {report}, and as text: {report.with_name('results.md')}")
    if options.write_docs:
        print(f"Put into {RESULTS_PAGE}: {', '.join(names)}")


def plan_studies(names: Sequence[str], options: Options) -> list[RunSpec]:
    """Return the runs of some studies, each once."""
    return list(dict.fromkeys(run for name in names for run in STUDIES[name].plan(options)))


def make_chapters(names: Sequence[str], options: Options, on_done: OnRun) -> dict[str, Chapter]:
    """Make the runs of some studies that are missing, write chapters and the report, and return the chapters."""
    for library in ("rich", "plotly", "pyarrow"):
        require(library, "the report", "experiments")

    records = run_jobs(find_jobs(plan_studies(names, options), options), options, on_done)
    made = {}
    for name in names:
        own = Results({run: records[run] for run in plan_studies([name], options)})
        chapter = STUDIES[name].report(own, options)
        made[name] = chapter = replace(chapter, provenance=find_provenance(name, own.records, options))
        write_rows(own.records.values(), options.out / f"{name}.parquet")
        write_json(chapter.to_json(), options.out / f"{name}.json")
    chapters, report = read_chapters(options.out), options.out / "report.html"
    write_report(chapters, report)
    write_markdown(chapters, report.with_name("results.md"))
    if options.write_docs:
        update_page(RESULTS_PAGE, made, list(STUDIES))
        mark_earlier(RESULTS_PAGE, is_current)
    return made


def write_streams_chapter(page: Path = RESULTS_PAGE) -> None:
    """Put the chapter of nextbatch's results into the page: it is made of rows that are there."""
    chapter = STUDIES["streams"].report(Results({}), Options())
    update_page(page, {"streams": replace(chapter, provenance=find_provenance("streams", {}, Options()))}, [*STUDIES])


def find_provenance(name: str, records: Samples, options: Options) -> Provenance:
    """Return date of the last record, commit of the code, seeds, what the ADF methods do, and versions of libraries."""
    if name == "streams":
        last = next((one.provenance for one in read_page(RESULTS_PAGE)[1] if one.study == name), None)
        return streams.find_provenance(last, describe_commit(CHECKOUT))
    libraries = sorted({library for run in records if (library := find_method(run.method).library)})
    return Provenance(
        date=max(record.finished for record in records.values())[: len("2022-02-01")],
        commit=describe_commit(CHECKOUT),
        n_seeds=options.n_seeds,
        behaviour=fingerprint_methods(records),
        libraries={name: library_version(name) for name in libraries},
    )


def is_current(chapter: PageChapter) -> bool:
    """Return whether the methods of a chapter do now what they did when it was measured."""
    if chapter.provenance is None:
        return False
    return chapter.provenance.behaviour == fingerprint_study(chapter)


def fingerprint_study(chapter: PageChapter) -> dict[str, str]:
    """Return fingerprints of what a chapter would be made of now: of the ADF methods, or of nextbatch's rows."""
    if chapter.study == "streams":
        return streams.fingerprint_rows()
    return fingerprint_methods(STUDIES[chapter.study].plan(read_command(chapter.command)))


def describe_commit(checkout: Path) -> str:
    """Return the short hash of a checkout's commit, with "+ changes" if its code differs; "unknown" without git."""
    try:
        commit = _git(checkout, "rev-parse", "--short", "HEAD")
        changes = _git(checkout, "status", "--porcelain", "--", *MEASURED_CODE)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit} + changes" if changes else commit


def _git(checkout: Path, *arguments: str) -> str:
    """Return what git prints."""
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def read_chapters(out: Path) -> list[Chapter]:
    """Return the chapters in a folder of results, in the order of the catalogue; older formats are left out."""
    chapters = []
    for path in (out / f"{name}.json" for name in STUDIES):
        if path.is_file():
            data = json.loads(path.read_text(encoding="utf-8"))
            chapters += [Chapter.from_json(data)] if "caveats" in data else []
    return chapters


@contextmanager
def show_progress(forecast: Forecast) -> Iterator[OnRun]:
    """Show how far the runs are: a bar on a terminal, a line a run elsewhere."""
    if not sys.stderr.isatty():
        yield lambda run, seconds: print(forecast.count(run, seconds), file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns: list[Any] = [BarColumn(), TaskProgressColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(forecast.status, total=forecast.total)

        def on_done(run: RunSpec, seconds: float) -> None:
            said = forecast.count(run, seconds)
            progress.update(task, completed=forecast.done, description=said)

        yield on_done


class Forecast:
    """How many runs are done, and how long the others will take, estimated from those that are done.

    Parameters
    ----------
    runs : sequence of RunSpec
        What is to be run.
    n_jobs : int
        How many at a time.
    """

    def __init__(self, runs: Sequence[RunSpec], n_jobs: int) -> None:
        self.cost = {run: estimate_seconds(run) for run in runs}
        self.total = sum(self.cost.values())
        self.n_jobs = n_jobs
        self.done = self.taken = 0.0
        self.n_done = 0

    def count(self, run: RunSpec, seconds: float) -> str:
        """Count a run as done, and return the state of all."""
        self.done += self.cost.get(run, 0.0)
        self.taken += seconds
        self.n_done += 1
        return f"{self.status}; {run}: {seconds:.1f} s"

    @property
    def status(self) -> str:
        """How many runs are done, and how many CPU minutes are left."""
        pace = self.taken / self.done if self.done else 1.0
        minutes = pace * (self.total - self.done) / 60
        left = f"{minutes:.0f} CPU min left" if minutes >= 1 else "less than a CPU minute left"
        return f"{self.n_done} of {len(self.cost)} runs, {left}"
