"""The calls of ``/v1`` about models themselves: made, looked at, changed, downloaded, removed."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from adforest.service import examples
from adforest.service.api import Api
from adforest.service.bodies import only, parse_json
from adforest.service.learner import kept_versions
from adforest.service.orders import LATEST, challenger_before, parameters_before
from adforest.service.predictions import Counts
from adforest.service.receiving import read_content
from adforest.service.requests import AddTask, ChangeSettings, RequestError
from adforest.service.served_model import ServedModel
from adforest.service.served_models import ServedModels
from adforest.service.settings import checked_parameters, fixed_parameters
from adforest.service.system import RealDisk
from adforest.service.task_table import BATCH, CHALLENGE, DROP_CHALLENGER, PARAMETERS, PROMOTE, ROLLBACK
from adforest.service.trainer import plain


class ModelApi(Api):
    """The calls of /v1 about models."""

    def __init__(self, models: ServedModels, counts: Counts) -> None:
        super().__init__(models, counts)
        self._changing = asyncio.Lock()

    def add_predictions_to(self, app: FastAPI) -> None:
        """Add the calls that a replica has, too."""
        examples.add_routes(app, ("GET", "/v1/models", self.list_models))
        super().add_predictions_to(app)

    def add_to(self, app: FastAPI) -> None:
        """Add the calls to an application."""
        examples.add_routes(
            app,
            ("PUT", "/v1/models/{model}", self.put_model),
            ("GET", "/v1/models/{model}", self.model),
            ("DELETE", "/v1/models/{model}", self.delete_model),
            ("GET", "/v1/models/{model}/versions", self.versions),
            ("POST", "/v1/models/{model}/rollback", self.roll_back),
            ("GET", "/v1/models/{model}/history", self.history),
            ("GET", "/v1/models/{model}/drift", self.drift),
            ("GET", "/v1/models/{model}/model", self.download),
            ("GET", "/v1/models/{model}/challenger", self.challenger),
            ("PUT", "/v1/models/{model}/challenger", self.put_challenger),
            ("DELETE", "/v1/models/{model}/challenger", self.delete_challenger),
            ("POST", "/v1/models/{model}/challenger/promote", self.promote),
        )
        super().add_to(app)

    async def list_models(self) -> Response:
        """Return the names of all models."""
        return JSONResponse({"models": self._models.names()})

    async def put_model(self, model: str, request: Request) -> Response:
        """Make a model, or change the settings and parameters of one that is there."""
        given = parse_json(await read_content(request))
        async with self._changing:
            if model not in self._models.names():
                served = await run_in_threadpool(self._models.make, model, given)
                return JSONResponse(await self._ask(served, lambda: _shown(served)), status_code=201)
        served = self._models.get(model)
        settings = served.store.settings
        if given.get("target", settings.target) != settings.target:
            raise RequestError(409, f"the target of model {model!r} is {settings.target!r}. Make another model.")
        parameters = await self._changed_parameters(served, given.get("parameters", {}))
        changes = {name: value for name, value in given.items() if name not in ("target", "parameters")}
        await asyncio.wrap_future(served.submit(ChangeSettings(changes)))
        if parameters:
            await self._add_task(served, AddTask(PARAMETERS, {"parameters": parameters}), wait=False)
        return JSONResponse(await self._ask(served, lambda: _shown(served)))

    async def model(self, model: str) -> Response:
        """Return settings, parameters, version and counts of a model."""
        served = self._models.get(model)
        return JSONResponse(await self._ask(served, lambda: _shown(served)))

    async def delete_model(self, model: str) -> Response:
        """Remove a model with its versions, its records and its log."""
        async with self._changing:
            await run_in_threadpool(self._models.remove, model)
        return Response(status_code=204)

    async def versions(self, model: str) -> Response:
        """Return the versions of the model that are kept, oldest first, the current one last."""
        served = self._models.get(model)
        now, kept = served.answering, await run_in_threadpool(kept_versions, RealDisk(), served.path)
        current = None if now is None else now.version
        found = [
            {"model_version": version, "batches": batches, "is_current": False}
            for batches, version, _ in kept
            if version != current  # saved twice after a rollback or a promotion
        ]
        if now is not None:
            found.append({"model_version": now.version, "batches": now.model.n_batches_, "is_current": True})
        return JSONResponse({"versions": found})

    async def roll_back(self, model: str, request: Request, wait: bool = True) -> Response:
        """Go back to a version that is kept; batches learnt since are passed over."""
        served = self._models.get(model)
        version = only(parse_json(await read_content(request)), "model_version").get("model_version")
        if type(version) is not int:
            raise RequestError(422, f"'model_version' is {str(version)[:80]!r}; expected the number of a version.")
        if all(one[1] != version for one in kept_versions(RealDisk(), served.path)):
            raise RequestError(404, f"version {version} of model {model!r} is not kept.")
        return await self._add_task(served, AddTask(ROLLBACK, {"version": version}), wait)

    async def history(self, model: str, last: int = 100) -> Response:
        """Return the reports of the last batches, oldest first."""
        return JSONResponse({"batches": await run_in_threadpool(self._reports, model, max(1, min(last, 1_000)))})

    async def drift(self, model: str) -> Response:
        """Return the batches that were called a drift, and whether the last one was."""
        reports = await run_in_threadpool(self._reports, model)
        found = [{"batch": one["batch"], "drift": one["drift"]} for one in reports if one["drift"] != "none"]
        return JSONResponse({"drift": reports[-1]["drift"] if reports else "none", "batches": found})

    async def download(self, model: str, request: Request) -> Response:
        """Return the model as a file; the ETag is its SHA-256, and one that is known already is not sent again."""
        served = self._models.get(model)
        if served.answering is None:
            raise RequestError(409, f"model {model!r} has learnt nothing yet.")
        content = await run_in_threadpool(served.path.read_bytes)
        tag = f'"{(await run_in_threadpool(sha256, content)).hexdigest()}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        named = {"etag": tag, "content-disposition": f'attachment; filename="{served.path.name}"'}
        return Response(content, media_type="application/octet-stream", headers=named)

    async def challenger(self, model: str) -> Response:
        """Compare the challenger with the model."""
        served = self._models.get(model)
        return JSONResponse(await run_in_threadpool(_challenge, served, await self._challenger(served)))

    async def _challenger(self, served: ServedModel) -> dict[str, Any]:
        """Return parameters and first task of the challenger, or raise that there is none."""
        found = await self._ask(served, lambda: challenger_before(served.store, LATEST))
        if found is None:
            raise RequestError(404, f"model {served.name!r} has no challenger.")
        return found

    async def put_challenger(self, model: str, request: Request, wait: bool = True) -> Response:
        """Start a second model with other parameters, which learns all batches from the next one on."""
        served = self._models.get(model)
        given = only(parse_json(await read_content(request)), "parameters").get("parameters", {})
        parameters = checked_parameters(given)
        return await self._add_task(served, AddTask(CHALLENGE, {"parameters": parameters}), wait)

    async def delete_challenger(self, model: str, wait: bool = True) -> Response:
        """Remove the challenger."""
        served = self._models.get(model)
        await self._challenger(served)
        return await self._add_task(served, AddTask(DROP_CHALLENGER, {}), wait)

    async def promote(self, model: str, wait: bool = True) -> Response:
        """Replace the model by the challenger."""
        served = self._models.get(model)
        parameters = (await self._challenger(served))["parameters"]
        return await self._add_task(served, AddTask(PROMOTE, {"parameters": parameters}), wait)

    async def _changed_parameters(self, served: ServedModel, given: Any) -> dict[str, Any]:
        """Return parameters that differ from those of the model, or raise if it has learnt with one of them."""
        wanted = checked_parameters(given)
        now, is_new = await self._ask(served, lambda: (parameters_before(served.store, LATEST), _is_new(served)))
        changed = {name: value for name, value in wanted.items() if name not in now or now[name] != value}
        for name, default in fixed_parameters().items():
            before = now.get(name, default)
            if not is_new and changed.get(name, before) != before:
                raise RequestError(
                    409,
                    f"{name} of model {served.name!r} is {before!r} and cannot be changed once it has learnt. "
                    "Make another model, or a challenger.",
                )
        return changed

    def _reports(self, model: str, last: int = 0) -> list[dict[str, Any]]:
        """Return the last reports of a model, or all."""
        answering = self._models.get(model).answering
        return [] if answering is None else [plain(one.as_row()) for one in answering.model.history_[-last:]]


def _shown(served: ServedModel) -> dict[str, Any]:
    """Return the description of a model; called by the thread that has its store."""
    store, answering = served.store, served.answering
    found = {"name": served.name} | store.settings.shown() | {"parameters": parameters_before(store, LATEST)}
    found["model_version"] = 0 if answering is None else answering.version
    found["learnt_through"] = 0 if answering is None else answering.learnt_through
    found["batches"] = 0 if answering is None else answering.model.n_batches_
    found["classes"] = [] if answering is None else answering.model.classes_.tolist()
    return found | {
        "records": store.state.records.counts(),
        "batches_waiting": store.state.tasks.n_waiting(),
        "log_position": store.log.position,
        "problem": served.problem,
    }


def _is_new(served: ServedModel) -> bool:
    """Return whether a model has learnt nothing, and is not about to."""
    return served.answering is None and not served.store.state.tasks.before(LATEST, BATCH)


def _challenge(served: ServedModel, found: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a challenger, and how it does on the batches that both answered."""
    from adforest.monitor.challenge import challenge_of, challenger_path
    from adforest.origins import origins_of
    from adforest.storage import load

    summary: dict[str, Any] = {
        "parameters": found["parameters"],
        "since": found["since"],
        "batches": 0,
        "verdict": "open",
    }
    path = challenger_path(served.path)
    challenger = load(path) if path.exists() and served.path.exists() else None
    if challenger is None or origins_of(challenger).epoch < found["since"]:  # that of an earlier one
        return summary
    judged = challenge_of(load(served.path), challenger)
    if judged is not None:
        summary |= {"batches": len(judged.batches), "verdict": judged.verdict}
        summary |= {"accuracy": judged.champion, "challenger_accuracy": judged.challenger}
    return summary
