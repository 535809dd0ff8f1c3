"""Start the service: check access control, listen, and shut down after requests under way are done."""

from __future__ import annotations

import os
import socket
import ssl
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adforest.libraries import require
from adforest.monitor import launch
from adforest.monitor.access import AccessRules, Guard, is_loopback, new_token
from adforest.monitor.launch import listen, running
from adforest.storage.atomic import write_atomically

if TYPE_CHECKING:
    from adforest.service.predictions import Counts

HOST, PORT = "127.0.0.1", 8322
DRAIN_SECONDS = 30  # that requests under way have when the service ends
MAX_CONNECTIONS = 4_096
ADDRESS = ".adforest-address"  # of the monitor's pages, with their token


@dataclass(frozen=True)
class ServiceOptions:
    """How the service listens.

    Attributes
    ----------
    folder : Path
    host : str
    port : int
        0 for any that is free.
    certificate, key : Path or None
        For TLS.
    proxy : str or None
        The name of the proxy before it, which has TLS.
    allowed_hosts : sequence of str
        Allowed host names.
    follow : str or None
        The address of a service whose models are fetched and answered from; nothing is learnt then.
    follow_token : str or None
        The token of that service.
    database : str or None
        The URL of PostgreSQL, for the tables of models that are made.
    workers : int
        Processes that predict; with more than one, another one has the stores.
    alerts : Path or None
        A file of rules and receivers.
    """

    folder: Path
    host: str = HOST
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    proxy: str | None = None
    allowed_hosts: Sequence[str] = ()
    follow: str | None = None
    follow_token: str | None = None
    database: str | None = None
    workers: int = 1
    alerts: Path | None = None

    @property
    def names(self) -> list[str]:
        """Allowed host names besides those of this machine."""
        return [*self.allowed_hosts, *([self.proxy] if self.proxy else [])]


class FatalError(OSError):
    """The log could not be written: the contents of the disk are unknown, and another process must read it."""


