"""Goal 6: vanished classes are remembered, new ones learnt at once, rare ones not lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.comparison.comparison import Comparison
from experiments.comparison.results import Results
from experiments.goals.goal import Outcome, Verdict, at_least
from experiments.reporting.chapter import Cell, Figure, Table
from experiments.reporting.plots import lines
from experiments.running.measures import Row
from experiments.specs.generators import FIRST_CLASSES, LAST_SEEN, NEW_EVERY, RARE
from experiments.specs.methods import with_default_trees
from experiments.specs.options import Options
from experiments.specs.run_spec import RECALL, RunSpec, StreamSpec
from experiments.specs.selections import plan_runs

TITLE = "6 Classes"
ADF_R, RF_ALL, RF_LAST_3 = "ADF-R", "RF all", "RF last 3"
METHODS = {name: with_default_trees(name) for name in (ADF_R, RF_ALL, RF_LAST_3)}
N_BATCHES = {"vanishing": 105, "new": 22, "rare": 30}
QUICK_BATCHES = {"vanishing": 15, "new": 13, "rare": 10}
MIN_RECALL_CHANGE = -5.0  # points that a class may lose in a hundred batches without it
SKIPPED_BATCHES = 5  # batches before rare classes are asked for


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the goal."""
    return plan_runs(class_streams(options), METHODS.values(), options.seeds, RECALL)


def class_streams(options: Options) -> dict[str, StreamSpec]:
    """Return a stream for each way in which classes come and go."""
    batches = QUICK_BATCHES if options.quick else N_BATCHES
    size = 200 if options.quick else 500
    return {way: StreamSpec.of("classes", way, n_batches=n, batch_size=size) for way, n in batches.items()}


def last_recall(rows: list[Row]) -> float:
    """Return the recall of the vanished class after the last batch."""
    return float(rows[-1]["recall_0"])


def lost_recall(rows: list[Row]) -> float:
    """Return what the recall of the vanished class has gained since it was last seen."""
    return last_recall(rows) - float(rows[LAST_SEEN - 1]["recall_0"])


def first_recall(rows: list[Row]) -> float:
    """Return the recall of new classes after the batch that brought them, their mean."""
    arrivals = range(NEW_EVERY, len(rows), NEW_EVERY)
    return float(np.mean([rows[place][f"recall_{FIRST_CLASSES + k}"] for k, place in enumerate(arrivals)]))


def rare_recall(rows: list[Row]) -> float:
    """Return the recall of the rare classes, their mean along the stream once it has settled."""
    return float(np.mean([row[f"recall_{value}"] for row in rows[SKIPPED_BATCHES:] for value in RARE]))


MEASURES: dict[str, Callable[[list[Row]], float]] = {
    "vanishing": last_recall,
    "new": first_recall,
    "rare": rare_recall,
}
DESCRIPTIONS = {
    "vanishing": "recall of a class after {n} batches without it",
    "new": "recall of a new class after its first batch",
    "rare": "recall of classes of one record in a hundred",
}


def judge(results: Results, options: Options) -> Outcome:
    """Return whether the goal is met."""
    streams, recalls = class_streams(options), results.with_protocol(RECALL)
    found = {way: Comparison(recalls, {way: streams[way]}, measure, METHODS) for way, measure in MEASURES.items()}
    lost = Comparison(recalls, {"vanishing": streams["vanishing"]}, lost_recall, METHODS)
    n = dict(streams["vanishing"].options)["n_batches"]
    said = {way: words.format(n=int(n or 0) - LAST_SEEN) for way, words in DESCRIPTIONS.items()}
    return Outcome(
        verdicts=(
            _against(found, said, "vanishing", RF_ALL),
            at_least(
                f"{said['vanishing']}: points since it was last seen",
                MIN_RECALL_CHANGE,
                100 * lost.value("vanishing", ADF_R),
            ),
            _against(found, said, "new", RF_LAST_3),
            _against(found, said, "new", RF_ALL),
            _against(found, said, "rare", RF_ALL),
        ),
        findings=tuple(
            f"{said[way].capitalize()}: "
            + ", ".join(f"{name} {found[way].value(way, name):.3f}" for name in METHODS)
            + "."
            for way in found
        ),
        caveats=(
            "Classes of Gaussian clusters that overlap and stay where they are. How far the permanent forest gives way "
            "to new ones, and the others to it on rare ones, was chosen on such streams.",
            "A class that is gone has an ever smaller share of all records, so that a forest refitted on everything "
            "forgets part of it as well, see the table.",
            "A forest refitted on the last three batches has a new class at three times the share that one refitted on "
            "much of the past gives it, and pays with the others; recall of one class alone does not show that.",
        ),
        tables=(_table(found, said, lost),),
        figures=(_figure(recalls, streams["vanishing"]),),
    )


def _against(found: dict[str, Comparison], said: dict[str, str], way: str, rival: str) -> Verdict:
    """Return the verdict on ours against a rival, seed by seed."""
    return at_least(f"{said[way]}: points above {rival}", 0.0, 100 * found[way].gap(way, ADF_R, rival).mean)


def _table(found: dict[str, Comparison], said: dict[str, str], lost: Comparison) -> Table:
    """Return all recalls."""
    rows: list[tuple[Cell, ...]] = [
        (said[way], *(one.per_seed(way, name).cell() for name in METHODS)) for way, one in found.items()
    ]
    rows.insert(1, ("the same, since it was last seen", *(lost.per_seed("vanishing", name).cell() for name in METHODS)))
    return Table("6 Classes: recall on new samples", ("", *METHODS), tuple(rows), 3, "max")


def _figure(recalls: Results, stream: StreamSpec) -> Figure:
    """Return the recall of the vanishing class along the stream."""
    series = {name: recalls.by_batch(stream, method, "recall_0").tolist() for name, method in METHODS.items()}
    plot = lines(series, list(range(1, 1 + len(series[ADF_R]))), y_title="recall of the vanished class")
    return Figure("6 Classes: a class that is not seen again", plot, f"It is last seen in batch {LAST_SEEN}.")
