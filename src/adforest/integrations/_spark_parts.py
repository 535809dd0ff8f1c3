"""Functions run on the workers of a Spark cluster: plain tasks that Spark may retry or run twice.

No task waits for others: no barrier mode, no accumulator, no port. The result of a task is one row, with the number of
its partition; so is an error in the samples, which Spark would otherwise retry, and report within a Java trace.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import functions

from adforest.base import as_proba
from adforest.encoding.tables import source_of
from adforest.forest import LeafCounts, Samples
from adforest.integrations._cluster import add_counts, count_correct
from adforest.integrations._spark_columns import Columns, by_position
from adforest.merging import (
    BatchPlan,
    BatchRules,
    Counter,
    DrawnPart,
    Survey,
    count_part,
    draw_part,
    join_parts,
    merge_counts,
    merge_surveys,
    narrow_counts,
    survey_part,
)
from adforest.snapshot import Snapshot

DIGEST_BYTES = 16
FAN_IN = 32  # results that are merged by one task
FOUND = "part int, found binary"  # the row of a task
NOTHING = Survey(None, None, (0,), has_weights=False)
PASSED_ON = (TypeError, ValueError, RuntimeError)
Batches: TypeAlias = Iterable[pa.RecordBatch]
Merge: TypeAlias = Callable[[list[Any]], Any]
Work: TypeAlias = Callable[..., Any]


class Fingerprint(NamedTuple):
    """Fingerprint of a partition, equal if it holds the same samples in the same order when it is read again."""

    n_samples: int = 0
    digest: bytes = b""


class SparkBatch:
    """A batch that is a DataFrame: its partitions in order, in each of them the rows in order.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    columns : Columns
    """

    def __init__(self, df: Any, columns: Columns) -> None:
        self._df = df.select("*", functions.xxhash64("*"))
        self._columns = columns
        self._seen: dict[int, Fingerprint] = {}

    def survey(self, rules: BatchRules) -> Survey:
        """Return the survey of all partitions."""
        found = self._each("survey", rules.number, _survey, rules.to_send())
        self._seen = {part: fingerprint for part, (fingerprint, _) in found.items()}
        numbers = range(max(found, default=0) + 1)
        return merge_surveys([found[part][1] if part in found else NOTHING for part in numbers], rules)

    def draw(self, plan: BatchPlan) -> Samples:
        """Return the samples drawn from all partitions, or raise if these differ from those surveyed."""
        found = self._each("draw from", plan.number, _draw, (plan, self._seen))
        for part in self._seen.keys() - found.keys():
            _check_same(self._seen[part], Fingerprint(), source_of(plan.number, part))
        return join_parts(plan, list(found.values()))

    def count(self, plan: BatchPlan, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
        """Return the samples of all partitions that were not drawn, counted by leaf."""
        n_parts = max(self._seen, default=0) + 1
        found = self._each("count", plan.number, _count, (plan, self._seen, counter), _merge_counts, n_parts)
        return merge_counts(list(found.values()))

    def _each(
        self, name: str, batch: int, work: Work, shared: Any, merge: Merge | None = None, n_parts: int = 0
    ) -> dict[int, Any]:
        """Return the result of a function for each partition, by its number."""
        with described(self._df, f"{name} batch {batch}"), broadcast(self._df, (shared, self._columns)) as sent:
            return on_partitions(self._df, sent, work, merge, n_parts)


def on_partitions(df: Any, sent: Any, work: Work, merge: Merge | None = None, n_parts: int = 0) -> dict[int, Any]:
    """Return the result of a function for each partition, or raise the exception of the first that failed.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    sent : Broadcast
        First arguments of the function, in a tuple.
    work : callable
        Called with these, the batches of a partition and its number.
    merge : callable, optional
        Merges several results, given in the order of the partitions.
    n_parts : int
        Number of partitions, where results are merged.

    Returns
    -------
    dict
        By the number of the partition, in order; or by that of the group, where results were merged.
    """

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = TaskContext.get().partitionId()
        try:
            found = work(*sent.value, batches, part)
        except PASSED_ON as error:
            found = error
        yield _row(part, found)

    def merged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        groups: dict[int, dict[int, Any]] = {}
        for part, found in _found(row for batch in batches for row in batch.to_pylist()).items():
            groups.setdefault(part // FAN_IN, {})[part] = found
        assert merge is not None
        for group, found in groups.items():
            failed = [one for one in found.values() if isinstance(one, Exception)]
            yield _row(group, failed[0] if failed else merge(list(found.values())))

    rows = by_position(df).mapInArrow(task, FOUND)
    while merge is not None and n_parts > FAN_IN:
        n_parts = -(-n_parts // FAN_IN)
        rows = rows.repartition(n_parts, functions.expr(f"part div {FAN_IN}")).mapInArrow(merged, FOUND)
    with naming_lacking_python(df):
        collected = rows.collect()
    found = _found(row.asDict() for row in collected)
    for result in found.values():
        if isinstance(result, Exception):
            raise result
    return found


def _row(part: int, found: Any) -> pa.RecordBatch:
    """Return the result of a partition as a row."""
    row = [pa.array([part], pa.int32()), pa.array([pickle.dumps(found)], pa.binary())]
    return pa.RecordBatch.from_arrays(row, ["part", "found"])


def _found(rows: Iterable[dict[str, Any]]) -> dict[int, Any]:
    """Return the results in some rows, in the order of the partitions."""
    by_part = {int(row["part"]): row["found"] for row in rows}
    return {part: pickle.loads(by_part[part]) for part in sorted(by_part)}


@contextmanager
def broadcast(df: Any, shared: Any) -> Iterator[Any]:
    """Broadcast an object to all workers, each of which unpickles it once, for a block of code."""
    sent = df.sparkSession.sparkContext.broadcast(shared)
    try:
        yield sent
    finally:
        sent.destroy()


@contextmanager
def described(df: Any, what: str) -> Iterator[None]:
    """Set the description of the jobs of a block of code in Spark's pages."""
    context = df.sparkSession.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setLocalProperty("spark.job.description", f"adforest: {what}")
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", before)


