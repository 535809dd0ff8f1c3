"""The command line: ``nextbatch list | run | page | table | submit | verify | hidden``."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from nextbatch import __version__
from nextbatch.costs import estimate_seconds, say_left_out
from nextbatch.learners import find_learner, known_learners
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.results import FILE, OK, SUBMISSIONS, Row, lock_folder, read_results, read_rows
from nextbatch.running import Limits, find_undone, make_plan, run_jobs
from nextbatch.streams import DATA_VARIABLE, HIDDEN_VARIABLE, KINDS, DataError, load_table, read_recipes

OUT = "nextbatch-results"
QUICK = ("rf-last", "rf-last3", "rf-all", "hgb-last3", "lightgbm-last3", "river-hat", "adforest")  # besides the rules


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, or 1 with one line on what went wrong."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.do(options)
        sys.stdout.flush()
    except BrokenPipeError:  # what reads the output wants no more of it
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return 0
    except (DataError, ValueError, OSError) as error:
        print(f"nextbatch {options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"nextbatch {options.command}: interrupted; run it again to go on", file=sys.stderr)
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="nextbatch",
        description="A benchmark of classifiers for data in batches: predict the next batch, then learn it.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    one = commands.add_parser("list", help="streams, learners and protocols, and what of them is at hand")
    one.add_argument("--check", action="store_true", help="compare the digest of every table")
    one.set_defaults(do=list_all)

    one = commands.add_parser("run", help="run learners on streams; what is done already is not repeated")
    one.add_argument(
        "--quick", action="store_true", help="generated streams only, thinned to 12 batches of 200, and a few learners"
    )
    one.add_argument(
        "--learner", action="append", default=[], metavar="FILE.py:CLASS", help="your learner, besides the others"
    )
    one.add_argument(
        "--learners", type=_names, metavar="A,B", help="only these, besides the trivial rules: names, or FILE.py:CLASS"
    )
    one.add_argument("--without", type=_names, default=[], metavar="A,B", help="not these")
    one.add_argument("--streams", type=_names, metavar="A,B", help="only these")
    one.add_argument("--protocols", type=_names, metavar="A,B", help=f"of {', '.join(PROTOCOLS)}")
    one.add_argument("--max-batches", type=_positive, metavar="N", help="only the first N of each stream (all)")
    one.add_argument("--seeds", type=_positive, default=1, metavar="N", help="seeds 0 to N-1 (1)")
    one.add_argument(
        "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N", help="runs at a time (all cores)"
    )
    one.add_argument(
        "--timeout", type=_positive, default=Limits.timeout, metavar="S", help="CPU seconds of a run (%(default)s)"
    )
    one.add_argument("--memory", type=_positive, default=Limits.memory, metavar="MB", help="of a run (%(default)s)")
    one.add_argument("--minutes", type=float, metavar="M", help="begin no run after so many minutes; go on later")
    one.add_argument(
        "--everything", action="store_true", help="also what is left out because it takes long: see nextbatch list"
    )
    one.add_argument(
        "--left", action="store_true", help="only say what is not done or stale, why, and what it would take"
    )
    one.add_argument(
        "--hidden", default="", metavar="FOLDER", help=f"recipes and tables of maintainers ({HIDDEN_VARIABLE})"
    )
    one.add_argument("--out", type=Path, default=Path(OUT), metavar="FOLDER", help="of results (%(default)s)")
    one.set_defaults(do=run)

    one = commands.add_parser("page", help="write one HTML page of all results")
    one.add_argument("results", nargs="*", type=Path, default=[Path(OUT)], help=f"folders with {FILE} ({OUT})")
    one.add_argument("--out", type=Path, metavar="FILE", help="(index.html in the first folder)")
    one.set_defaults(do=write_page)

    one = commands.add_parser("table", help="print the main table as Markdown, or write it into a file")
    one.add_argument("results", nargs="*", type=Path, default=[Path(OUT)], help=f"folders with {FILE} ({OUT})")
    one.add_argument("--write", type=Path, metavar="FILE", help="put it between the marks of this file")
    one.set_defaults(do=write_table)

    one = commands.add_parser("submit", help="make the folder for a pull request with a learner's results")
    one.add_argument("learner", help="a name, or FILE.py:CLASS")
    one.add_argument("--results", type=Path, default=Path(OUT), metavar="FOLDER", help="(%(default)s)")
    one.add_argument("--to", type=Path, default=Path(SUBMISSIONS), metavar="FOLDER", help="(%(default)s)")
    one.set_defaults(do=submit)

    one = commands.add_parser("verify", help="run two streams of a submission, or of results, again and compare")
    one.add_argument("folder", type=Path)
    one.add_argument(
        "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N", help="runs at a time (all cores)"
    )
    one.add_argument("--streams", type=_names, metavar="A,B", help="which (two drawn at random)")
    one.set_defaults(do=verify)

    one = commands.add_parser("hidden", help="write streams like the generated ones, for maintainers to test on")
    one.add_argument("folder", type=Path, help=f"for {HIDDEN_VARIABLE}; not to be published")
    one.add_argument("--seed", type=int, required=True, metavar="N", help="a number that nobody else knows")
    one.set_defaults(do=hide)
    return parser


def _names(text: str) -> list[str]:
    """Return names that commas separate."""
    return [name for name in text.split(",") if name]


def _positive(text: str) -> int:
    """Return a number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} arrived; expected 1 or more")
    return number


