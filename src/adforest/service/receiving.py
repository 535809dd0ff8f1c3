"""Bodies of requests, with a limit of bytes and of seconds; large ones are read in another thread, so that others
are processed meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from adforest.service.bodies import BodyError

T = TypeVar("T")
INLINE = 1_024  # bytes that are read, or numbers that are computed, at once
MAX_BODY = 64 << 20  # bytes
SECONDS = 60.0  # within which a body must have come


async def read_content(request: Request) -> bytes:
    """Return the body of a request."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise BodyError(415, "the body has a content encoding; expected it as it is.")
    declared = request.headers.get("content-length", "0")
    if declared.isascii() and declared.isdigit() and int(declared) > MAX_BODY:
        raise BodyError(413, f"the body has {int(declared):,} bytes; expected {MAX_BODY:,} at most. Send it in parts.")
    chunks, size = [], 0
    try:
        async with asyncio.timeout(SECONDS):
            async for chunk in request.stream():
                chunks.append(chunk)
                size += len(chunk)
                if size > MAX_BODY:
                    raise BodyError(413, f"the body has more than {MAX_BODY:,} bytes. Send it in parts.")
    except ClientDisconnect:
        raise BodyError(400, "the body did not come whole.") from None
    except TimeoutError:
        raise BodyError(408, f"the body did not come within {SECONDS:g} seconds.") from None
    return b"".join(chunks)


async def computed(size: int, action: Callable[[], T]) -> T:
    """Compute something at once where it is small, else in another thread."""
    return action() if size <= INLINE else await run_in_threadpool(action)
