"""Plot of an explanation: from the bias to the probability of a class, feature by feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adforest.exceptions import InputTypeError
from adforest.explaining import Explanation
from adforest.explaining.explanation import Summary
from adforest.monitor.pages.words import shortened
from adforest.monitor.style import FAINT, GRID, INK, LESS, MORE, STYLE, check_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

LONGEST = 34  # characters of a name and its value
ROW = 0.36  # inches


class ExplanationDisplay:
    """Bar plot of an explanation: contributions of features, from the bias to the probability of a class.

    Use `from_estimator` or `from_explanation`.

    Parameters
    ----------
    explanation : Explanation
    sample : int, default=0
        Index of the sample.
    class_value : object, optional
        The class whose probability is drawn, by default the predicted one.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        One bar per feature, the largest first, and one for all others together if there are more.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.monitor import ExplanationDisplay
    >>> model = AdaptiveDecisionForestClassifier(random_state=0).fit([[1], [2], [8]], ["low", "low", "high"])
    >>> display = ExplanationDisplay.from_estimator(model, [[1]])
    >>> len(display.bars_)
    1
    """

    def __init__(self, explanation: Explanation, *, sample: int = 0, class_value: Any = None) -> None:
        self.explanation = explanation
        self.sample = sample
        self.class_value = class_value

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        sample: int = 0,
        class_value: Any = None,
        max_features: int | None = 10,
        ax: Axes | None = None,
    ) -> ExplanationDisplay:
        """Explain some samples and draw one of them.

        Parameters
        ----------
        estimator : AdaptiveDecisionForestClassifier, PaperADFClassifier or Snapshot
            A fitted one.
        X : array-like or data frame of shape (n_samples, n_features)
            All of them are explained, so pass few.
        sample : int, default=0
            Index of the sample to draw.
        class_value : object, optional
            The class whose probability is drawn, by default the predicted one.
        max_features : int or None, default=10
            Number of features with a bar of their own, those with the largest contributions.
        ax : matplotlib Axes, optional
            Axes to draw in, by default in a new figure.

        Returns
        -------
        ExplanationDisplay
        """
        check_matplotlib("ExplanationDisplay", instead="print model.explain(X).text()")
        if not hasattr(estimator, "explain"):
            kinds = "AdaptiveDecisionForestClassifier, PaperADFClassifier or Snapshot"
            raise InputTypeError(f"got {type(estimator).__name__}; expected a fitted {kinds}")
        return cls.from_explanation(
            estimator.explain(X), sample=sample, class_value=class_value, max_features=max_features, ax=ax
        )

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        sample: int = 0,
        class_value: Any = None,
        max_features: int | None = 10,
        ax: Axes | None = None,
    ) -> ExplanationDisplay:
        """Draw one sample of an explanation; for the parameters see `from_estimator`."""
        return cls(explanation, sample=sample, class_value=class_value).plot(max_features=max_features, ax=ax)

    def plot(self, *, max_features: int | None = 10, ax: Axes | None = None) -> ExplanationDisplay:
        """Draw the bars.

        Parameters
        ----------
        max_features : int or None, default=10
            Number of features with a bar of their own, those with the largest contributions.
        ax : matplotlib Axes, optional
            Axes to draw in, by default in a new figure.

        Returns
        -------
        self
        """
        check_matplotlib("ExplanationDisplay", instead="print explanation.text()")
        import matplotlib

        summary = self.explanation.summary(self.sample, self.class_value, max_features)
        with matplotlib.rc_context(STYLE):
            self.ax_ = _new_axes(len(summary.names)) if ax is None else ax
            self.figure_: Figure = self.ax_.figure  # type: ignore[assignment]
            self.bars_ = _draw_bars(self.ax_, summary)
            _draw_ends(self.ax_, summary)
            _write_title(self.ax_, summary, self.sample)
        return self


def _new_axes(n_rows: int) -> Axes:
    """Return axes in a new figure that is high enough for some bars."""
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(8.5, 1.6 + ROW * (n_rows + 2)), layout="constrained")
    return ax


def _draw_bars(ax: Axes, summary: Summary) -> BarContainer:
    """Draw one bar per feature, each from where the last one ended, with its size beside it."""
    ends = summary.bias + np.cumsum(summary.added)
    starts, rows = ends - summary.added, np.arange(1, len(ends) + 1)
    colours = [MORE if added >= 0 else LESS for added in summary.added]
    bars = ax.barh(rows, summary.added, 0.62, left=starts, color=colours, zorder=3)
    ax.vlines(starts, rows - 1, rows, color=FAINT, linewidth=0.8, zorder=2)
    for row, start, end, added, colour in zip(rows, starts, ends, summary.added, colours, strict=True):
        right = max(start, end)
        offset: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center_baseline"}
        ax.annotate(f"{round(added, 3) + 0.0:+.3f}", (right, row), color=colour, fontsize=9, **offset)
    return bars


def _draw_ends(ax: Axes, summary: Summary) -> None:
    """Mark the bias above the bars and the probability below them, and name all rows."""
    last = len(summary.names) + 1
    ax.vlines(summary.probability, last - 1, last, color=FAINT, linewidth=0.8, zorder=2)
    for row, value in ((0, summary.bias), (last, summary.probability)):
        ax.plot(value, row, "D", color=INK, markersize=6, zorder=4)
        offset: dict[str, Any] = {"xytext": (8, 0), "textcoords": "offset points", "va": "center_baseline"}
        ax.annotate(f"{value:.3f}", (value, row), color=INK, fontsize=10, fontweight="bold", **offset)
    names = ["at the roots", *(shortened(name, LONGEST) for name in summary.names)]
    names.append(f"probability of {shortened(summary.class_name, LONGEST)}")
    ax.set_yticks(range(last + 1), names)
    ax.set_ylim(last + 0.6, -0.6)
    totals = summary.bias + np.cumsum([0.0, *summary.added])
    room = max(0.02, float(np.ptp(totals)))
    ax.set_xlim(totals.min() - 0.03 * room, totals.max() + 0.16 * room)  # numbers are written on the right
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.grid(axis="x", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.set_xlabel("probability")


def _write_title(ax: Axes, summary: Summary, sample: int) -> None:
    """Write which sample and class is drawn, the weights of the forests, and the batches that made the leaves."""
    ax.set_title(
        f"Forests by weight: {summary.forests}\nBatches that made the leaves: {summary.batches}",
        loc="left",
        fontsize=9,
        color=FAINT,
        pad=8,
    )
    ax.annotate(
        f"Sample {sample}: why {shortened(summary.class_name, LONGEST)} has probability {summary.probability:.3f}",
        (0, 1),
        xytext=(0, 42),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=12,
        fontweight="bold",
    )
