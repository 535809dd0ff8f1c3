"""Run the demo: ``python -m adforest.demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from adforest.demo.demo import SUMMARY, add_options, run_and_show

PROGRAM = "python -m adforest.demo"
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


if __name__ == "__main__":
    sys.exit(main())
