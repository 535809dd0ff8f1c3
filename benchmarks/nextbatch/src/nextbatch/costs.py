"""What runs cost: which of them a whole run leaves out, and about how many CPU seconds the others take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nextbatch.batches import QUICK_BATCHES, QUICK_SIZE
from nextbatch.learners import Entry
from nextbatch.protocols import PER_RECORD, QUICK_PER_RECORD, Protocol
from nextbatch.results import OK, Row
from nextbatch.streams import Recipe

if TYPE_CHECKING:
    from nextbatch.running import Job

START = 1.5  # CPU seconds of a process before its first batch: imports, the table and its digest
BUDGET_OVERRUN = 1.5  # a batch that is begun within the budget is learnt to its end
UNKNOWN, UNKNOWN_COSTLY = 1.0, 5.0  # CPU seconds for 1,000 samples of a learner without runs
# CPU seconds for 1,000 samples by the main protocol, as measured on the streams of results/runs.csv.
SECONDS = {
    "no-change": 0.001, "prior-last": 0.001, "prior-all": 0.001, "successor": 0.001, "rf-last": 0.14, "rf-last3": 0.29,
    "rf-all": 2.8, "rf-select": 3.3, "hgb-last": 0.3, "hgb-last3": 0.55, "hgb-all": 1.5, "lightgbm-last3": 0.27,
    "lightgbm-all": 1.3, "lightgbm-tuned": 1.3, "xgboost-last3": 0.2, "xgboost-all": 1.3, "catboost-last3": 8.0,
    "catboost-all": 15.0, "river-arf": 1.0, "river-hat": 0.1, "river-leveraging": 2.4,
    "capymoa-arf": 1.8, "capymoa-hat": 0.08, "adforest": 0.05,
}  # fmt: skip


def is_left_out(entry: Entry, protocol: Protocol, recipe: Recipe, max_batches: int | None = None) -> bool:
    """Return whether a whole run leaves out a learner that takes long, by this protocol or on this stream."""
    if not entry.is_costly:
        return False
    is_long = entry.max_samples is not None and n_samples(recipe, max_batches) > entry.max_samples
    return bool(protocol.budget) or is_long


def say_left_out(entries: Sequence[Entry]) -> list[str]:
    """Return in sentences what a whole run leaves out of some learners."""
    by_limit: dict[int | None, list[str]] = {}
    for one in sorted((one for one in entries if one.is_costly), key=lambda one: one.name):
        by_limit.setdefault(one.max_samples, []).append(one.name)
    costly = sorted(name for limit, names in by_limit.items() if limit != 0 for name in names)
    said = [f"Run by the protocol next-batch only, since they take long: {', '.join(costly)}."] if costly else []
    for limit, names in by_limit.items():
        if limit:
            said.append(f"Of these on streams of at most {limit:,} samples only: {', '.join(names)}.")
    if 0 in by_limit:
        said.append(f"Not run at all: {', '.join(by_limit[0])}.")
    return said


def n_samples(recipe: Recipe, max_batches: int | None) -> int:
    """Return how many samples of a stream are run, given of how many batches; None for all."""
    n = recipe.n_records // recipe.thin
    return min(n, max_batches * recipe.batch_size) if max_batches else n


def estimate_seconds(jobs: Sequence[Job], rows: Sequence[Row], timeout: int) -> dict[Job, float]:
    """Return about how many CPU seconds some runs take.

    What is known of the learner on the stream counts, by the same protocol if it was run; then its mean over streams.

    Parameters
    ----------
    jobs : sequence of Job
    rows : sequence of dict
        Runs that are done.
    timeout : int
        CPU seconds that end a run.
    """
    by_key: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in rows:
        if row["status"] == OK:
            rate = 1_000 * float(row["seconds_per_batch"]) * int(row["n_batches"]) / int(row["n_samples"])
            keys = (
                (row["learner"],),
                (row["learner"], row["stream"]),
                (row["learner"], row["stream"], row["protocol"]),
            )
            for key in keys:
                by_key[key].append(rate)
        else:
            by_key[row["learner"], row["stream"], row["protocol"]].append(float("inf"))
    return {job: START + min(_guess(job, by_key), timeout or float("inf")) for job in jobs}


def _guess(job: Job, by_key: Mapping[tuple[str, ...], list[float]]) -> float:
    """Return about how many CPU seconds a run takes, without those of its start and without limits."""
    name, stream, protocol = job.entry.name, job.recipe.name, job.protocol
    n = n_samples(job.recipe, job.max_batches)
    if job.quick:
        n = min(n, QUICK_BATCHES * QUICK_SIZE)
    if protocol.per_record:
        n = min(n, QUICK_PER_RECORD if job.quick else PER_RECORD)
    known = next(
        (found for key in ((name, stream, protocol.name), (name, stream), (name,)) if (found := by_key.get(key))),
        None,
    )
    rate = sum(known) / len(known) if known else SECONDS.get(name, UNKNOWN_COSTLY if job.entry.is_costly else UNKNOWN)
    if protocol.budget:
        rate = min(rate, BUDGET_OVERRUN * protocol.budget)
    return rate * n / 1_000
