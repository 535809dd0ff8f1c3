"""Creates models, lets them learn, and saves them as bytes of a file with their position in the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from adforest.service.alerting import printed_errors

if TYPE_CHECKING:
    from adforest.alerts import Alerts


class LearntThrough(NamedTuple):
    """Position of a model in the log.

    Attributes
    ----------
    log_id : str
        Of the log; empty for a model that was saved elsewhere.
    version : int
        The number of the task that made it.
    position : int
        Of that task in the log.
    """

    log_id: str
    version: int
    position: int


class Trainer(Protocol):
    """How models are made and taught; a simulation may have a simpler one."""

    def new(self, parameters: Mapping[str, Any]) -> Any:
        """Return a model that knows nothing."""

    def learn(self, model: Any, table: pa.Table, target: str) -> tuple[int, dict[str, Any]]:
        """Teach a model a batch; return the number of the batch in its history, and a report."""

    def set_parameters(self, model: Any, parameters: Mapping[str, Any]) -> None:
        """Change parameters, or raise `ValueError`."""

    def pack(
        self, model: Any, learnt_through: LearntThrough, target: str, batch: tuple[int, int] | None
    ) -> Sequence[bytes | memoryview]:
        """Return the bytes of its file; of a batch just learnt, its number and how many records it had are noted."""

    def unpack(self, content: bytes, name: str) -> tuple[Any, LearntThrough]:
        """Return the model of a file and its position, or raise `ModelFileError`."""

    def n_batches(self, model: Any) -> int:
        """Return how many batches it learnt."""

    def last_report(self, model: Any) -> dict[str, Any]:
        """Return the report of its last batch."""


class ForestTrainer:
    """Adaptive Decision Forests.

    Parameters
    ----------
    alerts : Alerts, optional
        Whose rules are checked at each batch; what they find is saved with the model.
    """

    def __init__(self, alerts: Alerts | None = None) -> None:
        self._alerts = alerts

    def new(self, parameters: Mapping[str, Any]) -> Any:
        """Return a model that knows nothing."""
        from adforest.adaptive import AdaptiveDecisionForestClassifier

        return AdaptiveDecisionForestClassifier(**parameters)

    def learn(self, model: Any, table: pa.Table, target: str) -> tuple[int, dict[str, Any]]:
        """Teach a model a batch."""
        X = table.drop_columns([target])
        if self._alerts is not None:
            with printed_errors():
                self._alerts.look(X)
        model.partial_fit(as_learnt(model, X), table[target].to_numpy(zero_copy_only=False))
        return self.n_batches(model), self.last_report(model)

    def set_parameters(self, model: Any, parameters: Mapping[str, Any]) -> None:
        """Change parameters."""
        before = model.get_params(deep=False)
        changed = [name for name in parameters if name in model._fixed and parameters[name] != before[name]]
        if changed:
            raise ValueError(f"{changed[0]} cannot be changed between batches; make another model, or a challenger.")
        model.set_params(**parameters)

    def pack(
        self, model: Any, learnt_through: LearntThrough, target: str, batch: tuple[int, int] | None
    ) -> Sequence[bytes | memoryview]:
        """Return the bytes of its file."""
        from adforest.origins import note_origins, origins_of
        from adforest.storage.files import packed

        noted = replace(
            origins_of(model),
            target=target,
            stream=learnt_through.log_id,
            epoch=learnt_through.version,
            position=learnt_through.position,
        )
        if batch is not None:
            digest = blake2b(f"{learnt_through.log_id} {learnt_through.position}".encode(), digest_size=16).digest()
            noted = noted.with_batch(digest, 0, batch[1], batch[0])
        if self._alerts is not None:
            with printed_errors():
                noted = self._alerts.noted(model, noted) if batch is not None else self._alerts.carried(noted)
        note_origins(model, noted)
        return packed(model)

    def unpack(self, content: bytes, name: str) -> tuple[Any, LearntThrough]:
        """Return the model of a file and its position."""
        from adforest.origins import origins_of
        from adforest.storage.files import unpacked

        model = unpacked(content, name)
        noted = origins_of(model)
        return model, LearntThrough(noted.stream or "", noted.epoch, noted.position)

    def n_batches(self, model: Any) -> int:
        """Return how many batches it learnt."""
        return int(model.n_batches_)

    def last_report(self, model: Any) -> dict[str, Any]:
        """Return the report of its last batch."""
        return plain(model.history_[-1].as_row())


def as_learnt(model: Any, table: pa.Table) -> Any:
    """Return a table, or an array of its numbers for a model that learnt arrays: their columns have no names."""
    if hasattr(model, "feature_names_in_") or not hasattr(model, "n_features_in_"):
        return table
    if not all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in table.schema.types):
        return table
    return np.column_stack([column.to_numpy() for column in table.columns])


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report as JSON holds it."""

    def one(value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, tuple | list):
            return [one(each) for each in value]
        return value if value is None or isinstance(value, str | int | bool) or value == value else None

    return {name: one(value) for name, value in row.items()}
