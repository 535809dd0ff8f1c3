"""What the classifiers on clusters share: conversion to and from local models, and scores counted by partition."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, Self, TypeVar

import numpy as np

from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.base import get_fitted, set_fitted
from adforest.encoding.labels import distinct_labels
from adforest.encoding.tables import read_weights, source_of
from adforest.exceptions import InputError, InputTypeError
from adforest.merging.sums import exact_sums
from adforest.snapshot import Snapshot

Other = TypeVar("Other", bound=AdaptiveDecisionForestClassifier)
NAMES = AdaptiveDecisionForestClassifier._get_param_names()


class ClusterClassifier(AdaptiveDecisionForestClassifier):
    """Base class of classifiers that learn on a cluster and keep their model with the client."""

    def save(self, path: str | PathLike[str], *, samples: bool = True) -> None:
        """Save the model to a file, which `adforest.load` reads as a local model; see `from_local`.

        Parameters
        ----------
        path : str or path-like
            Path of the file, on the machine of the client or driver; the usual suffix is ``.adf``.
        samples : bool, default=True
            Whether the file includes the samples in memory.
        """
        self.to_local().save(path, samples=samples)

    def to_local(self) -> AdaptiveDecisionForestClassifier:
        """Return the model as an independent local classifier.

        Returns
        -------
        AdaptiveDecisionForestClassifier
        """
        self._checked()
        return self._local()

    @classmethod
    def from_local(cls, model: AdaptiveDecisionForestClassifier, **parameters: Any) -> Self:
        """Return a local model, fitted or not, as one that learns and predicts on a cluster.

        Parameters
        ----------
        model : AdaptiveDecisionForestClassifier
        **parameters
            Parameters that a local model does not have.

        Returns
        -------
        self
        """
        if not isinstance(model, AdaptiveDecisionForestClassifier):
            raise InputTypeError(
                f"model is of type {type(model).__name__}; expected AdaptiveDecisionForestClassifier. Make one, or "
                "load one with adforest.load()."
            )
        return _with_model_of(model, cls(**{name: getattr(model, name) for name in NAMES}, **parameters))

    def _local(self) -> AdaptiveDecisionForestClassifier:
        """Return a local classifier with these parameters and the fitted state."""
        return _with_model_of(self, AdaptiveDecisionForestClassifier(**{name: getattr(self, name) for name in NAMES}))

    def _predictor(self) -> Snapshot:
        """Return the predictor for the workers, on one thread."""
        predictor: Snapshot = self.to_local().set_params(n_jobs=None).snapshot()
        return predictor


def _with_model_of(model: AdaptiveDecisionForestClassifier, other: Other) -> Other:
    """Return another classifier with the fitted state of a model, if that is fitted."""
    if model.__sklearn_is_fitted__():
        set_fitted(other, get_fitted(model))
    return other


def count_correct(model: Snapshot, X: Any, y: Any, weight: Any, number: int) -> tuple[int, int]:
    """Return the weighted number of correct predictions for the samples of a partition, and their total weight.

    Both are exact sums, so that scores do not depend on partitions. Labels of another kind than those learnt are an
    error that names the partition.
    """
    if not len(y):
        return 0, 0
    source = source_of(None, number)
    classes, codes = distinct_labels(y, source)
    get_fitted(model).labels.with_values(classes, source)
    right = model.predict(X) == classes[codes]
    weights = read_weights(weight, len(right), source)
    wrong_sum, right_sum = exact_sums(right.astype(np.intp), np.ones(len(right)) if weights is None else weights, 2)
    return right_sum, right_sum + wrong_sum


def add_counts(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the sums of the results of `count_correct` for several partitions."""
    right_sum = total_sum = 0
    for right, total in counts:
        right_sum, total_sum = right_sum + right, total_sum + total
    return right_sum, total_sum


def accuracy(counts: Iterable[tuple[int, int]]) -> float:
    """Return the accuracy over all partitions, or raise if no sample has weight."""
    right, total = add_counts(counts)
    if not total:
        raise InputError("there are no samples to score, or none that has a weight. Pass some.")
    return right / total
