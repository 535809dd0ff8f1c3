"""LDPA: the paper's 34 batches one by one."""

from __future__ import annotations

from experiments.comparison.caveats import WHY_PUBLISHED_DIFFER, caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.per_batch import PerBatch
from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter
from experiments.running.measures import FORESTS
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, COMMON_RIVALS, SHOWN, dataset_streams, methods_on, plan_methods

SUMMARY = "the 34 batches of LDPA one by one, published figures beside"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_methods(dataset_streams(options, names=["LDPA"]), methods_on("LDPA", options), options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options, names=["LDPA"])
    ((title, stream),) = streams.items()
    found = Comparison(results, streams, "accuracy")
    per_batch = PerBatch(results, stream, found.present(SHOWN))
    ours = max(ADF, key=found.mean)
    table = "ldpa_34_batches_accuracy"
    return Chapter(
        name="ldpa",
        title=f"{title}, batch by batch",
        question="Where along the stream does each method do well, and where does it break?",
        findings=(
            _describe_wins(per_batch, ours),
            *(per_batch.describe_stages(ours, rival) for rival in found.present(COMMON_RIVALS)),
            *(_describe_verdicts(results, per_batch, name) for name in ADF),
        ),
        caveats=(
            *_caveat_new_classes(per_batch, ours),
            *([] if options.quick else WHY_PUBLISHED_DIFFER),
            *caveat_one_seed(options),
            *caveat_quick(options, "LDPA"),
        ),
        tables=(
            per_batch.table("Accuracy after each batch"),
            *([] if options.quick else [per_batch.published_table(table, "Mean accuracy of each stage")]),
        ),
        figures=(
            per_batch.figure("Accuracy along the stream", "accuracy", "accuracy", shown=(*ADF, "RF all", "RF last 3")),
        ),
        command=options.command("ldpa"),
    )


def _describe_wins(per_batch: PerBatch, ours: str) -> str:
    """Return in how many batches ours is the best of those shown."""
    columns = {name: per_batch.by_batch(name) for name in per_batch.names}
    best = [
        max(value for column in columns.values() if (value := column[i]) is not None)
        for i in range(len(per_batch.rows))
    ]
    wins = {
        name: sum(value == top for value, top in zip(column, best, strict=True)) for name, column in columns.items()
    }
    most = max(wins, key=wins.__getitem__)
    return (
        f"{ours} is the best of {len(columns)} methods, or level with it, in {wins[ours]} of {len(best)} batches; "
        f"most often it is {most} ({wins[most]})."
    )


def _describe_verdicts(results: Results, per_batch: PerBatch, name: str) -> str:
    """Return what an ADF took for drift, and which of its forests answered."""
    rows = results.rows(per_batch.stream, MethodSpec(name))
    drifts = [row["batch"] for row in rows if row["drift"] == "temporary"]
    lasting = [row["batch"] for row in rows if row["drift"] == "sustained"]
    answering = {forest: sum(row["answering"] == forest for row in rows) for forest in FORESTS}
    who = join_words([f"the {forest} forest after {n} batches" for forest, n in answering.items() if n])
    return (
        f"{name} calls {len(drifts)} of {len(rows)} batches a temporary drift and {len(lasting)} a sustained one; "
        f"who answers: {who}."
    )


def _caveat_new_classes(per_batch: PerBatch, ours: str) -> list[str]:
    """Return in which stage ours is weakest."""
    by_stage = per_batch.by_stage(ours)
    worst = min(by_stage, key=by_stage.__getitem__)
    return [f"{ours} is weakest in {worst}: {by_stage[worst]:.3f} on average."]
