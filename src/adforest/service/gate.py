"""Access control: names, origins and tokens of requests are checked before anything else, and changes are logged.

On this machine everyone may ask who names it by its own name, unless there are tokens. A page of a stranger in a
browser may not: its requests carry its origin.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adforest.monitor.access import LOCAL_NAMES, App, Message, Receive, Send, name_of
from adforest.service.tokens import ADMIN, LABEL, LEARN, PREDICT, Token, Tokens, find

OPEN = ("/healthz", "/readyz", "/v2/health/live", "/v2/health/ready")
OURS = ("/v1/", "/v2/", "/metrics", "/healthz", "/readyz", "/openapi.json")
PAGES = "the monitor's pages"  # who changes something there, in the audit log
AUDIT, MAX_AUDIT = ".adforest-audit.log", 64 << 20  # bytes, after which the file before is dropped
LOGGER = logging.getLogger(__name__)
HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Gate:
    """Passes requests on to the service or to the monitor, or refuses them.

    Parameters
    ----------
    service, monitor : App
    folder : Path
        With the tokens and the audit log.
    allowed_hosts : sequence of str
        Allowed host names besides those of this machine; any if there are tokens and none is given.
    needs_tokens : bool
        Whether nobody may ask where there are no tokens: the last one was removed, or their file.

    Attributes
    ----------
    pages_need_token : bool
        Whether the monitor checks a token of its own; if not, its pages are closed once there are tokens.
    audit : AuditLog
    """

    def __init__(
        self,
        service: App,
        monitor: App,
        folder: Path,
        allowed_hosts: Sequence[str] = (),
        needs_tokens: bool = False,
    ) -> None:
        self._service, self.monitor, self._needs_tokens = service, monitor, needs_tokens
        self.pages_need_token = True
        self.tokens = Tokens(folder)
        self.audit = AuditLog(folder / AUDIT)
        self._hosts = frozenset(one.lower() for one in allowed_hosts)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._service(scope, receive, send)
            return
        path = scope["path"]
        is_page = not (path == "/v2" or path.startswith(OURS))
        if is_page and self.pages_need_token:
            await self.monitor(scope, receive, send)
            return
        headers = {key: value.decode("latin-1") for key, value in scope["headers"]}
        try:
            tokens = self.tokens.all()
        except OSError:  # no path in the message; which requests need a token is not known
            await answer(send, 503, "the tokens of this service cannot be read. Its operator must mend their file.")
            return
        needs_token = self._needs_tokens or bool(tokens)
        if is_page and needs_token:
            await answer(send, 401, "there are tokens since it was started. Restart it: it prints where pages are.")
            return
        if is_page:
            await self.monitor(scope, receive, send)
            return
        refusal = self._refusal(headers, needs_token)
        right, model = right_for(scope["method"], path)
        token: Token | None = None
        if refusal is None and needs_token and path not in OPEN:
            given = headers.get(b"authorization", "")
            token = find(given.removeprefix("Bearer "), tokens) if given.startswith("Bearer ") else None
            if token is None:
                refusal = 401, "a token is asked for: send it as Authorization: Bearer TOKEN."
            elif not token.allows(right, model):
                refusal = 403, f"this token does not allow {right or 'to look'}{f' for {model!r}' if model else ''}."
        if refusal is not None:
            if refusal[0] != 421:  # which scanners of the network get
                self.audit.note(scope, "" if token is None else token.name, refusal[0])
            await answer(send, *refusal)
            return
        await self._service(scope, receive, self._noting(send, scope, token, right))

    def _refusal(self, headers: dict[bytes, str], needs_token: bool) -> tuple[int, str] | None:
        """Return why a request is refused by its Host or Origin header, None if it is not."""
        host = name_of(headers.get(b"host", ""))
        if host not in LOCAL_NAMES | self._hosts and (self._hosts or not needs_token):
            return 421, "this service does not answer by that name. Name it with --allowed-host."
        origin = headers.get(b"origin")
        if origin is not None and name_of(origin.partition("://")[2]) != host:
            return 403, "requests of pages from elsewhere are not answered."
        return None

    def _noting(self, send: Send, scope: Message, token: Token | None, right: str) -> Send:
        """Return a send function that adds headers, and writes changes to the audit log."""

        async def send_noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
                if right not in ("", PREDICT):
                    self.audit.note(scope, "" if token is None else token.name, message["status"])
            await send(message)

        return send_noting


class AuditLog:
    """Audit log: a line of JSON for each request that may change something or is refused, without its body.

    Tokens that are made or withdrawn are noted, too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None

    def note(self, scope: Message, who: str, status: int) -> None:
        """Write a line; labels are too many, and in the log of the model."""
        call = scope["path"].split("/")[4:5]
        is_label = call == ["labels"] or (call == ["records"] and scope["method"] == "PUT")
        if is_label and status not in (401, 403):
            return
        client = (scope.get("client") or ("", 0))[0]
        entry = {"who": who, "from": client, "method": scope["method"], "path": scope["path"][:500]}
        try:
            self.write(entry | {"status": status})
        except OSError as error:  # the change is made already: the client must get its response
            LOGGER.error("'%s' cannot be written (%s): %s %s", self._path, error, scope["method"], scope["path"][:500])

    def write(self, entry: Mapping[str, Any]) -> None:
        """Write a line with the time, in another file once this one is large."""
        if self._file is not None and not self._is_current():  # another process has begun a new one
            os.close(self._file)
            self._file = None
        if self._file is None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(self._file, json.dumps({"time": time.time(), **entry}).encode() + b"\n")
        if os.fstat(self._file).st_size > MAX_AUDIT:
            os.close(self._file)
            self._file = None
            os.replace(self._path, self._path.with_name(f"{self._path.name}.1"))

    def _is_current(self) -> bool:
        """Return whether the open file is still the one of that name."""
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except FileNotFoundError:
            return False


def right_for(method: str, path: str) -> tuple[str, str | None]:
    """Return the right that a request needs, and the model that it is about.

    Examples
    --------
    >>> right_for("POST", "/v1/models/rents/predict"), right_for("DELETE", "/v1/models/rents")
    (('predict', 'rents'), ('admin', 'rents'))
    """
    parts = path.split("/")[1:]
    model = parts[2] if len(parts) > 2 and parts[:2] in (["v1", "models"], ["v2", "models"]) else None
    call = "" if len(parts) < 4 else parts[3]  # by its position: a model or a record may be called "predict"
    if parts[0] == "v2" or call == "predict":
        return PREDICT, model
    if call in ("records", "labels"):
        return LABEL, model
    if method in ("GET", "HEAD"):
        return (LEARN if call == "model" else ""), model
    return (LEARN if call else ADMIN), model


async def answer(send: Send, status: int, words: str, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
    """Send a response, with some more headers, without calling the service."""
    body = json.dumps({"error": words}).encode()
    length = (b"content-length", str(len(body)).encode())
    headers = [(b"content-type", b"application/json"), length, *HEADERS, *more]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
