"""Streams: the results of nextbatch, the benchmark, as a chapter. ``nextbatch run`` makes them; nothing is run here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np

from experiments.comparison.comparison import join_words
from experiments.comparison.results import PerSeed, Results
from experiments.reporting.chapter import Cell, Chapter, Provenance, Table
from experiments.running.behaviour import fingerprint_methods
from experiments.specs.options import Options
from experiments.specs.run_spec import PREQUENTIAL, MethodSpec, RunSpec, StreamSpec
from nextbatch.learners import TITLES
from nextbatch.page import SUBJECT, mark, say_marks, say_places
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.ranks import Board, Line, make_board
from nextbatch.results import FILE, OK, Row, choose_sizes, read_results
from nextbatch.running import mark_stale
from nextbatch.streams import read_recipes
from nextbatch.table import say_seeds

SUMMARY = "each batch predicted before it is learnt: the results of nextbatch, which `nextbatch run` makes"
RUNS = Path(__file__).parents[2] / "benchmarks" / "nextbatch" / "results"
MAIN = "next-batch"  # the protocol that most tables are of
ROWS = "rows"  # in the provenance: the digest of the table of runs
# What adforest does by default has the fingerprints of this method, its probabilities included.
BEHAVIOUR = (RunSpec(StreamSpec.of("house", "34"), MethodSpec("ADF-R"), 0, PREQUENTIAL),)
PER_STREAM = (  # measure, title, digits, which is best
    ("accuracy", "Accuracy on the next batch", 3, "max"),
    ("log_loss", "Log loss on the next batch", 3, "min"),
    ("seconds_per_batch", "CPU seconds per batch, predicting and learning", 3, "min"),
)
BEHIND = "behind the first, points"
MEANS: dict[str, Callable[[Line], float | None]] = {
    "rank": lambda line: line.rank,
    "accuracy": lambda line: line.means.get("accuracy"),
    "regret, points": lambda line: None if line.regret is None else 100 * line.regret,
    "balanced accuracy": lambda line: line.means.get("balanced_accuracy"),
    "log loss": lambda line: line.means.get("log_loss"),
    "average precision, rare classes": lambda line: line.means.get("rare_average_precision"),
    "kappa-temporal": lambda line: line.means.get("kappa_no_change"),
    "CPU seconds per batch": lambda line: line.means.get("seconds_per_batch"),
    "peak MB": lambda line: line.means.get("peak_mb"),
}


def plan(options: Options) -> list[RunSpec]:
    """Return no runs: those of nextbatch are made by `nextbatch run`."""
    return []


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    found = Found(RUNS)
    real, made = found.boards.values()
    points = {family: found.points_above(real, family) for family in found.families}
    return Chapter(
        name="streams",
        title="The next batch",
        question="Where each batch is predicted before it is learnt, which learner is right most often?",
        findings=(
            *(f"{kind.capitalize()} streams: {say_places(one, found.recipes)}" for kind, one in found.boards.items()),
            *(_describe_points(family, one) for family, one in points.items() if one),
        ),
        caveats=(
            "The command below runs nothing. NEXTBATCH_DATA=FOLDER nextbatch run --out benchmarks/nextbatch/results "
            "makes the runs, and make pages makes this chapter of them.",
            f"Run: {real.sizes} of the real streams, {made.sizes} of the generated ones.",
            f"* Defaults of {SUBJECT} were chosen while looking at results on these streams, with seed 0.",
            "The best refit of each stream, of those that ran there, is chosen by its result: no user can do so "
            "beforehand.",
            "uifwa, eb and arem lie in their files class by class or person by person: much of a batch may be of "
            "classes that no learner has seen before it.",
            "A stream is the same for every seed; only the draws of the learners differ. Seconds are of a machine with "
            "other work on it.",
            *found.stale_caveat(),
            *found.failures(),
            f"Next batch: {say_seeds(found.shown)}. With one seed, a gap of a point may be chance.",
        ),
        tables=(
            *(_means(board, f"{kind} streams") for kind, board in found.boards.items()),
            _protocols(found),
            *(_above(found, board, f"{kind} streams") for kind, board in found.boards.items()),
            *(
                _per_stream(found, board, measure, f"{title}, {kind} streams", digits, best)
                for kind, board in found.boards.items()
                for measure, title, digits, best in PER_STREAM
            ),
        ),
        figures=(),
        command=Options().command("streams"),
    )


def fingerprint_rows() -> dict[str, str]:
    """Return what the chapter depends on: the table of runs, and what adforest does by default."""
    return {ROWS: _digest()} | fingerprint_methods(BEHAVIOUR)


def find_provenance(last: Provenance | None, commit: str) -> Provenance:
    """Return date, seeds and versions of the runs; and the commit that the chapter was first made at from them.

    Runs of adforest that are stale do not show what it does now: fingerprints of its behaviour are left out then, and
    the chapter is one of an earlier version.

    Parameters
    ----------
    last : Provenance or None
        Of the chapter that is there.
    commit : str
        The present one.
    """
    found = Found(RUNS)
    is_stale = SUBJECT in found.stale
    is_known = last is not None and last.behaviour.get(ROWS) == _digest()
    return Provenance(
        date=max(row["date"] for row in found.rows),
        commit=last.commit if last and is_known else "unknown" if is_stale else commit,
        n_seeds=found.n_seeds,
        behaviour={ROWS: _digest()} if is_stale else fingerprint_rows(),
        libraries=dict(sorted(row["version"].split(" ", 1) for row in found.rows)),
    )


def _digest() -> str:
    """Return the digest of the table of runs."""
    return hashlib.sha256((RUNS / FILE).read_bytes()).hexdigest()[:10]


class Found:
    """What nextbatch has found: runs of the streams that its recipes name.

    Parameters
    ----------
    folder : Path
        Of its results.
    """

    def __init__(self, folder: Path) -> None:
        self.recipes = read_recipes()
        rows = [row for row in read_results(folder) if row["stream"] in self.recipes and row["protocol"] in PROTOCOLS]
        self.rows = mark_stale(rows, self.recipes)
        names = {
            "real": [name for name, one in self.recipes.items() if not one.is_generated],
            "generated": [name for name, one in self.recipes.items() if one.is_generated],
        }
        self.boards = {kind: make_board(self.rows, MAIN, some) for kind, some in names.items()}
        seeds: dict[str, set[str]] = {}
        for row in self.rows:
            if row["protocol"] == MAIN:
                seeds.setdefault(row["learner"], set()).add(row["seed"])
        self.n_seeds = min(map(len, seeds.values()))  # that all learners have

    @cached_property
    def shown(self) -> list[Row]:
        """The runs of the main protocol, on each stream those of one size."""
        return choose_sizes([row for row in self.rows if row["protocol"] == MAIN])

    @cached_property
    def stale(self) -> list[str]:
        """Learners with runs of code that has changed."""
        return sorted({row["learner"] for row in self.shown if row["stale"]})

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """Refits by the library's name in theirs."""
        names: dict[str, list[str]] = {}
        for row in self.shown:
            if row["family"] == "refit" and not row["tuned"]:
                family = names.setdefault(row["learner"].partition("-")[0], [])
                family += [row["learner"]] if row["learner"] not in family else []
        return names

    def best(self, board: Board, stream: str, family: str) -> str | None:
        """Return the refit of a family with the highest accuracy on a stream, None if there is none."""
        there = [name for name in self.families[family] if (name, stream) in board.values["accuracy"]]
        return max(there, key=lambda name: board.accuracy(name, stream), default=None)

    def points_above(self, board: Board, family: str) -> dict[str, float]:
        """Return by how many points adforest is above the best refit of a family, on each stream that has both."""
        gaps = {
            stream: 100 * (board.accuracy(SUBJECT, stream) - board.accuracy(best, stream))
            for stream in board.streams
            if (best := self.best(board, stream, family))
        }
        return {stream: gap for stream, gap in gaps.items() if not np.isnan(gap)}

    def cell(self, learner: str, stream: str, measure: str, digits: int) -> Cell:
        """Return a measure of a learner on a stream, mean and deviation over the seeds; None if it was not run."""
        rows = [row for row in self.shown if (row["learner"], row["stream"], row["status"]) == (learner, stream, OK)]
        values = tuple(float(row[measure]) for row in rows if row[measure])
        return PerSeed(values).cell(digits) if values else None

    def stale_caveat(self) -> list[str]:
        """Return whose runs are of code that has changed."""
        said = f"Stale: runs of {join_words(self.stale)} are of code that has changed since; the next run of nextbatch "
        return [f"{said}repeats them."] if self.stale else []

    def failures(self) -> list[str]:
        """Return which runs did not end."""
        failed = [
            f"{row['learner']} on {row['stream']} ({row['says'].rstrip('.')})"
            for row in self.shown
            if row["status"] != OK
        ]
        said = "They count with the accuracy of the rule prior-all in means, and are a dash below"
        return [f"Runs that did not end: {'; '.join(failed)}. {said}."] if failed else []


