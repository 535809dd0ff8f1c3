"""Dask's collections as delayed partitions, and predictions for partitions as collections."""

from __future__ import annotations

import warnings
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from dask.base import is_dask_collection
from distributed import Future
from sklearn.exceptions import DataConversionWarning

from adforest.exceptions import InputError, InputTypeError
from adforest.forest.types import AnyArray


def are_delayed(X: Any) -> bool:
    """Return whether samples are a dask collection or a list of delayed tables."""
    if isinstance(X, (list, tuple)):
        return bool(len(X)) and all(isinstance(one, Future) or is_dask_collection(one) for one in X)
    return bool(is_dask_collection(X))


def in_parts(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, Any, Any]]:
    """Return samples, labels and weights by partition, or raise if their partitions differ."""
    y = _one_dimensional(y)
    if _is_array(X):
        y, sample_weight = (_rechunked(one, X.chunks[0]) for one in (y, sample_weight))
    samples = partitions(X)
    labels = _matching(y, "y", len(samples))
    if sample_weight is None or isinstance(sample_weight, (int, float)):
        weights = [sample_weight] * len(samples)
    else:
        weights = _matching(sample_weight, "sample_weight", len(samples))
    return list(zip(samples, labels, weights, strict=True))


def _matching(given: Any, name: str, n_parts: int) -> list[Any]:
    """Return the partitions of labels or weights, or raise if they are not as many as those of the samples."""
    if not are_delayed(given):
        raise InputTypeError(
            f"X lies in partitions, but {name} is of type {type(given).__name__}. Pass a dask Series or array, or a "
            "list of delayed arrays, with the same partitions as X."
        )
    parts = partitions(given)
    if len(parts) != n_parts:
        raise InputError(
            f"X has {n_parts} partitions but {name} has {len(parts)}. Take both from one collection, or give them the "
            "same partitions with repartition() or rechunk()."
        )
    return parts


def partitions(X: Any) -> list[Any]:
    """Return the partitions of a collection, each of them whole samples."""
    if isinstance(X, (list, tuple)):
        return list(X)
    if _is_array(X):
        if X.ndim == 2 and X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return list(X.to_delayed().ravel())
    return list(X.to_delayed())


def together(method: str, X: Any, model: Any, classes: AnyArray) -> Any:
    """Return the predictions for all partitions, lazily, as a collection of the same kind."""
    task, token = dask.delayed(predict_part, pure=False, traverse=False), f"adforest.{method}-{uuid4().hex}"
    parts = enumerate(partitions(X))
    found = [task(method, model, part, dask_key_name=(token, index)) for index, part in parts]
    empty = _empty_predictions(method, classes)
    if isinstance(X, (list, tuple)):
        return found
    if _is_array(X):
        from dask import array

        shapes = [(n, *empty.shape[1:]) for n in X.chunks[0]]
        blocks = [array.from_delayed(one, shape, empty.dtype) for one, shape in zip(found, shapes, strict=True)]
        return array.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)
    from dask import dataframe

    meta = _indexed(empty, X._meta, classes)
    return dataframe.from_delayed(found, meta=meta, divisions=X.divisions, verify_meta=False)


def predict_part(method: str, model: Any, X: Any) -> Any:
    """Return the predictions for one partition; a data frame's index is kept."""
    answers = getattr(model, method)(X) if len(X) else _empty_predictions(method, model.classes_)
    return _indexed(answers, X, model.classes_) if hasattr(X, "iloc") else answers


def _empty_predictions(method: str, classes: AnyArray) -> AnyArray:
    """Return the result of a method of a model for no samples."""
    return classes[:0] if method == "predict" else np.empty((0, len(classes)))


def _indexed(answers: AnyArray, frame: Any, classes: AnyArray) -> Any:
    """Return predictions as a pandas Series, or a DataFrame with a column for each class, with the index of a frame."""
    import pandas

    if answers.ndim == 1:
        return pandas.Series(answers, index=frame.index)
    return pandas.DataFrame(answers, index=frame.index, columns=list(classes))


def _is_array(X: Any) -> bool:
    """Return whether a collection is a dask array."""
    return hasattr(X, "chunks") and hasattr(X, "numblocks")


def _one_dimensional(y: Any) -> Any:
    """Return labels of shape (n, 1) as (n,), with scikit-learn's warning, and all others as they are."""
    if not is_dask_collection(y) or getattr(y, "ndim", 1) != 2 or y.shape[1] != 1:
        return y
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
        "example using ravel().",
        DataConversionWarning,
        stacklevel=5,
    )
    return y[:, 0] if _is_array(y) else y[y.columns[0]]


def _rechunked(one: Any, chunks: tuple[int, ...]) -> Any:
    """Return a dask array of as many samples with the same chunks, anything else as it is; unknown chunks, too."""
    if _is_array(one) and one.chunks[0] != chunks and sum(one.chunks[0]) == sum(chunks):
        return one.rechunk({0: chunks})
    return one
