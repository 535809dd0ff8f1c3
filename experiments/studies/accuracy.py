"""Accuracy: every method on the 34-batch streams of the six data sets, the published figures beside ours."""

from __future__ import annotations

from experiments.comparison.caveats import doubt_draws, doubt_left_out, doubt_stand_in
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.published_comparison import Beside, set_beside
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter, Figure
from experiments.reporting.plots import dots
from experiments.specs.options import Options
from experiments.specs.run_spec import Part
from experiments.specs.selections import ADF, ADF_PAPER, PEERS, RIVALS, plan_main, streams_of

SUMMARY = "mean accuracy over 34 batches: six data sets, ADF and every rival, published figures beside"


def plan(options: Options) -> list[Part]:
    """Return the parts to run."""
    return plan_main(options)


def tell(results: Results, options: Options) -> Chapter:
    """Return what came out."""
    streams = streams_of(options)
    found = Comparison(results, streams, "accuracy")
    names = found.present((*ADF, *RIVALS))
    beside = Beside() if options.quick else set_beside(found, "overall_accuracy", "Ours beside the published figures")
    series = {name: [found.value_if_run(stream, name) for stream in streams] for name in names}
    return Chapter(
        name="accuracy",
        title="Accuracy over 34 batches",
        question="How often is each method right on the test set that follows each batch?",
        findings=(
            f"Highest mean accuracy of {len(names)} methods: {found.say_leaders(names)}.",
            *(found.say_gap(max(ADF, key=found.mean), rival) for rival in found.complete(PEERS)),
            _say_paper(found),
            *beside.findings,
        ),
        doubts=(
            *filter(None, (found.say_losses(ours, RIVALS) for ours in ADF)),
            *beside.doubts,
            *([] if options.quick else ["House is drawn by our own generator; the paper's House is not public."]),
            *doubt_draws(options),
            *doubt_left_out(options),
            *doubt_stand_in(options, "the six data sets"),
        ),
        tables=(
            found.table("Mean accuracy over the batches, as they come", names, note="10 trees each. Dash: not run."),
            found.table(
                "Mean accuracy with the paper's settings", (*ADF_PAPER, "RF batch paper", "SysFor batch paper")
            ),
            *beside.tables,
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


def _say_paper(found: Comparison) -> str:
    """Return what our defaults change against the paper's settings."""
    changes = {ours: found.mean(ours) - found.mean(paper) for ours, paper in zip(ADF, ADF_PAPER, strict=True)}
    said = join_words([f"{name} {100 * change:+.1f}" for name, change in changes.items()])
    return f"Our defaults against the paper's settings, points on average over the data sets: {said}."
