"""Rearranged: the 28-batch protocol on LDPA and UIFWA."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.per_batch import PerBatch
from experiments.comparison.published_comparison import PublishedComparison, compare_with_published
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import (
    ADF,
    ADF_PAPER,
    ALL_METHODS,
    COMMON_RIVALS,
    SHOWN,
    dataset_streams,
    plan_methods,
)

SUMMARY = "the 28-batch protocol without single-class batches: LDPA in detail, LDPA and UIFWA overall"
DATASETS = ("LDPA", "UIFWA")
LEFT_OUT = ("NCMF", "ARF", "OzaBag", "LeveragingBag", "SRP", "AMF")
NAMES = tuple(name for name in ALL_METHODS if name not in LEFT_OUT)


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_methods(dataset_streams(options, "28", DATASETS), NAMES, options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options, "28", DATASETS)
    found = Comparison(results, streams, "accuracy")
    first = next(iter(streams))
    names = [name for name in found.present(NAMES) if "paper" not in name]
    per_batch = PerBatch(results, streams[first], found.present(SHOWN))
    title = "Ours beside the published figures, 28 batches"
    published = (
        PublishedComparison() if options.quick else compare_with_published(found, "overall_rearranged_accuracy", title)
    )
    ours = max(ADF, key=found.mean)
    return Chapter(
        name="rearranged",
        title="The stages in another order",
        question="Does it matter that mixtures of old and new classes come before the new classes alone?",
        findings=(
            f"Highest mean accuracy of {len(names)} methods: {found.describe_leaders(names)}.",
            *(found.describe_gap(ours, rival) for rival in found.present(COMMON_RIVALS)),
            *published.findings,
        ),
        caveats=(
            *filter(None, (found.describe_losses(one, (name for name in names if name not in ADF)) for one in ADF)),
            *published.caveats,
            f"Left out here because they take minutes a stream: {join_words(LEFT_OUT)}.",
            *caveat_one_seed(options),
            *caveat_quick(options, "LDPA and UIFWA"),
        ),
        tables=(
            found.table("Mean accuracy over 28 batches", names),
            found.table("Mean accuracy with the paper's settings", ADF_PAPER),
            *published.tables,
            per_batch.table(f"{first}: accuracy after each batch"),
            *(
                []
                if options.quick
                else [per_batch.published_table("ldpa_28_rearranged_accuracy", "LDPA: mean accuracy of each stage")]
            ),
        ),
        figures=(
            per_batch.figure(f"{first}: accuracy along the stream", "accuracy", "accuracy", shown=(*ADF, "RF all")),
        ),
        command=options.command("rearranged"),
    )
