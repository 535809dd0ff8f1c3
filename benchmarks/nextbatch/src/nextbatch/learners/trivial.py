"""Rules that look at labels alone. What cannot beat them has learnt nothing from the features."""

from __future__ import annotations

from collections import Counter, deque

import pandas as pd

from nextbatch.learners.base import Labels

RULES = ("no-change", "prior-last", "prior-all", "successor")


class Trivial:
    """Predict from labels: the last one, how frequent each was, or what mostly follows the last one.

    Parameters
    ----------
    rule : {"no-change", "prior-last", "prior-all", "successor"}
        The last label; class frequencies of the last batch, or of the last 1,000 labels where batches are single
        samples; of everything; of what came after labels like the last one.
    random_state : int
        Not used: nothing is drawn.
    """

    def __init__(self, rule: str, random_state: int = 0) -> None:
        if rule not in RULES:
            raise ValueError(f"rule is {rule!r}; expected one of {', '.join(RULES)}.")
        self.rule = rule

    def reset(self) -> None:
        """Forget everything."""
        self.counts: Counter[str] = Counter()
        self.recent: deque[str] = deque(maxlen=1_000)
        self.after: dict[str, Counter[str]] = {}
        self.last = ""

    def partial_fit(self, X: pd.DataFrame, y: Labels) -> None:
        """Count labels."""
        if self.rule == "successor":
            for before, label in zip([self.last, *y[:-1]], y, strict=True):
                self.after.setdefault(before, Counter())[label] += 1
        self.counts.update(y)
        if len(y) > 1:
            self.recent.clear()
        self.recent.extend(y)
        self.last = y[-1]

    def predict_proba(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the same probabilities for every sample."""
        counts = {
            "no-change": Counter([self.last]),
            "prior-last": Counter(self.recent),
            "prior-all": self.counts,
            "successor": self.after.get(self.last) or Counter([self.last]),
        }[self.rule]
        total = sum(counts.values())
        return pd.DataFrame({label: n / total for label, n in counts.items()}, index=range(len(X)))
