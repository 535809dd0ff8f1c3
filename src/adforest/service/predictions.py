"""Predictions of a model as JSON or as an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from adforest.base import as_proba, get_fitted
from adforest.client import as_stream
from adforest.service.bodies import ARROW, MAX_CELLS
from adforest.service.requests import RequestError
from adforest.service.served_model import Answering
from adforest.service.trainer import as_learnt

MAX_JSON = 5_000_000  # values in an answer; each takes some 100 bytes of memory


@dataclass
class Counts:
    """Counts since the start: requests for predictions, records in them, also by model, and labels."""

    predictions: int = 0
    records: int = 0
    labels: int = 0
    of_models: dict[str, int] = field(default_factory=dict)

    def add(self, model: str, n_records: int) -> None:
        """Count a request for predictions."""
        self.merge(1, {model: n_records})

    def merge(self, predictions: int, of_models: Mapping[str, int]) -> None:
        """Count requests for predictions, and their records by model."""
        self.predictions, self.records = self.predictions + predictions, self.records + sum(of_models.values())
        for model, n_records in of_models.items():
            self.of_models[model] = self.of_models.get(model, 0) + n_records

    def taken(self) -> tuple[int, dict[str, int]]:
        """Return the counts of predictions, and count from 0 again."""
        found = self.predictions, self.of_models
        self.predictions, self.records, self.of_models = 0, 0, {}
        return found


class Predicted(NamedTuple):
    """Predictions of a model.

    Attributes
    ----------
    labels : list
    probabilities : ndarray of shape (n_records, n_classes)
    classes : list
    """

    labels: list[Any]
    probabilities: Any
    classes: list[Any]


def check_answer(answering: Answering, n_records: int, *, explain: bool = False, is_arrow: bool = False) -> None:
    """Raise if an answer would be larger than is allowed."""
    n_columns = answering.model.n_features_in_ if explain else 1
    n_values, limit = n_records * len(answering.model.classes_) * n_columns, MAX_CELLS if is_arrow else MAX_JSON
    if n_values > limit:
        raise RequestError(
            413,
            f"the answer would have {n_values:,} values; expected at most {limit:,}. Send fewer records at once"
            + ("." if is_arrow else f", or ask without explain for Arrow: Accept: {ARROW[0]}."),
        )


def predict(answering: Answering, table: pa.Table) -> Predicted:
    """Return the predictions of a model for some records."""
    model = answering.model
    votes = model._votes(as_learnt(model, table))
    return Predicted(get_fitted(model).most_likely(votes).tolist(), as_proba(votes), model.classes_.tolist())


def as_json(found: Predicted, answering: Answering) -> dict[str, Any]:
    """Return predictions as fields of a response."""
    names = [as_key(one) for one in found.classes]
    rows = [dict(zip(names, row, strict=True)) for row in found.probabilities.tolist()]
    return {"predictions": found.labels, "probabilities": rows} | version_of(answering)


def as_arrow(found: Predicted, answering: Answering) -> bytes:
    """Return predictions as an Arrow stream; the version is in the metadata of its schema."""
    columns: dict[str, Any] = {"prediction": pa.array(found.labels)}
    for index, one in enumerate(found.classes):
        columns[f"probability_{as_key(one)}"] = pa.array(np.ascontiguousarray(found.probabilities[:, index]))
    table = pa.table(columns)
    about = {name: str(value) for name, value in version_of(answering).items()}
    return as_stream(table.replace_schema_metadata(about))


def nothing_known(n_records: int) -> dict[str, Any]:
    """Return the response of a model that has learnt nothing."""
    nothing = [None] * n_records
    return {"predictions": nothing, "probabilities": nothing, "model_version": 0, "learnt_through": 0}


def explained(answering: Answering, table: pa.Table) -> list[dict[str, Any]]:
    """Return by record what each column adds to the probability of the predicted class."""
    found = answering.model.explain(as_learnt(answering.model, table))
    best, names = found.probabilities.argmax(axis=1), [str(one) for one in found.feature_names]
    rows = []
    for row, index in enumerate(best):
        added = dict(zip(names, found.contributions[row, :, index].tolist(), strict=True))
        rows.append({"bias": float(found.bias[row, index]), "contributions": added})
    return rows


def version_of(answering: Answering) -> dict[str, int]:
    """Return which model answered."""
    return {"model_version": answering.version, "learnt_through": answering.learnt_through}


def as_key(value: Any) -> str:
    """Return a class as a key of JSON."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
