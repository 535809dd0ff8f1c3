"""Rivals: ADF and every other method on the 34-batch streams of the six data sets."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_methods_left_out, caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter, Figure
from experiments.reporting.plots import dots
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.specs.selections import ADF, ADF_PAPER, COMMON_RIVALS, RIVALS, dataset_streams, plan_34_batches

SUMMARY = "mean accuracy over 34 batches of ADF and every rival: refitted, incremental, River's, LightGBM"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_34_batches(options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options)
    found = Comparison(results, streams, "accuracy")
    names = found.present((*ADF, *RIVALS))
    series = {name: [found.value_if_run(stream, name) for stream in streams] for name in names}
    return Chapter(
        name="rivals",
        title="All methods over 34 batches",
        question="Which of all the methods is right most often on the test set that follows each batch?",
        findings=(
            f"Highest mean accuracy of {len(names)} methods: {found.describe_leaders(names)}.",
            *(found.describe_gap(max(ADF, key=found.mean), rival) for rival in found.complete(COMMON_RIVALS)),
            _describe_paper(found),
        ),
        caveats=(
            *filter(None, (found.describe_losses(ours, RIVALS) for ours in ADF)),
            *([] if options.quick else ["House is drawn by our own generator; the paper's House is not public."]),
            *caveat_one_seed(options),
            *caveat_methods_left_out(options),
            *caveat_quick(options, "the six data sets"),
        ),
        tables=(
            found.table("Mean accuracy over the batches, as they come", names, note="10 trees each. Dash: not run."),
            found.table("Mean accuracy with the paper's settings", ADF_PAPER),
        ),
        figures=(
            Figure(
                "Accuracy by data set",
                dots(series, list(streams), title="mean accuracy over the batches"),
                "Each dot is a method's mean accuracy over the batches of a data set.",
            ),
        ),
        command=options.command("rivals"),
    )


def _describe_paper(found: Comparison) -> str:
    """Return what our defaults change against the paper's settings."""
    changes = {ours: found.mean(ours) - found.mean(paper) for ours, paper in zip(ADF, ADF_PAPER, strict=True)}
    said = join_words([f"{name} {100 * change:+.1f}" for name, change in changes.items()])
    return f"Our defaults against the paper's settings, points on average over the data sets: {said}."