def list_all(options: argparse.Namespace) -> int:
    """Print streams, learners and protocols."""
    recipes = read_recipes(os.environ.get(HIDDEN_VARIABLE))
    data = os.environ.get(DATA_VARIABLE, "")
    print(f"{len(recipes)} streams ({DATA_VARIABLE}={data}); * defaults of a learner chosen on it")
    n_wrong = 0
    for one in recipes.values():
        state = "" if one.is_generated or one.find() else "  [no table]"
        if options.check and not state:
            try:
                load_table(one)
                file = "" if one.is_generated or one.has_same_file() else "; another file"
                state = f"  [digest as in the recipe{file}]"
            except DataError as error:
                n_wrong += 1
                state = f"  [WRONG: {error}]"
        mark = "*" if one.chosen_on else " "
        n = round(one.n_records / one.thin / one.batch_size)
        print(f" {mark} {one.name:18} {KINDS[one.kind]:31} {n:3} x {one.batch_size:5,}  {one.title}{state}")
        if one.url:
            print(f"{'':26}{one.url}  by {one.time_column}")
    print("learners")
    for entry in known_learners().values():
        missing = entry.missing()
        mark = "+" if entry.is_costly else " "
        print(f" {mark} {entry.name:18} {entry.title}{f'  [{missing}]' if missing else ''}")
    for sentence in say_left_out(list(known_learners().values())):
        print(f" + {sentence}")
    print("   nextbatch run --everything runs these by equal-time and on all streams, too.")
    print("protocols")
    for protocol in PROTOCOLS.values():
        print(f"   {protocol.name:18} {protocol.says}")
    return 1 if n_wrong else 0


