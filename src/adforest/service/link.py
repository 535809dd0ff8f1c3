"""Requests passed on through a UNIX socket: workers predict, the process with the stores does everything else.

    frame | 4 bytes: length of the message | 4 bytes: length of the body | message: JSON | body |

Each message of ASGI is a frame. A request has a connection of its own, so that its end tells that the client is gone.
Requests of workers themselves are single frames; no request from outside can be one, since its type is "http".
"""

from __future__ import annotations

import asyncio
import json
import logging
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from adforest.monitor.access import App, Message, Receive, Send
from adforest.service.gate import answer

Answer = Callable[[dict[str, Any], bytes], Awaitable[dict[str, Any]]]
FRAME = struct.Struct("<II")
TEXTS = ("type", "http_version", "method", "scheme", "path", "root_path", "client", "server")
START, BODY = "http.response.start", "http.response.body"
ENDED = "the process that keeps records has ended; another one is started. Send the request again."
SOON = ((b"retry-after", b"1"),)


class Link:
    """Connection of a worker to its parent; an application that passes requests on.

    Parameters
    ----------
    path : str
        Of the socket.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, message: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
        """Return the parent's response to a message."""
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_unix_connection(self._path)
        frame = None
        try:
            await _write(writer, message, body)
            frame = await _read(reader)
        finally:
            if frame is None:  # also where it was cancelled: the answer to come is nobody's
                writer.close()
        if frame is None:
            raise ConnectionError(ENDED)
        self._idle.append((reader, writer))
        return frame[0]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, and its response back; it is 503 if the parent ends before it has begun."""
        head = {name: scope.get(name) for name in TEXTS}
        head |= {name: scope.get(name, b"").decode("latin-1") for name in ("raw_path", "query_string")}
        head["headers"] = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]]
        try:
            reader, writer = await asyncio.open_unix_connection(self._path)
        except OSError:
            await answer(send, 503, ENDED, SOON)
            return
        passing = asyncio.ensure_future(_pass_body(head, receive, writer))
        is_begun = False
        try:
            while (frame := await _read(reader)) is not None:
                is_begun, (message, body) = True, frame
                await send(message | ({"body": body} if message["type"] == BODY else {"headers": _encoded(message)}))
            if not is_begun:
                await answer(send, 503, ENDED, SOON)
        finally:
            passing.cancel()
            writer.close()


class LinkServer:
    """The parent's end: runs an application for the requests that workers pass on.

    Parameters
    ----------
    app : App
    answer : callable
        Returns the responses to messages that are no requests.
    """

    def __init__(self, app: App, answer: Answer) -> None:
        self._app, self._answer = app, answer

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Process the frames of a connection."""
        with suppress(OSError):
            while (frame := await _read(reader)) is not None:
                if frame[0]["type"] == "http":
                    await self._run(frame[0], reader, writer)
                    writer.write_eof()
                    while await reader.read(1 << 16):  # a socket that is closed with bytes unread drops the answer
                        pass
                    break
                await _write(writer, await self._answer(*frame))
        writer.close()

    async def _run(self, scope: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Run the application for a request."""
        is_whole = is_begun = False

        async def receive() -> Message:
            nonlocal is_whole
            frame = await _read(reader)  # after the whole body nothing comes but the end of the connection
            if frame is None or is_whole:
                return {"type": "http.disconnect"}
            is_whole = not frame[0]["more_body"]
            return frame[0] | {"body": frame[1]}

        async def send(message: Message) -> None:
            nonlocal is_begun
            is_begun, body = True, message.get("body", b"")
            head = {name: value for name, value in message.items() if name != "body"}
            if "headers" in head:
                head["headers"] = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in head["headers"]]
            await _write(writer, head, body)

        scope |= {name: scope[name].encode("latin-1") for name in ("raw_path", "query_string")}
        scope |= {"headers": _encoded(scope), "asgi": {"version": "3.0"}, "extensions": {}}
        try:
            await self._app(scope, receive, send)
        except OSError:
            raise
        except Exception:
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
            if not is_begun:
                await send({"type": START, "status": 500, "headers": [(b"content-type", b"text/plain")]})
                await send({"type": BODY, "body": b"Internal Server Error"})


async def _pass_body(scope: dict[str, Any], receive: Receive, writer: asyncio.StreamWriter) -> None:
    """Send a request as it is received; its connection ends if the client's does."""
    with suppress(OSError):
        await _write(writer, scope)
        while (message := await receive())["type"] == "http.request":
            await _write(
                writer, {"type": "http.request", "more_body": message.get("more_body", False)}, message["body"]
            )
        writer.close()


def _encoded(message: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a message as ASGI has them."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in message["headers"]]


async def _write(writer: asyncio.StreamWriter, message: dict[str, Any], body: bytes = b"") -> None:
    content = json.dumps(message).encode()
    writer.write(FRAME.pack(len(content), len(body)) + content)
    if body:
        writer.write(body)
    await writer.drain()


async def _read(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes] | None:
    """Return the next message and its body, None at the end."""
    try:
        n, n_body = FRAME.unpack(await reader.readexactly(FRAME.size))
        return json.loads(await reader.readexactly(n)), await reader.readexactly(n_body)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
