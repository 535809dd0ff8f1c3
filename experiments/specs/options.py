"""The options of the command line."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

DEFAULT_SEEDS = {"beyond": 5}  # how many seeds a study runs with, where it is more than one
OUT, QUICK_OUT = Path("out/experiments"), Path("out/quick")


@dataclass(frozen=True)
class Options:
    """How an experiment is run.

    Attributes
    ----------
    quick : bool
        Whether to run on embedded data only, with slow rivals thinned out.
    n_seeds : int
        Seeds 0, 1, ... that every run is run with.
    n_jobs : int
        Processes that run runs.
    out : Path
        Folder of run records, tables and the report.
    data : Path or None
        Folder of the data sets; None for the one that ``ADFOREST_DATA`` names.
    goals : tuple of int
        Which goals ``beyond`` measures, from 1; all of them if empty.
    write_docs : bool
        Whether the chapters are put into ``docs/results.md``.
    """

    quick: bool = False
    n_seeds: int = 1
    n_jobs: int = 1
    out: Path = OUT
    data: Path | None = None
    goals: tuple[int, ...] = ()
    write_docs: bool = False

    @property
    def seeds(self) -> range:
        """The seeds."""
        return range(self.n_seeds)

    def command(self, name: str) -> str:
        """Return the command that runs a study with these options again."""
        quick = " --quick" if self.quick else ""
        is_default = self.n_seeds == 1 and (self.quick or name not in DEFAULT_SEEDS)
        seeds = "" if is_default else f" --seeds {self.n_seeds}"
        goals = f" --goals {' '.join(map(str, self.goals))}" if self.goals else ""
        return f"python -m experiments {name}{quick}{seeds}{goals}"


def add_options(parser: argparse.ArgumentParser, n_seeds: int = 1) -> None:
    """Add the options that all experiments share to a command line parser, given how many seeds it runs with."""
    parser.add_argument("--quick", action="store_true", help="embedded data only, a minute or two")
    fallback = "1" if n_seeds == 1 else f"{n_seeds}; quick: 1"
    parser.add_argument("--seeds", type=_count, metavar="N", help=f"run with seeds 0 to N-1 (default: {fallback})")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("--jobs", type=_count, default=cores, metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"where to (default: {OUT}; quick: {QUICK_OUT})")
    parser.add_argument("--write-docs", action="store_true", help="put the chapter into docs/results.md")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="data sets (default: the folder in ADFOREST_DATA)")


def add_goals(parser: argparse.ArgumentParser, n_goals: int) -> None:
    """Add the option that picks some of the goals of ``beyond``."""
    parser.add_argument(
        "--goals",
        type=int,
        nargs="+",
        choices=range(1, n_goals + 1),
        metavar="K",
        help="only these, from 1 (default: all)",
    )


def read_options(arguments: argparse.Namespace, n_seeds: int = 1) -> Options:
    """Return what was given on the command line; without ``--seeds`` a quick run has one seed, others have n_seeds.

    Raises
    ------
    ValueError
        If a quick run is to be put into the docs.
    """
    if arguments.quick and arguments.write_docs:
        raise ValueError("--write-docs is for full runs; drop --quick")
    out = arguments.out or (QUICK_OUT if arguments.quick else OUT)
    seeds = arguments.seeds or (1 if arguments.quick else n_seeds)
    goals = tuple(sorted(set(getattr(arguments, "goals", None) or ())))
    return Options(arguments.quick, seeds, arguments.jobs, out, arguments.data, goals, arguments.write_docs)


def read_command(command: str) -> Options:
    """Return the options of a command as a chapter quotes it.

    Examples
    --------
    >>> read_command("python -m experiments beyond --seeds 5 --goals 1 2").goals
    (1, 2)
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    add_options(parser)
    add_goals(parser, 99)
    words = command.split()[3:]
    return read_options(parser.parse_args(words), DEFAULT_SEEDS.get(words[0], 1))


def _count(text: str) -> int:
    """Return a number of at least one."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"got {text!r}; expected a whole number, 1 or more")
    return int(text)
