"""Entries of the log: each event can be serialized, read, and applied to the tables, at once and after a crash."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from adforest.service.record_table import EARLY, EXPIRED, LABELLED, WITHDRAWN, RecordTable
from adforest.service.settings import ModelSettings, label_text
from adforest.service.tables import NOTHING, from_bytes, kinds_in, to_bytes, without_columns, without_row
from adforest.service.task_table import TaskTable

EXPIRED_AT_ONCE = 10_000  # records
BATCH_NOTE = "batch "  # and its number: the note of what is new in a batch that is not learnt yet


class Event(Protocol):
    """Something that happened, in the log."""

    kind: ClassVar[int]

    def payload(self) -> bytes:
        """Return it as Arrow IPC."""

    def apply(self, state: Tables, position: int) -> None:
        """Change the tables; this depends on them and on the event alone."""


@dataclass
class Tables:
    """The tables and settings that events change."""

    records: RecordTable
    tasks: TaskTable
    settings: ModelSettings

    def kinds(self) -> dict[str, str]:
        """Return the types of columns, also of those of batches that are not learnt yet."""
        found: dict[str, str] = self.records.note("columns", {})
        for batch in self.records.notes(BATCH_NOTE):
            found |= {name: kind for name, kind in batch["columns"].items() if found.get(name, NOTHING) == NOTHING}
        return found

    def known_kinds(self) -> dict[str, str]:
        """Return what columns hold that had a value."""
        return {name: kind for name, kind in self.kinds().items() if kind != NOTHING}

    def learn_kinds(self, kinds: Mapping[str, str]) -> None:
        """Store the types of columns that had no value before."""
        known = self.records.note("columns", {})
        if new := _new_kinds(kinds, known):
            self.records.set_note("columns", known | new)

    def label_kind(self) -> str | None:
        """Return the type of the labels, None before the first one."""
        default = self.settings.default_label
        return self.label_kind_seen() or (None if default is None else type(default).__name__)

    def label_kind_seen(self) -> str | None:
        """Return the type of the labels that were given, None before the first one."""
        known: str | None = self.records.note("labels") or self.settings.label_kind
        classes = () if known else self.classes()
        return _kind_of_labels(classes) if classes else known

    def classes(self) -> list[str]:
        """Return the classes of labels as JSON text, also of those in batches that are not learnt yet."""
        found = [*self.records.note("classes", ())]
        for batch in self.records.notes(BATCH_NOTE):
            found += batch["classes"]
        return list(dict.fromkeys(found))

    def learn_labels(self, labels: Iterable[str]) -> None:
        """Store the classes of labels, and their type."""
        known = self.records.note("classes", ())
        if new := set(labels) - set(known):
            self.records.set_note("classes", [*known, *sorted(new)])
            if self.records.note("labels") is None:
                self.records.set_note("labels", _kind_of_labels(new))

    def add_batch(self, number: int, table: pa.Table) -> None:
        """Note the new columns and classes of a batch: they hold for all that follows until it is refused."""
        target = self.settings.target
        columns = _new_kinds(kinds_in(table.drop_columns([target])), self.records.note("columns", {}))
        classes = sorted(set(classes_of(table[target])) - set(self.records.note("classes", ())))
        if columns or classes:
            self.records.set_note(f"{BATCH_NOTE}{number}", {"columns": columns, "classes": classes})

    def end_batch(self, number: int, *, is_learnt: bool) -> None:
        """Keep the columns and classes of a batch that was learnt, and forget those of one that was refused."""
        name = f"{BATCH_NOTE}{number}"
        if (noted := self.records.note(name)) is None:
            return
        self.records.remove_note(name)
        if is_learnt:
            self.learn_kinds(noted["columns"])
            self.learn_labels(noted["classes"])


def _new_kinds(kinds: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the types of columns that are not known, or had no value before."""
    is_new = {name for name, kind in kinds.items() if name not in known or (known[name] == NOTHING != kind)}
    return {name: kind for name, kind in kinds.items() if name in is_new}


def _kind_of_labels(labels: Iterable[str]) -> str:
    return type(json.loads(min(labels))).__name__


@dataclass(frozen=True)
class RecordsKept:
    """Records were predicted; their labels are pending."""

    ids: Sequence[str]
    table: pa.Table
    active: bool
    now: float
    kind: ClassVar[int] = 1

    def payload(self) -> bytes:
        """Return it as Arrow IPC."""
        return to_bytes(self.table, {"ids": list(self.ids), "active": self.active, "now": self.now})

    @classmethod
    def read(cls, payload: bytes) -> RecordsKept:
        """Return it from its bytes."""
        table, note = from_bytes(payload)
        return cls(note["ids"], table, note["active"], note["now"])

    def apply(self, state: Tables, position: int) -> None:
        """Keep the records."""
        state.learn_kinds(kinds_in(self.table))
        content = to_bytes(self.table, {})
        state.records.add(position, content, self.ids, self.active, self.now, self.now + state.settings.label_wait)


