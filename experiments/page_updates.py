"""What pages show that is not between marks of `marked_tables`: nextbatch's table, and drawings of chapters."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.benchmark_tables import read_benchmarks
from experiments.marked_tables import CHECKOUT
from experiments.running.behaviour import fingerprint_behaviour
from experiments.specs.run_spec import MethodSpec
from nextbatch.learners import known_learners
from nextbatch.protocols import PROTOCOLS
from nextbatch.results import Row, read_rows
from nextbatch.running import Job, max_batches_of
from nextbatch.streams import Recipe, read_recipes
from nextbatch.table import make_table, put_between_marks

RUNS = CHECKOUT / "benchmarks" / "nextbatch" / "results"
DRAWINGS: tuple[tuple[str, str, list[str]], ...] = (
    ("docs/drawings.py", "docs/images/online.svg", ["online"]),
    ("docs/poster.py", "docs/images/poster.svg", []),
)


def write_benchmark_table(page: Path = CHECKOUT / "README.md", runs: Path = RUNS) -> list[str]:
    """Write nextbatch's table of its longest runs into a page, and return the page if it changed."""
    rows = read_rows(runs)
    longest = max({row["size"] for row in rows}, key=_extent)
    before = page.read_text(encoding="utf-8")
    put_between_marks(page, make_table([row for row in rows if row["size"] == longest], read_recipes()))
    return [page.name] if page.read_text(encoding="utf-8") != before else []


def _extent(size: str) -> float:
    """Return a number that is larger for longer parts of streams."""
    return 0.0 if size == "quick" else max_batches_of(size) or float("inf")


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


@dataclass(frozen=True)
class _Learner:
    """A learner of nextbatch whose fingerprint was taken once: looking for its library's version is slow."""

    said: str

    def fingerprint(self) -> str:
        """Return what it was."""
        return self.said


def find_old_runs(runs: Path = RUNS) -> dict[str, int]:
    """Return, by learner, how many rows of nextbatch's results were made by other code, or with another library.

    Rows of learners whose library is not installed here cannot be told, and are left out.
    """
    recipes, known = read_recipes(), known_learners()
    rows = [row for row in read_rows(runs) if row["learner"] not in known or not known[row["learner"]].missing()]
    learners = {name: _Learner(known[name].fingerprint()) for name in {row["learner"] for row in rows} & known.keys()}
    return dict(Counter(row["learner"] for row in rows if _is_old(row, recipes, learners)))


def _is_old(row: Row, recipes: dict[str, Recipe], learners: dict[str, _Learner]) -> bool:
    """Return whether a run would be made again."""
    learner: Any = learners.get(row["learner"])
    protocol, recipe = PROTOCOLS.get(row["protocol"]), recipes.get(row["stream"])
    if learner is None or protocol is None or recipe is None:
        return True
    n_batches = max_batches_of(row["size"])
    job = Job(protocol, recipe, learner, row["learner"], int(row["seed"]), row["size"] == "quick", "", n_batches)
    return job.fingerprint() != row["fingerprint"]
