"""Connections of the service: those of the monitor, but more of them at once, and faster where httptools is there."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from adforest.monitor.connections import FILES_PER_CONNECTION, Bounded

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
else:
    Protocol = object

MAX_HEAD = 1 << 16  # bytes of the head of a request
TOO_LARGE = b'{"error": "the head of the request has more than 64 KB. Shorten it."}'
HEADERS = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(TOO_LARGE)


class PromptServer(uvicorn.Server):
    """A server whose clients must be as fast with a TLS handshake as with the head of a request."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        loop: Any = asyncio.get_running_loop()
        if self.config.is_ssl:  # uvicorn has no option for it
            loop.create_server = partial(loop.create_server, ssl_handshake_timeout=Bounded.head_seconds)
        await super().startup(sockets)


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