def _describe_points(family: str, points: dict[str, float]) -> str:
    """Return how far adforest is above the best refit of a family on real streams, and where it stands worst."""
    worst = min(points, key=points.__getitem__)
    return (
        f"{SUBJECT} against the best refit of {TITLES.get(family, family)} on each of {len(points)} real streams: "
        f"{float(np.mean(list(points.values()))):+.1f} points on average, behind on "
        f"{sum(value < 0 for value in points.values())}, worst on {worst} ({points[worst]:+.1f})."
    )


def _means(board: Board, what: str) -> Table:
    """Return what nextbatch's page shows: means of all learners over streams."""
    rows: list[tuple[Cell, ...]] = [
        (
            line.name,
            *(find(line) for find in MEANS.values()),
            _interval(line),
            f"{line.n_streams} of {len(board.streams)}",
            ", ".join(say_marks(line)),
        )
        for line in board.lines
    ]
    note = (
        "Regret: points of the best refit of each stream, in hindsight, above the learner. A rank needs all streams. "
        "Behind the first: points of mean accuracy, with a paired 95 % bootstrap interval over streams. "
        "Kappa-temporal: accuracy beyond that of the last label known before the batch, in parts of that rule's "
        "errors. Peak MB: within a batch, beyond what was used before the first. Dash: lacking on a stream."
    )
    heads = ("learner", *MEANS, BEHIND, "streams", "marks")
    return Table(f"All learners, {what}", heads, tuple(rows), 3, "", note, "upright")


