"""The demo's picture, batch by batch: accuracy, ADF-R's reports, seconds of learning."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adforest.demo.run import METHODS, OURS, TITLES, DemoRun
from adforest.exceptions import ParameterError
from adforest.monitor.style import BAND, FAINT, FOREST_COLOURS, GRID, STYLE, check_matplotlib, drift_mark, label_ends
from adforest.simulation.stages import STAGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE, DPI = (13.0, 8.2), 160  # inches, dots per inch
SUFFIXES = (".png", ".svg", ".pdf")

# Okabe and Ito's colours, which colour-blind people can tell apart; the weakest rival is grey.
COLOURS = {OURS: "#0072B2", "RF batch": "#8A8A8A", "RF last 3": "#009E73", "RF all": "#D55E00"}


def check_picture(path: Path) -> None:
    """Make sure, before any work is done, that a picture can be drawn and saved.

    Parameters
    ----------
    path : Path
        Where the picture is to go; missing folders are made.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If the file's ending is none that can be drawn.
    OSError
        If nothing can be written there.
    """
    check_matplotlib("the picture", extra="demo")
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"cannot draw '{path}'; expected a file that ends in {', '.join(SUFFIXES)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OSError(f"cannot write '{path}'; give another file with --out")


def draw_picture(run: DemoRun, path: Path) -> None:
    """Draw a run and save the picture.

    Parameters
    ----------
    run : DemoRun
    path : Path
        Where to; its ending says which kind of file.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=SIZE)
        FigureCanvasAgg(figure)
        grid = figure.add_gridspec(
            3, 1, height_ratios=[5.2, 1.15, 2.5], hspace=0.09, left=0.1, right=0.805, top=0.84, bottom=0.075
        )
        accuracy, verdicts, seconds = (figure.add_subplot(grid[row]) for row in range(3))
        for axes in (accuracy, verdicts, seconds):
            _shade_stages(axes, run)
        _draw_accuracy(accuracy, run)
        _draw_verdicts(verdicts, run)
        _draw_seconds(seconds, run)
        _write_title(figure, run)
        figure.savefig(path, dpi=DPI, facecolor="white")


def _stages(run: DemoRun) -> dict[str, tuple[float, float]]:
    """Return where on the batch axis each stage begins and ends."""
    bounds: dict[str, tuple[float, float]] = {}
    for result in run.batches:
        first, _ = bounds.get(result.stage, (result.batch - 0.5, 0.0))
        bounds[result.stage] = first, result.batch + 0.5
    return bounds


def _shade_stages(axes: Axes, run: DemoRun) -> None:
    """Shade every other stage, and lay out the batch axis alike in all panels."""
    for position, (left, right) in enumerate(_stages(run).values()):
        if position % 2 == 0:
            axes.axvspan(left, right, color=BAND, linewidth=0, zorder=0)
    axes.set_xlim(0.5, len(run.batches) + 0.5)
    axes.set_xticks([])


def _recipe(stage: str) -> str:
    """Return what a stage's batches are made of, A and B being the two halves of the classes."""
    recipe = STAGES[stage]
    if 0 < recipe.from_first_half < 1:
        return f"{recipe.from_first_half:.0%} A, {1 - recipe.from_first_half:.0%} B"
    half = "A" if recipe.from_first_half else "B"
    return f"one of {half}" if recipe.is_single_class else f"classes {half}"


def _draw_accuracy(axes: Axes, run: DemoRun) -> None:
    """Draw accuracy on the test set, with the stages' names above."""
    _draw_lines(axes, run, "accuracy")
    for stage, (left, right) in _stages(run).items():
        above: dict[str, Any] = {"ha": "center", "transform": axes.get_xaxis_transform()}
        axes.text((left + right) / 2, 1.055, stage, fontsize=10.5, fontweight="bold", **above)
        axes.text((left + right) / 2, 1.018, _recipe(stage), fontsize=8.5, color=FAINT, **above)
    lowest = min(min(result.accuracy.values()) for result in run.batches)
    margin = 0.04 * (1 - lowest)
    axes.set_ylim(lowest - margin, 1 + margin)
    axes.grid(axis="y", color=GRID, linewidth=0.7)
    axes.set_ylabel("accuracy on the batch's test set")
    _label_lines(axes, run, "accuracy")


