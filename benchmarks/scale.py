"""Measure the forest on a Dask cluster beside the local one: seconds, memory, bytes moved, and what would come next.

``python benchmarks/scale.py 500000`` is a quick run with fewer records, and as much smaller bounds.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from math import log2
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from timing import print_line, seconds

from adforest import AdaptiveDecisionForestClassifier
from adforest.base import get_fitted
from adforest.encoding import EncodingRules
from adforest.merging import BatchRules, count_part, draw_part, narrow_counts, plan_batch, survey_part

N_RECORDS, N_COLUMNS, N_BATCHES, N_PARTS, N_WORKERS = 10_000_000, 10, 5, 8, 2
ROW_BYTES = 6 * 8 + 4 * 2 + 1 + 8  # of a record as it is sent: six doubles, four words, a class, a serial number
MEMORY_SHARE = 100  # records of a run for each one drawn from a batch, where memory is measured
NETWORK = 1e9  # bytes a second and machine, about ten gigabits
TASK_SECONDS = 1e-3  # of Dask's scheduler for a task: 0.2 to 1 ms by its documentation


def make_part(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return records of four classes, some attributes whole numbers; one label in twenty is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_COLUMNS))
    X[:, 6:] = np.floor(50 + 20 * X[:, 6:]).clip(0, 100)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0) + 2 * (X[:, 3] + (X[:, 6] > 60) > 0.5)
    return X, np.where(rng.random(n) < 0.05, rng.integers(0, 4, n), y)


def make_batch(number: int, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the parts of a batch."""
    return [make_part(1000 * number + place, n // N_PARTS) for place in range(N_PARTS)]


class Built(NamedTuple):
    """Trees that were built on workers from one block of records."""

    n_samples: int
    n_shares: int
    tree_bytes: int
    leaf_bytes: int


class Ledger:
    """What a cluster did for one batch."""

    def __init__(self) -> None:
        self.built: list[Built] = []
        self.build_seconds = np.zeros(2)  # CPU time of the busier worker and of all of them while trees are built
        self.counted: tuple[Any, Any, Any] | None = None  # plan, counter and counts


def n_bytes(things: Any) -> int:
    """Return the bytes of all arrays in lists and tuples."""
    return sum(map(n_bytes, things)) if isinstance(things, (list, tuple)) else getattr(things, "nbytes", 0)


def note_in(ledger: Ledger) -> None:
    """Let clusters note what they build and count."""
    from adforest.integrations import dask as integration
    from adforest.integrations._dask_tasks import Cluster, DaskBatch

    class MeasuredCluster(Cluster):
        def map(self, work: Any, items: Any, shared: Any) -> list[Any]:
            before = self.client.run(process_time)
            found = super().map(work, items, shared)
            used = [now - before[worker] for worker, now in self.client.run(process_time).items()]
            ledger.build_seconds += max(used), sum(used)
            grown = [one for share in found for one in share]
            trees, leaves = [one.tree.__getstate__() for one in grown], [one.leaf_of for one in grown]
            ledger.built.append(Built(len(shared.request.samples), len(items), n_bytes(trees), n_bytes(leaves)))
            return found

    class MeasuredBatch(DaskBatch):
        def count(self, plan: Any, counter: Any, n_jobs: int | None) -> Any:
            counts = super().count(plan, counter, n_jobs)
            ledger.counted = plan, counter, counts
            return counts

    integration.Cluster, integration.DaskBatch = MeasuredCluster, MeasuredBatch


def moved_bytes(drawn: int, ledger: Ledger, number: int, n: int) -> dict[str, float]:
    """Return the bytes moved for a batch of n records by the formula in docs/scale.md, by what they are for."""
    trees = sum(
        min(N_WORKERS, one.n_shares) * one.n_samples * ROW_BYTES + one.leaf_bytes + one.tree_bytes
        for one in ledger.built
    )
    shapes = counts = 0.0
    if ledger.counted is not None:
        plan, counter, merged = ledger.counted
        part_bytes = n_bytes(count_part(plan, counter, *make_part(1000 * number, n // N_PARTS), None, 0))
        shapes = n_bytes(list(counter.shapes))
        counts = N_PARTS * (1 - 1 / N_WORKERS) * part_bytes + n_bytes(narrow_counts(merged))
    return {
        "survey": 2e3 * N_PARTS,
        "draw": drawn * ROW_BYTES,
        "trees": trees,
        "count": min(N_WORKERS, N_PARTS) * shapes + counts,
    }


def note_written() -> None:
    """Let this process note how many bytes it writes to others over Dask's connections."""
    from distributed.comm.tcp import TCP

    write = TCP.write

    async def noting(self: Any, *args: Any, **kwargs: Any) -> int:
        n: int = await write(self, *args, **kwargs)
        TCP.n_written += n
        return n

    TCP.n_written, TCP.write = 0, noting


def written() -> int:
    """Return the bytes that this process has written."""
    from distributed.comm.tcp import TCP

    return int(TCP.n_written)


def moved(client: Any) -> int:
    """Return the bytes that client, scheduler and workers have sent to each other."""
    return written() + sum(client.run(written).values())


def cpu_seconds(client: Any) -> float:
    """Return the CPU time that client, scheduler and workers have used."""
    return float(process_time() + sum(client.run(process_time).values()))


def start_cluster() -> Any:
    """Return a cluster that leaves partitions where they are: what else is moved is to be measured."""
    import dask
    from distributed import LocalCluster

    dask.config.set({"distributed.scheduler.work-stealing": False})
    return LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0")


def delayed_batch(number: int, n: int) -> tuple[list[Any], list[Any]]:
    """Return a batch that is made where it is needed."""
    import dask

    parts = [dask.delayed(make_part, nout=2)(1000 * number + place, n // N_PARTS) for place in range(N_PARTS)]
    return [part[0] for part in parts], [part[1] for part in parts]


def persist_evenly(client: Any, parts: list[Any]) -> list[Any]:
    """Return parts that are in the memory of workers, as many in each."""
    places = sorted(client.nthreads())
    return [client.persist(part, workers=places[k % len(places)]) for k, part in enumerate(parts)]


def parameters(n_samples: int) -> dict[str, Any]:
    """Return the default parameters, with bounds as much smaller as there are fewer records."""
    share = n_samples / N_RECORDS
    return {
        "random_state": 0,
        "max_samples": max(1000, int(1_000_000 * share)),
        "memory_size": max(1000, int(100_000 * share)),
    }


def measure_learning(n_samples: int) -> Iterator[dict[str, Any]]:
    """Learn the same batches here and there, from memory in both cases, and score all of them."""
    from distributed import Client, wait

    from adforest.integrations import dask as integration

    n, ledger = n_samples // N_BATCHES, Ledger()
    note_in(ledger)
    local = AdaptiveDecisionForestClassifier(n_jobs=2, **parameters(n_samples))
    local_seconds, local_score = 0.0, 0.0
    whole = [make_batch(number, n) for number in range(N_BATCHES)]
    tables = [tuple(np.concatenate(one) for one in zip(*parts, strict=True)) for parts in whole]
    local_cpu = process_time()
    for X, y in tables:
        local_seconds += seconds(lambda X=X, y=y: local.partial_fit(X, y))
    local_cpu = process_time() - local_cpu
    score_seconds = 0.0
    for X, y in tables:
        start = perf_counter()
        local_score += local.score(X, y) / N_BATCHES
        score_seconds += perf_counter() - start
    probe = tables[0][0][:10_000]
    expected = local.predict_proba(probe)
    del tables, whole
    with start_cluster() as cluster, Client(cluster, direct_to_workers=True) as client:
        note_written()
        client.run(note_written)
        there = integration.DaskAdaptiveDecisionForestClassifier(client=client, n_jobs=2, **parameters(n_samples))
        batches = [delayed_batch(number, n) for number in range(N_BATCHES)]
        persisted = [tuple(persist_evenly(client, one) for one in batch) for batch in batches]
        wait(persisted)
        dask_seconds, dask_cpu, n_moved = 0.0, 0.0, 0
        by_purpose: dict[str, float] = {}
        for number, (X, y) in enumerate(persisted):
            ledger.built = []
            before, cpu_before = moved(client), cpu_seconds(client)
            dask_seconds += seconds(lambda X=X, y=y: there.partial_fit(X, y))
            dask_cpu += cpu_seconds(client) - cpu_before
            n_moved += moved(client) - before
            expected_bytes = moved_bytes(min(n, there.max_samples), ledger, number, n)
            by_purpose = {key: by_purpose.get(key, 0) + value for key, value in expected_bytes.items()}
        formula = sum(by_purpose.values())
        start = perf_counter()
        dask_score = there.score(*(list(chain(*lists)) for lists in zip(*persisted, strict=True)))
        dask_score_seconds = perf_counter() - start
        same = bool((there.predict_proba(probe) == expected).all())
        same &= [report.n_leaves for report in there.history_] == [report.n_leaves for report in local.history_]
        yield {
            "measure": f"learn {n_samples:,} x {N_COLUMNS} in {N_BATCHES} batches on {N_WORKERS} Dask workers",
            "seconds": dask_seconds,
            "local_seconds": local_seconds,
            "times": dask_seconds / local_seconds,
            "cpu_times": dask_cpu / local_cpu,
            "build_share_of_busier_worker": float(ledger.build_seconds[0] / max(1e-9, ledger.build_seconds[1])),
            "same_model": same,
            "goal": "<= 1.5",
        }
        yield {
            "measure": f"score {n_samples:,} records on {N_WORKERS} Dask workers",
            "seconds": dask_score_seconds,
            "local_seconds": score_seconds,
            "times": dask_score_seconds / score_seconds,
            "same_score": abs(dask_score - local_score) < 1e-12,
            "goal": "<= 1.3",
        }
        yield {
            "measure": "bytes moved, by the formula in docs/scale.md",
            "megabytes": n_moved / 1e6,
            "formula_megabytes": formula / 1e6,
            "times": n_moved / formula,
            **{f"{key}_megabytes": value / 1e6 for key, value in by_purpose.items()},
            "goal": "0.9 to 1.1",
        }


def measure_memory(n_samples: int) -> Iterator[dict[str, Any]]:
    """Peak memory of client and scheduler, which are one process here, each size in a process of its own."""
    peaks = []
    for n in (n_samples // 10, n_samples):
        command = [sys.executable, __file__, "memory", str(n), str(n_samples // MEMORY_SHARE)]
        peaks.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    yield {
        "measure": f"memory of client and scheduler, {n_samples:,} records against a tenth",
        "megabytes": peaks[1],
        "megabytes_tenth": peaks[0],
        "times": peaks[1] / peaks[0],
        "goal": "<= 1.1",
    }


def peak_memory(n_samples: int, max_samples: int) -> float:
    """Return the megabytes that this process needs at most to let workers learn batches that they make themselves."""
    from distributed import Client

    from adforest.integrations.dask import DaskAdaptiveDecisionForestClassifier

    with start_cluster() as cluster, Client(cluster, direct_to_workers=True) as client:
        bounds = {"max_samples": max(1000, max_samples), "memory_size": max(1000, max_samples)}
        model = DaskAdaptiveDecisionForestClassifier(client=client, random_state=0, **bounds)
        for number in range(N_BATCHES):
            model.partial_fit(*delayed_batch(number, n_samples // N_BATCHES))
    [peak] = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(peak) / 1024


class Rates(NamedTuple):
    """Seconds a record on one core, and of a tree for each of its records."""

    survey: float
    draw: float
    count: float
    tree: float


def measured_rates(n: int, max_samples: int) -> Rates:
    """Return what one core needs for each pass over a part, and to build a tree."""
    from adforest.adaptation.undrawn import LeafCounter

    X, y = make_part(1, n)
    rules = BatchRules(1, None, "from_dtype", "Forest", EncodingRules())
    start = perf_counter()
    survey = survey_part(rules, X, y, None, 0)
    surveyed = perf_counter()
    draw_part(plan_batch(rules, survey, None, 0, None, n // 10), X, y, None, 0)
    drawn = perf_counter()
    model = AdaptiveDecisionForestClassifier(random_state=0, max_samples=None).fit(X[:max_samples], y[:max_samples])
    built = perf_counter()
    state = get_fitted(model).state
    counter = LeafCounter.of(state, model.permanent_forest_.trees)
    samples = state.memory.samples(np.zeros(N_COLUMNS, dtype=np.int32), 4)
    few = np.arange(min(len(samples), 50_000), dtype=np.int32)
    counting = seconds(lambda: counter.count(samples, few)) / len(few) / len(model.permanent_forest_)
    n_built = min(n, max_samples)
    return Rates(
        (surveyed - start) / n, (drawn - surveyed) / n, counting, (built - drawn) / n_built / 20 / log2(n_built)
    )


def simulate(n_samples: float, n_workers: int, rates: Rates) -> dict[str, float]:
    """Return the seconds that a batch would take on a cluster of single cores, by what they are spent on.

    20 trees are built for the permanent forest, 10 each for the temporary and the newest, all from a million records.
    """
    n_parts, n_drawn, n_trees = n_samples / 1e6, min(n_samples, 1e6), 40
    nodes = 0.25 * n_drawn  # of a tree, with one label in twenty wrong
    hops = log2(min(n_workers, n_trees) + 1)  # workers take the block from each other
    return {
        "survey": n_samples * rates.survey / n_workers,
        "draw": n_samples * rates.draw / n_workers,
        "count": n_samples * rates.count * n_trees / n_workers,
        "build trees": -(-n_trees // n_workers) * n_drawn * rates.tree * log2(n_drawn),
        "schedule tasks": 3 * n_parts * (1 + 1 / 16) * TASK_SECONDS,
        "bring records to the client": n_drawn * ROW_BYTES / NETWORK,
        "send records to build from": 3 * hops * n_drawn * ROW_BYTES / NETWORK,
        "bring trees to the client": n_trees * (4 * n_drawn + 40 * nodes) / NETWORK,
        "send trees to count in": log2(n_workers + 1) * n_trees * 16 * nodes / NETWORK,
        "merge counts": log2(n_parts + 1) / 4 * n_trees * 6 * nodes * 16 / NETWORK,
    }


def measure_simulation(n_samples: int) -> Iterator[dict[str, Any]]:
    """What the formula and measured rates say of clusters that are not here."""
    rates = measured_rates(min(n_samples, 1_000_000), min(n_samples // 10, 200_000))
    yield {"measure": "rates of one core, microseconds", **{key: 1e6 * value for key, value in rates._asdict().items()}}
    for n, n_workers in ((1e7, 2), (1e9, 100), (1e10, 1000), (1e12, 10_000)):
        found = simulate(n, n_workers, rates)
        yield {
            "measure": f"simulated: a batch of {n:.0e} records on {n_workers:,} cores",
            "seconds": sum(found.values()),
            **{f"{key}, seconds": value for key, value in found.items()},
        }


def measure_scale(n_samples: int = N_RECORDS) -> Iterator[dict[str, Any]]:
    """All measures of this file."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        yield {"measure": "scale", "skipped": "pip install 'adforest[dask]'"}
        return
    yield from measure_learning(n_samples)
    yield from measure_memory(n_samples)
    yield from measure_simulation(n_samples)


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        print(peak_memory(int(sys.argv[2]), int(sys.argv[3])))
    else:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        for line in measure_scale(int(sys.argv[1]) if len(sys.argv) > 1 else N_RECORDS):
            print_line(line)
