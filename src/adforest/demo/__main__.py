"""Run the demo: ``python -m adforest.demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from adforest.demo.picture import check_picture, draw_picture
from adforest.demo.run import SAMPLES, DemoRun, DemoSettings, run_demo
from adforest.demo.table import describe_outcome, describe_setting, format_table

PROGRAM = "python -m adforest.demo"
SUMMARY = "34 batches of made-up houses: ADF-R against a random forest refitted for every batch"
QUICK_SAMPLES = 4_000
FAILED, INTERRUPTED = 1, 130  # exit codes, as shells count them


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo with the options of the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the program's name. By default that of this process.

    Returns
    -------
    int
        Exit code: 0 if the demo ran, 1 if it failed, 130 if it was interrupted.
    """
    parser = argparse.ArgumentParser(prog=PROGRAM, description=SUMMARY)
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        run_and_show(options)
    except (ImportError, OSError, ValueError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the demo's options to a command line parser."""
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--samples", type=int, default=SAMPLES, help="houses to draw (default: %(default)s)")
    size.add_argument(
        "--quick", dest="samples", action="store_const", const=QUICK_SAMPLES, help=f"only {QUICK_SAMPLES} of them"
    )
    parser.add_argument("--seed", type=int, default=0, help="of every draw (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("out/demo.png"), help="the picture (default: %(default)s)")


def run_and_show(options: argparse.Namespace) -> None:
    """Run the demo, print its table, and draw its picture."""
    if options.samples < 1 or not 0 <= options.seed < 2**32:
        raise ValueError(
            f"got --samples {options.samples} and --seed {options.seed}; "
            "expected 1 sample or more and a seed from 0 to 2**32 - 1"
        )
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError as error:
        raise ImportError("the demo needs rich, which is not installed. Run: pip install 'adforest[demo]'") from error
    check_picture(options.out)
    start = perf_counter()
    run = _run_with_bar(DemoSettings(options.samples, options.seed))
    console = Console(highlight=False, soft_wrap=True)
    text = Text("\n\n".join([describe_setting(run), format_table(run), describe_outcome(run)]))
    text.highlight_regex(r"\bsustained\b", "bold red")
    text.highlight_regex(r"\btemporary\b(?=  )", "yellow")
    console.print(text)
    draw_picture(run, options.out)
    console.print(f"\nPicture: {options.out} ({perf_counter() - start:.0f} s in all)")


def _run_with_bar(settings: DemoSettings) -> DemoRun:
    """Run the demo behind a progress bar; where nobody watches there is none."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
    columns += [TimeRemainingColumn(), TextColumn("left")]
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("34 batches, 4 methods", total=1.0)
        return run_demo(settings, lambda share: progress.update(task, completed=share))


if __name__ == "__main__":
    sys.exit(main())
