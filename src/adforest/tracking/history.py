"""Bounded history of reports and of statistics of columns: older batches in blocks of equal length."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adforest.adaptation import BatchReport
from adforest.adaptation.report import METRICS, Row
from adforest.forest.types import AnyArray, Float32Array, Float64Array, Int32Array

MAX_REPORTS = 1_000  # kept in full
MAX_BLOCKS = 512  # of older batches; even, since they are joined in pairs when it is exceeded
MAX_COLUMN_BLOCKS = 64  # of statistics of columns; even, too


@dataclass(frozen=True, slots=True)
class BatchBlock(Row):
    """Summary of consecutive batches.

    Attributes
    ----------
    first, last : int
        Numbers of its first and last batch.
    n_samples : int
    n_tested : float
        Samples that accuracy was measured on.
    accuracy, lowest, highest : dict of str to float
        By forest and for "vote", see `BatchReport.accuracy`: mean over samples, minimum and maximum over batches.
    n_temporary, n_sustained : int
        Number of batches with temporary and with sustained drift.
    n_new_classes : int
    confidence : float or None
        Mean over samples, see `BatchReport.confidence`.
    votes : dict of str to float
        By forest: mean weight over batches.
    answering : str
    n_leaves : dict of str to int
        As after the last batch.
    seconds : float
        Of all batches together.
    weighted_accuracy : dict of str to float
    balanced_accuracy, log_loss, brier_score, roc_auc, average_precision : float or None
        Means over samples, see `BatchReport`; None where no batch has the metric.
    first_at, last_at : float or None
        When its first and last batch were learnt, see `BatchReport.learnt_at`.
    """

    first: int
    last: int
    n_samples: int
    n_tested: float
    accuracy: dict[str, float]
    lowest: dict[str, float]
    highest: dict[str, float]
    n_temporary: int
    n_sustained: int
    n_new_classes: int
    confidence: float | None
    votes: dict[str, float]
    answering: str
    n_leaves: dict[str, int]
    seconds: float
    weighted_accuracy: dict[str, float] = field(default_factory=dict)
    balanced_accuracy: float | None = None
    log_loss: float | None = None
    brier_score: float | None = None
    roc_auc: float | None = None
    average_precision: float | None = None
    first_at: float | None = None
    last_at: float | None = None

    @classmethod
    def of(cls, report: BatchReport) -> BatchBlock:
        """Return the block of one batch."""
        return cls(
            first=report.batch,
            last=report.batch,
            n_samples=report.n_samples,
            n_tested=report.n_tested,
            accuracy=report.accuracy,
            lowest=report.accuracy,
            highest=report.accuracy,
            n_temporary=int(report.drift == "temporary"),
            n_sustained=int(report.drift == "sustained"),
            n_new_classes=len(report.new_classes),
            confidence=report.confidence,
            votes=report.votes,
            answering=report.answering,
            n_leaves=report.n_leaves,
            seconds=report.seconds,
            weighted_accuracy=report.weighted_accuracy,
            first_at=report.learnt_at,
            last_at=report.learnt_at,
            **{name: getattr(report, name) for name in METRICS},
        )

    def __len__(self) -> int:
        return self.last - self.first + 1

    def joined(self, later: BatchBlock) -> BatchBlock:
        """Return this block joined with the next one."""
        tested = self.n_tested, later.n_tested
        sums: dict[str, Any] = {
            name: getattr(self, name) + getattr(later, name)
            for name in ("n_samples", "n_tested", "n_temporary", "n_sustained", "n_new_classes", "seconds")
        }
        return BatchBlock(
            first=self.first,
            last=later.last,
            accuracy=_means(self.accuracy, later.accuracy, *tested),
            lowest=_either(min, self.lowest, later.lowest),
            highest=_either(max, self.highest, later.highest),
            confidence=_mean(self.confidence, later.confidence, *tested),
            votes=_means(_full(self.votes, later.votes), _full(later.votes, self.votes), len(self), len(later)),
            answering=later.answering,
            n_leaves=later.n_leaves,
            first_at=later.first_at if self.first_at is None else self.first_at,
            last_at=self.last_at if later.last_at is None else later.last_at,
            weighted_accuracy=_means(self.weighted_accuracy, later.weighted_accuracy, *tested),
            **sums | {name: _mean(getattr(self, name), getattr(later, name), *tested) for name in METRICS},
        )


@dataclass(frozen=True, slots=True)
class History:
    """Reports of all batches, bounded in size.

    Attributes
    ----------
    reports : tuple of BatchReport
        Of the last `MAX_REPORTS` batches.
    blocks : tuple of BatchBlock
        Of all batches before, oldest first, `MAX_BLOCKS` at most. All have the same number of batches, a power of 2,
        but the last one, which may have fewer.
    sustained : tuple of int
        Numbers of the last `MAX_BLOCKS` batches with sustained drift.
    """

    reports: tuple[BatchReport, ...] = ()
    blocks: tuple[BatchBlock, ...] = ()
    sustained: tuple[int, ...] = ()

    def after(self, report: BatchReport) -> History:
        """Return the history after one more batch."""
        reports, blocks, sustained = (*self.reports, report), self.blocks, self.sustained
        if len(reports) > MAX_REPORTS:
            reports, blocks = reports[1:], _with_block(blocks, BatchBlock.of(reports[0]))
        if report.drift == "sustained":
            sustained = (*sustained, report.batch)[-MAX_BLOCKS:]
        return History(reports, blocks, sustained)

    def with_source(self, source: tuple[str, ...], rows: tuple[int, int]) -> History:
        """Return the history with the source of the last batch."""
        last = replace(self.reports[-1], source=source, rows=rows)
        return replace(self, reports=(*self.reports[:-1], last))


def _with_block(blocks: tuple[BatchBlock, ...], block: BatchBlock) -> tuple[BatchBlock, ...]:
    """Return the blocks with a later one, joined with the last one as long as that is shorter than the first."""
    if blocks and len(blocks[-1]) < len(blocks[0]):
        return (*blocks[:-1], blocks[-1].joined(block))
    if len(blocks) == MAX_BLOCKS:
        blocks = tuple(one.joined(other) for one, other in zip(blocks[::2], blocks[1::2], strict=True))
    return (*blocks, block)


def _mean(one: float | None, other: float | None, n_one: float, n_other: float) -> float | None:
    """Return the weighted mean of two numbers, or the one that is not None."""
    if one is None or other is None:
        return one if other is None else other
    total = n_one + n_other
    return (one * n_one + other * n_other) / total if total else other


def _means(one: dict[str, float], other: dict[str, float], n_one: float, n_other: float) -> dict[str, float]:
    """Return by name the weighted mean of two numbers, or the one that exists."""
    found = {name: _mean(one.get(name), other.get(name), n_one, n_other) for name in one | other}
    return {name: mean for name, mean in found.items() if mean is not None}


def _full(votes: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Return votes with a weight of 0 for forests that have none."""
    return dict.fromkeys(other, 0.0) | votes