@contextmanager
def naming_lacking_python(df: Any) -> Iterator[None]:
    """Raise a short error that names the Python of the workers, if it lacks a module that the tasks need."""
    try:
        yield
    except PySparkException as error:
        lacking = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", str(error))
        if lacking is None:
            raise
        raise RuntimeError(
            f"Spark ran its tasks with {_worker_python(df)}, which has no module {lacking[1]!r}; expected a Python "
            f"that has adforest, as this one has ({sys.executable}). The model is as it was before. Set PYSPARK_PYTHON "
            "or spark.pyspark.python to such a Python before the Spark session is made, or install adforest there."
        ) from None


def _worker_python(df: Any) -> str:
    """Return the Python that runs tasks; needs no module of ours on the worker."""

    def ask(_: int) -> str:
        import sys

        return f"{sys.executable} ({sys.version.split()[0]})"

    return str(df.sparkSession.sparkContext.parallelize([0], 1).map(ask).collect()[0])


class SparkWorkers:
    """The workers of a Spark cluster; builds trees for `adforest.growers.building_on`."""

    def __init__(self, df: Any) -> None:
        self._df = df

    @property
    def n_threads(self) -> int:
        """Number of tasks that run at a time."""
        return int(self._df.sparkSession.sparkContext.defaultParallelism)

    def map(self, work: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any) -> list[Any]:
        """Return ``work(shared, item)`` for each item, in their order."""
        with described(self._df, "build trees"), broadcast(self._df, shared) as sent, naming_lacking_python(self._df):
            tasks = self._df.sparkSession.sparkContext.parallelize(items, len(items))
            found: list[Any] = tasks.map(lambda item: work(sent.value, item)).collect()
        return found


