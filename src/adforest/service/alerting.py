"""Alerts of a served model: its learner makes those of batches, the service the others, and the service sends them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict
from typing import Any

from adforest.alerts import Alerts
from adforest.alerts.delivery import Delivery
from adforest.alerts.rules import AlertRule
from adforest.alerts.sending import reason_of
from adforest.log_lines import remark

CHECK_SECONDS = 60.0  # after which the time since the last batch is looked at again
CLOSING = 1.0  # seconds for which a service that ends still sends


class ServedAlerts:
    """Alerts of one served model, sent by threads of the service once there are any.

    Parameters
    ----------
    rules : sequence of AlertRule
    deliveries : sequence of Delivery
        They are copied: each model has its own.
    """

    def __init__(self, rules: Sequence[AlertRule] = (), deliveries: Sequence[Delivery] = ()) -> None:
        self._alerts = Alerts(rules, [copy(one) for one in deliveries])

    def for_learner(self) -> str:
        """Return the rules, and the keys of the receivers, as text for the learner's process."""
        rules = [asdict(one) for one in self._alerts.rules]
        return json.dumps([rules, [one.key for one in self._alerts.deliveries]])

    def begin(self, served: Any) -> None:
        """Send the pending alerts of a model, and those saved with its last batch."""
        with printed_errors():
            self._alerts.begin(served)

    def look(self) -> None:
        """Send what the learner has put into the outbox, and check the time since the last batch."""
        with printed_errors():
            self._alerts.keep_again()
            self._alerts.send_kept()
            self._alerts.check_age()

    def refused(self, number: int, log_id: str, reason: str) -> None:
        """Make an alert of a batch that could not be learnt."""
        with printed_errors():
            self._alerts.refused(number, log_id, reason)

    def n_waiting(self) -> int:
        """Return the number of alerts that are not delivered yet, 0 if the outbox cannot be read."""
        try:
            return self._alerts.n_waiting()
        except sqlite3.Error:
            return 0

    def close(self) -> None:
        """Send for a moment what is due, and send no more."""
        with printed_errors():
            self._alerts.close(CLOSING)


def alerts_of_learner(text: str) -> Alerts:
    """Return the alerts of a learner, which only puts them into the outbox."""
    found, receivers = json.loads(text)
    return Alerts([AlertRule(**(one | {"columns": tuple(one["columns"])})) for one in found], (), receivers)


@contextmanager
def printed_errors() -> Iterator[None]:
    """Print what keeps alerts from being made or sent; the model learns and predicts all the same."""
    try:
        yield
    except Exception as error:
        remark(f"warning: alerts cannot be made or sent ({reason_of(error)})")
