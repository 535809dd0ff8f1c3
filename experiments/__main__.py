"""Run an experiment by name: ``python -m experiments accuracy --quick``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from experiments.run_studies import run_studies
from experiments.running.runner import FailedRunsError
from experiments.specs.options import DEFAULT_SEEDS, add_goals, add_options, read_options
from experiments.studies.beyond import GOALS
from experiments.studies.catalogue import STUDIES

PROGRAM = "python -m experiments"
FAILED, MISUSED, INTERRUPTED = 1, 2, 130  # exit codes, as shells count them


@dataclass(frozen=True)
class Experiment:
    """What the command line needs to know of an experiment.

    Attributes
    ----------
    summary : str
        One line of help.
    add_options : callable
        Adds the experiment's options to a parser.
    run : callable
        Runs the experiment with the options given and prints what came out.
    """

    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


def _experiment(summary: str, *names: str, n_seeds: int = 1) -> Experiment:
    """Return the experiment that runs these studies, with that many seeds by default."""

    def add(parser: argparse.ArgumentParser) -> None:
        add_options(parser, n_seeds)
        if names == ("beyond",):
            add_goals(parser, len(GOALS))

    return Experiment(
        summary,
        add,
        lambda arguments: run_studies(names, read_options(arguments, n_seeds)),
    )


EXPERIMENTS = {
    **{name: _experiment(study.SUMMARY, name, n_seeds=DEFAULT_SEEDS.get(name, 1)) for name, study in STUDIES.items()},
    "all": _experiment("every experiment, runs that they share run once", *STUDIES),
}


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
        EXPERIMENTS[options.name].run(options)
    except (ImportError, OSError, ValueError, FailedRunsError) as error:
        print(f"{PROGRAM} {options.name}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{PROGRAM} {options.name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _make_parser() -> argparse.ArgumentParser:
    """Return a parser with one subcommand per experiment."""
    parser = _Parser(prog=PROGRAM, description="Run one of adforest's experiments.")
    names = parser.add_subparsers(dest="name", metavar="NAME", required=True)
    for name, experiment in EXPERIMENTS.items():
        experiment.add_options(names.add_parser(name, help=experiment.summary, description=experiment.summary))
    return parser


if __name__ == "__main__":
    sys.exit(main())
