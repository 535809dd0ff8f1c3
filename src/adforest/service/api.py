"""The calls of ``/v1``: models, predictions, records and their labels, batches, versions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from adforest.service import examples
from adforest.service.bodies import (
    ARROW,
    CSV,
    JSON,
    Body,
    check_id,
    media_type,
    only,
    parse_json,
    read_body,
    record_ids,
)
from adforest.service.predictions import Counts, as_arrow, as_json, check_answer, explained, nothing_known, predict
from adforest.service.receiving import HOLD, MAX_BODY, RELEASE, computed, read_content
from adforest.service.requests import AddTask, ChangeRecord, KeepRecords, RequestError, SetLabels, shown_record
from adforest.service.served_model import MAX_TASKS, BusyError, ServedModel, kinds_of
from adforest.service.served_models import ServedModels
from adforest.service.settings import label_text
from adforest.service.tables import check_finite
from adforest.service.task_table import BATCH

T = TypeVar("T")
MAX_WAIT = 600.0  # seconds for which a request may wait for its batch
MAX_LABELS = 100_000  # in a request


class Api:
    """The calls of /v1 about predictions, labels and batches."""

    def __init__(self, models: ServedModels, counts: Counts) -> None:
        self._models, self._counts = models, counts

    def add_predictions_to(self, app: FastAPI) -> None:
        """Add the call that changes nothing: a replica has no other."""
        examples.add_routes(app, ("POST", "/v1/models/{model}/predict", self.predict))

    def add_to(self, app: FastAPI) -> None:
        """Add the calls to an application."""
        self.add_predictions_to(app)
        examples.add_routes(
            app,
            ("POST", "/v1/models/{model}/labels", self.set_labels),
            # An id may have slashes; what follows it is distinguished by the method.
            ("PUT", "/v1/models/{model}/records/{record_id:path}/label", self.set_label),
            ("POST", "/v1/models/{model}/records/{record_id:path}/activate", self.activate),
            ("GET", "/v1/models/{model}/records/{record_id:path}", self.record),
            ("DELETE", "/v1/models/{model}/records/{record_id:path}", self.withdraw),
            ("POST", "/v1/models/{model}/batches", self.add_batch),
            ("GET", "/v1/models/{model}/batches/{number}", self.batch),
        )

    async def predict(self, model: str, request: Request, explain: bool = False) -> Response:
        """Predict the classes of records; with record_ids the records are kept until they are labelled."""
        served = self._models.get(model)
        is_arrow = media_type(request.headers.get("accept", "")) in ARROW
        if explain and is_arrow:
            raise RequestError(406, "explanations are JSON alone. Leave out explain=true, or do not accept Arrow.")
        content, kind = await read_content(request), request.headers.get("content-type", JSON)
        kinds = await asyncio.wrap_future(served.kinds()) if media_type(kind) == CSV else {}
        asked, hold = request.query_params, request.scope[HOLD]
        text = [asked["record_id"]] if "record_id" in asked else []  # ids such as 007 are no numbers
        table, ids, activate = await computed(
            len(content), lambda: _records_to_predict(read_body(content, kind, kinds, text, hold=hold), asked)
        )
        answering = served.answering
        if answering is None and ids is None:
            raise RequestError(
                409, f"model {model!r} has learnt nothing yet. Send batches, or records with record_ids."
            )
        if answering is None:
            check_finite(table)  # as a model would
            found = None
        else:
            check_answer(answering, len(table), explain=explain, is_arrow=is_arrow)
            found = await computed(16 * len(table), lambda: predict(answering, table))
        if ids is not None:
            await asyncio.wrap_future(served.submit(KeepRecords(ids, table, activate)))
        self._counts.add(model, len(table))
        if answering is None or found is None:
            return JSONResponse(nothing_known(len(table)))
        if is_arrow:
            return Response(await computed(len(table), lambda: as_arrow(found, answering)), media_type=ARROW[0])
        return await computed(
            found.probabilities.size if not explain else MAX_BODY,
            lambda: JSONResponse(
                as_json(found, answering) | ({"explanations": explained(answering, table)} if explain else {})
            ),
        )

    async def set_label(self, model: str, record_id: str, request: Request, revise: bool = False) -> Response:
        """Give a record its label: 201 if it is new, 200 if it was so, 409 if it was another and revise is not true."""
        given = only(parse_json(await read_content(request)), "label", "revise")
        pairs = [_pair({"record_id": record_id, "label": given.get("label")})]
        answer = await self._label(model, pairs, revise or _revise(given))
        return JSONResponse(
            {"state": answer["states"][0], "outcome": answer["outcomes"][0]},
            status_code=201 if answer["outcomes"][0] == "created" else 200,
        )

    async def set_labels(self, model: str, request: Request, revise: bool = False) -> Response:
        """Give many records their labels, all or none."""
        content = await read_content(request)
        pairs, is_revised = await computed(len(content), lambda: _labels(content))
        answer = await self._label(model, pairs, revise or is_revised)
        counts = {name: answer["outcomes"].count(name) for name in ("created", "same", "revised")}
        return JSONResponse(counts)

    async def _label(self, model: str, pairs: list[tuple[str, str]], revise: bool) -> dict[str, Any]:
        served = self._models.get(model)
        answer: dict[str, Any] = await asyncio.wrap_future(served.submit(SetLabels(pairs, revise)))
        self._counts.labels += len(pairs)
        return answer

    async def record(self, model: str, record_id: str) -> Response:
        """Return the state of a record."""
        served = self._models.get(model)
        known = check_id(record_id)
        found = (await self._ask(served, lambda: served.store.state.records.find([known]))).get(known)
        if found is None:
            raise RequestError(404, f"there is no record {record_id[:80]!r}.")
        shown = shown_record(found)
        if found.task is not None:
            task = await self._ask(served, lambda: served.store.state.tasks.get(found.task or 0))
            shown["batch"] = None if task is None else task.batch
        return JSONResponse(shown)

    async def withdraw(self, model: str, record_id: str) -> Response:
        """Forget a record: its values and its label are removed, its id stays known as withdrawn for a while."""
        served = self._models.get(model)
        return JSONResponse(await asyncio.wrap_future(served.submit(ChangeRecord("withdraw", check_id(record_id)))))

    async def activate(self, model: str, record_id: str) -> Response:
        """Allow a record to be learnt that was predicted with activate=false."""
        served = self._models.get(model)
        return JSONResponse(await asyncio.wrap_future(served.submit(ChangeRecord("activate", check_id(record_id)))))

    async def add_batch(self, model: str, request: Request, wait: bool = False) -> Response:
        """Learn a whole labelled batch; returns its report with wait=true, otherwise the URL of its status."""
        served = self._models.get(model)
        return await self._add_task(served, await self._batch_of(served, request), wait, request.scope[RELEASE])

    async def _batch_of(self, served: ServedModel, request: Request) -> AddTask:
        """Return the batch that a request brings."""
        content, kind = await read_content(request), request.headers.get("content-type", JSON)
        notes = await self._ask(served, lambda: _kinds_and_labels(served))
        target, hold = served.store.settings.target, request.scope[HOLD]
        text = [target] if notes[1] == "str" else []
        table, others = await computed(len(content), lambda: read_body(content, kind, notes[0], text, target, hold))
        only(others, besides=("records", "columns"))
        key = request.headers.get("idempotency-key")
        if key is not None:
            check_id(key)
        digest = "" if key is None else await computed(len(content), lambda: _digest(content, kind))
        return AddTask(BATCH, {}, table, key, digest)

    async def _add_task(
        self, served: ServedModel, task: AddTask, wait: bool, release: Callable[[], None] | None = None
    ) -> Response:
        """Add a task to a model's queue."""
        if await self._ask(served, served.store.state.tasks.n_waiting) >= MAX_TASKS:
            raise BusyError(f"{MAX_TASKS:,} batches wait to be learnt")
        number: int = await asyncio.wrap_future(served.submit(task))
        where = f"/v1/models/{served.name}/batches/{number}"
        del task  # its table is in the log, however long this waits
        if release is not None:
            release()
        found = await served.wait_for(number, MAX_WAIT if wait else 0.0)
        shown = {} if found is None else found.shown()
        status = 202 if found is None or found.state == "waiting" else 200 if found.state == "learnt" else 422
        if status == 422 and not wait:
            status = 202
        return JSONResponse(shown | {"status": where}, status_code=status, headers={"location": where})

    async def batch(self, model: str, number: int) -> Response:
        """Return the status of a batch."""
        served = self._models.get(model)
        found = await self._ask(served, lambda: served.store.state.tasks.get(max(0, min(number, 2**62))))
        if found is None:
            raise RequestError(404, f"there is no batch {number}.")
        return JSONResponse(found.shown())

    @staticmethod
    async def _ask(served: ServedModel, action: Callable[[], T]) -> T:
        """Look something up in the store."""
        return await asyncio.wrap_future(served.call(action))


