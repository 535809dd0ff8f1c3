"""Reliability: how often predictions of some probability are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adforest.forest.types import Float64Array
from experiments.comparison.comparison import Comparison
from experiments.comparison.results import Results
from experiments.reporting.chapter import Figure
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.running.probability_metrics import N_BINS
from experiments.specs.run_spec import MethodSpec, StreamSpec

TOP, ALL = "reliability_top", "reliability_all"
IDEAL = "ideal"
MIN_IN_BIN = 30  # samples below which a bin is left out of a figure


def add_up_bins(rows: Sequence[Row], column: str) -> Float64Array:
    """Return, over all batches and by bin, how many probabilities there are, their sum, and how many were right.

    Returns
    -------
    ndarray of shape (3, N_BINS)
    """
    kept = [row[column] for row in rows if row.get(column) is not None]
    total = np.zeros((3, N_BINS))
    for bins in kept:
        total += np.array([bins["n"], bins["sum"], bins["right"]], dtype=np.float64)
    return total


def calibration_error(column: str = TOP) -> Callable[[list[Row]], float]:
    """Return a measure: mean distance of probabilities from how often they were right, bin by bin and by their number.

    Examples
    --------
    >>> bins = {"n": [0] * 8 + [4, 0], "sum": [0] * 8 + [3.4, 0], "right": [0] * 8 + [3, 0]}
    >>> round(calibration_error()([{"reliability_top": bins}]), 3)
    0.1
    """

    def error(rows: list[Row]) -> float:
        n, summed, right = add_up_bins(rows, column)
        return float(np.abs(summed - right).sum() / n.sum())

    return error


def draw_reliability(compared: Comparison, title: str, names: Sequence[str], shown: Sequence[str]) -> Figure:
    """Return the reliability diagram of some methods: how often predictions were right, by probability.

    Parameters
    ----------
    compared : Comparison
        Knows the stream by its title.
    title : str
    names : sequence of str
        Methods.
    shown : sequence of str
        Methods whose lines are seen at once.

    Returns
    -------
    Figure
    """
    middle = [(k + 0.5) / N_BINS for k in range(N_BINS)]
    stream = compared.streams[title]
    series: dict[str, Sequence[float | None]] = {IDEAL: middle}
    series |= {name: _share_right(compared.results, stream, compared.spec(name)) for name in names}
    plot = lines(
        series,
        middle,
        x_title="probability of the predicted class, bins of 0.1",
        y_title="fraction that was right",
        hidden=[name for name in names if name not in shown],
    )
    caption = (
        f"Below the line “{IDEAL}” a method is overconfident. Bins of fewer than {MIN_IN_BIN} samples are left out."
    )
    return Figure(f"{title}: reliability of the prediction", plot, caption)


def _share_right(results: Results, stream: StreamSpec, method: MethodSpec) -> list[float | None]:
    """Return by bin how often a method was right, over all batches and seeds; None where it says too little."""
    rows = [row for seed in results.seeds(stream, method) for row in results.rows(stream, method, seed)]
    n, _, right = add_up_bins(rows, TOP)
    return [float(hits / count) if count >= MIN_IN_BIN else None for count, hits in zip(n, right, strict=True)]
