"""Connections of the service: those of the monitor, but more of them at once, and faster where httptools is there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import uvicorn

from adforest.monitor.connections import FILES_PER_CONNECTION, Bounded

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
else:
    Protocol = object

ACCEPT_PAUSE = 1.0  # seconds after a connection could not be accepted
MAX_HEAD = 1 << 16  # bytes of the head of a request
TOO_LARGE = b'{"error": "the head of the request has more than 64 KB. Shorten it."}'
HEADERS = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(TOO_LARGE)


class PromptServer(uvicorn.Server):
    """A server whose clients must be as fast with a TLS handshake as with the head of a request."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        loop: Any = asyncio.get_running_loop()
        if self.config.is_ssl:  # asyncio would count connections from the end of their handshake on
            loop.create_server = self._listen
        await super().startup(sockets)

    async def _listen(self, make: Callable[[], Any], *, sock: socket.socket, ssl: Any, backlog: int) -> Any:
        sock.listen(backlog)
        protocol: Any = self.config.http_protocol_class
        return Handshakes(make, sock, ssl, self.server_state.connections, protocol.limit)


class Handshakes:
    """A server of asyncio that counts connections from their first byte on, before their TLS handshake is done.

    Parameters
    ----------
    make : callable
        Returns a protocol.
    listener : socket
    context : ssl.SSLContext
    others : set
        Open connections.
    limit : int
        Connections at once; of more, the one ends whose handshake takes longest, or an open one, see `Bounded`.
    """

    def __init__(
        self, make: Callable[[], Any], listener: socket.socket, context: Any, others: Collection[Any], limit: int
    ) -> None:
        self._make, self._context, self._others, self._limit = make, context, others, limit
        self._under_way: dict[asyncio.Task[None], socket.socket] = {}  # oldest first
        self.sockets = (listener,)
        listener.setblocking(False)
        self._task = asyncio.ensure_future(self._accept(listener))

    def close(self) -> None:
        """Listen no more."""
        self._task.cancel()
        for one in self._under_way.values():
            _end(one)

    async def wait_closed(self) -> None:
        """Wait until handshakes that were under way have ended."""
        await asyncio.wait([self._task, *self._under_way])

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:  # such as too many files
                await asyncio.sleep(ACCEPT_PAUSE)
                continue
            if self._under_way and len(self._others) + len(self._under_way) >= self._limit:
                _end(self._under_way.pop(next(iter(self._under_way))))
            task = asyncio.ensure_future(self._shake_hands(connection))
            self._under_way[task] = connection
            task.add_done_callback(lambda done: self._under_way.pop(done, None))

    async def _shake_hands(self, connection: socket.socket) -> None:
        loop, seconds = asyncio.get_running_loop(), Bounded.head_seconds
        with suppress(OSError):  # no TLS, or not in time
            await loop.connect_accepted_socket(self._make, connection, ssl=self._context, ssl_handshake_timeout=seconds)


def _end(connection: socket.socket) -> None:
    """End a connection that a transport of asyncio has: it closes it when it reads that."""
    with suppress(OSError):  # it has ended
        connection.shutdown(socket.SHUT_RDWR)


class HeadError(Exception):
    """The head of a request is too large."""


class BoundedHead(Protocol):
    """Addition to uvicorn's protocol of httptools, which keeps all of a head: one that is too large is 431."""

    _n_head = _n_unparsed = 0  # bytes of the head so far, and of what the parser keeps of a header that is incomplete

    def data_received(self, data: bytes) -> None:
        """Receive some bytes."""
        self._n_unparsed += len(data)
        super().data_received(data)
        if self._n_unparsed > MAX_HEAD and not self.transport.is_closing():
            self._refuse_head()

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._n_head = self._n_unparsed = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, or a trailer."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, which has a limit of its own."""
        self._n_unparsed = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request."""
        if self._n_head > MAX_HEAD:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def _count(self, n_bytes: int) -> None:
        self._n_head, self._n_unparsed = self._n_head + n_bytes, 0
        if self._n_head > MAX_HEAD:
            raise HeadError  # which ends the parser, and calls `send_400_response`

    def _refuse_head(self) -> None:
        self.transport.write(b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + HEADERS + TOO_LARGE)
        self.transport.close()


def limited_protocol(limit: int, n_processes: int = 1) -> type:
    """Return uvicorn's protocol with limits: the fast one where httptools is installed, else that of the monitor.

    Parameters
    ----------
    limit : int
        Connections at once.
    n_processes : int
        Processes that share the limit; a request that one passes on needs a file in the other, too.
    """
    limit = min(limit, _max_files() // FILES_PER_CONNECTION) // n_processes
    kinds: tuple[Any, ...]
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol  # with a limit of its own for heads

        kinds = Bounded, H11Protocol
    else:
        kinds = Bounded, BoundedHead, HttpToolsProtocol
    return type("ServiceProtocol", kinds, {"limit": limit})


def _max_files() -> int:
    """Return how many files this process may open."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 1_024
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if n_files < 0 else n_files
