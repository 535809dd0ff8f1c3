"""A task of the tables as an order for the learner, with all that earlier tasks decided."""

from __future__ import annotations

from typing import Any

from adforest.service.learner import Order
from adforest.service.store import Store
from adforest.service.task_table import CHALLENGE, DROP_CHALLENGER, PARAMETERS, PROMOTE, ROLLBACK, WAITING, Task

LATEST = 2**62  # later than any task


def order_for(task: Task, store: Store) -> Order:
    """Return the order of a task."""
    return Order(
        task.number,
        task.position,
        task.kind,
        task.note,
        parameters_before(store, task.number),
        challenger_before(store, task.number),
        store.settings.keep_versions,
        is_again=task.state == WAITING and task.report is not None,
    )


def parameters_before(store: Store, number: int) -> dict[str, Any]:
    """Return the parameters of the model as they are when a task is done; a rollback brings back those of its time."""
    versions = [(0, dict(store.settings.parameters))]
    for task in store.state.tasks.before(number, PARAMETERS, PROMOTE, ROLLBACK):
        found = versions[-1][1] | task.note.get("parameters", {})
        if task.kind == ROLLBACK:
            found = next(then for version, then in reversed(versions) if version <= task.note["version"])
        versions.append((task.number, found))
    return dict(versions[-1][1])


def has_challenger(store: Store) -> bool:
    """Return whether there is a challenger as the next task finds it: that may be its promotion."""
    task = store.next_task()
    return challenger_before(store, LATEST if task is None else task.number) is not None


def challenger_before(store: Store, number: int) -> dict[str, Any] | None:
    """Return the challenger that there is at a task, None if there is none."""
    tasks = store.state.tasks.before(number, CHALLENGE, DROP_CHALLENGER, PROMOTE)
    if not tasks or tasks[-1].kind != CHALLENGE:
        return None
    return {"since": tasks[-1].number, "parameters": parameters_before(store, number) | tasks[-1].note["parameters"]}
