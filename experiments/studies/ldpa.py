"""LDPA: the paper's 34 batches one by one."""

from __future__ import annotations

from adforest.adaptation import FORESTS
from experiments.comparison.caveats import caveat_quick, caveats_as_published
from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.per_batch import PerBatch
from experiments.comparison.published import METHOD_OF_COLUMN
from experiments.comparison.published_comparison import plan_as_published
from experiments.comparison.results import Results
from experiments.comparison.stages import drift_table
from experiments.reporting.chapter import Chapter
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, ADF_PAPER, dataset_streams

SUMMARY = "the 34 batches of LDPA one by one, published figures beside"
PUBLISHED = "ldpa_34_batches_accuracy"


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return plan_as_published(dataset_streams(options, names=["LDPA"]), options)


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    streams = dataset_streams(options, names=["LDPA"])
    ((title, stream),) = streams.items()
    found = Comparison(results, streams, "accuracy")
    columns = found.present(METHOD_OF_COLUMN.values())
    per_batch = PerBatch(results, stream, (*columns, *ADF))
    ours = max(ADF_PAPER, key=found.mean)
    return Chapter(
        name="ldpa",
        title=f"{title}, batch by batch",
        question="Where along the stream does each method do well, and where does it break?",
        findings=(
            describe_wins(per_batch, columns, ours),
            *(per_batch.describe_stages(ours, rival) for rival in columns if rival not in ADF_PAPER),
            *(_describe_verdicts(results, per_batch, name) for name in (*ADF_PAPER, *ADF)),
        ),
        caveats=(
            *(_caveat_weakest(per_batch, name) for name in ADF_PAPER),
            *caveats_as_published(options, "LDPA"),
            *caveat_quick(options, "LDPA"),
        ),
        tables=(
            *per_batch.published_tables("Accuracy after each batch", PUBLISHED),
            per_batch.published_stages("Mean accuracy of each stage", PUBLISHED),
            drift_table(results, streams),
        ),
        figures=(
            per_batch.figure("Accuracy along the stream", "accuracy", "accuracy", shown=(*ADF_PAPER, "RF batch paper")),
        ),
        command=options.command("ldpa"),
    )


def describe_wins(per_batch: PerBatch, names: list[str], ours: str) -> str:
    """Return in how many batches ours is the best of some methods."""
    columns = {name: per_batch.by_batch(name) for name in names}
    best = [
        max(value for column in columns.values() if (value := column[i]) is not None)
        for i in range(len(per_batch.rows))
    ]
    wins = {
        name: sum(value == top for value, top in zip(column, best, strict=True)) for name, column in columns.items()
    }
    most = max(wins, key=wins.__getitem__)
    return (
        f"{ours} is the best of {len(columns)} methods with the paper's settings, or level with it, in {wins[ours]} of "
        f"{len(best)} batches; most often it is {most} ({wins[most]})."
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


def _caveat_weakest(per_batch: PerBatch, ours: str) -> str:
    """Return in which stage ours is weakest."""
    by_stage = per_batch.by_stage(ours)
    worst = min(by_stage, key=by_stage.__getitem__)
    return f"{ours} is weakest in {worst}: {by_stage[worst]:.3f} on average."
