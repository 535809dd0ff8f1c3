"""The service as a web application: the calls of /v1 and /v2, health, metrics, and error responses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from adforest.monitor.metrics import CONTENT_TYPE, Family, escaped
from adforest.service.log import LogError
from adforest.service.model_api import ModelApi
from adforest.service.open_inference import OpenInference
from adforest.service.predictions import Counts
from adforest.service.receiving import BoundedBodies
from adforest.service.requests import RequestError
from adforest.service.served_model import BusyError
from adforest.service.store import StoreAwayError, StoreFullError

METHODS = ["GET", "PUT", "POST", "DELETE"]
RETRY_SECONDS = "1"
NOT_NOW = (StoreFullError, LogError, sqlite3.OperationalError)
WRONG = (ValueError, TypeError)
TITLE = "adforest"
ABOUT = "Predict now, label later: records are kept by their ids, and learnt once their labels have come."


def make_service(
    models: Any,
    is_ending: Callable[[], bool],
    model_metrics: Callable[[], str] = str,
    *,
    counts: Counts,
    is_replica: bool = False,
) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    models : ServedModels or FollowedModels
    is_ending : callable
        Whether the process is about to end: it is not ready any more.
    model_metrics : callable
        Returns the monitor's metrics of the models for Prometheus.
    counts : Counts
        Counts of requests, shown by ``/metrics``.
    is_replica : bool
        Whether the models are followed ones: there are predictions alone then.
    """
    app = FastAPI(title=TITLE, description=ABOUT, docs_url=None, redoc_url=None)
    api = ModelApi(models, counts)
    health = _Health(models, counts, is_ending, model_metrics)
    app.add_api_route("/healthz", health.live, methods=["GET"], response_class=JSONResponse)
    app.add_api_route("/readyz", health.ready, methods=["GET"], response_class=JSONResponse)
    app.add_api_route("/metrics", health.metrics, methods=["GET"], response_class=PlainTextResponse)
    if is_replica:
        api.add_predictions_to(app)
        app.add_api_route("/v1/{call:path}", _no_such_call, methods=METHODS, include_in_schema=False)
    else:
        api.add_to(app)
    OpenInference(models, counts, is_ending).add_to(app)
    for kind in (RequestError, BusyError, *NOT_NOW, *WRONG):
        app.add_exception_handler(kind, _tell)
    app.add_middleware(BoundedBodies)
    app.add_exception_handler(HTTPException, _tell)
    app.add_exception_handler(RequestValidationError, _tell)
    return app


async def _no_such_call(call: str) -> Response:
    raise RequestError(
        404, f"a replica predicts alone, and has no call '/v1/{call[:80]}' of this method. Ask the service it follows."
    )


class _Health:
    """Liveness, readiness and metrics of the service."""

    def __init__(
        self, models: Any, counts: Counts, is_ending: Callable[[], bool], model_metrics: Callable[[], str]
    ) -> None:
        self._models, self._counts, self._is_ending, self._model_metrics = models, counts, is_ending, model_metrics

    async def live(self) -> Response:
        """Return 200 while the process runs."""
        return JSONResponse({"status": "ok"})

    async def ready(self) -> Response:
        """Return whether the service can process requests, and the reasons if it cannot."""
        problems = self._models.problems | {one.name: one.problem for one in self._models.served() if one.problem}
        if self._is_ending():
            return JSONResponse({"status": "ending"}, status_code=503)
        return JSONResponse({"status": "ready", "problems": problems})

    async def metrics(self) -> Response:
        """Return figures for Prometheus."""
        return Response(await run_in_threadpool(self._metrics), media_type=CONTENT_TYPE)

    def _metrics(self) -> str:
        done = self._counts
        lines = _lines("predictions_total", "counter", "Requests for predictions.", [("", done.predictions)])
        lines += _lines("predicted_records_total", "counter", "Records predicted.", [("", done.records)])
        lines += _lines("labels_total", "counter", "Labels taken.", [("", done.labels)])
        served = self._models.served()
        for family in OF_SERVED:
            rows = [(f'{{model="{escaped(one.name)}"}}', family.value(one) or 0.0) for one in served]
            lines += _lines(family.name, family.kind, family.help, rows)
        return "\n".join(lines) + "\n" + self._model_metrics()


OF_SERVED = (
    Family(
        "model_version", "gauge", "Version of the model.", lambda one: one.answering.version if one.answering else 0
    ),
    Family("requests_waiting", "gauge", "Requests that wait to be written.", lambda one: one.n_waiting),
    Family("commits_total", "counter", "Writes to the log, each with one sync.", lambda one: one.n_commits),
    Family("alerts_waiting", "gauge", "Alerts that are not delivered yet.", lambda one: one.n_alerts_waiting),
    Family("committed_requests_total", "counter", "Requests written by these.", lambda one: one.n_committed),
)


def _lines(name: str, kind: str, words: str, rows: list[tuple[str, float]]) -> list[str]:
    full = f"adforest_service_{name}"
    return [f"# HELP {full} {words}", f"# TYPE {full} {kind}", *(f"{full}{label} {float(n)!r}" for label, n in rows)]


async def _tell(_: Request, error: Exception) -> Response:
    """Return an error as a JSON response."""
    status, words, headers = refusal(error)
    return JSONResponse({"error": words}, status_code=status, headers=headers)


def refusal(error: Exception) -> tuple[int, str, Mapping[str, str] | None]:
    """Return the status, the message and the headers of the response to an error."""
    if isinstance(error, RequestError):
        return error.status, _words(error), None
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail), error.headers
    if isinstance(error, (BusyError, *NOT_NOW)):
        is_away = isinstance(error, StoreAwayError | LogError | sqlite3.OperationalError)
        status = 429 if isinstance(error, BusyError) else 503 if is_away else 507
        return status, _words(error), {"retry-after": RETRY_SECONDS}
    return 422 if isinstance(error, (*WRONG, RequestValidationError)) else 500, _words(error), None


def _words(error: Exception) -> str:
    """Return an error in a line."""
    if isinstance(error, RequestValidationError):
        first: Any = error.errors()[0]
        return f"{first['loc'][-1]} is {str(first.get('input'))[:80]!r}: {first['msg']}."
    return " ".join(str(error).split()).encode("utf-8", "replace").decode() or type(error).__name__
