"""Recovery from drift: the streams, their runs, and after how many batches a method is as good as a reset forest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from experiments.comparison.results import Results, count_drifts
from experiments.running.measures import Row
from experiments.specs import selections
from experiments.specs.options import Options
from experiments.specs.run_spec import RESET_AT_CHANGES, MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import Streams, plan_runs

DRIFT_KINDS = ("abrupt", "gradual", "temporary", "recurring")
CONCEPTS = ("sea", "hyperplane", "rules")
REFITTED, RIVER = ("RF batch", "RF last 3", "RF all"), ("ARF", "SRP")
METHOD_NAMES = ("ADF-R", *REFITTED, *RIVER)
RIVER_SEEDS = 1  # learning some hundred records a second, River's forests would take hours with more
SLOWEST_ON = "abrupt"  # the only kind of drift that SRP, the slowest, runs on
REFIT = MethodSpec("RF all")  # reset when the concept changes, then refitted on all batches since
RECOVERED_WITHIN = 0.01  # accuracy; a method that is no further below the refit has recovered


def drift_streams(options: Options, kinds: Iterable[str] = DRIFT_KINDS) -> dict[str, StreamSpec]:
    """Return streams of some kinds of drift, each with all three families of concepts.

    Parameters
    ----------
    options : Options
        Quick streams are short.
    kinds : iterable of str

    Returns
    -------
    dict of str to StreamSpec
    """
    counts = selections.batch_counts(options, full=(40, 1_000), quick=(16, selections.QUICK_SAMPLES // 25))
    return {
        f"{kind} {concept}": StreamSpec.of("drift", kind, concept=concept, **counts)
        for kind in kinds
        for concept in CONCEPTS
    }


def stationary_streams(options: Options) -> dict[str, StreamSpec]:
    """Return long streams without any drift, a thousand batches in all."""
    counts = selections.batch_counts(options, full=(334, 1_000), quick=(20, selections.QUICK_SAMPLES // 25))
    return {concept: StreamSpec.of("drift", "none", concept=concept, **counts) for concept in CONCEPTS}


def plan_drift(options: Options) -> list[RunSpec]:
    """Return the runs of all streams with drift and without, River's forests on few seeds."""
    streams = drift_streams(options)
    river = {name: stream for name, stream in streams.items() if not options.quick or name == "abrupt sea"}
    ours = [MethodSpec(name) for name in ("ADF-R", *REFITTED)]
    theirs = [MethodSpec(name) for name in RIVER if not (options.quick and name in selections.NOT_QUICK)]
    slowest = {name: stream for name, stream in river.items() if name.startswith(SLOWEST_ON)}
    return [
        *plan_runs(streams, ours, options.seeds),
        *plan_runs(streams, [REFIT], options.seeds, RESET_AT_CHANGES),
        *plan_runs(river, theirs[:1], options.seeds[:RIVER_SEEDS]),
        *plan_runs(slowest, theirs[1:], options.seeds[:RIVER_SEEDS]),
        *plan_runs(stationary_streams(options), [MethodSpec("ADF-R")], [0]),
    ]


def count_verdicts(results: Results, options: Options, verdict: str) -> tuple[int, int]:
    """Return how many batches of the stationary streams ADF gave a verdict of drift, and how many there were."""
    streams = stationary_streams(options).values()
    every = [row for stream in streams for row in results.rows(stream, MethodSpec("ADF-R"))]
    return int(count_drifts(every, verdict)), len(every)


def caveat_river(options: Options) -> list[str]:
    """Return on how few seeds and streams River's forests ran."""
    if options.quick:
        return ["Quick: short streams, and River's forests on one of them at the most."]
    return [
        "River's forests learn some hundred records a second: they ran with seed 0 only, SRP on the streams with "
        "abrupt drift only. Where they are compared with others, it is over what they share."
    ]


@dataclass(frozen=True)
class Recovery:
    """Accuracy of methods minus that of a forest that is reset at each change and refitted on all batches since.

    Attributes
    ----------
    results : Results
        Of all runs of `plan_drift`.
    """

    results: Results

    def gaps(self, stream: StreamSpec, method: MethodSpec, step: int) -> list[float]:
        """Return accuracies against the refit at a batch after each change, counted from 1, over all seeds."""
        told = self.results.with_protocol(RESET_AT_CHANGES)
        gaps = []
        for seed in self.results.seeds(stream, method):
            rows, refit = self.results.rows(stream, method, seed), told.rows(stream, REFIT, seed)
            gaps += [rows[place]["accuracy"] - refit[place]["accuracy"] for place in _steps_after_changes(rows, step)]
        return gaps

    def mean_gap(self, streams: Streams, method: MethodSpec, step: int) -> float | None:
        """Return the mean over streams, changes and seeds; None where no concept lasts as long."""
        gaps = [gap for stream in streams.values() for gap in self.gaps(stream, method, step)]
        return float(np.mean(gaps)) if gaps else None

    def batches_to_recover(self, streams: Streams, method: MethodSpec) -> int | None:
        """Return after how many batches a method is on average within a point of the refit, None if it never is."""
        step = 1
        while (gap := self.mean_gap(streams, method, step)) is not None:
            if gap >= -RECOVERED_WITHIN:
                return step
            step += 1
        return None


def _steps_after_changes(rows: list[Row], step: int) -> Iterator[int]:
    """Yield the row that lies `step` batches after each change to an unmixed concept, if that concept lasts as long."""
    for place in range(1, len(rows)):
        stage = rows[place]["stage"]
        is_change = stage != rows[place - 1]["stage"] and "+" not in stage
        later = rows[place : place + step]
        if is_change and len(later) == step and all(row["stage"] == stage for row in later):
            yield place + step - 1