def run(options: ServiceOptions, say: Callable[[str], object] = print) -> None:
    """Serve the models of a folder until it is interrupted; raises `FatalError` where a log cannot be written."""
    with _made(options) as (server, listener, address, fatal):
        say(f"Serving {os.fspath(options.folder)}: {_shown(address, options.folder)}  (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        if fatal:
            raise FatalError(fatal[0])


def _shown(address: str, folder: Path) -> str:
    """Return the address to be printed: its token is put into a file unless a person looks at a terminal."""
    plain, _, token = address.partition("?")
    if not token or sys.stdout.isatty():
        return address
    write_atomically(folder / ADDRESS, [f"{address}\n".encode()], mode=0o600)
    return f"{plain}  (its pages, with their token: see '{folder / ADDRESS}')"


@contextmanager
def serving(options: ServiceOptions) -> Iterator[str]:
    """Run a service in a thread as long as a block lasts, and yield its address."""
    with _made(options) as (server, listener, address, _), running(server, listener):
        yield address.partition("?")[0].rstrip("/")


@contextmanager
def _made(options: ServiceOptions) -> Iterator[tuple[Any, socket.socket, str, list[str]]]:
    """Yield a server, the socket that it listens at, its address, and a list for the errors that ended it."""
    for module in ("fastapi", "uvicorn", "pyarrow"):
        require(module, "the service", "service")
    _check_closed(options)
    if options.workers > 1 and sys.platform == "win32":
        raise ValueError("several workers need UNIX sockets, which Windows lacks. Leave --workers out.")
    fatal: list[str] = []

    def end(problem: str) -> None:
        fatal.append(problem)
        server.should_exit = True

    with listen(options.host, options.port, "the service") as listener:
        models = _open_models(options, end)
        try:
            from adforest.service.predictions import Counts

            counts = Counts()
            app, token = _make_app(options, models, counts, listener.getsockname()[1], lambda: server.should_exit)
            server = _make_server(app, options, models, counts)
            models.is_draining = lambda: server.should_exit
            yield server, listener, _address(options, listener, token), fatal
        finally:
            models.close()


def _open_models(options: ServiceOptions, on_fatal: Callable[[str], None]) -> Any:
    """Return the models of a folder, or those of a service that is followed."""
    from adforest.service.following import FollowedModels
    from adforest.service.served_models import ServedModels

    if options.follow is None:
        return ServedModels(options.folder, on_fatal, options.database, options.alerts)
    if options.alerts is not None:
        raise ValueError(
            "a replica learns no batches, which alerts are about. Give --alerts to the service it follows."
        )
    if not options.follow.startswith(("http://", "https://")):
        given = options.follow.partition("://")[0]  # not more: an address may hold a password
        raise ValueError(f"the address to follow begins with {given!r}; expected one such as https://HOST.")
    return FollowedModels(options.follow, options.folder, options.follow_token)


def _make_server(app: Any, options: ServiceOptions, models: Any, counts: Counts) -> Any:
    """Return the server: this process, or one that starts workers."""
    from adforest.service.connections import PromptServer

    if options.workers == 1:
        return PromptServer(make_config(app, options))
    from adforest.service.workers import ParentServer

    return ParentServer(make_config(app, options), options, models, counts)


def _make_app(
    options: ServiceOptions, models: Any, counts: Counts, port: int, is_ending: Callable[[], bool]
) -> tuple[Any, str | None]:
    """Return the application, and the token of its pages if they need one."""
    from adforest.monitor.model_files import ModelFiles
    from adforest.monitor.server import make_pages, model_metrics
    from adforest.monitor.summaries import Summaries
    from adforest.service.application import make_service
    from adforest.service.gate import PAGES, Gate
    from adforest.service.pages import ServicePages

    files = ModelFiles(options.folder)
    shown = ServicePages(models, counts, lambda scope, status: gate.audit.note(scope, PAGES, status))
    pages = make_pages(files, is_ending, shown)
    metrics = partial(model_metrics, files, Summaries(files))
    service = make_service(models, is_ending, metrics, counts=counts, is_replica=options.follow is not None)
    needs_tokens = strangers_may_ask(options)
    gate = Gate(service, pages, options.folder, options.names, needs_tokens)
    token = new_token() if needs_tokens or gate.tokens.all() else None
    gate.pages_need_token = token is not None
    gate.monitor = Guard(pages, AccessRules(token, tuple(one.lower() for one in options.names)), port)
    return gate, token


def make_config(app: Any, options: ServiceOptions) -> Any:
    """Return how uvicorn is run."""
    from adforest.service.connections import limited_protocol

    return launch.make_config(
        app,
        limited_protocol(MAX_CONNECTIONS, options.workers),
        DRAIN_SECONDS,
        proxy_headers=options.proxy is not None,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
        ssl_version=ssl.PROTOCOL_TLS_SERVER,
    )


def _check_closed(options: ServiceOptions) -> None:
    """Raise if strangers could ask, or could read along."""
    from adforest.service.tokens import Tokens

    if (options.certificate is None) != (options.key is None):
        raise ValueError("a certificate and its key belong together. Give both.")
    if options.certificate is not None and options.key is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.certificate, options.key)
        except OSError as error:
            raise ValueError(
                f"the certificate '{options.certificate}' cannot be used with the key '{options.key}' ({error}). Give "
                "two files in PEM format that belong together."
            ) from None
    if not strangers_may_ask(options):
        return
    if options.certificate is None and options.proxy is None:
        raise ValueError(
            f"the service would listen at {options.host} without TLS. Give --certificate and --key, or name the proxy "
            "before it that has TLS with --proxy."
        )
    if not Tokens(options.folder).all():
        raise ValueError(
            f"the service would listen at {options.proxy or options.host} and there are no tokens. Make one: "
            f"adforest token add NAME --data {options.folder} --right predict"
        )


def strangers_may_ask(options: ServiceOptions) -> bool:
    """Return whether other machines can send requests, directly or through a proxy."""
    try:
        addresses = {found[4][0] for found in socket.getaddrinfo(options.host, options.port)}
    except (OSError, UnicodeError) as error:
        raise OSError(f"the service cannot listen at {options.host}: {error}.") from None
    return options.proxy is not None or not all(is_loopback(str(one)) for one in addresses)


def _address(options: ServiceOptions, listener: socket.socket, token: str | None) -> str:
    """Return the address to open."""
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    scheme = "https" if options.certificate else "http"
    return f"{scheme}://{name}:{port}/" + (f"?token={token}" if token else "")
