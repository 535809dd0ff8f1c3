"""Big data: 80 % of a data set dealt into 34 random batches, tested once at the end."""

from __future__ import annotations

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, points
from experiments.comparison.published import read_published
from experiments.comparison.results import Results, last_of
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import dots
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, RunSpec
from experiments.specs.selections import ADF, ADF_PAPER, dataset_streams, plan_methods

SUMMARY = "LDPA and UIFWA in 34 random batches, tested once: how near batches come to learning all at once"
DATASETS = ("LDPA", "UIFWA")
IN_BATCHES = (*ADF, *ADF_PAPER, "RF last 3", "Add trees", "CIRF", "CIRF paper", "NCMC", "LightGBM", "HT")
AT_ONCE = ("RF batch", "SysFor batch", "RF batch paper", "SysFor batch paper")
AS_PUBLISHED = {"SysFor (whole data)": "SysFor batch paper", "CIRF": "CIRF paper", "ADF": "ADF-S paper"}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    return [
        *plan_methods(dataset_streams(options, "big", DATASETS), IN_BATCHES, options),
        *plan_methods(dataset_streams(options, "whole", DATASETS), AT_ONCE, options),
    ]


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    batches = Comparison(results, dataset_streams(options, "big", DATASETS), last_of("accuracy"))
    once = Comparison(results, dataset_streams(options, "whole", DATASETS), last_of("accuracy"))
    ours = max(ADF, key=batches.mean)
    names = [name for name in batches.present(IN_BATCHES) if "paper" not in name]
    return Chapter(
        name="bigdata",
        title="A large data set in batches",
        question="How much is lost by learning a large data set batch after batch instead of at once?",
        findings=(
            *_describe_loss(batches, once, ours),
            f"Best of those that learn in batches: {batches.describe_leaders(names)}.",
            *(batches.describe_gap(ours, rival) for rival in ("Add trees", "CIRF", "RF last 3")),
        ),
        caveats=(
            *filter(None, (batches.describe_losses(one, (name for name in names if name not in ADF)) for one in ADF)),
            "RF and SysFor at once hold all records at the same time. ADF keeps at most memory_size of them besides "
            "the last batches: on these data sets that is most of what it sees.",
            "The published benchmark is called a tree in the text and SysFor in the table; here it is a forest of 10.",
            *caveat_one_seed(options),
            *caveat_quick(options, "LDPA and UIFWA"),
        ),
        tables=(
            _table(batches, once),
            *([] if options.quick else [_published_table(batches, once)]),
        ),
        figures=(_figure(batches, once),),
        command=options.command("bigdata"),
    )


def _describe_loss(batches: Comparison, once: Comparison, ours: str) -> list[str]:
    """Return how far ADF in batches is from a forest that learns all at once."""
    said = []
    for stream in batches.streams:
        mine, whole = batches.value(stream, ours), once.value(stream, "RF batch")
        said.append(
            f"{stream}: {ours} in 34 batches reaches {mine:.3f}, a random forest that learns all at once "
            f"{whole:.3f} ({points(mine - whole)} points)."
        )
    return said


def _table(batches: Comparison, once: Comparison) -> Table:
    """Return all accuracies, those of learning at once last."""
    names = batches.present(IN_BATCHES)
    rows: list[tuple[Cell, ...]] = [
        (
            stream,
            *(_cell(batches, stream, name) for name in names),
            *(_cell(once, stream, name) for name in AT_ONCE),
        )
        for stream in batches.streams
    ]
    heads = ("data set", *names, *map(_at_once, AT_ONCE))
    return Table("Accuracy on the 20 % nobody learns", heads, tuple(rows), 3, "max")


def _at_once(name: str) -> str:
    """Return what a forest fitted once is called."""
    return name.replace("batch", "at once")


def _cell(found: Comparison, stream: str, name: str) -> Cell:
    """Return a figure as it stands in a table."""
    return found.results.cell(found.streams[stream], MethodSpec(name), found.measure)


def _published_table(batches: Comparison, once: Comparison) -> Table:
    """Return ours with the paper's settings above the published figures."""
    theirs = read_published("bigdata_accuracy")
    rows: list[tuple[Cell, ...]] = []
    for stream in batches.streams:
        found = {
            name: (once if "whole" in name else batches).value_if_run(stream, ours)
            for name, ours in AS_PUBLISHED.items()
        }
        rows.append((f"{stream}, ours", *found.values()))
        rows.append((f"{stream}, published", *(theirs.value(stream, name) for name in AS_PUBLISHED)))
    note = "The paper's ADF is built on SysFor here."
    return Table("Beside the published figures", ("data set", *AS_PUBLISHED), tuple(rows), 3, "max", note)


def _figure(batches: Comparison, once: Comparison) -> Figure:
    """Return all accuracies as dots."""
    streams = list(batches.streams)
    series = {name: [batches.value_if_run(one, name) for one in streams] for name in batches.present(IN_BATCHES)}
    series |= {_at_once(name): [once.value_if_run(one, name) for one in streams] for name in AT_ONCE}
    return Figure("Accuracy after the last batch", dots(series, streams, title="accuracy"), "Right is better.")
