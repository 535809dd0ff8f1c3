"""Big data: 80 % of a data set dealt into 34 random batches, tested once at the end."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_quick, caveats_as_published
from experiments.comparison.comparison import Comparison, points
from experiments.comparison.published import METHOD_OF_COLUMN, read_published
from experiments.comparison.published_comparison import tabulate
from experiments.comparison.results import PerSeed, Results, last_of
from experiments.reporting.chapter import Chapter, Figure, Table
from experiments.reporting.plots import dots
from experiments.specs.methods import is_installed
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, ADF_PAPER, dataset_streams, plan_methods, plan_runs

SUMMARY = "LDPA and UIFWA in 34 random batches, tested once: how near batches come to learning all at once"
DATASETS = ("LDPA", "UIFWA")
CIRF = METHOD_OF_COLUMN["CIRF"]
IN_BATCHES = (CIRF, *ADF_PAPER, *ADF)
AT_ONCE = "SysFor batch paper"
AS_PUBLISHED = {"SysFor (whole data)": AT_ONCE, "CIRF": CIRF, "ADF": "ADF-S paper"}
DEFAULTS = {"ADF": "ADF-S"}
LEAVES = {
    f"{name}, leaves of {leaf}": MethodSpec.of(name, min_samples_leaf=leaf)
    for name in ("ADF-R paper", "ADF-S paper")
    for leaf in (100, 20)
}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    streams = dataset_streams(options, "big", DATASETS)
    return [
        *plan_methods(streams, filter(is_installed, IN_BATCHES), options),
        *plan_runs(streams, LEAVES.values(), options.seeds),
        *plan_methods(dataset_streams(options, "whole", DATASETS), [AT_ONCE], options),
    ]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    batches = Comparison(results, dataset_streams(options, "big", DATASETS), last_of("accuracy"))
    once = Comparison(results, dataset_streams(options, "whole", DATASETS), last_of("accuracy"))
    names = batches.present(IN_BATCHES)
    return Chapter(
        name="bigdata",
        title="A large data set in batches",
        question="How much is lost by learning a large data set batch after batch instead of at once?",
        findings=(
            *(
                _describe_loss(batches, once, stream, name)
                for stream in batches.streams
                for name in ("ADF-S paper", "ADF-S")
            ),
            f"Best of those that learn in batches: {batches.describe_leaders(names)}.",
        ),
        caveats=(
            "SysFor at once holds all samples at the same time. Our defaults keep at most memory_size of them besides "
            "the last batches: on these data sets that is most of what they see.",
            "The published benchmark is called a tree in the text and SysFor in the table; here it is a forest of 10. "
            "Which base forest the published ADF is built on is not said; here it is SysFor.",
            *caveats_as_published(options, "LDPA"),
            *caveat_quick(options, "LDPA and UIFWA"),
        ),
        tables=(
            _published_table(batches, once),
            batches.table("Accuracy on the 20 % nobody learns", names, note="All that learn in 34 batches."),
            Comparison(results, batches.streams, last_of("accuracy"), LEAVES).table(
                "By the minimum samples of a leaf",
                note="Batches of one distribution seldom lower the confidence of leaves of 100 samples by more than "
                "the error tolerance: few are perturbed, and trees stop growing.",
            ),
        ),
        figures=(_figure(batches, once, names),),
        command=options.command("bigdata"),
    )


def _describe_loss(batches: Comparison, once: Comparison, stream: str, ours: str) -> str:
    """Return how far ADF in batches is from SysFor that learns all at once."""
    mine, whole = batches.value(stream, ours), once.value(stream, AT_ONCE)
    return (
        f"{stream}: {ours} in 34 batches reaches {mine:.3f}, SysFor that learns all at once {whole:.3f} "
        f"({points(mine - whole)} points)."
    )


def _published_table(batches: Comparison, once: Comparison) -> Table:
    """Return ours next to the published figures."""

    def look(stream: str, name: str | None) -> PerSeed | None:
        if name is None:
            return None
        found = once if name == AT_ONCE else batches
        return found.results.per_seed(found.streams[stream], MethodSpec(name), found.measure)

    return tabulate(
        "Beside the published figures",
        read_published("bigdata_accuracy"),
        batches.streams,
        tuple(AS_PUBLISHED),
        lambda stream, column: look(stream, AS_PUBLISHED[column]),
        lambda stream, column: look(stream, DEFAULTS.get(column)),
    )


def _figure(batches: Comparison, once: Comparison, names: list[str]) -> Figure:
    """Return all accuracies as dots."""
    streams = list(batches.streams)
    series = {name: [batches.value_if_run(one, name) for one in streams] for name in names}
    series["SysFor at once"] = [once.value_if_run(one, AT_ONCE) for one in streams]
    return Figure("Accuracy after the last batch", dots(series, streams, title="accuracy"), "Right is better.")
