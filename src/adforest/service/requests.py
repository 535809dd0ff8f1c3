"""Requests that change the tables: each is checked against them, and becomes an event or an error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from adforest.service.events import Event, LabelsSet, Noted, RecordsKept, Tables, TaskAdded, classes_of
from adforest.service.record_table import EARLY, LABELLED, OVER, PENDING, WITHDRAWN, Record, shown_state
from adforest.service.settings import label_as
from adforest.service.tables import check_finite, first_difference, from_bytes, new_kinds, without_columns
from adforest.service.task_table import BATCH

MAX_COLUMNS = 10_000  # in a table, and in all that come for a model


class RequestError(Exception):
    """A request that cannot be done.

    Attributes
    ----------
    status : int
        Of HTTP, such as 409.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Change(Protocol):
    """A request that may change something."""

    def event(self, state: Tables, now: float) -> Event | None:
        """Return the event to be logged, None if it is done already, or raise `RequestError`."""

    def answer(self, state: Tables) -> Any:
        """Return the response once the event is applied."""


@dataclass(frozen=True)
class KeepRecords:
    """Keep the records of a prediction until they are labelled."""

    ids: Sequence[str]
    table: pa.Table
    active: bool = True

    def event(self, state: Tables, now: float) -> Event | None:
        """Return the new records; raise if an id is that of another record."""
        if state.settings.target in self.table.column_names:
            raise RequestError(
                422, f"column {state.settings.target!r} is the target; expected records without it. Send it as a label."
            )
        _check_kinds(self.table, state)
        known = {one: found for one, found in state.records.find(self.ids).items() if found.state != EARLY}
        if not known:
            return RecordsKept(self.ids, self.table, self.active, now)
        self._compare(known, state)
        rows = [index for index, one in enumerate(self.ids) if one not in known]
        if not rows:
            return None
        return RecordsKept([self.ids[index] for index in rows], self.table.take(rows), self.active, now)

    def _compare(self, known: Mapping[str, Record], state: Tables) -> None:
        """Raise if an id is known with other values, or was withdrawn."""
        chunks: dict[int, list[tuple[int, int]]] = {}
        for index, one in enumerate(self.ids):
            record = known.get(one)
            if record is not None and record.state == WITHDRAWN:
                raise RequestError(409, f"record {one!r} was withdrawn; expected a new record_id.")
            if record is not None and record.chunk is not None and record.place is not None:
                chunks.setdefault(record.chunk, []).append((record.place, index))
        for chunk, pairs in chunks.items():
            before, now = zip(*pairs, strict=True)
            different = first_difference(from_bytes(state.records.chunk(chunk))[0], before, self.table, now)
            if different is not None:
                other = self.ids[now[different]]
                raise RequestError(
                    409, f"record {other!r} was predicted with other values before; expected a record_id of its own."
                )

    def answer(self, state: Tables) -> None:
        """Return nothing: the response is the prediction."""
        return


@dataclass
class SetLabels:
    """Give records their labels; each is "created", "same" or "revised" where none is refused."""

    pairs: Sequence[tuple[str, str]]
    revise: bool = False
    outcomes: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    def event(self, state: Tables, now: float) -> Event | None:
        """Return the labels that are new, or raise if one contradicts an earlier one: then none is stored."""
        kind = state.label_kind() or type(json.loads(self.pairs[0][1])).__name__
        pairs = [(one, label_as(label, kind)) for one, label in self.pairs]
        self.outcomes, wanted = [], dict(pairs)
        if any(wanted[one] != label for one, label in pairs):
            raise RequestError(422, "a record_id stands twice in the request, with two labels. Send one of them.")
        for one, label in pairs:
            if type(json.loads(label)).__name__ != kind:
                raise RequestError(422, f"the label of record {one!r} is {label}; expected {kind} as those before.")
        _check_classes(wanted.values(), state)
        known = state.records.find(list(wanted))
        new = []
        for one, label in wanted.items():
            outcome = self._outcome(known.get(one), label)
            if outcome != "same":
                new.append((one, label))
            self.outcomes.append(outcome)
        states = [known[one].state if one in known else EARLY for one in wanted]
        self.states = [LABELLED if one == PENDING else shown_state(one) for one in states]
        return LabelsSet(new, now) if new else None

    def _outcome(self, known: Record | None, label: str) -> str:
        """Return the effect of a label, or raise."""
        if known is None or (known.label is None and known.state == PENDING):
            return "created"
        if known.label == label and known.state not in ("expired", WITHDRAWN):
            return "same"
        if known.state in OVER or known.task is not None:
            status = 410 if known.state in ("expired", WITHDRAWN) else 409
            now = "in a batch that is learnt" if known.state not in OVER else known.state
            raise RequestError(status, f"record {known.id!r} is {now}; its label cannot be set any more.")
        if not self.revise:
            raise RequestError(
                409, f"record {known.id!r} has the label {known.label}, not {label}. Send revise=true to replace it."
            )
        return "revised"

    def answer(self, state: Tables) -> dict[str, Any]:
        """Return how many labels were created, the same, and revised."""
        return {"outcomes": self.outcomes, "states": self.states}


