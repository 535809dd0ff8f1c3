"""HTTP and SMTP with a limit on the total time; the timeout of a socket restarts with every byte."""

from __future__ import annotations

import http.client
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from threading import Timer
from time import monotonic
from typing import Any


class Deadline:
    """Closes connections when their time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._is_over = False
        self._watched: list[socket.socket] = []
        self._timer = Timer(seconds, self._cut)
        self._timer.daemon = True

    def watch(self, connection: socket.socket) -> None:
        """Close a connection at the end of the time, also if TLS is started on it later."""
        # Not its dup(), which sockets with TLS refuse, nor os.dup: on Windows a socket is no descriptor of a file.
        self._watched.append(socket.fromfd(connection.fileno(), connection.family, connection.type))

    def _cut(self) -> None:
        self._is_over = True
        for one in self._watched:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Raise `TimeoutError` if the block takes longer, whatever error the closed connections cause."""
        end = monotonic() + self.seconds
        self._timer.start()
        try:
            yield
        except Exception:
            if monotonic() < end:
                raise
            self._is_over = True  # a socket's own timeout may come before the timer
        finally:
            self._timer.cancel()
            for one in self._watched:
                one.close()
        if self._is_over:
            raise TimeoutError(f"no answer within {self.seconds:g} s")


class _Http(http.client.HTTPConnection):
    """An HTTP connection with a deadline."""

    def __init__(self, *arguments: Any, deadline: Deadline, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline = deadline

    def connect(self) -> None:
        """Connect, and register the socket before TLS begins."""
        super().connect()
        self._deadline.watch(self.sock)


class _Https(http.client.HTTPSConnection, _Http):
    """The same, encrypted: `HTTPSConnection.connect` connects by that of `_Http`."""


class _Opener(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Opens such connections, through the proxies of the environment as usual."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open one without TLS."""
        return self.do_open(partial(_Http, deadline=self._deadline), request)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open one with TLS."""
        context = ssl.create_default_context()
        return self.do_open(partial(_Https, deadline=self._deadline, context=context), request)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects."""

    def redirect_request(self, *_: Any) -> None:
        """Return no other request."""
        return


def post(address: str, content: bytes, headers: Mapping[str, str], timeout: float) -> int:
    """Send a POST request, and return the status of the response; redirects are not followed."""
    deadline = Deadline(timeout)
    opener = urllib.request.build_opener(_Opener(deadline), _NoRedirects)
    request = urllib.request.Request(address, content, dict(headers), method="POST")
    with deadline.running():
        try:
            with opener.open(request, timeout=timeout) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except urllib.error.URLError as error:  # whose text says less than its reason
            raise error.reason if isinstance(error.reason, Exception) else ValueError(str(error.reason)) from None


@contextmanager
def opened_mail_server(host: str, port: int, secure: ssl.SSLContext | None, timeout: float) -> Iterator[smtplib.SMTP]:
    """Open a connection to a mail server, encrypted from the start if a context is given."""
    deadline = Deadline(timeout)
    kind: Any = smtplib.SMTP if secure is None else smtplib.SMTP_SSL

    def connect(server: Any, *arguments: Any) -> socket.socket:
        connection: socket.socket = kind._get_socket(server, *arguments)
        deadline.watch(connection)
        return connection

    watched: Any = type("WatchedServer", (kind,), {"_get_socket": connect})
    with (
        deadline.running(),
        watched(host, port, timeout=timeout, **({} if secure is None else {"context": secure})) as server,
    ):
        yield server
