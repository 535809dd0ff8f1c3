"""Ask ONNX Runtime and the model the same records, before a graph is handed out."""

from __future__ import annotations

from typing import Any

import numpy as np

from adforest.adaptation import State, votes
from adforest.base import Model, as_shares
from adforest.encoding.categories import Categories, Value
from adforest.encoding.columns import code_values
from adforest.forest.types import AnyArray, Floats
from adforest.integrations._forests import questions_of
from adforest.integrations.onnx.inputs import Input
from adforest.libraries import require

TOLERANCE = 1e-5  # of probabilities, which are float32
TIE = 1e-9  # share of all votes: where two classes are as near as that, rounding may decide
MADE_UP = 1_000  # records besides those in memory
MISSING_SHARE = 0.1  # of the values of made-up records
PART = 4_096  # records at a time


def check_answers(graph: bytes, model: Model[State], inputs: list[Input], missing_text: str) -> None:
    """Raise if ONNX Runtime answers otherwise than the model on its records in memory or on made-up ones."""
    runtime = require("onnxruntime", "to_onnx", "onnx")
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    for records in (model.learnt.memory.matrix()[:, : model.encoder.n_features], _made_up(model)):
        for start in range(0, len(records), PART):
            _check_part(session, model, inputs, missing_text, records[start : start + PART])


def _check_part(session: Any, model: Model[State], inputs: list[Input], missing_text: str, records: Floats) -> None:
    """Raise if answers differ on records of numbers and codes."""
    matrix, fed = records.copy(), {}
    for position, one in enumerate(inputs):
        values: AnyArray = records if one.width > 1 else records[:, [position]]
        if one.categories is not None:
            values = _values(one.categories, records[:, position])[:, np.newaxis]
            # What a code means can have changed since a record came: a value may be infrequent now.
            matrix[:, position] = one.categories.translate(code_values(values[:, 0].tolist(), one.name), one.name)
        fed[one.name] = one.feed(values, missing_text)
    label, probabilities = session.run(None, fed)
    matrix = model.encoder.with_rates(matrix)  # as they are now, not as they were when records came
    votes_by_class = model.in_order(votes(model.learnt, matrix, len(model.labels.by_arrival)))
    expected, shares = model.most_likely(votes_by_class), as_shares(votes_by_class)
    far = np.abs(probabilities - shares).max(axis=1) > TOLERANCE
    other = (label != expected) & ~is_tie(shares)
    if (far | other).any():
        place = int((far | other).argmax())
        raise RuntimeError(
            f"ONNX Runtime answers {np.count_nonzero(far | other)} of {len(records)} records otherwise than the model, "
            f"such as {records[place].tolist()}: {label[place]!r} with probabilities {probabilities[place].tolist()} "
            f"instead of {expected[place]!r} with {shares[place].tolist()}. No graph is returned, since it would not "
            "be this model."
        )


def is_tie(shares: Floats) -> AnyArray:
    """Return which records have two classes that are likeliest, as far as rounding tells."""
    if shares.shape[1] < 2:
        return np.zeros(len(shares), dtype=bool)
    second, first = np.partition(shares, -2, axis=1)[:, -2:].T
    tied: AnyArray = first - second <= TIE
    return tied


def _made_up(model: Model[State]) -> Floats:
    """Return records at the bounds of all questions or just beyond, with unknown categories and gaps."""
    rng = np.random.default_rng(0)
    bounds: list[list[Floats]] = [[np.zeros(1)] for _ in range(model.encoder.n_columns)]
    for one in model.learnt.forests.values():
        for tree in one.forest.trees:
            asked = questions_of(tree)
            for feature in np.unique(asked.feature).tolist():
                bounds[feature].append(asked.threshold[asked.feature == feature])
    records = np.empty((MADE_UP, model.encoder.n_features))
    for feature, known in enumerate(model.encoder.categories):
        if known is not None:
            records[:, feature] = rng.integers(-1, max(1, known.n_codes), MADE_UP)
            continue
        chosen = rng.choice(np.unique(np.concatenate(bounds[feature])), MADE_UP)
        side = rng.choice([-np.inf, np.nan, np.inf], MADE_UP)
        records[:, feature] = np.where(np.isnan(side), chosen, np.nextafter(chosen, side))
    records[rng.random(records.shape) < MISSING_SHARE] = np.nan
    return records


def _values(known: Categories, codes: Floats) -> AnyArray:
    """Return the categories that codes stand for; one never seen for -1 and infrequent ones, None for missing ones."""
    by_code: list[Value | None] = [*known.by_code(), None]
    if known.infrequent >= 0:
        by_code[known.infrequent] = _unseen(known)
    by_code.append(_unseen(known))
    values: AnyArray = np.empty(len(by_code), dtype=object)
    values[:] = by_code
    return values[np.where(np.isnan(codes), len(by_code) - 2, codes).astype(np.intp)]


def _unseen(known: Categories) -> Value:
    """Return a value that is no category."""
    values = list(known.places)
    if isinstance(values[0], str):
        return max(map(str, values)) + "?"
    return max(map(float, values)) + 1.0
