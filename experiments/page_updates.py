"""What pages show that is not between marks of `marked_tables`: nextbatch's table, drawings of chapters, the paper."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from experiments.benchmark_tables import read_benchmarks
from experiments.marked_tables import CHECKOUT
from experiments.running.behaviour import fingerprint_behaviour
from experiments.specs.run_spec import MethodSpec
from experiments.studies.streams import RUNS
from nextbatch.results import read_results, read_rows
from nextbatch.running import mark_stale
from nextbatch.streams import read_recipes
from nextbatch.table import make_table, put_between_marks

DRAWINGS: tuple[tuple[str, str, list[str]], ...] = (
    ("docs/drawings.py", "docs/images/online.svg", ["online"]),
    ("docs/poster.py", "docs/images/poster.svg", []),
    ("paper/table.py", "paper/paper.md", []),
)


def write_benchmark_table(page: Path = CHECKOUT / "README.md", runs: Path = RUNS) -> list[str]:
    """Write nextbatch's table into a page, and return the page if it changed."""
    before = page.read_text(encoding="utf-8")
    put_between_marks(page, make_table(read_results(runs), read_recipes()))
    return [page.name] if page.read_text(encoding="utf-8") != before else []


def write_drawings(root: Path = CHECKOUT) -> list[str]:
    """Draw the figures that are made of chapters, and return those that changed."""
    changed = []
    for script, picture, arguments in DRAWINGS:
        before = (root / picture).read_bytes()
        subprocess.run([sys.executable, root / script, *arguments], check=True)
        if (root / picture).read_bytes() != before:
            changed.append(picture)
    return changed


def find_old_benchmarks() -> list[str]:
    """Return the measures of `make bench` whose line was written when ADF-R behaved otherwise."""
    now = fingerprint_behaviour(MethodSpec("ADF-R"))
    return [name for name, line in read_benchmarks().items() if line["behaviour"] != now]


def find_old_runs(runs: Path = RUNS) -> dict[str, int]:
    """Return, by learner, how many rows of nextbatch's results were made by other code than today's."""
    return dict(Counter(row["learner"] for row in mark_stale(read_rows(runs), read_recipes()) if row["stale"]))
