"""Run a study by name: ``python -m experiments accuracy --quick``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from experiments.make_results import check_results, make_results, write_pages
from experiments.run_studies import run_studies
from experiments.running.fingerprints import ChangedCodeError
from experiments.running.runner import FailedRunsError
from experiments.specs.options import DEFAULT_SEEDS, add_goals, add_options, read_options
from experiments.studies.beyond import GOALS
from experiments.studies.catalogue import STUDIES

PROGRAM = "python -m experiments"
FAILED, MISUSED, INTERRUPTED = 1, 2, 130  # exit codes, as shells count them


SUMMARIES = {name: study.SUMMARY for name, study in STUDIES.items()}
RESULTS, PAGES = "results", "pages"
SUMMARIES["all"] = "every study; runs that they share are made once"
SUMMARIES[RESULTS] = "everything that the pages show, chapter by chapter, and the pages; can be stopped and resumed"
SUMMARIES[PAGES] = "write what pages quote of chapters and benchmarks, mark chapters of an earlier version; run nothing"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and where help is, and leave."""
        self.exit(MISUSED, f"{self.prog}: {message}. See: {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment named on the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the program's name. By default that of this process.

    Returns
    -------
    int
        Exit code: 0 if the experiment ran, 1 if it failed, 130 if it was interrupted.
    """
    options = _make_parser().parse_args(arguments)
    try:
        _run(options)
    except (ImportError, OSError, ValueError, FailedRunsError, ChangedCodeError) as error:
        print(f"{PROGRAM} {options.name}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{PROGRAM} {options.name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _run(arguments: argparse.Namespace) -> None:
    """Do what the command line asks for."""
    if arguments.name == PAGES:
        write_pages()
        return
    options = read_options(arguments, DEFAULT_SEEDS.get(arguments.name, 1))
    if arguments.name == RESULTS and arguments.spot:
        check_results(options, seeds=arguments.seeds, n_runs=arguments.spot)
    elif arguments.name == RESULTS:
        make_results(options, seeds=arguments.seeds, budget=arguments.budget, is_listed_only=arguments.left)
    else:
        run_studies(tuple(STUDIES) if arguments.name == "all" else (arguments.name,), options)


def _make_parser() -> argparse.ArgumentParser:
    """Return a parser with one subcommand per study, and one for all of them."""
    parser = _Parser(prog=PROGRAM, description="Run one of adforest's experiments.")
    names = parser.add_subparsers(dest="name", metavar="NAME", required=True)
    for name, summary in SUMMARIES.items():
        study = names.add_parser(name, help=summary, description=summary)
        if name == PAGES:
            continue
        add_options(study, DEFAULT_SEEDS.get(name, 1))
        if name == "beyond":
            add_goals(study, len(GOALS))
        if name == RESULTS:
            study.add_argument("--budget", type=float, metavar="MINUTES", help="of CPU, for whole chapters")
            study.add_argument("--left", action="store_true", help="only say what is left, in CPU minutes")
            study.add_argument(
                "--spot", type=int, metavar="N", help="make the N cheapest runs of each chapter again, and compare"
            )
    return parser


if __name__ == "__main__":
    sys.exit(main())
