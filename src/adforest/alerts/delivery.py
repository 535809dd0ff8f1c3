"""Delivery of an alert: run a command, send a request to a webhook, or send a mail.

Addresses, arguments and headers may be secrets, such as an address with a token in it: none of them is printed.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar
from urllib.parse import urlsplit

from adforest.log_lines import printable, remark
from adforest.wording import counted

Alert = Mapping[str, Any]
MESSAGE = "{message}"  # replaced by the message in an argument of a command
IN_ENVIRONMENT = ("id", "time", "message", "rule", "batch", "model")  # of an alert, as ADFOREST_ID and so on
MAX_SAID = 200  # characters of the error output of a program


class Delivery(ABC):
    """A receiver of alerts.

    Attributes
    ----------
    timeout : float
        Seconds for the whole of an attempt.
    retry : float
        Seconds until an alert that could not be delivered is sent again, twice as many each time.
    """

    timeout: float
    retry: float
    identity: ClassVar[tuple[str, ...]]  # names of the attributes that identify a receiver

    @property
    def key(self) -> str:
        """Id of the receiver in an outbox: the same in every process, and no secret."""
        parts = (type(self).__name__.lower(), *(getattr(self, name) for name in self.identity))
        return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @abstractmethod
    def deliver(self, alert: Alert) -> None:
        """Deliver an alert before the timeout, or raise."""

    def cancel(self) -> None:  # noqa: B027 - connections end with the process, commands do not
        """End a delivery under way that would outlive this process; called from another thread."""


@dataclass(frozen=True)
class Command(Delivery):
    """Runs a program that gets the alert as JSON on its standard input, and its parts in the environment."""

    identity = ("command",)
    command: tuple[str, ...]
    timeout: float
    retry: float = 1.0
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list, init=False, repr=False, compare=False)

    def __str__(self) -> str:
        return f"the command {shlex.quote(Path(self.command[0]).name)}"

    def deliver(self, alert: Alert) -> None:
        """Run the program in a process group, which is killed after the timeout."""
        arguments = [str(alert["message"]) if one == MESSAGE else one for one in self.command]
        given = {f"ADFOREST_{name.upper()}": str(alert[name]) for name in IN_ENVIRONMENT if alert.get(name) is not None}
        # Files instead of pipes, which processes in the background may keep open.
        with TemporaryFile() as said, TemporaryFile() as stdin:
            stdin.write(json.dumps(alert).encode() + b"\n")
            stdin.seek(0)
            process = subprocess.Popen(
                arguments,
                stdin=stdin,
                stdout=subprocess.DEVNULL,  # its output must not mix with our results
                stderr=said,
                env=os.environ | given,
                start_new_session=True,
            )
            self._running.append(process)
            try:
                code = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"it did not end within {self.timeout:g} s, and was killed") from None
            finally:
                self._running.remove(process)
                if process.poll() is None:
                    _kill_group(process)
            if code:
                said.seek(0)
                raise ValueError(f"it ended with code {code}{self._shown(said.read(10_000))}")

    def cancel(self) -> None:
        """Kill the program, if it is running, with its child processes."""
        for process in list(self._running):
            if process.poll() is None:
                _kill_group(process)

    def _shown(self, said: bytes) -> str:
        """Return the end of the error output of a program, without its arguments."""
        text = " ".join(said.decode("utf-8", "replace").split())
        for argument in sorted(self.command[1:], key=len, reverse=True):
            text = text.replace(argument, "…") if len(argument) > 3 else text
        return f": {text[-MAX_SAID:]}" if text else ""


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its child processes."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


@dataclass(frozen=True)
class Webhook(Delivery):
    """Posts the alert as JSON to a web address; the delivery succeeds with a 2xx response only."""

    identity = ("webhook",)
    webhook: str
    headers: Mapping[str, str]
    timeout: float
    retry: float = 1.0

    def __str__(self) -> str:
        return f"the webhook at {urlsplit(self.webhook).hostname}"

    def deliver(self, alert: Alert) -> None:
        """Post the alert; redirects are not followed, since headers and content are for this address."""
        from adforest.alerts.connections import post

        headers = {"Content-Type": "application/json", "User-Agent": "adforest", "Idempotency-Key": str(alert["id"])}
        status = post(self.webhook, json.dumps(alert).encode(), headers | dict(self.headers), self.timeout)
        if not 200 <= status < 300:
            elsewhere = "; redirects are not followed" if 300 <= status < 400 else ""
            raise ValueError(f"it answered {status}, expected 2xx{elsewhere}")


@dataclass(frozen=True)
class Mail(Delivery):
    """Sends the alert by SMTP.

    Attributes
    ----------
    mail : tuple of str
        Receivers.
    sender : str
    host, port : str and int
        The mail server.
    tls : {"none", "starttls", "ssl"}
    user, password_variable : str or None
        User name, and the environment variable with the password.
    """

    identity = ("mail", "host", "port")
    mail: tuple[str, ...]
    sender: str
    host: str
    port: int
    tls: str
    user: str | None
    password_variable: str | None
    timeout: float
    retry: float = 1.0

    def __str__(self) -> str:
        return f"mail to {', '.join(self.mail)} by {self.host}:{self.port}"

    def deliver(self, alert: Alert) -> None:
        """Send a mail."""
        import ssl

        from adforest.alerts.connections import opened_mail_server

        message = EmailMessage()
        message["Subject"] = f"adforest: {' '.join(str(alert['message']).split())}"
        message["From"], message["To"] = self.sender, ", ".join(self.mail)
        message["Message-ID"] = f"<{alert['id']}@adforest>"
        message.set_content("\n".join(printable(f"{name}: {value}") for name, value in alert.items()) + "\n")
        secure = ssl.create_default_context() if self.tls != "none" else None
        with opened_mail_server(self.host, self.port, secure if self.tls == "ssl" else None, self.timeout) as server:
            if self.tls == "starttls":
                server.starttls(context=secure)
            if self.user is not None:
                server.login(self.user, os.environ[str(self.password_variable)])
            refused = server.send_message(message)
        if refused:  # the others have it, and would get it twice if it were sent again
            remark(f"warning: {self}: {counted(len(refused), 'receiver')} refused: {', '.join(refused)}")
