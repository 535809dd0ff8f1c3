"""Check rules at every batch, and tell of what they find; a receiver that fails never stops learning."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from adforest.cli.alerts.delivery import Delivery
from adforest.cli.alerts.reading import read_file
from adforest.cli.alerts.rules import MISSING, UNSEEN, Rule, missing_shares, unseen_shares
from adforest.cli.output import remark


def read_alerts(path: Path | None) -> Alerts:
    """Return the alerts of a file, none if there is no file."""
    return Alerts(*(read_file(path) if path is not None else ([], [])))


class Alerts:
    """Rules, what they found in the last batches, and who is told."""

    def __init__(self, rules: list[Rule], deliveries: list[Delivery]) -> None:
        self.rules = rules
        self.deliveries = deliveries
        self._in_a_row: list[Counter[str]] = [Counter() for _ in rules]
        self._learner: Any = None
        self._shares: dict[str, dict[str, float]] = {}
        self._files: list[str] = []

    def begin(self, learner: Any) -> None:
        """Look at the batches that a model learnt before, so that what was told of them is not told again."""
        self._learner = learner
        if not learner.is_new and self.rules:
            most = max(rule.batches for rule in self.rules)
            for report in learner.model.history_[-most:]:
                self._count(report, {})

    def look(self, batch: Any) -> None:
        """Look at a batch before it is learnt, as far as some rule asks for that."""
        wanted = {rule.when for rule in self.rules}
        self._files = [str(path) for path in batch.files]
        self._shares = {MISSING: missing_shares(batch.X)} if MISSING in wanted else {}
        if UNSEEN in wanted and not self._learner.is_new:
            self._shares[UNSEEN] = unseen_shares(batch.X, self._learner.model)

    def check(self, report: Any) -> None:
        """Check the rules once a batch is learnt, and tell of what they find."""
        for rule, finding, n_in_a_row in self._count(report, self._shares):
            if n_in_a_row == rule.batches or (rule.repeat and n_in_a_row > rule.batches):
                self.tell(
                    {
                        "message": finding.message,
                        "rule": str(rule),
                        "value": finding.value,
                        "batch": report.batch,
                        "files": self._files,
                        "model": str(self._learner.path),
                    }
                )

    def tell(self, alert: dict[str, Any]) -> list[str]:
        """Tell all receivers of an alert, and return what went wrong; it is told on standard error as well."""
        remark(f"alert: {alert['message']}")
        failures = []
        for delivery in self.deliveries:
            try:
                delivery.deliver(alert)
            except Exception as error:  # whatever a receiver does, learning goes on
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                failures.append(f"{delivery} failed ({reason})")
                remark(f"warning: {failures[-1]}; the alert was not delivered there, learning goes on")
        return failures

    def _count(self, report: Any, shares: dict[str, dict[str, float]]) -> list[tuple[Rule, Any, int]]:
        """Return what the rules find, and for how many batches in a row they have found it."""
        found = []
        for place, rule in enumerate(self.rules):
            findings = rule.find(report, shares)
            before = self._in_a_row[place]
            self._in_a_row[place] = Counter({one.about: before[one.about] + 1 for one in findings})
            found += [(rule, one, self._in_a_row[place][one.about]) for one in findings]
        return found
