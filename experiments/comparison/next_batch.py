"""Prequential runs: the streams, the methods that run on each, and gaps between ADF-R and the best refitted forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.comparison.comparison import Comparison, join_words
from experiments.comparison.results import Measure, PerSeed, Results, count_drifts
from experiments.specs import selections
from experiments.specs.methods import with_default_trees
from experiments.specs.options import Options
from experiments.specs.run_spec import PREQUENTIAL, MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import Streams
from experiments.specs.sources import IN_ORDER, stream_size

BATCH_SIZES = {
    "elec2": 1_000,
    "outdoor": 200,
    "gas": 150,
    "hotel": 2_500,
    "LDPA": 2_700,
    "UIFWA": 2_500,
    "EB": 450,
    "AReM": 700,
    "Avila": 350,
}
WIDE = "wide"
ACCURACY, LOG_LOSS, BRIER_SCORE = "accuracy", "log_loss", "brier_score"

ADF_R = "ADF-R"
OTHER_BASES = ("ADF-S", "ADF-H")
REFITS = ("RF batch", "RF last 3", "RF all")
SKLEARN = tuple(f"sklearn {name}" for name in REFITS)
REFIT_FAMILIES = {"our RF": REFITS, "scikit-learn's RF": SKLEARN}
ARF, LIGHTGBM = "ARF", ("LightGBM last 3", "LightGBM all")
MANY_TREES = 100  # trees
ADF_R_MANY, RF_ALL_MANY = (f"{name}, {MANY_TREES} trees" for name in (ADF_R, "RF all"))
METHODS = {
    **{name: with_default_trees(name) for name in (ADF_R, *OTHER_BASES, *REFITS, *SKLEARN)},
    **{name: MethodSpec(name) for name in (ARF, *LIGHTGBM)},
    ADF_R_MANY: MethodSpec.of(ADF_R, n_estimators=MANY_TREES),
    RF_ALL_MANY: MethodSpec.of("RF all", n_estimators=MANY_TREES),
}

# ADF on SysFor and on Hoeffding trees takes 3 (elec2) to 20 (outdoor) times as long as on random forests.
OTHER_BASES_ON = ("elec2", "outdoor", "gas", "Avila", "contexts", "label shift")
ARF_MAX_RECORDS = 50_000  # records; River's forest learns some hundred of them a second
LIGHTGBM_ALL_NOT_ON = (
    "LDPA",
    "UIFWA",
    "EB",
)  # on everything: LightGBM grows a tree a class and round, and these have 11 to 31
LIGHTGBM_ON = (
    "recurring rules",
    "growing attribute",
    "label shift",
)  # generated streams on which LightGBM runs
SLOW = (ARF, *LIGHTGBM, *SKLEARN, *OTHER_BASES, ADF_R_MANY, RF_ALL_MANY)  # with one seed


# Streams


def real_streams(options: Options) -> dict[str, StreamSpec]:
    """Return the real streams, as they lie in their files; in quick runs a small House instead."""
    if options.quick:
        n = selections.QUICK_SAMPLES
        return {"House": StreamSpec.of("house", IN_ORDER, n_samples=n // 2, batch_size=n // 25)}
    return {name: StreamSpec.of(name.lower(), IN_ORDER, batch_size=size) for name, size in BATCH_SIZES.items()}


def generated_streams(options: Options) -> dict[str, StreamSpec]:
    """Return the generated streams of 40 batches, by what is difficult about them."""
    counts = selections.batch_counts(options, full=(40, 500), quick=(12, selections.QUICK_SAMPLES // 50))
    return {
        "recurring rules": StreamSpec.of("drift", "recurring", concept="rules", **counts),
        "recurring hyperplane": StreamSpec.of("drift", "recurring", concept="hyperplane", **counts),
        "contexts": StreamSpec.of("case", "contexts", **counts),
        "sorted batches": StreamSpec.of("case", "sorted batches", **counts),
        "exports by attribute": StreamSpec.of("case", "exports by attribute", **counts),
        "exports by class": StreamSpec.of("case", "exports by class", **counts),
        "growing attribute": StreamSpec.of("case", "growing", **counts),
        "label shift": StreamSpec.of("classes", "shifting", **counts),
        WIDE: StreamSpec.of("case", "wide", **counts),
    }


def stationary_streams(options: Options) -> dict[str, StreamSpec]:
    """Return long stationary streams with wrong labels: two classes and 10 % noise, five classes and 5 %."""
    counts = selections.batch_counts(options, full=(100, 300), quick=(12, selections.QUICK_SAMPLES // 50))
    return {
        "noise, 2 classes": StreamSpec.of("drift", "none", concept="sea", **counts),
        "noise, 5 classes": StreamSpec.of("drift", "none", concept="rules", **counts),
    }


def artificial_streams(options: Options) -> dict[str, StreamSpec]:
    """Return all generated streams."""
    return generated_streams(options) | stationary_streams(options)


def all_streams(options: Options) -> dict[str, StreamSpec]:
    """Return all streams, the real ones first."""
    return real_streams(options) | artificial_streams(options)


# Who runs where


def plan_next_batch(options: Options) -> list[RunSpec]:
    """Return a run for each stream, method that runs on it, and seed."""
    return [
        RunSpec(stream, METHODS[name], seed, PREQUENTIAL)
        for title, stream in all_streams(options).items()
        for name in methods_on(title, options)
        for seed in options.seeds[: 1 if name in SLOW else None]
    ]


def methods_on(title: str, options: Options) -> list[str]:
    """Return the methods that run on a stream; in quick runs the slow ones run on House alone."""
    names = [ADF_R, *REFITS, *SKLEARN]
    is_stationary = title in stationary_streams(options)
    if options.quick:
        slow = [*OTHER_BASES, ARF, *LIGHTGBM] if title in real_streams(options) else []
        return [*names, *(name for name in slow if name not in selections.NOT_QUICK), *_larger(is_stationary)]
    others = OTHER_BASES if title in OTHER_BASES_ON else ()
    if is_stationary:
        return [*names, *_larger(is_stationary)]
    if title in generated_streams(options):
        return [*names, *others, *(LIGHTGBM if title in LIGHTGBM_ON else ())]
    has_arf = stream_size(all_streams(options)[title]) <= ARF_MAX_RECORDS
    lightgbm = LIGHTGBM[:1] if title in LIGHTGBM_ALL_NOT_ON else LIGHTGBM
    return [*names, *others, *([ARF] if has_arf else []), *lightgbm]


def _larger(is_stationary: bool) -> list[str]:
    """Return the methods with many trees, which run on stationary streams."""
    return [ADF_R_MANY, RF_ALL_MANY] if is_stationary else []


def caveat_who_ran(options: Options) -> list[str]:
    """Return which methods did not run everywhere or with all seeds."""
    if options.quick:
        return [f"Quick: short streams; {join_words([*OTHER_BASES, ARF, *LIGHTGBM])} ran on House at the most."]
    return [
        f"{join_words(OTHER_BASES)} take 3 to 20 times as long as {ADF_R} and ran on {join_words(OTHER_BASES_ON)} "
        f"only; {ARF}, with 10 trees, on real streams of up to {ARF_MAX_RECORDS:,} records; {LIGHTGBM[1]} not on "
        f"{join_words(LIGHTGBM_ALL_NOT_ON)}, and of the generated streams LightGBM only on {join_words(LIGHTGBM_ON)}.",
        f"{join_words(SLOW)} ran with seed 0 only. Where two methods are compared, it is over the streams and seeds "
        "that both ran with.",
    ]


# What came of it


@dataclass(frozen=True)
class NextBatch:
    """Figures of all methods on the next batch.

    Attributes
    ----------
    results : Results
        Of the kind ``next_batch``.
    """

    results: Results

    @classmethod
    def of(cls, results: Results) -> NextBatch:
        """Return the figures of those runs that were measured on the next batch."""
        return cls(results.with_protocol(PREQUENTIAL))

    def comparison(self, streams: Streams, measure: Measure = ACCURACY, *, is_better_high: bool = True) -> Comparison:
        """Return the methods side by side on some streams."""
        return Comparison(self.results, streams, measure, METHODS, is_better_high)

    def gap(self, stream: StreamSpec, ours: str, rival: str, measure: Measure = ACCURACY) -> PerSeed:
        """Return how much higher our figure is than a rival's, for each seed that both ran with."""
        return Comparison(self.results, {"": stream}, measure, METHODS).gap("", ours, rival)

    def best(self, stream: StreamSpec, names: Sequence[str], measure: str = ACCURACY) -> str:
        """Return the best of some methods on a stream: highest accuracy, or lowest log loss."""
        figures = {name: self.results.mean(stream, METHODS[name], measure) for name in names}
        return (min if measure == LOG_LOSS else max)(figures, key=figures.__getitem__)

    def above_best(self, stream: StreamSpec, names: Sequence[str], measure: str = ACCURACY) -> PerSeed:
        """Return how much higher ADF-R's figure is than that of the best of some methods."""
        return self.gap(stream, ADF_R, self.best(stream, names, measure), measure)

    def has(self, stream: StreamSpec, name: str) -> bool:
        """Return whether a method ran on a stream."""
        return self.results.has(stream, METHODS[name])

    def drift_counts(self, stream: StreamSpec, name: str) -> PerSeed | None:
        """Return how many batches ADF called drift, temporary or sustained, for each seed."""
        return self.results.per_seed(stream, METHODS[name], count_drifts)

    def n_batches(self, stream: StreamSpec, name: str = ADF_R) -> int:
        """Return how many batches were answered before they were learnt."""
        return len(self.results.rows(stream, METHODS[name]))
