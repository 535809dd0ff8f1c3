"""The monitor as a web application: pages and events; nothing in it changes a model but the service's promotion."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, StreamingResponse
from starlette.exceptions import HTTPException as HTTPError
from starlette.requests import ClientDisconnect

from adforest.monitor.access import name_of
from adforest.monitor.metrics import CONTENT_TYPE, figures_of, metrics_text, read_status
from adforest.monitor.model_files import LoadedModel, ModelFiles
from adforest.monitor.pages.frame import asset, root_from
from adforest.monitor.pages.index import ModelSummary, address_of, error_page, index_page
from adforest.monitor.pages.page import SPANS, Asked, model_page, report_page
from adforest.monitor.pages.service import Service, ServiceStatus, service_part
from adforest.monitor.pages.tree_figure import TreeChoice
from adforest.monitor.summaries import Summaries
from adforest.storage import ModelFileError

POLL, PING = 0.5, 15.0  # seconds between two looks at a file, and between two signs of life
PATIENCE = 0.5  # seconds for which the page of a folder waits until all models are read
SCRAPING = 8.0  # the same for /metrics; Prometheus waits 10
TYPING = 30.0  # seconds within which a sample that is typed in must have come
MOST_TYPED = 1_000_000  # bytes of a sample that is typed in
LOOKING = ["GET", "HEAD"]
ASSETS = {"page.css": "text/css", "page.js": "text/javascript"}


def make_pages(files: ModelFiles, is_ending: Callable[[], bool], service: Service | None = None) -> FastAPI:
    """Return the pages as a web application, which checks no access: see `adforest.monitor.access.Guard`.

    Parameters
    ----------
    files : ModelFiles
    is_ending : callable
        Whether the server is about to end, so that streams of events end too.
    service : Service, optional
        That has the models.
    """
    monitor = _Monitor(files, is_ending, service)
    app = FastAPI(title="adforest monitor", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_api_route("/", monitor.start, methods=LOOKING, response_class=HTMLResponse)
    app.add_api_route("/metrics", monitor.metrics, methods=LOOKING, response_class=PlainTextResponse)
    app.add_api_route("/events", monitor.all_events, response_class=StreamingResponse)
    app.add_api_route("/static/{name}", monitor.static, methods=LOOKING, response_class=Response)
    app.add_api_route("/models/{name}", monitor.model, methods=[*LOOKING, "POST"], response_class=HTMLResponse)
    app.add_api_route("/models/{name}/events", monitor.events, response_class=StreamingResponse)
    app.add_api_route("/models/{name}/report.html", monitor.report, methods=LOOKING, response_class=HTMLResponse)
    if service is not None:
        app.add_api_route("/models/{name}/service", monitor.service, methods=LOOKING, response_class=HTMLResponse)
        app.add_api_route("/models/{name}/promote", monitor.promote, methods=["POST"], response_class=Response)
    app.add_exception_handler(HTTPError, _say_what_is_wrong)
    return app


def model_metrics(files: ModelFiles, summaries: Summaries) -> str:
    """Return figures of all models for Prometheus, as far as they can be read in time."""
    _, rows = summaries.now(SCRAPING)
    known = [
        (name, one.figures if isinstance(one, ModelSummary) else figures_of(None))
        for name, one in rows
        if one is not None
    ]
    return metrics_text({name: (figures, read_status(files.folder / name)) for name, figures in known})


class _Monitor:
    """Handlers of the routes."""

    def __init__(self, files: ModelFiles, is_ending: Callable[[], bool], service: Service | None) -> None:
        self._files, self._is_ending, self._service = files, is_ending, service
        self._summaries = Summaries(files)

    async def start(self) -> Response:
        """Show all models of a folder, or go to the only one."""
        if not self._files.is_folder:
            return RedirectResponse(address_of("./", self._files.path.name), status_code=307)
        return HTMLResponse(await run_in_threadpool(self._index))

    async def model(self, name: str, request: Request) -> Response:
        """Show a model, with the prediction for the input if there is one."""
        typed = await _typed(request) if request.method == "POST" else None
        asked = _asked(request.query_params, typed)
        status = None if self._service is None else await self._service.status(name)
        return HTMLResponse(await run_in_threadpool(self._page, name, asked, status))

    async def service(self, name: str) -> Response:
        """Return the section about a served model alone."""
        status = None if self._service is None else await self._service.status(name)
        if status is None:
            raise HTTPException(404, f"there is no served model {name!r} here")
        return HTMLResponse(service_part(status))

    async def promote(self, name: str, request: Request) -> Response:
        """Replace a model by its challenger, and show it again."""
        if not _is_of_own_page(request):
            raise HTTPException(403, "requests of pages from elsewhere are not answered")
        assert self._service is not None
        status, reason = await self._service.promote(name, request.scope)
        if status >= 400:
            raise HTTPException(status, reason)
        return RedirectResponse(address_of("../../", name), status_code=303)

    async def report(self, name: str) -> Response:
        """Return the report of a model, to be kept."""
        loaded = await run_in_threadpool(self._load, name)
        return HTMLResponse(await run_in_threadpool(report_page, loaded.name, loaded.model, loaded.view))

    async def events(self, name: str) -> Response:
        """Send the version of a file whenever it changes."""
        if name not in self._files.versions():
            raise HTTPException(404, f"there is no model {name!r} here")
        return self._changes(lambda: self._files.version_with_challenger(name))

    async def all_events(self) -> Response:
        """Send the version of all files whenever one changes."""
        return self._changes(lambda: self._version_of(self._files.versions()))

    async def metrics(self) -> Response:
        """Return figures of all models for Prometheus."""
        text = await run_in_threadpool(model_metrics, self._files, self._summaries)
        return Response(text, media_type=CONTENT_TYPE)

    async def static(self, name: str) -> Response:
        """Return the style sheet or the script."""
        if name not in ASSETS:
            raise HTTPException(404, f"there is no file {name!r} here")
        return PlainTextResponse(asset(name), media_type=ASSETS[name], headers={"cache-control": "no-cache"})

    def _changes(self, version: Callable[[], str]) -> Response:
        """Return a stream of events: the version at once and whenever it changes, and a comment in between."""

        async def events() -> AsyncIterator[str]:
            sent, spoken = None, 0.0
            while not self._is_ending():
                now = await run_in_threadpool(version)
                if now != sent:
                    sent, spoken = now, time.monotonic()
                    yield f"event: version\ndata: {now}\n\n"
                elif time.monotonic() - spoken > PING:
                    spoken = time.monotonic()
                    yield ": still here\n\n"
                await asyncio.sleep(POLL)

        return StreamingResponse(events(), media_type="text/event-stream")

    def _load(self, name: str) -> LoadedModel:
        """Return a model, or the response that there is none."""
        try:
            return self._files.load(name)
        except KeyError:
            raise HTTPException(404, f"there is no model {name!r} here") from None
        except ModelFileError as error:
            raise HTTPException(503, str(error)) from None

    def _page(self, name: str, asked: Asked, status: ServiceStatus | None) -> str:
        loaded, challenger = self._load(name), self._files.challenger(name)
        return model_page(loaded, asked, has_index=self._files.is_folder, challenger=challenger, status=status)

    def _index(self) -> str:
        """Return the page of a folder; models that are not read yet are added later."""
        versions, rows = self._summaries.now(PATIENCE)
        return index_page(self._files.path.resolve().name, rows, version=self._version_of(versions))

    def _version_of(self, versions: Mapping[str, str]) -> str:
        """Return a stamp that changes with any file, and as summaries are read."""
        text = repr((sorted(versions.items()), self._summaries.n_known))
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


async def _say_what_is_wrong(request: Request, error: Exception) -> Response:
    """Return a page with an error in one sentence."""
    assert isinstance(error, HTTPError)
    page = error_page(str(error.detail), root_from(request.scope["path"]))
    return HTMLResponse(page, status_code=error.status_code, headers=error.headers)


def _is_of_own_page(request: Request) -> bool:
    """Return whether no page from elsewhere sent a request; forms of our pages, without a referrer, have no origin."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:  # which no page can set
        return site == "same-origin"
    return origin is None or name_of(origin.partition("://")[2]) == name_of(request.headers.get("host", ""))


async def _typed(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent."""
    content = b""
    try:
        async with asyncio.timeout(TYPING):
            async for chunk in request.stream():
                content += chunk
                if len(content) > MOST_TYPED:
                    raise HTTPException(413, f"the sample is larger than {MOST_TYPED:,} bytes")
    except ClientDisconnect:
        raise HTTPException(400, "the sample did not come whole") from None
    except TimeoutError:
        raise HTTPException(408, f"the sample did not come within {TYPING:g} seconds") from None
    return dict(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))


def _asked(query: Mapping[str, str], typed: dict[str, str] | None) -> Asked:
    """Return the choices in a request; invalid ones are ignored."""
    span = _whole(query, "last")
    tree: dict[str, Any] = {name: _whole(query, name) for name in ("tree", "node", "depth")}
    chosen = TreeChoice(query.get("forest", ""), **{name: value for name, value in tree.items() if value is not None})
    return Asked(span if span in SPANS else None, _whole(query, "before"), chosen, typed)


def _whole(query: Mapping[str, str], name: str) -> int | None:
    """Return an integer of the query, None if it is none."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None
