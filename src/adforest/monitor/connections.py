"""Limits on connections of the monitor: how many at once, and how long a request or a response may take."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    Protocol = H11Protocol
else:
    Protocol = object

MAX_CONNECTIONS = 256
FILES_PER_CONNECTION = 2  # one in so many of the files that this process may open may be a connection
BACKLOG = 32  # connections that are taken at once, before those that are too many are ended
HEAD_SECONDS = 10.0  # until the head of a request must have come
SEND_SECONDS, MIN_READ = 60.0, 1 << 16  # within so many seconds a client must read so many bytes, or all


def max_connections() -> int:
    """Return how many connections there may be at once, so that files can be read meanwhile."""
    try:
        import resource
    except ImportError:  # not on Windows
        return MAX_CONNECTIONS
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if n_files < 0 else max(8, min(MAX_CONNECTIONS, n_files // FILES_PER_CONNECTION))


class Bounded(Protocol):
    """Addition to uvicorn's protocols that ends connections that are too many or idle.

    Attributes
    ----------
    limit : int
        Connections at once; of more, the one ends that has been without a request for longest.
    head_seconds : float
        Within which the head of a request must be received.
    send_seconds : float
        Within which a client must read on.
    """

    limit = MAX_CONNECTIONS
    head_seconds = HEAD_SECONDS
    send_seconds = SEND_SECONDS
    _timer: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None
    _unsent = 0

    def connection_made(self, transport: Any) -> None:
        """Take a connection; where there are too many, the one ends that has been without a request for longest."""
        super().connection_made(transport)
        if len(self.connections) > self.limit:
            waiting = [one for one in self.connections if isinstance(one, Bounded) and one._timer is not None]
            oldest = min(waiting, key=lambda one: one._timer.when() if one._timer else 0.0, default=self)
            oldest._stop_waiting()
            oldest.transport.abort()
            if oldest is self:
                return
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Receive some bytes; the head of a request must be complete in time, and the response be read."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
            return
        self._stop_waiting()
        self._unsent = 0
        if self._sending is None:
            self._sending = self.loop.call_later(self.send_seconds, self._look_at_sending)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        if self._sending is not None:
            self._sending.cancel()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(self.head_seconds, self._end)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()

    def _look_at_sending(self) -> None:
        """End the connection if its client has hardly read since the last look; look again until all is sent."""
        before, self._unsent, self._sending = self._unsent, self.transport.get_write_buffer_size(), None
        if before and self._unsent and self._unsent > before - MIN_READ:
            self.transport.abort()
        elif self._unsent or (self.cycle is not None and not self.cycle.response_complete):
            self._sending = self.loop.call_later(self.send_seconds, self._look_at_sending)


class BoundedProtocol(Bounded, H11Protocol):
    """That of the monitor."""
