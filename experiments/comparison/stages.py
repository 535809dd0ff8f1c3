"""The stages of the simulated streams: samples from the two largest leaves, and where ADF called drift."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.comparison.comparison import join_words
from experiments.comparison.results import Results
from experiments.reporting.chapter import Cell, Table
from experiments.specs.run_spec import MethodSpec
from experiments.specs.selections import ADF_PAPER, Streams

PUBLISHED_SHARES = {"MKC-1": 0.25, "MKC-2": 0.75, "MUC-1": 0.25, "MUC-2": 0.75}  # of a batch, from two leaves
SHARE_TOLERANCE = 0.01  # share below the wanted one that counts as reached: batches hold whole samples
SECOND_HALF = ("SUC", "MUC-1", "MUC-2")  # stages of the second half's classes alone
VERDICTS = ("temporary", "sustained")


def large_leaf_tables(results: Results, streams: Streams) -> list[Table]:
    """Return how much of each stage came from the two largest leaves, none where the runs do not say."""
    reached = _large_leaf_shares(results, streams)
    if not any(value is not None for by_stage in reached.values() for value in by_stage.values()):
        return []
    rows: list[tuple[Cell, ...]] = [("the paper", *PUBLISHED_SHARES.values())]
    rows += [(stream, *by_stage.values()) for stream, by_stage in reached.items()]
    note = "Share of a batch's samples that come from the two largest leaves of its half's tree; mean over the seeds."
    heads = ("data set", *PUBLISHED_SHARES)
    return [Table("Samples from the two largest leaves", heads, tuple(rows), 2, "", note)]


def caveat_large_leaves(results: Results, streams: Streams) -> list[str]:
    """Return in which stages the two largest leaves had too few samples for the paper's share."""
    short = [
        f"{stage} of {stream} ({value:.0%})"
        for stream, by_stage in _large_leaf_shares(results, streams).items()
        for stage, value in by_stage.items()
        if value is not None and value < PUBLISHED_SHARES[stage] - SHARE_TOLERANCE
    ]
    if not short:
        return []
    return [f"The two largest leaves have too few samples for the paper's share of 25 or 75 % in {join_words(short)}."]


def _large_leaf_shares(results: Results, streams: Streams) -> dict[str, dict[str, float | None]]:
    """Return the share of each stage on each stream, None where the runs do not say."""
    found: dict[str, dict[str, float | None]] = {}
    for title, stream in streams.items():
        method = next(MethodSpec(name) for name in ADF_PAPER if results.has(stream, MethodSpec(name)))
        rows = [row for seed in results.seeds(stream, method) for row in results.rows(stream, method, seed)]
        shares = {
            stage: [row["large_leaf_share"] for row in rows if row["stage"] == stage and _has_share(row)]
            for stage in PUBLISHED_SHARES
        }
        found[title] = {stage: float(np.mean(some)) if some else None for stage, some in shares.items()}
    return found


def _has_share(row: dict[str, object]) -> bool:
    """Return whether a batch was drawn by a share from the largest leaves."""
    return row.get("large_leaf_share") is not None


def drift_table(results: Results, streams: Streams, names: Sequence[str] = ADF_PAPER) -> Table:
    """Return how many batches of each stage methods called drift, over all streams, the mean over the seeds."""
    counts = _count_by_stage(results, streams, names)
    rows: list[tuple[Cell, ...]] = [
        (stage, n_batches, *(by_verdict[verdict] for by_verdict in by_name.values() for verdict in VERDICTS))
        for stage, (n_batches, by_name) in counts.items()
    ]
    heads = ("stage", "batches", *(f"{name}, {verdict}" for name in names for verdict in VERDICTS))
    note = f"{join_words(SECOND_HALF)} hold classes of the second half alone; mean over the seeds."
    return Table("Batches called drift, by stage", heads, tuple(rows), 1, "", note)


def describe_drift(results: Results, streams: Streams, names: Sequence[str] = ADF_PAPER) -> list[str]:
    """Return, for each method, how often it called drift on the second half's classes alone, and elsewhere."""
    counts = _count_by_stage(results, streams, names)
    changed = [stage for stage in counts if stage in SECOND_HALF]
    others = [stage for stage in counts if stage not in SECOND_HALF]
    said = []
    for name in names:
        shares = [
            sum(sum(counts[stage][1][name].values()) for stage in stages)
            / max(1, sum(counts[one][0] for one in stages))
            for stages in (changed, others)
        ]
        said.append(
            f"{name} reports drift in {shares[0]:.0%} of the batches with classes of the second half alone "
            f"({join_words(changed) if changed else 'none'}) and in {shares[1]:.0%} of the others."
        )
    return said


def _count_by_stage(
    results: Results, streams: Streams, names: Sequence[str]
) -> dict[str, tuple[int, dict[str, dict[str, float]]]]:
    """Return by stage its number of batches, and by method and verdict the mean number of them over the seeds."""
    counts: dict[str, tuple[int, dict[str, dict[str, float]]]] = {}
    for stream in streams.values():
        for row in results.rows(stream, MethodSpec(names[0])):
            n_batches, by_name = counts.get(row["stage"], (0, {name: dict.fromkeys(VERDICTS, 0.0) for name in names}))
            counts[row["stage"]] = n_batches + 1, by_name
        for name in names:
            seeds = results.seeds(stream, MethodSpec(name))
            for seed in seeds:
                for row in results.rows(stream, MethodSpec(name), seed):
                    if row["drift"] in VERDICTS:
                        counts[row["stage"]][1][name][row["drift"]] += 1 / len(seeds)
    return counts
