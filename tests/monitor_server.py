"""The monitor, running in a thread of the test."""

from __future__ import annotations

import http.client
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from adforest.monitor.launch import serving


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: dict[str, str] = field(repr=False)


@dataclass(frozen=True)
class Running:
    """A monitor that listens."""

    address: str
    port: int

    def ask(self, path="/", *, method="GET", form=None, **headers):
        """Ask for a path exactly as it is written."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        body = None if form is None else urlencode(form)
        sent = {"Host": f"127.0.0.1:{self.port}"} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host=True)
        for name, value in (sent | ({"Content-Length": len(body)} if body else {})).items():
            connection.putheader(name, value)
        connection.endheaders(body.encode() if body else None)
        answer = connection.getresponse()
        found = Answer(answer.status, answer.read().decode(), {k.lower(): v for k, v in answer.getheaders()})
        connection.close()
        return found

    @property
    def token(self):
        return urlsplit(self.address).query.partition("token=")[2]


@contextmanager
def monitoring(path, host="127.0.0.1", **rules):
    """Run a monitor of a file or folder, and end it."""
    with serving(path, host=host, **rules) as address:
        yield Running(address, urlsplit(address).port)
