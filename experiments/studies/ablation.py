"""Ablation: components of the adaptation switched off, and each of its constants changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from adforest.adaptation.tuning import SWEEPS, Tuning
from adforest.libraries import require
from experiments.comparison.comparison import Comparison, join_words, points
from experiments.comparison.results import Results, last_of
from experiments.reporting.chapter import Cell, Chapter, Figure, Table
from experiments.reporting.plots import bars
from experiments.specs.methods import with_tuning
from experiments.specs.options import Options
from experiments.specs.run_spec import HOLDOUT, PREQUENTIAL, MethodSpec, RunSpec, Scalar, StreamSpec
from experiments.specs.selections import batch_counts, plan_runs
from experiments.specs.sources import IN_ORDER

SUMMARY = "components of ADF-R switched off, and each constant changed; mostly on streams that no default was chosen on"
ADF_R, DEFAULT = "ADF-R", "defaults, 10 trees"
FIRST_SEED = 10  # of generated streams and of trees; constants were chosen with seeds below
NEVER = 10**9
MIN_CHANGE = 0.001  # of accuracy; smaller changes are not spoken of

REAL = (
    *("and_vertebrates", "animal_complaints", "beijing_pm25", "covtype100k", "football"),
    *("nycflights", "occupancy", "steel_load", "us_accidents", "weatherAUS"),
)
N_SAMPLES, BATCH_SIZE, N_SWEPT = 12_000, 600, 6_000
RULES = {"abrupt sea": "sea", "abrupt hyperplane": "hyperplane", "recurring sea": "sea", "recurring rules": "rules"}
CLASSES = ("new", "rare", "returning", "shifting")
KEPT_CLASSES = ("rare", "vanishing", "returning")
KEPT_SEEDS = 5  # for each seed of the other runs: these streams are short, and little depends on each component


@dataclass(frozen=True)
class Change:
    """Parameters of the classifier and constants of the adaptation that differ from the default."""

    settings: Mapping[str, Scalar] = field(default_factory=dict)
    tuning: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> MethodSpec:
        """The method to run."""
        return with_tuning(ADF_R, dict(self.settings), **self.tuning)


# What takes a component away, and leaves the others as they are.
COMPONENTS = {
    "no active forest": Change({"drift_threshold": NEVER}),
    "no test for abrupt changes": Change(tuning={"min_observed": NEVER}),
    "no contexts of new and rare classes": Change(tuning={"steepness": 0}),
    "no rare classes": Change(tuning={"rare_factor": NEVER}),
    "no recency: near and far alike": Change(tuning={"min_expected": NEVER}),
    "shrinkage mixture fixed": Change(tuning={"learns_shrinkage": False}),
    "shrinkage of one strength, 3": Change(tuning={"shrinkage_strengths": [3.0], "first_shrinkage": [1.0]}),
    "no shrinkage": Change(tuning={"shrinkage_strengths": [0.0], "first_shrinkage": [1.0]}),
    "no calibration": Change(tuning={"calibrates": False}),
    "no class mixes": Change(tuning={"corrects_class_mix": False}),
    "no renewal": Change({"renewal": 0}),
    "all trees expand leaves at each batch": Change(tuning={"expansion_turns": 1}),
    "all samples judged": Change(tuning={"max_judged": NEVER}),
}


@dataclass(frozen=True)
class Condition:
    """Settings, and a way to cut streams, under which some constants matter."""

    constants: tuple[str, ...]
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    cut: Mapping[str, Scalar] = field(default_factory=lambda: {"n_samples": N_SWEPT, "batch_size": BATCH_SIZE})


CONDITIONS = {
    "batches of 10": Condition(
        (
            "full_switch",
            "small_batch",
            "small_fraction",
            "n_labels",
            "n_neighbours",
            "fading",
            "own_weight",
            "min_tested",
        ),
        cut={"n_samples": 2_000, "batch_size": 10},
    ),
    "small memory": Condition(
        ("memory_exponent", "sample_slack"),
        {"memory_size": 1_000, "max_samples": 1_000},
        {"n_samples": 8_400, "batch_size": 1_050},
    ),
    "iSAT": Condition(("min_outside",), {"splitting": "isat"}),
    "class weights": Condition(("min_mean_weight", "max_mean_weight"), {"class_weight": "balanced"}),
    "a large first batch": Condition(
        ("window_growth",), cut={"n_samples": N_SWEPT, "batch_size": 100, "first_size": 4_000}
    ),
}
SWITCHES = tuple(one.name for one in fields(Tuning) if one.metadata["unit"] == "switch")  # components, see above
MOVED_WITH = {
    "max_mean_weight": "min_mean_weight"
}  # weights whose mean is 1 meet the upper bound if the lower is there


def real_streams(options: Options, n_samples: int) -> dict[str, StreamSpec]:
    """Return the beginnings of the real streams; quick runs have none."""
    cut = {"n_samples": n_samples, "batch_size": BATCH_SIZE}
    return {} if options.quick else {name: StreamSpec.of(name, IN_ORDER, **cut) for name in REAL}


def generated_streams(options: Options) -> dict[str, dict[str, StreamSpec]]:
    """Return streams by what happens in them: rules change, or classes come and go."""
    counts = batch_counts(options, full=(30, 400), quick=(10, 150))
    rules = {
        name: StreamSpec.of("drift", name.split()[0], concept=concept, **counts) for name, concept in RULES.items()
    }
    classes = {f"{variant} classes": StreamSpec.of("classes", variant, **counts) for variant in CLASSES}
    if options.quick:
        return {"rules change": {"abrupt sea": rules["abrupt sea"]}, "classes": {"new classes": classes["new classes"]}}
    return {"rules change": rules, "classes": classes}


def groups(options: Options) -> dict[str, dict[str, StreamSpec]]:
    """Return the streams that components are switched off on, by group."""
    real = real_streams(options, N_SAMPLES)
    return {**generated_streams(options), **({"real": real} if real else {})}


def kept_streams(options: Options) -> dict[str, StreamSpec]:
    """Return the streams of which samples are held back, to ask for what came long ago: places and classes."""
    counts = batch_counts(options, full=(30, 400), quick=(8, 150))
    classes = {f"{variant} classes": StreamSpec.of("classes", variant, **counts) for variant in KEPT_CLASSES}
    clusters = StreamSpec.of("clusters", "wandering", **counts)
    return {"wandering clusters": clusters, **({} if options.quick else classes)}


def sweep_streams(options: Options, condition: Condition | None = None) -> dict[str, StreamSpec]:
    """Return the streams that constants are swept on, under a condition."""
    if condition is None:
        generated = {name: spec for group in generated_streams(options).values() for name, spec in group.items()}
        return {**generated, **real_streams(options, N_SWEPT)}
    if options.quick:
        size = min(100, int(condition.cut["batch_size"] or 0))
        return {"House": StreamSpec.of("house", IN_ORDER, n_samples=1_000, first_size=600, batch_size=size)}
    return {name: StreamSpec.of(name, IN_ORDER, **condition.cut) for name in REAL}


def sweeps() -> Iterator[tuple[str, str, Condition | None]]:
    """Yield each constant that is swept, the name of the condition it is swept under, and that condition."""
    for name in SWEEPS:
        if name not in SWITCHES:
            found = ((title, one) for title, one in CONDITIONS.items() if name in one.constants)
            yield name, *next(found, ("", None))


def swept_methods(name: str, condition: Condition | None) -> dict[str, MethodSpec]:
    """Return the default, and the constant of that name with each value of its sweep."""
    settings = condition.settings if condition else {}
    methods = {DEFAULT: Change(settings).method}
    for value in SWEEPS[name]:
        tuning = {name: value} | ({MOVED_WITH[name]: value} if name in MOVED_WITH else {})
        methods[str(value)] = Change(settings, tuning).method
    return methods


def components() -> dict[str, MethodSpec]:
    """Return ADF-R with its defaults, and without each component."""
    return {DEFAULT: Change().method, **{name: change.method for name, change in COMPONENTS.items()}}


def plan(options: Options) -> list[RunSpec]:
    """Return the runs of the study."""
    seeds = [FIRST_SEED + seed for seed in options.seeds]
    streams = {name: spec for group in groups(options).values() for name, spec in group.items()}
    runs = plan_runs(streams, components().values(), seeds, PREQUENTIAL)
    runs += plan_runs(kept_streams(options), components().values(), _kept_seeds(options), HOLDOUT)
    for name, _, condition in sweeps():
        methods = swept_methods(name, condition).values()
        runs += plan_runs(sweep_streams(options, condition), methods, seeds if condition else seeds[:1], PREQUENTIAL)
    return runs


def _kept_seeds(options: Options) -> range:
    """Return the seeds of the runs that hold samples back."""
    return range(FIRST_SEED, FIRST_SEED + options.n_seeds * (1 if options.quick else KEPT_SEEDS))


def report(results: Results, options: Options) -> Chapter:
    """Return the chapter of the study."""
    kept = Comparison(results.with_protocol(HOLDOUT), kept_streams(options), last_of("retention"), components())
    results = results.with_protocol(PREQUENTIAL)
    by_group = {title: Comparison(results, group, "accuracy", components()) for title, group in groups(options).items()}
    quick = ("Quick: three short streams; it shows that everything runs, and little else.",) if options.quick else ()
    return Chapter(
        name="ablation",
        title="Ablation",
        question="What does accuracy on the next batch lose when a component is switched off, or a constant changed?",
        findings=(
            _describe_needed(by_group),
            _describe_idle(by_group),
            _describe_kept(kept),
            _describe_constants(results, options),
        ),
        caveats=(
            f"Generated streams and trees have seeds from {FIRST_SEED} on, and defaults were chosen in view of three "
            "of the real streams: occupancy, nycflights and the beginning of covtype.",
            "The next batch asks little of what came long ago: components that keep it show in the retention alone.",
            "One change at a time: what two do together is not seen. Constants are swept with one seed, but where "
            "their table names a condition. An interval is over streams: it leaves out that other streams may differ "
            f"in kind, and of {2 * len(SWEEPS)} intervals some miss by chance.",
            *quick,
        ),
        tables=(
            _component_table(by_group, results),
            *(_stream_table(f"Components by stream: {title}", found) for title, found in by_group.items()),
            _kept_table(kept),
            _sweep_table(results, options),
        ),
        figures=(_figure(by_group),),
        command=options.command("ablation"),
    )


def _mean_changes(by_group: Mapping[str, Comparison]) -> dict[str, float]:
    """Return what switching each component off does on average over all streams."""
    return {
        name: float(np.mean([gap for found in by_group.values() for gap in found.gaps(name, DEFAULT).values()]))
        for name in COMPONENTS
    }


def _describe_needed(by_group: Mapping[str, Comparison]) -> str:
    """Return what costs accuracy when it is switched off, the most first."""
    lost = {name: change for name, change in _mean_changes(by_group).items() if change < -MIN_CHANGE}
    ranked = [f"{name} ({points(change)})" for name, change in sorted(lost.items(), key=lambda pair: pair[1])]
    return f"What costs accuracy, in points on average over all streams: {join_words(ranked) if ranked else 'nothing'}."


def _describe_idle(by_group: Mapping[str, Comparison]) -> str:
    """Return what may be switched off."""
    idle = [f"{name} ({points(change)})" for name, change in _mean_changes(by_group).items() if change >= -MIN_CHANGE]
    return f"What costs less than {100 * MIN_CHANGE:.1f} points: {join_words(idle) if idle else 'nothing'}."


def _describe_kept(kept: Comparison) -> str:
    """Return what costs retention."""
    found = [
        (gap.mean, f"{name} on {stream} ({points(gap.mean)} ± {100 * gap.half_width:.1f})")
        for name in COMPONENTS
        for stream in kept.streams
        if (gap := MeanGap.of(kept.gap(stream, name, DEFAULT).by_seed)) and gap.mean < -gap.half_width
    ]
    told = [text for _, text in sorted(found)]
    return (
        f"What costs retention, by more than the 95 % interval over seeds: {join_words(told) if told else 'nothing'}."
    )


def _describe_constants(results: Results, options: Options) -> str:
    """Return the constants for which another value would be clearly better."""
    better = [
        f"{name}={value} ({points(gap.mean)} ± {100 * gap.half_width:.1f})"
        for name, title, condition in sweeps()
        for value, gap in _sweep_gaps(results, options, name, condition).items()
        if gap.mean > max(MIN_CHANGE, gap.half_width)
    ]
    found = join_words(better) if better else "none"
    return (
        f"Constants that another value gains more than {100 * MIN_CHANGE:.1f} points on average for, and more than the "
        f"95 % interval of that mean: {found}."
    )


@dataclass(frozen=True)
class MeanGap:
    """A mean over streams or seeds, and half of its 95 % interval by Student's t; 0 for one of them."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, gaps: Sequence[float]) -> MeanGap:
        """Return those of the gaps."""
        if len(gaps) < 2:
            return cls(float(np.mean(gaps)), 0.0)
        stats = require("scipy.stats", "an interval of a mean", "experiments")
        return cls(float(np.mean(gaps)), float(stats.t.ppf(0.975, len(gaps) - 1) * stats.sem(gaps)))


