"""The demo: ADF-R along the paper's 34 batches, against a random forest that is refitted for every batch."""

from __future__ import annotations

import argparse
import math
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from adforest import AdaptiveDecisionForestClassifier
from adforest.streams import Batch, make_house, simulate_scenarios

SUMMARY = "34 batches of made-up houses: ADF-R against a random forest refitted for every batch"
RECORDS, QUICK_RECORDS = 150_000, 4_000
TREES = int(AdaptiveDecisionForestClassifier().n_estimators)
OURS = "ADF-R"
WINDOWS = {"RF batch": 1, "RF last 3": 3, "RF all": None}  # how many batches each rival is refitted on
METHODS = (OURS, *WINDOWS)
IN_WORDS = {OURS: OURS, "RF batch": "RF on the batch", "RF last 3": "RF on the last 3", "RF all": "RF on everything"}
WIDTH = 100


@dataclass(frozen=True)
class DemoSettings:
    """How many houses to draw, and the seed of the houses, the batches and every forest."""

    n_records: int = RECORDS
    seed: int = 0


@dataclass(frozen=True)
class BatchResult:
    """What one batch of the demo came to.

    Attributes
    ----------
    batch : int
        Its number, from 1.
    stage : str
        The protocol's name of its recipe, such as ``"MUC-1"``.
    scenario, drift, answering, n_new_classes : str, str, str, int
        ADF-R's own verdicts on it, see `adforest.adaptation.report.BatchReport`.
    n_train, n_test : int
        Its records to learn and to be tested on.
    accuracy, seconds : dict of str to float
        By method: the share of the test set it gets right after learning, and the CPU seconds of learning.
    """

    batch: int
    stage: str
    scenario: str
    drift: str
    answering: str
    n_new_classes: int
    n_train: int
    n_test: int
    accuracy: dict[str, float]
    seconds: dict[str, float]


@dataclass(frozen=True)
class DemoRun:
    """Everything the table and the picture are drawn from."""

    settings: DemoSettings
    max_features: int
    memory_size: int | None
    batches: list[BatchResult]

    def mean(self, measure: str, method: str, stage: str | None = None) -> float:
        """Return a method's mean ``"accuracy"`` or ``"seconds"`` over the batches, or over those of one stage."""
        results = [result for result in self.batches if stage in (None, result.stage)]
        return float(np.mean([getattr(result, measure)[method] for result in results]))


def run_demo(settings: DemoSettings, on_progress: Callable[[float], None] = lambda share: None) -> DemoRun:
    """Let every method learn the stream, batch by batch, and test each on the same records.

    Parameters
    ----------
    settings : DemoSettings
    on_progress : callable, optional
        Called after each batch with the share of the work done.

    Returns
    -------
    DemoRun
    """
    house = make_house(settings.n_records, random_state=settings.seed)
    batches = simulate_scenarios(house.X, house.y, categorical=house.categorical, random_state=settings.seed)
    model = AdaptiveDecisionForestClassifier(
        TREES, categorical_features=list(house.categorical), n_jobs=1, random_state=settings.seed
    )
    max_features = int(math.log2(house.X.shape[1])) + 1  # what our default comes to
    # Refitting on everything costs most, so progress goes by the records it learns.
    work = np.cumsum(np.cumsum([len(batch.y_train) for batch in batches]))
    results = []
    for end in range(len(batches)):
        results.append(_run_batch(model, batches[: end + 1], max_features, settings.seed))
        on_progress(float(work[end] / work[-1]))
    return DemoRun(settings, max_features, model.memory_size, results)


def _run_batch(
    model: AdaptiveDecisionForestClassifier, so_far: list[Batch], max_features: int, seed: int
) -> BatchResult:
    """Let every method learn the last of these batches and test it."""
    batch = so_far[-1]
    measured = {OURS: _learn_and_test(model.partial_fit, so_far[-1:])}
    for method, window in WINDOWS.items():
        rival = RandomForestClassifier(
            TREES, criterion="entropy", max_features=max_features, n_jobs=1, random_state=seed
        )
        measured[method] = _learn_and_test(rival.fit, so_far[-(window or len(so_far)) :])
    report = model.history_[-1]
    return BatchResult(
        batch=batch.number,
        stage=batch.scenario,
        scenario=report.scenario,
        drift=report.drift,
        answering=report.answering,
        n_new_classes=len(report.new_classes),
        n_train=len(batch.y_train),
        n_test=len(batch.y_test),
        accuracy={method: accuracy for method, (accuracy, _) in measured.items()},
        seconds={method: seconds for method, (_, seconds) in measured.items()},
    )


def _learn_and_test(learn: Callable[[Any, Any], Any], window: list[Batch]) -> tuple[float, float]:
    """Return the accuracy on the last batch's test set after learning these batches, and the seconds of learning."""
    X = np.concatenate([batch.X_train for batch in window])
    y = np.concatenate([batch.y_train for batch in window])
    start = process_time()
    model = learn(X, y)
    seconds = process_time() - start
    return float(model.score(window[-1].X_test, window[-1].y_test)), seconds


