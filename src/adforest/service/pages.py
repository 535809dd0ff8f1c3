"""The service as the monitor's pages show it: counts of a model's records, and the promotion of its challenger."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from adforest.monitor.pages.service import ServiceStatus
from adforest.service.application import refusal
from adforest.service.model_api import ModelApi
from adforest.service.predictions import Counts
from adforest.service.served_models import SUFFIX

FRESH = 1.0  # seconds for which counts are shown again, so that many pages do not keep the writer busy
TIMES_COUNTING = 50  # and so many times as long as counting took
PATIENCE = 10.0  # seconds that a page waits for a promotion, which comes after the batches before it


class ServicePages:
    """A `Service` of the monitor.

    Parameters
    ----------
    models : ServedModels or FollowedModels
    counts : Counts
    note : callable
        Writes a change to the audit log, given the scope and the status of a request.
    """

    def __init__(self, models: Any, counts: Counts, note: Callable[[Any, int], None]) -> None:
        self._models, self._counts, self._note = models, counts, note
        self._api = ModelApi(models, counts)
        self._known: dict[str, tuple[float, dict[str, int]]] = {}

    async def status(self, name: str) -> ServiceStatus | None:
        """Return what the service does with the model of a file, None if that is not served."""
        stem = name.removesuffix(SUFFIX)
        if not self._models.has(stem):
            return None
        served = self._models.get(stem)
        version = 0 if served.answering is None else served.answering.version
        records, problem = None, served.problem
        if hasattr(served, "store"):  # which replicas lack
            try:
                records = await self._records(served)
            except Exception as error:
                problem = problem or refusal(error)[1]
        return ServiceStatus(version, self._counts.of_models.get(stem, 0), records, problem)

    async def promote(self, name: str, scope: Any) -> tuple[int, str]:
        """Replace the model of a file by its challenger; return the status of the response, and why it is refused."""
        promoting = asyncio.ensure_future(self._promoted(name.removesuffix(SUFFIX)))
        done, _ = await asyncio.wait({promoting}, timeout=PATIENCE)
        status, reason = promoting.result() if done else (202, "")
        self._note(scope, status)
        return status, reason

    async def _promoted(self, model: str) -> tuple[int, str]:
        try:
            answer = await self._api.promote(model)
        except Exception as error:
            status, words, _ = refusal(error)
            return status, words
        report = json.loads(bytes(answer.body)).get("report") or {}
        return answer.status_code, str(report.get("reason", ""))

    async def _records(self, served: Any) -> dict[str, int]:
        """Return how many records are in each state, as they were a moment ago."""
        until, found = self._known.get(served.name, (0.0, {}))
        begin = time.monotonic()
        if begin >= until:
            found = await asyncio.wrap_future(served.call(served.store.state.records.counts))
            end = time.monotonic()
            self._known[served.name] = (end + max(FRESH, TIMES_COUNTING * (end - begin)), found)
        return found
