"""Functions run on the workers of a Dask cluster: plain tasks that Dask may retry, move or run twice.

No task waits for others: no barrier, no port. What workers share (rules, plans, samples to build trees from) is
scattered; if it is lost with a worker, it is sent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import dask
from distributed import Client, Future, wait

from adforest.encoding.tables import source_of
from adforest.forest import LeafCounts, Samples
from adforest.merging import (
    BatchPlan,
    BatchRules,
    Counter,
    Survey,
    count_part,
    draw_part,
    join_parts,
    merge_counts,
    merge_surveys,
    narrow_counts,
    survey_part,
)

Result = TypeVar("Result")

ATTEMPTS = 4  # at a task whose input was lost with a worker
FAN_IN = 16  # surveys that are merged by one task
LOOK_SECONDS = 2.0  # between two checks of running tasks
NO_WORKER_SECONDS = 60.0  # without any worker, after which there is an error


class Cluster:
    """The workers of a Dask cluster; builds trees for `adforest.growers.building_on`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    @property
    def n_threads(self) -> int:
        """Threads of all workers."""
        return sum(self.client.nthreads().values())

    def map(self, work: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any) -> list[Any]:
        """Return ``work(shared, item)`` for each item, in their order; items are shared out evenly among workers."""

        def run() -> list[Any]:
            there, name = self.send(shared), f"adforest.build_trees-{uuid4().hex}"
            # Dask may give all items to the worker that got the shared data, and leave the others without work.
            threads = sorted((k, worker) for worker, n in self.client.nthreads().items() for k in range(n))
            found = [
                self.client.submit(
                    work,
                    there,
                    item,
                    key=(name, index),
                    pure=False,
                    workers=threads[index % len(threads)][1] if threads else None,
                    allow_other_workers=bool(threads),
                )
                for index, item in enumerate(items)
            ]
            self.finish(found)
            results: list[Any] = self.client.gather(found)
            return results

        return self.tried(run)

    def each(
        self,
        name: str,
        work: Callable[..., Any],
        send: Callable[[], Future],
        parts: Sequence[tuple[Any, ...]],
        source_of_part: Callable[[int], str] | None = None,
    ) -> list[Any]:
        """Return ``work(shared, *part)`` for each part, in their order, with shared data that a function sends.

        Errors name the part.
        """

        def run() -> list[Any]:
            found = self.start(name, work, send(), parts)
            self.finish(found, source_of_part)
            results: list[Any] = self.client.gather(found)
            return results

        return self.tried(run)

    def tried(self, run: Callable[[], Result]) -> Result:
        """Return the result of a function, called again if shared data were lost with a worker."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return run()
            except CancelledError as error:
                if attempt == ATTEMPTS:
                    raise RuntimeError(
                        f"data on Dask workers was lost {ATTEMPTS} times with workers that died, the last time as: "
                        f"{str(error).splitlines()[0]}. The model is as it was before. Give workers more memory, use "
                        "smaller partitions, and pass collections that Dask can compute again rather than scattered "
                        "data."
                    ) from error
        raise AssertionError

    def send(self, shared: Any, *, to_all: bool = False) -> Future:
        """Send data to a worker, from which others fetch it when they need it, or to all at once."""
        try:
            return self.client.scatter(shared, broadcast=to_all, hash=False, timeout=NO_WORKER_SECONDS)
        except TimeoutError as error:
            raise _no_worker() from error

    def start(
        self, name: str, work: Callable[..., Any], shared: Future, parts: Sequence[tuple[Any, ...]]
    ) -> list[Future]:
        """Start a task for each part, with a name for Dask's dashboard."""
        task, token = dask.delayed(work, pure=False, traverse=False), f"adforest.{name}-{uuid4().hex}"
        tasks = [task(shared, *part, dask_key_name=(token, index)) for index, part in enumerate(parts)]
        futures: list[Future] = self.client.compute(tasks)
        return futures

    def finish(self, futures: Sequence[Future], source_of_part: Callable[[int], str] | None = None) -> None:
        """Wait until all tasks are done; raise the exception of the first that failed.

        An error that does not name its part gets a note that does.
        """
        last_seen = time.monotonic()
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=LOOK_SECONDS)
                is_done = True
            except TimeoutError as timeout:
                # A frame of Dask's holds the error, whose traceback leads back to it and to all that our callers hold:
                # without this the samples and trees of a batch stay until garbage is collected, seldom enough.
                timeout.__traceback__ = None
                is_done = False
            failed = [index for index, future in enumerate(futures) if future.status == "error"]
            if failed:
                self.client.cancel([future for future in futures if future.status == "pending"])
                error = futures[failed[0]].exception()
                if source_of_part is not None and source_of_part(failed[0]) not in str(error):
                    error.add_note(f"Raised by {source_of_part(failed[0])}.")
                raise error
            if is_done:
                return
            if self.n_threads:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > NO_WORKER_SECONDS:
                raise _no_worker()


class DaskBatch:
    """A batch in partitions on a cluster: (X, y, weights) each, as delayed tables."""

    def __init__(self, cluster: Cluster, parts: Sequence[tuple[Any, Any, Any]]) -> None:
        self.cluster = cluster
        self.parts = [(*part, index) for index, part in enumerate(parts)]

    def survey(self, rules: BatchRules) -> Survey:
        """Return the survey of all partitions."""
        survey: Survey = self._merged(
            "survey", survey_part, "merge_surveys", _merge_surveys, rules.to_send(), rules.number
        )
        return survey

    def draw(self, plan: BatchPlan) -> Samples:
        """Return the samples drawn from all partitions."""
        source_of_part = partial(source_of, plan.number)
        parts = self.cluster.each("draw", draw_part, lambda: self.cluster.send(plan), self.parts, source_of_part)
        return join_parts(plan, parts)

    def count(self, plan: BatchPlan, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
        """Return the samples of all partitions that were not drawn, counted by leaf."""
        counts = self._merged("count", _count_part, "merge_counts", _merge_counts, (plan, counter), plan.number)
        return merge_counts([counts])

    def _merged(
        self, name: str, work: Callable[..., Any], merge_name: str, merge: Callable[..., Any], shared: Any, batch: int
    ) -> Any:
        """Return the results of all partitions, merged on the workers, in groups, and groups of groups."""
        cluster = self.cluster

        def run() -> Any:
            there = cluster.send(shared)
            found = cluster.start(name, work, there, self.parts)
            cluster.finish(found, partial(source_of, batch))
            while len(found) > 1:
                groups = [(found[start : start + FAN_IN],) for start in range(0, len(found), FAN_IN)]
                found = cluster.start(merge_name, merge, there, groups)
                cluster.finish(found)
            return cluster.client.gather(found[0])

        return cluster.tried(run)


def _merge_surveys(rules: BatchRules, surveys: Sequence[Survey]) -> Survey:
    return merge_surveys(surveys, rules)


def _count_part(shared: tuple[BatchPlan, Counter], *part: Any) -> list[LeafCounts] | None:
    return count_part(*shared, *part)


def _merge_counts(shared: Any, counts: Sequence[list[LeafCounts] | None]) -> list[LeafCounts] | None:
    return narrow_counts(merge_counts(counts)) or None


def _no_worker() -> RuntimeError:
    """Return the error for a cluster on which nothing is computed."""
    return RuntimeError(
        f"there has been no Dask worker for {NO_WORKER_SECONDS:g} s, so that nothing is computed. The model is as it "
        "was before. Start workers, and pass the batch again."
    )
