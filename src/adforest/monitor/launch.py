"""Start the monitor."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Thread
from time import sleep
from typing import Any
from urllib.parse import quote

from adforest.exceptions import ParameterError
from adforest.libraries import require
from adforest.monitor.access import AccessRules, Guard, is_loopback, new_token
from adforest.monitor.model_files import ModelFiles

HOST, PORT = "127.0.0.1", 8321
SHORTEST_TOKEN = 16  # characters
PATIENCE = 2  # seconds that open connections have when the monitor ends


def serve(
    path: str | os.PathLike[str],
    *,
    host: str = HOST,
    port: int = PORT,
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    base_path: str = "",
    say: Callable[[str], object] = print,
) -> None:
    """Show a model, or a folder of models, as a page that follows the files, until it is interrupted.

    Parameters
    ----------
    path : str or path-like
        A model file, or a folder whose files ``*.adf`` are shown.
    host : str, default="127.0.0.1"
        Host to listen at. Beyond this machine, access needs the token in the address that is printed.
    port : int, default=8321
        0 for any free port.
    token : str, optional
        Required for access, also on this machine; it is not printed. By default a new one at each start, and none on
        this machine.
    allowed_hosts : sequence of str
        Host names besides localhost in requests, such as that of a proxy.
    base_path : str
        Prefix of every path, such as "/adforest", if a proxy leaves it there.
    say : callable, default=print
        Called with the address once the monitor listens.

    Raises
    ------
    ImportError
        If FastAPI or uvicorn is not installed: ``pip install 'adforest[monitor]'``.
    FileNotFoundError
        If there is no such file or folder.
    OSError
        If the port is in use, or the host is not one of this machine's.
    """
    rules = _checked_rules(token, allowed_hosts, base_path)
    with _made(path, host, port, rules) as (server, listener, address):
        say(f"Monitor of {os.fspath(path)}: {address}  (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


@contextmanager
def serving(
    path: str | os.PathLike[str],
    *,
    host: str = HOST,
    port: int = 0,
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    base_path: str = "",
) -> Iterator[str]:
    """Run a monitor in a thread as long as a block lasts, and yield its address; for the parameters see `serve`."""
    rules = _checked_rules(token, allowed_hosts, base_path)
    with _made(path, host, port, rules) as (server, listener, address), running(server, listener):
        yield address


@contextmanager
def running(server: Any, listener: socket.socket) -> Iterator[None]:
    """Run a server in a thread as long as a block lasts."""
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            sleep(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def _made(
    path: str | os.PathLike[str], host: str, port: int, rules: AccessRules
) -> Iterator[tuple[Any, socket.socket, str]]:
    """Yield a server, the socket that it is to listen at, and its address."""
    uvicorn = require("uvicorn", "the monitor", "monitor")
    require("fastapi", "the monitor", "monitor")
    from adforest.monitor.connections import BACKLOG, BoundedProtocol, max_connections
    from adforest.monitor.server import make_pages

    files = ModelFiles(path)
    with listen(host, port) as listener:
        host, port = listener.getsockname()[:2]
        made = None if rules.token is not None or is_loopback(host) else new_token()
        pages = make_pages(files, lambda: bool(server.should_exit))
        app = Guard(pages, replace(rules, token=rules.token or made), port)
        protocol = type("MonitorProtocol", (BoundedProtocol,), {"limit": max_connections()})
        server = uvicorn.Server(make_config(app, protocol, PATIENCE, backlog=BACKLOG))
        yield server, listener, _address(host, port, made, rules.base_path)


def make_config(app: Any, protocol: type, drain_seconds: int, **more: Any) -> Any:
    """Return the configuration of uvicorn: without logs and unused features."""
    import uvicorn

    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_level="error",  # a line for every wrong request would let strangers fill a disk
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=drain_seconds,
        interface="asgi3",
        **more,
    )


def _checked_rules(token: str | None, allowed_hosts: Sequence[str], base_path: str) -> AccessRules:
    """Return the access rules, or raise if one is invalid."""
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise ParameterError(f"the token is not {SHORTEST_TOKEN} printable ASCII characters or more. Make another one.")
    if base_path and (not base_path.startswith("/") or not base_path.isascii()):
        raise ParameterError(f"the base path is {base_path!r}; expected one that begins with /, such as /adforest.")
    return AccessRules(token, tuple(name.lower() for name in allowed_hosts), base_path.rstrip("/"))


def listen(host: str, port: int, what: str = "the monitor") -> socket.socket:
    """Return a socket that listens at a host and port, or raise an error with advice."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise OSError(f"{what} cannot listen at {host}: {error}. Give a name or address of this machine.") from None
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # On Windows SO_REUSEADDR lets another process take the same port; there, SO_EXCLUSIVEADDRUSE keeps it out.
        option: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        listener.setsockopt(socket.SOL_SOCKET, option, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        advice = "Give another --port, or 0 for any that is free."
        raise OSError(f"{what} cannot listen at {host}, port {port}: {error.strerror}. {advice}") from None
    return listener


def _address(host: str, port: int, token: str | None, base_path: str) -> str:
    """Return the address to open, with the token where one is needed."""
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}{base_path}/" + (f"?token={quote(token)}" if token else "")
