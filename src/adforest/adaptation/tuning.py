"""The constants of the adaptation: every number that decides about forests, memory, votes and drift, in one place.

`Tuning()` holds the defaults. They are no parameters of the classifiers: users need not choose them. Experiments
replace some of them, and ``python -m experiments ablation`` sweeps each one over the values that its field names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


def _constant(default: Any, unit: str, decision: int, sweep: tuple[Any, ...]) -> Any:
    """Return a field with its default, its unit, the number of its page in docs/decisions, and other values to try."""
    return field(default=default, metadata={"unit": unit, "decision": decision, "sweep": sweep})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Constants of the adaptation; each has its unit, its decision and the values of its sweep.

    Attributes
    ----------
    learning_rate : float
        Increase of the logarithm of a weight by a correct prediction.
    log_gain : float
        Weight of the logarithm of the true class's probability, relative to a correct prediction.
    min_proba : float
        Lower bound of the true class's probability in the gain, so that one sample cannot decide.
    max_counted : int
        Maximum number of predictions that a batch counts for: errors within a batch are correlated.
    max_judged : int
        Samples of a batch that forests are judged by, drawn at random where it has more.
    switch_rate : float
        Fraction of all weight that each batch sets back to its first values, so that no weight vanishes.
    full_switch : int
        Samples of a batch that spreads that fraction; smaller ones spread less.
    min_weight : float
        Strengths of shrinkage, voters and variants of a smaller weight are left out.
    even_trust : float
        First weight of the permanent forest near the window, and of the temporary one in the context of new classes.
    high_trust : float
        First weight of the permanent forest far from the window and in the context of rare classes, and of the forests'
        vote among the voters of `adforest.adaptation.recent_samples`.
    shrinkage_strengths : tuple of float
        Class probabilities of a leaf are a mixture over these strengths of hierarchical shrinkage.
    first_shrinkage : tuple of float
        First fraction of each strength in the mixture.
    learns_shrinkage : bool
        Whether the mixture is learnt from the predictions of a forest, or stays at its first values.
    calibrates : bool
        Whether votes are calibrated.
    first_calibration : tuple of float
        First weights of the sharpened vote, the vote and the uniform distribution.
    calibration_estimate : tuple of float
        These weights before the first step of a batch's estimate.
    calibration_steps : int
        Steps of that estimate.
    calibration_memory : int
        Samples that the weights before a batch count for.
    corrects_class_mix : bool
        Whether there are variants corrected for recent class mixes.
    mix_prior : float
        Samples of the overall class mix that a recent one is counted with.
    first_kept : float
        Batches that are taken to have kept the class mix, to begin with.
    clear_log_ratio : float
        Log likelihood ratio of two class mixes beyond which a batch speaks for one of them.
    steepness : int
        How far a sample is in the context of some classes is 1 - (1 - their probability) ** steepness; neighbours are
        weighted by proximity ** steepness.
    full_recency : float
        Density of the window's samples around a sample, relative to the expected one, from which it is recent.
    min_expected : int
        Expected samples of the window below a node, from which their number is significant.
    min_tested : int
        Minimum number of samples of known classes to detect an abrupt change.
    clear_gap : float
        Gap of accuracy between two forests that is worth acting on.
    clear_deviations : float
        That gap in standard deviations.
    min_observed : int
        Batches after which the out-of-bag bias is known.
    max_observed : int
        Last batches that it is estimated from.
    max_one_class : float
        Fraction of a batch's samples of one class beyond which it says nothing about rules.
    recent_trees : float
        Trees of the temporary and of the newest forest, as a fraction of ``n_estimators``.
    shared_budget : float
        Samples that the permanent and the active forest may each renew trees with while they are separate, relative to
        a forest that learns alone.
    expansion_turns : int
        Batches in which every tree has had its turn to expand leaves.
    min_outside : float
        Fraction of a batch beyond a forest's box that a new root needs, but in the paper's algorithm.
    extra_samples : int
        Samples that a batch may cost besides its own: small batches can afford more.
    window_growth : int
        Batches of the size of the last one that a window may hold for each one that it has.
    memory_exponent : float
        Memory keeps of each class a number of samples in proportion to this power of how often it was seen.
    rare_factor : int
        Times that a rare class has fewer samples than an even part of them.
    sample_slack : float
        Times ``max_samples`` that trees are grown from without drawing.
    small_batch : int
        Samples below which a batch is collected with others; the last samples of a batch whose class mix has a variant.
    small_fraction : float
        Fraction of the samples in memory below which a batch is collected with others.
    min_mean_weight : float
        Smallest mean of sample weights.
    max_mean_weight : float
        Largest mean of sample weights; in a Poisson bootstrap of mean 4 one sample in 50 is out of the bag.
    n_labels : int
        Last labels whose class mix has a variant, for small batches.
    n_neighbours : int
        Last samples among which neighbours are searched, for small batches.
    fading : float
        Factor of a neighbour's weight for each sample after it.
    own_weight : float
        Weight of the forests' vote among the neighbours, relative to a last sample in the same leaf of every tree.
    """

    learning_rate: float = _constant(0.1, "log weight per right answer", 10, (0.05, 0.2))
    log_gain: float = _constant(0.2, "right answers per nat", 23, (0.1, 0.4))
    min_proba: float = _constant(0.01, "probability", 23, (0.005, 0.02))
    max_counted: int = _constant(300, "samples", 10, (150, 600))
    max_judged: int = _constant(500, "samples", 10, (250, 1000))
    switch_rate: float = _constant(0.01, "fraction of weight per batch", 10, (0.005, 0.02))
    full_switch: int = _constant(30, "samples", 13, (15, 60))
    min_weight: float = _constant(0.01, "fraction of weight", 11, (0.005, 0.02))
    even_trust: float = _constant(0.5, "fraction of weight", 10, (0.25, 0.75))
    high_trust: float = _constant(0.9, "fraction of weight", 10, (0.8, 0.95))
    shrinkage_strengths: tuple[float, ...] = _constant(
        (0.0, 3.0, 30.0), "samples", 11, ((0.0, 1.5, 15.0), (0.0, 6.0, 60.0))
    )
    first_shrinkage: tuple[float, ...] = _constant(
        (0.6, 0.3, 0.1), "fraction", 11, ((0.8, 0.15, 0.05), (0.2, 0.6, 0.2))
    )
    learns_shrinkage: bool = _constant(True, "switch", 11, (False,))
    calibrates: bool = _constant(True, "switch", 31, (False,))
    first_calibration: tuple[float, ...] = _constant(
        (0.0, 0.995, 0.005), "fraction", 31, ((0.0, 0.99, 0.01), (0.2, 0.795, 0.005))
    )
    calibration_estimate: tuple[float, ...] = _constant(
        (0.2, 0.78, 0.02), "fraction", 31, ((0.1, 0.88, 0.02), (0.3, 0.6, 0.1))
    )
    calibration_steps: int = _constant(30, "steps", 31, (10, 100))
    calibration_memory: int = _constant(1000, "samples", 31, (300, 2000))
    corrects_class_mix: bool = _constant(True, "switch", 10, (False,))
    mix_prior: float = _constant(1.0, "samples", 10, (0.5, 2.0))
    first_kept: float = _constant(0.1, "batches", 23, (0.05, 0.2))
    clear_log_ratio: float = _constant(3.0, "nats", 23, (1.5, 6.0))
    steepness: int = _constant(4, "exponent", 10, (2, 8))
    full_recency: float = _constant(0.8, "relative density", 8, (0.4, 1.0))
    min_expected: int = _constant(10, "samples", 8, (5, 20))
    min_tested: int = _constant(10, "samples", 10, (5, 20))
    clear_gap: float = _constant(0.05, "accuracy", 10, (0.025, 0.1))
    clear_deviations: float = _constant(3.0, "standard deviations", 10, (1.5, 6.0))
    min_observed: int = _constant(3, "batches", 10, (2, 6))
    max_observed: int = _constant(10, "batches", 10, (5, 20))
    max_one_class: float = _constant(0.95, "fraction of a batch", 10, (0.9, 0.975))
    recent_trees: float = _constant(0.5, "fraction of trees", 10, (0.25, 1.0))
    shared_budget: float = _constant(0.5, "fraction of a budget", 3, (0.25, 1.0))
    expansion_turns: int = _constant(5, "batches", 7, (2, 10))
    min_outside: float = _constant(0.01, "fraction of a batch", 10, (0.005, 0.02))
    extra_samples: int = _constant(500, "samples", 3, (250, 1000))
    window_growth: int = _constant(3, "batches", 18, (1, 6))
    memory_exponent: float = _constant(0.5, "exponent", 5, (0.25, 1.0))
    rare_factor: int = _constant(5, "ratio", 9, (3, 10))
    sample_slack: float = _constant(1.1, "ratio", 19, (1.0, 1.2))
    small_batch: int = _constant(100, "samples", 13, (50, 200))
    small_fraction: float = _constant(0.05, "fraction of memory", 13, (0.025, 0.1))
    min_mean_weight: float = _constant(1.0, "samples", 16, (0.5, 2.0))
    max_mean_weight: float = _constant(4.0, "samples", 16, (2.0, 8.0))
    n_labels: int = _constant(10, "samples", 28, (5, 20))
    n_neighbours: int = _constant(500, "samples", 28, (250, 1000))
    fading: float = _constant(0.99, "ratio per sample", 28, (0.98, 0.995))
    own_weight: float = _constant(0.05, "samples", 28, (0.025, 0.1))

    @property
    def max_delay(self) -> int:
        """Maximum delay of labels in samples: pairs that far apart need twice as many labels."""
        return self.n_neighbours // 2 - 1


TUNING = Tuning()
SWEEPS: dict[str, tuple[Any, ...]] = {one.name: one.metadata["sweep"] for one in fields(Tuning)}
