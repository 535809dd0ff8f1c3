"""A client of `adforest serve` with the methods of an estimator: `predict`, `label`, `partial_fit`."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from adforest.exceptions import InputError
from adforest.libraries import require

ARROW = "application/vnd.apache.arrow.stream"
AGAIN = (408, 429, 502, 503, 504, 507)  # what is answered, also by a proxy, to a request that may be sent again
ARROW_BOTH = {"content-type": ARROW, "accept": ARROW}
MAX_PAUSE = 3.0  # seconds between two attempts
MAX_RETRY_AFTER = 60.0  # seconds of a Retry-After that are waited for


class ServiceError(Exception):
    """The service refused a request, or could not be reached.

    Attributes
    ----------
    status : int or None
        HTTP status; None without a response.
    """

    def __init__(self, status: int | None, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Asked(NamedTuple):
    """A request that may be sent more than once: its effect happens once."""

    method: str
    path: str
    more: dict[str, Any]


class _Requests:
    """Requests and responses of both clients; the model's name is part of every path."""

    _kind: str  # of client, in httpx

    def __init__(
        self, url: str, model: str, *, token: str | None = None, timeout: float = 60.0, retries: int = 8
    ) -> None:
        self.url, self.model, self._retries = url.rstrip("/"), model, retries
        httpx = require("httpx", self._kind, "client")
        self._errors = httpx.TransportError
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._http = getattr(httpx, self._kind)(base_url=self.url, headers=headers, timeout=timeout)
        self.model_version_: int | None = None
        self.learnt_through_: int | None = None

    def _create(self, target: str, parameters: Mapping[str, Any] | None, settings: Mapping[str, Any]) -> _Asked:
        given = {"target": target, "parameters": dict(parameters or {}), **settings}
        return _Asked("PUT", f"/v1/models/{self.model}", {"json": given})

    def _info(self) -> _Asked:
        return _Asked("GET", f"/v1/models/{self.model}", {})

    def _predict(self, X: Any, record_ids: Sequence[str] | None, activate: bool) -> _Asked:
        table, query = as_table(X), ""
        if record_ids is not None:
            import pyarrow as pa

            table = table.append_column("record_id", pa.array([str(one) for one in record_ids]))
            query = f"?record_id=record_id&activate={'true' if activate else 'false'}"
        return _Asked(
            "POST", f"/v1/models/{self.model}/predict{query}", {"content": as_stream(table), "headers": ARROW_BOTH}
        )

    def _label(self, record_ids: Sequence[str], y: Any, revise: bool) -> _Asked:
        labels = [value.item() if isinstance(value, np.generic) else value for value in y]
        ids = [str(one) for one in record_ids]
        if isinstance(record_ids, str) or len(ids) != len(labels):
            given = "text" if isinstance(record_ids, str) else f"{len(ids):,} ids"
            raise InputError(
                f"record_ids are {given}, and y has {len(labels):,} labels; expected a list with one id for each label."
            )
        listed = [{"record_id": one, "label": label} for one, label in zip(ids, labels, strict=True)]
        return _Asked("POST", f"/v1/models/{self.model}/labels", {"json": {"labels": listed, "revise": revise}})

    def _batch(self, X: Any, y: Any, target: str, key: str | None, wait: bool) -> _Asked:
        import pyarrow as pa

        table = as_table(X).append_column(target, pa.array(np.asarray(y).tolist()))
        head = {"content-type": ARROW, "idempotency-key": key or uuid.uuid4().hex}
        path = f"/v1/models/{self.model}/batches?wait={'true' if wait else 'false'}"
        return _Asked("POST", path, {"content": as_stream(table), "headers": head})

    def _answered(self, answer: Any) -> tuple[list[Any], Any, list[str]]:
        """Return predictions, probabilities and classes of a response, and store its version."""
        import pyarrow as pa

        if not answer.headers["content-type"].startswith(ARROW):
            found = answer.json()
            self.model_version_, self.learnt_through_ = found["model_version"], found["learnt_through"]
            return found["predictions"], None, []
        with pa.ipc.open_stream(answer.content) as reader:
            table = reader.read_all()
        about = table.schema.metadata
        self.model_version_ = int(about[b"model_version"])
        self.learnt_through_ = int(about[b"learnt_through"])
        names = [name for name in table.column_names if name.startswith("probability_")]
        proba = np.column_stack([table[name].to_numpy() for name in names])
        return table["prediction"].to_pylist(), proba, [name.removeprefix("probability_") for name in names]

    def _pause(self, attempt: int, answer: Any, problem: Exception | None) -> float | None:
        """Return the seconds until a request is sent again, None if it is not; raise without a response."""
        if attempt >= self._retries:
            if answer is None:
                raise ServiceError(None, f"{self.url} cannot be reached ({str(problem) or type(problem).__name__})")
            return None
        growing = float(min(0.1 * 2**attempt, MAX_PAUSE))
        if answer is None:
            return growing * random.uniform(0.5, 1.0)
        if answer.status_code not in AGAIN:
            return None
        after = str(answer.headers.get("retry-after", ""))
        if after.isascii() and after.isdigit():  # not earlier than asked, and not all clients at once
            return min(float(after), MAX_RETRY_AFTER) * random.uniform(1.0, 1.5)
        return growing * random.uniform(0.5, 1.0)

    @staticmethod
    def _checked(answer: Any) -> Any:
        """Return the body of a response, or raise its error."""
        if answer.status_code < 400:
            return answer
        try:
            found = answer.json()
            message = found.get("error") or found.get("report", {}).get("reason") or answer.text
        except ValueError:
            message = answer.text
        raise ServiceError(answer.status_code, message)


