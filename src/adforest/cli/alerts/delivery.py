"""How someone is told of an alert: a command is run, a web address gets a request, or a mail is sent."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any, Protocol

from adforest.cli.output import counted

Alert = Mapping[str, Any]


class Delivery(Protocol):
    """A way to tell someone."""

    def deliver(self, alert: Alert) -> None:
        """Tell of an alert, or raise."""


@dataclass(frozen=True)
class Command:
    """Runs a program that gets the alert as JSON on its standard input, and for ``{message}`` the message."""

    command: tuple[str, ...]
    timeout: float

    def __str__(self) -> str:
        return f"the command {shlex.join(self.command)}"

    def deliver(self, alert: Alert) -> None:
        """Run the program."""
        arguments = [one.replace("{message}", str(alert["message"])) for one in self.command]
        # Nothing it prints may stand among our own results.
        result = subprocess.run(
            arguments, input=json.dumps(alert) + "\n", text=True, capture_output=True, timeout=self.timeout, check=False
        )
        if result.returncode:
            said = " ".join(result.stderr.split())[-200:]
            raise ValueError(f"it ended with code {result.returncode}{f': {said}' if said else ''}")


@dataclass(frozen=True)
class Webhook:
    """Posts the alert as JSON to a web address."""

    webhook: str
    headers: Mapping[str, str]
    timeout: float

    def __str__(self) -> str:
        return f"the webhook {self.webhook}"

    def deliver(self, alert: Alert) -> None:
        """Post the alert; any answer but one of success raises."""
        headers = {"Content-Type": "application/json", "User-Agent": "adforest"} | dict(self.headers)
        request = urllib.request.Request(self.webhook, json.dumps(alert).encode(), headers, method="POST")
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            response.read(1)


@dataclass(frozen=True)
class Mail:
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
        Who logs in, and the environment variable that holds the password.
    """

    mail: tuple[str, ...]
    sender: str
    host: str
    port: int
    tls: str
    user: str | None
    password_variable: str | None
    timeout: float

    def __str__(self) -> str:
        return f"mail to {', '.join(self.mail)} by {self.host}:{self.port}"

    def deliver(self, alert: Alert) -> None:
        """Send a mail."""
        import smtplib
        import ssl

        message = EmailMessage()
        message["Subject"] = f"adforest: {' '.join(str(alert['message']).split())}"
        message["From"], message["To"] = self.sender, ", ".join(self.mail)
        message.set_content("\n".join(f"{name}: {value}" for name, value in alert.items()) + "\n")
        secure = ssl.create_default_context() if self.tls != "none" else None
        opened = (
            smtplib.SMTP_SSL(self.host, self.port, timeout=self.timeout, context=secure)
            if self.tls == "ssl"
            else smtplib.SMTP(self.host, self.port, timeout=self.timeout)
        )
        with opened as server:
            if self.tls == "starttls":
                server.starttls(context=secure)
            if self.user is not None:
                server.login(self.user, os.environ[str(self.password_variable)])
            refused = server.send_message(message)
        if refused:
            raise ValueError(f"{counted(len(refused), 'receiver')} refused: {', '.join(refused)}")
