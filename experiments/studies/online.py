"""Online: each sample is predicted, then its label is learnt, then the next; what larger batches and delay cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from experiments.comparison.caveats import caveat_one_seed, caveat_quick
from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.results import Measure, Results
from experiments.reporting.chapter import Cell, Chapter, Table
from experiments.running.measures import Row
from experiments.running.online import ROW_SAMPLES
from experiments.specs import selections
from experiments.specs.methods import PAPER_TREES, is_installed, with_default_trees
from experiments.specs.options import Options
from experiments.specs.run_spec import ONLINE, MethodSpec, RunSpec, StreamSpec
from experiments.specs.sources import IN_ORDER

SUMMARY = (
    "one sample at a time: ADF-R against rules that look at labels alone and River's learners; batch sizes, late labels"
)
N_SAMPLES, QUICK_SAMPLES = 5_000, 2_000

ADF_R = "ADF-R"
NO_CHANGE = "No change"
TRIVIAL = (NO_CHANGE, "Majority", "Markov")
RIVER = ("ARF", "LeveragingBag", "SRP", "AMF", "HAT", "KNN")
MOA = ("ARF (MOA)", "SRP (MOA)")
METHODS = {
    ADF_R: with_default_trees(ADF_R),
    **{name: MethodSpec(name) for name in (*TRIVIAL, *RIVER)},
    **{name: MethodSpec.of(name, grace_period=None) for name in MOA},  # MOA's own
}

REAL = {"elec2": "elec2", "outdoor": "outdoor", "covtype": "covtype100k"}
GENERATED = {"labels in a cycle": "cycle", "labels in runs": "runs", "independent labels": "independent"}
WHOLE = {"elec2": 45_312, "covtype": 20_000}  # samples that only ADF-R and the rules are run on
BATCH_SIZES = (1, 5, 20, 100, 1_000)
DELAYS = (0, 1, 10, 100, 1_000)  # samples


# Streams, and who runs on them


def real_streams(options: Options, batch_size: int = 1) -> dict[str, StreamSpec]:
    """Return the first samples of the real streams; in quick runs a small House instead."""
    if options.quick:
        return {"House": StreamSpec.of("house", IN_ORDER, n_samples=QUICK_SAMPLES, batch_size=batch_size)}
    return {
        title: StreamSpec.of(name, IN_ORDER, n_samples=N_SAMPLES, batch_size=batch_size) for title, name in REAL.items()
    }


def all_streams(options: Options, batch_size: int = 1) -> dict[str, StreamSpec]:
    """Return all streams, the real ones first."""
    n_batches = (QUICK_SAMPLES if options.quick else N_SAMPLES) // batch_size
    return real_streams(options, batch_size) | {
        title: StreamSpec.of("labels", variant, n_batches=n_batches, batch_size=batch_size)
        for title, variant in GENERATED.items()
    }


def whole_streams(options: Options) -> dict[str, StreamSpec]:
    """Return the real streams as far as ADF-R and the rules are run on them; none in quick runs."""
    if options.quick:
        return {}
    return {
        f"{title}, {n:,}": StreamSpec.of(REAL[title], IN_ORDER, n_samples=n, batch_size=1) for title, n in WHOLE.items()
    }


def batched_streams(options: Options) -> dict[int, dict[str, StreamSpec]]:
    """Return, by the size of a batch, the real streams and that of labels in a cycle."""
    titles = [*real_streams(options), next(iter(GENERATED))]
    return {size: {title: all_streams(options, size)[title] for title in titles} for size in BATCH_SIZES}


def delayed_streams(options: Options) -> dict[int, StreamSpec]:
    """Return the first real stream by how many samples later its labels come."""
    stream = next(iter(real_streams(options).values()))
    known = dict(stream.options)
    late = {delay: StreamSpec.of(stream.name, stream.variant, **known, delay=delay) for delay in DELAYS if delay}
    return {0: stream} | late


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    names = [name for name in METHODS if not (options.quick and name in (*selections.NOT_QUICK, *MOA))]
    names = [name for name in names if name not in MOA or is_installed(name)]
    pairs = [(stream, name) for stream in all_streams(options).values() for name in names]
    pairs += [(stream, name) for stream in whole_streams(options).values() for name in (ADF_R, *TRIVIAL)]
    pairs += [(stream, ADF_R) for streams in batched_streams(options).values() for stream in streams.values()]
    pairs += [(stream, name) for stream in delayed_streams(options).values() for name in (ADF_R, NO_CHANGE)]
    methods = [(stream, METHODS[name]) for stream, name in pairs]
    methods += [(stream, told_delay(delay)) for delay, stream in delayed_streams(options).items()]
    runs = [RunSpec(stream, method, seed, ONLINE) for stream, method in methods for seed in options.seeds]
    return list(dict.fromkeys(runs))


def told_delay(delay: int) -> MethodSpec:
    """Return ADF-R that knows how many samples late labels come."""
    return with_default_trees(ADF_R, label_delay=delay) if delay else METHODS[ADF_R]


# Measures of all rows of a run


def mean_by_sample(column: str, first_row: int = 1) -> Callable[[list[Row]], float]:
    """Return a measure: the mean of a column over all samples, or over those from some row on."""

    def mean(rows: list[Row]) -> float:
        rows = [row for row in rows if row["batch"] >= first_row]
        return float(np.average([row[column] for row in rows], weights=[row["n"] for row in rows]))

    return mean


def kappa_against(column: str) -> Callable[[list[Row]], float]:
    """Return a measure: which part of a rule's mistakes is avoided, below 0 if there are more of them."""

    def kappa(rows: list[Row]) -> float:
        ours, rule = (mean_by_sample(one)(rows) for one in ("accuracy", column))
        return (ours - rule) / (1 - rule) if rule < 1 else 0.0

    return kappa


