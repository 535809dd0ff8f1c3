"""Accuracy estimated from the confidence of the vote, with the error of earlier estimates.

A *step* is a batch, or several small ones that together have 100 tested samples. With c the mean confidence of a step
and a its accuracy before it was learnt, the accuracy to be expected of the next one is its c plus the mean of a - c
over earlier steps, with a half-life of 10 steps. The errors of steps beyond their sampling error give the interval.
Confidence shows that samples have become harder to predict, not that rules change: the same samples with other labels
are predicted with the same confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

from adforest.adaptation import BatchReport
from adforest.adaptation.scoring import VOTE

MIN_TESTED = 100  # samples of a step
FADING = 0.5 ** (1 / 10)  # a step
MIN_STEPS = 3  # from which a bias is known
WIDTH = 1.645  # standard deviations on each side that hold nine of ten
HITS_OVER = 30  # steps, the last ones


@dataclass(frozen=True, slots=True)
class ExpectedAccuracy:
    """Accuracy estimated from the confidence of the vote, with the error of earlier estimates.

    Attributes
    ----------
    mean : float or None
        Confidence, corrected by its recent bias. None where no batch was predicted before it was learnt.
    low, high : float or None
        Interval for the accuracy of about nine of ten batches of this size, see docs/health.md.
    confidence : float or None
        Mean probability of the predicted class.
    n_samples : int
        Number of samples of the estimate.
    bias : float or None
        Mean of accuracy minus confidence over recent batches.
    error : float or None
        Mean absolute error of estimates, over recent batches.
    n_batches : int
        Number of recent batches that this is computed from.
    hits : float or None
        Fraction of those whose accuracy was within the interval estimated before they were learnt.
    """

    mean: float | None
    low: float | None
    high: float | None
    confidence: float | None
    n_samples: int
    bias: float | None
    error: float | None
    n_batches: int
    hits: float | None


class Step(NamedTuple):
    """Consecutive batches: accuracy and confidence of the vote, and the number of samples."""

    first: int
    last: int
    n: float
    accuracy: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Exponentially weighted sums over steps: the recent calibration of confidence.

    Attributes
    ----------
    weight : float
        Of all steps.
    bias : float
        Mean of accuracy - confidence.
    excess : float
        Mean squared error of estimates, less the sampling error of a step.
    error : float
        Mean absolute error.
    n_steps : int
        Steps learnt from.
    n_judged : int
        Number of steps with an estimate.
    """

    weight: float = 0.0
    bias: float = 0.0
    excess: float = 0.0
    error: float = 0.0
    n_steps: int = 0
    n_judged: int = 0

    def expect(self, confidence: float, n: float) -> tuple[float, float, float]:
        """Return the expected accuracy of n samples, and its interval."""
        mean = min(max(confidence + self.bias, 0.0), 1.0)
        fraction = min(max(mean, 0.5 / n), 1 - 0.5 / n) if n > 1 else 0.5
        spread = max(self.excess, 0.0) * (1 + 1 / max(self.weight, 1.0)) + fraction * (1 - fraction) / max(n, 1.0)
        half = WIDTH * sqrt(spread)
        return mean, max(mean - half, 0.0), min(mean + half, 1.0)

    def after(self, step: Step) -> Calibration:
        """Return the calibration after one more step."""
        weight = FADING * self.weight + 1.0
        new = replace(self, weight=weight, n_steps=self.n_steps + 1)
        if self.n_steps >= MIN_STEPS:
            mean, _, _ = self.expect(step.confidence, step.n)
            off, chance = step.accuracy - mean, mean * (1 - mean) / max(step.n, 1.0)
            rate = max(1 / weight, 1 / (self.n_judged + 1))
            new = replace(
                new,
                excess=self.excess + rate * (off**2 - chance - self.excess),
                error=self.error + rate * (abs(off) - self.error),
                n_judged=self.n_judged + 1,
            )
        return replace(new, bias=self.bias + (step.accuracy - step.confidence - self.bias) / weight)


class Record(NamedTuple):
    """Estimates along the stream: the current calibration, and the expected accuracy by step."""

    calibration: Calibration
    steps: list[Step]
    expected: list[tuple[float, float, float] | None]


def steps_of(reports: Sequence[BatchReport]) -> list[Step]:
    """Return the batches whose vote was tested, small ones joined from the last one on."""
    steps: list[Step] = []
    last, n, right, sure = 0, 0.0, 0.0, 0.0
    for report in reversed(reports):
        if report.confidence is None or VOTE not in report.accuracy or report.n_tested <= 0:
            continue
        last = last or report.batch
        n += report.n_tested
        right += report.accuracy[VOTE] * report.n_tested
        sure += report.confidence * report.n_tested
        if n >= MIN_TESTED:
            steps.append(Step(report.batch, last, n, right / n, sure / n))
            last, n, right, sure = 0, 0.0, 0.0, 0.0
    if n:
        steps.append(Step(reports[0].batch, last, n, right / n, sure / n))
    return steps[::-1]


def followed(reports: Sequence[BatchReport]) -> Record:
    """Return the estimates along the batches."""
    calibration, steps = Calibration(), steps_of(reports)
    expected: list[tuple[float, float, float] | None] = []
    for step in steps:
        is_known = calibration.n_steps >= MIN_STEPS
        expected.append(calibration.expect(step.confidence, step.n) if is_known else None)
        calibration = calibration.after(step)
    return Record(calibration, steps, expected)


def expectation(record: Record, confidence: float | None, n: float) -> ExpectedAccuracy:
    """Return the expected accuracy of some samples with a mean confidence."""
    calibration = record.calibration
    said = [(step, band) for step, band in zip(record.steps, record.expected, strict=True) if band is not None]
    said = said[-HITS_OVER:]
    mean = low = high = None
    if confidence is not None and calibration.n_judged:
        mean, low, high = calibration.expect(confidence, max(n, 1.0))
    return ExpectedAccuracy(
        mean=mean,
        low=low,
        high=high,
        confidence=confidence,
        n_samples=int(n),
        bias=calibration.bias if calibration.n_steps else None,
        error=calibration.error if calibration.n_judged else None,
        n_batches=len(said),
        hits=sum(low <= step.accuracy <= high for step, (_, low, high) in said) / len(said) if said else None,
    )


def expected_accuracy(model: Any, X: Any) -> ExpectedAccuracy:
    """Estimate the accuracy on samples whose labels are not known yet.

    The estimate is the confidence of the vote, corrected by its bias on recent batches, with the error of earlier
    estimates. It shows that samples are harder to predict, not that rules have changed.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier, PaperADFClassifier or Snapshot
    X : array-like or data frame of shape (n_samples, n_features)

    Returns
    -------
    ExpectedAccuracy

    Examples
    --------
    >>> import numpy as np
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.monitor import expected_accuracy
    >>> rng = np.random.default_rng(0)
    >>> model = AdaptiveDecisionForestClassifier(random_state=0)
    >>> for _ in range(8):
    ...     X = rng.normal(size=(300, 3))
    ...     model = model.partial_fit(X, X[:, 0] + rng.normal(size=300) > 0)
    >>> found = expected_accuracy(model, rng.normal(size=(300, 3)))
    >>> bool(found.low < 0.75 < found.high)
    True
    """
    proba = model.predict_proba(X)
    return expectation(followed(model.history_), float(proba.max(axis=1).mean()), len(proba))