@dataclass(frozen=True)
class LabelsSet:
    """Labels were received, each as JSON text."""

    pairs: Sequence[tuple[str, str]]
    now: float
    kind: ClassVar[int] = 2

    def payload(self) -> bytes:
        """Return it as Arrow IPC."""
        ids, labels = zip(*self.pairs, strict=True)
        return to_bytes(pa.table({"record_id": list(ids), "label": list(labels)}), {"now": self.now})

    @classmethod
    def read(cls, payload: bytes) -> LabelsSet:
        """Return it from its bytes."""
        table, note = from_bytes(payload)
        return cls(list(zip(table["record_id"].to_pylist(), table["label"].to_pylist(), strict=True)), note["now"])

    def apply(self, state: Tables, position: int) -> None:
        """Give the records their labels."""
        state.learn_labels(label for _, label in self.pairs)
        state.records.label(self.pairs, self.now, self.now + state.settings.label_wait)


@dataclass(frozen=True)
class Noted:
    """An event without a table: a record is activated or withdrawn, time passed, settings were changed."""

    what: str
    note: dict[str, Any]
    now: float
    kind: ClassVar[int] = 3

    def payload(self) -> bytes:
        """Return it as Arrow IPC."""
        return to_bytes(without_columns(), {"what": self.what, "note": self.note, "now": self.now})

    @classmethod
    def read(cls, payload: bytes) -> Noted:
        """Return it from its bytes."""
        _, note = from_bytes(payload)
        return cls(note["what"], note["note"], note["now"])

    def apply(self, state: Tables, position: int) -> None:
        """Apply the event to the tables."""
        getattr(self, f"_{self.what}")(state)

    def _activate(self, state: Tables) -> None:
        for one in state.records.find([self.note["id"]]).values():
            state.records.activate(one.number, self.now)

    def _withdraw(self, state: Tables) -> None:
        """Withdraw a record: its values are deleted, its id stays known for a while."""
        for one in state.records.find([self.note["id"]]).values():
            if one.chunk is not None and one.place is not None:
                table, note = from_bytes(state.records.chunk(one.chunk))
                state.records.replace_chunk(one.chunk, to_bytes(without_row(table, one.place), note))
            state.records.release([one], WITHDRAWN, self.now)
            state.records.database.execute("UPDATE records SET label = NULL WHERE number = ?", (one.number,))

    def _time(self, state: Tables) -> None:
        """Expire records without labels, or give them the default label; forget labels without records, and old ids."""
        overdue = state.records.overdue(self.now, EXPIRED_AT_ONCE)
        state.records.remove([one for one in overdue if one.state == EARLY])  # a record of that id may still come
        overdue = [one for one in overdue if one.state != EARLY]
        default = state.settings.default_label
        is_given = [one for one in overdue if default is not None and one.active and one.state == "pending"]
        given = {one.number for one in is_given}
        if is_given:
            label = label_text(default)
            state.learn_labels([label])
            state.records.label([(one.id, label) for one in is_given], self.now, self.now)
        state.records.release([one for one in overdue if one.number not in given], EXPIRED, self.now)
        state.records.forget_old(self.now - state.settings.remember, EXPIRED_AT_ONCE)

    def _settings(self, state: Tables) -> None:
        state.settings = state.settings.changed(self.note)
        state.records.set_note("settings", {**(state.records.note("settings", {})), **self.note})


@dataclass(frozen=True)
class TaskAdded:
    """Something is to be done to the model: a batch learnt, most of the time."""

    task: str
    table: pa.Table
    note: dict[str, Any]
    ids: Sequence[str]
    now: float
    key: tuple[str, str] | None = None
    kind: ClassVar[int] = 4

    def payload(self) -> bytes:
        """Return it as Arrow IPC."""
        about = {"task": self.task, "note": self.note, "ids": list(self.ids), "now": self.now, "key": self.key}
        return to_bytes(self.table, about)

    @classmethod
    def read(cls, payload: bytes) -> TaskAdded:
        """Return it from its bytes."""
        table, note = from_bytes(payload)
        key = None if note["key"] is None else (note["key"][0], note["key"][1])
        return cls(note["task"], table, note["note"], note["ids"], note["now"], key)

    def apply(self, state: Tables, position: int) -> None:
        """Queue the task with its records."""
        number = state.tasks.add(position, self.task, len(self.table), self.now, self.note)
        if self.key is not None:
            state.tasks.set_key(*self.key, number, self.now)
        state.records.database.executemany(
            "UPDATE records SET task = ? WHERE id = ?", [(number, one) for one in self.ids]
        )
        if not self.ids and len(self.table):
            state.add_batch(number, self.table)


def classes_of(column: pa.ChunkedArray) -> list[str]:
    """Return the classes of a column as JSON text."""
    return [json.dumps(one) for one in column.unique().to_pylist()]


EVENTS: dict[int, Any] = {one.kind: one for one in (RecordsKept, LabelsSet, Noted, TaskAdded)}
__all__ = ["EVENTS", "LABELLED", "Event", "LabelsSet", "Noted", "RecordsKept", "Tables", "TaskAdded", "classes_of"]