def microseconds(rows: list[Row]) -> float:
    """Return the CPU time of predicting and learning a sample."""
    seconds = sum(row["predict_seconds"] + row["train_seconds"] for row in rows)
    return float(1e6 * seconds / sum(row["n"] for row in rows))


ACCURACY, LOG_LOSS = mean_by_sample("accuracy"), mean_by_sample("log_loss")
KAPPA_TEMPORAL, KAPPA_M = kappa_against("accuracy_no_change"), kappa_against("accuracy_majority")
LATER_ACCURACY = mean_by_sample("accuracy", first_row=2)  # from where on all batch sizes and delays have answers


# The chapter


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    found = results.with_protocol(ONLINE)
    accuracy = _compare(found, options, ACCURACY)
    sizes, delays = _by_batch_size(found, options), _by_delay(found, options)
    return Chapter(
        name="online",
        title="One sample at a time",
        question="Where each label comes before the next sample, is ADF-R ahead of rules that look at labels alone, "
        "and of learners made for single samples?",
        findings=(
            _describe_against(accuracy, TRIVIAL, "the best rule that looks at labels alone"),
            _describe_against(accuracy, (*RIVER, *MOA), "the best of the learners of River and MOA"),
            f"Lowest log loss: {_describe_lowest(_compare(found, options, LOG_LOSS, is_better_high=False))}.",
            _describe_time(_compare(found, options, microseconds, is_better_high=False)),
            _describe_sizes(sizes),
            _describe_delays(delays),
        ),
        caveats=(
            "How the last samples are used was chosen while looking at the beginning of elec2, outdoor and covtype.",
            f"{ADF_R} has its default of {METHODS[ADF_R].settings[0][1]} trees, River's ensembles theirs of "
            f"{PAPER_TREES}; all else is default. AMF and KNN get standard scores.",
            "The best rule and the best learner of each stream are chosen by their results, which no user can do "
            "beforehand.",
            *([] if accuracy.present(MOA) else ["MOA's learners were not run: they need CapyMOA and Java."]),
            "Times are CPU times of a machine that may have run something else. River's learners get dicts and ours an "
            "array of one row; making these is not counted.",
            "Real streams are the same for every seed; only the draws of the methods differ.",
            *_caveat_left_out(options),
            *caveat_one_seed(options),
            *caveat_quick(options, "the real streams"),
        ),
        tables=(
            accuracy.table("Accuracy, one sample at a time", METHODS),
            _compare(found, options, KAPPA_TEMPORAL).table(
                "Kappa-temporal", METHODS, note="Part of the mistakes of the last label that is avoided."
            ),
            _compare(found, options, KAPPA_M).table(
                "Kappa-M", METHODS, note="Part of the mistakes of the most frequent label that is avoided."
            ),
            _compare(found, options, LOG_LOSS, is_better_high=False).table(
                "Log loss, one sample at a time", METHODS, note="The right class counts at least 0.001."
            ),
            _compare(found, options, microseconds, is_better_high=False).table(
                "Microseconds a sample, predicting and learning", METHODS, digits=0
            ),
            *_on_whole_streams(found, options),
            sizes,
            delays,
        ),
        figures=(),
        command=options.command("online"),
    )


def _compare(found: Results, options: Options, measure: Measure, *, is_better_high: bool = True) -> Comparison:
    """Return all methods side by side."""
    return Comparison(found, all_streams(options), measure, METHODS, is_better_high)


