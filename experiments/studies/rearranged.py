"""Rearranged: the 28-batch protocol on LDPA and UIFWA."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_quick, caveats_as_published
from experiments.comparison.comparison import Comparison
from experiments.comparison.per_batch import PerBatch
from experiments.comparison.published import METHOD_OF_COLUMN
from experiments.comparison.published_comparison import PublishedComparison, plan_as_published
from experiments.comparison.results import Results
from experiments.comparison.stages import caveat_large_leaves, describe_drift, drift_table, large_leaf_tables
from experiments.reporting.chapter import Chapter
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import ADF, ADF_PAPER, dataset_streams

SUMMARY = "the 28-batch protocol without single-class batches: LDPA in detail, LDPA and UIFWA overall"
DATASETS = ("LDPA", "UIFWA")
PUBLISHED, PUBLISHED_BY_BATCH = "overall_rearranged_accuracy", "ldpa_28_rearranged_accuracy"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_as_published(dataset_streams(options, "28", DATASETS), options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options, "28", DATASETS)
    found = Comparison(results, streams, "accuracy")
    published = PublishedComparison(found, PUBLISHED)
    first = next(iter(streams))
    columns = found.present(METHOD_OF_COLUMN.values())
    per_batch = PerBatch(results, streams[first], (*columns, *ADF))
    return Chapter(
        name="rearranged",
        title="The stages in another order",
        question="Does it matter that mixtures of old and new classes come before the new classes alone?",
        findings=(
            f"Highest mean accuracy with the paper's settings: {found.describe_leaders(columns)}.",
            *published.describe_differences(),
            published.describe_defaults(),
            *describe_drift(results, streams),
        ),
        caveats=(
            *caveats_as_published(options, "LDPA"),
            *caveat_large_leaves(results, streams),
            *caveat_quick(options, "LDPA and UIFWA"),
        ),
        tables=(
            published.make_table("Ours beside the published figures, 28 batches"),
            *per_batch.published_tables(f"{first}, accuracy after each batch", PUBLISHED_BY_BATCH),
            per_batch.published_stages(f"{first}: mean accuracy of each stage", PUBLISHED_BY_BATCH),
            *large_leaf_tables(results, streams),
            drift_table(results, streams),
        ),
        figures=(
            per_batch.figure(
                f"{first}: accuracy along the stream", "accuracy", "accuracy", shown=(*ADF_PAPER, "RF batch paper")
            ),
        ),
        command=options.command("rearranged"),
    )