def _sweep_gaps(results: Results, options: Options, name: str, condition: Condition | None) -> dict[str, MeanGap]:
    """Return what each value of a sweep does on average over its streams."""
    methods = swept_methods(name, condition)
    found = Comparison(results, sweep_streams(options, condition), "accuracy", methods)
    return {value: MeanGap.of([*found.gaps(value, DEFAULT).values()]) for value in methods if value != DEFAULT}


def _component_table(by_group: Mapping[str, Comparison], results: Results) -> Table:
    """Return what switching each component off does, by group of streams."""
    rows: list[tuple[Cell, ...]] = []
    for name, change in _mean_changes(by_group).items():
        gaps = [gap for found in by_group.values() for gap in found.gaps(name, DEFAULT).values()]
        counts = f"{sum(gap < -MIN_CHANGE for gap in gaps)} / {sum(gap > MIN_CHANGE for gap in gaps)}"
        losses = [
            Comparison(results, found.streams, "log_loss", found.methods).mean_gap(name, DEFAULT)
            for found in by_group.values()
        ]
        seconds = [_seconds_ratio(results, found, name) for found in by_group.values()]
        means = (100 * found.mean_gap(name, DEFAULT) for found in by_group.values())
        rows.append((name, *means, 100 * change, counts, float(np.mean(losses)), float(np.mean(seconds))))
    heads = ("change", *by_group, "all streams", "streams worse / better", "log loss", "seconds, × default")
    note = f"Points of accuracy on the next batch against the default; worse and better by over {MIN_CHANGE:.3f}."
    return Table("Components switched off", heads, tuple(rows), 2, "", note)