@dataclass(frozen=True)
class ChangeRecord:
    """Activate or withdraw a record."""

    what: str
    id: str

    def event(self, state: Tables, now: float) -> Event | None:
        """Return the event, None if the record is so already."""
        known = state.records.find([self.id]).get(self.id)
        if known is None or (self.what == "activate" and known.state == EARLY):
            raise RequestError(404, f"there is no record {self.id!r}.")
        if self.what == "withdraw":
            if known.state == WITHDRAWN:
                return None
            if known.task is not None and known.state not in OVER:
                raise RequestError(409, f"record {self.id!r} is in a batch that is being learnt. Ask again later.")
        elif known.state in OVER:
            raise RequestError(409, f"record {self.id!r} is {known.state}; it cannot be activated any more.")
        elif known.active:
            return None
        return Noted(self.what, {"id": self.id}, now)

    def answer(self, state: Tables) -> dict[str, Any]:
        """Return the new state of the record."""
        return shown_record(state.records.find([self.id])[self.id])


@dataclass(frozen=True)
class AddTask:
    """Learn a batch, or change the model; with a key it is done once, even if it is sent again.

    Attributes
    ----------
    task : str
    note : dict
    table : pa.Table
    key : str or None
    digest : str
        Of the request as it was sent: the same bytes may be read in another way once columns are known.
    """

    task: str
    note: dict[str, Any]
    table: pa.Table = field(default_factory=without_columns)
    key: str | None = None
    digest: str = ""

    def event(self, state: Tables, now: float) -> Event | None:
        """Return the task, None if the key is known for the same request."""
        if self.key is not None:
            known = state.tasks.key(self.key)
            if known is not None:
                if known[0] != self.digest:
                    raise RequestError(422, f"the Idempotency-Key {self.key!r} was sent with another request before.")
                return None
        table = _checked_batch(self.table, state) if self.task == BATCH else self.table
        key = None if self.key is None else (self.key, self.digest)
        return TaskAdded(self.task, table, self.note, (), now, key)

    def answer(self, state: Tables) -> int:
        """Return the number of the task."""
        known = None if self.key is None else state.tasks.key(self.key)
        return state.tasks.last(1)[0].number if known is None else known[1]


@dataclass(frozen=True)
class ChangeSettings:
    """Change settings that may be."""

    given: dict[str, Any]

    def event(self, state: Tables, now: float) -> Event | None:
        """Return the change, None if there is none."""
        try:
            changed = state.settings.changed(self.given)
        except ValueError as error:
            raise RequestError(422, str(error)) from None
        default, is_same, kind = changed.default_label, changed == state.settings, state.label_kind_seen()
        if default is not None and kind not in (None, type(default).__name__):
            raise RequestError(422, f"default_label is {str(default)[:80]!r}; expected {kind} as labels before.")
        return None if is_same else Noted("settings", self.given, now)

    def answer(self, state: Tables) -> dict[str, Any]:
        """Return the settings."""
        return state.settings.shown()


def shown_record(record: Record) -> dict[str, Any]:
    """Return the description of a record."""
    found: dict[str, Any] = {"record_id": record.id, "state": shown_state(record.state)}
    found["label"] = None if record.label is None else json.loads(record.label)
    found |= {"active": bool(record.active), "predicted_at": record.made, "changed_at": record.changed}
    return found | {"expires_at": record.due, "task": record.task}


def _check_kinds(table: pa.Table, state: Tables) -> None:
    """Raise if columns hold something else than before, or if there are too many."""
    known = state.kinds()
    try:
        new = new_kinds(table, known)
    except ValueError as error:
        raise RequestError(422, str(error)) from None
    n_columns = len(known.keys() | new.keys())
    if n_columns > MAX_COLUMNS:
        raise RequestError(
            422,
            f"column {next(name for name in new if name not in known)[:80]!r} is new, and all columns so far have "
            f"{n_columns:,} names; expected at most {MAX_COLUMNS:,}. Correct the names.",
        )


def _checked_batch(table: pa.Table, state: Tables) -> pa.Table:
    """Return a batch, or raise if it has no target, no records, or other columns or labels than before."""
    target = state.settings.target
    if target not in table.column_names:
        raise RequestError(422, f"the batch has no column {target!r}; expected the classes there.")
    if not len(table):
        raise RequestError(422, "the batch has no records.")
    if table[target].null_count:
        raise RequestError(422, f"column {target!r} lacks {table[target].null_count} classes; expected one a record.")
    features = table.drop_columns([target])
    try:
        check_finite(features)
    except ValueError as error:
        raise RequestError(422, str(error)) from None
    _check_kinds(features, state)
    known = state.label_kind() or type(table[target][0].as_py()).__name__
    table = _with_labels_as(table, target, known)
    kind = type(table[target][0].as_py()).__name__
    if kind != known or kind not in ("str", "int", "float", "bool"):
        raise RequestError(422, f"column {target!r} holds {kind}; expected {known} as labels before.")
    _check_classes(classes_of(table[target]), state)
    return table


def _with_labels_as(table: pa.Table, target: str, kind: str) -> pa.Table:
    """Return a batch whose classes are in the kind of those before, as `label_as` has it."""
    classes = {label_as(one, kind) for one in classes_of(table[target])}
    if kind not in ("int", "bool") or any(type(json.loads(one)).__name__ != kind for one in classes):
        return table
    column = table[target].cast(pa.int64() if kind == "int" else pa.bool_())
    return table.set_column(table.column_names.index(target), target, column)


def _check_classes(labels: Iterable[str], state: Tables) -> None:
    """Raise if labels bring more classes than a model may have."""
    known = state.classes()
    limit, n_known = state.settings.max_classes, len(known)
    if (new := set(labels) - set(known)) and n_known + len(new) > limit:
        raise RequestError(
            422,
            f"{len(new):,} of the classes are new, such as {min(new)[:80]}, and {n_known:,} were seen before; expected "
            f"{limit:,} at most. Correct the labels, or raise max_classes of the model.",
        )
