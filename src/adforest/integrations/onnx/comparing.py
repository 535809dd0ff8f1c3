"""Compare predictions of ONNX Runtime and the model, before a graph is returned."""

from __future__ import annotations

from typing import Any

import numpy as np

from adforest.adaptation import State, votes
from adforest.base import FittedModel, as_proba
from adforest.encoding.categories import Categories, Value
from adforest.encoding.columns import code_values
from adforest.forest.types import AnyArray, Float64Array
from adforest.integrations._forests import splits_of
from adforest.integrations.onnx.inputs import Input
from adforest.libraries import require

TOLERANCE = 1e-5  # of probabilities, which are float32
TIE = 1e-9  # fraction of all votes: below this difference of two classes, rounding may decide
MADE_UP = 1_000  # samples besides those in memory
MISSING_FRACTION = 0.1  # of the values of simulated samples
PART = 4_096  # samples at a time


def check_answers(graph: bytes, model: FittedModel[State], inputs: list[Input], missing_text: str) -> None:
    """Raise if ONNX Runtime and the model differ on samples in memory or on simulated ones."""
    runtime = require("onnxruntime", "to_onnx", "onnx")
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    for samples in (model.state.memory.matrix()[:, : model.encoder.n_features], _made_up(model)):
        for start in range(0, len(samples), PART):
            _check_part(session, model, inputs, missing_text, samples[start : start + PART])


def _check_part(
    session: Any, model: FittedModel[State], inputs: list[Input], missing_text: str, samples: Float64Array
) -> None:
    """Raise if predictions differ on encoded samples."""
    matrix, fed = samples.copy(), {}
    for position, one in enumerate(inputs):
        values: AnyArray = samples if one.width > 1 else samples[:, [position]]
        if one.categories is not None:
            values = _values(one.categories, samples[:, position])[:, np.newaxis]
            # The meaning of a code can have changed since a sample was learnt: a value may be infrequent now.
            matrix[:, position] = one.categories.translate(code_values(values[:, 0].tolist(), one.name), one.name)
        fed[one.name] = one.feed(values, missing_text)
    label, probabilities = session.run(None, fed)
    matrix = model.encoder.with_rates(matrix)  # current ones, not those from when samples were learnt
    votes_by_class = model.in_order(votes(model.state, matrix, len(model.labels.by_arrival)))
    expected, proba = model.most_likely(votes_by_class), as_proba(votes_by_class)
    far = np.abs(probabilities - proba).max(axis=1) > TOLERANCE
    other = (label != expected) & ~is_tie(proba)
    if (far | other).any():
        index = int((far | other).argmax())
        raise RuntimeError(
            f"ONNX Runtime answers {np.count_nonzero(far | other)} of {len(samples)} samples otherwise than the model, "
            f"such as {samples[index].tolist()}: {label[index]!r} with probabilities {probabilities[index].tolist()} "
            f"instead of {expected[index]!r} with {proba[index].tolist()}. No graph is returned, since it would not "
            "be this model."
        )


def is_tie(proba: Float64Array) -> AnyArray:
    """Return which samples have two most likely classes, up to rounding."""
    if proba.shape[1] < 2:
        return np.zeros(len(proba), dtype=bool)
    second, first = np.partition(proba, -2, axis=1)[:, -2:].T
    tied: AnyArray = first - second <= TIE
    return tied


def _made_up(model: FittedModel[State]) -> Float64Array:
    """Return samples at the thresholds of all splits or just beyond, with unknown categories and missing values."""
    rng = np.random.default_rng(0)
    bounds: list[list[Float64Array]] = [[np.zeros(1)] for _ in range(model.encoder.n_columns)]
    for one in model.state.forests.values():
        for tree in one.forest.trees:
            asked = splits_of(tree)
            for feature in np.unique(asked.feature).tolist():
                bounds[feature].append(asked.threshold[asked.feature == feature])
    samples = np.empty((MADE_UP, model.encoder.n_features))
    for feature, known in enumerate(model.encoder.categories):
        if known is not None:
            samples[:, feature] = rng.integers(-1, max(1, known.n_codes), MADE_UP)
            continue
        chosen = rng.choice(np.unique(np.concatenate(bounds[feature])), MADE_UP)
        side = rng.choice([-np.inf, np.nan, np.inf], MADE_UP)
        samples[:, feature] = np.where(np.isnan(side), chosen, np.nextafter(chosen, side))
    samples[rng.random(samples.shape) < MISSING_FRACTION] = np.nan
    return samples


def _values(known: Categories, codes: Float64Array) -> AnyArray:
    """Return the categories of codes; one never seen for -1 and infrequent ones, None for missing ones."""
    by_code: list[Value | None] = [*known.by_code(), None]
    if known.infrequent >= 0:
        by_code[known.infrequent] = _unseen(known)
    by_code.append(_unseen(known))
    values: AnyArray = np.empty(len(by_code), dtype=object)
    values[:] = by_code
    return values[np.where(np.isnan(codes), len(by_code) - 2, codes).astype(np.intp)]


def _unseen(known: Categories) -> Value:
    """Return a value that is not among the categories."""
    values = list(known.index_of)
    if isinstance(values[0], str):
        return max(map(str, values)) + "?"
    return max(map(float, values)) + 1.0
