"""Learners compared over streams: means, ranks, how sure they are, and what they cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range

from nextbatch.results import MEASURES, OK, Row, choose_sizes, number, say_sizes

RULE_FAMILY = "trivial"
FALLBACK = "prior-all"  # the rule whose results stand for a run that did not end
LEVEL = 0.05  # of the critical difference and of the intervals
N_RESAMPLES = 2_000


@dataclass
class Line:
    """A learner's place among the others.

    Attributes
    ----------
    means : dict
        Of each measure over the learner's streams on which anybody has it; none where the learner lacks it on one.
    rank : float or None
        Mean rank by accuracy; None if a stream is missing that others were run on.
    behind : tuple or None
        Mean accuracy minus that of the first learner, and its paired bootstrap interval over streams.
    regret : float or None
        Mean of the accuracy of a stream's best refit, chosen in hindsight, minus the learner's.
    n_failed : int
        Runs that reached a limit or ended with an error.
    verified, stale : int
        Streams on which a run, by any protocol, was repeated with the same predictions, and those whose run is of code
        that has changed.
    """

    name: str
    title: str
    family: str
    tuned: str
    n_streams: int
    means: dict[str, float] = field(default_factory=dict)
    rank: float | None = None
    behind: tuple[float, float, float] | None = None
    regret: float | None = None
    n_failed: int = 0
    verified: int = 0
    stale: int = 0


@dataclass
class Board:
    """Results by one protocol on some streams.

    Attributes
    ----------
    lines : list of Line
        Ranked ones first, the best first; then those that were not run on all streams.
    values : dict
        Mean over seeds by measure, then by learner and stream; a failed run has the accuracy of the fallback rule.
    failed : dict
        What went wrong, by learner and stream.
    stale : set
        Learners and streams whose run is of code that has changed.
    sizes : str
        How much of each stream was run, in words.
    """

    streams: list[str]
    lines: list[Line]
    values: dict[str, dict[tuple[str, str], float]]
    failed: dict[tuple[str, str], str]
    stale: set[tuple[str, str]]
    sizes: str

    @property
    def ranked(self) -> list[Line]:
        """The learners that were run on every stream."""
        return [line for line in self.lines if line.rank is not None]

    def accuracy(self, learner: str, stream: str) -> float:
        """Return an accuracy, NaN for a run that is not there."""
        return self.values["accuracy"].get((learner, stream), float("nan"))

    def winner(self, stream: str) -> str:
        """Return the learner with the best accuracy on a stream; of several, a rule, as it is the simplest."""
        there = [
            line for line in self.lines if (line.name, stream) in self.values["accuracy"].keys() - self.failed.keys()
        ]
        best = max(there, key=lambda line: (round(self.accuracy(line.name, stream), 6), line.family == RULE_FAMILY))
        return best.name


def make_board(rows: Sequence[Row], protocol: str, names: Collection[str]) -> Board:
    """Compare the learners of one protocol on the streams with these names, over the same part of each stream."""
    verified = {(row["learner"], row["stream"]) for row in rows if row["verified"] == "true"}
    rows = choose_sizes([row for row in rows if row["protocol"] == protocol and row["stream"] in names])
    ended = {row["stream"] for row in rows if row["status"] == OK}
    streams = [name for name in names if name in ended]
    rows = [row for row in rows if row["stream"] in ended]
    values, failed = _collect(rows)
    learners = {row["learner"]: row for row in rows}
    accuracy = values["accuracy"]
    stale = {(row["learner"], row["stream"]) for row in rows if row.get("stale")}
    for learner, stream in failed:
        rule = accuracy.get((FALLBACK, stream))
        if rule is not None:
            accuracy[learner, stream] = rule
    complete = [name for name in learners if all((name, stream) in accuracy for stream in streams)]
    table = np.array([[accuracy[name, stream] for stream in streams] for name in complete])
    refits = [name for name in learners if learners[name]["family"] == "refit"]
    lines = []
    for name, row in learners.items():
        mine = [stream for stream in streams if (name, stream) in accuracy]
        line = Line(name, row["title"], row["family"], row["tuned"], len(mine))
        for measure in MEASURES:
            measured = {stream for _, stream in values[measure]}
            found = [values[measure].get((name, stream)) for stream in mine if stream in measured]
            there = [value for value in found if value is not None]
            if there and len(there) == len(found):
                line.means[measure] = float(np.mean(there))
        line.n_failed, line.stale = (sum((name, stream) in part for stream in streams) for part in (failed, stale))
        line.verified = sum((name, stream) in verified for stream in streams)
        best = [
            max(accuracy[one, stream] for one in refits if (one, stream) in accuracy) - accuracy[name, stream]
            for stream in mine
            if any((one, stream) in accuracy for one in refits)
        ]
        line.regret = float(np.mean(best)) if best else None
        lines.append(line)
    by_name = {line.name: line for line in lines}
    if complete:
        ranks = mean_ranks(table)
        went_through = [not any((name, stream) in failed for stream in streams) for name in complete]
        first = int(np.where(went_through, table.mean(axis=1), -1.0).argmax())
        for i, name in enumerate(complete):
            by_name[name].rank = float(ranks[i])
            by_name[name].behind = paired_interval(table[i] - table[first])
    lines.sort(key=lambda line: (line.rank is None, line.rank or 0, -line.means.get("accuracy", 0)))
    return Board(streams, lines, values, failed, stale, say_sizes(rows))


def _collect(
    rows: Sequence[Row],
) -> tuple[dict[str, dict[tuple[str, str], float]], dict[tuple[str, str], str]]:
    """Return means over seeds by measure, learner and stream, and what went wrong."""
    lists: dict[str, dict[tuple[str, str], list[float]]] = {measure: defaultdict(list) for measure in MEASURES}
    failed = {}
    for row in rows:
        key = row["learner"], row["stream"]
        if row["status"] != OK:
            failed[key] = f"{row['status']}: {row['says']}"
        for measure in MEASURES:
            value = number(row, measure)
            if value is not None:
                lists[measure][key].append(value)
    values = {
        measure: {key: float(np.mean(found)) for key, found in by_key.items() if key not in failed}
        for measure, by_key in lists.items()
    }
    return values, failed


def mean_ranks(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return mean ranks of learners (rows) over streams (columns): 1 for the highest, ties share theirs.

    Examples
    --------
    >>> mean_ranks(np.array([[0.9, 0.8], [0.7, 0.8]])).tolist()
    [1.25, 1.75]
    """
    ranks: NDArray[np.float64] = rankdata(-np.round(table, 6), axis=0).mean(axis=1)
    return ranks


def critical_difference(n_learners: int, n_streams: int) -> float:
    """Return the difference of mean ranks from which two learners differ by Nemenyi's test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demšar 2006 has 1.25
    1.25
    """
    q = float(studentized_range.ppf(1 - LEVEL, n_learners, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_learners * (n_learners + 1) / (6 * n_streams)))


def paired_interval(differences: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean of differences, and its bootstrap interval over streams; always the same one.

    Examples
    --------
    >>> paired_interval(np.array([0.5, 0.5]))
    (0.5, 0.5, 0.5)
    """
    drawn = np.random.default_rng(0).integers(0, len(differences), (N_RESAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), [LEVEL / 2, 1 - LEVEL / 2])
    return float(differences.mean()), float(low), float(high)


def find_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return which points (cost, accuracy) no other point beats in both.

    Examples
    --------
    >>> find_front([(1.0, 0.8), (2.0, 0.9), (3.0, 0.85)])
    [0, 1]
    """
    found, best = [], -np.inf
    for i in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        if points[i][1] > best:
            found.append(i)
            best = points[i][1]
    return found