def _draw_seconds(axes: Axes, run: DemoRun) -> None:
    """Draw seconds of learning on a log scale, with batch numbers below."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    _draw_lines(axes, run, "seconds")
    axes.grid(axis="y", color=GRID, linewidth=0.7)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, position: f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("seconds of learning\n(log scale)")
    axes.set_xticks([1, *range(5, len(run.batches) + 1, 5), len(run.batches)] if len(run.batches) > 5 else [1])
    axes.set_xlabel("batch")
    _label_lines(axes, run, "seconds", " s")


def _draw_lines(axes: Axes, run: DemoRun, measure: str) -> None:
    """Draw one line per method, ours last and boldest."""
    numbers = [result.batch for result in run.batches]
    for method in reversed(METHODS):
        is_ours = method == OURS
        axes.plot(
            numbers,
            [getattr(result, measure)[method] for result in run.batches],
            color=COLOURS[method],
            linewidth=2.6 if is_ours else 1.5,
            marker="o",
            markersize=5.5 if is_ours else 3,
            markeredgecolor="white",
            markeredgewidth=0.8 if is_ours else 0,
            zorder=4 if is_ours else 3,
            clip_on=False,
        )


def _label_lines(axes: Axes, run: DemoRun, measure: str, unit: str = "") -> None:
    """Write each method's name and mean beside the end of its line."""
    last = run.batches[-1]
    means = {method: run.mean(measure, method) for method in METHODS}
    label_ends(
        axes,
        {method: (last.batch, getattr(last, measure)[method]) for method in METHODS},
        {method: f"{TITLES[method]}  mean {mean:.3f}{unit}" for method, mean in means.items()},
        COLOURS,
        means,
        bold=OURS,
        height=axes.get_position().height * SIZE[1],
    )


def _draw_verdicts(axes: Axes, run: DemoRun) -> None:
    """Draw ADF-R's report of each batch: new classes, drift, and the forest with the most weight."""
    for result in run.batches:
        if result.n_new_classes:
            text = f"+{result.n_new_classes}"
            axes.text(result.batch, 2, text, ha="center", va="center_baseline", fontsize=9, fontweight="bold")
        if result.drift != "none":
            axes.plot(result.batch, 1, **drift_mark(result.drift))
    axes.set_ylim(-0.55, 2.6)
    axes.set_yticks([2, 1, 0], ["new classes", "drift verdict", "most weight"], fontsize=9)
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    for x, drift in ((1.025, "temporary"), (1.125, "sustained")):
        beside: dict[str, Any] = {"transform": axes.get_yaxis_transform()}
        axes.plot(x, 1, clip_on=False, **drift_mark(drift), **beside)
        axes.text(x + 0.012, 1, drift, va="center_baseline", fontsize=9, color=FAINT, **beside)
    _draw_answering(axes, run)


def _draw_answering(axes: Axes, run: DemoRun) -> None:
    """Draw a bar for each run of batches with one answering forest, with its name, or initial where it is short."""
    initials = set()
    for forest, group in groupby(run.batches, key=lambda result: result.answering):
        numbers = [result.batch for result in group]
        name = forest if len(numbers) >= 3 else forest[0].upper()
        initials |= {f"{name} {forest}"} if name != forest else set()
        axes.barh(0, len(numbers) - 0.08, 0.7, left=numbers[0] - 0.46, color=FOREST_COLOURS[forest])
        axes.text((numbers[0] + numbers[-1]) / 2, 0, name, ha="center", va="center_baseline", fontsize=8.5)
    key = ",  ".join(sorted(initials))
    axes.text(1.02, 0, key, va="center_baseline", fontsize=8, color=FAINT, transform=axes.get_yaxis_transform())


def _write_title(figure: Figure, run: DemoRun) -> None:
    """Write what the picture shows above it."""
    settings = run.settings
    figure.text(
        0.1, 0.957, "Keep learning, or refit? Accuracy and cost over 34 batches", fontsize=17, fontweight="bold"
    )
    figure.text(
        0.1,
        0.925,
        f"{settings.n_samples:,} simulated houses in 34 batches, classes as in the paper's stream; A and B are the two "
        f"halves of the classes. One thread, one run, seed {settings.seed}.",
        fontsize=10,
        color=FAINT,
    )
