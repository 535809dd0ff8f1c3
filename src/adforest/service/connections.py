"""Connections of the service: so many at once, and no longer without a whole request than a client needs."""

from __future__ import annotations

import asyncio
from typing import Any

SHARE_OF_FILES = 2  # one in so many of the files that this process may open may be a connection


def limited_protocol(limit: int, head_seconds: float, n_processes: int = 1) -> type:
    """Return uvicorn's protocol with limits: the fast one where httptools is installed, else that of the monitor.

    Parameters
    ----------
    limit : int
        Connections at once; of more, the one ends that has been without a request for longest.
    head_seconds : float
        Within which the head of a request must have come.
    n_processes : int
        Processes that share the limit; one passes on what it does not answer to a process with as many files.
    """
    limit = min(limit, _max_files() // SHARE_OF_FILES) // n_processes
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        from adforest.monitor.connections import BoundedProtocol

        return type("ServiceProtocol", (BoundedProtocol,), {"limit": limit, "head_seconds": head_seconds})

    class ServiceProtocol(HttpToolsProtocol):
        """Ends connections that are too many, or that begin a request and do not go on."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Take a connection; where there are too many, the one ends that has waited longest."""
            super().connection_made(transport)
            if len(self.connections) > limit:
                waiting = [one for one in self.connections if isinstance(one, ServiceProtocol) and one._timer]
                oldest = min(waiting, key=lambda one: one._timer.when() if one._timer else 0.0, default=self)
                oldest._stop_waiting()
                oldest.transport.abort()
                if oldest is self:
                    return
            self._await_head()

        def on_headers_complete(self) -> None:
            """Go on: the head of a request is whole."""
            self._stop_waiting()
            super().on_headers_complete()

        def data_received(self, data: bytes) -> None:
            """Take some bytes; a request that begins must have its head whole in time."""
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._await_head()

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection."""
            self._stop_waiting()
            super().connection_lost(exc)

        def _await_head(self) -> None:
            if self._timer is None and not self.transport.is_closing():
                self._timer = self.loop.call_later(head_seconds, self._end)

        def _stop_waiting(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _end(self) -> None:
            self._timer = None
            if self.cycle is None or self.cycle.response_complete:
                self.transport.abort()

    return ServiceProtocol


def _max_files() -> int:
    """Return how many files this process may open."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 1_024
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if n_files < 0 else n_files
