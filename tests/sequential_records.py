"""What requests must do, one after the other, in dictionaries: the obvious service, to compare the simulated one with.

Nothing here is shared with the service but the texts of its errors' classes. Where the service ended or failed within a
request, all states that it may be in are kept until its tables tell which of them it is.
"""

import copy
import json
from collections import Counter
from dataclasses import dataclass, field

from adforest.service.record_table import Record, shown_state
from adforest.service.requests import RequestError
from adforest.service.tables import from_bytes

OVER = ("learnt", "refused", "expired", "withdrawn")


class Refused(Exception):  # noqa: N818  (it is an answer)
    """The status of a request that cannot be done."""


@dataclass
class Known:
    """A record."""

    state: str
    value: int | None
    active: bool
    label: str | None
    changed: float
    due: float | None
    task: int | None = None


@dataclass
class Records:
    """All that the service knows, in the order of predictions.

    Attributes
    ----------
    of : dict
        Records by their ids.
    tasks : list
        For each task that was added its kind, and the values and labels of a batch.
    keys : dict
        The task of each key.
    """

    of: dict = field(default_factory=dict)
    tasks: list = field(default_factory=list)
    keys: dict = field(default_factory=dict)

    def settle(self, ended):
        """Take note of the tasks that ended: their records are learnt, or refused."""
        for one in self.of.values():
            if one.state == "labelled" and one.task in ended:
                one.state, one.due = ended[one.task], None

    def do(self, about, now, settings):
        """Do a request, and return its answer."""
        return getattr(self, f"_{about[0]}")(*about[1:], now, settings)

    def _keep(self, ids, values, active, now, settings):
        known = {one: self.of[one] for one in ids if one in self.of and self.of[one].state != "early"}
        if any(one.state == "withdrawn" for one in known.values()):
            raise Refused(409)
        for one, value in zip(ids, values, strict=True):
            if one in known and known[one].state not in OVER and known[one].value != value:
                raise Refused(409)
        for one, value in zip(ids, values, strict=True):
            if one not in known:
                early = self.of.pop(one, None)
                label = early and early.label
                due = None if label and active else now + settings.label_wait
                self.of[one] = Known("labelled" if label else "pending", value, active, label, now, due)

    def _label(self, pairs, revise, now, settings):
        outcomes = []
        for one, label in pairs:
            known = self.of.get(one)
            if known is None or (known.state == "pending" and known.label is None):
                outcomes.append("created")
            elif known.label == label and known.state not in ("expired", "withdrawn"):
                outcomes.append("same")
            elif known.state in ("expired", "withdrawn"):
                raise Refused(410)
            elif known.state in OVER or known.task is not None or not revise:
                raise Refused(409)
            else:
                outcomes.append("revised")
        for (one, label), outcome in zip(pairs, outcomes, strict=True):
            known = self.of.get(one)
            if known is None:
                self.of[one] = Known("early", None, True, label, now, now + settings.label_wait)
            elif outcome != "same":
                known.label, known.changed = label, now
                if known.state != "early":
                    known.state, known.due = "labelled", None if known.active else known.due
        states = ["waiting" if self.of[one].state == "early" else self.of[one].state for one, _ in pairs]
        return {"outcomes": outcomes, "states": states}

    def _withdraw(self, one, now, settings):
        known = self.of.get(one)
        if known is None:
            raise Refused(404)
        if known.state not in OVER and known.task is not None:
            raise Refused(409)
        if known.state != "withdrawn":
            known.state, known.label, known.due = "withdrawn", None, None
        return "withdrawn", None, known.active

    def _activate(self, one, now, settings):
        known = self.of.get(one)
        if known is None or known.state == "early":
            raise Refused(404)
        if known.state in OVER:
            raise Refused(409)
        if not known.active:
            known.active, known.changed = True, now
            known.due = None if known.state == "labelled" else known.due
        return known.state, known.label, True

    def _batch(self, key, rows, now, settings):
        if key not in self.keys:
            self.tasks.append(("batch", rows))
            self.keys[key] = len(self.tasks)
        return self.keys[key]

    def _rollback(self, now, settings):
        self.tasks.append(("rollback", []))
        return len(self.tasks)

    def let_time_pass(self, now, settings):
        """Expire what is overdue."""
        for name, one in list(self.of.items()):
            if one.due is None or one.due > now:
                continue
            if one.state == "early":
                del self.of[name]
            elif settings.default_label is not None and one.active and one.state == "pending":
                one.state, one.label, one.changed = "labelled", json.dumps(settings.default_label), now
                one.due = None
            else:
                one.state, one.due = "expired", None

    def close_batch(self, now, settings, n_tasks, ended):
        """Close a batch, and return whether there was one."""
        ready = [one for one in self.of.values() if one.state == "labelled" and one.active and one.task is None]
        ready = ready[: settings.batch_size]
        has_waited = settings.batch_seconds is not None and ready and (
            now - min(one.changed for one in ready) >= settings.batch_seconds
        )  # fmt: skip
        if (len(ready) < settings.batch_size and not has_waited) or len(self.tasks) - len(ended) >= n_tasks:
            return False
        self.tasks.append(("batch", [(one.value, json.loads(one.label)) for one in ready]))
        for one in ready:
            one.task = len(self.tasks)
        return True


