"""The forest on a Spark cluster: learns and predicts DataFrames and streams that need not fit one machine.

Needs ``pip install 'adforest[spark]'`` and a Java runtime; adforest must be installed where Spark's workers run, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import adforest
from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.base import lock_of
from adforest.exceptions import InputError
from adforest.growers import building_on
from adforest.integrations._cluster import ClusterClassifier, accuracy
from adforest.origins import Origins, note_origins, origins_of
from adforest.snapshot import Snapshot

try:
    from pyspark.sql import types

    from adforest.integrations._spark_columns import (
        Columns,
        by_position,
        check_frame,
        check_names,
        check_types,
        class_type,
    )
    from adforest.integrations._spark_parts import (
        SparkBatch,
        SparkWorkers,
        answers,
        broadcast,
        count_correct_of,
        described,
        on_partitions,
    )
except ImportError as error:
    raise ImportError(
        f"adforest.integrations.spark needs Spark, which could not be imported ({error}). Install it with "
        "pip install 'adforest[spark]' and Java 17 or newer."
    ) from error

__all__ = ["SparkAdaptiveDecisionForest", "foreach_batch"]


class SparkAdaptiveDecisionForest(ClusterClassifier):
    """`adforest.AdaptiveDecisionForestClassifier` on Spark: bit by bit the model that one machine would have learnt.

    It does not depend on the partitions, the number of workers, or whether tasks fail and are retried. Batches are
    DataFrames; everything else, such as ``history_`` or ``explain`` of a few samples, is as in the local classifier.

    Parameters
    ----------
    n_estimators : int, default=20
        Number of trees in the permanent and the active forest. All other parameters are those of
        `adforest.AdaptiveDecisionForestClassifier` too: ``max_samples`` bounds the number of samples of a batch that
        are sent to the driver to learn from; ``n_jobs`` are threads there.

    Notes
    -----
    The order of samples is that of ``df.collect()``: partitions in order, in each of them rows in order. A batch is
    read twice, once to survey it, once to draw samples from it, and a third time if it has more than ``max_samples``,
    to count the others; if its content differs, there is an error and the model stays as it was. ``df.persist()`` saves
    reading it again, and fixes its order where that is not deterministic, as after a join or a grouping.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from adforest.integrations.spark import SparkAdaptiveDecisionForest
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> df = spark.range(1_000).selectExpr("id % 7 AS day", "rand(1) AS x", "id % 7 > 4 AS weekend")  # doctest: +SKIP
    >>> model = SparkAdaptiveDecisionForest(random_state=0).partial_fit(df, "weekend")  # doctest: +SKIP
    >>> model.transform(df).select("day", "prediction", "confidence").show(2)  # doctest: +SKIP
    """

    def fit(self, df: Any, label_col: str, weight_col: str | None = None) -> Self:
        """Fit a new model, with a DataFrame as its first batch; for the parameters see `partial_fit`."""
        with lock_of(self):
            return self._learn_frame(None, df, label_col, weight_col)

    def partial_fit(  # type: ignore[override]
        self, df: Any, label_col: str, weight_col: str | None = None, classes: Any = None
    ) -> Self:
        """Learn a DataFrame as one more batch, which may bring new classes.

        Parameters
        ----------
        df : pyspark.sql.DataFrame
            The same columns as before, in any order.
        label_col : str
            The column of the classes. All others are features: drop uninformative ones.
        weight_col : str, optional
            The column of the sample weights.
        classes : array-like, optional
            Class values to expect. They appear in ``classes_`` before their first sample.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn_frame(getattr(self, "_model", None), df, label_col, weight_col, classes)

    def _learn_frame(self, before: Any, df: Any, label_col: str, weight_col: str | None, classes: Any = None) -> Self:
        """Learn a batch whose samples are on the workers."""
        check_frame(df, "Learn from a stream with foreach_batch().")
        roles = [label_col] if weight_col is None else [label_col, weight_col]
        check_names(df, roles)
        features = [name for name in df.columns if name not in roles]
        check_types(df, [*features, *roles])
        columns = Columns(tuple(df.columns), tuple(features), label_col, weight_col)
        with building_on(SparkWorkers(df)):
            return self._learn(before, SparkBatch(df, columns), classes)

    def transform(
        self,
        df: Any,
        prediction_col: str = "prediction",
        probability_col: str = "probability",
        confidence_col: str = "confidence",
    ) -> Any:
        """Return a DataFrame with predictions added as columns, computed lazily, batch after batch.

        Parameters
        ----------
        df : pyspark.sql.DataFrame
            The columns learnt, and any others, which are kept. It may be a stream.
        prediction_col : str, default="prediction"
            The new column of the predicted class.
        probability_col : str, default="probability"
            The new column of the class probabilities, arrays in the order of ``classes_``.
        confidence_col : str, default="confidence"
            The new column of the probability of the predicted class.

        Returns
        -------
        pyspark.sql.DataFrame
            Batches learnt later do not change its predictions.
        """
        check_frame(df)
        added = [prediction_col, probability_col, confidence_col]
        taken = [name for name in df.columns if name in added]
        if taken:
            raise InputError(f"df has a column {taken[0]!r} already. Drop it, or name the new column otherwise.")
        model = self._predictor()
        fields = zip(added, (class_type(model), types.ArrayType(types.DoubleType()), types.DoubleType()), strict=True)
        schema = types.StructType([*df.schema.fields, *(types.StructField(*field) for field in fields)])
        sent = df.sparkSession.sparkContext.broadcast((model, self._columns(df, model)))
        return by_position(df).mapInArrow(answers(sent), schema)

    def score(self, df: Any, label_col: str, weight_col: str | None = None) -> float:
        """Return the accuracy on some samples, in one pass.

        Parameters
        ----------
        df : pyspark.sql.DataFrame
            The columns learnt, and any others.
        label_col : str
            The column of the classes.
        weight_col : str, optional
            The column of the sample weights.

        Returns
        -------
        float
        """
        check_frame(df, "Score its batches one by one.")
        check_names(df, [label_col] if weight_col is None else [label_col, weight_col])
        model = self._predictor()
        columns = self._columns(df, model)._replace(label=label_col, weight=weight_col)
        with described(df, "score"), broadcast(df, (model, columns)) as sent:
            found = on_partitions(df, sent, count_correct_of)
        return accuracy(found.values())

    def _columns(self, df: Any, model: Snapshot) -> Columns:
        """Return the columns of a DataFrame that a model needs, or raise if it lacks some."""
        names = list(getattr(model, "feature_names_in_", df.columns))
        features = [name for name in names if name in df.columns]
        if self.column_changes == "error":
            check_names(df, names)
        check_types(df, features)
        return Columns(tuple(df.columns), tuple(features))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a model from a file, saved by this class or by the local classifier; it goes on learning on Spark.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        SparkAdaptiveDecisionForest
        """
        return cls.from_local(adforest.load(path))


def foreach_batch(
    path: str | PathLike[str],
    label_col: str,
    weight_col: str | None = None,
    *,
    model: AdaptiveDecisionForestClassifier | None = None,
) -> Callable[[Any, int], None]:
    """Return a function that learns the micro-batches of a stream into a model file, each exactly once.

    After each micro-batch the file is replaced atomically by one that has learnt it and records the stream's id and the
    number of the micro-batch (its epoch). A micro-batch that Spark passes again after a restart, since it died before
    it had recorded the end, is recognised by that and skipped.

    Parameters
    ----------
    path : str or path-like
        The model file, on the driver. It is made by the first micro-batch, and continued if it exists.
    label_col : str
        The column of the classes. All others are features: drop uninformative ones.
    weight_col : str, optional
        The column of the sample weights.
    model : SparkAdaptiveDecisionForest or AdaptiveDecisionForestClassifier, optional
        The first model if there is no file, fitted or not; by default one with default parameters.

    Returns
    -------
    callable
        For ``writeStream.foreachBatch``. It raises ValueError if the file has learnt from another stream, or from later
        micro-batches of this one: its checkpoint was deleted, or is older than the file.

    Examples
    --------
    >>> from adforest.integrations.spark import foreach_batch
    >>> learn = foreach_batch("model.adf", "label")
    >>> (
    ...     spark.readStream.schema("x DOUBLE, label STRING")
    ...     .parquet("incoming")
    ...     .writeStream.foreachBatch(learn)
    ...     .option("checkpointLocation", "checkpoint")
    ...     .start()
    ... )  # doctest: +SKIP
    """
    start = SparkAdaptiveDecisionForest() if model is None else SparkAdaptiveDecisionForest.from_local(model)
    file = _ModelFile(path, start)

    def learn(df: Any, epoch_id: int) -> None:
        stream = df.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId") or "unknown"
        with lock_of(start):
            if file.has_learnt(stream, epoch_id):
                return
            was_kept = df.is_cached
            df.persist()  # otherwise every use computes the micro-batch again
            try:
                if not df.isEmpty():
                    file.learn(stream, epoch_id, df, label_col, weight_col)
            finally:
                if not was_kept:
                    df.unpersist()

    return learn


class _ModelFile:
    """A model file that learns a stream, and its model, which is read again only if another program wrote it."""

    def __init__(self, path: str | PathLike[str], start: SparkAdaptiveDecisionForest) -> None:
        self._path = path
        self._start = start
        self._model = start
        self._written: tuple[int, ...] | None = None

    def has_learnt(self, stream: str, epoch: int) -> bool:
        """Return whether a micro-batch is in the file, or raise if it cannot be the next one."""
        noted = self._noted()
        if noted.stream is None:
            return False
        advice = (
            "Go on with the checkpoint that belongs to the file; or, to learn from a new one, give another path and "
            "model=SparkAdaptiveDecisionForest.load(path of this one)."
        )
        if noted.stream != stream:
            raise InputError(
                f"'{os.fspath(self._path)}' has learnt the stream {noted.stream} up to micro-batch {noted.epoch}, but "
                f"micro-batch {epoch} is of the stream {stream}: the checkpoint was thrown away, or belongs to another "
                f"query, and samples may come again. {advice}"
            )
        if epoch < noted.epoch:
            raise InputError(
                f"'{os.fspath(self._path)}' has learnt its stream up to micro-batch {noted.epoch}, but micro-batch "
                f"{epoch} has come: the checkpoint is older than the file. {advice}"
            )
        return epoch == noted.epoch

    def learn(self, stream: str, epoch: int, df: Any, label_col: str, weight_col: str | None) -> None:
        """Learn a micro-batch, and replace the file by one that records it; an error leaves everything as it was."""
        noted = self._noted()
        model = SparkAdaptiveDecisionForest.from_local(self._model).partial_fit(df, label_col, weight_col)
        note_origins(model, replace(noted, target=label_col, stream=stream, epoch=epoch))
        model.save(self._path)
        self._model, self._written = model, _stamp(self._path)

    def _noted(self) -> Origins:
        """Return the source of the batches in the file."""
        stamp = _stamp(self._path)
        if stamp is None:
            self._model, self._written = self._start, None
            return Origins()
        if stamp != self._written:
            self._model, self._written = SparkAdaptiveDecisionForest.load(self._path), stamp
        return origins_of(self._model)


def _stamp(path: str | PathLike[str]) -> tuple[int, ...] | None:
    """Return values that change whenever a file is replaced, None if there is no file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
