"""Connections of the monitor: so many at once, and no longer without a whole request than a browser needs."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 256
SHARE_OF_FILES = 2  # one in so many of the files that this process may open may be a connection
BACKLOG = 32  # connections that are taken at once, before those that are too many are ended
HEAD_SECONDS = 10.0  # until the head of a request must have come


def max_connections() -> int:
    """Return how many connections there may be at once, so that files can be read meanwhile."""
    try:
        import resource
    except ImportError:  # not on Windows
        return MAX_CONNECTIONS
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if n_files < 0 else max(8, min(MAX_CONNECTIONS, n_files // SHARE_OF_FILES))


class BoundedProtocol(H11Protocol):
    """Ends connections that are too many, or that begin a request and do not go on."""

    limit = MAX_CONNECTIONS
    head_seconds = HEAD_SECONDS
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection; where there are too many, the one ends that has been without a request for longest."""
        super().connection_made(transport)
        if len(self.connections) > self.limit:
            waiting = [one for one in self.connections if isinstance(one, BoundedProtocol) and one._timer is not None]
            oldest = min(waiting, key=lambda one: one._timer.when() if one._timer else 0.0, default=self)
            oldest._stop_waiting()
            oldest.transport.abort()
            if oldest is self:
                return
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take some bytes; the head of a request must be whole in time."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.head_seconds, self._end)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
