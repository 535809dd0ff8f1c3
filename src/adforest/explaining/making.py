"""Make explanations of samples: votes become probabilities, codes become class values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adforest.adaptation import State
from adforest.base import as_proba
from adforest.encoding import LabelTable, TableEncoder
from adforest.encoding.rebuilding import write_column
from adforest.explaining.attribution import Attribution, ForestPart, attribute
from adforest.explaining.explanation import Explanation, ForestAnswers
from adforest.forest.types import AnyArray, Float64Array


def explain(state: State, encoder: TableEncoder, labels: LabelTable, X: Float64Array) -> Explanation:
    """Return the explanation of the predictions for some samples.

    Parameters
    ----------
    state : State
    encoder : TableEncoder
        Has the names of columns and categories.
    labels : LabelTable
        Has the class values.
    X : float64 (n, n_columns)
        The encoded samples.
    """
    found = attribute(state, X, len(labels.by_arrival))
    found = replace(found, contributions=encoder.by_feature(found.contributions, axis=1))
    X = X[:, : encoder.n_features]
    _scale(found)
    order = labels.order
    ordered = found.votes[:, order]
    names = encoder.feature_names
    return Explanation(
        classes=labels.classes,
        feature_names=np.array([write_column(names, j) for j in range(X.shape[1])], dtype=object),
        predictions=labels.classes[ordered.argmax(axis=1)],
        probabilities=as_proba(ordered),
        bias=found.bias[:, order],
        contributions=found.contributions if labels.is_sorted else found.contributions[:, :, order],
        forests={name: _answers_of(part, order) for name, part in found.forests.items()},
        _X=X,
        _encoder=encoder,
    )


def _scale(found: Attribution) -> None:
    """Scale the decomposition of votes to a sum of 1; uniform where there are no votes."""
    total = found.votes.sum(axis=1)
    is_silent = ~found.votes.any(axis=1)
    found.bias[is_silent] = 1.0
    total[is_silent] = found.bias.shape[1]
    found.bias[:] /= total[:, np.newaxis]
    found.contributions[:] /= total[:, np.newaxis, np.newaxis]
    for part in found.forests.values():
        part.weight[:] /= total


def _answers_of(part: ForestPart, order: AnyArray) -> ForestAnswers:
    """Return the predictions of a forest with classes in sorted order; order holds their codes."""
    leaves, rank = part.leaves, np.argsort(order)
    return ForestAnswers(
        weights=part.weight,
        probabilities=part.proba[:, order],
        leaves=leaves.numbers,
        batches=leaves.batches,
        causes=leaves.causes,
        leaf_classes=np.where(leaves.classes >= 0, rank[leaves.classes], -1),
        leaf_confidence=leaves.confidence,
        leaf_samples=leaves.samples,
    )