class Expectation:
    """The states that the service may be in.

    Parameters
    ----------
    settings : ModelSettings
    """

    def __init__(self, settings):
        self._settings, self.candidates = settings, [Records()]

    def commit(self, store, abouts, now, ended, answers):
        """Do what was asked; without answers it is not known how much of it was done."""
        found, problems = [], []
        for one in self.candidates:
            state = copy.deepcopy(one)
            state.settle(ended)
            kept = [copy.deepcopy(state)]
            expected = []
            for about in abouts:
                expected.append(self._answer(state, about, now))
                kept.append(copy.deepcopy(state))
            state.let_time_pass(now, self._settings)
            if answers is None:
                found += [*kept, state]
            elif (problem := differing(abouts, expected, answers)) is None:
                found.append(state)
            else:
                problems.append(problem)
        assert found, f"answered wrongly: {problems[0]}"
        self._set(found)
        if answers is not None:
            self.compare(store, ended)

    def close_batches(self, store, now, n_tasks, ended, *, is_done):
        """Close batches; if that failed it is not known how many."""
        found = []
        for one in self.candidates:
            state = copy.deepcopy(one)
            while True:
                if not is_done:
                    found.append(copy.deepcopy(state))
                if not state.close_batch(now, self._settings, n_tasks, ended):
                    break
            found.append(state)
        self._set(found)
        if is_done:
            self.compare(store, ended)

    def compare(self, store, ended):
        """Keep the states that are those of the tables."""
        seen, found, problems, last = shown(store), [], [], store.state.tasks.last(1)
        n_tasks = last[0].number if last else 0
        for one in self.candidates:
            one.settle(ended)
            expected = [(name, *expected_row(known)) for name, known in one.of.items()]
            if expected == seen and len(one.tasks) == n_tasks:
                found.append(one)
            else:
                problems.append(f"the tables hold {seen}, {n_tasks} tasks; expected {expected}, {len(one.tasks)}")
        assert found, problems[0]
        self._set(found)

    def _answer(self, state, about, now):
        try:
            return state.do(about, now, self._settings)
        except Refused as refused:
            return refused

    def _set(self, states):
        self.candidates = []
        for one in states:
            if not any(one == other and list(one.of) == list(other.of) for other in self.candidates):
                self.candidates.append(one)


def expected_row(known):
    """Return a record as `shown` has it."""
    value = None if known.state in (*OVER, "early") else known.value
    return known.state, value, known.active, known.label, known.due, known.task


def shown(store):
    """Return the records of the tables, in the order of predictions."""
    found = []
    for row in store.state.records.database.execute("SELECT * FROM records ORDER BY number"):
        one = Record(*row)
        table = None if one.chunk is None else from_bytes(store.state.records.chunk(one.chunk))[0]
        value = None if table is None else table["v"].to_pylist()[one.place]
        found.append((one.id, one.state, value, bool(one.active), one.label, one.due, one.task))
    assert store.state.records.counts() == Counter(shown_state(one[1]) for one in found)
    return found


def differing(abouts, expected, answers):
    """Return what was asked, expected and answered where that differs."""
    for about, wanted, answer in zip(abouts, expected, answers, strict=True):
        if isinstance(wanted, Refused) or isinstance(answer, RequestError):
            is_same = (
                isinstance(wanted, Refused) and isinstance(answer, RequestError) and wanted.args[0] == answer.status
            )
        elif about[0] in ("withdraw", "activate"):
            label = None if wanted[1] is None else json.loads(wanted[1])
            is_same = (answer["state"], answer["label"], answer["active"]) == (wanted[0], label, wanted[2])
        else:
            is_same = answer == wanted
        if not is_same:
            return f"{about}: expected {wanted!r}, the answer was {answer!r}"
    return None