class Client(_Requests):
    """A model that `adforest serve` runs.

    Requests are sent again if there is no response, or if the service or a proxy is busy; a Retry-After is waited for,
    up to a minute. The effect happens once: records are identified by their ids, batches by a key.

    Parameters
    ----------
    url : str
        URL of the service, such as "http://127.0.0.1:8322".
    model : str
        Name of the model at the service.
    token : str, optional
        The bearer token, if the service requires one.
    timeout : float, default=60.0
        Seconds to wait for a response.
    retries : int, default=8
        How often a request is sent again.

    Attributes
    ----------
    model_version_, learnt_through_ : int or None
        Of the last response: the version of the model, and the position of the log through which it has learnt.

    Examples
    --------
    >>> from adforest import Client
    >>> with Client("http://127.0.0.1:8322", "rents") as rents:  # doctest: +SKIP
    ...     labels = rents.predict([{"area": 70.0, "rooms": 3}], record_ids=["a1"])
    ...     rents.label(["a1"], ["mid"])
    """

    _kind = "Client"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def create(self, target: str, parameters: Mapping[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        """Create the model at the service, or change its settings, and return its description."""
        return self._json(self._create(target, parameters, settings))

    def info(self) -> dict[str, Any]:
        """Return settings, version and counts of the model."""
        return self._json(self._info())

    def predict(self, X: Any, record_ids: Sequence[str] | None = None, *, activate: bool = True) -> Any:
        """Return the most likely class of each record.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts or array-like of shape (n_samples, n_features)
        record_ids : sequence of str, optional
            Ids by which labels can be sent later; the records are kept for them.
        activate : bool, default=True
            Whether the records may be learnt without being activated first.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(self._answered(self._send(self._predict(X, record_ids, activate)))[0])

    def predict_proba(self, X: Any, record_ids: Sequence[str] | None = None) -> Any:
        """Return the probability of each class, in their sorted order.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts or array-like of shape (n_samples, n_features)
        record_ids : sequence of str, optional

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._answered(self._send(self._predict(X, record_ids, True)))[1]

    def label(self, record_ids: Sequence[str], y: Any, *, revise: bool = False) -> dict[str, int]:
        """Send the classes of records that were predicted; all are taken, or none.

        Parameters
        ----------
        record_ids : sequence of str
        y : array-like
        revise : bool, default=False
            Whether labels that were sent before may be replaced.

        Returns
        -------
        dict
            How many were created, the same, and revised.
        """
        return self._json(self._label(record_ids, y, revise))

    def partial_fit(self, X: Any, y: Any, *, key: str | None = None, wait: bool = True) -> dict[str, Any]:
        """Send a whole labelled batch; it is learnt once, however often it is sent.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        key : str, optional
            Identifies the batch; a new one by default.
        wait : bool, default=True
            Whether to wait until it is learnt.

        Returns
        -------
        dict
            Status of the batch, with its report.
        """
        return self._json(self._batch(X, y, self.info()["target"], key, wait))

    def _json(self, asked: _Asked) -> dict[str, Any]:
        found: dict[str, Any] = self._send(asked).json()
        return found

    def _send(self, asked: _Asked) -> Any:
        """Send a request until there is an answer."""
        for attempt in count():
            answer, problem = None, None
            try:
                answer = self._http.request(asked.method, asked.path, **asked.more)
            except self._errors as error:
                problem = error
            pause = self._pause(attempt, answer, problem)
            if pause is None:
                break
            time.sleep(pause)
        return self._checked(answer)


class AsyncClient(_Requests):
    """As `Client`, for programs that await: its methods are coroutines.

    Parameters
    ----------
    url, model : str
    token : str, optional
    timeout : float, default=60.0
    retries : int, default=8

    Examples
    --------
    >>> from adforest import AsyncClient
    >>> async def ask():
    ...     async with AsyncClient("http://127.0.0.1:8322", "rents") as rents:
    ...         return await rents.predict([{"area": 70.0, "rooms": 3}])
    """

    _kind = "AsyncClient"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def create(self, target: str, parameters: Mapping[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        """Make the model at the service, or change its settings, see `Client.create`."""
        return await self._json(self._create(target, parameters, settings))

    async def info(self) -> dict[str, Any]:
        """Return settings, version and counts of the model."""
        return await self._json(self._info())

    async def predict(self, X: Any, record_ids: Sequence[str] | None = None, *, activate: bool = True) -> Any:
        """Return the most likely class of each record, see `Client.predict`."""
        return np.asarray(self._answered(await self._send(self._predict(X, record_ids, activate)))[0])

    async def predict_proba(self, X: Any, record_ids: Sequence[str] | None = None) -> Any:
        """Return the probability of each class, see `Client.predict_proba`."""
        return self._answered(await self._send(self._predict(X, record_ids, True)))[1]

    async def label(self, record_ids: Sequence[str], y: Any, *, revise: bool = False) -> dict[str, int]:
        """Send the classes of records that were predicted, see `Client.label`."""
        return await self._json(self._label(record_ids, y, revise))

    async def partial_fit(self, X: Any, y: Any, *, key: str | None = None, wait: bool = True) -> dict[str, Any]:
        """Send a whole labelled batch, see `Client.partial_fit`."""
        return await self._json(self._batch(X, y, (await self.info())["target"], key, wait))

    async def _json(self, asked: _Asked) -> dict[str, Any]:
        found: dict[str, Any] = (await self._send(asked)).json()
        return found

    async def _send(self, asked: _Asked) -> Any:
        """Send a request until there is an answer."""
        for attempt in count():
            answer, problem = None, None
            try:
                answer = await self._http.request(asked.method, asked.path, **asked.more)
            except self._errors as error:
                problem = error
            pause = self._pause(attempt, answer, problem)
            if pause is None:
                break
            await asyncio.sleep(pause)
        return self._checked(answer)


def as_table(X: Any) -> Any:
    """Return records as an Arrow table; columns of arrays are called x0, x1 and so on."""
    pa = require("pyarrow", "Client", "client")
    if isinstance(X, pa.Table):
        return X
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        return pa.Table.from_pylist([dict(one) for one in X])
    if hasattr(X, "__arrow_c_stream__"):
        table = pa.table(X)
        index = [name for name in table.column_names if name.startswith("__index_level_")]
        return table.drop_columns(index)
    values = np.atleast_2d(np.asarray(X))
    return pa.table({f"x{index}": values[:, index] for index in range(values.shape[1])})


def as_stream(table: Any) -> bytes:
    """Return an Arrow table as the bytes of a stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
