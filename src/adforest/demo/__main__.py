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
from adforest.exceptions import ParameterError
from adforest.libraries import require

PROGRAM = "python -m adforest.demo"
SUMMARY = "34 batches of simulated houses: ADF-R against a random forest refitted for every batch"
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
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--samples", type=int, default=SAMPLES, help="houses to simulate (default: %(default)s)")
    size.add_argument(
        "--quick", dest="samples", action="store_const", const=QUICK_SAMPLES, help=f"simulate only {QUICK_SAMPLES}"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("out/demo.png"), help="the picture (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        run_and_show(options.samples, options.seed, options.out)
    except (ImportError, OSError, ValueError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def run_and_show(n_samples: int, seed: int, out: Path) -> None:
    """Run the demo, print its table, and draw its picture."""
    if n_samples < 1 or not 0 <= seed < 2**32:
        raise ParameterError(
            f"got --samples {n_samples} and --seed {seed}; expected 1 sample or more and a seed from 0 to 2**32 - 1"
        )
    require("rich", "the demo", "demo")
    from rich.console import Console
    from rich.text import Text

    check_picture(out)
    start = perf_counter()
    run = _run_with_bar(DemoSettings(n_samples, seed))
    console = Console(highlight=False, soft_wrap=True)
    text = Text("\n\n".join([describe_setting(run), format_table(run), describe_outcome(run)]))
    text.highlight_regex(r"\bsustained\b", "bold red")
    text.highlight_regex(r"\btemporary\b(?=  )", "yellow")
    console.print(text)
    draw_picture(run, out)
    console.print(f"\nPicture: {out} ({perf_counter() - start:.0f} s in all)")


def _run_with_bar(settings: DemoSettings) -> DemoRun:
    """Run the demo behind a progress bar; where nobody watches there is none."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
    columns += [TimeRemainingColumn(), TextColumn("left")]
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("34 batches, 4 methods", total=1.0)
        return run_demo(settings, lambda fraction: progress.update(task, completed=fraction))


if __name__ == "__main__":
    sys.exit(main())