def _seconds_ratio(results: Results, found: Comparison, name: str) -> float:
    """Return the CPU seconds of learning without a component over those of the default."""
    seconds = Comparison(results, found.streams, "train_seconds", found.methods)
    return float(np.mean([seconds.value(one, name) / seconds.value(one, DEFAULT) for one in found.streams]))


def _stream_table(title: str, found: Comparison) -> Table:
    """Return what each component does on each stream of a group."""
    rows: list[tuple[Cell, ...]] = [(DEFAULT, *(found.value(stream, DEFAULT) for stream in found.streams))]
    rows += [(name, *(100 * gap for gap in found.gaps(name, DEFAULT).values())) for name in COMPONENTS]
    note = "First row: the accuracy itself. Others: points above it."
    return Table(title, ("change", *found.streams), tuple(rows), 2, "", note)


def _kept_table(kept: Comparison) -> Table:
    """Return what each component does to retention on each stream, with intervals over seeds."""
    rows: list[tuple[Cell, ...]] = [(DEFAULT, *(kept.value(stream, DEFAULT) for stream in kept.streams))]
    for name in COMPONENTS:
        gaps = [MeanGap.of(kept.gap(stream, name, DEFAULT).by_seed) for stream in kept.streams]
        rows.append((name, *(f"{100 * gap.mean:+.2f} ± {100 * gap.half_width:.2f}" for gap in gaps)))
    title = "Retention: held-back samples of all batches, predicted after the last one"
    note = "First row: the accuracy itself. Others: points above it, mean over seeds and its 95 % interval."
    return Table(title, ("change", *kept.streams), tuple(rows), 2, "", note)


