"""Probabilities: frauds of 0.1 to 3 % whose patterns change, and 200 classes."""

from __future__ import annotations

from collections.abc import Callable

from experiments.comparison.caveats import caveat_one_seed
from experiments.comparison.comparison import Comparison
from experiments.comparison.per_batch import PerBatch
from experiments.comparison.reliability import calibration_error, draw_reliability
from experiments.comparison.results import Measure, Results
from experiments.reporting.chapter import Chapter, Figure, Table
from experiments.running.measures import Row
from experiments.running.probability_metrics import ALARM_RATES
from experiments.specs import selections
from experiments.specs.methods import with_default_trees
from experiments.specs.options import Options
from experiments.specs.run_spec import PREQUENTIAL, MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import Streams, batch_counts

SUMMARY = "rare positives and 200 classes: average precision, recall at a fixed alarm rate, log loss, Brier score"
ADF_R, LIGHTGBM = "ADF-R", ("LightGBM last 3", "LightGBM all")
METHODS = {
    **{name: with_default_trees(name) for name in (ADF_R, "RF last 3", "RF all")},
    **{name: MethodSpec(name) for name in LIGHTGBM},
}
SHARES = (0.001, 0.005, 0.03)  # of frauds
LESS_IS_BETTER: dict[str, Measure] = {
    "Log loss": "log_loss",
    "Brier score": "brier_score",
    "Calibration error of the prediction": calibration_error(),
}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study; LightGBM, which grows a tree a class and round, does not run on many classes."""
    return [
        RunSpec(stream, method, seed, PREQUENTIAL)
        for title, stream in (_rare(options) | _many(options)).items()
        for name, method in METHODS.items()
        for seed in options.seeds
        if not (name in LIGHTGBM and title in _many(options))
    ]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    found = results.with_protocol(PREQUENTIAL)
    rare, many = _rare(options), _many(options)
    precision = Comparison(found, rare, average_precision, METHODS)
    recalls = {rate: Comparison(found, rare, recall_at(name), METHODS) for name, rate in ALARM_RATES.items()}
    top = Comparison(found, many, "top_5_accuracy", METHODS)
    return Chapter(
        name="probabilities",
        title="Rare positives and many classes",
        question="How good are probabilities where one class is rare, and where there are 200?",
        findings=(
            f"Highest average precision: {precision.describe_leaders(list(METHODS))}.",
            *(
                f"Most frauds at an alarm rate of {rate:.0%}: {one.describe_leaders(list(METHODS))}."
                for rate, one in recalls.items()
            ),
            f"Top-5 accuracy with 200 classes: {top.describe_leaders(top.present(METHODS))}.",
        ),
        caveats=(
            "The streams are simulated, and the frauds follow patterns that a forest can learn. The initial uniform "
            "part of the calibration was reduced because of them; the other constants of ADF were not chosen on them.",
            "Average precision is that of each batch, by the number of its frauds; the rarest have a few "
            "per batch, and differences of a few points are chance.",
            "LightGBM grows a tree a class and round, and did not run on 200 classes.",
            *caveat_one_seed(options),
            *(
                ["Quick: short streams of frauds of one share; they show that everything runs."]
                if options.quick
                else []
            ),
        ),
        tables=(
            precision.table("Average precision of frauds on the next batch"),
            *(one.table(f"Fraction of frauds found at an alarm rate of {rate:.0%}") for rate, one in recalls.items()),
            *_compare(found, rare, "frauds"),
            top.table("Top-5 accuracy on the next batch, 200 classes"),
            *_compare(found, many, "200 classes"),
        ),
        figures=(*_draw_precision(found, rare), *_draw_reliability(found, rare | many)),
        command=options.command("probabilities"),
    )


def average_precision(rows: list[Row]) -> float:
    """Return the mean average precision over the batches, by the number of their positives."""
    known = [(row["average_precision"], row["n_positive"]) for row in rows if row["average_precision"] is not None]
    return float(sum(value * n for value, n in known) / max(sum(n for _, n in known), 1))


def recall_at(name: str) -> Callable[[list[Row]], float]:
    """Return a measure: the share of all positives that are found at a rate of alarms, one of `ALARM_RATES`."""

    def recall(rows: list[Row]) -> float:
        return float(sum(row[f"found_{name}"] for row in rows) / max(sum(row["n_positive"] for row in rows), 1))

    return recall


def _rare(options: Options) -> dict[str, StreamSpec]:
    """Return the streams of frauds."""
    counts = batch_counts(options, full=(30, 3_000), quick=(12, selections.QUICK_SAMPLES // 20))
    return {
        f"frauds, {share:.1%}": StreamSpec.of("frauds", "changing", share=share, **counts)
        for share in (SHARES if not options.quick else SHARES[-1:])
    }


def _many(options: Options) -> dict[str, StreamSpec]:
    """Return the stream of 200 classes."""
    counts = batch_counts(options, full=(30, 2_000), quick=(12, selections.QUICK_SAMPLES // 20))
    return {"200 classes": StreamSpec.of("classes", "many", **counts)}


def _compare(found: Results, streams: Streams, what: str) -> list[Table]:
    """Return accuracy and losses of all methods."""
    accuracy = Comparison(found, streams, "accuracy", METHODS).table(f"Accuracy on the next batch, {what}")
    losses = (
        Comparison(found, streams, measure, METHODS, is_better_high=False).table(f"{title}, {what}", digits=4)
        for title, measure in LESS_IS_BETTER.items()
    )
    return [accuracy, *losses]


def _draw_precision(found: Results, streams: Streams) -> list[Figure]:
    """Return average precision along each stream of frauds."""
    return [
        PerBatch(found, stream, list(METHODS), METHODS).figure(
            f"{title}: average precision on the next batch",
            "average_precision",
            "average precision",
            shown=list(METHODS),
        )
        for title, stream in streams.items()
    ]


def _draw_reliability(found: Results, streams: Streams) -> list[Figure]:
    """Return the reliability diagram of each stream."""
    compared = Comparison(found, streams, "accuracy", METHODS)
    return [
        draw_reliability(compared, title, [name for name in METHODS if compared.has(title, name)], list(METHODS))
        for title in streams
    ]
