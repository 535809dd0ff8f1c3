"""Accuracy: the paper's overall table, six data sets in 34 batches, published and ours side by side."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_quick, caveats_as_published
from experiments.comparison.comparison import Comparison
from experiments.comparison.published import METHOD_OF_COLUMN
from experiments.comparison.published_comparison import PublishedComparison, plan_as_published
from experiments.comparison.results import Results
from experiments.comparison.stages import caveat_large_leaves, describe_drift, drift_table, large_leaf_tables
from experiments.reporting.chapter import Chapter, Figure
from experiments.reporting.plots import dots
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, dataset_streams, plan_runs

SUMMARY = "mean accuracy over 34 batches: six data sets, the paper's eleven methods, published figures beside"

CIRF_BASES = {"random forest": "CIRF paper", "SysFor": "CIRF-S paper"}
CIRF = {  # by what a table calls it; the paper does not say what CIRF started from
    f"{base}, leaves of {leaf}": MethodSpec.of(name, min_samples_leaf=leaf)
    for base, name in CIRF_BASES.items()
    for leaf in (100, 20, 1)
}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    streams = dataset_streams(options)
    return [*plan_as_published(streams, options), *plan_runs(streams, CIRF.values(), options.seeds)]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options)
    found = Comparison(results, streams, "accuracy")
    published = PublishedComparison(found, "overall_accuracy")
    names = found.present(METHOD_OF_COLUMN.values())
    series = {name: [found.value_if_run(stream, name) for stream in streams] for name in (*names, *ADF)}
    return Chapter(
        name="accuracy",
        title="Accuracy over 34 batches",
        question="How often is each method right on the test set that follows each batch?",
        findings=(
            f"Highest mean accuracy with the paper's settings: {found.describe_leaders(names)}.",
            *published.describe_differences(),
            published.describe_defaults(),
            *describe_drift(results, streams),
        ),
        caveats=(
            *caveats_as_published(options, "House"),
            "House is drawn by our own generator; the paper's House is not public.",
            *caveat_large_leaves(results, streams),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            published.make_table("Ours beside the published figures"),
            *large_leaf_tables(results, streams),
            drift_table(results, streams),
            Comparison(results, streams, "accuracy", CIRF).table(
                "CIRF by what it starts from", note="The published CIRF is in the first table."
            ),
        ),
        figures=(
            Figure(
                "Accuracy by data set",
                dots(series, list(streams), title="mean accuracy over the batches"),
                "Each dot is a method's mean accuracy over the batches of a data set.",
            ),
        ),
        command=options.command("accuracy"),
    )
