"""LDPA: the paper's 34 batches one by one."""

from __future__ import annotations

from experiments.comparison.caveats import WHY_THEY_DIFFER, doubt_draws, doubt_stand_in
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.per_batch import Detail
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter
from experiments.running.prequential import FORESTS
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, Part
from experiments.specs.selections import ADF, PEERS, SHOWN, plan_on, runs_on, streams_of

SUMMARY = "the 34 batches of LDPA one by one, published figures beside"


def plan(options: Options) -> list[Part]:
    """Return the parts to run."""
    return plan_on(streams_of(options, names=["LDPA"]), runs_on("LDPA", options), options)


def tell(results: Results, options: Options) -> Chapter:
    """Return what came out."""
    streams = streams_of(options, names=["LDPA"])
    ((title, stream),) = streams.items()
    found = Comparison(results, streams, "accuracy")
    detail = Detail(results, stream, found.present(SHOWN))
    ours = max(ADF, key=found.mean)
    table = "ldpa_34_batches_accuracy"
    return Chapter(
        name="ldpa",
        title=f"{title}, batch by batch",
        question="Where along the stream does each method do well, and where does it break?",
        findings=(
            _say_wins(detail, ours),
            *(detail.say_stages(ours, rival) for rival in found.present(PEERS)),
            *(_say_verdicts(results, detail, name) for name in ADF),
        ),
        doubts=(
            *_doubt_new_classes(detail, ours),
            *([] if options.quick else WHY_THEY_DIFFER),
            *doubt_draws(options),
            *doubt_stand_in(options, "LDPA"),
        ),
        tables=(
            detail.table("Accuracy after each batch"),
            *([] if options.quick else [detail.published_table(table, "Mean accuracy of each stage")]),
        ),
        figures=(
            detail.figure("Accuracy along the stream", "accuracy", "accuracy", shown=(*ADF, "RF all", "RF last 3")),
        ),
        command=options.command("ldpa"),
    )


def _say_wins(detail: Detail, ours: str) -> str:
    """Return in how many batches ours is the best of those shown."""
    columns = {name: detail.along(name) for name in detail.names}
    best = [
        max(value for column in columns.values() if (value := column[i]) is not None) for i in range(len(detail.rows))
    ]
    wins = {
        name: sum(value == top for value, top in zip(column, best, strict=True)) for name, column in columns.items()
    }
    most = max(wins, key=wins.__getitem__)
    return (
        f"{ours} is the best of {len(columns)} methods, or level with it, in {wins[ours]} of {len(best)} batches; "
        f"most often it is {most} ({wins[most]})."
    )


def _say_verdicts(results: Results, detail: Detail, name: str) -> str:
    """Return what an ADF took for drift, and which of its forests answered."""
    rows = results.rows(detail.stream, MethodSpec(name))
    drifts = [row["batch"] for row in rows if row["drift"] == "temporary"]
    lasting = [row["batch"] for row in rows if row["drift"] == "sustained"]
    answering = {forest: sum(row["answering"] == forest for row in rows) for forest in FORESTS}
    who = join_words([f"the {forest} forest after {n} batches" for forest, n in answering.items() if n])
    return (
        f"{name} calls {len(drifts)} of {len(rows)} batches a temporary drift and {len(lasting)} a sustained one; "
        f"who answers: {who}."
    )


def _doubt_new_classes(detail: Detail, ours: str) -> list[str]:
    """Return in which stage ours is weakest."""
    by_stage = detail.by_stage(ours)
    worst = min(by_stage, key=by_stage.__getitem__)
    return [f"{ours} is weakest in {worst}: {by_stage[worst]:.3f} on average."]