def _sweep_table(results: Results, options: Options) -> Table:
    """Return what other values of each constant do."""
    known = {one.name: one for one in fields(Tuning)}
    rows: list[tuple[Cell, ...]] = []
    for name, title, condition in sweeps():
        gaps = _sweep_gaps(results, options, name, condition)
        tried: list[Cell] = [
            cell for value, gap in gaps.items() for cell in (value, 100 * gap.mean, 100 * gap.half_width)
        ]
        metadata = known[name].metadata
        where = title or "batches of 400 and 600"
        rows.append((name, str(known[name].default), metadata["unit"], str(metadata["decision"]), where, *tried))
    changes = ("points", "±")
    heads = ("constant", "default", "unit", "decision", "where", "lower", *changes, "higher", *changes)
    note = "Points of accuracy on the next batch against the default: mean over the streams and its 95 % interval."
    return Table("Constants changed", heads, tuple(rows), 2, "", note)


def _figure(by_group: Mapping[str, Comparison]) -> Figure:
    """Return what each component is worth, the most first."""
    ranked = dict(sorted(_mean_changes(by_group).items(), key=lambda pair: pair[1]))
    plot = bars({"points": [100 * change for change in ranked.values()]}, list(ranked), title="points", digits=2)
    return Figure("Points of accuracy without a component", plot, "Mean over the streams; left of zero: a loss.")
