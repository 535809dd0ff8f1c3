"""Connections of the service: those of the monitor, but more of them at once, and faster where httptools is there."""

from __future__ import annotations

from adforest.monitor.connections import FILES_PER_CONNECTION, Bounded


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
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol  # type: ignore[assignment]
    return type("ServiceProtocol", (Bounded, Protocol), {"limit": limit})


def _max_files() -> int:
    """Return how many files this process may open."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 1_024
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if n_files < 0 else n_files
