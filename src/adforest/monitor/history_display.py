"""Plot of the history: accuracy, weights of the forests, scenario, new classes and drift by batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from adforest.adaptation import BatchReport
from adforest.adaptation.scoring import VOTE
from adforest.base import get_fitted
from adforest.classifier import BaseADFClassifier
from adforest.exceptions import InputTypeError, ParameterError
from adforest.forest.types import AnyArray, Float64Array
from adforest.monitor.pages.thinning import without_twins
from adforest.monitor.style import (
    BAND,
    FAINT,
    FOREST_COLOURS,
    GRID,
    INK,
    STYLE,
    check_matplotlib,
    drift_mark,
    label_ends,
)
from adforest.paper import PaperADFClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

COLOURS = FOREST_COLOURS | {VOTE: INK}
SIZE = (11.0, 5.6)  # inches
HEIGHTS = (5.0, 1.1, 1.2)  # of accuracy, weights, and scenario, relative to each other
CHARACTER = 0.085  # width in inches
MANY = 60  # batches beyond which lines have no dots


class HistoryDisplay:
    """Plot of a model's reports.

    Above, the accuracy of each forest alone and of the vote on each batch before it was learnt; a dashed line marks a
    batch with temporary drift, a full one a batch with sustained drift. Below, the weight of each forest in the vote
    after the batch, the scenario of each batch, its number of new classes, and drift.

    Use `from_estimator`.

    Parameters
    ----------
    reports : list of BatchReport
        As in ``history_``.
    measured : str, default="before learning it"
        When accuracy was measured; written beside its axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The panel with accuracy.
    axes_ : ndarray of matplotlib Axes of shape (3,)
        Accuracy, weights of the forests, scenario and drift.
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        Accuracy by forest, and "vote".

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.monitor import HistoryDisplay
    >>> model = AdaptiveDecisionForestClassifier(random_state=0)
    >>> for number in range(3):
    ...     model = model.partial_fit([[number], [number + 5]] * 20, [0, 1] * 20)
    >>> display = HistoryDisplay.from_estimator(model)
    >>> len(display.axes_), display.lines_["vote"].get_label()
    (3, 'vote')
    """

    def __init__(self, reports: Sequence[BatchReport], *, measured: str = "before learning it") -> None:
        self.reports = list(reports)
        self.measured = measured

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> HistoryDisplay:
        """Draw the history of a model.

        Parameters
        ----------
        estimator : AdaptiveDecisionForestClassifier or PaperADFClassifier
            A fitted one.
        ax : matplotlib Axes, optional
            Axes that three panels are drawn in; by default a new figure.

        Returns
        -------
        HistoryDisplay
        """
        check_matplotlib("HistoryDisplay", instead="look at model.history_frame()")
        if not isinstance(estimator, BaseADFClassifier):
            kinds = "AdaptiveDecisionForestClassifier or PaperADFClassifier"
            raise InputTypeError(f"got {type(estimator).__name__}; expected a fitted {kinds}")
        get_fitted(estimator)
        is_paper = isinstance(estimator, PaperADFClassifier)
        measured = "after learning it (vote: before)" if is_paper else "before learning it"
        return cls(estimator.history_, measured=measured).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> HistoryDisplay:
        """Draw the history.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes that three panels are drawn in; by default a new figure.

        Returns
        -------
        self
        """
        check_matplotlib("HistoryDisplay", instead="look at model.history_frame()")
        import matplotlib

        with matplotlib.rc_context(STYLE):
            self.axes_ = _panels(ax)
            self.ax_: Axes = self.axes_[0]
            self.figure_: Figure = self.ax_.figure
            numbers = np.array([report.batch for report in self.reports])
            self.lines_ = self._draw_accuracy(self.ax_, numbers)
            for one in self.axes_:
                one.set_xlim(numbers[0] - 0.5, numbers[-1] + 0.5)
                one.tick_params(axis="x", length=0, labelbottom=one is self.axes_[2])
                one.spines[["top", "right"]].set_visible(False)
            self._draw_answering(self.axes_[1], numbers)
            self._draw_verdicts(self.axes_[2], len(numbers))
            self._label_lines(numbers)
        return self

    def accuracies(self) -> dict[str, Float64Array]:
        """Return accuracy by forest and batch, "vote" last; NaN where a forest did not exist.

        The active forest is left out if it has been the permanent one all along.
        """
        return without_twins(
            {name: np.array([report.accuracy.get(name, np.nan) for report in self.reports]) for name in COLOURS}
        )

    def _draw_accuracy(self, ax: Axes, numbers: AnyArray) -> dict[str, Line2D]:
        """Draw one line per forest, the vote last and boldest, and a vertical line where there is drift."""
        for report in self.reports:
            if report.drift != "none":
                style: Any = "-" if report.drift == "sustained" else (0, (4, 3))
                ax.axvline(report.batch, color="#A8A8A8", linewidth=0.9, linestyle=style, zorder=1)
        lines = {}
        for name, values in self.accuracies().items():
            is_bold = name == VOTE
            look: dict[str, Any] = {"linewidth": 2.2 if is_bold else 1.4, "zorder": 4 if is_bold else 3}
            size = 0.0 if len(numbers) > MANY else 4.5 if is_bold else 3.0
            (lines[name],) = ax.plot(
                numbers, values, color=COLOURS[name], marker="o", markersize=size, label=name, clip_on=False, **look
            )
        ax.grid(axis="y", color=GRID, linewidth=0.7)
        ax.set_axisbelow(True)
        ax.set_ylabel(f"accuracy on the batch\n{self.measured}")
        return lines

    def _label_lines(self, numbers: AnyArray) -> None:
        """Write the name and mean of each line beside its end."""
        found = self.accuracies()
        if not found:
            return
        known = {name: np.flatnonzero(np.isfinite(values))[-1] for name, values in found.items()}
        means = {name: float(np.nanmean(values)) for name, values in found.items()}
        label_ends(
            self.ax_,
            {name: (float(numbers[-1]), float(found[name][row])) for name, row in known.items()},
            {name: f"{name}  mean {mean:.3f}" for name, mean in means.items()},
            COLOURS,
            means,
            bold=VOTE,
            height=self._room(self.ax_)[1],
        )

    def _room(self, ax: Axes) -> tuple[float, float]:
        """Return width and height of a panel in inches, as the figure lays it out."""
        self.figure_.draw_without_rendering()
        box = ax.get_window_extent()
        return box.width / self.figure_.dpi, box.height / self.figure_.dpi

    def _draw_answering(self, ax: Axes, numbers: AnyArray) -> None:
        """Fill the panel with each forest's weight in the vote."""
        edges, low = np.append(numbers - 0.5, numbers[-1] + 0.5), np.zeros(len(numbers) + 1)
        for name, colour in FOREST_COLOURS.items():
            weight = np.array([report.votes.get(name, 0.0) for report in self.reports])
            high = low + np.append(weight, weight[-1])
            if weight.any():
                ax.fill_between(edges, low, high, step="post", color=colour, linewidth=0, label=name)
            low = high
        ax.set_ylim(0, 1)
        ax.set_yticks([0.5], ["weights"])
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)

    def _draw_verdicts(self, ax: Axes, n_batches: int) -> None:
        """Draw the scenario, new classes and drift of each batch, one row each."""
        from matplotlib.ticker import MaxNLocator

        width = 0.75 * self._room(ax)[0] / n_batches  # inches per batch; a quarter is for labels
        for index, (scenario, group) in enumerate(groupby(self.reports, key=lambda report: report.scenario)):
            run = [report.batch for report in group]
            ax.barh(2, len(run), 0.8, left=run[0] - 0.5, color=GRID if index % 2 else BAND, linewidth=0)
            if len(run) * width > len(scenario) * CHARACTER:
                middle = (run[0] + run[-1]) / 2
                ax.text(middle, 2, scenario, ha="center", va="center_baseline", fontsize=8, color=INK)
        for report in self.reports:
            if report.new_classes:
                text = f"+{len(report.new_classes)}" if width > 2.5 * CHARACTER else "+"
                ax.text(report.batch, 1, text, ha="center", va="center_baseline", fontsize=8.5, fontweight="bold")
            if report.drift != "none":
                ax.plot(report.batch, 0, **drift_mark(report.drift))
        key: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "fontsize": 8.5, "color": FAINT}
        ax.text(1.02, 0, "△ temporary  ▲ sustained", va="center_baseline", **key)
        ax.set_ylim(-0.6, 2.5)
        ax.set_yticks([2, 1, 0], ["scenario", "new classes", "drift"])
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ax.set_xlabel("batch")


def _panels(ax: Axes | None) -> AnyArray:
    """Return three panels below each other, in a new figure or instead of an axes."""
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    if ax is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=SIZE, layout="constrained")
        grid: Any = figure.add_gridspec(3, 1, height_ratios=HEIGHTS, hspace=0.02)
    else:
        figure = ax.figure  # type: ignore[assignment]
        ax.set_axis_off()
        cell = ax.get_subplotspec()
        if cell is None:
            raise ParameterError("ax is not part of a grid; expected one of plt.subplots(), or None for a new figure")
        grid = GridSpecFromSubplotSpec(3, 1, subplot_spec=cell, height_ratios=HEIGHTS, hspace=0.1)
    panels = np.empty(3, dtype=object)
    panels[:] = [figure.add_subplot(grid[row]) for row in range(3)]
    return panels
