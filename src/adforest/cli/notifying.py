"""Tell systemd how the process is, as sd_notify does; nothing is told where nobody listens."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Send a line such as ``READY=1`` or ``WATCHDOG=1`` to the socket that $NOTIFY_SOCKET names.

    Parameters
    ----------
    state : str
        Assignments, one a line; see sd_notify(3).
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.sendall(state.encode(errors="backslashreplace"))
