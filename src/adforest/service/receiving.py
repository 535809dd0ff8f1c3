"""Bodies of requests, with a limit of bytes and of seconds; large ones are read in another thread, so that others
are processed meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from adforest.monitor.access import App, Message, Receive, Send
from adforest.service.requests import RequestError
from adforest.service.served_model import BusyError

T = TypeVar("T")
INLINE = 1_024  # bytes that are read, or numbers that are computed, at once
MAX_BODY = 64 << 20  # bytes
MAX_BODY_BYTES = 512 << 20  # bytes of bodies of all requests under way, and of the tables in them that are larger
HOLD = "adforest.hold"  # in the scope of a request: counts bytes that it takes besides its body
RELEASE = "adforest.release"  # in the scope of a request: counts its body no longer
SECONDS = 60.0  # within which a body must have come


class BoundedBodies:
    """An application that limits the bytes of bodies of all requests under way; requests beyond that get status 429.

    Parameters
    ----------
    app : App

    Attributes
    ----------
    n_bytes : int
        Bytes of bodies of the requests under way, and of their tables.
    """

    def __init__(self, app: App) -> None:
        self._app, self.n_bytes = app, 0
        self._lock = Lock()  # tables are made by other threads

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        n = 0

        def hold(size: int) -> None:
            nonlocal n
            with self._lock:
                n, self.n_bytes = n + size, self.n_bytes + size
                is_full = self.n_bytes > MAX_BODY_BYTES
            if is_full:
                raise BusyError(f"bodies of {MAX_BODY_BYTES:,} bytes are being read")

        async def receive_counted() -> Message:
            message = await receive()
            hold(len(message.get("body", b"")))
            return message

        def release() -> None:
            nonlocal n
            with self._lock:
                n, self.n_bytes = 0, self.n_bytes - n

        try:
            await self._app({**scope, HOLD: hold, RELEASE: release}, receive_counted, send)
        finally:
            release()


async def read_content(request: Request) -> bytes:
    """Return the body of a request."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise RequestError(415, "the body has a content encoding; expected it as it is.")
    declared = request.headers.get("content-length", "0")
    if declared.isascii() and declared.isdigit() and int(declared) > MAX_BODY:
        raise RequestError(
            413, f"the body has {int(declared):,} bytes; expected {MAX_BODY:,} at most. Send it in parts."
        )
    chunks, size = [], 0
    try:
        async with asyncio.timeout(SECONDS):
            async for chunk in request.stream():
                chunks.append(chunk)
                size += len(chunk)
                if size > MAX_BODY:
                    raise RequestError(413, f"the body has more than {MAX_BODY:,} bytes. Send it in parts.")
    except ClientDisconnect:
        raise RequestError(400, "the body did not come whole.") from None
    except TimeoutError:
        raise RequestError(408, f"the body did not come within {SECONDS:g} seconds.") from None
    return b"".join(chunks)


async def computed(size: int, action: Callable[[], T]) -> T:
    """Compute something at once where it is small, else in another thread."""
    return action() if size <= INLINE else await run_in_threadpool(action)
