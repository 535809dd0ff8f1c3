"""Send the alerts of an outbox in the background: one thread per receiver, so that a slow one delays no other."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from threading import Event, Thread

from adforest.alerts.delivery import Delivery
from adforest.alerts.outbox import MAX_AGE, Outbox, Waiting
from adforest.log_lines import remark
from adforest.wording import counted

MAX_PAUSE = 300.0  # seconds between two attempts
CLOSING = 5.0  # seconds for which a command that ends still sends


class Sender:
    """Threads that send.

    Parameters
    ----------
    outbox : Outbox
    deliveries : list of Delivery
    on_failure : callable
        Called with a receiver that failed, the number of failures in a row, and the reason.
    """

    def __init__(
        self, outbox: Outbox, deliveries: Sequence[Delivery], on_failure: Callable[[Delivery, int, str], None]
    ) -> None:
        self._outbox, self._deliveries, self._on_failure = outbox, deliveries, on_failure
        self._is_closing, self._is_over = Event(), Event()
        self._wakes = [Event() for _ in deliveries]
        self._threads = [
            Thread(target=self._send_all, args=(delivery, wake), name=f"alerts to {delivery}", daemon=True)
            for delivery, wake in zip(deliveries, self._wakes, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Send new alerts at once."""
        for wake in self._wakes:
            wake.set()

    def close(self, seconds: float = CLOSING) -> None:
        """Send alerts that are due, each once at most, for some seconds, and print how many are left."""
        self._is_closing.set()
        self.wake()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self._is_over.set()
        for thread, delivery in zip(self._threads, self._deliveries, strict=True):
            if thread.is_alive():
                delivery.cancel()
                thread.join(1.0)
        for delivery in self._deliveries:
            if n := self._outbox.n_waiting(delivery.key):
                remark(f"warning: {counted(n, 'alert')} for {delivery} not delivered yet: the next command sends them")

    def _send_all(self, delivery: Delivery, wake: Event) -> None:
        """Send the alerts of one receiver, until the end."""
        n_failures = 0
        while not self._is_over.is_set():
            wake.clear()
            try:
                waiting, due = self._outbox.next_for(delivery.key)
                if waiting is None:
                    if self._is_closing.is_set():
                        return
                    wake.wait(None if due is None else max(0.0, due - time.time()))
                    continue
                n_failures, pause = self._send(delivery, waiting, n_failures)
            except sqlite3.Error as error:  # a full disk, or closed: at worst the alert is sent once more
                n_failures, pause = n_failures + 1, MAX_PAUSE
                if not self._is_closing.is_set():
                    remark(f"warning: alerts cannot be kept ({reason_of(error)})")
            if n_failures and (self._is_closing.wait(pause) or self._is_closing.is_set()):
                return

    def _send(self, delivery: Delivery, waiting: Waiting, n_failures: int) -> tuple[int, float]:
        """Send an alert, and return how often in a row that has failed now, and how long to pause."""
        problem = _problem(delivery, waiting)
        if problem:
            return n_failures + 1, self._note_failure(delivery, waiting, n_failures + 1, problem)
        self._outbox.delivered(delivery.key, waiting.number)
        if n_failures:
            remark(f"{delivery} takes alerts again")
        return 0, 0.0

    def _note_failure(self, delivery: Delivery, waiting: Waiting, n_failures: int, problem: str) -> float:
        """Record a failed attempt, print the first of several in a row, and return how long to pause."""
        pauses = [min(delivery.retry * 2.0 ** min(n, 30), MAX_PAUSE) for n in (waiting.attempts, n_failures - 1)]
        if time.time() - waiting.made > MAX_AGE:
            self._outbox.give_up(delivery.key, waiting.number)
            remark(f"warning: {delivery} failed ({problem}); an alert was given up: {waiting.alert['message']}")
        else:
            self._outbox.failed(delivery.key, waiting.number, time.time() + pauses[0])
        if n_failures == 1:
            remark(f"warning: {delivery} failed ({problem}); learning goes on, and the alert is sent again")
        self._on_failure(delivery, n_failures, problem)
        return pauses[1]


def _problem(delivery: Delivery, waiting: Waiting) -> str:
    """Deliver an alert, and return the error as text, empty if there was none."""
    try:
        delivery.deliver(waiting.alert)
    except Exception as error:  # whatever a receiver does, learning goes on
        return reason_of(error)
    return ""


def reason_of(error: Exception) -> str:
    """Return an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