def _interval(line: Line) -> str:
    """Return by how many points of accuracy a learner differs from the first, with its interval."""
    if line.behind is None:
        return ""
    mean, low, high = (100 * value for value in line.behind)
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f})" if mean or low or high else "first"


def _protocols(found: Found) -> Table:
    """Return mean accuracies by protocol, of the learners that ran on all of its streams."""
    boards = {one.title: make_board(found.rows, name, list(found.recipes)) for name, one in PROTOCOLS.items()}
    boards = {title: board for title, board in boards.items() if board.streams}
    means = {title: {line.name: line.means.get("accuracy") for line in board.ranked} for title, board in boards.items()}
    names = dict.fromkeys(name for by in means.values() for name in by)
    rows: list[tuple[Cell, ...]] = [(name, *(by.get(name) for by in means.values())) for name in names]
    heads = ("learner", *(f"{title} ({len(board.streams)})" for title, board in boards.items()))
    note = f"Number of streams in brackets. Equal time: {PROTOCOLS['equal-time'].says}"
    return Table("Mean accuracy by protocol", heads, tuple(rows), 3, "", note)


def _above(found: Found, board: Board, what: str) -> Table:
    """Return the best refit of each family on each stream, and the points of adforest above it."""
    points = {family: found.points_above(board, family) for family in found.families}
    rows: list[tuple[Cell, ...]] = []
    for stream in board.streams:
        cells = [(found.best(board, stream, family), points[family].get(stream)) for family in points]
        rows.append((stream, *(cell for pair in cells for cell in pair)))
    means = [float(np.mean(list(by.values()))) if by else None for by in points.values()]
    rows.append(("mean", *(cell for mean in means for cell in (None, mean))))
    heads = ("stream", *(head for family in points for head in (f"best {family}", f"points above {family}")))
    title = f"Points of {SUBJECT} above the best refit in hindsight, {what}"
    return Table(title, heads, tuple(rows), 1, "", "Dash: not run.", "upright")


def _per_stream(found: Found, board: Board, measure: str, title: str, digits: int, best: str) -> Table:
    """Return a measure of all learners on each stream."""
    names = [line.name for line in board.lines]
    rows: list[tuple[Cell, ...]] = [
        (mark(found.recipes[stream]), *(found.cell(name, stream, measure, digits) for name in names))
        for stream in board.streams
    ]
    means = {line.name: line.means.get(measure) for line in board.ranked}
    rows.append(("mean", *(means.get(name) for name in names)))
    return Table(title, ("stream", *names), tuple(rows), digits, best, "Dash: not run.", "sideways")