# From the record to words


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
    """Return what was compared, in a few lines to stand above the table."""
    settings = run.settings
    kept = (
        "every record" if run.memory_size is None else f"at most {run.memory_size:,} records besides the last batches"
    )
    return _wrap(
        f"House, {settings.n_records:,} made-up records, seed {settings.seed}, in 34 batches by the paper's protocol; "
        "all methods on one thread (CPU seconds), all tested on the same records, which nobody learns.",
        f"ADF-R: AdaptiveDecisionForestClassifier as it comes, {TREES} trees in each of its two or three forests; it "
        f"sees each batch once and keeps {kept}.",
        f"RF: scikit-learn's RandomForestClassifier, {TREES} trees, entropy, {run.max_features} features tried at a "
        "node, refitted for every batch on the batch, on the last 3, or on all so far.",
    )


def describe_outcome(run: DemoRun) -> str:
    """Return what the figures say, including where ADF-R loses, in a few lines to stand below the table."""
    return _wrap(
        "'stage' is the protocol's recipe; 'seen as' is what ADF-R makes of the batch's classes, given those it knew.",
        _say_accuracy(run),
        _say_stages(run),
        _say_seconds(run),
    )


def _say_accuracy(run: DemoRun) -> str:
    """Return how ADF-R's mean accuracy stands to each rival's, and how far to trust a row."""
    ours = run.mean("accuracy", OURS)
    gaps = {rival: 100 * (ours - run.mean("accuracy", rival)) for rival in WINDOWS}
    said = [f"{abs(gap):.1f} {'below' if gap < 0 else 'above'} {IN_WORDS[rival]}" for rival, gap in gaps.items()]
    n_test = float(np.mean([result.n_test for result in run.batches]))
    error = 100 * math.sqrt(ours * (1 - ours) / n_test)
    return (
        f"Accuracy: ADF-R's mean of {ours:.3f} is, in points, {_list(said)}. A row rests on about {n_test:.0f} test "
        f"records (standard error {error:.1f} points)."
    )


def _say_stages(run: DemoRun) -> str:
    """Return where ADF-R loses and gains most against the rival of the best mean."""
    best = max(WINDOWS, key=lambda rival: run.mean("accuracy", rival))
    stages = list(dict.fromkeys(result.stage for result in run.batches))
    gap = {stage: 100 * (run.mean("accuracy", OURS, stage) - run.mean("accuracy", best, stage)) for stage in stages}
    worst, kindest = min(stages, key=gap.__getitem__), max(stages, key=gap.__getitem__)
    n_behind = sum(result.accuracy[OURS] < result.accuracy[best] for result in run.batches)
    return (
        f"Against the best of the three, {IN_WORDS[best]}, ADF-R is behind in {n_behind} of {len(run.batches)} "
        f"batches; its worst stage is {worst} ({gap[worst]:+.1f} points), its best {kindest} ({gap[kindest]:+.1f})."
    )


def _say_seconds(run: DemoRun) -> str:
    """Return how ADF-R's mean seconds a batch stand to each rival's."""
    ours = run.mean("seconds", OURS)
    ratios = [f"{ours / run.mean('seconds', rival):.2f} times those of {IN_WORDS[rival]}" for rival in WINDOWS]
    return f"Seconds: ADF-R needs {ours:.3f} a batch, {_list(ratios)}."


def _list(items: list[str]) -> str:
    """Return items as one enumeration."""
    return f"{', '.join(items[:-1])} and {items[-1]}"


def _wrap(*paragraphs: str) -> str:
    """Return paragraphs folded to the width of the table."""
    return "\n".join(textwrap.fill(paragraph, WIDTH) for paragraph in paragraphs)


# The command


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the demo's options to a command line parser."""
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--records", type=int, default=RECORDS, help="houses to draw (default: %(default)s)")
    size.add_argument(
        "--quick", dest="records", action="store_const", const=QUICK_RECORDS, help=f"only {QUICK_RECORDS} of them"
    )
    parser.add_argument("--seed", type=int, default=0, help="of every draw (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("out/demo.png"), help="the picture (default: %(default)s)")


def run_and_show(options: argparse.Namespace) -> None:
    """Run the demo, print its table, and draw its picture."""
    if options.records < 1 or not 0 <= options.seed < 2**32:
        raise ValueError(
            f"got --records {options.records} and --seed {options.seed}; "
            "expected 1 record or more and a seed from 0 to 2**32 - 1"
        )
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError as error:
        raise ImportError("the demo needs rich, which is not installed. Run: pip install 'adforest[demo]'") from error
    from adforest.demo.picture import check_picture, draw_picture

    check_picture(options.out)
    start = perf_counter()
    run = _run_with_bar(DemoSettings(options.records, options.seed))
    console = Console(highlight=False, soft_wrap=True)
    text = Text("\n\n".join([describe_setting(run), format_table(run), describe_outcome(run)]))
    text.highlight_regex(r"\bsustained\b", "bold red")
    text.highlight_regex(r"\btemporary\b(?=  )", "yellow")
    console.print(text)
    draw_picture(run, options.out)
    console.print(f"\nPicture: {options.out} ({perf_counter() - start:.0f} s in all)")


def _run_with_bar(settings: DemoSettings) -> DemoRun:
    """Run the demo behind a progress bar; where nobody watches there is none."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
    columns += [TimeRemainingColumn(), TextColumn("left")]
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("34 batches, 4 methods", total=1.0)
        return run_demo(settings, lambda share: progress.update(task, completed=share))
