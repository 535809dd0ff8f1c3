"""Status of a command that learns: in a file beside the model, as metrics for node_exporter, and for systemd."""

from __future__ import annotations

import os
import socket
import sqlite3
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from adforest.log_lines import remark


class StatusFiles:
    """Writes the status of a model, and metrics if a file is given.

    Parameters
    ----------
    learner : Learner
    rules : Alerts
    metrics_file : Path or None
        Where metrics go; node_exporter reads files ``*.prom`` of a folder.
    """

    def __init__(self, learner: Any, rules: Any, metrics_file: Path | None) -> None:
        from adforest.monitor.metrics import read_status

        self._learner, self._rules, self._metrics_file = learner, rules, metrics_file
        self._written = self._status = read_status(learner.path)
        self._n_batches = -1
        self._reported = ""

    def write(self, files_waiting: int = 0, files_rejected: int | None = None) -> None:
        """Write what has changed; errors, such as a full disk, do not stop learning and are printed once.

        Parameters
        ----------
        files_waiting : int
            Number of files that are not learnt yet.
        files_rejected : int, optional
            Number of files that were ever set aside; by default as before.
        """
        outbox = self._rules.outbox
        n_rejected = self._status.files_rejected if files_rejected is None else files_rejected
        self._status = replace(self._status, files_waiting=files_waiting, files_rejected=n_rejected)
        try:
            if outbox is not None:
                totals = outbox.totals()
                self._status = replace(
                    self._status,
                    alerts_waiting=outbox.n_waiting(),
                    alerts_delivered=totals["delivered"],
                    alert_failures=totals["failed"],
                )
            self._write()
            self._reported = ""
        except (OSError, sqlite3.Error) as error:
            if str(error) != self._reported:
                remark(f"warning: the status of the model cannot be written ({error})")
            self._reported = str(error)

    def _write(self) -> None:
        from adforest.monitor.metrics import figures_of, metrics_text, status_path, written_status
        from adforest.monitor.model_view import ModelView
        from adforest.storage.atomic import write_atomically

        learner = self._learner
        n_batches = 0 if learner.is_new else learner.model.history_[-1].batch
        if self._status == self._written and n_batches == self._n_batches:
            return
        if self._status != self._written:
            write_atomically(status_path(learner.path), [written_status(self._status)])
        if self._metrics_file is not None:
            figures = figures_of(None if learner.is_new else ModelView.from_estimator(learner.model))
            text = metrics_text({learner.path.name: (figures, self._status)})
            write_atomically(self._metrics_file, [text.encode()])
        self._written, self._n_batches = self._status, n_batches


def notify(state: str) -> None:
    """Send a line such as ``READY=1`` or ``WATCHDOG=1`` to the socket that $NOTIFY_SOCKET names.

    Parameters
    ----------
    state : str
        Assignments, one a line; see sd_notify(3).
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address or not hasattr(socket, "AF_UNIX"):  # there is no systemd on Windows
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.sendall(state.encode(errors="backslashreplace"))