def _either(choose: Any, one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Return by name the minimum or maximum of two numbers, or the one that exists."""
    return {name: choose(pair[name] for pair in (one, other) if name in pair) for name in one | other}


@dataclass(frozen=True, slots=True, eq=False)
class FiguresOverTime:
    """Statistics of m columns in b blocks, oldest first; NaN where a column was not known or had no past.

    Attributes
    ----------
    batches : int32 (b, 3)
        First batch, last batch and number of learnt batches of each block. All have the same number of these, a power
        of 2, but the last one, which may have fewer.
    n_samples : float64 (b,)
        Samples counted.
    missing, unseen : float32 (b, m)
        Fraction of the samples with a missing value, and with a category never learnt before their batch.
    distance : float32 (b, m)
        Mean over batches of the distance between the last ones and the past, see `adforest.tracking.history`.
    """

    batches: Int32Array
    n_samples: Float64Array
    missing: Float32Array
    unseen: Float32Array
    distance: Float32Array

    @classmethod
    def none(cls, n_features: int) -> FiguresOverTime:
        """Return the statistics of no batches."""
        by_block = np.empty((0, n_features), dtype=np.float32)
        return cls(np.empty((0, 3), dtype=np.int32), np.empty(0), by_block, by_block, by_block)

    def with_columns(self, n_features: int) -> FiguresOverTime:
        """Return the statistics with more columns, NaN in all blocks."""
        more = ((0, 0), (0, n_features - self.missing.shape[1]))
        missing, unseen, distance = (
            np.pad(one, more, constant_values=np.nan) for one in (self.missing, self.unseen, self.distance)
        )
        return FiguresOverTime(self.batches, self.n_samples, missing, unseen, distance)

    def after(
        self, batch: int, n_samples: int, missing: Float64Array, unseen: Float64Array, distance: Float64Array
    ) -> FiguresOverTime:
        """Return the statistics after one more batch, of which some samples were counted."""
        one = np.array([missing, unseen, distance], dtype=np.float32)[:, np.newaxis]
        first = self.batches[-1, 1] + 1 if len(self.batches) else 1
        new = FiguresOverTime(np.array([[first, batch, 1]], dtype=np.int32), np.array([float(n_samples)]), *one)
        n_last, size = (self.batches[-1, 2], self.batches[0, 2]) if len(self.batches) else (0, 0)
        if n_last < size:
            return self._part(slice(None, -1))._followed_by(_joined_pairs(self._part(slice(-1, None)), new))
        if len(self.batches) == MAX_COLUMN_BLOCKS:
            return _joined_pairs(self._part(slice(0, None, 2)), self._part(slice(1, None, 2)))._followed_by(new)
        return self._followed_by(new)

    def _part(self, blocks: slice) -> FiguresOverTime:
        """Return some of the blocks."""
        return FiguresOverTime(*(one[blocks] for one in self._arrays))

    def _followed_by(self, later: FiguresOverTime) -> FiguresOverTime:
        """Return these blocks followed by later ones."""
        return FiguresOverTime(*(np.concatenate(pair) for pair in zip(self._arrays, later._arrays, strict=True)))

    @property
    def _arrays(self) -> tuple[AnyArray, ...]:
        return self.batches, self.n_samples, self.missing, self.unseen, self.distance


def _joined_pairs(one: FiguresOverTime, other: FiguresOverTime) -> FiguresOverTime:
    """Return blocks joined in pairs."""
    n_batches = one.batches[:, 2] + other.batches[:, 2]
    batches = np.column_stack([one.batches[:, 0], other.batches[:, 1], n_batches]).astype(np.int32)
    by_samples, by_batches = (one.n_samples, other.n_samples), (one.batches[:, 2], other.batches[:, 2])
    return FiguresOverTime(
        batches,
        one.n_samples + other.n_samples,
        _means_of_columns(one.missing, other.missing, *by_samples),
        _means_of_columns(one.unseen, other.unseen, *by_samples),
        _means_of_columns(one.distance, other.distance, *by_batches),
    )


def _means_of_columns(one: Float32Array, other: Float32Array, n_one: AnyArray, n_other: AnyArray) -> Float32Array:
    """Return the weighted mean of two numbers, or the one that is not NaN."""
    weight = (n_other / (n_one + n_other))[:, np.newaxis]
    mean = np.where(np.isnan(one), other, np.where(np.isnan(other), one, one + weight * (other - one)))
    return mean.clip(0, 1).astype(np.float32)
