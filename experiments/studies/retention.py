"""Retention: accuracy on held-back records of all earlier batches, along the stream and at its end."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_methods_left_out, caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, points
from experiments.comparison.per_batch import PerBatch
from experiments.comparison.results import Results, last_of
from experiments.reporting.chapter import Chapter
from experiments.running.holdout import RETAINED, RETAINED_AT_LAST
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import ADF, COMMON_RIVALS, RIVALS, dataset_streams, plan_34_batches

SUMMARY = "accuracy on held-back records of all earlier batches: what is kept of what was learnt"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_34_batches(options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options)
    last = Comparison(results, streams, last_of("retention"))
    by_batch = Comparison(results, streams, "retention")
    recent = Comparison(results, streams, "accuracy")
    names = last.present((*ADF, *RIVALS))
    ours = max(ADF, key=last.mean)
    first = next(iter(streams))
    return Chapter(
        name="retention",
        title="Retention",
        question="After the last batch, how much of all earlier batches can each method still answer?",
        findings=(
            f"Highest retention at the end of {len(names)} methods: {last.describe_leaders(names)}.",
            *(last.describe_gap(ours, rival) for rival in last.complete(COMMON_RIVALS)),
            *(_describe_trade(recent, last, ours, rival) for rival in last.complete(("RF last 3", "RF all"))),
        ),
        caveats=(
            *filter(None, (last.describe_losses(one, RIVALS, "retains less at the end than") for one in ADF)),
            *filter(None, (by_batch.describe_losses(one, RIVALS, "retains less along the stream than") for one in ADF)),
            "The rules of these data sets never change: what was true of old records is true of new ones. Where rules "
            "do change, keeping old answers is a fault.",
            f"Along the stream each model is asked for a sample of {RETAINED:,} held-back records, at the end for at "
            f"most {RETAINED_AT_LAST:,}; the tests of the two following batches draw from these records too.",
            *caveat_one_seed(options),
            *caveat_methods_left_out(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            last.table("Accuracy on held-back records of all batches, after the last", names),
            by_batch.table("The same, mean along the stream over all batches so far", names),
        ),
        figures=(
            PerBatch(
                results, streams[first], Comparison(results, {first: streams[first]}, "accuracy").present(names)
            ).figure(
                f"{first}: retention along the stream", "retention", "retention", shown=(*ADF, "RF all", "RF last 3")
            ),
        ),
        command=options.command("retention"),
    )


def _describe_trade(recent: Comparison, last: Comparison, ours: str, rival: str) -> str:
    """Return what ours gains on recent records and on all of them, beside a rival."""
    now = points(recent.mean_gap(ours, rival))
    kept = points(last.mean_gap(ours, rival))
    return f"Beside {rival}, {ours} has {now} points on the tests of recent batches and {kept} on all of them."
