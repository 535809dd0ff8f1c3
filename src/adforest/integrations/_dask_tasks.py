"""Functions run on the workers of a Dask cluster: plain tasks that Dask may retry, move or run twice.

Nothing waits for others: no barrier, no port. What is sent to all workers (rules, plans, records to build trees from)
is scattered; where a dying worker takes it along, it is sent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar
from uuid import uuid4

import dask
import numpy as np
from distributed import Client, Future, wait

from adforest.encoding.tables import source_of
from adforest.encoding.weights import read_weights
from adforest.forest import Records
from adforest.merging import BatchPlan, BatchRules, Survey, draw_part, join_parts, merge_surveys, survey_part
from adforest.merging.sums import exact_sums

Result = TypeVar("Result")

ATTEMPTS = 4  # to get something done whose parts were lost with a worker
FAN_IN = 16  # surveys that are merged by one task
LOOK_SECONDS = 2.0  # between two looks at tasks under way
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
        """Return ``work(shared, item)`` for each item, in their order."""
        return self.each("build_trees", work, shared, [(item,) for item in items])

    def each(self, name: str, work: Callable[..., Any], shared: Any, parts: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return ``work(shared, *part)`` for each part, in their order."""

        def run() -> list[Any]:
            found = self.start(name, work, self.send(shared), parts)
            self.finish(found)
            results: list[Any] = self.client.gather(found)
            return results

        return self.tried(run)

    def tried(self, run: Callable[[], Result]) -> Result:
        """Return what a function returns, called again if a dying worker took along what had been sent."""
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

    def send(self, shared: Any) -> Future:
        """Send something to all workers."""
        try:
            return self.client.scatter(shared, broadcast=True, hash=False, timeout=NO_WORKER_SECONDS)
        except TimeoutError as error:
            raise _no_worker() from error

    def start(
        self, name: str, work: Callable[..., Any], shared: Future, parts: Sequence[tuple[Any, ...]]
    ) -> list[Future]:
        """Start a task for each part, called so in Dask's dashboard."""
        task, token = dask.delayed(work, pure=False, traverse=False), f"adforest.{name}-{uuid4().hex}"
        tasks = [task(shared, *part, dask_key_name=(token, place)) for place, part in enumerate(parts)]
        futures: list[Future] = self.client.compute(tasks)
        return futures

    def finish(self, futures: Sequence[Future], place_of: Callable[[int], str] | None = None) -> None:
        """Wait until all tasks are done; raise what the first that failed has raised.

        An error that does not say where it comes from gets a note that does.
        """
        last_seen = time.monotonic()
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=LOOK_SECONDS)
                is_done = True
            except TimeoutError:
                is_done = False
            failed = [place for place, future in enumerate(futures) if future.status == "error"]
            if failed:
                self.client.cancel([future for future in futures if future.status == "pending"])
                error = futures[failed[0]].exception()
                if place_of is not None and place_of(failed[0]) not in str(error):
                    error.add_note(f"Raised by {place_of(failed[0])}.")
                raise error
            if is_done:
                return
            if self.n_threads:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > NO_WORKER_SECONDS:
                raise _no_worker()


class DaskBatch:
    """A batch in partitions on a cluster: (X, y, weights) each, as tables that are delayed."""

    def __init__(self, cluster: Cluster, parts: Sequence[tuple[Any, Any, Any]]) -> None:
        self.cluster = cluster
        self.parts = [(*part, place) for place, part in enumerate(parts)]

    def survey(self, rules: BatchRules) -> Survey:
        """Return the survey of all partitions, merged where they lie."""
        return self.cluster.tried(lambda: self._survey(rules.to_send()))

    def _survey(self, rules: BatchRules) -> Survey:
        cluster, there = self.cluster, self.cluster.send(rules)
        found = cluster.start("survey", survey_part, there, self.parts)
        cluster.finish(found, lambda place: source_of(rules.number, place))
        while len(found) > 1:
            groups = [(found[start : start + FAN_IN],) for start in range(0, len(found), FAN_IN)]
            found = cluster.start("merge_surveys", _merge, there, groups)
            cluster.finish(found)
        survey: Survey = cluster.client.gather(found[0])
        return survey

    def draw(self, plan: BatchPlan) -> Records:
        """Return the records drawn from all partitions."""
        return join_parts(plan, self.cluster.tried(lambda: self._draw(plan)))

    def _draw(self, plan: BatchPlan) -> list[Any]:
        cluster = self.cluster
        found = cluster.start("draw", draw_part, cluster.send(plan), self.parts)
        cluster.finish(found, lambda place: source_of(plan.number, place))
        drawn: list[Any] = cluster.client.gather(found)
        return drawn


def count_right(model: Any, X: Any, y: Any, weight: Any, place: int) -> tuple[int, int]:
    """Return how many records of a partition a model answers rightly, and how many there are, by weight.

    Both are exact sums, so that scores do not depend on partitions.
    """
    if not len(y):
        return 0, 0
    right = np.asarray(model.predict(X)) == np.asarray(y)
    weights = read_weights(weight, len(right), source_of(None, place))
    wrong_sum, right_sum = exact_sums(right.astype(np.intp), np.ones(len(right)) if weights is None else weights, 2)
    return right_sum, right_sum + wrong_sum


def _no_worker() -> RuntimeError:
    """Return the error for a cluster on which nothing is computed."""
    return RuntimeError(
        f"there has been no Dask worker for {NO_WORKER_SECONDS:g} s, so that nothing is computed. The model is as it "
        "was before. Start workers, and pass the batch again."
    )


def _merge(rules: BatchRules, surveys: Sequence[Survey]) -> Survey:
    return merge_surveys(surveys, rules)