def _records_to_predict(body: Body, asked: Mapping[str, str]) -> tuple[Any, list[str] | None, bool]:
    """Return the records of a body, their ids if they are to be kept, and whether they may be learnt then."""
    table, others = body
    only(others, "record_ids", "activate", besides=("records", "columns"))
    given = others.get("record_ids")
    if (column := asked.get("record_id")) is not None:
        if column not in table.column_names:
            raise RequestError(422, f"there is no column {column[:80]!r}; expected one that holds the record ids.")
        given = table[column].to_pylist()
        table = table.drop_columns([column])
    ids = None if given is None else record_ids(given, len(table))
    activate = others.get("activate", asked.get("activate", "true") != "false")
    if type(activate) is not bool:
        raise RequestError(422, f"'activate' is {str(activate)[:80]!r}; expected true or false.")
    if not len(table):
        raise RequestError(422, "there are no records.")
    return table, ids, activate


def _pair(given: Any) -> tuple[str, str]:
    """Return a record id and its label as JSON text."""
    if type(given) is not dict or set(given) != {"record_id", "label"}:
        raise RequestError(422, 'a label is no {"record_id": ..., "label": ...}.')
    return check_id(given["record_id"]), label_text(given["label"])


def _labels(content: bytes) -> tuple[list[tuple[str, str]], bool]:
    """Return the record ids and labels of a body, and whether labels may be replaced."""
    given = only(parse_json(content), "labels", "revise")
    listed = given.get("labels")
    if type(listed) is dict:
        listed = [{"record_id": one, "label": label} for one, label in listed.items()]
    if type(listed) is not list or not 0 < len(listed) <= MAX_LABELS:
        raise RequestError(422, f"'labels' is no object of labels by record_id, 1 to {MAX_LABELS:,} of them.")
    return [_pair(one) for one in listed], _revise(given)


def _revise(given: dict[str, Any]) -> bool:
    revise = given.get("revise", False)
    if type(revise) is not bool:
        raise RequestError(422, f"'revise' is {str(revise)[:80]!r}; expected true or false.")
    return revise


def _digest(content: bytes, kind: str) -> str:
    """Return the digest of a body as it was sent."""
    digest = blake2b(media_type(kind).encode() + b"\0", digest_size=16)
    digest.update(content)
    return digest.hexdigest()


def _kinds_and_labels(served: ServedModel) -> tuple[dict[str, str], str | None]:
    state = served.store.state
    return kinds_of(served.answering) | state.known_kinds(), state.label_kind()
