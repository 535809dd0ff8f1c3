"""Rearranged: the 28-batch protocol on LDPA and UIFWA."""

from __future__ import annotations

from experiments.comparison.caveats import doubt_draws, doubt_stand_in
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.per_batch import Detail
from experiments.comparison.published_comparison import Beside, set_beside
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter
from experiments.specs.options import Options
from experiments.specs.run_spec import Part
from experiments.specs.selections import ADF, ADF_PAPER, EVERY, PEERS, SHOWN, plan_on, streams_of

SUMMARY = "the 28-batch protocol without single-class batches: LDPA in detail, LDPA and UIFWA overall"
DATASETS = ("LDPA", "UIFWA")
LEFT_OUT = ("NCMF", "ARF", "OzaBag", "LeveragingBag", "SRP", "AMF")
NAMES = tuple(name for name in EVERY if name not in LEFT_OUT)


def plan(options: Options) -> list[Part]:
    """Return the parts to run."""
    return plan_on(streams_of(options, "28", DATASETS), NAMES, options)


def tell(results: Results, options: Options) -> Chapter:
    """Return what came out."""
    streams = streams_of(options, "28", DATASETS)
    found = Comparison(results, streams, "accuracy")
    first = next(iter(streams))
    names = [name for name in found.present(NAMES) if "paper" not in name]
    detail = Detail(results, streams[first], found.present(SHOWN))
    title = "Ours beside the published figures, 28 batches"
    beside = Beside() if options.quick else set_beside(found, "overall_rearranged_accuracy", title)
    ours = max(ADF, key=found.mean)
    return Chapter(
        name="rearranged",
        title="The stages in another order",
        question="Does it matter that mixtures of old and new classes come before the new classes alone?",
        findings=(
            f"Highest mean accuracy of {len(names)} methods: {found.say_leaders(names)}.",
            *(found.say_gap(ours, rival) for rival in found.present(PEERS)),
            *beside.findings,
        ),
        doubts=(
            *filter(None, (found.say_losses(one, (name for name in names if name not in ADF)) for one in ADF)),
            *beside.doubts,
            f"Left out here because they take minutes a stream: {join_words(LEFT_OUT)}.",
            *doubt_draws(options),
            *doubt_stand_in(options, "LDPA and UIFWA"),
        ),
        tables=(
            found.table("Mean accuracy over 28 batches", names),
            found.table("Mean accuracy with the paper's settings", ADF_PAPER),
            *beside.tables,
            detail.table(f"{first}: accuracy after each batch"),
            *(
                []
                if options.quick
                else [detail.published_table("ldpa_28_rearranged_accuracy", "LDPA: mean accuracy of each stage")]
            ),
        ),
        figures=(detail.figure(f"{first}: accuracy along the stream", "accuracy", "accuracy", shown=(*ADF, "RF all")),),
        command=options.command("rearranged"),
    )