def _caveat_left_out(options: Options) -> list[str]:
    """Return which learners quick runs leave out."""
    left_out = [name for name in RIVER if name in selections.NOT_QUICK]
    return [f"Quick: {join_words(left_out)} are left out."] if options.quick and left_out else []


# Findings


def _describe_against(found: Comparison, rivals: Sequence[str], said: str) -> str:
    """Return where ADF-R is ahead of the best of some methods, and where behind."""
    leaders = found.leaders(found.present(rivals))
    gaps = {stream: found.gap(stream, ADF_R, rival).mean for stream, rival in leaders.items()}
    told = {one: f"{one} ({points(gap)} points against {leaders[one]})" for one, gap in gaps.items()}
    ahead, behind = ([told[one] for one, gap in gaps.items() if (gap >= 0) == is_ahead] for is_ahead in (True, False))
    parts = [f"{words} on {join_words(where)}" for words, where in (("ahead", ahead), ("behind", behind)) if where]
    return f"{ADF_R} against {said}: {'; '.join(parts)}."


def _describe_lowest(found: Comparison) -> str:
    """Return the method with the lowest figure on each stream."""
    return found.describe_leaders(found.present(METHODS))


def _describe_time(found: Comparison) -> str:
    """Return what a sample costs ADF-R, beside River's fastest and slowest learner."""
    means = {name: found.mean(name) for name in found.complete((ADF_R, *RIVER))}
    river = sorted((name for name in means if name != ADF_R), key=means.__getitem__)
    return (
        f"Predicting and learning a sample takes {ADF_R} {means[ADF_R] / 1000:.1f} ms on average over the streams; of "
        f"River's learners {river[0]} takes {means[river[0]] / 1000:.1f} and {river[-1]} {means[river[-1]] / 1000:.1f}."
    )


def _describe_sizes(table: Table) -> str:
    """Return what is lost where labels come at the end of large batches only."""
    said = [f"{row[0]} ({_figure(row[-1]) - _figure(row[1]):+.3f})" for row in table.rows]
    return f"Accuracy in batches of {BATCH_SIZES[-1]:,} against single samples: {join_words(said)}."


def _describe_delays(table: Table) -> str:
    """Return how often ADF-R is right by delay, told of it or not, beside the last known label."""
    said = "; ".join(f"{_figure(row[1]):.3f} ({_figure(row[2]):.3f}) at {row[0]}" for row in table.rows)
    return (
        f"Accuracy with labels some samples late, in brackets where label_delay stays 0: {said}. The last known "
        f"label falls from {_figure(table.rows[0][3]):.3f} to {_figure(table.rows[-1][3]):.3f}."
    )


def _figure(cell: Cell) -> float:
    """Return the number of a cell, without what it varies by."""
    return float(str(cell).split(" ± ")[0])


# Tables


def _on_whole_streams(found: Results, options: Options) -> list[Table]:
    """Return the accuracy of ADF-R and of the rules on the real streams."""
    streams, names = whole_streams(options), (ADF_R, *TRIVIAL)
    if not streams:
        return []
    return [
        Comparison(found, streams, ACCURACY, METHODS).table("Accuracy, one sample at a time, longer streams", names)
    ]


def _by_batch_size(found: Results, options: Options) -> Table:
    """Return ADF-R's accuracy by the number of samples whose labels come together."""
    by_size = batched_streams(options)
    rows: list[tuple[Cell, ...]] = [
        (title, *(found.cell(by_size[size][title], METHODS[ADF_R], LATER_ACCURACY) for size in BATCH_SIZES))
        for title in by_size[1]
    ]
    note = f"Labels come at the end of each batch. Samples from {ROW_SAMPLES + 1:,} on."
    heads = ("data set", *(f"{size:,}" for size in BATCH_SIZES))
    return Table(f"{ADF_R}: accuracy by batch size", heads, tuple(rows), 3, "max", note)


def _by_delay(found: Results, options: Options) -> Table:
    """Return the accuracy with late labels, of ADF-R and of the last known label."""
    title = next(iter(real_streams(options)))
    rows: list[tuple[Cell, ...]] = []
    for delay, stream in delayed_streams(options).items():
        methods = told_delay(delay), METHODS[ADF_R], METHODS[NO_CHANGE]
        rows.append((f"{delay:,}", *(found.cell(stream, method, LATER_ACCURACY) for method in methods)))
    note = (
        f"Each sample is predicted, then the label of the one so many samples before it is learnt. Samples from "
        f"{ROW_SAMPLES + 1:,} on."
    )
    heads = ("samples late", f"{ADF_R}, label_delay set", ADF_R, NO_CHANGE)
    return Table(f"Accuracy with late labels, {title}", heads, tuple(rows), 3, "", note)
