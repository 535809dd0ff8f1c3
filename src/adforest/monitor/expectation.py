"""What accuracy is to be expected from the confidence of the vote, and how well that did on batches before.

A *step* is a batch, or several small ones that together have 100 tested records. With c the mean confidence of a step
and a its accuracy before it was learnt, the accuracy to be expected of the next one is its c plus the mean of a - c
over earlier steps, of which those of 10 steps before count half. How far steps were from that beyond the chance of
their size gives the band. Confidence tells when records become harder to answer, not when rules change: the same
records with other labels are answered with the same confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

from adforest.adaptation import BatchReport
from adforest.adaptation.scoring import VOTE

MIN_TESTED = 100  # records of a step
FADING = 0.5 ** (1 / 10)  # a step
MIN_STEPS = 3  # from which a bias is known
WIDTH = 1.645  # standard deviations on each side that hold nine of ten
HITS_OVER = 30  # steps, the last ones


@dataclass(frozen=True, slots=True)
class ExpectedAccuracy:
    """What accuracy is to be expected from the confidence of the vote, and how well that did so far.

    Attributes
    ----------
    mean : float or None
        Confidence, corrected by how far it was off lately. None where no batch was answered before it was learnt.
    low, high : float or None
        Band that held the accuracy of about nine of ten recent batches of such a size, see docs/health.md.
    confidence : float or None
        Mean share that the vote gave to the class it named.
    n_samples : int
        Samples that it is said of.
    bias : float or None
        Mean of accuracy minus confidence over recent batches.
    error : float or None
        Mean distance of accuracy from what had been expected, over recent batches.
    n_batches : int
        Recent batches that this is known from.
    hits : float or None
        Share of those whose accuracy was within the band said before they were learnt.
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
    """Some batches in a row: accuracy and confidence of the vote, by how many records."""

    first: int
    last: int
    n: float
    accuracy: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Sums over steps, of which older ones count less: what confidence has been worth lately.

    Attributes
    ----------
    weight : float
        Of all steps.
    bias : float
        Mean of accuracy - confidence.
    excess : float
        Mean of the squared error of what was expected, less what the size of a step explains.
    error : float
        Mean of the absolute error.
    n_steps : int
        Steps learnt from.
    n_judged : int
        Steps of which something had been expected.
    """

    weight: float = 0.0
    bias: float = 0.0
    excess: float = 0.0
    error: float = 0.0
    n_steps: int = 0
    n_judged: int = 0

    def expect(self, confidence: float, n: float) -> tuple[float, float, float]:
        """Return the accuracy to be expected of n records, and its band."""
        mean = min(max(confidence + self.bias, 0.0), 1.0)
        share = min(max(mean, 0.5 / n), 1 - 0.5 / n) if n > 1 else 0.5
        spread = max(self.excess, 0.0) * (1 + 1 / max(self.weight, 1.0)) + share * (1 - share) / max(n, 1.0)
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
    """How expectations did along the stream: the calibration now, and by step what had been expected."""

    calibration: Calibration
    steps: list[Step]
    expected: list[tuple[float, float, float] | None]


def steps_of(reports: Sequence[BatchReport]) -> list[Step]:
    """Return the batches whose vote was tested, small ones put together from the last one on."""
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
    """Return how expectations did along the batches."""
    calibration, steps = Calibration(), steps_of(reports)
    expected: list[tuple[float, float, float] | None] = []
    for step in steps:
        is_known = calibration.n_steps >= MIN_STEPS
        expected.append(calibration.expect(step.confidence, step.n) if is_known else None)
        calibration = calibration.after(step)
    return Record(calibration, steps, expected)


def expectation(record: Record, confidence: float | None, n: float) -> ExpectedAccuracy:
    """Return what is to be expected of some records, answered with a mean confidence."""
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
    """Return what accuracy is to be expected on records whose labels are not there yet.

    It goes by the confidence of the vote, corrected by how far that was off on recent batches, and says how well such
    expectations did. It sees that records are harder to answer, not that rules have changed.

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
    shares = model.predict_proba(X)
    return expectation(followed(model.history_), float(shares.max(axis=1).mean()), len(shares))