def answers(sent: Any) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Return a function that adds the predicted class, class probabilities and confidence to batches."""

    def answer(batches: Batches) -> Iterator[pa.RecordBatch]:
        model, columns = sent.value
        for batch in batches:
            if batch.num_rows:
                yield _with_predictions(model, columns, batch)

    return answer


def _with_predictions(model: Snapshot, columns: Columns, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with the predictions for it."""
    votes = model._votes(columns.read(pa.Table.from_batches([batch]))[0])
    best = votes.argmax(axis=1)
    proba = as_proba(votes)
    starts = np.arange(0, proba.size + 1, proba.shape[1], dtype=np.int32)
    added = {
        "prediction": pa.array(model.classes_[best].tolist()),
        "probability": pa.ListArray.from_arrays(starts, proba.ravel()),
        "confidence": pa.array(proba[np.arange(len(proba)), best]),
    }
    return pa.RecordBatch.from_arrays([*batch.columns, *added.values()], [*batch.schema.names, *added])


def count_correct_of(model: Snapshot, columns: Columns, batches: Batches, part: int) -> tuple[int, int]:
    """Return the weighted number of correct predictions for the samples of a partition, and their total weight."""
    return add_counts(count_correct(model, *columns.read(pa.Table.from_batches([batch])), part) for batch in batches)


def _survey(rules: BatchRules, columns: Columns, batches: Batches, part: int) -> tuple[Fingerprint, Survey]:
    """Survey a partition; the first pass."""
    fingerprint, given = _read(columns, batches)
    return fingerprint, survey_part(rules, *given, part)


def _draw(
    shared: tuple[BatchPlan, dict[int, Fingerprint]], columns: Columns, batches: Batches, part: int
) -> DrawnPart | None:
    """Draw from a partition; the second pass."""
    plan, seen = shared
    given = _read_again(columns, batches, seen, plan.number, part)
    return draw_part(plan, *given, part) if part in seen else None


def _count(
    shared: tuple[BatchPlan, dict[int, Fingerprint], Counter], columns: Columns, batches: Batches, part: int
) -> list[LeafCounts] | None:
    """Count the undrawn samples of a partition; the third pass."""
    plan, seen, counter = shared
    given = _read_again(columns, batches, seen, plan.number, part)
    return count_part(plan, counter, *given, part) if part in seen else None


def _merge_counts(counts: Sequence[list[LeafCounts] | None]) -> list[LeafCounts] | None:
    """Add up the counts of several partitions; None: they have no samples."""
    return narrow_counts(merge_counts(counts)) or None


def _read_again(
    columns: Columns, batches: Batches, seen: dict[int, Fingerprint], number: int, part: int
) -> tuple[Any, Any, Any]:
    """Return the samples of a partition, or raise if they differ from those of the first pass.

    A partition that did not exist then must be empty.
    """
    fingerprint, given = _read(columns, batches)
    _check_same(seen.get(part, Fingerprint()), fingerprint, source_of(number, part))
    return given


def _read(columns: Columns, batches: Batches) -> tuple[Fingerprint, tuple[Any, Any, Any]]:
    """Return the samples of a partition with its fingerprint, made of the hashes in the last column."""
    filled = [batch for batch in batches if batch.num_rows]
    if not filled:
        return Fingerprint(), (np.empty((0, len(columns.features))), [], None)
    table, digest = pa.Table.from_batches(filled), blake2b(digest_size=DIGEST_BYTES)
    for batch in filled:
        digest.update(batch.columns[-1].to_numpy())
    return Fingerprint(table.num_rows, digest.digest()), columns.read(table)


def _check_same(first: Fingerprint, second: Fingerprint, source: str) -> None:
    """Raise if a partition differs from the first pass."""
    if first != second:
        raise RuntimeError(
            f"{source} has other samples, or the same in another order, than when it was first read "
            f"({second.n_samples:,} samples now, {first.n_samples:,} then). The model is as it was before. A batch is "
            "read twice: keep the DataFrame as it is with df.persist() or df.checkpoint(), and pass it again."
        )