def run(options: argparse.Namespace) -> int:
    """Run what is not done."""
    known = known_learners()
    rules = [name for name in known if known[name].family == "trivial"]
    _check(options.without, known, "learner")
    others = options.learners
    if others is None:
        others = [name for name in (QUICK if options.quick else known) if name not in rules]
    asked = dict.fromkeys([*options.learner, *rules, *(name for name in others if name not in options.without)])
    entries = {name: find_learner(name) for name in asked}
    hidden = options.hidden or os.environ.get(HIDDEN_VARIABLE, "")
    recipes = read_recipes(hidden)
    names = list(recipes) if options.streams is None else options.streams
    _check(names, recipes, "stream")
    chosen = options.protocols or (["next-batch"] if options.quick else list(PROTOCOLS))
    _check(chosen, PROTOCOLS, "protocol")
    plan = make_plan(
        entries,
        [recipes[name] for name in names],
        [PROTOCOLS[name] for name in chosen],
        seeds=range(options.seeds),
        quick=options.quick,
        hidden=hidden,
        max_batches=options.max_batches,
        everything=options.everything,
    )
    for sentence in plan.skipped:
        print(sentence)
    if not plan.jobs:
        raise ValueError(
            "nothing is to be run: no learner here takes part in these protocols on these streams"
            f"{'; a quick run has generated streams only' if options.quick else ''}. See nextbatch list."
        )
    limits = Limits(options.timeout, options.memory)
    jobs = find_undone(plan.jobs, options.out, limits)
    print(f"{len(plan.jobs)} runs, {len(plan.jobs) - len(jobs)} of them done already")
    if options.left:
        seconds = estimate_seconds(list(jobs), read_rows(options.out), options.timeout)
        parts: dict[tuple[str, str], list[float]] = {}
        for job, why in jobs.items():
            parts.setdefault((job.protocol.name, why), []).append(seconds[job])
        for (protocol, why), found in parts.items():
            print(f"{len(found):6}  {protocol}  {why}, about {math.ceil(sum(found) / 60)} CPU minutes")
        minutes = math.ceil(sum(seconds.values()) / 60)
        wall = math.ceil(minutes / options.jobs)
        print(f"In all about {minutes} CPU minutes: {wall} with {options.jobs} runs at a time")
        return 0
    for recipe in dict.fromkeys(job.recipe for job in jobs):
        load_table(recipe)  # a table that is not the recipe's is no failure of a learner
    n_done = 0

    def tell(row: Row) -> None:
        nonlocal n_done
        n_done += 1
        found = f"accuracy {float(row['accuracy']):.3f}" if row["status"] == OK else f"{row['status']}: {row['says']}"
        print(f"{n_done}/{len(jobs)}  {row['protocol']}  {row['stream']}  {row['learner']}  {found}", flush=True)
        if row.get("printed"):
            print(row["printed"], file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with lock_folder(options.out):
            run_jobs(jobs, options.out, limits, options.jobs, tell, options.minutes)
    finally:
        signal.signal(signal.SIGTERM, before)
    if n_done < len(jobs):
        print(f"{len(jobs) - n_done} runs are left; the same command goes on with them.")
    where = "" if str(options.out) == OUT else f" {options.out}"
    print(f"Results: {options.out / FILE}. A page of them: nextbatch page{where}")
    return 0


def _interrupt(*_: object) -> None:
    """End runs as Ctrl-C does."""
    raise KeyboardInterrupt


def _check(names: Sequence[str], known: Collection[str], what: str) -> None:
    """Complain of a name that is not known."""
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {what} {name!r}; known are {', '.join(known)}.")


def _read(places: Sequence[Path]) -> list[Row]:
    """Return the runs of some folders and of the submissions beside them."""
    absent = [str(place) for place in places if not place.exists()]
    rows = [] if absent else read_results(*places)
    if not rows:
        raise ValueError(f"there are no results in {', '.join(map(str, places))}; make some: nextbatch run --quick")
    return rows


def write_page(options: argparse.Namespace) -> int:
    """Write the page."""
    from nextbatch.page import make_page

    path = options.out or options.results[0] / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(make_page(_read(options.results), read_recipes(os.environ.get(HIDDEN_VARIABLE))), encoding="utf-8")
    print(f"Page: {path}")
    return 0


def write_table(options: argparse.Namespace) -> int:
    """Print the main table, or write it into a file."""
    from nextbatch.table import make_table, put_between_marks

    table = make_table(_read(options.results), read_recipes())
    if options.write:
        put_between_marks(options.write, table)
    else:
        print(table)
    return 0


def submit(options: argparse.Namespace) -> int:
    """Make the folder for a pull request."""
    from nextbatch.submissions import make_submission

    folder = make_submission(options.learner, options.results, options.to)
    print(f"Made {folder}: open a pull request that adds it. Unverified until somebody runs: nextbatch verify {folder}")
    return 0


def verify(options: argparse.Namespace) -> int:
    """Run two streams again, and compare."""
    from nextbatch.submissions import verify

    return 0 if verify(options.folder, options.streams, n_jobs=options.jobs) else 1


def hide(options: argparse.Namespace) -> int:
    """Write hidden streams."""
    from nextbatch.hidden import write_hidden

    written = write_hidden(options.folder, options.seed)
    print(
        f"{len(written)} streams: {', '.join(path.stem for path in written)}. Run: {HIDDEN_VARIABLE}={options.folder}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
