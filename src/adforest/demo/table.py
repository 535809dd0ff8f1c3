"""Text of the demo: what was compared, the table, and a summary of its figures."""

from __future__ import annotations

import math
import textwrap

import numpy as np

from adforest.demo.run import METHODS, N_TREES, OURS, TITLES, WINDOWS, DemoRun

WIDTH = 100  # columns


def format_table(run: DemoRun) -> str:
    """Return the table of a run as plain text, a line per batch and one of means, at most 100 columns wide.

    Parameters
    ----------
    run : DemoRun

    Returns
    -------
    str
    """
    columns = "ADF-R batch last3   all"
    rule = "  ".join("-" * width for width in (2, 6, 5, 7, 9, 9, 23, 23))
    lines = [
        f"{'':19}{'verdicts of ADF-R':^27}  {'accuracy on test set':^23}  {'seconds of learning':>21}",
        f"{'':46}  {'RF refitted on...':>23}  {'RF refitted on...':>23}",
        f" #  stage   train  seen as  drift      answers    {columns}  {columns}",
        rule,
    ]
    for result in run.batches:
        verdicts = f"{result.scenario:<7}  {result.drift:<9}  {result.answering:<9}"
        start = f"{result.batch:>2}  {result.stage:<6}  {result.n_train:>5}  {verdicts}"
        lines.append(f"{start}  {_four(result.accuracy)}  {_four(result.seconds)}")
    means = {measure: {method: run.mean(measure, method) for method in METHODS} for measure in ("accuracy", "seconds")}
    lines += [rule, f"{'mean':<48}  {_four(means['accuracy'])}  {_four(means['seconds'])}"]
    return "\n".join(lines)


def _four(values: dict[str, float]) -> str:
    """Return the four methods' figures in the width of their columns."""
    return " ".join(f"{values[method]:5.3f}"[:5] for method in METHODS)


def describe_setting(run: DemoRun) -> str:
    """Return what was compared, in a few lines above the table."""
    settings = run.settings
    kept = (
        "every sample" if run.memory_size is None else f"at most {run.memory_size:,} samples besides the last batches"
    )
    return _wrap(
        f"House, {settings.n_samples:,} simulated samples, seed {settings.seed}, in 34 batches, classes as in the "
        "paper's stream; all methods on one thread (CPU seconds), all tested on the same samples, which nobody learns.",
        f"ADF-R: AdaptiveDecisionForestClassifier as it comes, {N_TREES} trees in each of its two or three forests; it "
        f"sees each batch once and keeps {kept}.",
        f"RF: scikit-learn's RandomForestClassifier, {N_TREES} trees, entropy, {run.max_features} features tried at a "
        "node, refitted for every batch on the batch, on the last 3, or on all so far.",
    )


def describe_outcome(run: DemoRun) -> str:
    """Return what the figures say, including where ADF-R loses, in a few lines below the table."""
    return _wrap(
        "'stage' is the protocol's recipe; 'seen as' is what ADF-R makes of the batch's classes, given those it knew.",
        _say_accuracy(run),
        _say_stages(run),
        _say_seconds(run),
    )


def _say_accuracy(run: DemoRun) -> str:
    """Return the difference of ADF-R's mean accuracy to each rival's, and the uncertainty of a row."""
    ours = run.mean("accuracy", OURS)
    gaps = {rival: 100 * (ours - run.mean("accuracy", rival)) for rival in WINDOWS}
    said = [f"{abs(gap):.1f} {'below' if gap < 0 else 'above'} {TITLES[rival]}" for rival, gap in gaps.items()]
    n_test = float(np.mean([result.n_test for result in run.batches]))
    error = 100 * math.sqrt(ours * (1 - ours) / n_test)
    return (
        f"Accuracy: ADF-R's mean of {ours:.3f} is, in points, {_list(said)}. A row rests on about {n_test:.0f} test "
        f"samples (standard error {error:.1f} points)."
    )


def _say_stages(run: DemoRun) -> str:
    """Return where ADF-R loses and gains most against the rival of the best mean."""
    best = max(WINDOWS, key=lambda rival: run.mean("accuracy", rival))
    stages = list(dict.fromkeys(result.stage for result in run.batches))
    gap = {stage: 100 * (run.mean("accuracy", OURS, stage) - run.mean("accuracy", best, stage)) for stage in stages}
    worst, kindest = min(stages, key=gap.__getitem__), max(stages, key=gap.__getitem__)
    n_behind = sum(result.accuracy[OURS] < result.accuracy[best] for result in run.batches)
    return (
        f"Against the best of the three, {TITLES[best]}, ADF-R is behind in {n_behind} of {len(run.batches)} "
        f"batches; its worst stage is {worst} ({gap[worst]:+.1f} points), its best {kindest} ({gap[kindest]:+.1f})."
    )


def _say_seconds(run: DemoRun) -> str:
    """Return the ratio of ADF-R's mean seconds per batch to each rival's."""
    ours = run.mean("seconds", OURS)
    ratios = [f"{ours / run.mean('seconds', rival):.2f} times those of {TITLES[rival]}" for rival in WINDOWS]
    return f"Seconds: ADF-R needs {ours:.3f} a batch, {_list(ratios)}."


def _list(items: list[str]) -> str:
    """Return items as one enumeration."""
    return f"{', '.join(items[:-1])} and {items[-1]}"


def _wrap(*paragraphs: str) -> str:
    """Return paragraphs folded to the width of the table."""
    return "\n".join(textwrap.fill(paragraph, WIDTH) for paragraph in paragraphs)
