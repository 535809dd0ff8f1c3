"""Limits for the next batch: real streams, rivals of other libraries, stationary noise and wide data."""

from __future__ import annotations

import numpy as np

from experiments.comparison.next_batch import (
    ADF_R,
    ADF_R_MANY,
    ARF,
    LIGHTGBM,
    LOG_LOSS,
    MANY_TREES,
    REFIT_FAMILIES,
    RF_ALL_MANY,
    WIDE,
    NextBatch,
    generated_streams,
    real_streams,
    stationary_streams,
)
from experiments.goals.goal import Verdict, above, at_least, at_most
from experiments.specs.methods import N_TREES
from experiments.specs.options import Options
from experiments.specs.selections import Streams

MIN_GAP_TO_BEST = -0.5  # points
MIN_MEAN_GAP = 1.5  # points, mean of the real streams
ALARM_BATCHES, MAX_ALARMS = 200, 1


def judge(found: NextBatch, options: Options) -> tuple[Verdict, ...]:
    """Return every figure against its limit.

    Parameters
    ----------
    found : NextBatch
    options : Options

    Returns
    -------
    tuple of Verdict
        (a) worst real stream against the best refit, (b) mean of the real streams, (c) rivals of other libraries,
        (d) log loss on real streams, (e) stationary streams, (f) false alarms, (g) wide data.
    """
    return (
        *_judge_real(found, real_streams(options)),
        *_judge_rivals(found, real_streams(options)),
        *_judge_log_loss(found, real_streams(options)),
        *_judge_stationary(found, stationary_streams(options)),
        _judge_alarms(found, stationary_streams(options)),
        *_judge_wide(found, options),
    )


def points_above_best(found: NextBatch, streams: Streams, family: str) -> dict[str, float]:
    """Return how many points ADF-R is above the best refit of a family on each stream."""
    return {title: 100 * found.above_best(stream, REFIT_FAMILIES[family]).mean for title, stream in streams.items()}


def _judge_real(found: NextBatch, streams: Streams) -> list[Verdict]:
    """Return the verdicts on the worst real stream, and on the mean of all."""
    worst, mean = [], []
    for family in REFIT_FAMILIES:
        points = points_above_best(found, streams, family)
        where = min(points, key=points.__getitem__)
        measure = f"points above the best refit of {family}"
        worst.append(at_least(f"(a) {measure}, worst real stream ({where})", MIN_GAP_TO_BEST, points[where]))
        mean.append(
            at_least(f"(b) {measure}, mean of real streams", MIN_MEAN_GAP, float(np.mean(list(points.values()))))
        )
    return worst + mean


def _judge_rivals(found: NextBatch, streams: Streams) -> list[Verdict]:
    """Return the verdicts on rivals of other libraries, each over the real streams that it ran on."""
    verdicts = []
    for rival in (ARF, *LIGHTGBM):
        points = [100 * found.gap(one, ADF_R, rival).mean for one in streams.values() if found.has(one, rival)]
        if points:
            measure = f"(c) points above {rival}, mean of {len(points)} real streams"
            verdicts.append(above(measure, 0.0, float(np.mean(points))))
    return verdicts


def _judge_log_loss(found: NextBatch, streams: Streams) -> list[Verdict]:
    """Return the verdicts on the log loss on the worst real stream."""
    verdicts = []
    for family, names in REFIT_FAMILIES.items():
        gaps = {title: -found.above_best(stream, names, LOG_LOSS).mean for title, stream in streams.items()}
        where = min(gaps, key=gaps.__getitem__)
        measure = f"(d) log loss below the best refit of {family}, worst real stream ({where})"
        verdicts.append(above(measure, 0.0, gaps[where]))
    return verdicts


def _judge_stationary(found: NextBatch, streams: Streams) -> list[Verdict]:
    """Return the verdicts on accuracy and log loss where rules never change, against a refit on everything."""
    verdicts = []
    for n_trees, ours, refit in ((N_TREES, ADF_R, "RF all"), (MANY_TREES, ADF_R_MANY, RF_ALL_MANY)):
        points = {title: 100 * found.gap(stream, ours, refit).mean for title, stream in streams.items()}
        losses = {title: found.gap(stream, ours, refit, LOG_LOSS).mean for title, stream in streams.items()}
        where, loses = min(points, key=points.__getitem__), max(losses, key=losses.__getitem__)
        said = f"RF all, {n_trees} trees, worst stationary stream"
        verdicts.append(at_least(f"(e) points above {said} ({where})", MIN_GAP_TO_BEST, points[where]))
        verdicts.append(at_most(f"(e) log loss above {said} ({loses})", 0.0, losses[loses]))
    return verdicts


def _judge_alarms(found: NextBatch, streams: Streams) -> Verdict:
    """Return the verdict on batches called drift where rules never change."""
    rates = {}
    for title, stream in streams.items():
        counts = found.drift_counts(stream, ADF_R)
        rates[title] = ALARM_BATCHES * counts.mean / found.n_batches(stream) if counts else 0.0
    where = max(rates, key=rates.__getitem__)
    measure = f"(f) batches of {ALARM_BATCHES} called drift, worst stationary stream ({where})"
    return at_most(measure, MAX_ALARMS, rates[where])


def _judge_wide(found: NextBatch, options: Options) -> list[Verdict]:
    """Return the verdicts on wide data."""
    wide = {WIDE: generated_streams(options)[WIDE]}
    return [
        at_least(
            f"(g) points above the best refit of {family}, wide data",
            MIN_GAP_TO_BEST,
            points_above_best(found, wide, family)[WIDE],
        )
        for family in REFIT_FAMILIES
    ]
