"""Access to the monitor: without a token for requests to localhost, with it for all others."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LOCAL_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
COOKIE = "adforest_monitor"
HEADERS = {
    # Nothing from elsewhere, no script or style in the page itself, no frame around it.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",  # the address may hold the token
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address that something listens at.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("192.168.1.5")
    (True, True, False, False)
    """
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class AccessRules:
    """Access rules of a monitor.

    Attributes
    ----------
    token : str or None
        Required in requests; None where only this machine can reach the monitor.
    allowed_hosts : tuple of str
        Host names in requests besides those of this machine, such as that of a proxy.
    base_path : str
        Prefix of every path, such as "/adforest", if a proxy leaves it there.
    """

    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    base_path: str = ""


@dataclass(frozen=True)
class Guard:
    """ASGI middleware that checks access to an application.

    Without a token, the request must name this machine as the one it is for: a page of a stranger whose name was made
    to point here (DNS rebinding) names another one. With a token, it must bring that: once in the address, from then
    on in a cookie, or as ``Authorization: Bearer``.

    Attributes
    ----------
    app : App
    rules : AccessRules
    port : int
        Part of the cookie's name, since cookies are shared by all ports of a machine.
    """

    app: App
    rules: AccessRules
    port: int

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one request."""
        from starlette.requests import HTTPConnection

        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        request, rules = HTTPConnection(scope), self.rules
        asks_for_names = rules.token is None or rules.allowed_hosts
        if asks_for_names and name_of(_single(request, "host")) not in LOCAL_NAMES | set(rules.allowed_hosts):
            names = ", ".join(["localhost", *rules.allowed_hosts])
            refusal = f"This monitor answers for {names} only. Open it by the address it printed."
            await _respond(scope, receive, send, 421, refusal)
        elif rules.token is None or self._is_known(request):
            await self.app(self._without_base_path(scope), receive, _with_headers(send))
        else:
            await self._take_token(request, receive, send)

    def _is_known(self, request: HTTPConnection) -> bool:
        """Return whether a request brings the token in its cookie or its authorization."""
        bearer = _single(request, "authorization")
        is_bearer = bearer.startswith("Bearer ") and self._is_token(bearer.removeprefix("Bearer "))
        return is_bearer or self._is_token(request.cookies.get(self._cookie, ""))

    async def _take_token(self, request: HTTPConnection, receive: Receive, send: Send) -> None:
        """Turn the token in an address into a cookie, or refuse the request."""
        query = request.query_params.multi_items()
        if request.scope["method"] != "GET" or not any(key == "token" and self._is_token(one) for key, one in query):
            refusal = "This monitor asks for a token. Open it by the address that `adforest monitor` printed."
            await _respond(request.scope, receive, send, 401, refusal)
            return
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        cookie = f"{self._cookie}={self.rules.token}; Path=/; HttpOnly; SameSite=Lax"
        # Relative: the same path with another query, by whatever name and path a proxy made it known.
        await _respond(request.scope, receive, send, 303, "", {"location": f"?{rest}", "set-cookie": cookie})

    def _without_base_path(self, scope: Message) -> Message:
        """Return a request as it would be without the path in front that a proxy left there."""
        base, path = self.rules.base_path, scope["path"]
        if not base or not (path == base or path.startswith(f"{base}/")):
            return scope
        return {**scope, "path": path[len(base) :] or "/", "raw_path": scope.get("raw_path", b"")[len(base) :] or b"/"}

    @property
    def _cookie(self) -> str:
        """Name of the cookie."""
        return f"{COOKIE}_{self.port}"

    def _is_token(self, given: str) -> bool:
        """Compare in a time that does not depend on how much of it is right."""
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), (self.rules.token or "").encode())


def _single(request: HTTPConnection, name: str) -> str:
    """Return the value of a header, empty unless the request has it exactly once."""
    found = request.headers.getlist(name)
    return found[0] if len(found) == 1 else ""


def name_of(host: str) -> str:
    """Return the name in a Host header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def _respond(
    scope: Message, receive: Receive, send: Send, status: int, text: str, headers: Mapping[str, str] | None = None
) -> None:
    """Respond without asking the application."""
    from starlette.responses import PlainTextResponse

    await PlainTextResponse(text, status, {**HEADERS, **(headers or {})})(scope, receive, send)


def _with_headers(send: Send) -> Send:
    """Return a function that sends with the headers of every page."""
    from starlette.datastructures import MutableHeaders

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
