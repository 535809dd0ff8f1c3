"""Who may look: on this machine everyone who asks it by its own name, from elsewhere who has the token."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

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
    """Who may ask, and by which names.

    Attributes
    ----------
    token : str or None
        What requests must bring; None where only this machine can ask.
    allowed_hosts : tuple of str
        Names besides those of this machine that requests may be for, such as that of a proxy.
    base_path : str
        Prefix of every path, such as "/adforest", if a proxy leaves it there.
    """

    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    base_path: str = ""


@dataclass(frozen=True)
class Guard:
    """Lets requests through to an application, or answers them itself.

    Without a token, the request must name this machine as the one it is for: a page of a stranger whose name was made
    to point here (DNS rebinding) names another one. With a token, it must bring that: once in the address, from then
    on in a cookie, or as ``Authorization: Bearer``.

    Attributes
    ----------
    app : App
    rules : AccessRules
    port : int
        Part of the cookie's name, since cookies do not tell ports of a machine apart.
    """

    app: App
    rules: AccessRules
    port: int

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers, rules = _Headers(scope), self.rules
        asks_for_names = rules.token is None or rules.allowed_hosts
        if asks_for_names and _name_of(headers.one("host")) not in LOCAL_NAMES | set(rules.allowed_hosts):
            names = ", ".join(["localhost", *rules.allowed_hosts])
            await _answer(send, 421, f"This monitor answers for {names} only. Open it by the address it printed.")
            return
        scope = self._without_base_path(scope)
        if rules.token is not None and not self._is_known(headers):
            await self._take_token(scope, send)
            return
        await self.app(scope, receive, _with_headers(send))

    def _is_known(self, headers: _Headers) -> bool:
        """Return whether a request brings the token in its cookie or its authorization."""
        bearer = headers.one("authorization")
        if bearer.startswith("Bearer ") and self._is_token(bearer.removeprefix("Bearer ")):
            return True
        try:
            cookies = SimpleCookie("; ".join(headers.all("cookie")))
        except CookieError:
            return False
        return self._cookie in cookies and self._is_token(cookies[self._cookie].value)

    async def _take_token(self, scope: Message, send: Send) -> None:
        """Turn the token in an address into a cookie, or refuse the request."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] != "GET" or not any(key == "token" and self._is_token(value) for key, value in query):
            await _answer(
                send, 401, "This monitor asks for a token. Open it by the address that `adforest monitor` printed."
            )
            return
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        cookie = f"{self._cookie}={self.rules.token}; Path=/; HttpOnly; SameSite=Lax"
        # Relative: the same path with another query, by whatever name and path a proxy made it known.
        await _answer(send, 303, "", {"location": f"?{rest}", "set-cookie": cookie})

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


class _Headers:
    """The headers of a request, by name in small letters."""

    def __init__(self, scope: Message) -> None:
        self._pairs = [(key.decode("latin-1"), value.decode("latin-1")) for key, value in scope["headers"]]

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self._pairs if key == name]

    def one(self, name: str) -> str:
        """Return the value of a header that comes once, empty if it is not there or comes more than once."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""


def _name_of(host: str) -> str:
    """Return the name in a Host header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def _answer(send: Send, status: int, words: str, more: dict[str, str] | None = None) -> None:
    """Answer without asking the application."""
    headers = {"content-type": "text/plain; charset=utf-8"} | HEADERS | (more or {})
    pairs = [(key.encode(), value.encode("latin-1")) for key, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": words.encode()})


def _with_headers(send: Send) -> Send:
    """Return a way to send that adds the headers of every page."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {key for key, _ in message["headers"]}
            more = [(key.encode(), value.encode()) for key, value in HEADERS.items() if key.encode() not in given]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return send_with_headers
