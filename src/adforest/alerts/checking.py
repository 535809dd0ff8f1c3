"""Check rules at every batch and make alerts; a receiver that fails never stops learning.

The state of rules over several batches and the alerts of a batch are saved with the model in one write, so that the
next command goes on from there. From the model alerts go to the outbox, and are sent until they have arrived.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from adforest.alerts.delivery import Delivery
from adforest.alerts.outbox import Outbox, outbox_path
from adforest.alerts.reading import read_file
from adforest.alerts.rules import (
    HEALTH,
    MAX_VALUES,
    MISSING,
    NO_BATCH,
    NOT_DELIVERED,
    REJECTED,
    UNSEEN,
    AlertRule,
    Looked,
    Match,
    message_of,
    missing_fractions,
    unseen_fractions,
)
from adforest.alerts.sending import CLOSING, Sender, reason_of
from adforest.log_lines import as_plain, printable, remark
from adforest.wording import counted, utc

MAX_NOT_KEPT = 1_000  # alerts that the outbox cannot take, each of which is in every file of the model meanwhile


def read_alerts(path: Path | None) -> Alerts:
    """Return the alerts of a file, none if there is no file."""
    return Alerts(*(read_file(path) if path is not None else ([], [])))


class Alerts:
    """Rules, their alerts and the receivers. A context manager: at its end pending alerts are sent.

    Parameters
    ----------
    rules : sequence of AlertRule
    deliveries : sequence of Delivery
        Receivers that this process sends to.
    others : sequence of str
        Keys of receivers that another process sends to.
    """

    def __init__(self, rules: Sequence[AlertRule], deliveries: Sequence[Delivery], others: Sequence[str] = ()) -> None:
        self.rules = rules
        self.deliveries = deliveries
        self._receivers = [*(one.key for one in deliveries), *others]
        self.outbox: Outbox | None = None
        self._sender: Sender | None = None
        self._learner: Any = None
        self._fractions: dict[str, dict[str, float]] = {}
        self._files: list[str] = []
        self._not_kept: dict[str, str] = {}  # by id: alerts that the outbox could not take, saved with the next batch

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, seconds: float = CLOSING) -> None:
        """Send pending alerts for some seconds, and close the outbox."""
        if self._sender is not None:
            self._sender.close(seconds)
        if self.outbox is not None:
            self.outbox.close()

    def begin(self, learner: Any) -> None:
        """Send the pending alerts of a model, and those saved with its last batch.

        It is called again where another program put another model into the file, or the file is a link to another one.

        Parameters
        ----------
        learner : object
            Has `path`, `is_new`, `model` and `origins`, which are read whenever they are needed.
        """
        self._learner = learner
        if not self.rules:
            return
        self.close()
        self._sender = self.outbox = None
        self.send_kept()
        self.tell()
        self.check_age()

    def send_kept(self) -> None:
        """Send what is in the outbox, also what another process put there."""
        if self.rules and outbox_path(self._learner.path).exists():
            self._opened()
            if self._sender is not None:
                self._sender.wake()

    def look(self, X: Any, files: Sequence[Path] = ()) -> None:
        """Compute the figures of the features of a batch, before it is learnt, that some rule needs."""
        wanted = {rule.when for rule in self.rules}
        self._files = [str(path) for path in files]
        self._fractions = {}
        if MISSING in wanted:
            self._fractions[MISSING] = missing_fractions(X)
        if UNSEEN in wanted and not self._learner.is_new:
            self._fractions[UNSEEN] = unseen_fractions(X, self._learner.model)

    def noted(self, model: Any, origins: Any) -> Any:
        """Return the origins to be saved with a batch: for each rule the number of batches in a row, and the alerts."""
        if not self.rules:  # a batch that is not checked ends every row of batches
            return replace(origins, rule_counts=())
        *before, report = model.history_
        looked = Looked(self._fractions, self._health(model))
        known, counts, alerts = dict(origins.rule_counts), [], []
        for rule in self.rules:
            # A new rule makes no alerts of earlier batches.
            so_far = Counter(dict(known[str(rule)])) if str(rule) in known else _counted(rule, before)
            findings = rule.find(report, looked)
            now = {one.about: so_far[one.about] + 1 for one in findings}
            counts.append((str(rule), tuple(now.items())))
            due = [one for one in findings if rule.is_due(now[one.about])]
            if due:
                alerts.append(self._of_batch(rule, report, due, origins.digests[-1].hex()))
        return replace(origins, rule_counts=tuple(counts), alerts=(*self._not_kept.values(), *map(json.dumps, alerts)))

    def carried(self, origins: Any) -> Any:
        """Return the origins to be saved where no batch was learnt: with the alerts that the outbox could not take."""
        return replace(origins, alerts=tuple(self._not_kept.values())) if self.rules else origins

    def tell(self) -> None:
        """Move the alerts that were saved with the last batch to the outbox."""
        saved = self._learner.origins.alerts if self.rules and not self._learner.is_new else ()
        self._not_kept = {json.loads(one)["id"]: one for one in saved}
        self.keep_again()

    def keep_again(self) -> None:
        """Put alerts into the outbox that it could not take before; while it takes none, the newest are kept."""
        again, self._not_kept = list(self._not_kept.values()), {}
        for one in again[-MAX_NOT_KEPT:]:
            self._keep(json.loads(one))

    def check_age(self) -> None:
        """Make an alert if there was no batch for longer than a rule allows, once until the next one."""
        rules = [rule for rule in self.rules if rule.when == NO_BATCH]
        if not rules or self._learner.is_new:
            return
        last = self._learner.model.history_[-1]
        if last.learnt_at is None:  # learnt before times were kept
            return
        hours = (time.time() - last.learnt_at) / 3600
        for rule in rules:
            if rule.limit is not None and hours > rule.limit:
                since = datetime.fromtimestamp(last.learnt_at, UTC)
                message = f"no batch for {hours:.1f} hours: batch {last.batch} was learnt at {since:%Y-%m-%d %H:%M} UTC"
                self._keep(self._alert(rule, message, hours, (str(last.learnt_at),), batch=last.batch))

    def rejected(self, path: Path, reason: str) -> None:
        """Make an alert of a file that cannot be learnt, before it is moved: after a crash it is made again."""
        with suppress(FileNotFoundError):
            status = path.stat()
            for rule in self.rules:
                if rule.when == REJECTED:
                    # The name is not first: a program may take text that begins with a dash for an option.
                    message = f"the file {path.name} cannot be learnt and is set aside: {reason}"
                    same = (path.name, str(status.st_size), str(status.st_mtime_ns))
                    self._keep(self._alert(rule, message, path.name, same, files=[str(path)]))

    def refused(self, number: int, same: str, reason: str) -> None:
        """Make an alert of a batch that cannot be learnt and that is in no file.

        Parameters
        ----------
        number : int
        same : str
            Distinguishes it from a batch of that number of another model.
        reason : str
        """
        for rule in self.rules:
            if rule.when == REJECTED:
                message = f"the batch of task {number} cannot be learnt and is set aside: {reason}"
                self._keep(self._alert(rule, message, number, (same, str(number))))

    def n_waiting(self) -> int:
        """Return the number of alerts that are not delivered yet."""
        return 0 if self.outbox is None else self.outbox.n_waiting()

    def send_trial(self) -> list[str]:
        """Send a test message to all receivers, and return the failures."""
        trial = self._alert("trial", "this is a test: alerts of adforest arrive here", None, (str(time.time_ns()),))
        remark(f"alert: {trial['message']}")
        failures = []
        for delivery in self.deliveries:
            try:
                delivery.deliver(trial)
            except Exception as error:  # the next receiver may work
                failures.append(f"{delivery} failed ({reason_of(error)})")
                remark(f"warning: {failures[-1]}")
        return failures

    def send_waiting(self, model: Path, seconds: float) -> int:
        """Send the alerts in the outbox of a model for some seconds, and return how many are left."""
        if not outbox_path(model).exists():
            return 0
        self.outbox = Outbox(outbox_path(model))
        if seconds:
            self.outbox.send_now()
            Sender(self.outbox, self.deliveries, lambda *_: None).close(seconds)
        return self.outbox.n_waiting()

    def _health(self, model: Any) -> Any:
        """Return the health of a model where a rule needs it."""
        if all(rule.when != HEALTH for rule in self.rules):
            return None
        from adforest.monitor import ModelView

        return ModelView.from_estimator(model).health

    def _keep(self, alert: dict[str, Any], receivers: list[str] | None = None) -> None:
        """Put an alert into the outbox, and print it on standard error if it is new.

        Only there it has the path of the model: what is saved with the model may be read by others, on other machines.
        """
        sent = alert | {"model": printable(str(self._learner.path))}
        try:
            is_new = self._opened().put(sent, self._receivers if receivers is None else receivers)
        except (sqlite3.Error, OSError) as error:
            remark(f"alert: {alert['message']}")
            remark(f"warning: the alert cannot be kept to be sent ({reason_of(error)}); it is tried again")
            if receivers is None:
                self._not_kept[alert["id"]] = json.dumps(alert)
            return
        if is_new:
            remark(f"alert: {alert['message']}")
            if self._sender is not None:
                self._sender.wake()

    def _opened(self) -> Outbox:
        """Return the outbox of the model, whose alerts are sent from now on."""
        if self.outbox is None:
            self.outbox = Outbox(outbox_path(self._learner.path))
            if self.deliveries:
                self._sender = Sender(self.outbox, self.deliveries, self._not_delivered)
        return self.outbox

    def _not_delivered(self, delivery: Delivery, n_failures: int, problem: str) -> None:
        """Make an alert for the other receivers if one has failed in a row as often as a rule has."""
        for rule in self.rules:
            if rule.when == NOT_DELIVERED and n_failures == max(1, int(rule.limit or 1)):
                assert self.outbox is not None
                n = counted(self.outbox.n_waiting(delivery.key), "alert")
                message = f"{delivery} has failed {counted(n_failures, 'time')} in a row ({problem}); {n} not delivered"
                alert = self._alert(rule, message, n_failures, (delivery.key, str(time.time_ns())))
                others = [one.key for one in self.deliveries if one.key != delivery.key]
                self._keep(alert, others)

    def _of_batch(self, rule: AlertRule, report: Any, found: list[Match], digest: str) -> dict[str, Any]:
        """Return one alert for all that a rule found in a batch."""
        values = [one.value for one in found[:MAX_VALUES]]
        alert = self._alert(
            rule,
            message_of(rule, report, found),
            values[0] if len(found) == 1 else values,
            (digest, str(report.batch)),
            batch=report.batch,
            files=self._files,
        )
        about = [one.about for one in found[:MAX_VALUES] if one.about]
        return alert | ({"about": list(map(printable, about))} if about else {})

    def _alert(
        self,
        rule: AlertRule | str,
        message: str,
        value: Any,
        same: tuple[str, ...],
        *,
        batch: int | None = None,
        files: list[str] | None = None,
    ) -> dict[str, Any]:
        """Return an alert; its id is a digest of model, rule and the parts in `same`."""
        model = None if self._learner is None else str(self._learner.path)
        made_of = (str(outbox_path(Path(model or "."))), str(rule), *same)
        content: Mapping[str, Any] = as_plain(
            {
                "id": sha256("\0".join(made_of).encode("utf-8", "surrogatepass")).hexdigest()[:32],
                "time": utc(time.time()),
                "message": printable(message),
                "rule": str(rule),
                "value": value,
                "batch": batch,
                "files": [printable(one) for one in files or []],
            }
        )
        return dict(content)


def _counted(rule: AlertRule, reports: list[Any]) -> Counter[str]:
    """Return in how many of the last reports in a row a rule finds something, from reports alone."""
    so_far: Counter[str] = Counter()
    for report in reports[-rule.batches :]:
        so_far = Counter({one.about: so_far[one.about] + 1 for one in rule.find(report, Looked({}))})
    return so_far
